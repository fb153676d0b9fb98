import type { Random } from "../../src/base/random.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { INPUT, OPS, OUTPUT, type Program, rankOfBlocks } from "../../src/model/program/program.ts";
import { pick, shuffle } from "./draws.ts";

/** What is wrong with a run, or null. */
export type Complaint = string | null;

/** A chunk's content, numbers so small that sums of all ranks' are exact; a packet, in the first of its two chunks of scratch. */
type Memory = (number | { readonly packet: number } | undefined)[];

/**
 * Runs a plan of MSCCL++ on numbers, one for a chunk, as src/model/program/program.ts says that it runs: thread blocks in any order,
 * instructions between two meetings of a block's threads in any order, events that count. Returns the first complaint: a read of
 * what nobody wrote, a place outside of its buffer, blocks that wait for ever, a wrong result. Packets lie where the executor puts
 * them: at twice their place, and twice as long.
 */
export function runPlan(program: Program, draws: Random): Complaint {
  const { rankCount, inPlace } = program;
  const size = (buffer: number): Int32Array => (buffer === INPUT ? program.inputChunks : program.outputChunks);
  const scratchSize = (rank: number): number => (program.protocol === "LL" ? 2 : 1) * program.scratchChunks[rank];
  const input = Array.from({ length: rankCount }, (_, r) =>
    Array.from({ length: program.inputChunks[r] }, () => draws.below(2 ** 30)),
  );
  const memory = input.map((_, r): Memory[] => {
    const scratch: Memory = new Array(scratchSize(r)).fill(undefined);
    const [i, o] = [program.inputChunks[r], program.outputChunks[r]];
    const one: Memory = new Array(inPlace ? Math.max(i, o) : i).fill(undefined);
    const other: Memory = inPlace ? one : new Array(o).fill(undefined);
    return [one, other, scratch];
  });
  /** Where a rank's buffer begins: in place, the smaller one is the rank's part of the larger one. */
  const begin = (rank: number, buffer: number): number => {
    if (!inPlace || buffer > OUTPUT || size(buffer)[rank] >= size(1 - buffer)[rank]) return 0;
    return rank * size(buffer)[rank];
  };
  const holds = (r: number): boolean => hasInput(program, r);
  input.forEach((values, r) => {
    for (const [k, value] of values.entries()) if (holds(r)) memory[r][INPUT][begin(r, INPUT) + k] = value;
  });

  let complaint: Complaint = null;
  const counts = Int32Array.from(program.eventInitial);
  const at = (operand: number, k: number): [Memory, number] => {
    const [rank, buffer] = [program.operandRank[operand], program.operandBuffer[operand]];
    const packet = program.operandPacket[operand] === 1;
    const index = (program.operandIndex[operand] + k) * (packet ? 2 : 1);
    const chunks = buffer > OUTPUT ? scratchSize(rank) : size(buffer)[rank];
    if (packet && buffer <= OUTPUT) complaint ??= `packets in buffer ${buffer} of rank ${rank}`;
    if (index < 0 || index >= chunks) complaint ??= `chunk ${index} of ${chunks} in buffer ${buffer} of rank ${rank}`;
    return [memory[rank][buffer], begin(rank, buffer) + index];
  };
  const tryInstruction = (i: number): boolean => {
    const waits = Array.from(program.waitOn.subarray(program.waitOffset[i], program.waitOffset[i + 1]));
    if (waits.some((event) => counts[event] === 0)) return false;
    const [from, to] = [program.operandOffset[i], program.operandOffset[i + 1]];
    for (let s = from; s < from + program.sourceCount[i]; s++) {
      if (program.operandPacket[s] === 0) continue;
      for (let k = 0; k < program.chunks[i]; k++) {
        const [where, index] = at(s, k);
        if (typeof where[index] !== "object") return false;
      }
    }
    for (const event of waits) counts[event]--;
    for (let k = 0; k < program.chunks[i]; k++) {
      let sum = 0;
      for (let s = from; s < from + program.sourceCount[i]; s++) {
        const [where, index] = at(s, k);
        const found = where[index];
        const value = program.operandPacket[s] === 1 && typeof found === "object" ? found.packet : found;
        if (typeof value !== "number") complaint ??= `instruction ${i} (${OPS[program.op[i]]}) reads what nobody wrote`;
        else sum += value;
      }
      for (let d = from + program.sourceCount[i]; d < to; d++) {
        const [where, index] = at(d, k);
        const packet = program.operandPacket[d] === 1;
        if (typeof where[index] === "object" || (packet && [0, 1].some((half) => where[index + half] !== undefined)))
          complaint ??= `instruction ${i} (${OPS[program.op[i]]}) writes over packets, or packets over what is there`;
        where[index] = packet ? { packet: sum } : sum;
      }
    }
    for (let p = program.postOffset[i]; p < program.postOffset[i + 1]; p++) counts[program.postOn[p]]++;
    return true;
  };
  complaint ??= runBlocks(program, draws, tryInstruction, () => complaint !== null);
  if (complaint !== null) return complaint;
  if (counts.some((count, e) => count !== program.eventInitial[e])) return "signals that nobody waited for";
  for (let r = 0; r < rankCount; r++) {
    for (let k = 0; k < program.outputChunks[r]; k++) {
      const wanted = expected(program, input, r, k);
      const got = memory[r][OUTPUT][begin(r, OUTPUT) + k];
      if (wanted !== null && got !== wanted)
        return `output ${k} of rank ${r} is ${JSON.stringify(got)} in place of ${wanted}`;
    }
    if (inPlace || !holds(r)) continue;
    if (input[r].some((value, k) => memory[r][INPUT][k] !== value)) return `the input of rank ${r} has changed`;
  }
  return null;
}

function runBlocks(program: Program, draws: Random, run: (i: number) => boolean, stop: () => boolean): Complaint {
  const { instructionOffset, op, waitOn, waitOffset, barrierBlocks } = program;
  const next = Array.from(instructionOffset.subarray(0, -1));
  const pending = next.map((): number[] => []);
  const ranks = rankOfBlocks(program);
  const arrivals = new Int32Array(barrierBlocks.length);
  /** How many must have arrived before a block goes on; 0: it is at no barrier. */
  const awaited = new Int32Array(next.length);
  const hasLeft = (b: number): boolean => next[b] < instructionOffset[b + 1];
  const meets = (b: number): boolean => ["nop", "barrier"].includes(OPS[op[next[b]]]);
  /** Comes to a barrier, or tries to leave it. */
  const leaves = (b: number): boolean => {
    const barrier = waitOn[waitOffset[next[b]]];
    const many = barrierBlocks[barrier];
    if (awaited[b] === 0) awaited[b] = (Math.floor(arrivals[barrier]++ / many) + 1) * many;
    if (arrivals[barrier] < awaited[b]) return false;
    awaited[b] = 0;
    return true;
  };
  /** Lets a block's threads meet once all before is done; takes what follows up to the next meeting. */
  const refill = (b: number): boolean => {
    const from = next[b];
    while (pending[b].length === 0 && hasLeft(b)) {
      if (OPS[op[next[b]]] === "barrier" && !leaves(b)) break;
      if (meets(b)) next[b]++;
      while (hasLeft(b) && !meets(b)) pending[b].push(next[b]++);
    }
    return next[b] > from;
  };
  const blocks = pending.map((_, b) => b);
  for (;;) {
    shuffle(blocks, draws);
    let progress = false;
    for (const b of blocks) {
      if (refill(b)) progress = true;
      const order = pending[b].slice();
      shuffle(order, draws);
      const done = order.find(run);
      if (stop()) return null;
      if (done === undefined) continue;
      progress = true;
      pending[b] = pending[b].filter((i) => i !== done);
    }
    const left = blocks.filter((b) => pending[b].length > 0 || hasLeft(b));
    if (left.length === 0) return null;
    if (!progress) return `rank ${ranks[pick(left, draws)]} waits for ever`;
  }
}

function hasInput({ collective, rootRank }: Program, rank: number): boolean {
  return (collective !== "broadcast" && collective !== "scatter") || rank === rootRank;
}

/** Returns what a rank's output must be; null: anything. */
function expected(program: Program, input: readonly number[][], rank: number, k: number): number | null {
  const { rootRank } = program;
  const part = input[0].length < program.outputChunks[0] ? input[0].length : program.outputChunks[0];
  const ofAll = (index: number): number => input.reduce((sum, values) => sum + values[index], 0);
  const share = input[0].length / program.rankCount;
  const rules: Record<NamedCollective, () => number | null> = {
    allgather: () => input[Math.floor(k / part)][k % part],
    gather: () => (rank === rootRank ? input[Math.floor(k / part)][k % part] : null),
    allreduce: () => ofAll(k),
    reduce: () => (rank === rootRank ? ofAll(k) : null),
    broadcast: () => input[rootRank][k],
    reducescatter: () => ofAll(rank * part + k),
    scatter: () => input[rootRank][rank * part + k],
    alltoall: () => input[Math.floor(k / share)][rank * share + (k % share)],
  };
  return rules[program.collective as NamedCollective]();
}
