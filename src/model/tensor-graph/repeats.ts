import {
  classesByKey,
  type Dimension,
  DROPPED,
  type GraphNode,
  type Operand,
  operandsOf,
  PHASES,
  type TensorGraph,
} from "./graph.ts";

type Graph = Pick<TensorGraph, "dimensions" | "nodes">;

/** Periods that are tried for neighbours of each length that stand twice. */
const MOST_PERIODS = 8;
/** And so many times them, for parts whose own parts do the same but take other tensors. */
const MOST_TIMES = 4;

/** Returns what a node does, sizes of dimensions and where they are the same included, whatever they are called. */
function deedOf({ dimensions }: Graph, node: GraphNode): string {
  const known = new Map<number, number>();
  const label = (dim: number): string => {
    if (dim === DROPPED) return "-";
    const at = known.get(dim) ?? known.size;
    known.set(dim, at);
    return `${at}:${(dimensions[dim] as Dimension).size}`;
  };
  const labels = (dims: readonly number[]): string => dims.map(label).join();
  const operands = operandsOf(node).map(({ dims }) => labels(dims));
  const parts = [node.kind, node.phase, node.elementBytes, node.isFused, operands.join(";"), labels(node.dims)];
  if (node.kind === "placeholder") parts.push(node.role);
  if (node.kind === "einsum") parts.push(node.selects);
  if (node.kind === "elementwise") parts.push(node.function, node.constant, labels(node.whole));
  if (node.kind === "reduction") parts.push(node.function, labels(node.over));
  return parts.join("|");
}

/** Nodes of one phase in order, but for placeholders and the output, and what tells parts of them apart. */
interface Sequence {
  readonly graph: Graph;
  /** Indices of nodes. */
  readonly nodes: readonly number[];
  /** [nodes of the graph] its place in the sequence; -1 for others. */
  readonly places: Int32Array;
  /** [nodes of the graph] equal for those that do the same. */
  readonly deeds: Int32Array;
  /** [nodes of the graph] the first node that does the same in repeated parts that are found. */
  readonly alike: Int32Array;
  /** [places + 1] how many tensors of before are needed there or later. */
  readonly crossing: Int32Array;
}

/** Parts of a sequence that do the same one after the other. */
interface Repeats {
  readonly start: number;
  readonly period: number;
  readonly count: number;
}

const nodeAt = ({ graph, nodes }: Sequence, place: number): GraphNode =>
  graph.nodes[nodes[place] as number] as GraphNode;

/** Returns whether two tensors are taken alike by nodes that stand a period apart. */
function isTakenAlike({ graph, places, deeds, alike }: Sequence, one: number, other: number, period: number): boolean {
  if (one === other) return true;
  const [from, to] = [places[one] as number, places[other] as number];
  if (from >= 0 && to >= 0) return to - from === period;
  if (from >= 0 || to >= 0) return false;
  const isGiven = [one, other].map((node) => graph.nodes[node]?.kind === "placeholder");
  if (isGiven[0] !== isGiven[1]) return false;
  return isGiven[0] ? deeds[one] === deeds[other] : alike[one] === alike[other];
}

/**
 * Returns the last place among tensors that a node takes otherwise than the node a period behind it: Infinity where the two do not
 * do the same at all, or only one takes a parameter; -1 for a tensor that is not of the sequence; null where all is alike.
 */
function differsUpTo(sequence: Sequence, place: number, period: number): number | null {
  const { graph, nodes, places, deeds } = sequence;
  if (deeds[nodes[place] as number] !== deeds[nodes[place + period] as number]) return Number.POSITIVE_INFINITY;
  const others = operandsOf(nodeAt(sequence, place + period));
  let last: number | null = null;
  operandsOf(nodeAt(sequence, place)).forEach(({ node: one }, k) => {
    const other = (others[k] as Operand).node;
    if (isTakenAlike(sequence, one, other, period)) return;
    const isTrained = [one, other].some((of) => {
      const taken = graph.nodes[of] as GraphNode;
      return taken.kind === "placeholder" && taken.role === "parameter";
    });
    last = Math.max(last ?? -1, isTrained ? Number.POSITIVE_INFINITY : (places[one] as number));
  });
  return last;
}

/** Returns periods after which neighbours stand again, by neighbours of 1, 2, 4 .. nodes. O(n log n). */
function likelyPeriods({ nodes, deeds }: Sequence, from: number, to: number): number[] {
  const found = new Set<number>();
  let ranks = nodes.slice(from, to).map((node) => deeds[node] as number);
  for (let width = 1; width <= (to - from) / 2; width *= 2) {
    const votes = new Map<number, number>();
    const last = new Map<number, number>();
    ranks.forEach((rank, i) => {
      const before = last.get(rank);
      if (before !== undefined) votes.set(i - before, (votes.get(i - before) ?? 0) + 1);
      last.set(rank, i);
    });
    const most = [...votes].sort(([a, m], [b, n]) => n - m || a - b).slice(0, MOST_PERIODS);
    for (const [period] of most) {
      for (let times = 1; times <= MOST_TIMES && period * times < to - from; times++) found.add(period * times);
    }
    const known = new Map<string, number>();
    const pairs = ranks.slice(0, Math.max(0, ranks.length - width)).map((rank, i) => `${rank} ${ranks[i + width]}`);
    ranks = pairs.map((pair) => {
      const rank = known.get(pair) ?? known.size;
      known.set(pair, rank);
      return rank;
    });
  }
  return [...found].sort((a, b) => a - b);
}

/**
 * Returns the longest repeats of a period, null where there are none with parameters of their own. The first part may take from
 * before it what the others take from the part before them, and the last of another phase what stands before all parts there.
 */
function repeatsOf(sequence: Sequence, from: number, to: number, period: number): Repeats | null {
  let [start, end] = [from, from];
  for (let i = from, begun = from; i < to - period; i++) {
    if (differsUpTo(sequence, i, period) !== null) begun = i + 1;
    else if (i + 1 - begun > end - start) [start, end] = [begun, i + 1];
  }
  if (start === end) return null;
  let first = start;
  let last = -1;
  for (let i = start - 1; i >= Math.max(from, start - period); i--) {
    last = Math.max(last, differsUpTo(sequence, i, period) ?? -1);
    if (last === Number.POSITIVE_INFINITY) break;
    if (last < i) first = i;
  }
  for (const most = Math.min(to - period, end + period); end < most; end++)
    if ((differsUpTo(sequence, end, period) ?? -1) !== -1) break;
  const length = end - first + period;
  const count = Math.floor(length / period);
  if (count < 2) return null;
  let best = first;
  for (let at = first; at <= first + length - count * period; at++)
    if ((sequence.crossing[at + period] as number) < (sequence.crossing[best + period] as number)) best = at;
  for (let i = best; i < best + period; i++)
    if (takesOwnParameter(sequence, i, period)) return { start: best, period, count };
  return null;
}

/** Returns whether a node takes a parameter that the node a period behind it does not. */
function takesOwnParameter(sequence: Sequence, place: number, period: number): boolean {
  const others = operandsOf(nodeAt(sequence, place + period));
  return operandsOf(nodeAt(sequence, place)).some(({ node }, k) => {
    const taken = sequence.graph.nodes[node] as GraphNode;
    return taken.kind === "placeholder" && taken.role === "parameter" && others[k]?.node !== node;
  });
}

/** Finds the repeats of a part of a sequence that have most nodes, of these the shortest, then those before and behind them. */
function findRepeats(sequence: Sequence, from: number, to: number): void {
  let best: Repeats | null = null;
  for (const period of likelyPeriods(sequence, from, to)) {
    const found = repeatsOf(sequence, from, to, period);
    if (found && found.period * found.count > (best === null ? 0 : best.period * best.count)) best = found;
  }
  if (best === null) return;
  const { start, period, count } = best;
  const { nodes, alike } = sequence;
  for (let i = start + period; i < start + period * count; i++)
    alike[nodes[i] as number] = alike[nodes[i - period] as number] as number;
  findRepeats(sequence, from, start);
  findRepeats(sequence, start + period * count, to);
}

function sequenceOf(graph: Graph, nodes: readonly number[], deeds: Int32Array, alike: Int32Array): Sequence {
  const places = new Int32Array(graph.nodes.length).fill(-1);
  nodes.forEach((node, place) => {
    places[node] = place;
  });
  const lastUse = Int32Array.from(nodes, (_, place) => place);
  nodes.forEach((node, place) => {
    for (const { node: of } of operandsOf(graph.nodes[node] as GraphNode)) {
      const at = places[of] as number;
      if (at >= 0) lastUse[at] = place;
    }
  });
  const crossing = new Int32Array(nodes.length + 2);
  lastUse.forEach((last, place) => {
    crossing[place + 1]++;
    crossing[last + 1]--;
  });
  for (let i = 1; i < crossing.length; i++) crossing[i] += crossing[i - 1] as number;
  return { graph, nodes, places, deeds, alike, crossing };
}

/**
 * Returns the classes of a graph's nodes: those of repeated parts, layers say, that stand at the same place of theirs have one class
 * (Alpa, Zheng et al. 2022, and AutoParallel treat equal layers alike). Parts are neighbours in the order of nodes, in each phase for
 * itself, that do the same with the same sizes and take tensors alike: of the part before, of before all parts, or of what has one
 * class in the forward phase. Two parts are found by nodes that take
 * tensors of their own part only. Placeholders have one class where nodes of the same classes take them. O(n log n) for n nodes of
 * a bounded number of operands, in as many rounds as there are different repeats.
 */
export function classesOfRepeats(graph: Graph): Int32Array {
  const deeds = classesByKey(graph.nodes.map((node) => deedOf(graph, node)));
  const alike = Int32Array.from(graph.nodes, (_, i) => i);
  for (const phase of PHASES) {
    const nodes = graph.nodes.flatMap((node, i) =>
      node.phase === phase && node.kind !== "placeholder" && node.kind !== "output" ? [i] : [],
    );
    findRepeats(sequenceOf(graph, nodes, deeds, alike), 0, nodes.length);
  }
  const users = graph.nodes.map(() => new Set<string>());
  for (const phase of PHASES) {
    // who takes it in the forward phase says enough
    const isOpen = users.map(({ size }) => size === 0);
    graph.nodes.forEach((node, i) => {
      if (node.phase !== phase || node.kind === "output") return;
      operandsOf(node).forEach((operand, k) => {
        if (isOpen[operand.node]) users[operand.node]?.add(`${alike[i]}.${k}`);
      });
    });
  }
  return classesByKey(
    graph.nodes.map((node, i) => {
      const by = users[i] as Set<string>;
      return node.kind !== "placeholder" || by.size === 0 ? `${alike[i]}` : `${deeds[i]} by ${[...by].sort().join()}`;
    }),
  );
}
