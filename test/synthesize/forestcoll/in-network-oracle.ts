import type { LpSolver } from "../../../src/engine/contract/programs.ts";
import { isNpu, linkCount, nodeCount, reversed, type Topology } from "../../../src/model/topology/topology.ts";
import { Program } from "./allreduce-oracle.ts";

/** The best flows over switches that duplicate and sum, by all trees that there are: for networks of a few nodes. */

type Direction = "out" | "in";

/**
 * Returns the copies that each tree of a root to all members puts on links, [trees][links]: data goes from who has it (the root,
 * members reached, able switches reached) over a path of nodes that only forward to another member or able switch.
 */
function treesFrom(topology: Topology, root: number, members: readonly number[], direction: Direction): number[][] {
  const { linkSource, linkTarget } = direction === "out" ? topology : reversed(topology);
  const trait = direction === "out" ? "multicast" : "aggregation";
  const keeps = Array.from(
    { length: nodeCount(topology) },
    (_, v) => members.includes(v) || (!isNpu(topology, v) && topology.nodeTraits[v][trait] === true),
  );
  const found = new Map<string, number[]>();
  const seen = new Set<string>();
  const grow = (held: ReadonlySet<number>, loads: readonly number[]): void => {
    const key = `${loads}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (members.every((member) => held.has(member))) {
      found.set(key, [...loads]);
      return;
    }
    const walk = (node: number, passed: readonly number[], path: readonly number[]): void => {
      for (let link = 0; link < linkSource.length; link++) {
        const to = linkTarget[link];
        if (linkSource[link] !== node || held.has(to) || passed.includes(to)) continue;
        if (!keeps[to]) walk(to, [...passed, to], [...path, link]);
        else
          grow(
            new Set([...held, to]),
            loads.map((load, l) => load + (l === link || path.includes(l) ? 1 : 0)),
          );
      }
    };
    for (const node of held) walk(node, [], []);
  };
  grow(new Set([root]), new Array<number>(linkCount(topology)).fill(0));
  return [...found.values()];
}

/**
 * Returns the most data per second that flows over all trees carry: as much from every member (of an all-reduce, with both
 * directions: any part at each, summed and sent side by side).
 */
export function bestInNetworkRate(
  topology: Topology,
  members: readonly number[],
  directions: readonly Direction[],
  solver: LpSolver,
): number {
  const program = new Program();
  const rate = program.variable(1);
  const onLink: (readonly [number, number])[][] = Array.from({ length: linkCount(topology) }, () => []);
  const shares = members.map(() => program.variable());
  program.row([[rate, -1], ...shares.map((share) => [share, 1] as const)], 0, 0);
  for (const [rank, root] of members.entries()) {
    if (directions.length === 1)
      program.row(
        [
          [shares[rank], members.length],
          [rate, -1],
        ],
        0,
        0,
      );
    for (const direction of directions) {
      const trees = treesFrom(topology, root, members, direction).map((loads) => {
        const tree = program.variable();
        loads.forEach((load, link) => {
          if (load > 0) onLink[link].push([tree, load]);
        });
        return [tree, 1] as const;
      });
      program.row([[shares[rank], -1], ...trees], 0, 0);
    }
  }
  onLink.forEach((terms, link) => {
    program.row(terms, Number.NEGATIVE_INFINITY, topology.linkBytesPerSecond[link]);
  });
  return program.solve(solver);
}
