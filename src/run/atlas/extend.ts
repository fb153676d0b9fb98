import { InfeasibleError, InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import {
  ATLAS_SCHEMA,
  type AtlasClass,
  type AtlasCollective,
  type AtlasIndex,
  type AtlasSchedule,
  failureKey,
  NETWORK_FILE,
  type OptionTexts,
} from "../../model/atlas/atlas-index.ts";
import type { Cell, Outcome, SweepTask } from "../../model/sweep/task.ts";
import { without } from "../../model/topology/modify.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { namedRequest } from "../../request/from-texts.ts";
import { problemOf } from "../../request/problem.ts";
import { AUTO } from "../../synthesize/catalog.ts";
import { classedWith, type Failures } from "./classes.ts";

/** What is to be in an atlas, beside what it has. */
export interface AtlasRequest {
  readonly collectives: readonly string[];
  readonly failures: Failures;
  /** What has failed before each of them; empty: nothing. */
  readonly on: readonly string[];
}

/** What came of a task. */
export type TaskOutcome = Pick<Outcome, "status" | "why" | "rows" | "schedule">;

/** What an atlas is made with. */
export interface AtlasWorld {
  /** SHA-256 of the network's file, which tasks take as an input. */
  readonly networkSha256: string;
  /** Does tasks, in any order; `ended` hears of each, by its place in the list. Rejects with CancelledError. */
  perform(tasks: readonly SweepTask[], ended: (at: number, outcome: TaskOutcome) => void): Promise<void>;
  /** Returns the name of a schedule's file in the folder. */
  fileOf(sha256: string): string;
  /** Returns the schedule of a class's failure moved to another one of the class, which is kept too. */
  moved(index: AtlasIndex, kind: string, one: AtlasClass, failed: readonly string[]): Promise<AtlasSchedule>;
  /** Keeps the index as it is now; called after every task. */
  save(index: AtlasIndex): void;
  progress(progress: { readonly what: string; readonly done: number; readonly total: number }): void;
}

/** A collective that is being extended. */
interface Draft {
  healthy: AtlasSchedule;
  readonly classes: AtlasClass[];
  readonly failures: Record<string, number>;
  readonly further: Record<string, Record<string, number>>;
}

const draftOf = ({ healthy, classes, failures, further }: AtlasCollective): Draft => ({
  healthy,
  classes: [...classes],
  failures: { ...failures },
  further: Object.fromEntries(Object.entries(further).map(([key, table]) => [key, { ...table }])),
});

const numberIn = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);
const textIn = (cell: Cell | undefined): string => (typeof cell === "string" ? cell : "");

/** Returns the schedule that a task made; null where it made none. */
function scheduleOf({ rows: [row], schedule }: TaskOutcome, fileOf: AtlasWorld["fileOf"]): AtlasSchedule | null {
  if (row === undefined || schedule === null) return null;
  return {
    us: numberIn(row["us"]),
    algbwGBps: numberIn(row["algbw_GBps"]),
    throughputGBps: numberIn(row["throughput_GBps"]),
    limitUs: numberIn(row["limit_us"]) ?? 0,
    ofLimit: numberIn(row["of_limit"]),
    because: textIn(row["because"]),
    algorithm: textIn(row["made_by"]),
    file: fileOf(schedule.sha256),
    sha256: schedule.sha256,
    bytes: schedule.bytes,
  };
}

const over = (now: number | null, was: number | null): number | null =>
  now === null || was === null || was === 0 ? null : now / was;

/** Returns a class of which nothing is known yet. */
const openClass = (failed: readonly string[], on: readonly string[]): AtlasClass => ({
  failed: [...on, ...failed].sort(),
  on,
  status: "open",
  why: null,
  schedule: null,
  slower: null,
  limitRose: null,
  kept: null,
  keptNote: null,
});

/** Returns a class with what came of its task. */
function filled(
  one: AtlasClass,
  outcome: TaskOutcome,
  healthy: AtlasSchedule,
  fileOf: AtlasWorld["fileOf"],
): AtlasClass {
  const { status, why } = outcome;
  if (status === "infeasible") return { ...one, status: "impossible", why };
  if (status === "refused") return { ...one, status, why };
  const schedule = status === "done" ? scheduleOf(outcome, fileOf) : null;
  if (schedule === null) return { ...one, status: "open", why };
  const row = outcome.rows[0] ?? {};
  const [kept, of, what] = [numberIn(row["kept"]), numberIn(row["kept_of"]), row["kept_what"]];
  const isKept = kept !== null && of !== null && (what === "trees" || what === "transfers");
  return {
    ...one,
    status: "done",
    why: null,
    schedule,
    slower: over(schedule.us, healthy.us),
    limitRose: over(schedule.limitUs, healthy.limitUs),
    kept: isKept ? { what, kept, of } : null,
    keptNote: isKept ? null : `made anew by ${schedule.algorithm}`,
  };
}

const BEFORE = "before.json";

/** Makes the tasks of one atlas. */
function tasksOf({ making }: Pick<AtlasIndex, "making">, networkSha256: string) {
  const whole = (kind: string): SweepTask => ({
    verb: "synth",
    topology: NETWORK_FILE,
    options: { ...making, collective: kind },
    inputs: { [NETWORK_FILE]: networkSha256 },
    keep: true,
  });
  return {
    whole,
    /** For what a failure leaves, beside the schedule of before: of trees those that it did not hit are kept. */
    part(kind: string, failed: readonly string[], before: AtlasSchedule): SweepTask {
      const { options, inputs, ...task } = whole(kind);
      const { algorithm, timeLimit, ...others } = options;
      const isOfTrees = before.throughputGBps !== null;
      const maker: OptionTexts =
        algorithm === AUTO && isOfTrees
          ? { algorithm: before.algorithm }
          : { ...(algorithm !== undefined && { algorithm }), ...(timeLimit !== undefined && { timeLimit }) };
      return {
        ...task,
        options: { ...others, ...maker, without: failed.join(","), repair: BEFORE },
        inputs: { ...inputs, [BEFORE]: before.sha256 },
      };
    },
  };
}

/** Throws the error of a task without a failure, on which all others stand. */
function demand(outcome: TaskOutcome, kind: string): never {
  const why = outcome.why ?? `no schedule was made for ${kind}`;
  throw outcome.status === "infeasible"
    ? new InfeasibleError(why)
    : new InputError(optionName("collective"), "a collective that can be made without a failure", kind).saying(why);
}

/**
 * Returns an atlas with what was asked for: schedules without a failure first, then for each class of failures that it has none for
 * yet. What it has stays. Throws InputError, InfeasibleError, CancelledError.
 */
export async function extendAtlas(
  before: AtlasIndex,
  topology: Topology,
  { collectives, failures, on }: AtlasRequest,
  world: AtlasWorld,
): Promise<AtlasIndex> {
  const drafts = new Map(Object.entries(before.collectives).map(([kind, one]) => [kind, draftOf(one)]));
  const index = (): AtlasIndex => ({ ...before, collectives: Object.fromEntries(drafts) });
  const make = tasksOf(before, world.networkSha256);
  const collectiveOn = (kind: string, part: Topology) => problemOf(part, namedRequest(kind, before.making)).collective;

  const healthy = collectives.filter((kind) => !drafts.has(kind));
  world.progress({ what: "synthesizing without a failure", done: 0, total: healthy.length });
  await world.perform(healthy.map(make.whole), (at, outcome) => {
    const kind = healthy[at] as string;
    const made = outcome.status === "done" ? scheduleOf(outcome, world.fileOf) : null;
    drafts.set(kind, { healthy: made ?? demand(outcome, kind), classes: [], failures: {}, further: {} });
    world.save(index());
  });

  const unhurt = new Map(collectives.map((kind) => [kind, (drafts.get(kind) as Draft).healthy]));
  if (on.length === 0) await fill(classify(on, failures), unhurt);
  else {
    await fill(classify([], [on]), unhurt);
    await fill(classify(on, failures), await statesOf());
  }
  return index();

  /** Gives failures their classes; returns those that have no schedule yet. */
  function classify(first: readonly string[], wanted: Failures): { kind: string; at: number }[] {
    const open: { kind: string; at: number }[] = [];
    const part = first.length === 0 ? topology : without(topology, first);
    for (const kind of collectives) {
      const draft = drafts.get(kind) as Draft;
      const table = first.length === 0 ? draft.failures : tableOf(draft, first);
      const fresh = wanted.filter((names) => table[failureKey(names)] === undefined);
      // those that come after the same failure
      const known = [...draft.classes.keys()].filter(
        (at) => failureKey(draft.classes[at]?.on ?? []) === failureKey(first),
      );
      const later = (at: number): string[] => (draft.classes[at]?.failed ?? []).filter((name) => !first.includes(name));
      const { classOf, firsts } = classedWith(part, collectiveOn(kind, part), known.map(later), fresh);
      const places = [...known, ...firsts.map((failed) => draft.classes.push(openClass(failed, [...first])) - 1)];
      for (const [i, names] of fresh.entries()) table[failureKey(names)] = places[classOf[i] as number] as number;
      const wantedHere = new Set(wanted.map((names) => table[failureKey(names)]));
      for (const at of places) if (wantedHere.has(at) && draft.classes[at]?.status === "open") open.push({ kind, at });
    }
    world.save(index());
    return open;
  }

  function tableOf(draft: Draft, first: readonly string[]): Record<string, number> {
    const key = failureKey(first);
    draft.further[key] ??= {};
    return draft.further[key];
  }

  /** Returns the schedule of each collective after the first failure. */
  async function statesOf(): Promise<ReadonlyMap<string, AtlasSchedule>> {
    const found = new Map<string, AtlasSchedule>();
    for (const kind of collectives) {
      const { classes, failures: table } = drafts.get(kind) as Draft;
      const one = classes[table[failureKey(on)] as number] as AtlasClass;
      if (one.schedule === null)
        throw new InfeasibleError(`nothing can follow ${on.join(",")}: ${one.why ?? "it has no schedule yet"}`);
      const isFirst = failureKey(one.failed) === failureKey(on);
      found.set(kind, isFirst ? one.schedule : await world.moved(index(), kind, one, on));
    }
    return found;
  }

  /** Makes schedules for classes that have none, each of what it was before. */
  async function fill(
    open: readonly { kind: string; at: number }[],
    was: ReadonlyMap<string, AtlasSchedule>,
  ): Promise<void> {
    const what = "synthesizing for what failures leave";
    world.progress({ what, done: 0, total: open.length });
    const classAt = ({ kind, at }: { kind: string; at: number }): AtlasClass =>
      drafts.get(kind)?.classes[at] as AtlasClass;
    const tasks = open.map((one) => make.part(one.kind, classAt(one).failed, was.get(one.kind) as AtlasSchedule));
    let done = 0;
    await world.perform(tasks, (i, outcome) => {
      const one = open[i] as { kind: string; at: number };
      const draft = drafts.get(one.kind) as Draft;
      draft.classes[one.at] = filled(classAt(one), outcome, draft.healthy, world.fileOf);
      done++;
      world.save(index());
      world.progress({ what, done, total: open.length });
    });
  }
}

/** Returns an atlas of a network that has nothing yet. */
export const emptyAtlas = (version: string, network: AtlasIndex["network"], making: OptionTexts): AtlasIndex => ({
  schema: ATLAS_SCHEMA,
  version,
  network,
  making,
  collectives: {},
});
