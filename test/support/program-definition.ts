import { INPUT, OUTPUT, type Program, SCRATCH } from "../../src/model/program/program.ts";

/**
 * What collectives are, said a second time for tests, in the plainest way: where chunks lie, what is given, what is due.
 * Places are names of chunks of memory; in place, input and output share them.
 */

const partOf = ({ loopChunks, rankCount }: Program): number => loopChunks / rankCount;

/** Returns the chunks of input and output of a rank. */
function lengths(program: Program, rank: number): { input: number; output: number } {
  const whole = program.loopChunks;
  const part = partOf(program);
  const isRoot = rank === program.rootRank;
  switch (program.collective) {
    case "allgather":
      return { input: part, output: whole };
    case "reducescatter":
      return { input: whole, output: part };
    case "gather":
      return { input: part, output: isRoot ? whole : 0 };
    case "scatter":
      return { input: isRoot ? whole : 0, output: part };
    case "broadcast":
      return { input: isRoot ? whole : 0, output: whole };
    case "reduce":
      return { input: whole, output: isRoot ? whole : 0 };
    case "custom":
      return { input: program.inputChunks[rank], output: program.outputChunks[rank] };
    default:
      return { input: whole, output: whole };
  }
}

/** Returns the name of a chunk of memory, or null where the buffer has no such chunk. */
export function placeOf(
  program: Program,
  placement: "in" | "out",
  rank: number,
  buffer: number,
  index: number,
): string | null {
  const claimed = [program.inputChunks, program.outputChunks, program.scratchChunks][buffer][rank];
  if (index < 0 || index >= claimed) return null;
  if (buffer === SCRATCH) return `${rank} scratch ${index}`;
  const { input, output } = lengths(program, rank);
  if (placement === "out") {
    if (index >= (buffer === INPUT ? input : output)) return null;
    return `${rank} ${buffer === INPUT ? "input" : "output"} ${index}`;
  }
  const part = partOf(program);
  const shift = rank * part;
  switch (program.collective) {
    case "allgather":
    case "gather": {
      const k = buffer === INPUT ? (index < part ? index + shift : -1) : index;
      const there = output > 0 ? k >= 0 && k < output : k >= shift && k < shift + part;
      return there ? `${rank} user ${k}` : null;
    }
    case "reducescatter":
    case "scatter": {
      const k = buffer === OUTPUT ? (index < part ? index + shift : -1) : index;
      const there = input > 0 ? k >= 0 && k < input : k >= shift && k < shift + part;
      return there ? `${rank} user ${k}` : null;
    }
    default:
      return index < Math.max(input, output) ? `${rank} user ${index}` : null;
  }
}

/** Like `placeOf`, of chunks that exist whatever the program claims. */
function realPlace(program: Program, placement: "in" | "out", rank: number, buffer: number, index: number): string {
  const chunks = new Int32Array(program.rankCount).fill(2 ** 30);
  const open: Program = { ...program, inputChunks: chunks, outputChunks: chunks };
  return placeOf(open, placement, rank, buffer, index) as string;
}

/** Returns the chunks that hold input when a call begins. */
export function givenOf(
  program: Program,
  placement: "in" | "out",
): { readonly place: string; readonly rank: number; readonly chunk: number }[] {
  const given: { place: string; rank: number; chunk: number }[] = [];
  for (let rank = 0; rank < program.rankCount; rank++)
    for (let chunk = 0; chunk < lengths(program, rank).input; chunk++)
      given.push({ place: realPlace(program, placement, rank, INPUT, chunk), rank, chunk });
  return given;
}

/** Returns what chunks of outputs must hold in the end: the sum of chunks of inputs, as [rank, chunk]. */
export function dueOf(
  program: Program,
  placement: "in" | "out",
): { readonly place: string; readonly from: readonly (readonly [rank: number, chunk: number])[] }[] {
  const { collective, rankCount, rootRank } = program;
  if (collective === "custom") return [];
  const part = partOf(program);
  const everyone = Array.from({ length: rankCount }, (_, r) => r);
  const due: { place: string; from: (readonly [number, number])[] }[] = [];
  for (const rank of everyone)
    for (let k = 0; k < lengths(program, rank).output; k++) {
      const owner = Math.floor(k / part);
      const from: Record<string, () => (readonly [number, number])[]> = {
        allgather: () => [[owner, k - owner * part]],
        gather: () => [[owner, k - owner * part]],
        alltoall: () => [[owner, rank * part + k - owner * part]],
        scatter: () => [[rootRank, rank * part + k]],
        broadcast: () => [[rootRank, k]],
        reducescatter: () => everyone.map((r) => [r, rank * part + k] as const),
        allreduce: () => everyone.map((r) => [r, k] as const),
        reduce: () => everyone.map((r) => [r, k] as const),
      };
      due.push({ place: realPlace(program, placement, rank, OUTPUT, k), from: from[collective]() });
    }
  return due;
}
