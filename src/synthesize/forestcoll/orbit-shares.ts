import { type FlowNetwork, flowSolver } from "../../model/graph/max-flow.ts";
import type { OrbitTree } from "./orbit-paths.ts";

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
