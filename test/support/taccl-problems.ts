import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { sketchNetwork } from "../../src/model/sketch/network.ts";
import { proposedSketches } from "../../src/model/sketch/proposals.ts";
import type { Sketch, SketchNetwork } from "../../src/model/sketch/sketch.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { type Tasks, tasksOf, timing } from "../../src/synthesize/taccl/scheduling.ts";
import { greedySends } from "./greedy-sends.ts";
import { wholeCollective } from "./synthesis.ts";

/** Returns greedy ways for a collective among all NPUs as tasks, on the sketch or on the first that is proposed. */
export function greedyTasks(
  topology: Topology,
  kind: NamedCollective,
  chunkBytes: number,
  { chunks = 1, sketch = proposedSketches(topology, kind)[0] as Sketch } = {},
): { readonly network: SketchNetwork; readonly tasks: Tasks; readonly collective: ReturnType<typeof wholeCollective> } {
  const share = kind === "broadcast" || kind === "reduce" ? 1 : topology.npuCount;
  const collective = wholeCollective(topology, kind, chunkBytes * chunks * share, chunks);
  const network = sketchNetwork(topology, sketch);
  const sends = greedySends(network, collective);
  return { network, collective, tasks: tasksOf(network, collective, sends, timing(network, collective)) };
}
