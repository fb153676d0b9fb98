import { InputError } from "./errors.ts";
import type { SynthesizeOptions } from "./options.ts";
import { AUTO, algorithmNamed, isPhaseMaker, isTreeMaker, SYNTHESIZERS } from "./synthesize/catalog.ts";
import type { Synthesizer } from "./synthesize/synthesizer.ts";

/** Options that only algorithms have which solve integer programs. */
export interface SolverOptions extends Pick<SynthesizeOptions, "timeLimitMs"> {
  readonly sketch?: { readonly name: string };
}

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

const namesOf = (can: (one: Synthesizer) => true | undefined): string[] =>
  SYNTHESIZERS.filter((one) => can(one)).map(({ name }) => name);
