import { unlessRefused } from "../../base/errors.ts";
import type { Topology } from "../topology/topology.ts";
import { ALL_LINKS, type InternodeSketch, type Sketch } from "./sketch.ts";
import { rotationsKept } from "./sketch-rotations.ts";

/** A sketch that asks for less than another one. */
export interface Relaxation {
  readonly sketch: Sketch;
  /** What is given up, in words with the field's name: "without gpus_to_sender_rev_map". */
  readonly what: string;
}

/** Changes to a sketch, null where there is nothing to change. */
type Step = (sketch: Sketch) => Sketch | null;

const withoutRelays: Step = (sketch) => {
  const { internode } = sketch;
  return internode === null || internode.relays === null
    ? null
    : { ...sketch, internode: { ...internode, relays: null } };
};
const withoutSymmetry: Step = (sketch) => (sketch.symmetries.length === 0 ? null : { ...sketch, symmetries: [] });
const withAllInside: Step = (sketch) =>
  sketch.intranode.strategy === "none" ? null : { ...sketch, intranode: ALL_LINKS };
const withOwnWays: Step = (sketch) => {
  const { internode, npusPerBox } = sketch;
  if (internode === null || typeof internode.connections === "string") return null;
  const { connections } = internode;
  const more = Array.from({ length: npusPerBox }, (_, rank) => {
    const receivers = connections.get(rank) ?? [];
    return [rank, receivers.includes(rank) ? receivers : [...receivers, rank].sort((a, b) => a - b)] as const;
  });
  if (more.every(([rank, receivers]) => connections.get(rank) === receivers)) return null;
  return joinedBy(sketch, internode, new Map(more));
};
const withAllWays: Step = (sketch) => {
  const { internode } = sketch;
  return internode === null || internode.connections === "fully-connected"
    ? null
    : joinedBy(sketch, internode, "fully-connected");
};

const joinedBy = (sketch: Sketch, internode: InternodeSketch, connections: InternodeSketch["connections"]): Sketch => ({
  ...sketch,
  internode: { ...internode, connections },
});

const NO_RELAYS = ["without gpus_to_sender_rev_map", withoutRelays] as const;
const NO_SYMMETRY = ["without symmetry_offsets", withoutSymmetry] as const;
const OWN_WAYS = ["internode_conn also from each GPU to its like", withOwnWays] as const;
const ALL_WAYS = ["internode_conn fully-connected", withAllWays] as const;
const ALL_INSIDE = ["intranode_sketch with all links of a node", withAllInside] as const;

/** What is given up, the least first. */
const LADDER: readonly (readonly (readonly [what: string, step: Step])[])[] = [
  [NO_RELAYS],
  [NO_SYMMETRY],
  [NO_RELAYS, NO_SYMMETRY],
  [NO_RELAYS, OWN_WAYS],
  [NO_RELAYS, ALL_WAYS],
  [ALL_INSIDE],
  [NO_RELAYS, NO_SYMMETRY, OWN_WAYS, ALL_INSIDE],
  [NO_RELAYS, NO_SYMMETRY, ALL_WAYS, ALL_INSIDE],
];

/**
 * Returns sketches that ask for less than this one, those that give up least first, each one that `sketchNetwork` takes:
 * without relays, without rotations, with more connections between boxes, with all links inside them. Rotations that no longer
 * hold are given up too, which `what` says. O(routes) for each.
 */
export function relaxations(sketch: Sketch, topology: Topology): Relaxation[] {
  const found: Relaxation[] = [];
  const seen = new Set<string>();
  for (const steps of LADDER) {
    let relaxed = sketch;
    const words: string[] = [];
    for (const [what, step] of steps) {
      const next = step(relaxed);
      if (next === null) continue;
      relaxed = next;
      words.push(what);
    }
    const key = words.join();
    if (words.length === 0 || seen.has(key)) continue;
    seen.add(key);
    const kept = unlessRefused(() => rotationsKept(topology, relaxed));
    if (kept === null) continue;
    for (const { offset, period } of relaxed.symmetries)
      if (!kept.some((one) => one.offset === offset && one.period === period))
        words.push(`without the rotation [${offset}, ${period}]`);
    const what = words.join(", ");
    found.push({ what, sketch: { ...relaxed, symmetries: kept, name: `${sketch.name}, ${what}` } });
  }
  return found;
}
