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
import { type Reach, reachFrom, searchTo } from "./balance-reach.ts";
import { type StepShards, writeRows } from "./balance-rows.ts";
import { cutFew } from "./balance-whole.ts";

/** Masks of all nodes have at most so many words of 64 bits, and 4 of a node at least. */
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
