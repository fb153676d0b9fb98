import { InputError } from "../base/errors.ts";
import { formatSize } from "../model/numbers/units.ts";
import { AUTO, algorithmNamed, isPhaseMaker, isTreeMaker, SYNTHESIZERS } from "../synthesize/catalog.ts";
import type { Synthesizer } from "../synthesize/synthesizer.ts";
import type { SynthesizeOptions } from "./options.ts";

/** Options that only algorithms have which solve integer programs. */
export interface SolverOptions extends Pick<SynthesizeOptions, "timeLimitMs"> {
  readonly sketch?: { readonly name: string };
}

/** What a sketch and other options may both say. */
type SketchOptions = Pick<SynthesizeOptions, "collective" | "sizeBytes" | "chunks" | "sketch">;

/** Throws InputError for a limit on time or a sketch that is given to an algorithm which has no use for it, or to an unknown one. */
export function refuseSolverOptions(name: string, { timeLimitMs, sketch }: SolverOptions): void {
  const named = name === AUTO ? null : algorithmNamed(name, [AUTO]);
  const chosen = named === null || isTreeMaker(named) || isPhaseMaker(named) ? null : named;
  if (timeLimitMs !== undefined && name !== AUTO && chosen?.solves !== true) {
    const able = [AUTO, ...namesOf(({ solves }) => solves)].join(", ");
    throw new InputError("--time-limit", `an algorithm beside it that heeds it (${able})`, name);
  }
  if (sketch !== undefined && chosen?.takesSketch !== true) {
    const able = namesOf(({ takesSketch }) => takesSketch).join(", ");
    throw new InputError("--sketch", `an algorithm beside it that follows it (${able})`, name);
  }
}

/**
 * Throws InputError for options that the chosen synthesizer of steps has no use for. People are asked what they meant; callers
 * of the API may hand the same options to every algorithm.
 */
export function refuseUnheeded(options: Pick<SynthesizeOptions, "algorithm" | "trials" | "switchDegree">): void {
  const chosen = SYNTHESIZERS.find((one) => one.name === options.algorithm);
  if (chosen === undefined) return;
  const { name, heeds = [] } = chosen;
  for (const option of ["trials", "switchDegree"] as const) {
    if (options[option] === undefined || heeds.includes(option)) continue;
    const able = SYNTHESIZERS.filter((one) => one.heeds?.includes(option) === true).map((one) => one.name);
    const flag = option === "trials" ? "--trials" : "--switch-degree";
    throw new InputError(flag, `an algorithm beside it that heeds it (${[AUTO, ...able].join(", ")})`, name);
  }
}

/** Returns the nccl-tests size that a sketch says of a collective, for its input is that of one NPU; null where it says none. */
function sizeOfSketch({ sketch, collective }: SketchOptions): number | null {
  if (sketch === undefined || sketch.inputBytes === null || typeof collective !== "string") return null;
  const isPart = collective === "allgather" || collective === "gather";
  return sketch.inputBytes * (isPart ? sketch.boxes * sketch.npusPerBox : 1);
}

/** Returns the options with the size that their sketch says, where they say none. */
export function withSketchSize<Options extends SketchOptions>(options: Options): Options {
  const sizeBytes = options.sizeBytes ?? sizeOfSketch(options);
  return sizeBytes === null ? options : { ...options, sizeBytes };
}

/** Returns what a sketch says and options overrule, in words. */
export function sketchNotes(options: SketchOptions): string[] {
  const { sketch, sizeBytes, chunks, collective } = options;
  if (sketch === undefined) return [];
  const notes: string[] = [];
  const said = (field: string, value: string): string =>
    `the ${field} of ${value} in sketch ${JSON.stringify(sketch.name)}`;
  const size = sizeOfSketch(options);
  if (sketch.inputBytes !== null && typeof collective !== "string")
    notes.push(
      `${said("input_size", formatSize(sketch.inputBytes))} is not used: the collective has a size of its own`,
    );
  else if (size !== null && sizeBytes !== undefined && size !== sizeBytes)
    notes.push(
      `${said("input_size", formatSize(sketch.inputBytes as number))} per NPU, which makes --size ${formatSize(size)}, is not used: --size says ${formatSize(sizeBytes)}`,
    );
  if (typeof chunks === "number" && sketch.chunksPerNpu !== 1 && chunks !== sketch.chunksPerNpu)
    notes.push(`${said("input_chunkup", String(sketch.chunksPerNpu))} is not used: --chunks says ${chunks}`);
  return notes;
}

const namesOf = (can: (one: Synthesizer) => true | undefined): string[] =>
  SYNTHESIZERS.filter((one) => can(one)).map(({ name }) => name);
