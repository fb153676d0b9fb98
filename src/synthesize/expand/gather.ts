import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type CommSchedule, unfolded } from "../../model/comm/schedule.ts";
import { type Construction, constructionText, graphOf, sizeOf } from "../../model/direct/construction.ts";
import {
  arcSources,
  bidirectional,
  type Digraph,
  degreeExpansion,
  lineGraph,
  power,
  transpose,
  transposedArcs,
} from "../../model/direct/digraph.ts";
import type { Base } from "../../model/direct/predict.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import type { IndexColumn } from "../../model/steps/step-schedule.ts";
import {
  addRow,
  type Bases,
  granularity,
  graphOfBase,
  orderedSchedule,
  ROW_KEY,
  type Rows,
  roomFor,
  scheduleOf,
} from "./bases.ts";

/**
 * Returns the all-gather of a construction that its expansions give (Zhao 2026, 3.5), with this many parts of a shard, on
 * `graphOfBase`. T_L and T_B are those of the theorems (`predict.ts`). Throws InputError unless the parts are a multiple of
 * the granularity; InfeasibleError where a base is not strongly connected.
 */
export async function gatherOf(wanted: Base, parts: number, bases: Bases): Promise<CommSchedule> {
  const grain = granularity(wanted, bases);
  if (parts % grain === 0) return gathered(wanted, parts, bases);
  const name = constructionText(wanted.construction);
  throw new InputError(
    optionName("chunks"),
    `a multiple of ${grain} chunks per NPU (the expansions of ${name})`,
    parts,
  );
}

/** Each expansion is of the graph or of its transpose, by recursion; what is then numbered differently is relabelled. */
async function gathered(wanted: Base, parts: number, bases: Bases): Promise<CommSchedule> {
  const { construction, turned } = wanted;
  const below = (base: Construction, share = parts, turn = turned): Promise<CommSchedule> =>
    gathered({ construction: base, turned: turn }, share, bases);
  const numbered = (schedule: CommSchedule): CommSchedule =>
    turned ? relabelled(schedule, graphOfBase(wanted), null) : schedule;
  switch (construction.kind) {
    case "family":
    case "product": {
      const known = bases.tabulated(wanted);
      if (known === null) return bases.broadcast(wanted, parts);
      return finer(relabelled(known, graphOfBase(wanted), null), parts);
    }
    case "transpose":
      return numbered(await below(construction.base, parts, !turned));
    case "line": {
      // where one arc leaves and enters each node, the line graph is the graph
      if (sizeOf(construction).degree === 1) return below(construction.base);
      // L^n(G) is L of L^(n-1)(G)
      const { times } = construction;
      const base = times > 1 ? { ...construction, times: times - 1 } : construction.base;
      const schedule = await below(base);
      const line = lineSchedule(schedule, lineGraph(schedule.graph));
      if (!turned) return line;
      // arc i of the transpose is a node of its line graph; the arc that it turns round is one of the base's line graph
      const graph = graphOf(base);
      return relabelled(line, transpose(lineGraph(graph)), transposedArcs(graph));
    }
    case "degree": {
      const schedule = await below(construction.base);
      return numbered(
        degreeSchedule(schedule, construction.factor, degreeExpansion(schedule.graph, construction.factor)),
      );
    }
    case "power": {
      const { exponent } = construction;
      const schedule = await below(construction.base, parts / exponent);
      return numbered(powerSchedule(schedule, exponent, power(schedule.graph, exponent)));
    }
    case "bidirectional": {
      const forward = await below(construction.base, parts / 2, false);
      const backward = await below(construction.base, parts / 2, true);
      return numbered(bidirectionalSchedule(forward, backward, bidirectional(forward.graph)));
    }
  }
}

/** Returns the schedule with its parts cut so that shards have this many, a multiple of what they have. */
function finer(schedule: CommSchedule, parts: number): CommSchedule {
  const times = parts / schedule.parts;
  const scaled = (column: CommSchedule["from"]): Int32Array => Int32Array.from(column, (part) => part * times);
  return times === 1 ? schedule : { ...schedule, parts, from: scaled(schedule.from), to: scaled(schedule.to) };
}

/**
 * Returns the all-gather on a graph together with its transpose (Zhao 2026, A.1.6), given one on each: half of every shard
 * follows the first, half the second, over arcs of their own. `both` is numbered as in `construction.ts`. T_L is the greater of
 * the two; T_B is that of the graph where both load their arcs equally in every step, as on reverse-symmetric graphs, and in
 * general the sum over steps of the greater of their loads. O(rows).
 */
export function bidirectionalSchedule(forward: CommSchedule, backward: CommSchedule, both: Digraph): CommSchedule {
  const half = lcm(forward.parts, backward.parts);
  const halves = [unfolded(forward), unfolded(backward)] as const;
  const rows = roomFor(halves[0].arc.length + halves[1].arc.length);
  const there = forward.graph.offset;
  const back = backward.graph.offset;
  const beside = new Int32Array(forward.graph.target.length);
  const behind = new Int32Array(backward.graph.target.length);
  for (let v = 0; v < both.nodes; v++) {
    for (let arc = there[v]; arc < there[v + 1]; arc++) beside[arc] = both.offset[v] + arc - there[v];
    const first = both.offset[v] + there[v + 1] - there[v];
    for (let arc = back[v]; arc < back[v + 1]; arc++) behind[arc] = first + arc - back[v];
  }
  addHalf(rows, halves[0], beside, half / forward.parts, 0);
  addHalf(rows, halves[1], behind, half / backward.parts, half);
  return scheduleOf(both, 2 * half, rows);
}

function addHalf(rows: Rows, schedule: CommSchedule, arcOf: Int32Array, finer: number, first: number): void {
  const { step, source, arc, from, to } = schedule;
  for (let i = 0; i < arc.length; i++) {
    addRow(rows, step[i], source[i], arcOf[arc[i]], first + from[i] * finer, first + to[i] * finer);
  }
}

/**
 * Returns the all-gather on this many copies of the schedule's graph, connected as degree expansion does (Zhao 2026, definition 2):
 * data stays in the copy of its owner but for its last hop, and in one more step the copies of the owner receive equal pieces
 * over all their arcs. `expanded` is numbered as in `construction.ts`; a node needs at least one arc in, and none from itself.
 * T_L grows by one step, T_B by (n - 1) / (n * N) where the graph is regular (theorem 11). O(rows of the answer).
 */
export function degreeSchedule(schedule: CommSchedule, factor: number, expanded: Digraph): CommSchedule {
  if (factor === 1) return schedule;
  const base = unfolded(schedule);
  const { nodes, offset } = base.graph;
  const into = groupedBy(expanded.target, expanded.nodes);
  let parts = base.parts;
  for (let v = 0; v < nodes; v++) parts = lcm(parts, into.offset[v + 1] - into.offset[v]);
  const finer = parts / base.parts;
  const rows = roomFor(base.arc.length * factor * factor + into.items.length * (factor - 1));
  const leaves = arcSources(base.graph);
  for (let i = 0; i < base.arc.length; i++) {
    const arc = base.arc[i];
    const u = leaves[arc];
    const position = (arc - offset[u]) * factor;
    for (let copy = 0; copy < factor; copy++) {
      const first = expanded.offset[copy * nodes + u] + position;
      const source = copy * nodes + base.source[i];
      for (let to = 0; to < factor; to++) {
        addRow(rows, base.step[i], source, first + to, base.from[i] * finer, base.to[i] * finer);
      }
    }
  }
  for (let node = 0; node < expanded.nodes; node++) {
    const ports = into.offset[node + 1] - into.offset[node];
    const piece = parts / ports;
    for (let source = node % nodes; source < expanded.nodes; source += nodes) {
      if (source === node) continue;
      for (let p = 0; p < ports; p++) {
        addRow(rows, base.steps, source, into.items[into.offset[node] + p], p * piece, (p + 1) * piece);
      }
    }
  }
  return scheduleOf(expanded, parts, rows);
}

/**
 * Returns the all-gather on the line graph of the schedule's graph (Zhao 2026, definition 1): every node v'v sends its shard to
 * its neighbours, then follows what v does, one step later. `line` is the line graph as `construction.ts` numbers it: node a is
 * arc a, and out of it lead the arcs that leave the node which a enters, in order. Nodes are arcs, so self-loops and parallel
 * arcs of the base need nothing of their own. T_L grows by one step, T_B by at most 1 / N (theorem 7). O(rows of the answer), for
 * rows of an arc and step are few.
 */
export function lineSchedule(schedule: CommSchedule, line: Digraph): CommSchedule {
  const base = unfolded(schedule);
  const { nodes, offset, target } = base.graph;
  const entering = groupedBy(target, nodes);
  let room = line.target.length;
  for (let i = 0; i < base.arc.length; i++) {
    const v = base.source[i];
    const w = target[base.arc[i]];
    room += (entering.offset[v + 1] - entering.offset[v]) * (offset[w + 1] - offset[w]);
  }
  const rows = roomFor(room);
  for (let node = 0; node < line.nodes; node++) {
    for (let arc = line.offset[node]; arc < line.offset[node + 1]; arc++) {
      if (line.target[arc] !== node) addRow(rows, 0, node, arc, 0, base.parts);
    }
  }
  for (let i = 0; i < base.arc.length; ) {
    const a = base.arc[i];
    const step = base.step[i];
    const first = i;
    while (i < base.arc.length && base.arc[i] === a && base.step[i] === step) i++;
    const shards = shardsOf(base, first, i, entering);
    for (let b = offset[target[a]], arc = line.offset[a]; b < offset[target[a] + 1]; b++, arc++) {
      for (let k = 0; k < shards.length; k++) {
        const source = Math.floor(shards[k] / ROW_KEY);
        const row = first + (shards[k] % ROW_KEY);
        if (source !== b) addRow(rows, step + 1, source, arc, base.from[row], base.to[row]);
      }
    }
  }
  return orderedSchedule(line, base.parts, rows);
}

/** Returns what follows the rows first .. end - 1 of an arc: source * ROW_KEY + (row - first), ascending. */
function shardsOf(base: CommSchedule, first: number, end: number, entering: Grouped): Float64Array {
  const ends = (v: number): number => entering.offset[v + 1] - entering.offset[v];
  let count = 0;
  for (let i = first; i < end; i++) count += ends(base.source[i]);
  const shards = new Float64Array(count);
  let next = 0;
  for (let i = first; i < end; i++) {
    const v = base.source[i];
    for (let k = entering.offset[v]; k < entering.offset[v + 1]; k++) {
      shards[next++] = entering.items[k] * ROW_KEY + i - first;
    }
  }
  return shards.sort();
}

/**
 * Returns the same schedule on an isomorphic graph (Zhao 2026, definition 7): node v becomes nodeOf[v] (null: stays v), the k-th
 * of the arcs from u to w the k-th of those between their images. Throws InternalError where an arc has no image.
 * O(rows log of those of an arc in a step + arcs (steps + log degree)).
 */
export function relabelled(symmetric: CommSchedule, graph: Digraph, nodeOf: Int32Array | null): CommSchedule {
  const schedule = unfolded(symmetric);
  const { step, source, arc, from, to } = schedule;
  const imageOf = imagesOfArcs(schedule.graph, graph, nodeOf);
  const preimage = new Int32Array(imageOf.length);
  for (let a = 0; a < imageOf.length; a++) preimage[imageOf[a]] = a;
  const rows = roomFor(arc.length);
  /** Rows of each arc in the step. */
  const begins = new Int32Array(imageOf.length);
  const ends = new Int32Array(imageOf.length);
  for (let i = 0; i < arc.length; ) {
    const inStep = step[i];
    begins.fill(0);
    ends.fill(0);
    while (i < arc.length && step[i] === inStep) {
      const a = arc[i];
      begins[a] = i;
      while (i < arc.length && arc[i] === a && step[i] === inStep) i++;
      ends[a] = i;
    }
    for (let image = 0; image < preimage.length; image++) {
      const first = begins[preimage[image]];
      const order = orderOf(source, first, ends[preimage[image]], nodeOf);
      for (let k = 0; k < order.length; k++) {
        const row = first + (order[k] % ROW_KEY);
        addRow(rows, inStep, Math.floor(order[k] / ROW_KEY), image, from[row], to[row]);
      }
    }
  }
  return orderedSchedule(graph, schedule.parts, rows);
}

/** Returns the rows first .. end - 1 in order of their owners' images: image * ROW_KEY + (row - first), ascending. */
function orderOf(source: IndexColumn, first: number, end: number, nodeOf: Int32Array | null): Float64Array {
  const keys = new Float64Array(end - first);
  for (let i = first; i < end; i++)
    keys[i - first] = (nodeOf === null ? source[i] : nodeOf[source[i]]) * ROW_KEY + i - first;
  return nodeOf === null ? keys : keys.sort();
}

/** Returns the image of every arc, [arcs]: arcs of a node are matched in order of target, parallel ones in order of arc. */
function imagesOfArcs(from: Digraph, to: Digraph, nodeOf: Int32Array | null): Int32Array {
  const imageOf = (node: number): number => (nodeOf === null ? node : nodeOf[node]);
  const leaves = arcSources(from);
  const image = new Int32Array(from.target.length);
  for (let v = 0; v < from.nodes; v++) {
    const w = imageOf(v);
    const arcs = range(from.offset[v], from.offset[v + 1]);
    const images = range(to.offset[w], to.offset[w + 1]);
    arcs.sort((a, b) => imageOf(from.target[a]) - imageOf(from.target[b]) || a - b);
    images.sort((a, b) => to.target[a] - to.target[b] || a - b);
    for (let k = 0; k < arcs.length; k++) image[arcs[k]] = images[k] ?? -1;
  }
  for (let arc = 0; arc < image.length; arc++) {
    if (to.target[image[arc]] !== imageOf(from.target[arc])) {
      throw new InternalError(`arc ${arc} from node ${leaves[arc]} has no image`);
    }
  }
  return image;
}

const range = (from: number, to: number): Int32Array => Int32Array.from({ length: to - from }, (_, i) => from + i);

/**
 * Returns the all-gather on a Cartesian power of the schedule's graph (Zhao 2026, definition 14): a shard is cut into as many
 * subshards as there are dimensions; subshard i is gathered along dimension i, then i + 1, ..., round to i - 1, so that all
 * dimensions are in use at any time. `power` is numbered as in `construction.ts`. A schedule that does not change under
 * translations gives one that does not. T_L is the exponent times that of the base, T_B exactly by theorem 12.
 * O(rows of the answer).
 */
export function powerSchedule(base: CommSchedule, exponent: number, power: Digraph): CommSchedule {
  if (exponent === 1) return base;
  const { nodes, offset } = base.graph;
  const { parts, steps, symmetry } = base;
  const leaves = arcSources(base.graph);
  const rows = roomFor(rowsOfPower(base.arc.length, nodes, exponent, symmetry !== null));
  const portsOf = (node: number): number => offset[node + 1] - offset[node];
  /** Arcs that leave the node in dimensions below d come before those of dimension d. */
  const portsBelow = (node: number, d: number): number => {
    let ports = 0;
    for (let k = 0, rest = node; k < d; k++, rest = Math.floor(rest / nodes)) ports += portsOf(rest % nodes);
    return ports;
  };
  for (let subshard = 0; subshard < exponent; subshard++) {
    const dimension = (stage: number): number => (subshard + stage) % exponent;
    for (let stage = 0; stage < exponent; stage++) {
      const along = dimension(stage);
      const weight = nodes ** along;
      const done = combinations(
        Array.from({ length: stage }, (_, k) => nodes ** dimension(k)),
        nodes,
      );
      const later = Array.from({ length: exponent - stage - 1 }, (_, k) => nodes ** dimension(stage + 1 + k));
      const rests = symmetry === null ? combinations(later, nodes) : ZERO;
      const heres = symmetry === null ? done : ZERO;
      for (const rest of rests) {
        for (const here of heres) {
          for (let i = 0; i < base.arc.length; i++) {
            const u = leaves[base.arc[i]];
            const node = here + rest + u * weight;
            const arc = power.offset[node] + portsBelow(node, along) + base.arc[i] - offset[u];
            const owner = rest + base.source[i] * weight;
            const step = base.step[i] + stage * steps;
            const from = base.from[i] + subshard * parts;
            const to = base.to[i] + subshard * parts;
            for (const there of done) addRow(rows, step, owner + there, arc, from, to);
          }
        }
      }
    }
  }
  const sizes = symmetry === null ? null : Array.from({ length: exponent }, () => symmetry).flat();
  return scheduleOf(power, parts * exponent, rows, sizes);
}

const ZERO = Int32Array.of(0);

/** Returns how many rows the power of a schedule has; a double, so that absurd ones can be refused. */
function rowsOfPower(rows: number, nodes: number, exponent: number, isSymmetric: boolean): number {
  let count = 0;
  for (let stage = 0; stage < exponent; stage++) {
    count += isSymmetric ? nodes ** stage : nodes ** (stage + exponent - 1);
  }
  return rows * exponent * count;
}

/** Returns the sums of multiples 0 .. below - 1 of the weights, the multiples of the first fastest. */
function combinations(weights: readonly number[], below: number): Int32Array {
  let sums = Int32Array.of(0);
  for (const weight of weights) {
    const more = new Int32Array(sums.length * below);
    for (let x = 0; x < below; x++) {
      for (let i = 0; i < sums.length; i++) more[x * sums.length + i] = sums[i] + x * weight;
    }
    sums = more;
  }
  return sums;
}
