import { OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { type Rounds, roundCount } from "./rounds.ts";

/**
 * A schedule's data cut as coarsely as its rounds allow: chunks of a block that go the same ways in the same rounds are a piece,
 * so what a pipeline cuts is put together again.
 */
export interface Pieces {
  /** [blocks + 1] Block b has pieces first[b] .. first[b + 1] - 1. */
  readonly first: Int32Array;
  /** [pieces] How many chunks each stands for. */
  readonly chunks: Int32Array;
  /** For each round its messages, ascending by source, then target: one for each pair. */
  readonly rounds: readonly (readonly PieceMessage[])[];
}

/** What an NPU sends another in a round: pieces that the target stores, and pieces that it adds to what it has; ascending. */
export interface PieceMessage {
  readonly source: number;
  readonly target: number;
  readonly stored: readonly number[];
  readonly added: readonly number[];
}

/**
 * Returns the pieces of a schedule's rounds, where every `chunksPerBlock` chunks are a block: as all of them begin and end at the
 * same NPUs, it does not matter which of its elements are which chunk's. So pieces are in the order of their ways, which makes
 * neighbours of those that start together. O(transfers log transfers).
 */
export function piecesOf(schedule: StepSchedule, rounds: Rounds, chunksPerBlock: number): Pieces {
  const { chunk, route, routes, op, collective, topology } = schedule;
  const { npuCount } = topology;
  const ways: number[][] = Array.from({ length: collective.chunkCount }, () => []);
  for (let k = 0; k < roundCount(rounds); k++) {
    for (const i of rounds.transfer.subarray(rounds.offset[k], rounds.offset[k + 1])) {
      const [source, target] = [routes.source[route[i]], routes.target[route[i]]];
      ways[chunk[i]].push(((k * npuCount + source) * npuCount + target) * 2 + (op[i] === OP_REDUCE ? 1 : 0));
    }
  }
  for (const way of ways) way.sort((a, b) => a - b);

  const blocks = collective.chunkCount / chunksPerBlock;
  const first = new Int32Array(blocks + 1);
  const chunks: number[] = [];
  const messages: Map<number, { stored: number[]; added: number[] }>[] = [];
  const send = (step: number, piece: number): void => {
    const pair = Math.floor(step / 2) % (npuCount * npuCount);
    const round = Math.floor(step / 2 / npuCount / npuCount);
    while (messages.length <= round) messages.push(new Map());
    const found = messages[round].get(pair) ?? { stored: [], added: [] };
    messages[round].set(pair, found);
    (step % 2 === 1 ? found.added : found.stored).push(piece);
  };
  for (let block = 0; block < blocks; block++) {
    const sorted = ways.slice(block * chunksPerBlock, (block + 1) * chunksPerBlock).sort(compared);
    sorted.forEach((way, k) => {
      if (k === 0 || compared(way, sorted[k - 1]) !== 0) {
        for (const step of way) send(step, chunks.length);
        chunks.push(0);
      }
      chunks[chunks.length - 1]++;
    });
    first[block + 1] = chunks.length;
  }
  const inOrder = messages.map((ofRound) =>
    [...ofRound]
      .sort(([a], [b]) => a - b)
      .map(([pair, what]) => ({ source: Math.floor(pair / npuCount), target: pair % npuCount, ...what })),
  );
  return { first, chunks: Int32Array.from(chunks), rounds: inOrder };
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}
