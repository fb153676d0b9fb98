import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { formatSize } from "../model/numbers/units.ts";
import { type Algorithm, AUTO, algorithmNamed, takersOf, USUAL_ALGORITHM } from "../synthesize/catalog.ts";
import type { MakerOption } from "../synthesize/maker.ts";
import type { OptionRow } from "./option-row.ts";
import { isSaid, OWN_OPTIONS, propertyOf, ROWS } from "./option-table.ts";
import type { SynthesizeOptions } from "./options.ts";

/** What of a request an algorithm takes. */

/** Options that some makers take and others do not, by their properties. */
const OWN: ReadonlyMap<MakerOption, OptionRow> = new Map(
  OWN_OPTIONS.map((id) => [propertyOf(id) as MakerOption, ROWS[id]]),
);

/**
 * Throws InputError for an option that the algorithm of a request does not take. `but`: options that say nothing to it and are
 * let pass.
 */
export function refuseUntaken(
  {
    algorithm = USUAL_ALGORITHM,
    ...request
  }: { readonly algorithm?: string } & {
    readonly [Option in MakerOption]?: unknown;
  },
  but: readonly MakerOption[] = [],
): void {
  const maker = algorithm === AUTO ? null : algorithmNamed(algorithm, [AUTO]);
  for (const [option, row] of OWN) {
    const byAuto = row.own === "handed on";
    const isTaken = maker === null ? byAuto : (maker.options ?? []).includes(option);
    if (!isSaid(row, request[option]) || isTaken || but.includes(option)) continue;
    const able = [...(byAuto ? [AUTO] : []), ...takersOf(option)];
    throw new InputError(optionName(option), `an algorithm beside it that heeds it (${able.join(", ")})`, algorithm)
      .as("not-applicable")
      .saying(`${optionName(option)} has no effect with ${algorithm}; it works with ${able.join(", ")}`);
  }
}

/** Returns what an algorithm is asked of a request that several are given: what it takes; chunks are no pieces of trees. */
export function askedOf(
  algorithm: Algorithm,
  { chunks, ...request }: Omit<SynthesizeOptions, "algorithm" | "timeLimitMs">,
): SynthesizeOptions {
  const untaken = [...OWN.keys()].filter((option) => !(algorithm.options ?? []).includes(option));
  const taken = Object.fromEntries(
    Object.entries(request).filter(([name]) => !untaken.includes(name as MakerOption)),
  ) as typeof request;
  const cut = chunks === undefined || algorithm.makes === "trees" ? {} : { chunks };
  return { ...taken, ...cut, algorithm: algorithm.name, simulate: true };
}

/** Returns a request without what only some algorithms take, a policy and a number of chunks: each then chooses for itself. */
export function openRequest<Request extends { readonly chunks?: unknown; readonly policy?: unknown }>({
  chunks: _,
  policy: __,
  ...request
}: Request): Omit<Request, MakerOption | "chunks" | "policy"> {
  const shared = Object.entries(request).filter(([name]) => !OWN.has(name as MakerOption));
  return Object.fromEntries(shared) as Omit<Request, MakerOption | "chunks" | "policy">;
}

/** Throws InputError for an option that none of the algorithms is asked with. */
export function refuseUntakenByAll(
  algorithms: readonly Algorithm[],
  request: Omit<SynthesizeOptions, "algorithm" | "timeLimitMs">,
): void {
  for (const [option, row] of OWN) {
    const value = (request as Readonly<Record<string, unknown>>)[option];
    if (
      !isSaid(row, value) ||
      option === "nvls" || // it only leaves something out of a report
      option === "timeLimitMs" || // who tries several heeds it
      algorithms.some(({ options }) => options?.includes(option))
    )
      continue;
    const names = algorithms.map(({ name }) => name).join(", ");
    throw new InputError(optionName(option), `an algorithm that heeds it among those tried (${names})`, value)
      .as("not-applicable")
      .saying(`${optionName(option)} has no effect with any of ${names}`);
  }
}

/** Options that say something where several collectives are made at once. */
const OF_SEVERAL: readonly MakerOption[] = ["trials", "switchDegree", "timeLimitMs"];

/** Throws InputError for an option of single makers beside several collectives at once, where it would say nothing. */
export function refuseBesideSeveral(request: { readonly [Option in MakerOption]?: unknown }): void {
  for (const [option, row] of OWN) {
    const given = request[option];
    if (OF_SEVERAL.includes(option) || !isSaid(row, given)) continue;
    throw new InputError(optionName(option), "nothing beside several collectives at once", given).as("not-together");
  }
}

/** What a sketch and other options may both say. */
type SketchOptions = Pick<SynthesizeOptions, "collective" | "sizeBytes" | "chunks" | "sketch">;

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
  const bySize = optionName("sizeBytes");
  if (sketch.inputBytes !== null && typeof collective !== "string")
    notes.push(
      `${said("input_size", formatSize(sketch.inputBytes))} is not used: the collective has a size of its own`,
    );
  else if (size !== null && sizeBytes !== undefined && size !== sizeBytes)
    notes.push(
      `${said("input_size", formatSize(sketch.inputBytes as number))} per NPU, which makes ${bySize} ${formatSize(size)}, is not used: ${bySize} says ${formatSize(sizeBytes)}`,
    );
  if (typeof chunks === "number" && sketch.chunksPerNpu !== 1 && chunks !== sketch.chunksPerNpu)
    notes.push(
      `${said("input_chunkup", String(sketch.chunksPerNpu))} is not used: ${optionName("chunks")} says ${chunks}`,
    );
  return notes;
}
