import { InputError } from "../../base/errors.ts";
import { readTopology } from "../../import/networks/network-formats.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import { contentHash, type Row, type SweepTask } from "../../model/sweep/task.ts";
import { failureClasses } from "../../model/symmetry/failure-classes.ts";
import { everyOf, type FailureSets, listOf, poolOf, randomOf } from "../../model/topology/failure-sets.ts";
import { resolver } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { namedRequest } from "../from-texts.ts";
import { changedFrom, topologyOptions } from "../network-from-texts.ts";
import { NETWORK_OPTIONS, type Options } from "../option-table.ts";
import { problemOf } from "../problem.ts";
import type { Axis, AxisValue, FailureSpec, SweepFile } from "./sweep-file.ts";

/** More tasks than these are a mistake. */
export const MOST_TASKS = 1e7;
/** Of more failures than these none are looked at for being alike. */
const MOST_CLASSED = 2e5;
/** Names of failures that a row lists beside the one it is of. */
const MOST_NAMED = 8;
const CUSTOM = "custom:";
/** Options whose values may be files. */
const OF_FILES: readonly string[] = ["topology", "model", "sketch", "collective"];

/** Axes that say what a network is. */
const SHAPING: readonly string[] = ["topology", ...NETWORK_OPTIONS];

/** A file that a sweep names. */
export interface SweepInput {
  readonly text: string;
  readonly sha256: string;
}

/** Returns the file of a name; null where there is none, and the name is a preset's or a model's. Throws InputError. */
export type Inputs = (name: string) => SweepInput | null;

/** One point of a sweep: its task, and its cells in the table of results. */
export interface Point {
  readonly task: SweepTask;
  readonly cells: Row;
}

/** What a sweep comes to. */
export interface SweepPlan {
  readonly file: SweepFile;
  /** Names of its axes, in the order of the cells. */
  readonly axes: readonly string[];
  /** Points before those that a symmetry makes equal are put together. */
  readonly points: number;
  /** Files that its tasks name. */
  readonly files: readonly SweepInput[];
  /** Yields the points, in the file's order with networks first; of failures that are alike one, with their count. */
  tasks(): Generator<Point>;
}

type Values = Readonly<Record<string, AxisValue>>;

/** Networks by their texts and what options say of how they are read; the last one is kept. */
function networks(inputs: Inputs): (value: AxisValue, options: Options) => Topology {
  let last: { readonly key: string; readonly topology: Topology } | undefined;
  return ({ value, place }, options) => {
    const name = value as string;
    const open = topologyOptions(options);
    const key = JSON.stringify([name, open]);
    if (last?.key === key) return last.topology;
    const topology = placed(place, () => {
      const file = inputs(name);
      return file === null ? presetTopology(name) : readTopology(file.text, name, open);
    });
    last = { key, topology };
    return topology;
  };
}

/** Returns what `made` returns; of what it refuses it is said where the file says it. */
function placed<T>(place: string, made: () => T): T {
  try {
    return made();
  } catch (error) {
    if (error instanceof InputError && !error.message.startsWith(place))
      throw error.saying(`${place}: ${error.message}`);
    throw error;
  }
}

/** Returns the failures that a value of the axis means on a network. Throws InputError. */
function failuresOf(topology: Topology, { value, place }: AxisValue): FailureSets {
  const spec = value as FailureSpec;
  if (spec.kind === "every") return everyOf(poolOf(topology, spec.of, place), spec.size, place);
  if (spec.kind === "random") return randomOf(poolOf(topology, spec.of, place), spec.size, { ...spec, place });
  placed(place, () => spec.names.map(resolver(topology, place)));
  return listOf([spec.names]);
}

/** A failure, those that are as it is included. */
interface FailureRow {
  readonly names: readonly string[];
  readonly count: number;
  readonly alike: readonly string[];
}

const nameOf = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join("+"));

/** Returns the failures of some sets, of those that a map of the network takes to each other the first, with their count. */
function unlike(topology: Topology, sets: readonly FailureSets[], options: Options): readonly FailureRow[] {
  const failures = sets.flatMap(({ count, at }) => Array.from({ length: count }, (_, i) => at(i)));
  const single = (names: readonly string[]): FailureRow => ({ names, count: 1, alike: [] });
  const collective = failures.length > MOST_CLASSED ? null : collectiveOf(topology, options);
  if (collective === null) return failures.map(single);
  const targetOf = resolver(topology, "failures");
  const { classOf, firstOf } = failureClasses(
    topology,
    collective,
    failures.map((names) => names.map(targetOf)),
  );
  const counts = new Int32Array(firstOf.length);
  const alike: string[][] = Array.from(firstOf, () => []);
  for (const [i, of] of classOf.entries()) {
    counts[of]++;
    const others = alike[of] as string[];
    const name = nameOf(failures[i] as readonly string[]);
    if (firstOf[of] !== i && others.length < MOST_NAMED && !others.includes(name)) others.push(name);
  }
  return Array.from(firstOf, (first, of) => ({
    names: failures[first] as readonly string[],
    count: counts[of] as number,
    alike: alike[of] as string[],
  }));
}

/** Returns the collective that options ask for on a network; null where it is one of a file, or cannot be had there. */
function collectiveOf(topology: Topology, options: Options) {
  const name = options["collective"];
  if (typeof name !== "string" || name.startsWith(CUSTOM)) return null;
  try {
    return problemOf(topology, namedRequest(name, options)).collective;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** Returns what axes say in a point: texts, and true for options without a value. */
function optionsOf(file: SweepFile, values: Values): Readonly<Record<string, string | true>> {
  const own = Object.entries(values).filter(([name]) => !["topology", "model", "failures"].includes(name));
  return { ...file.options, ...Object.fromEntries(own.map(([name, { value }]) => [name, value as string | true])) };
}

/** Yields the values of all points of a product of axes; the last axis changes first. */
function* product(axes: readonly Axis[], at = 0, chosen: Values = {}): Generator<Values> {
  const axis = axes[at];
  if (axis === undefined) {
    yield chosen;
    return;
  }
  for (let i = 0; i < axis.length; i++) {
    const own = Object.fromEntries(axis.at(i).map((value, k) => [axis.names[k] as string, value]));
    yield* product(axes, at + 1, { ...chosen, ...own });
  }
}

/** Returns the failures' axis of a block, all of its values at once, and the others. Throws InputError where it is zipped. */
function parted(block: readonly Axis[]): {
  readonly axes: readonly Axis[];
  readonly failures: readonly AxisValue[] | null;
} {
  const own = block.find(({ names }) => names.includes("failures"));
  if (own === undefined) return { axes: block, failures: null };
  if (own.names.length > 1)
    throw new InputError(own.place, "failures as an axis of their own, for each is several points").saying(
      `${own.place}: failures cannot be zipped, for one of their values is many points`,
    );
  const failures = Array.from({ length: own.length }, (_, i) => own.at(i)[0] as AxisValue);
  return { axes: block.filter((axis) => axis !== own), failures };
}

/**
 * Returns the plan of a sweep: its networks are read, its failures found, its points counted; nothing is done yet. Throws InputError with
 * file, line and column for what cannot be meant, and for more than 10 million points with the axis that makes them.
 */
export function planSweep(file: SweepFile, fileName: string, inputs: Inputs): SweepPlan {
  const networkOf = networks(inputs);
  const blocks = file.blocks.map(parted);
  let points = 0;
  for (const [b, { axes, failures }] of blocks.entries()) {
    const lengths = axes.reduce((sum, { length }) => sum * length, 1);
    refuseMany(fileName, file.blocks[b] as readonly Axis[], points + lengths);
    const shaping = axes.filter(({ names }) => names.some((name) => SHAPING.includes(name)));
    const hasNetworks = shaping.some(({ names }) => names.includes("topology"));
    const others = shaping.reduce((rest, { length }) => rest / length, lengths);
    let sets = failures === null ? lengths : 0;
    for (const values of hasNetworks ? product(shaping) : []) {
      const options = optionsOf(file, values);
      const network = values["topology"] as AxisValue;
      const whole = networkOf(network, options);
      const topology = placed(network.place, () => changedFrom(whole, options));
      if (failures === null) continue;
      const each = failures.reduce((sum, value) => sum + failuresOf(topology, value).count, 0);
      refuseMany(fileName, file.blocks[b] as readonly Axis[], points + sets + each * others, each);
      sets += each * others;
    }
    points += sets;
    refuseMany(fileName, file.blocks[b] as readonly Axis[], points);
  }
  const names = new Set(file.blocks.flatMap((block) => block.flatMap((axis) => axis.names)));
  return {
    file,
    axes: [...names],
    points,
    files: filesOf(file, fileName, inputs),
    *tasks() {
      for (const { axes, failures } of blocks) {
        const classes = new Map<string, readonly FailureRow[]>();
        for (const values of product(axes)) {
          const options = optionsOf(file, values);
          if (failures === null) {
            yield pointOf(file, values, options, null, inputs);
            continue;
          }
          const whole = networkOf(values["topology"] as AxisValue, options);
          const { collective, root, group, outsiders, without, degrade } = options;
          const key = JSON.stringify([
            values["topology"]?.value,
            { collective, root, group, outsiders, without, degrade },
          ]);
          if (!classes.has(key)) {
            if (classes.size > 16) classes.clear();
            const topology = changedFrom(whole, options);
            const sets = failures.map((value) => failuresOf(topology, value));
            classes.set(key, unlike(topology, sets, options));
          }
          for (const failure of classes.get(key) as readonly FailureRow[])
            yield pointOf(file, values, options, failure, inputs);
        }
      }
    },
  };
}

/** Returns the files that a sweep names, each once. Throws InputError for one that is not there where only a file will do. */
function filesOf(file: SweepFile, fileName: string, inputs: Inputs): SweepInput[] {
  const files = new Map<string, SweepInput>();
  const add = (name: string, { value, place }: AxisValue): void => {
    const text = fileIn(name, value);
    if (text === null) return;
    const input = placed(place, () => inputs(text));
    if (input !== null) files.set(input.sha256, input);
    else if (!["topology", "model"].includes(name)) throw new InputError(place, "a file that exists", text);
  };
  for (const [name, value] of Object.entries(file.options)) add(name, { value, place: fileName });
  for (const axis of file.blocks.flat())
    for (const [k, name] of axis.names.entries())
      for (let i = 0; OF_FILES.includes(name) && i < axis.length; i++) add(name, axis.at(i)[k] as AxisValue);
  return [...files.values()];
}

/** Returns the file that the value of an axis or option may be; null where it is none. */
function fileIn(name: string, value: AxisValue["value"]): string | null {
  if (!OF_FILES.includes(name) || typeof value !== "string") return null;
  if (name !== "collective") return value;
  return value.startsWith(CUSTOM) ? value.slice(CUSTOM.length) : null;
}

function refuseMany(fileName: string, block: readonly Axis[], points: number, failures = 1): void {
  if (points <= MOST_TASKS) return;
  const about = Number.isSafeInteger(points) && points < 1e9 ? String(points) : points.toExponential(1);
  const largest = [...block].sort((a, b) => lengthOf(b) - lengthOf(a))[0] as Axis;
  const many = lengthOf(largest) >= 1e9 ? lengthOf(largest).toExponential(1) : String(lengthOf(largest));
  throw new InputError(fileName, `a sweep of at most ${MOST_TASKS} tasks`, points)
    .as("out-of-range")
    .saying(
      `${fileName} is a sweep of ${about} tasks, and at most ${MOST_TASKS} are done; the axis ${largest.names.join(", ")} (${largest.place}) makes ${many} of them`,
    );
  function lengthOf({ names, length }: Axis): number {
    return names.includes("failures") ? failures : length;
  }
}

function pointOf(
  { verb, keep, prices }: SweepFile,
  values: Values,
  options: Readonly<Record<string, string | true>>,
  failure: FailureRow | null,
  inputs: Inputs,
): Point {
  const cells: Record<string, Row[string]> = {};
  for (const [name, { value }] of Object.entries(values)) if (typeof value !== "object") cells[name] = value;
  if (failure !== null) {
    cells["failures"] = nameOf(failure.names);
    cells["count"] = failure.count;
    cells["alike"] = failure.alike.join(" ");
  }
  const gone = [options["without"], ...(failure?.names ?? [])].filter((name) => name !== undefined);
  const textOf = (name: string): string => String(values[name]?.value ?? options[name] ?? "");
  const named: Record<string, string> = {};
  for (const name of OF_FILES) {
    const text = fileIn(name, textOf(name));
    const input = text === null || text === "" ? null : inputs(text);
    if (input !== null) named[text as string] = input.sha256;
  }
  const { topology: _, model: __, ...own } = options;
  const task: SweepTask = {
    verb,
    topology: textOf("topology"),
    ...(verb === "train" && { model: textOf("model") }),
    options: { ...own, ...(gone.length > 0 && { without: gone.join(",") }) },
    inputs: named,
    ...(prices !== null && { prices }),
    keep,
  };
  return { task, cells };
}

/** Returns the content of a file as an input. */
export const inputOf = (text: string): SweepInput => ({ text, sha256: contentHash(text) });
