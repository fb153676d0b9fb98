import { CancelledError } from "../../../base/errors.ts";
import { type BalanceProblem, balanceRows, type CancelFlag } from "../../contract/kernels.ts";
import type { BalanceColumns } from "../outputs.ts";
import { STATUS } from "../status.ts";
import {
  addClass,
  addPort,
  begin,
  greatestLoad,
  newPouring,
  type Pouring,
  pour,
  relieve,
  scale,
} from "./balance-pour.ts";

/** Masks of all nodes have at most this many words of 64 bits, and 4 of a node at least. */
const MOST_WORDS = 2 ** 28;

/** The JavaScript twin of native/kernels/balance.h: one target after another, one at a time. Returns the status. */
export function balanceJs(problem: BalanceProblem, out: BalanceColumns, cancel?: CancelFlag): number {
  if (problem.maxRows < balanceRows(problem)) return STATUS.outputTooSmall;
  const { inOffset, targets, maxSteps, wantsShares } = problem;
  let ports = 0;
  for (const target of targets) ports = Math.max(ports, inOffset[target + 1] - inOffset[target]);
  if (problem.nodeCount * Math.max(4, Math.ceil(ports / 64)) > MOST_WORDS) return STATUS.outOfMemory;
  const reach = reachFrom(problem, ports);
  const pouring = newPouring(ports);
  let steps = 0;
  let rows = 0;
  for (let i = 0; i < targets.length; i++) {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    const lost = searchTo(reach, problem, targets[i]);
    if (lost >= 0) {
      out.summary.set([0, targets[i], lost]);
      return STATUS.unreachable;
    }
    for (let step = 1; step <= Math.min(reach.steps, maxSteps); step++) {
      const shards = classify(pouring, reach, inOffset[targets[i] + 1] - inOffset[targets[i]], step);
      if (wantsShares === 0) {
        raise(pouring, problem.parts, out, step - 1, targets[i]);
        continue;
      }
      shareOut(pouring, problem.parts, out, step - 1, targets[i]);
      rows = writeRows(pouring, shards, problem.parts, step, out, rows);
    }
    steps = Math.max(steps, reach.steps);
    out.rowOffset[i + 1] = rows;
  }
  out.summary[0] = steps;
  return steps > maxSteps ? STATUS.outputTooSmall : STATUS.ok;
}

/** Groups the shards of a step by the ports that they may take; classes are numbered as they come. */
function classify(p: Pouring, reach: Reach, ports: number, step: number): StepShards {
  const { words, masks, table, classOf } = reach;
  const first = reach.stepOffset[step];
  const nodes = reach.byStep.subarray(first, reach.stepOffset[step + 1]);
  const representative: number[] = [];
  const slots: number[] = [];
  begin(p, ports);
  for (let i = 0; i < nodes.length; i++) {
    const row = nodes[i] * words;
    let hash = 0;
    for (let w = 0; w < words; w++) hash = Math.imul(hash ^ masks[row + w], 0x9e3779b1) ^ (hash >>> 15);
    let slot = (hash ^ (hash >>> 16)) & (table.length - 1);
    for (; table[slot] >= 0; slot = (slot + 1) & (table.length - 1)) {
      const other = representative[table[slot]] * words;
      let same = true;
      for (let w = 0; w < words && same; w++) same = masks[other + w] === masks[row + w];
      if (same) break;
    }
    if (table[slot] < 0) {
      table[slot] = p.classes;
      representative.push(nodes[i]);
      slots.push(slot);
      addClass(p);
      for (let k = 0; k < ports; k++) if (((masks[row + (k >>> 5)] >>> (k & 31)) & 1) !== 0) addPort(p, k);
    }
    classOf[i] = table[slot];
    p.count[table[slot]]++;
  }
  for (const slot of slots) table[slot] = -1;
  return { nodes, classOf, count: nodes.length };
}

/** Raises the greatest load of a step where the target needs more: theorem 19 by its flow, the ratio of cuts ascending. */
function raise(p: Pouring, parts: number, out: BalanceColumns, step: number, target: number): void {
  const { loadNum, loadDen } = out;
  for (;;) {
    const unit = parts === 0 ? Math.max(1, loadDen[step]) : parts;
    pour(p);
    if (greatestLoad(p) * unit <= loadNum[step]) return;
    scale(p, unit);
    const tight = relieve(p, loadNum[step]);
    if (tight === null) return;
    out.worst[step] = target;
    if (parts === 0) {
      const shards = tight.load / unit;
      const divisor = gcd(shards, tight.ports);
      loadNum[step] = shards / divisor;
      loadDen[step] = tight.ports / divisor;
    } else {
      loadNum[step] = Math.ceil(tight.load / tight.ports);
      loadDen[step] = 1;
    }
  }
}

/** Pours the parts of all shards so that the target's own greatest load is least (A.11), and cuts few shards. */
function shareOut(p: Pouring, parts: number, out: BalanceColumns, step: number, target: number): void {
  pour(p);
  scale(p, parts);
  let most = 0;
  for (let tight = relieve(p, most); tight !== null; tight = relieve(p, most))
    most = Math.ceil(tight.load / tight.ports);
  cutFew(p, parts);
  if (most <= out.loadNum[step]) return;
  out.loadNum[step] = most;
  out.loadDen[step] = 1;
  out.worst[step] = target;
}

function gcd(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

/** The shards of one step: nodes ascending, each with its class. */
interface StepShards {
  readonly nodes: Int32Array;
  readonly classOf: Int32Array;
  readonly count: number;
}

/**
 * The JavaScript twin of native/kernels/balance_rows.h: writes the rows of a step from `at` on and returns where they end. The
 * shards of a class fill its ports in turn, those first that get a part of a shard, so that only shards between two of them
 * are cut. O(shards + edges).
 */
function writeRows(
  p: Pouring,
  { nodes, classOf, count }: StepShards,
  unit: number,
  step: number,
  out: BalanceColumns,
  at: number,
): number {
  const { classes, offset, flow, edgePort } = p;
  const turn = new Int32Array(offset[classes]);
  for (let c = 0, used = 0; c < classes; c++) {
    for (let e = offset[c]; e < offset[c + 1]; e++) if (flow[e] % unit !== 0) turn[used++] = e;
    for (let e = offset[c]; e < offset[c + 1]; e++) if (flow[e] % unit === 0) turn[used++] = e;
  }
  const place = new Int32Array(p.ports + 1);
  const walk = (take: (port: number, node: number, from: number, to: number) => void): void => {
    const next = offset.slice(0, classes);
    const left = Float64Array.from(next, (first) => flow[turn[first]]);
    for (let i = 0; i < count; i++) {
      const c = classOf[i];
      for (let from = 0; from < unit; ) {
        while (left[c] === 0) left[c] = flow[turn[++next[c]]];
        const to = Math.min(unit, from + left[c]);
        take(edgePort[turn[next[c]]], nodes[i], from, to);
        left[c] -= to - from;
        from = to;
      }
    }
  };
  walk((port) => {
    place[port + 1]++;
  });
  for (let k = 0; k < p.ports; k++) place[k + 1] += place[k];
  const end = at + place[p.ports];
  walk((port, node, from, to) => {
    const row = at + place[port]++;
    out.step[row] = step;
    out.port[row] = port;
    out.source[row] = node;
    out.from[row] = from;
    out.to[row] = to;
  });
  return end;
}

/** The JavaScript twin of native/kernels/balance_reach.h, one target at a time: who reaches it when, and over which ports. */
interface Reach {
  /** Words of a mask. */
  readonly words: number;
  /** [nodes * words] bit k & 31 of word k >> 5: port k of the target lies on a shortest path from the node. */
  readonly masks: Int32Array;
  /** [nodes] steps from the target; -1 where it is not reached. */
  readonly distance: Int32Array;
  readonly queue: Int32Array;
  /** [nodes] all but the target by distance, then by number: at distance t byStep[stepOffset[t] .. stepOffset[t + 1]]. */
  readonly byStep: Int32Array;
  readonly stepOffset: Int32Array;
  /** [nodes] class of the i-th shard of a step. */
  readonly classOf: Int32Array;
  /** Class by hash of the mask, -1 between uses. */
  readonly table: Int32Array;
  /** The greatest distance. */
  steps: number;
}

function reachFrom({ nodeCount }: BalanceProblem, ports: number): Reach {
  const words = Math.max(1, (ports + 31) >>> 5);
  let slots = 16;
  while (slots < 2 * nodeCount) slots *= 2;
  return {
    words,
    masks: new Int32Array(nodeCount * words),
    distance: new Int32Array(nodeCount),
    queue: new Int32Array(nodeCount),
    byStep: new Int32Array(nodeCount),
    stepOffset: new Int32Array(nodeCount + 2),
    classOf: new Int32Array(nodeCount),
    table: new Int32Array(slots).fill(-1),
    steps: 0,
  };
}

/** Searches backwards from the target; returns the least node that does not reach it, -1 where all do. O(arcs * words). */
function searchTo(reach: Reach, { nodeCount, inOffset, inSource }: BalanceProblem, target: number): number {
  const { words, masks, distance, queue } = reach;
  distance.fill(-1);
  masks.fill(0);
  distance[target] = 0;
  queue[0] = target;
  let reached = 1;
  const visit = (node: number, steps: number): boolean => {
    if (distance[node] < 0) {
      distance[node] = steps;
      queue[reached++] = node;
    }
    return distance[node] === steps;
  };
  for (let i = inOffset[target]; i < inOffset[target + 1]; i++) {
    const port = i - inOffset[target];
    if (visit(inSource[i], 1)) masks[inSource[i] * words + (port >>> 5)] |= 1 << (port & 31);
  }
  for (let taken = 1; taken < reached; taken++) {
    const next = queue[taken];
    const row = next * words;
    for (let i = inOffset[next]; i < inOffset[next + 1]; i++) {
      if (!visit(inSource[i], distance[next] + 1)) continue;
      const into = inSource[i] * words;
      for (let w = 0; w < words; w++) masks[into + w] |= masks[row + w];
    }
  }
  reach.steps = distance[queue[reached - 1]];
  if (reached < nodeCount) return distance.indexOf(-1);
  sortBySteps(reach, nodeCount);
  return -1;
}

function sortBySteps({ distance, byStep, stepOffset, steps }: Reach, nodeCount: number): void {
  stepOffset.fill(0, 0, steps + 2);
  for (let v = 0; v < nodeCount; v++) stepOffset[distance[v] + 1]++;
  for (let t = 0; t <= steps; t++) stepOffset[t + 1] += stepOffset[t];
  const next = stepOffset.slice(0, steps + 1);
  for (let v = 0; v < nodeCount; v++) byStep[next[distance[v]]++] = v;
}

/**
 * The JavaScript twin of native/kernels/balance_whole.h: edges that carry a part of a shard are kept free of circles, so that
 * few shards are cut. Loads of ports do not change.
 */

/** Edges with broken flow that close no circle, in lists by their two ends: a class c as c, a port k as classes + k. */
interface Forest {
  readonly first: Int32Array;
  /** [2 * edges] The next edge at its class, at its port. */
  readonly next: Int32Array;
  readonly previous: Int32Array;
  readonly via: Int32Array;
  readonly seen: Int32Array;
  readonly queue: Int32Array;
  search: number;
}

/** Shifts units around circles of edges that carry a part of a shard until there are none. */
function cutFew(p: Pouring, unit: number): void {
  const { classes, ports, flow } = p;
  const edges = p.offset[classes];
  let broken = 0;
  for (let e = 0; e < edges; e++) if (flow[e] % unit !== 0) broken++;
  if (broken < 4) return;
  const ends = classes + ports;
  const forest: Forest = {
    first: new Int32Array(ends).fill(-1),
    next: new Int32Array(2 * edges),
    previous: new Int32Array(ends),
    via: new Int32Array(ends),
    seen: new Int32Array(ends),
    queue: new Int32Array(ends),
    search: 0,
  };
  for (let e = 0; e < edges; e++) if (flow[e] % unit !== 0) insert(p, forest, e, unit);
}

function insert(p: Pouring, forest: Forest, edge: number, unit: number): void {
  const { classes, flow, edgeClass, edgePort } = p;
  const top = edgeClass[edge];
  const bottom = classes + edgePort[edge];
  if (connect(p, forest, top, bottom)) {
    // The ways back from the port: edges lose and gain in turn, the first and the last lose.
    let amount = unit - (flow[edge] % unit);
    for (let at = bottom, loses = true; at !== top; at = forest.previous[at], loses = !loses) {
      const part = flow[forest.via[at]] % unit;
      amount = Math.min(amount, loses ? part : unit - part);
    }
    flow[edge] += amount;
    for (let at = bottom, loses = true; at !== top; at = forest.previous[at], loses = !loses) {
      const on = forest.via[at];
      flow[on] += loses ? -amount : amount;
      if (flow[on] % unit === 0) unlink(p, forest, on);
    }
  }
  if (flow[edge] % unit !== 0) link(p, forest, edge);
}

/** Searches the forest from one end to another; the way back is in previous and via. */
function connect(p: Pouring, forest: Forest, from: number, to: number): boolean {
  const { first, next, previous, via, seen, queue } = forest;
  const search = ++forest.search;
  seen[from] = search;
  queue[0] = from;
  for (let taken = 0, reached = 1; taken < reached; taken++) {
    const at = queue[taken];
    const side = at < p.classes ? 0 : 1;
    for (let e = first[at]; e >= 0; e = next[2 * e + side]) {
      const other = side === 0 ? p.classes + p.edgePort[e] : p.edgeClass[e];
      if (seen[other] === search) continue;
      seen[other] = search;
      previous[other] = at;
      via[other] = e;
      if (other === to) return true;
      queue[reached++] = other;
    }
  }
  return false;
}

function link(p: Pouring, { first, next }: Forest, edge: number): void {
  const ends = [p.edgeClass[edge], p.classes + p.edgePort[edge]];
  for (const [side, end] of ends.entries()) {
    next[2 * edge + side] = first[end];
    first[end] = edge;
  }
}

function unlink(p: Pouring, { first, next }: Forest, edge: number): void {
  const ends = [p.edgeClass[edge], p.classes + p.edgePort[edge]];
  for (const [side, end] of ends.entries()) {
    if (first[end] === edge) {
      first[end] = next[2 * edge + side];
      continue;
    }
    let before = first[end];
    while (next[2 * before + side] !== edge) before = next[2 * before + side];
    next[2 * before + side] = next[2 * edge + side];
  }
}
