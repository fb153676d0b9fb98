import type { NumberedSets } from "../../model/graph/disjoint-sets.ts";
import { format, rational } from "../../model/numbers/rational.ts";
import { type Forest, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import type { Recorder } from "../violation.ts";
import type { TreeDemand } from "./tree-flow-demand.ts";
import { eachServedRun } from "./tree-flow-switches.ts";
import type { Orbits } from "./tree-flow-symmetry.ts";
import type { TreeWords } from "./tree-flow-words.ts";

const counted = (copies: bigint): string => `${copies} ${copies === 1n ? "copy" : "copies"}`;

/** Records links whose copies hold more than their bandwidth: of each forest, or of both where they run side by side. Exact. */
export function checkLoads(flow: TreeFlow, orbits: Orbits, recorder: Recorder, words: TreeWords): void {
  const { topology, forests, concurrent } = flow;
  const { linkBytesPerSecond } = topology;
  const loads = forests.map((forest) => spread(linkUses(flow, forest, orbits), orbits.links, orbits.order));
  const denominator = concurrent ? forests.reduce((product, { copyBytesPerSecond: { den } }) => product * den, 1n) : 1n;
  const factors = forests.map(({ copyBytesPerSecond: { num, den } }) => (concurrent ? num * (denominator / den) : num));
  const over = (link: number, load: bigint, den: bigint, ofForests: readonly number[]): void => {
    if (load <= BigInt(linkBytesPerSecond[link]) * den) return;
    recorder.record(() => {
      const used = format(rational(load, den));
      const held = ofForests.map((f) => `${counted(loads[f][link])} of ${words.forest(f)}`).join(" and ");
      const room = `${linkBytesPerSecond[link]} bytes/s`;
      const message = `${held} hold ${used} bytes/s of link ${words.link(link)}, more than its ${room}`;
      return { kind: "link-overload", link, ...(concurrent ? {} : { forest: ofForests[0] }), message };
    });
  };
  const all = forests.map((_, f) => f);
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    if (concurrent) {
      const load = all.reduce((sum, f) => sum + loads[f][link] * factors[f], 0n);
      over(link, load, denominator, all);
    } else for (const f of all) over(link, loads[f][link] * factors[f], forests[f].copyBytesPerSecond.den, [f]);
  }
}

/**
 * Returns the copies of all listed trees on each link: summed in doubles where no sum can leave 2^53, else in BigInt.
 * O(edges + links of edges).
 */
function linkUses(flow: TreeFlow, forest: Forest, orbits: Orbits): bigint[] {
  const { copies, linkOffset, links } = forest;
  const edges = flow.collective.groupSize - 1;
  const count = flow.topology.linkSource.length;
  let most = 0;
  for (let tree = 0; tree < copies.length; tree++) {
    most += copies[tree] * (linkOffset[(tree + 1) * edges] - linkOffset[tree * edges]);
  }
  if (most < 2 ** 52) {
    const uses = new Float64Array(count);
    eachRun(flow, forest, orbits, (tree, from, to) => {
      const own = copies[tree];
      for (let i = from; i < to; i++) uses[links[i]] += own;
    });
    return Array.from(uses, BigInt);
  }
  const uses = new Array<bigint>(count).fill(0n);
  eachRun(flow, forest, orbits, (tree, from, to) => {
    const own = BigInt(copies[tree]);
    for (let i = from; i < to; i++) uses[links[i]] += own;
  });
  return uses;
}

/** Calls with each run of places in `links` that carries a tree's data: all of them but where switches duplicate or sum. */
function eachRun(
  flow: TreeFlow,
  forest: Forest,
  orbits: Orbits,
  run: (tree: number, from: number, to: number) => void,
): void {
  if (flow.inNetwork === true) {
    eachServedRun(flow, forest, orbits.nodes, run);
    return;
  }
  const edges = flow.collective.groupSize - 1;
  for (let tree = 0; tree < treeCount(forest); tree++) {
    run(tree, forest.linkOffset[tree * edges], forest.linkOffset[(tree + 1) * edges]);
  }
}

/** Returns what each item gets when what its orbit has is repeated for every element of the group. O(items). */
function spread(listed: readonly bigint[], { of, size }: NumberedSets, order: bigint): bigint[] {
  if (order === 1n) return listed as bigint[];
  const sums = new Array<bigint>(size.length).fill(0n);
  for (let item = 0; item < listed.length; item++) sums[of[item]] += listed[item];
  const each = sums.map((sum, set) => sum * (order / BigInt(size[set])));
  return Array.from(of, (set) => each[set]);
}

/**
 * Records NPUs that root more or fewer copies than their share of the chunks; in an all-reduce, than in the other forest.
 * O(trees + NPUs).
 */
export function checkCopies(
  flow: TreeFlow,
  demand: TreeDemand,
  orbits: Orbits,
  recorder: Recorder,
  words: TreeWords,
): void {
  const { forests, collective, topology } = flow;
  const rooted = forests.map(({ root, copies }) => {
    const listed = new Array<bigint>(topology.nodeNames.length).fill(0n);
    for (let tree = 0; tree < root.length; tree++) listed[root[tree]] += BigInt(copies[tree]);
    return spread(listed, orbits.nodes, orbits.order);
  });
  if (forests.length !== demand.directions.length) return;
  if (demand.share === null) {
    for (let npu = 0; npu < topology.npuCount; npu++) {
      const [own, other] = rooted.map((counts) => counts[npu]);
      if (own === other) continue;
      const message = `${words.node(npu)} is the root of ${counted(own)} in ${words.forest(0)} but of ${other} in ${words.forest(1)}`;
      recorder.record(() => ({ kind: "wrong-copies", npu, message }));
    }
    return;
  }
  const total = rooted[0].reduce((sum, count) => sum + count, 0n);
  for (let npu = 0; npu < topology.npuCount; npu++) {
    if (rooted[0][npu] * BigInt(collective.chunkCount) === total * BigInt(demand.share[npu])) continue;
    const chunks = `${demand.share[npu]} of ${collective.chunkCount} chunks ${collective.reduces ? "end" : "start"} there`;
    const message = `${words.node(npu)} is the root of ${rooted[0][npu]} of ${total} copies, but ${chunks}`;
    recorder.record(() => ({ kind: "wrong-copies", npu, forest: 0, message }));
  }
}
