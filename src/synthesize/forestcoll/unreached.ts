import { InfeasibleError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import { contributions } from "./requests.ts";

/** Nodes of a cut that are named. */
const NODES_NAMED = 8;

/**
 * Returns the error for a network on which data of some member cannot reach another, with the cut that no usable link crosses,
 * named by its smaller side; null where all of it can. O(members * links).
 */
export function unreached(topology: Topology, collective: Collective, usable: Float64Array): InfeasibleError | null {
  const { nodeNames, linkSource, linkTarget } = topology;
  const { groupMembers, kind } = collective;
  const gathers = kind === "reduce" || kind === "reducescatter";
  const [tail, head] = gathers ? [linkTarget, linkSource] : [linkSource, linkTarget];
  const open = Int32Array.from(usable.keys()).filter((link) => usable[link] > 0);
  const [tails, heads] = [open.map((link) => tail[link]), open.map((link) => head[link])];
  const network = graph(nodeCount(topology), tails, heads, new Float64Array(open.length).fill(1));
  const weight = contributions(collective);
  for (const [rank, root] of groupMembers.entries()) {
    if (weight[rank] === 0) continue;
    const distance = distancesFrom(network, [root]);
    const lost = groupMembers.find((member) => distance[member] === Number.POSITIVE_INFINITY);
    if (lost === undefined) continue;
    const sides = [true, false].map((near) =>
      [...distance.keys()].filter((v) => Number.isFinite(distance[v]) === near),
    );
    const isFar = sides[0].length > sides[1].length;
    const names = sides[isFar ? 1 : 0].map((node) => nodeNames[node]);
    const more = names.length > NODES_NAMED ? `, and ${names.length - NODES_NAMED} more` : "";
    const shown = `{${names.slice(0, NODES_NAMED).join(", ")}${more}}`;
    const [from, to] = (gathers ? [lost, root] : [root, lost]).map((npu) => nodeNames[npu]);
    const crosses = isFar === gathers ? "leaves" : "enters";
    const why = `no usable link of ${topology.name} ${crosses} ${shown}: NPU ${from} cannot reach NPU ${to}`;
    return new InfeasibleError(why, { from, to, nodes: names });
  }
  return null;
}
