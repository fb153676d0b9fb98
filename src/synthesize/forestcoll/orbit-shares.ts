import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { type FlowNetwork, flowSolver } from "../../model/graph/flow.ts";
import { groupedBy, type NumberedSets } from "../../model/graph/graph.ts";
import type { Rational } from "../../model/numbers/rational.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Paths into each NPU, of which any one makes a tree. */
export interface Choices {
  /** [kinds] the orbits that a path of the kind uses, once each. */
  readonly kindOrbits: readonly (readonly number[])[];
  /** [NPUs] kinds that each NPU may take, none for the root. */
  readonly choiceKind: readonly (readonly number[])[];
  /** [NPUs] the path of each of these kinds. */
  readonly choicePath: readonly (readonly number[])[];
}

/** NPUs with the same choices. */
interface NpuClass {
  /** Ascending. */
  readonly kinds: readonly number[];
  readonly npus: number[];
}

/** Budgets that are used together, each within the next: kinds enter at `entry`, budget i goes on to `next` (-1: none). */
interface NestedBudgets {
  /** [kinds] -1 where the kind is not used. */
  readonly entry: Int32Array;
  readonly next: number[];
  readonly budget: number[];
}

/**
 * Returns k trees, equal ones as one, that take of each NPU's choices so many that all budgets hold; null when that is
 * impossible, or when the budgets are not nested. First one tree with all k copies is tried. The copies of an NPU class are
 * dealt to kinds in one row, NPU by NPU, so that trees differ only where a kind ends within an NPU: at most one more tree
 * than there are such places.
 */
export function sharesOf(choices: Choices, budget: Float64Array, k: number): readonly OrbitTree[] | null {
  const { kindOrbits, choiceKind } = choices;
  if (k * choiceKind.length > Number.MAX_SAFE_INTEGER) return null;
  const classes = classesOf(choiceKind);
  const nested = nestedBudgets(classes, kindOrbits, budget);
  if (nested === null) return null;
  const whole = sharesOfClasses(classes, { ...nested, budget: nested.budget.map((b) => Math.floor(b / k)) }, 1);
  if (whole !== null) return dealt(choices, classes, whole, 1).map((tree) => ({ ...tree, copies: k }));
  if (k === 1) return null;
  const shares = sharesOfClasses(classes, nested, k);
  return shares === null ? null : dealt(choices, classes, shares, k);
}

function classesOf(choiceKind: readonly (readonly number[])[]): NpuClass[] {
  const byKinds = new Map<string, NpuClass>();
  for (let v = 1; v < choiceKind.length; v++) {
    const kinds = [...choiceKind[v]].sort((a, b) => a - b);
    const key = kinds.join();
    const known = byKinds.get(key);
    if (known === undefined) byKinds.set(key, { kinds, npus: [v] });
    else known.npus.push(v);
  }
  return [...byKinds.values()];
}

/** Returns the budgets in the order in which they contain each other; null where two overlap. O(kinds * their orbits). */
function nestedBudgets(
  classes: readonly NpuClass[],
  kindOrbits: readonly (readonly number[])[],
  budget: Float64Array,
): NestedBudgets | null {
  const used = new Uint8Array(kindOrbits.length);
  for (const { kinds } of classes) for (const kind of kinds) used[kind] = 1;
  const users: number[][] = Array.from(budget, () => []);
  for (let kind = 0; kind < used.length; kind++) {
    if (used[kind] !== 0) for (const o of kindOrbits[kind]) users[o].push(kind);
  }
  // orbits with the same users are one budget
  const group = new Int32Array(budget.length).fill(-1);
  const byUsers = new Map<string, number>();
  const groupUsers: number[] = [];
  const least: number[] = [];
  for (let o = 0; o < budget.length; o++) {
    if (users[o].length === 0) continue;
    const key = users[o].join();
    const known = byUsers.get(key) ?? byUsers.size;
    byUsers.set(key, known);
    group[o] = known;
    groupUsers[known] = users[o].length;
    least[known] = Math.min(least[known] ?? Number.POSITIVE_INFINITY, budget[o]);
  }
  const entry = new Int32Array(kindOrbits.length).fill(-1);
  const next = new Array<number>(least.length).fill(-2);
  for (let kind = 0; kind < used.length; kind++) {
    if (used[kind] === 0) continue;
    const chain = [...new Set(kindOrbits[kind].map((o) => group[o]))].sort((a, b) => groupUsers[a] - groupUsers[b]);
    entry[kind] = chain[0];
    for (let i = 0; i < chain.length; i++) {
      const after = i + 1 < chain.length ? chain[i + 1] : -1;
      if (next[chain[i]] !== -2 && next[chain[i]] !== after) return null;
      next[chain[i]] = after;
    }
  }
  return { entry, next, budget: least };
}

/** Returns how many of each class's n * k copies take each of its kinds; null when not all find room. */
function sharesOfClasses(
  classes: readonly NpuClass[],
  { entry, next, budget }: NestedBudgets,
  k: number,
): number[][] | null {
  const kindCount = entry.length;
  const [source, sink, firstClass] = [0, 1, 2];
  const firstKind = firstClass + classes.length;
  const firstBudget = firstKind + kindCount;
  const [tail, head, capacity]: [number[], number[], number[]] = [[], [], []];
  const arc = (from: number, to: number, copies: number): void => {
    tail.push(from);
    head.push(to);
    capacity.push(copies);
  };
  let all = 0;
  classes.forEach(({ kinds, npus }, c) => {
    const copies = npus.length * k;
    all += copies;
    for (const kind of kinds) arc(firstClass + c, firstKind + kind, copies);
    arc(source, firstClass + c, copies);
  });
  for (let kind = 0; kind < kindCount; kind++) {
    if (entry[kind] >= 0) arc(firstKind + kind, firstBudget + entry[kind], all);
  }
  for (let i = 0; i < next.length; i++) arc(firstBudget + i, next[i] < 0 ? sink : firstBudget + next[i], budget[i]);
  const network: FlowNetwork = {
    nodes: firstBudget + next.length,
    tail: Int32Array.from(tail),
    head: Int32Array.from(head),
  };
  const { value, flow } = flowSolver(network)(Float64Array.from(capacity), source, sink);
  if (value < all) return null;
  let a = 0;
  return classes.map(({ kinds }) => {
    const shares = kinds.map(() => flow[a++]);
    a++;
    return shares;
  });
}

function dealt(
  { choiceKind, choicePath }: Choices,
  classes: readonly NpuClass[],
  shares: readonly (readonly number[])[],
  k: number,
): OrbitTree[] {
  const starts = new Set([0]);
  for (const ofClass of shares) {
    let end = 0;
    for (const share of ofClass) {
      end += share;
      starts.add(end % k);
    }
  }
  const order = [...starts].sort((a, b) => a - b);
  return order.map((copy, i) => {
    const into = new Int32Array(choiceKind.length);
    classes.forEach(({ kinds, npus }, c) => {
      let kind = 0;
      let end = shares[c][0];
      npus.forEach((v, at) => {
        while (at * k + copy >= end) end += shares[c][++kind];
        into[v] = choicePath[v][choiceKind[v].indexOf(kinds[kind])];
      });
    });
    return { copies: (i + 1 < order.length ? order[i + 1] : k) - copy, into };
  });
}

/** Paths that share their beginnings: path p runs along path before[p] (none: -1, then it starts at an NPU), then link[p]. */
export interface Paths {
  readonly link: number[];
  readonly before: number[];
}

/** Adds a path and returns its number. */
export function extended(paths: Paths, before: number, link: number): number {
  paths.before.push(before);
  return paths.link.push(link) - 1;
}

/** Equal trees of root 0: the path into each NPU, [NPUs], anything for NPU 0. */
export interface OrbitTree {
  readonly copies: number;
  readonly into: Int32Array;
}

/** Returns the NPU from which each NPU gets its data in a tree, [NPUs]; -1 for the root. O(links of all paths). */
export function parentsOf(topology: Topology, paths: Paths, into: Int32Array): Int32Array {
  const parent = new Int32Array(into.length).fill(-1);
  for (let v = 1; v < into.length; v++) {
    let p = into[v];
    while (paths.before[p] >= 0) p = paths.before[p];
    parent[v] = topology.linkSource[paths.link[p]];
  }
  return parent;
}

/**
 * Returns trees of root 0 in the columns of a forest, edges breadth-first, and the height of the highest; null when one does
 * not reach all NPUs. O(trees * links of their paths).
 */
export function forestOf(
  topology: Topology,
  paths: Paths,
  trees: readonly OrbitTree[],
): { readonly trees: PackedTrees; readonly height: number } | null {
  const { npuCount } = topology;
  const linkOffset = new Float64Array(trees.length * (npuCount - 1) + 1);
  const links: number[] = [];
  const depth = new Int32Array(npuCount);
  const queue = new Int32Array(npuCount);
  let edges = 0;
  let height = 0;
  for (const { into } of trees) {
    const parent = parentsOf(topology, paths, into);
    parent[0] = 0;
    const { offset, items } = groupedBy(parent, npuCount);
    let last = 1;
    for (let first = 0; first < last; first++) {
      const v = queue[first];
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const u = items[i];
        if (u === 0) continue;
        queue[last++] = u;
        depth[u] = depth[v] + 1;
        height = Math.max(height, depth[u]);
        const from = links.length;
        for (let p = into[u]; p >= 0; p = paths.before[p]) links.push(paths.link[p]);
        reverse(links, from);
        linkOffset[++edges] = links.length;
      }
    }
    if (last < npuCount) return null;
  }
  const columns = {
    root: new Int32Array(trees.length),
    copies: Float64Array.from(trees, ({ copies }) => copies),
    linkOffset,
    links: Int32Array.from(links),
  };
  return { trees: columns, height };
}

function reverse(list: number[], from: number): void {
  for (let i = from, j = list.length - 1; i < j; i++, j--) [list[i], list[j]] = [list[j], list[i]];
}

/** How often the k trees of root 0 together may use the links of each orbit. */
export interface OrbitBudgets {
  /** [links] */
  readonly orbit: Int32Array;
  /** [orbits] exact integers; what no k trees can use up is cut off at k * NPUs. */
  readonly budget: Float64Array;
}

/**
 * Returns the budgets of k trees with capacity floor(U * bandwidth) copies in each link. A group that moves NPUs freely and
 * transitively has NPUs / |orbit| elements that take one given link of an orbit to another, so a use of any link of the orbit
 * loads every one of them that often. O(links).
 */
export function orbitBudgets(
  topology: Topology,
  { of: orbit, size }: NumberedSets,
  k: number,
  U: Rational,
): OrbitBudgets {
  const { npuCount, linkBytesPerSecond } = topology;
  const most = BigInt(k) * BigInt(npuCount);
  const budget = new Float64Array(size.length).fill(-1);
  for (let link = 0; link < orbit.length; link++) {
    if (budget[orbit[link]] >= 0) continue;
    const copies = (U.num * BigInt(linkBytesPerSecond[link])) / U.den;
    const uses = (copies * BigInt(size[orbit[link]])) / BigInt(npuCount);
    budget[orbit[link]] = Number(uses < most ? uses : most);
  }
  return { orbit, budget };
}

/** Returns whether the links into NPUs, and those out of them, can be used once for each edge of k trees. O(links). */
export function coversAllEdges(topology: Topology, { orbit, budget }: OrbitBudgets, k: number): boolean {
  const { npuCount } = topology;
  return [topology.linkSource, topology.linkTarget].every((ends) => {
    const counted = new Uint8Array(budget.length);
    let uses = 0;
    for (let link = 0; link < orbit.length; link++) {
      if (ends[link] >= npuCount || counted[orbit[link]] !== 0) continue;
      counted[orbit[link]] = 1;
      uses += budget[orbit[link]];
    }
    return uses >= k * (npuCount - 1);
  });
}
