import type { LineAlgorithm, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { type LineSteps, lineSteps, partsOf } from "../../model/dimensions/line-steps.ts";
import type { Recorder } from "../violation.ts";

/** Longer lines are judged by what their algorithm does on one of this length. */
const LONGEST = 256;

/** Returns how many messages of a line follow each other: each of them waits a latency for the one before. */
export function stepCount(algorithm: LineAlgorithm, size: number): number {
  if (algorithm === "direct" || algorithm === "offload") return 1;
  if (algorithm !== "halving-doubling") return size - 1;
  let steps = 0;
  for (let reached = 1; reached < size; reached *= 2) steps++;
  return steps;
}

/**
 * Records dimensions whose lines do not do their work. The messages of one line are carried out: its reduce-scatter must leave
 * every contribution once, at the position that is to have the block; the same messages backwards must bring every block
 * everywhere, once. Messages go between neighbours where the line has only these, and per step, busiest port after busiest
 * port, no more than P - 1 blocks pass. What switches sum has no messages. O(P^3 / 32) up to 256 NPUs, no more for longer lines.
 */
export function checkLines(
  dimensions: readonly NetworkDimension[],
  algorithms: readonly LineAlgorithm[],
  recorder: Recorder,
): void {
  for (const [d, dimension] of dimensions.entries()) {
    if (algorithms[d] === "offload") continue;
    const size = Math.min(dimension.size, LONGEST);
    const steps = lineSteps(algorithms[d], size, partsOf({ ...dimension, size }, algorithms[d]));
    const fault = lineFault({ ...dimension, size }, algorithms[d], steps);
    if (fault === null) continue;
    const name = `${algorithms[d]} on the ${dimension.kind}s of ${size} NPUs in dimension ${d}`;
    recorder.record(() => ({ kind: "wrong-line", dimension: d, message: `${name} ${fault}` }));
  }
}

/** Returns what is wrong with the messages of a line; null where they do their work in their time. */
export function lineFault(
  dimension: Pick<NetworkDimension, "kind" | "size">,
  algorithm: LineAlgorithm,
  steps: LineSteps,
): string | null {
  return (
    formFault(dimension.size, steps) ??
    scatterFault(dimension.size, steps) ??
    gatherFault(dimension.size, steps) ??
    timeFault(dimension, algorithm, steps)
  );
}

function formFault(size: number, { steps, parts, firstRow, from, to, block, part }: LineSteps): string | null {
  const rows = from.length;
  const ascends = firstRow.every((row, s) => row >= (s === 0 ? 0 : firstRow[s - 1]));
  if (firstRow.length !== steps + 1 || firstRow[0] !== 0 || firstRow[steps] !== rows || !ascends)
    return "has no rows for each step";
  for (let i = 0; i < rows; i++) {
    const isMessage =
      [from[i], to[i], block[i]].every((x) => x >= 0 && x < size) && from[i] !== to[i] && part[i] < parts;
    if (!isMessage) return `has no message ${i}`;
  }
  return null;
}

/** Returns the step of each message. */
function stepOfRows({ steps, firstRow, from }: LineSteps): Int32Array {
  const step = new Int32Array(from.length);
  for (let s = 0; s < steps; s++) step.fill(s, firstRow[s], firstRow[s + 1]);
  return step;
}

/** Calls `visit` with the messages of each step that are of one block and part, first step first. */
function eachBlock(
  size: number,
  { parts, block, part }: LineSteps,
  visit: (rows: number[]) => string | null,
): string | null {
  const rows = Array.from({ length: size * parts }, (): number[] => []);
  for (let i = 0; i < block.length; i++) rows[block[i] * parts + part[i]].push(i);
  for (const own of rows) {
    const fault = visit(own);
    if (fault !== null) return fault;
  }
  return null;
}

/** Carries the reduce-scatter out, block by block: sums are sets of contributions, sent as they were when the step began. */
function scatterFault(size: number, steps: LineSteps): string | null {
  const { from, to } = steps;
  const step = stepOfRows(steps);
  const words = Math.ceil(size / 32);
  const sums = new Int32Array(size * words);
  let wanted = -1;
  return eachBlock(size, steps, (rows) => {
    wanted++;
    const target = Math.floor(wanted / steps.parts);
    sums.fill(0);
    for (let x = 0; x < size; x++) sums[x * words + (x >> 5)] = 1 << (x & 31);
    for (let first = 0; first < rows.length; ) {
      let last = first;
      while (last < rows.length && step[rows[last]] === step[rows[first]]) last++;
      const sent = rows.slice(first, last).map((i) => sums.slice(from[i] * words, (from[i] + 1) * words));
      for (const [k, sum] of sent.entries()) {
        const at = to[rows[first + k]] * words;
        for (let w = 0; w < words; w++) {
          if ((sums[at + w] & sum[w]) !== 0) return `adds a contribution to block ${target} twice`;
          sums[at + w] |= sum[w];
        }
      }
      first = last;
    }
    for (let x = 0; x < size; x++) {
      if (((sums[target * words + (x >> 5)] >>> (x & 31)) & 1) === 0)
        return `leaves block ${target} without what position ${x} has of it`;
    }
    return null;
  });
}

/** Carries the all-gather out: the messages backwards in time, each the other way. */
function gatherFault(size: number, steps: LineSteps): string | null {
  const { from, to } = steps;
  const step = stepOfRows(steps);
  let wanted = -1;
  return eachBlock(size, steps, (rows) => {
    wanted++;
    const source = Math.floor(wanted / steps.parts);
    // -1: held from the start
    const since = new Int32Array(size).fill(steps.steps);
    since[source] = -1;
    for (let k = rows.length - 1; k >= 0; k--) {
      const i = rows[k];
      const now = steps.steps - 1 - step[i];
      if (since[to[i]] >= now) return `sends block ${source} on before it is there`;
      if (since[from[i]] < steps.steps) return `brings block ${source} to position ${from[i]} twice`;
      since[from[i]] = now;
    }
    const without = since.indexOf(steps.steps);
    return without < 0 ? null : `does not bring block ${source} to position ${without}`;
  });
}

/** Holds messages against neighbours, and the steps' busiest ports against the time of P - 1 blocks at the whole rate. */
function timeFault(
  { kind, size }: Pick<NetworkDimension, "kind" | "size">,
  algorithm: LineAlgorithm,
  { steps, parts, firstRow, from, to }: LineSteps,
): string | null {
  if (steps > stepCount(algorithm, size)) return `takes ${steps} steps`;
  // an NPU's rate is shared evenly by its ports: those to neighbours, to all others, or one to the switch
  const ports = kind === "fc" ? size - 1 : kind === "ring" && size > 2 ? 2 : 1;
  const portOf = (distance: number): number => {
    if (kind === "switch") return 0;
    return kind === "fc" ? distance - 1 : distance === 1 ? 0 : 1;
  };
  const width = Math.max(2, ports);
  const sent = new Int32Array(size * width);
  const received = new Int32Array(size * width);
  let blocks = 0;
  for (let s = 0; s < steps; s++) {
    let busiest = 0;
    sent.fill(0);
    received.fill(0);
    for (let i = firstRow[s]; i < firstRow[s + 1]; i++) {
      const distance = (to[i] - from[i] + size) % size;
      const isNear = kind === "line" ? Math.abs(to[i] - from[i]) === 1 : distance === 1 || distance === size - 1;
      if ((kind === "ring" || kind === "line") && !isNear) return `sends from ${from[i]} to ${to[i]}, no neighbours`;
      const port = portOf(distance);
      busiest = Math.max(busiest, ++sent[from[i] * width + port], ++received[to[i] * width + port]);
    }
    blocks += busiest * ports;
  }
  return blocks <= (size - 1) * parts ? null : `takes the time of ${blocks / parts} blocks, more than ${size - 1}`;
}
