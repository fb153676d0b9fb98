import { INPUT, OUTPUT, type Program } from "../model/program/program.ts";
import { holdersOf, type ProgramTable } from "../model/program/table.ts";
import { hasParts, type Layout, partChunks } from "./layout.ts";
import { addInput, bringsInput, bufferOf, type Contents, type Elements, type Memory } from "./memory.ts";

/** An element of a rank's output that is not what the collective makes. */
export interface Difference {
  readonly rank: number;
  readonly element: number;
  readonly got: number;
  readonly expected: number;
}

export interface Judgement {
  /** The first SHOWN_DIFFERENCES that were found, by rank and element. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Ranks whose input the program overwrote, though input and output are apart. */
  readonly inputsOverwritten: readonly number[];
}

const SHOWN_DIFFERENCES = 20;
/** Elements that are compared at a time. */
const BLOCK = 8192;

/** What some ranks have, summed, belongs to elements [at, at + count) of outputs. */
interface Share {
  readonly sources: readonly number[];
  /** First of the `count` elements in the inputs, of each source where there are several. */
  readonly from: number | readonly number[];
  readonly count: number;
  /** Not the sum: what any one of the sources has. */
  readonly anyOf?: true;
  readonly targets: readonly number[];
  readonly at: number;
}

/** Yields what every output must hold, by the table of a program, in runs of chunks that lie side by side everywhere. */
function* sharesOfTable(table: ProgramTable, chunkElements: number): Generator<Share> {
  const { sums, outputOffset, outputChunk } = table;
  const { offset, rank, at } = holdersOf(table);
  const follows = (chunk: number, before: number): boolean => {
    const many = offset[chunk + 1] - offset[chunk];
    if (many !== offset[before + 1] - offset[before] || sums[chunk] !== sums[before]) return false;
    for (let h = 0; h < many; h++) {
      const [one, other] = [offset[chunk] + h, offset[before] + h];
      if (rank[one] !== rank[other] || at[one] !== at[other] + 1) return false;
    }
    return true;
  };
  for (let r = 0; r + 1 < outputOffset.length; r++) {
    for (let k = outputOffset[r]; k < outputOffset[r + 1]; ) {
      const chunk = outputChunk[k];
      const begun = k++;
      while (k < outputOffset[r + 1] && follows(outputChunk[k], outputChunk[k - 1])) k++;
      const [first, last] = [offset[chunk], offset[chunk + 1]];
      yield {
        sources: [...rank.subarray(first, last)],
        from: Array.from(at.subarray(first, last), (place) => place * chunkElements),
        count: (k - begun) * chunkElements,
        targets: [r],
        at: (begun - outputOffset[r]) * chunkElements,
        ...(sums[chunk] === 0 && last > first + 1 ? { anyOf: true } : {}),
      };
    }
  }
}

/** Yields what every output must hold, by the definition of the collective; nothing for a custom program without a table. */
function* sharesOf(program: Program, layout: Layout): Generator<Share> {
  const { collective, rankCount, rootRank, table } = program;
  if (table !== undefined) yield* sharesOfTable(table, layout.chunkElements);
  if (collective === "custom") return;
  const all = Array.from({ length: rankCount }, (_, r) => r);
  const root = [rootRank];
  const count = partChunks(program) * layout.chunkElements;
  for (let p = 0; p < (hasParts(collective) ? rankCount : 1); p++) {
    const start = p * count;
    switch (collective) {
      case "allreduce":
        yield { sources: all, from: 0, count, targets: all, at: 0 };
        break;
      case "reduce":
        yield { sources: all, from: 0, count, targets: root, at: 0 };
        break;
      case "broadcast":
        yield { sources: root, from: 0, count, targets: all, at: 0 };
        break;
      case "allgather":
        yield { sources: [p], from: 0, count, targets: all, at: start };
        break;
      case "gather":
        yield { sources: [p], from: 0, count, targets: root, at: start };
        break;
      case "reducescatter":
        yield { sources: all, from: start, count, targets: [p], at: 0 };
        break;
      case "scatter":
        yield { sources: root, from: start, count, targets: [p], at: 0 };
        break;
      case "alltoall":
        for (const r of all) yield { sources: [r], from: start, count, targets: [p], at: r * count };
    }
  }
}

/**
 * Returns where outputs differ from what the collective makes of the inputs, computed from its definition alone. Integers wrap
 * around as the program's do; floats are exact (contents.ts). Compares the `turn`-th of every `turns` blocks of elements.
 * O(ranks x size).
 */
export function judge(
  program: Program,
  layout: Layout,
  memory: Memory,
  contents: Contents,
  turn = 0,
  turns = 1,
): Judgement {
  const Kind = memory.slots.constructor as new (length: number) => Elements;
  const expected = new Kind(BLOCK);
  const differences: Difference[] = [];
  let differenceCount = 0;
  let block = 0;
  for (const { sources, from, count, targets, at, anyOf } of sharesOf(program, layout)) {
    const fromOf = (i: number): number => (typeof from === "number" ? from : (from[i] as number));
    for (let e = 0; e < count; e += BLOCK) {
      if (block++ % turns !== turn) continue;
      const length = Math.min(BLOCK, count - e);
      if (anyOf !== true) {
        expected.fill(0);
        for (const [i, source] of sources.entries()) addInput(contents, source, fromOf(i) + e, length, expected);
      }
      for (const rank of targets) {
        const got = bufferOf(layout, memory, rank, OUTPUT).subarray(at + e, at + e + length);
        // of several that may be meant, one that it is; the last where it is none
        for (let i = 0; anyOf === true && i < sources.length; i++) {
          addInput(contents, sources[i] as number, fromOf(i) + e, length, expected.fill(0));
          if (got.every((value, k) => value === expected[k])) break;
        }
        for (let k = 0; k < length; k++) {
          if (got[k] === expected[k]) continue;
          differenceCount++;
          if (differences.length < SHOWN_DIFFERENCES)
            differences.push({ rank, element: at + e + k, got: got[k], expected: expected[k] });
        }
      }
    }
  }
  differences.sort((a, b) => a.rank - b.rank || a.element - b.element);
  const apart = layout.placement === "out" && (program.collective !== "custom" || program.table !== undefined);
  const changed = (rank: number): boolean =>
    rank % turns === turn && bringsInput(program, rank) && inputChanged(layout, memory, contents, rank, expected);
  const inputsOverwritten = apart ? Array.from(layout.rankStart.keys()).slice(0, -1).filter(changed) : [];
  return { differences, differenceCount, inputsOverwritten };
}

function inputChanged(layout: Layout, memory: Memory, contents: Contents, rank: number, expected: Elements): boolean {
  const input = bufferOf(layout, memory, rank, INPUT);
  for (let e = 0; e < input.length; e += BLOCK) {
    const length = Math.min(BLOCK, input.length - e);
    addInput(contents, rank, e, length, expected.fill(0));
    for (let k = 0; k < length; k++) if (input[e + k] !== expected[k]) return true;
  }
  return false;
}

/** Returns the judgements of all turns as one. */
export function joined(judgements: readonly Judgement[]): Judgement {
  return {
    differences: judgements
      .flatMap(({ differences }) => differences)
      .sort((a, b) => a.rank - b.rank || a.element - b.element)
      .slice(0, SHOWN_DIFFERENCES),
    differenceCount: judgements.reduce((sum, { differenceCount }) => sum + differenceCount, 0),
    inputsOverwritten: judgements.flatMap(({ inputsOverwritten }) => inputsOverwritten).sort((a, b) => a - b),
  };
}
