import { PS_PER_US, parseTime } from "../model/numbers/units.ts";
import { algorithmOrAuto } from "../synthesize/catalog.ts";
import type { Options, Progress } from "./option-texts.ts";
import type { SynthesizeOptions } from "./options.ts";
import { refuseUnheeded } from "./solver-options.ts";
import { oneOf, switchDegree, textOf, wholeNumber } from "./values.ts";

/** What the commands that synthesize have in common. */

/** The value of --chunks and --k that leaves the number to trial. */
const AUTO = "auto";

/** Returns the options without `--chunks auto`, which says nothing of the collective (synthesisOptions has it). */
export const withoutAuto = (options: Options): Options =>
  textOf(options, "chunks") === AUTO ? { ...options, chunks: undefined } : options;

/** Returns what the options say of the synthesis, beside the collective. Throws InputError. */
export function synthesisOptions(options: Options): Omit<SynthesizeOptions, "collective"> {
  const algorithm = textOf(options, "algorithm");
  const seed = wholeNumber(textOf(options, "seed"), "--seed", 0);
  const trials = wholeNumber(textOf(options, "trials"), "--trials", 1);
  const policy = textOf(options, "policy");
  const timeLimit = textOf(options, "timeLimit");
  const degree = switchDegree(textOf(options, "switchDegree"));
  const k = textOf(options, "k") === AUTO ? AUTO : wholeNumber(textOf(options, "k"), "--k", 1);
  const eulerian = oneOf(textOf(options, "eulerian"), ["trim", "switches"] as const, "--eulerian");
  const switching = oneOf(textOf(options, "switching"), ["cut-through", "store-and-forward"] as const, "--switching");
  const wanted: Omit<SynthesizeOptions, "collective"> = {
    ...(textOf(options, "chunks") === AUTO ? { chunks: AUTO } : {}),
    ...(algorithm === undefined ? {} : { algorithm: algorithmOrAuto(algorithm) }),
    ...(seed === undefined ? {} : { seed }),
    ...(trials === undefined ? {} : { trials }),
    ...(policy === undefined ? {} : { policy }),
    ...(timeLimit === undefined ? {} : { timeLimitMs: parseTime(timeLimit, "--time-limit") / PS_PER_US / 1000 }),
    ...(degree === undefined ? {} : { switchDegree: degree }),
    ...(k === undefined ? {} : { k }),
    ...(eulerian === undefined ? {} : { eulerian }),
    ...(options["nvls"] === false ? { nvls: false } : {}),
    ...(options["offload"] === true ? { offload: true } : {}),
    ...(switching === undefined ? {} : { switching }),
  };
  refuseUnheeded(wanted);
  return wanted;
}

const STEPS: Readonly<Record<string, string>> = {
  limit: "looking for the limit",
  synthesize: "synthesizing",
  matching: "matching",
  verify: "verifying",
  simulate: "simulating",
  bound: "looking for the bound",
};

/** Returns a step of the pipeline in words. */
export function progressOf({ phase, done, total }: { phase: string; done: number; total: number }): Progress {
  if (phase.startsWith("try ")) return { what: `trying ${phase.slice(4)} (${done + 1} of ${total})` };
  if (phase.startsWith("solve ")) return { what: `solving ${phase.slice(6)}` };
  const step = STEPS[phase];
  if (step === undefined) return { what: `synthesizing ${phase}`, done, total, unit: "trials" };
  return total > 1 ? { what: step, done: Math.floor((100 * done) / total), total: 100, unit: "%" } : { what: step };
}
