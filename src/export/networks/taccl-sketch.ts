import { jsonText } from "../../base/visible.ts";
import { addTo } from "../../model/numbers/ordering.ts";
import type { InternodeSketch, IntranodeSketch, Sketch } from "../../model/sketch/sketch.ts";

/**
 * Returns a sketch as TACCL's JSON; read again for a network of as many NPUs it is the same but for its name. Relays are
 * written as gpus_to_sender_rev_map. O(size of the sketch).
 */
export function sketchToJson(sketch: Sketch): string {
  const { boxes, intranode, internode, symmetries, chunksPerNpu, inputBytes } = sketch;
  const file = {
    nnodes: boxes,
    intranode_sketch: intranodeFields(intranode),
    ...(internode === null ? {} : { internode_sketch: internodeFields(internode) }),
    symmetry_offsets: symmetries.map(({ offset, period }) => [offset, period]),
    hyperparameters: {
      input_chunkup: chunksPerNpu,
      ...(inputBytes === null ? {} : { input_size: String(inputBytes) }),
    },
  };
  return `${jsonText(file, 2)}\n`;
}

function intranodeFields({ strategy, switches, policies, connections }: IntranodeSketch) {
  return {
    strategy,
    ...(switches.length === 0 ? {} : { switches, switch_hyperedge_strategy: policies }),
    ...(connections === null ? {} : { intranode_conn: Object.fromEntries(connections) }),
  };
}

function internodeFields({ connections, betaSplit, relays, enforceOrdering }: InternodeSketch) {
  return {
    strategy: "relay",
    internode_conn: typeof connections === "string" ? connections : Object.fromEntries(connections),
    ...(betaSplit.size === 0 ? {} : { beta_split: Object.fromEntries(betaSplit) }),
    ...(relays === null ? {} : { gpus_to_sender_rev_map: Object.fromEntries(bySender(relays)) }),
    ...(enforceOrdering ? { enforce_ordering: true } : {}),
  };
}

/** Returns the GPUs whose chunks each sender carries. */
function bySender(relays: ReadonlyMap<number, readonly number[]>): Map<number, number[]> {
  const owners = new Map<number, number[]>();
  for (const [owner, senders] of relays) {
    for (const sender of senders) addTo(owners, sender, owner);
  }
  return owners;
}
