import type { Random } from "../../src/base/random.ts";
import { INPUT, OPS, OUTPUT, type Program, SCRATCH, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import { holds } from "./lowering-cases.ts";

/** What the random interleavings of an msccl program are run with. */
export interface OracleRun {
  readonly inPlace: boolean;
  /** Chunks that a connection holds. */
  readonly capacity: number;
  readonly random: Random;
}

/** The number that a rank has at a place of its input at the start: no two sums of these are equal but by mistake. */
const valueAt = (rank: number, index: number): number => ((rank * 7919 + index * 104729 + 13) % 1_000_003) + 1;

/**
 * Returns null if a program does what its collective promises, else what went wrong first. Blocks take turns at random, chunk by
 * chunk, each reading in one turn and writing in another; one of them is favoured for a while, so some run far ahead.
 */
export function misbehaviour(program: Program, { inPlace, capacity, random }: OracleRun): string | null {
  const { rankCount: n, collective, rootRank, loopChunks } = program;
  if (collective === "custom") throw new Error("custom");
  const kind = collective;
  const oneBlock = kind === "allreduce" || kind === "broadcast" || kind === "reduce";
  const m = oneBlock ? loopChunks : loopChunks / n;
  const blocks = oneBlock ? 1 : kind === "alltoall" ? n * n : n;
  const inputPlace = (block: number): number =>
    kind === "allgather" || kind === "gather" ? 0 : kind === "alltoall" ? (block % n) * m : block * m;
  const outputPlace = (block: number): number =>
    kind === "reducescatter" || kind === "scatter" ? 0 : kind === "alltoall" ? Math.floor(block / n) * m : block * m;
  const shift = (r: number, buffer: number): number => {
    if (!inPlace) return 0;
    if (buffer === INPUT) return kind === "allgather" || kind === "gather" ? r * m : 0;
    return kind === "reducescatter" || kind === "scatter" ? r * m : 0;
  };
  const memory = Array.from({ length: n }, () => {
    const input = new Map<number, number>();
    return { input, output: inPlace ? input : new Map<number, number>(), scratch: new Map<number, number>() };
  });
  const cell = (r: number, buffer: number, index: number): [Map<number, number>, number] => {
    if (buffer === SCRATCH) {
      if (index < 0 || index >= program.scratchChunks[r]) throw new Error(`scratch chunk ${index} of rank ${r}`);
      return [memory[r].scratch, index];
    }
    const many = buffer === INPUT ? program.inputChunks[r] : program.outputChunks[r];
    if (index < 0 || index >= many) throw new Error(`chunk ${index} of ${many} of rank ${r}`);
    return [buffer === INPUT ? memory[r].input : memory[r].output, index + shift(r, buffer)];
  };
  for (let r = 0; r < n; r++)
    for (let b = 0; b < blocks; b++)
      if (holds(kind, "start", r, b, n, rootRank))
        for (let k = 0; k < m; k++)
          memory[r].input.set(inputPlace(b) + shift(r, INPUT) + k, valueAt(r, inputPlace(b) + k));
  const inputBefore = memory.map(({ input }) => new Map(input));

  const total = program.blockId.length;
  const at = Array.from({ length: total }, (_, b) => program.instructionOffset[b]);
  const moved = new Int32Array(total);
  const holding: (number | null)[] = new Array(total).fill(null);
  const done = new Uint8Array(program.op.length);
  const fifo = new Map<string, number[]>();
  const rankOf = Int32Array.from({ length: total }, () => 0);
  for (let r = 0; r < n; r++) rankOf.fill(r, program.blockOffset[r], program.blockOffset[r + 1]);
  const queue = (from: number, to: number, channel: number): number[] => {
    const key = `${from}>${to}:${channel}`;
    const found = fifo.get(key) ?? [];
    fifo.set(key, found);
    return found;
  };
  const users = new Set<string>();
  for (let b = 0; b < total; b++) {
    for (const [peer, way] of [
      [program.sendPeer[b], "to"],
      [program.recvPeer[b], "from"],
    ] as const) {
      if (peer < 0) continue;
      const key = `${rankOf[b]} ${way} ${peer} on ${program.channel[b]}`;
      if (users.has(key)) return `two blocks ${key}`;
      users.add(key);
    }
  }
  const published = (i: number, block: number): boolean => {
    for (let k = i; k < program.instructionOffset[block + 1]; k++)
      if (done[k] === 1 && program.publishes[k] === 1) return true;
    return false;
  };
  const blockOf = new Int32Array(program.op.length);
  for (let b = 0; b < total; b++) blockOf.fill(b, program.instructionOffset[b], program.instructionOffset[b + 1]);

  /** Does a bit of a block; returns whether there was something to do. */
  const turn = (b: number): boolean => {
    const i = at[b];
    if (i === program.instructionOffset[b + 1]) return false;
    const rank = rankOf[b];
    if (moved[b] === 0 && holding[b] === null) {
      for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
        const on = program.waitOn[w];
        if (program.waitKind[w] !== WAIT_INSTRUCTION || rankOf[blockOf[on]] !== rank)
          throw new Error("a wait elsewhere");
        if (OPS[program.op[on]] === "nop") throw new Error("a wait for a nop");
        if (!published(on, blockOf[on])) return false;
      }
    }
    const first = program.operandOffset[i];
    const sources = program.sourceCount[i];
    if (moved[b] < program.chunks[i]) {
      if (holding[b] === null) {
        let value = 0;
        const into = program.sends[i] === 1 ? queue(rank, program.sendPeer[b], program.channel[b]) : null;
        if (into !== null && into.length >= capacity) return false;
        if (program.receives[i] === 1) {
          const from = queue(program.recvPeer[b], rank, program.channel[b]);
          if (from.length === 0) return false;
          value += from.shift() as number;
        }
        for (let o = first; o < first + sources; o++) {
          const [map, index] = cell(rank, program.operandBuffer[o], program.operandIndex[o] + moved[b]);
          const read = map.get(index);
          if (read === undefined) throw new Error(`rank ${rank} reads what nobody wrote, ${OPS[program.op[i]]}`);
          value += read;
        }
        if (into !== null) into.push(value);
        holding[b] = value;
        return true;
      }
      for (let o = first + sources; o < program.operandOffset[i + 1]; o++) {
        const [map, index] = cell(rank, program.operandBuffer[o], program.operandIndex[o] + moved[b]);
        map.set(index, holding[b] as number);
      }
      holding[b] = null;
      if (++moved[b] < program.chunks[i]) return true;
    }
    moved[b] = 0;
    done[i] = 1;
    at[b]++;
    return true;
  };
  const runnable = Array.from({ length: total }, (_, b) => b).filter((b) => at[b] < program.instructionOffset[b + 1]);
  try {
    while (runnable.length > 0) {
      const start = random.below(runnable.length);
      let progress = false;
      for (let k = 0; k < runnable.length && !progress; k++) {
        const place = (start + k) % runnable.length;
        const b = runnable[place];
        for (let many = 1 + random.below(12); many > 0 && turn(b); many--) progress = true;
        if (at[b] === program.instructionOffset[b + 1]) {
          runnable[place] = runnable[runnable.length - 1];
          runnable.pop();
        }
      }
      if (!progress && runnable.length > 0) return `deadlock: ${runnable.length} blocks`;
    }
  } catch (error) {
    return (error as Error).message;
  }
  for (const [key, left] of fifo) if (left.length > 0) return `${left.length} chunks left in ${key}`;
  for (let r = 0; r < n; r++) {
    for (let b = 0; b < blocks; b++) {
      if (!holds(kind, "end", r, b, n, rootRank)) continue;
      const from = Array.from({ length: n }, (_, s) => s).filter((s) => holds(kind, "start", s, b, n, rootRank));
      for (let k = 0; k < m; k++) {
        const expected = from.reduce((sum, s) => sum + valueAt(s, inputPlace(b) + k), 0);
        const got = memory[r].output.get(outputPlace(b) + shift(r, OUTPUT) + k);
        if (got !== expected) return `rank ${r}, block ${b}, chunk ${k}: ${got} for ${expected}`;
      }
    }
    if (inPlace) continue;
    for (const [index, value] of inputBefore[r])
      if (memory[r].input.get(index) !== value) return `rank ${r} changed its input`;
    if (memory[r].input.size !== inputBefore[r].size) return `rank ${r} wrote its input`;
  }
  return null;
}
