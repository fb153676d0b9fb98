import { InputError } from "../errors.ts";
import { direct } from "./baselines/direct.ts";
import { ring } from "./baselines/ring.ts";
import type { Synthesizer } from "./synthesizer.ts";
import { tacos } from "./tacos/tacos.ts";

/** Every synthesizer, the default first. */
export const SYNTHESIZERS: readonly Synthesizer[] = [tacos, ring, direct];

/** Returns the synthesizer of that name; throws InputError. */
export function synthesizerNamed(name: string): Synthesizer {
  const found = SYNTHESIZERS.find((synthesizer) => synthesizer.name === name);
  if (found === undefined) {
    throw new InputError("--algorithm", `one of ${SYNTHESIZERS.map((s) => s.name).join(", ")}`, name);
  }
  return found;
}
