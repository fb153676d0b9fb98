import { InputError, inWords, shown } from "../../base/errors.ts";
import { parseYaml, type Yaml } from "../../import/text/yaml-text.ts";
import { formatSize, PS_PER_US, parseSize, parseTime } from "../../model/numbers/units.ts";
import { TASK_VERBS, type TaskBudget, type TaskVerb } from "../../model/sweep/task.ts";
import { didYouMean, unknownName } from "../../model/topology/closest.ts";
import { POOLS, type Pool } from "../../model/topology/failure-sets.ts";
import { flagOf, NETWORK_OPTIONS, type OptionId, optionsOf, ROWS } from "../option-table.ts";
import { wholeNumber } from "../values.ts";

/** Files that say a sweep: axes, whose products are its points, in YAML. */

/** What may fail together in a point: nothing, named things, or sets out of a pool. */
export type FailureSpec =
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "every"; readonly size: number; readonly of: Pool }
  | {
      readonly kind: "random";
      readonly size: number;
      readonly of: Pool;
      readonly times: number;
      readonly seed: number;
    };

/** A value of an axis, and where the file says it. */
export interface AxisValue {
  readonly value: string | true | FailureSpec;
  readonly place: string;
}

/** Values that go with each other: one name and a list, or several names zipped. Ranges are not listed. */
export interface Axis {
  /** "topology", "model", "failures", or options by their identity. */
  readonly names: readonly string[];
  readonly length: number;
  /** Where the file says it. */
  readonly place: string;
  /** Returns one value for each name. */
  at(index: number): readonly AxisValue[];
}

/** What a sweep's file says. */
export interface SweepFile {
  readonly name: string | null;
  readonly verb: TaskVerb;
  /** The sweep is all points of all blocks, each the product of its axes. */
  readonly blocks: readonly (readonly Axis[])[];
  /** Options of every point. */
  readonly options: Readonly<Record<string, string | true>>;
  readonly budget: TaskBudget;
  readonly keep: boolean;
  readonly prices: Readonly<Record<string, number>> | null;
  readonly priority: number;
}

const KEYS = ["sweep", "do", "axes", "options", "budget", "keep", "prices", "priority"] as const;
const PRICED = ["npu", "switch", "cable"] as const;
const MOST_PRIORITY = 1000;
/** What a file may say of the collective beside the network. */
const OF_COLLECTIVES: readonly OptionId[] = ["collective", ...optionsOf("collective")];

/** Options that tasks of a verb take. */
export const TASK_OPTIONS: Readonly<Record<TaskVerb, readonly OptionId[]>> = {
  synth: [...new Set([...NETWORK_OPTIONS, ...OF_COLLECTIVES, ...optionsOf("making")])].filter((id) => id !== "repair"),
  bound: [...new Set([...NETWORK_OPTIONS, ...OF_COLLECTIVES])],
  search: ["nodes", "degree", "bidirectional", "alpha", "bandwidth", "size", "collective", "verify", "alltoall"],
  train: [...NETWORK_OPTIONS, ...optionsOf("training").filter((id) => id !== "chakra"), "algorithms"],
};

/** Names of axes that are no options, by verb. */
const SUBJECTS: Readonly<Record<TaskVerb, readonly string[]>> = {
  synth: ["topology", "failures"],
  bound: ["topology", "failures"],
  search: [],
  train: ["model", "topology"],
};

/** Reads entries of a file, and says where they stand. */
interface Reader {
  readonly file: string;
  readonly yaml: Yaml;
  readonly verb: TaskVerb;
}

type Entries = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Entries =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mapping(value: unknown, place: string, what: string): Entries {
  if (isMapping(value)) return value;
  throw new InputError(place, `${what}, as KEY: VALUE lines`, value);
}

function refuseUnknown(yaml: Yaml, entries: Entries, known: readonly string[], what: string): void {
  for (const key of Object.keys(entries))
    if (!known.includes(key)) {
      const place = yaml.lineAt(entries, key);
      throw new InputError(place, `${what} (${known.join(", ")})${didYouMean(key, known)}`, key).as("unknown-name");
    }
}

/** Returns what a sweep's file says; `fileName` is for errors. Throws InputError with the line and column. O(text). */
export function readSweepFile(text: string, fileName: string): SweepFile {
  const yaml = parseYaml(text, fileName);
  const top = mapping(yaml.value, fileName, "a sweep");
  refuseUnknown(yaml, top, KEYS, "a key of a sweep");
  const verb = (top["do"] ?? "synth") as TaskVerb;
  if (!TASK_VERBS.includes(verb)) throw unknownName(yaml.valueAt(top, "do"), String(verb), TASK_VERBS);
  const reader: Reader = { file: fileName, yaml, verb };
  if (top["axes"] === undefined)
    throw new InputError(fileName, "axes").saying(
      `${fileName} has no axes; e.g. axes: {topology: [mesh:4x4], collective: [allgather, allreduce]}`,
    );
  const lists = Array.isArray(top["axes"]) ? top["axes"] : [top["axes"]];
  const holder = Array.isArray(top["axes"]) ? (top["axes"] as unknown as Entries) : null;
  const blocks = lists.map((block, i) =>
    axesOf(reader, mapping(block, holder === null ? yaml.valueAt(top, "axes") : yaml.valueAt(holder, i), "axes")),
  );
  const options = optionsIn(
    reader,
    top["options"] === undefined ? {} : mapping(top["options"], yaml.valueAt(top, "options"), "options"),
  );
  for (const [i, block] of blocks.entries()) refuseIncomplete(reader, block, options, i);
  const keep = top["keep"] ?? "nothing";
  if (keep !== "nothing" && keep !== "schedules")
    throw new InputError(yaml.valueAt(top, "keep"), "schedules or nothing", keep);
  if (keep === "schedules" && verb !== "synth")
    throw new InputError(yaml.valueAt(top, "keep"), `nothing, for \`${verb}\` makes no schedules,`, keep);
  const name = top["sweep"] ?? null;
  if (name !== null && !(typeof name === "string" && /^[\w.-]{1,64}$/.test(name)))
    throw new InputError(yaml.valueAt(top, "sweep"), "a name of letters, digits, dots, - and _", name);
  return {
    name: name as string | null,
    verb,
    blocks,
    options,
    budget: budgetOf(reader, top),
    keep: keep === "schedules",
    prices: pricesOf(reader, top),
    priority:
      top["priority"] === undefined
        ? 0
        : numberIn(top["priority"], yaml.valueAt(top, "priority"), -MOST_PRIORITY, MOST_PRIORITY),
  };
}

function numberIn(value: unknown, place: string, low: number, high: number): number {
  const number = wholeNumber(String(value), place, low);
  if (number > high) throw new InputError(place, `at most ${high}`, value).as("out-of-range");
  return number;
}

function budgetOf({ yaml }: Reader, top: Entries): TaskBudget {
  if (top["budget"] === undefined) return { timeMs: null, memoryBytes: null };
  const budget = mapping(top["budget"], yaml.valueAt(top, "budget"), "a budget");
  refuseUnknown(yaml, budget, ["time", "memory"], "a part of a budget");
  const { time, memory } = budget;
  return {
    timeMs: time === undefined ? null : parseTime(String(time), yaml.valueAt(budget, "time"), "s") / PS_PER_US / 1000,
    memoryBytes: memory === undefined ? null : parseSize(String(memory), yaml.valueAt(budget, "memory")),
  };
}

function pricesOf({ yaml }: Reader, top: Entries): SweepFile["prices"] {
  if (top["prices"] === undefined) return null;
  const prices = mapping(top["prices"], yaml.valueAt(top, "prices"), "prices");
  refuseUnknown(yaml, prices, PRICED, "what has a price");
  for (const [part, price] of Object.entries(prices))
    if (typeof price !== "number" || !(price >= 0) || price > Number.MAX_SAFE_INTEGER)
      throw new InputError(yaml.valueAt(prices, part), "a number, 0 or more", price);
  return prices as Record<string, number>;
}

function optionsIn(reader: Reader, entries: Entries): Readonly<Record<string, string | true>> {
  const options: Record<string, string | true> = {};
  for (const [key, value] of Object.entries(entries)) {
    const { yaml } = reader;
    const name = optionNamed(reader, key, yaml.lineAt(entries, key));
    options[name] = optionText(name, value, yaml.valueAt(entries, key));
  }
  return options;
}

/** Returns the option that a key of the file is: by its name on the command line, or in the table. */
function optionNamed({ verb }: Reader, key: string, place: string): OptionId {
  const known = TASK_OPTIONS[verb];
  const found = known.find((id) => id === key || flagOf(id) === `--${key.replace(/^--/, "")}`);
  if (found !== undefined) return found;
  const names = [...SUBJECTS[verb], "zip", ...known.map((id) => flagOf(id).slice(2))];
  const meant = didYouMean(key, names);
  throw new InputError(place, `an option of \`${verb}\``, key)
    .as("unknown-name")
    .saying(
      `${place}: ${shown(key)} is no option of \`${verb}\`${meant === "" ? `, whose axes are ${names.join(", ")}` : meant}`,
    );
}

/** Returns the text of an option's value, checked as on the command line. */
function optionText(id: OptionId, value: unknown, place: string): string | true {
  const row = ROWS[id];
  if (row.value === undefined) {
    if (value === true) return true;
    throw new InputError(place, `true, for ${flagOf(id)} has no value,`, value);
  }
  if (typeof value !== "string" && typeof value !== "number") throw new InputError(place, "a text or a number", value);
  const text = String(value);
  // a file, which the plan looks for
  if (id !== "collective" || !text.startsWith("custom:")) row.parse?.(text, place);
  return text;
}

function axesOf(reader: Reader, block: Entries): Axis[] {
  const { yaml } = reader;
  const axes = Object.entries(block).flatMap(([key, value]): Axis[] => {
    const place = yaml.lineAt(block, key);
    if (key !== "zip") return [axisOf(reader, key, value, place, yaml.valueAt(block, key))];
    const groups = Array.isArray(value) ? value : [value];
    return groups.map((group) =>
      zipped(reader, mapping(group, yaml.valueAt(block, key), "axes that go together"), place),
    );
  });
  const seen = new Set<string>();
  for (const { names, place } of axes)
    for (const name of names) {
      if (seen.has(name)) throw new InputError(place, `one axis ${name}, not two,`, name);
      seen.add(name);
    }
  // networks change last, failures first: what is known of a network serves all its points
  const rank = ({ names }: Axis): number => (names.includes("topology") ? 0 : names.includes("failures") ? 2 : 1);
  return axes.sort((a, b) => rank(a) - rank(b));
}

function zipped(reader: Reader, group: Entries, place: string): Axis {
  const { yaml } = reader;
  const axes = Object.entries(group).map(([key, value]) =>
    axisOf(reader, key, value, yaml.lineAt(group, key), yaml.valueAt(group, key)),
  );
  const [first] = axes;
  if (first === undefined) throw new InputError(place, "axes that go together");
  const other = axes.find(({ length }) => length !== first.length);
  if (other !== undefined)
    throw new InputError(other.place, `${first.length} values, as ${first.names[0]} has, to be zipped with it`).saying(
      `${other.place}: ${other.names[0]} has ${other.length} values, and ${first.names[0]}, which it is zipped with, has ${first.length}`,
    );
  return {
    names: axes.flatMap(({ names }) => names),
    length: first.length,
    place,
    at: (index) => axes.flatMap((axis) => axis.at(index)),
  };
}

function axisOf(reader: Reader, key: string, value: unknown, place: string, valuePlace: string): Axis {
  const isSubject = SUBJECTS[reader.verb].includes(key);
  const name = isSubject ? key : optionNamed(reader, key, place);
  if (!isSubject && isMapping(value)) return rangeOf(reader, name as OptionId, value, place);
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0) throw new InputError(place, `values of ${key}`, inWords("none"));
  const placeOfItem = (i: number): string => (Array.isArray(value) ? reader.yaml.valueAt(value, i) : valuePlace);
  const values = list.map((item, i): AxisValue => {
    const at = placeOfItem(i);
    if (name === "failures") return { value: failureSpec(reader, item, at), place: at };
    if (!isSubject) return { value: optionText(name as OptionId, item, at), place: at };
    if (typeof item !== "string") throw new InputError(at, `the text of a ${name}`, item);
    return { value: item, place: at };
  });
  return { names: [name], length: values.length, place, at: (index) => [values[index] as AxisValue] };
}

/** Returns an axis of numbers that are not listed: {from, to, step} or {from, to, times}. */
function rangeOf({ yaml }: Reader, id: OptionId, range: Entries, place: string): Axis {
  refuseUnknown(yaml, range, ["from", "to", "step", "times"], "a part of a range");
  const numberOf = (key: "from" | "to"): number => {
    const at = yaml.valueAt(range, key);
    if (range[key] === undefined) throw new InputError(place, `${key}: a number`, inWords("none"));
    const text = String(range[key]);
    const value = id === "size" ? parseSize(text, at) : wholeNumber(text, at, 0);
    optionText(id, text, at);
    return value;
  };
  const [from, to] = [numberOf("from"), numberOf("to")];
  if (to < from) throw new InputError(yaml.valueAt(range, "to"), `${String(range["from"])} or more`, range["to"]);
  const textAt = (value: number): string => {
    const short = id === "size" ? formatSize(value).replace(" ", "") : String(value);
    return id === "size" && parseSize(short) !== value ? String(value) : short;
  };
  const made = (length: number, numberAt: (index: number) => number): Axis => ({
    names: [id],
    length,
    place,
    at: (index) => [{ value: textAt(numberAt(index)), place }],
  });
  if (range["times"] === undefined) {
    const step = range["step"] === undefined ? 1 : numberIn(range["step"], yaml.valueAt(range, "step"), 1, 2 ** 52);
    return made(Math.floor((to - from) / step) + 1, (index) => from + index * step);
  }
  const times = numberIn(range["times"], yaml.valueAt(range, "times"), 2, 2 ** 52);
  if (from === 0) throw new InputError(yaml.valueAt(range, "from"), "1 or more, beside times,", from);
  const values: number[] = [];
  for (let value = from; value <= to; value *= times) values.push(value);
  return made(values.length, (index) => values[index] as number);
}

function failureSpec({ yaml }: Reader, value: unknown, place: string): FailureSpec {
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value);
    return { kind: "names", names: text === "none" ? [] : text.split("+").map((name) => name.trim()) };
  }
  const spec = mapping(
    value,
    place,
    "none, names joined by +, {each: links}, {every: 2, of: nics} or {random: 3, of: switches, times: 200}",
  );
  const poolAt = (key: string): Pool => {
    const word = String(spec[key]);
    const at = spec[key] === undefined ? place : yaml.valueAt(spec, key);
    if (!POOLS.includes(word as Pool)) throw unknownName(at, word, POOLS);
    return word as Pool;
  };
  if (spec["each"] !== undefined) {
    refuseUnknown(yaml, spec, ["each"], "a part of such failures");
    return { kind: "every", size: 1, of: poolAt("each") };
  }
  const isRandom = spec["random"] !== undefined;
  const counted = isRandom ? "random" : "every";
  refuseUnknown(yaml, spec, isRandom ? ["random", "of", "times", "seed"] : ["every", "of"], "a part of such failures");
  if (spec[counted] === undefined) throw new InputError(place, "each, every or random", inWords("none of them"));
  const size = numberIn(spec[counted], yaml.valueAt(spec, counted), 1, 64);
  const of = poolAt("of");
  if (!isRandom) return { kind: "every", size, of };
  return {
    kind: "random",
    ...{ size, of },
    times: spec["times"] === undefined ? 1 : numberIn(spec["times"], yaml.valueAt(spec, "times"), 1, 1e9),
    seed: spec["seed"] === undefined ? 1 : numberIn(spec["seed"], yaml.valueAt(spec, "seed"), 0, 2 ** 32 - 1),
  };
}

/** Throws InputError where points of a block lack what their verb needs, or say it twice. */
function refuseIncomplete(
  { file, verb }: Reader,
  block: readonly Axis[],
  options: SweepFile["options"],
  at: number,
): void {
  const names = block.flatMap((axis) => axis.names);
  const needed = { synth: ["topology", "collective"], bound: ["topology", "collective"] };
  const own = { ...needed, search: ["nodes", "degree"], train: ["model", "topology", "batch"] }[verb];
  const where = at === 0 ? file : `${file}, block ${at + 1} of its axes`;
  for (const name of own)
    if (!names.includes(name) && options[name] === undefined)
      throw new InputError(where, `an axis ${name}, as every task of \`${verb}\` needs one`).saying(
        `${where} has no axis ${name}, which every task of \`${verb}\` needs`,
      );
  for (const { names: own, place } of block)
    for (const name of own)
      if (options[name] !== undefined)
        throw new InputError(place, `${name} as an axis or as an option, not both,`, inWords("both"));
}
