import { shown } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { COMPARE_TARGETS } from "../../report/comparison.ts";
import {
  flagOf,
  NETWORK_OPTIONS,
  type OptionId,
  type Options,
  optionValue,
  PAGE_OPTIONS,
  ROWS,
} from "../../request/option-table.ts";
import { listOf, oneOf } from "../../request/values.ts";
import { CHOICES, type Choices, MATRICES, MEASURES } from "./choices.ts";
import { readRange } from "./size-range.ts";
import { VIEWS, type ViewName, type Words } from "./words.ts";

/**
 * The fragment of the page's address, which browsers send to nobody: `#topology=mesh:4x4&collective=allgather&view=time`.
 * Options have the names of the command line, those without a value no "="; choices.ts has what views let one choose. `run` says
 * that there was a schedule, `open` that the server holds a file, `file` what address-file.ts packs.
 */
export interface Address {
  readonly topology: string | null;
  /** As address-file.ts packs it. */
  readonly file: string | null;
  /** The name of a file that the server offers. */
  readonly open: string | null;
  /** Those that can be used. */
  readonly options: Options;
  readonly view: ViewName | null;
  /** Those that can be used. */
  readonly choices: Choices;
  readonly run: boolean;
  /** What cannot be used, a sentence each. */
  readonly complaints: readonly string[];
}

/** Options by their names on the command line. */
const NAMED: ReadonlyMap<string, OptionId> = new Map(
  [...NETWORK_OPTIONS, ...PAGE_OPTIONS].map((id) => [flagOf(id).slice(2), id]),
);

/** Returns a choice as an address calls it: options of the command line as there. */
export const choiceName = (choice: (typeof CHOICES)[number]): string => flagOf(choice).slice(2);

/** Returns what a value of an address stands for; null for a broken one. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Returns a value as it stands in an address: with percent signs for what would end a field, or a link in running text, and
 * U+FFFD for halves of characters, which no address can have.
 */
const encoded = (text: string): string =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(/%(3A|2C|40|2F|3D|3B)/g, (code) =>
    decodeURIComponent(code),
  );

/** Returns what a fragment says, with or without its "#". Never throws: what is wrong is left out and reported. O(length). */
export function readAddress(fragment: string): Address {
  const complaints: string[] = [];
  const given = new Map<string, string>();
  for (const field of fragment.replace(/^#/, "").split("&")) {
    if (field === "") continue;
    const cut = field.indexOf("=");
    const name = cut < 0 ? field : field.slice(0, cut);
    const value = cut < 0 ? "" : decoded(field.slice(cut + 1));
    if (value === null) complaints.push(`the value of ${shown(name)} is cut short or has a stray "%"`);
    else if (given.has(name)) complaints.push(`${shown(name)} is given twice; the first counts`);
    else given.set(name, value);
  }
  const take = (name: string): string | null => {
    const value = given.get(name) ?? null;
    given.delete(name);
    if (value !== "") return value;
    complaints.push(`"${name}" has no value`);
    return null;
  };
  const named = take("view");
  const view = VIEWS.find((known) => known === named) ?? null;
  if (named !== null && view === null) complaints.push(`there is no view ${shown(named)}, but ${VIEWS.join(", ")}`);
  const choices = choicesOf(take, complaints);
  const [topology, file, open] = [take("topology"), take("file"), take("open")];
  const run = take("run");
  if (run !== null && run !== "1") complaints.push(`"run" is 1 or is left out, but not ${shown(run)}`);
  return { topology, file, open, options: optionsOf(given, complaints), view, choices, run: run === "1", complaints };
}

function choicesOf(take: (name: string) => string | null, complaints: string[]): Choices {
  const choices: Record<string, string> = {};
  for (const name of CHOICES) {
    const value = take(choiceName(name));
    const complaint = value === null ? null : optionComplaint(name, value);
    if (complaint !== null) complaints.push(complaint);
    else if (value !== null) choices[name] = value;
  }
  return choices;
}

function optionsOf(given: ReadonlyMap<string, string>, complaints: string[]): Options {
  const options: Record<string, string | boolean> = {};
  for (const [name, value] of given) {
    const option = NAMED.get(name);
    if (option !== undefined && ROWS[option].value === undefined) {
      if (value === "") options[option] = ROWS[option].sets ?? true;
      else complaints.push(`"${name}" takes no value`);
    } else if (option === undefined) complaints.push(`nothing is called ${shown(name)}`);
    else {
      const complaint = value === "" ? `"${name}" has no value` : optionComplaint(option, value);
      if (complaint === null) options[option] = value;
      else complaints.push(complaint);
    }
  }
  return options;
}

/** Returns the fragment that says words, from which readAddress reads the same; `file` is packed. */
export function writeAddress({ topology, options, view, choices }: Words, file: string | null, run: boolean): string {
  const fields = topology === "" ? [] : [`topology=${encoded(topology)}`];
  if (file !== null) fields.push(`file=${encoded(file)}`);
  // without a collective the address would mean the first visit's options
  const said: Options = { collective: "allgather", ...options };
  for (const [name, option] of NAMED) {
    const value = said[option];
    if (typeof value === "string") fields.push(`${name}=${encoded(value)}`);
  }
  for (const [name, option] of NAMED)
    if (ROWS[option].value === undefined && said[option] === (ROWS[option].sets ?? true)) fields.push(name);
  if (view !== "network") fields.push(`view=${view}`);
  for (const name of CHOICES)
    if (choices[name] !== undefined) fields.push(`${choiceName(name)}=${encoded(choices[name])}`);
  if (run) fields.push("run=1");
  return `#${fields.join("&")}`;
}

/** Whether an address names a network. */
export const namesNetwork = ({ topology, file, open }: Address): boolean =>
  topology !== null || file !== null || open !== null;

/** Whether an address says nothing of what is to be shown. */
export const saysNothing = (address: Address): boolean =>
  !namesNetwork(address) &&
  address.view === null &&
  !address.run &&
  [address.options, address.choices].every((said) => Object.keys(said).length === 0);

/** What can be said of the text of an option or a choice before the worker sees it. */

const CHOICE_CHECKS: Readonly<Record<string, (text: string) => unknown>> = {
  compared: (text) => oneOf(text, ["1"], "compared"),
  sizes: readRange,
  algorithms: (text) => listOf(text, optionName("algorithms"), "names"),
  target: (text) => oneOf(text, COMPARE_TARGETS, optionName("target")),
  measure: (text) => oneOf(text, MEASURES, "measure"),
  matrix: (text) => oneOf(text, MATRICES, "matrix"),
  // the worker knows the models, and who makes collectives
  model: (text) => text,
  graph: (text) => text,
  planBy: (text) => text,
  planTime: (text) => optionValue({ timeLimit: text }, "timeLimit"),
};

/** Returns what is wrong with such a text, a sentence; null where nothing is, or only the worker can tell. */
function optionComplaint(name: string, text: string): string | null {
  try {
    const check = CHOICE_CHECKS[name];
    if (check !== undefined) check(text);
    else optionValue({ [name]: text }, name as OptionId);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
