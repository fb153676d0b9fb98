import { type Program, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { type Operand, type ProgramHeader, programBuilder } from "../../model/program/program-builder.ts";
import { bufferOf, type Code, indexOf, NOWHERE, type Place } from "./code.ts";

const RECEIVES: ReadonlySet<string> = new Set(["r", "rcs", "rrs", "rrc", "rrcs"]);
const SENDS: ReadonlySet<string> = new Set(["s", "rcs", "rrs", "rrcs"]);

/** Instructions of each block in order, and blocks in the order in which a rank numbers them. */
export interface Numbering {
  /** [ranks] blocks of the rank; those that others wait for come first, for runtimes take only so many of these. */
  readonly blocks: readonly (readonly number[])[];
  /** [blocks] its instructions. */
  readonly instructions: readonly (readonly number[])[];
  /** [instructions] 1: another block waits for it. */
  readonly awaited: Uint8Array;
  /** [ranks] blocks that others wait for. */
  readonly awaitedBlocks: Int32Array;
}

/** Returns how blocks and instructions of code are numbered. O(instructions + waits). */
export function numberingOf({ blocks, block, waits, op }: Code, ranks: number): Numbering {
  const awaited = new Uint8Array(op.length);
  const isAwaited = new Uint8Array(blocks.rank.length);
  for (const list of waits) {
    for (const on of list) {
      awaited[on] = 1;
      isAwaited[block[on]] = 1;
    }
  }
  const instructions: number[][] = blocks.rank.map(() => []);
  for (let i = 0; i < op.length; i++) instructions[block[i]].push(i);
  const ofRank: number[][] = Array.from({ length: ranks }, () => []);
  const awaitedBlocks = new Int32Array(ranks);
  for (const first of [1, 0]) {
    for (let b = 0; b < blocks.rank.length; b++) {
      if (isAwaited[b] !== first) continue;
      ofRank[blocks.rank[b]].push(b);
      awaitedBlocks[blocks.rank[b]] += first;
    }
  }
  return { blocks: ofRank, instructions, awaited, awaitedBlocks };
}

/**
 * Returns the program of code. An instruction that waits for k others is preceded by k - 1 nops, each with one of the waits, the
 * latest last. O(instructions + waits).
 */
export function programOfCode(
  code: Code,
  { blocks, instructions, awaited }: Numbering,
  header: Omit<ProgramHeader, "scratchChunks">,
): Program {
  const builder = programBuilder();
  const index = new Int32Array(code.op.length);
  let next = 0;
  for (const b of blocks.flat()) {
    for (const i of instructions[b]) {
      next += Math.max(1, code.waits[i].length);
      index[i] = next - 1;
    }
  }
  blocks.forEach((own, rank) => {
    builder.addRank();
    own.forEach((b, id) => {
      const { recvPeer, sendPeer, channel } = code.blocks;
      builder.addBlock({ id, recvPeer: recvPeer[b], sendPeer: sendPeer[b], channel: channel[b] });
      for (const i of instructions[b]) {
        const op = code.op[i];
        const waits = code.waits[i].map((on) => ({ kind: WAIT_INSTRUCTION, on: index[on] }));
        for (const wait of waits.slice(1)) builder.add({ op: "nop", waits: [wait] });
        const source = operandAt(rank, code.source[i]);
        const destination = operandAt(rank, code.destination[i]);
        builder.add({
          op,
          chunks: code.chunks[i],
          receives: RECEIVES.has(op),
          sends: SENDS.has(op),
          publishes: awaited[i] === 1,
          sources: op === "re" ? [...destination, ...source] : source,
          destinations: destination,
          waits: waits.slice(0, 1),
        });
      }
    });
  });
  return builder.build({ ...header, scratchChunks: Int32Array.from(code.scratch.chunks) });
}

const operandAt = (rank: number, place: Place): readonly Operand[] =>
  place === NOWHERE ? [] : [{ rank, buffer: bufferOf(place), index: indexOf(place) }];
