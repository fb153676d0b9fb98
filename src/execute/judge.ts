import { INPUT, OUTPUT, type Program } from "../model/program/program.ts";
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

/** Elements [from, from + count) of the inputs of some ranks, summed, belong to elements [at, at + count) of outputs. */
interface Share {
  readonly sources: readonly number[];
  readonly from: number;
  readonly count: number;
  readonly targets: readonly number[];
  readonly at: number;
}

/** Yields what every output must hold, by the definition of the collective; nothing for a custom program. */
function* sharesOf(program: Program, layout: Layout): Generator<Share> {
  const { collective, rankCount, rootRank } = program;
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
  for (const { sources, from, count, targets, at } of sharesOf(program, layout)) {
    for (let e = 0; e < count; e += BLOCK) {
      if (block++ % turns !== turn) continue;
      const length = Math.min(BLOCK, count - e);
      expected.fill(0);
      for (const source of sources) addInput(contents, source, from + e, length, expected);
      for (const rank of targets) {
        const got = bufferOf(layout, memory, rank, OUTPUT).subarray(at + e, at + e + length);
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
  const apart = layout.placement === "out" && program.collective !== "custom";
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
