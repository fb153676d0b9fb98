import { parseSize, parseTime } from "../../model/numbers/units.ts";
import { degradations, listOf, namedCollective, oneOf, switchDegree, wholeNumber } from "../../request/values.ts";
import { MATRICES, MEASURES } from "./choices.ts";
import { readRange } from "./size-range.ts";

/** What can be said of the text of an option or a choice before the worker sees it. */

type Check = (text: string) => unknown;

const numberOrAuto =
  (place: string): Check =>
  (text) =>
    text === "auto" || wholeNumber(text, place, 1);

const CHECKS: Readonly<Record<string, Check>> = {
  collective: (text) => namedCollective(text),
  size: (text) => parseSize(text),
  chunks: numberOrAuto("--chunks"),
  k: numberOrAuto("--k"),
  seed: (text) => wholeNumber(text, "--seed", 0),
  trials: (text) => wholeNumber(text, "--trials", 1),
  nodes: (text) => wholeNumber(text, "--nodes", 1),
  profileScale: (text) => wholeNumber(text, "--profile-scale", 1),
  switchDegree,
  timeLimit: (text) => parseTime(text, "--time-limit"),
  outsiders: (text) => oneOf(text, ["relay", "none"], "--outsiders"),
  eulerian: (text) => oneOf(text, ["trim", "switches"], "--eulerian"),
  switching: (text) => oneOf(text, ["cut-through", "store-and-forward"], "--switching"),
  degrade: degradations,
  without: (text) => listOf(text, "--without", "names of NPUs, switches and links"),
  sizes: readRange,
  algorithms: (text) => listOf(text, "--algorithms", "names"),
  measure: (text) => oneOf(text, MEASURES, "measure"),
  matrix: (text) => oneOf(text, MATRICES, "matrix"),
};

/** Returns what is wrong with such a text, a sentence; null where nothing is, or only the worker can tell. */
export function optionComplaint(option: string, text: string): string | null {
  try {
    CHECKS[option]?.(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
