import { InputError } from "../../base/errors.ts";
import { commCollective, directionsOf, refuseListing } from "../../model/comm/collective.ts";
import type { CommRun } from "../../model/comm/steps.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import { type Digraph, linksOfArcs } from "../../model/direct/digraph.ts";
import { transposedArcs } from "../../model/direct/expansions.ts";
import { directFacts } from "../../model/direct/facts.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import { commonValue } from "../../model/graph/graph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { constructionOf } from "../../model/presets/construction.ts";
import { affordableParts, groupRefusal, passesOf, refuseGroups, refuseParts } from "../bfb/requests.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { basesOf } from "./bases.ts";
import { type Chosen, chosen, POLICIES, type Policy, partsOf, type Side } from "./choice.ts";
import { refuseRows } from "./rows.ts";

const CONSTRUCTED = 'a network given by its construction, such as "L3(C(16,{3,4}))"';

/** What a request asks for. */
interface Plan {
  readonly name: string;
  readonly graph: Digraph;
  /** The all-gather on the network, and the one on its transpose that turns into a reduce-scatter; null: not needed. */
  readonly forward: Side | null;
  readonly backward: Side | null;
}

/** Throws InputError for networks that are no constructions or too large, and for groups. */
function planOf({ topology, collective, policy }: SynthesisRequest): Plan {
  const construction = constructionOf(topology);
  const bytesPerSecond = commonValue(topology.linkBytesPerSecond);
  const latencyPs = commonValue(topology.linkLatencyPs);
  if (construction === null || bytesPerSecond === null || latencyPs === null) {
    throw new InputError("expand", `${CONSTRUCTED} (bfb takes any network of direct links),`, topology.name);
  }
  refuseGroups("expand", { topology, collective });
  const graph = graphOf(construction);
  if (graph.translations === null) refuseRows(graph.nodes * (graph.nodes - 1));
  refuseListing("expand", topology, collective);
  const needed = directionsOf(topology, collective);
  const side = (turned: boolean): Side => ({
    base: { construction, turned },
    link: { bytesPerSecond, latencyPs },
    sizeBytes: collective.sizeBytes,
    policy: policy as Policy | null,
  });
  return {
    name: constructionText(construction),
    graph,
    forward: needed.forward ? side(false) : null,
    backward: needed.backward ? side(true) : null,
  };
}

/** Returns the parts of a shard that suit all that the collective is made of, if transfers stay few enough. */
async function ownChunks(request: SynthesisRequest, { runner }: SynthesisContext): Promise<number> {
  const bases = basesOf(runner.balance);
  const { forward, backward } = planOf(request);
  const most = affordableParts(request);
  let parts = 1;
  for (const side of [backward, forward]) if (side !== null) parts = lcm(parts, await partsOf(side, bases, most));
  return parts;
}

async function synthesize(request: SynthesisRequest, { runner }: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const parts = collective.chunksPerNpu;
  refuseParts("expand", collective);
  const { name, graph, ...sides } = planOf(request);
  const bases = basesOf(runner.balance);
  const made = async (side: Side | null): Promise<Chosen | null> => (side === null ? null : chosen(side, parts, bases));
  const backward = await made(sides.backward);
  const forward = await made(sides.forward);
  const links = linksOfArcs(graph);
  const runOf = (one: Chosen | null, linkOfArc: Int32Array): Omit<CommRun, "backward"> | null =>
    one === null ? null : { schedule: one.schedule, linkOfArc };
  const runs = {
    forward: runOf(forward, links),
    backward: runOf(
      backward,
      transposedArcs(graph).map((arc) => links[arc]),
    ),
  };
  const used = [backward, forward].filter((one) => one !== null);
  const times = passesOf(
    collective,
    used.map((one) => one.times),
  );
  const link = (sides.forward ?? sides.backward)?.link as Side["link"];
  const words = [...new Set(used.map((one) => one.words))].join("; backwards ");
  return {
    schedule: commCollective(topology, collective, runs),
    policy: `${words} of ${name}, shards in ${parts} ${parts === 1 ? "part" : "parts"}`,
    trials: used.length,
    direct: directFacts(graph, times, link, collective.sizeBytes),
  };
}

/** The schedule that comes with a construction: its expansions applied to the schedule of what they start with (Zhao 2026, 3.5). */
export const expand: Synthesizer = {
  name: "expand",
  description: "the schedule of a network's construction: expansions of base schedules (Zhao 2026)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: POLICIES,
  makesLogs: true,
  refuses: (topology, collective) =>
    constructionOf(topology) === null ? CONSTRUCTED : groupRefusal({ topology, collective }),
  ownChunks,
  synthesize,
};
