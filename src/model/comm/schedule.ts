import { arcCount, arcSources, type Digraph, type DirectNetwork } from "../direct/digraph.ts";
import { indicesBelow, sortedBy } from "../numbers/ordering.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import { routesOf } from "../routes/routing.ts";
import { type IndexColumn, indexColumn } from "../steps/step-schedule.ts";
import { translateAll, translationsOf } from "../symmetry/translation.ts";
import { linkCount, outLinks, switchCount, type Topology } from "../topology/topology.ts";

/**
 * An all-gather in communication steps (Zhao 2026, 3.3.1 and A.2): row i says that in step[i] the parts from[i] .. to[i] - 1 of
 * the shard of node source[i] are sent over arc[i], by a node that had them when the step began. Every shard has as many equal
 * parts. Rows ascend by (step, arc, source, from).
 */
export interface CommSchedule {
  readonly graph: Digraph;
  /** Comm steps, numbered from 0. T_L = steps * alpha. */
  readonly steps: number;
  /** Equal parts of a shard, >= 1. */
  readonly parts: number;
  readonly step: IndexColumn;
  readonly source: IndexColumn;
  readonly arc: IndexColumn;
  readonly from: IndexColumn;
  readonly to: IndexColumn;
  /**
   * Sizes of a group of translations (`model/symmetry/translation.ts`) under which the schedule does not change: then only the rows over
   * arcs that enter node 0 are listed, and stand for their images. Null: all rows are listed.
   */
  readonly symmetry: readonly number[] | null;
}

/** T_L and T_B of an all-gather in comm steps (Zhao 2026, 3.3.2). */
export interface CommTimes {
  /** T_L / alpha. */
  readonly steps: number;
  /** T_B in units of M / B, where B is what the links of a node carry together, self-loops counted. */
  readonly bandwidth: Rational;
}

/** Returns the most arcs that leave or enter a node: d, for graphs in which all have as many. O(arcs). */
export function degreeOf({ nodes, offset, target }: Digraph): number {
  const entering = new Int32Array(nodes);
  for (const to of target) entering[to]++;
  let most = 0;
  for (let v = 0; v < nodes; v++) most = Math.max(most, offset[v + 1] - offset[v], entering[v]);
  return most;
}

/** Returns the greatest load of an arc in each step, in parts, [steps]. O(rows). */
export function stepLoads({ steps, step, arc, from, to }: CommSchedule): Float64Array {
  const most = new Float64Array(steps);
  let load = 0;
  for (let i = 0; i < step.length; i++) {
    if (i === 0 || step[i] !== step[i - 1] || arc[i] !== arc[i - 1]) load = 0;
    load += to[i] - from[i];
    if (load > most[step[i]]) most[step[i]] = load;
  }
  return most;
}

/** Returns the times of steps whose busiest arcs carry this many shards each. */
export function timesOfLoads(graph: Digraph, loads: readonly Rational[]): CommTimes {
  let sum = rational(0);
  for (const load of loads) sum = rational(sum.num * load.den + load.num * sum.den, sum.den * load.den);
  const perShard = rational(degreeOf(graph), graph.nodes);
  return { steps: loads.length, bandwidth: rational(sum.num * perShard.num, sum.den * perShard.den) };
}

/**
 * Returns the times of a schedule: a step takes alpha and what its busiest arc carries (Zhao 2026, 3.3.2). Of a symmetric
 * schedule the arcs into node 0 stand for all. O(rows).
 */
export function commTimes(schedule: CommSchedule): CommTimes {
  const loads = Array.from(stepLoads(schedule), (load) => rational(load, schedule.parts));
  return timesOfLoads(schedule.graph, loads);
}

/** The rows of an all-gather in comm steps, in any order: [rows] each. */
export interface CommRows {
  readonly step: ArrayLike<number>;
  readonly source: ArrayLike<number>;
  readonly arc: ArrayLike<number>;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
}

/** What a schedule has beside its rows. */
type CommFrame = Pick<CommSchedule, "graph" | "steps" | "parts" | "symmetry">;

/** Returns the schedule of these rows, put in order of (step, arc, source, from). Counting sorts, O(rows + arcs). */
export function commSchedule(frame: CommFrame, rows: CommRows): CommSchedule {
  const { graph, steps, parts } = frame;
  let order = indicesBelow(rows.step.length);
  if (parts > 1) order = sortedBy(order, rows.from, parts);
  order = sortedBy(order, rows.source, graph.nodes);
  order = sortedBy(order, rows.arc, arcCount(graph));
  order = sortedBy(order, rows.step, steps);
  const column = (values: ArrayLike<number>, maximum: number): IndexColumn => {
    const sorted = indexColumn(order.length, maximum);
    for (let i = 0; i < order.length; i++) sorted[i] = values[order[i]];
    return sorted;
  };
  return {
    ...frame,
    step: column(rows.step, steps),
    source: column(rows.source, graph.nodes),
    arc: column(rows.arc, arcCount(graph)),
    from: column(rows.from, parts),
    to: column(rows.to, parts),
  };
}

/**
 * Returns the schedule with all its rows listed: a translation takes the k-th arc that leaves a node to the k-th that leaves its
 * image. Schedules without symmetry stay. O(rows * nodes).
 */
export function unfolded(schedule: CommSchedule): CommSchedule {
  const { graph, symmetry } = schedule;
  if (symmetry === null) return schedule;
  const { nodes, offset } = graph;
  const tail = arcSources(graph);
  const count = schedule.step.length;
  const repeat = (column: IndexColumn, maximum: number): IndexColumn => {
    const all = indexColumn(count * nodes, maximum);
    for (let by = 0; by < nodes; by++) all.set(column, by * count);
    return all;
  };
  const source = new Int32Array(count * nodes);
  const arc = new Int32Array(count * nodes);
  const image = new Int32Array(nodes);
  for (let by = 0, row = 0; by < nodes; by++) {
    translateAll(symmetry, by, image);
    for (let i = 0; i < count; i++, row++) {
      const from = tail[schedule.arc[i]];
      source[row] = image[schedule.source[i]];
      arc[row] = schedule.arc[i] - offset[from] + offset[image[from]];
    }
  }
  return commSchedule(
    { ...schedule, symmetry: null },
    {
      step: repeat(schedule.step, schedule.steps),
      source,
      arc,
      from: repeat(schedule.from, schedule.parts),
      to: repeat(schedule.to, schedule.parts),
    },
  );
}

/**
 * Returns the graph of a network of direct links, an arc for every link; null where there are switches. Where translations
 * leave the network as it is, the k-th arc that leaves a node is the image of the k-th that leaves node 0. O(links log links)
 * beside the search for translations.
 */
export function directNetworkOf(topology: Topology): DirectNetwork | null {
  if (switchCount(topology) > 0) return null;
  const { npuCount, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const translations = translationsOf(topology, routesOf(topology, 1));
  const { offset, links } = outLinks(topology);
  const target = new Int32Array(linkCount(topology));
  const linkOfArc = new Int32Array(linkCount(topology));
  for (let v = 0; v < npuCount; v++) {
    const leaving = links.slice(offset[v], offset[v + 1]);
    if (translations !== null) {
      const shift = Float64Array.from(leaving, (link) => difference(translations, linkTarget[link], v));
      const order = Int32Array.from(leaving.keys()).sort((i, j) => {
        const [a, b] = [leaving[i], leaving[j]];
        const byFigures = linkBytesPerSecond[a] - linkBytesPerSecond[b] || linkLatencyPs[a] - linkLatencyPs[b];
        return shift[i] - shift[j] || byFigures || a - b;
      });
      leaving.set(order.map((i) => leaving[i]));
    }
    linkOfArc.set(leaving, offset[v]);
    for (let k = 0; k < leaving.length; k++) target[offset[v] + k] = linkTarget[leaving[k]];
  }
  return { graph: { nodes: npuCount, offset, target, translations }, topology, linkOfArc };
}

/** Returns the node whose translation takes `from` to `to`. O(dimensions). */
function difference(sizes: readonly number[], to: number, from: number): number {
  let by = 0;
  let stride = 1;
  for (const size of sizes) {
    const shift = (Math.floor(to / stride) % size) - (Math.floor(from / stride) % size);
    by += (shift < 0 ? shift + size : shift) * stride;
    stride *= size;
  }
  return by;
}
