import { numberedSets } from "../../src/model/graph/graph.ts";
import { nodeCount } from "../../src/model/topology/topology.ts";
import { expandTrees } from "../../src/model/trees/tree-expansion.ts";
import type { Forest, TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { eachServedRun } from "../../src/verify/trees/tree-flow.ts";

/**
 * Returns when a tree flow whose switches duplicate and sum is done, by playing it chunk by chunk and node by node: nothing of
 * a closed form. Members have a chunk when all of it has come; a switch passes on (and adds up) what comes as it comes, and
 * holds back what comes before the other summands. Every run of links carries one chunk at a time. Forests side by side have
 * one tree of one copy at each root.
 */
export function playedPs(flow: TreeFlow, pieces: number): number {
  const whole = expandTrees(flow);
  const serials = whole.forests.map((forest) => serialsOf(whole, forest, pieces));
  if (whole.concurrent) {
    const [into, out] = whole.forests;
    const complete = into.root.reduce(
      (known, root, tree) => known.set(root, gathered(whole, into, tree, pieces, serials[0][tree])),
      new Map<number, number[]>(),
    );
    return Math.max(
      ...out.root.map((root, tree) => spreadBy(whole, out, tree, complete.get(root) as number[], serials[1][tree])),
    );
  }
  return whole.forests.reduce((sum, forest, f) => {
    const ends = Array.from(forest.root, (_, tree) => {
      const chunks = forest.copies[tree] * pieces;
      if (forest.direction === "in") return Math.max(...gathered(whole, forest, tree, chunks, serials[f][tree]));
      return spreadBy(whole, forest, tree, new Array<number>(chunks).fill(0), serials[f][tree]);
    });
    return sum + Math.max(...ends);
  }, 0);
}

/** Returns [trees] picoseconds that a chunk takes on a link: its bytes over the bandwidth of the tree's copies, rounded up. */
function serialsOf({ collective }: TreeFlow, forest: Forest, pieces: number): number[] {
  const { num, den } = forest.copyBytesPerSecond;
  const all = forest.copies.reduce((sum, copies) => sum + copies, 0);
  const bytes = collective.chunkBytes;
  return Array.from(forest.copies, (copies) => {
    const top = bytes.num * BigInt(collective.chunkCount) * 1_000_000_000_000n * den;
    const bottom = bytes.den * BigInt(all) * BigInt(pieces) * num * BigInt(copies);
    return Number((top + bottom - 1n) / bottom);
  });
}

/** Returns the runs of a tree, those that feed before those that are fed, each with the nodes on it, from the root's side. */
function runsOf(flow: TreeFlow, forest: Forest, tree: number): { links: number[]; nodes: number[] }[] {
  const { linkSource, linkTarget } = flow.topology;
  const [near, far] = forest.direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const alone = numberedSets(nodeCount(flow.topology), (v) => v);
  const runs: { links: number[]; nodes: number[] }[] = [];
  eachServedRun(flow, forest, alone, (t, from, to) => {
    if (t !== tree) return;
    const links = [...forest.links.subarray(from, to)];
    runs.push({ links, nodes: [near[links[0]], ...links.map((link) => far[link])] });
  });
  return runs;
}

/** Returns when all members have all chunks, of which the root has each at its time of `ready`. */
function spreadBy(flow: TreeFlow, forest: Forest, tree: number, ready: readonly number[], serial: number): number {
  const runs = runsOf(flow, forest, tree);
  const free = runs.map(() => 0);
  let last = 0;
  for (const time of ready) {
    // when each node can begin to pass the chunk on
    const from = new Map([[forest.root[tree], time]]);
    runs.forEach(({ links, nodes }, r) => {
      const start = Math.max(from.get(nodes[0]) as number, free[r]);
      free[r] = start + serial;
      let at = start;
      links.forEach((link, i) => {
        at += flow.topology.linkLatencyPs[link];
        if (i < links.length - 1) from.set(nodes[i + 1], at);
      });
      from.set(nodes[links.length], at + serial);
      last = Math.max(last, at + serial);
    });
  }
  return last;
}

/** Returns when the root has the sum of each chunk. */
function gathered(flow: TreeFlow, forest: Forest, tree: number, chunks: number, serial: number): number[] {
  const runs = runsOf(flow, forest, tree).reverse();
  const free = runs.map(() => 0);
  return Array.from({ length: chunks }, () => {
    // when each node has what others add to the chunk: members all of it, switches its beginning
    const has = new Map<number, number>();
    const add = (node: number, time: number): void => void has.set(node, Math.max(has.get(node) ?? 0, time));
    runs.forEach(({ links, nodes }, r) => {
      let at = Math.max(has.get(nodes[links.length]) ?? 0, free[r]);
      free[r] = at + serial;
      for (let i = links.length - 1; i >= 0; i--) {
        at += flow.topology.linkLatencyPs[links[i]];
        if (i > 0) at = Math.max(at, has.get(nodes[i]) ?? 0);
      }
      add(nodes[0], nodes[0] < flow.topology.npuCount ? at + serial : at);
    });
    return has.get(forest.root[tree]) ?? 0;
  });
}
