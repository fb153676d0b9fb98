import { InfeasibleError } from "../../base/errors.ts";
import type { Topology } from "../topology/topology.ts";

/** Returns the error for a pair of NPUs that must be connected and are not. */
export function unreachable(topology: Topology, from: number, to: number): InfeasibleError {
  const { nodeNames } = topology;
  return new InfeasibleError(`no path leads from ${nodeNames[from]} to ${nodeNames[to]}`, { from, to });
}

/** Returns the error for a set whose border chunks must cross where nothing does. */
export function noWay(
  topology: Topology,
  nodes: ArrayLike<number>,
  direction: "in" | "out",
  demand: number,
): InfeasibleError {
  const names = Array.from(nodes, (v) => topology.nodeNames[v]);
  const shown = names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ");
  return new InfeasibleError(
    `no route ${direction === "in" ? "enters" : "leaves"} ${shown}, but ${demand} chunks must`,
    { nodes: Array.from(nodes), direction, demand },
  );
}

/** Returns what `work` returns; an infeasibility that it finds in reversed time is told the right way around. */
export function inReversedTime<T>(topology: Topology, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof InfeasibleError)) throw error;
    const { from, to, nodes, direction, demand } = error.witness;
    if (from !== undefined) throw unreachable(topology, to as number, from as number);
    throw noWay(topology, nodes as number[], direction === "in" ? "out" : "in", demand as number);
  }
}
