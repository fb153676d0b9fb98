import { InfeasibleError, InputError, inWords } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Engine } from "../engine/types.ts";
import { isPeriodSchedule } from "../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import { linksOfRoute } from "../model/routes/routes.ts";
import { isSlotSchedule } from "../model/slots/slot-schedule.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { failureClasses } from "../model/symmetry/failure-classes.ts";
import { everyOf, type FailureSets, listOf, POOLS, poolOf } from "../model/topology/failure-sets.ts";
import { isBox, resolver, type Target, without } from "../model/topology/modify.ts";
import { linkNames, type Topology } from "../model/topology/topology.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import {
  type BoundReport,
  boundReport,
  type FailureRanking,
  type FailureRow,
  type FailureStory,
  type Report,
  type Standing,
} from "../report/result.ts";
import type { CollectiveOptions } from "../request/problem.ts";
import { problemOf } from "../request/problem.ts";
import { limitWithFlow } from "./all-to-all.ts";
import { reportOfFile } from "./report-file.ts";

/** More transfers than these are not compared one by one. */
const MOST_COMPARED = 4e6;
/** More unlike failures than these take too long. */
const MOST_FAILURES = 4096;
/** More failures than these are for nobody to read. */
const MOST_NAMED = 100_000;
/** Limits that differ by less are equal. */
const ROUNDING = 1e-9;

const standingOf = ({ time, limit, ofLimit, throughput }: Omit<Report, "synthesis">): Standing => ({
  us: ofLimit === null ? null : time.us,
  algbwGBps: ofLimit === null ? null : time.algbwGBps,
  limit,
  ofLimit,
  throughputGBps: throughput?.algbwGBps ?? null,
});

const over = (now: number | null, was: number | null): number | null =>
  now === null || was === null || was === 0 ? null : now / was;

/**
 * Returns what a failure did: an old schedule on the network that it was made for, judged, simulated and bounded again, beside
 * the new one and its report. O(transfers).
 */
export function failureStory(engine: Engine, old: AnySchedule, schedule: AnySchedule, report: Report): FailureStory {
  const was = standingOf(reportOfFile(old, engine.kernels));
  const now = standingOf(report);
  const lost = lostOf(old.topology, schedule.topology);
  const limitRose = over(now.limit.us, was.limit.us);
  return {
    lost,
    was,
    now,
    slower: over(now.us, was.us),
    limitRose,
    ...keptOf(old, schedule, report),
    blame: blameOf(now, limitRose),
  };
}

function blameOf(now: Standing, limitRose: number | null): string {
  if (limitRose === null || limitRose <= 1 + ROUNDING)
    return `none: no algorithm needs longer than before (${now.limit.because})`;
  return now.limit.because;
}

/** Returns the nodes, and the links between others, that a network has lost. */
function lostOf(before: Topology, after: Topology): string[] {
  const nodes = new Set(after.nodeNames);
  const links = new Set(linkNames(after));
  const gone = before.nodeNames.filter((name) => !nodes.has(name));
  const { linkSource, linkTarget, nodeNames } = before;
  const apart = linkNames(before).filter((name, link) => {
    const [from, to] = [nodeNames[linkSource[link] as number], nodeNames[linkTarget[link] as number]];
    return nodes.has(from as string) && nodes.has(to as string) && !links.has(name);
  });
  const both = (name: string): string => name.replace(/^(.+)>([^#]+)(.*)$/, "$2>$1$3");
  const at = new Map(apart.map((name, i) => [name, i]));
  return [
    ...gone,
    // both ways of a cable as one
    ...apart.flatMap((name, i) => {
      const other = at.get(both(name));
      if (other === undefined) return [name];
      return other < i ? [] : [name.replace(">", "-")];
    }),
  ];
}

/** Throws InputError where neither of two networks is what the other one is without a failure. */
export function refuseOther(file: string, before: Topology, after: Topology): void {
  if (lostOf(before, after).length === 0 || lostOf(after, before).length === 0) return;
  throw new InputError(
    optionName("repair"),
    `a schedule for ${after.name} before the failure`,
    inWords(`${file}, which is for ${before.name}`),
  ).saying(
    `${optionName("repair")} is ${file}, a schedule for ${before.name}, which ${after.name} is no part of; name ${before.name} as the network, and what failed by ${optionName("without")} or ${optionName("degrade")}`,
  );
}

/** Returns how much of an old schedule is in a new one. */
function keptOf(
  old: AnySchedule,
  schedule: AnySchedule,
  { repaired, algorithm }: Report,
): Pick<FailureStory, "kept" | "keptNote"> {
  if (repaired !== undefined)
    return { kept: { what: "trees", kept: repaired.kept, of: repaired.kept + repaired.changed }, keptNote: null };
  const none = (keptNote: string) => ({ kept: null, keptNote });
  const madeAnew = `made anew by ${algorithm}, as all but trees are`;
  if (isTreeFlow(old))
    return none(`no tree: all were made anew${isTreeFlow(schedule) ? ", for the reason in the notes" : ""}`);
  if (isPhaseSchedule(old) || isPhaseSchedule(schedule) || isTreeFlow(schedule)) return none(madeAnew);
  if (isPeriodSchedule(old) || isPeriodSchedule(schedule)) return none(`${madeAnew}; periods are not compared`);
  if (isSlotSchedule(old) || isSlotSchedule(schedule)) return none(`${madeAnew}; arrival logs are not compared`);
  if (membersOf(old) !== membersOf(schedule) || old.collective.chunksPerNpu !== schedule.collective.chunksPerNpu)
    return none(`${madeAnew}; its chunks differ from before`);
  const of = old.chunk.length;
  if (of > MOST_COMPARED || schedule.chunk.length > MOST_COMPARED) return none(madeAnew);
  const counts = new Map<string, number>();
  for (const key of transferNames(old)) counts.set(key, (counts.get(key) ?? 0) + 1);
  let kept = 0;
  for (const key of transferNames(schedule)) {
    const left = counts.get(key) ?? 0;
    if (left > 0) kept++;
    if (left > 0) counts.set(key, left - 1);
  }
  return { kept: { what: "transfers", kept, of }, keptNote: madeAnew };
}

const membersOf = ({ topology, collective }: AnySchedule): string =>
  Array.from(collective.groupMembers, (npu) => topology.nodeNames[npu]).join("\n");

/** Yields what tells transfers apart, by the names of links: times aside. */
function* transferNames({ topology, routes, chunk, route }: StepSchedule): Generator<string> {
  const names = linkNames(topology);
  const ways = Array.from(routes.source, (_, at) => Array.from(linksOfRoute(routes, at), (link) => names[link]).join());
  for (let t = 0; t < chunk.length; t++) yield `${chunk[t]} ${ways[route[t] as number]}`;
}

/** What fails together, and what that is called. */
export interface NamedFailure {
  readonly name: string;
  readonly together: readonly string[];
}

/** How many of a pool fail together. */
const TOGETHER: Readonly<Record<string, number>> = { each: 1, pairs: 2, triples: 3 };

/** What else failures are called. */
const EACH_MEANT: Readonly<Record<string, string>> = {
  all: "links,switches,npus",
  nodes: "npus",
  gpus: "npus",
  link: "links",
  cable: "links",
  cables: "links",
  nic: "nics",
  npu: "npus",
  switch: "switches",
  box: "boxes",
  pairs: "pairs:links",
  triples: "triples:links",
};

/**
 * Returns the failures that a list says, none twice: names, "links", "nics", "switches", "npus" and "boxes" for each one of them,
 * "pairs:nics" and "triples:nics" for all that can fail together. Throws InputError.
 */
export function failuresNamed(topology: Topology, list: readonly string[]): NamedFailure[] {
  const sets = list.map((name) => failuresOf(topology, name));
  const count = sets.reduce((sum, one) => sum + one.count, 0);
  if (count > MOST_NAMED)
    throw new InputError(optionName("withoutEach"), `at most ${MOST_NAMED} failures`, count).as("out-of-range");
  const found = new Map<string, NamedFailure>();
  for (const one of sets) {
    for (let i = 0; i < one.count; i++) {
      const together = one.at(i);
      const name = together.join("+");
      if (!found.has(name)) found.set(name, { name, together });
    }
  }
  return [...found.values()];
}

function failuresOf(topology: Topology, name: string): FailureSets {
  const { nodeNames } = topology;
  const place = optionName("withoutEach");
  if (nodeNames.includes(name)) return listOf([[name]]);
  if (name.includes(";"))
    throw new InputError(place, "failures joined by commas, what fails together by +", name).saying(
      `${place} is ${JSON.stringify(name)}; failures are joined by commas, and what fails together by +: ${name.replaceAll(";", ",")} or ${name.replaceAll(";", "+")}`,
    );
  const [, some = "each", pool = ""] = /^(?:(pairs|triples):)?(\w+)$/.exec(name) ?? [];
  const known = POOLS.find((one) => one === pool);
  if (known !== undefined && !isBox(topology, name)) {
    const names = poolOf(topology, known, place);
    return some === "each" ? listOf(names.map((one) => [one])) : everyOf(names, TOGETHER[some] as number, place);
  }
  if (name.includes("+")) return listOf([name.split("+")]);
  if (/[->]/.test(name) || isBox(topology, name)) return listOf([[name]]);
  const right = `an NPU, switch, link or box of ${topology.name}, or links, nics, switches, npus or boxes for each of them`;
  const meant = EACH_MEANT[name.toLowerCase()];
  const refusal = new InputError(place, right, name).as("unknown-name");
  throw meant === undefined ? refusal : refusal.saying(`${place} is ${JSON.stringify(name)}; did you mean ${meant}?`);
}

/** How a ranking is made. */
interface Ranking {
  readonly request: (topology: Topology) => CollectiveOptions;
  /** Makes a schedule for what is left and returns its time in microseconds; without it limits only are ranked. */
  readonly make?: (topology: Topology) => Promise<number | null>;
  readonly signal: AbortSignal;
  /** Called before the whole network, with null, and before each failure that is unlike those done. */
  readonly onFailure: (done: number | null, total: number) => void;
}

/**
 * Returns what each of some failures does, alone: to the limit of any algorithm, and to the time of a schedule made for what is
 * left. Of failures that are the same by a map of the network onto itself one is looked at: its limit holds for all, and its schedule
 * fits all but for names. The worst first: what leaves no way, then by time or limit, equals as named. Throws InputError for an unknown
 * name, and for too many unlike failures.
 */
export async function rankFailures(
  engine: Engine,
  whole: Topology,
  failures: readonly NamedFailure[],
  { request, make, signal, onFailure }: Ranking,
): Promise<FailureRanking> {
  const limitOn = async (given: Topology): Promise<BoundReport> => {
    const { topology, collective } = problemOf(given, request(given));
    const { limit } = await limitWithFlow(engine, topology, collective, signal);
    return boundReport(topology, collective, limit);
  };
  const place = optionName("withoutEach");
  const resolve = resolver(whole, place);
  const resolved = new Map<string, Target>();
  const targetOf = (name: string): Target => {
    const target = resolved.get(name) ?? resolve(name);
    resolved.set(name, target);
    return target;
  };
  const { classOf, firstOf } = failureClasses(
    whole,
    problemOf(whole, request(whole)).collective,
    failures.map(({ together }) => together.map(targetOf)),
  );
  const unlike = firstOf.length;
  if (unlike > MOST_FAILURES)
    throw new InputError(place, `at most ${MOST_FAILURES} unlike failures, each a synthesis or a proof,`, unlike).as(
      "out-of-range",
    );
  onFailure(null, unlike);
  const before = await limitOn(whole);
  const usBefore = await make?.(whole);
  const rows: FailureRow[] = [];
  const known = new Map<number, FailureRow>();
  for (const [i, { name, together }] of failures.entries()) {
    const of = classOf[i];
    const alike = known.get(of);
    if (alike !== undefined) {
      rows.push({ ...alike, without: name, because: `as without ${alike.without}: ${alike.because}` });
      continue;
    }
    if (firstOf[of] === i) onFailure(of, unlike);
    try {
      const part = without(whole, together, place);
      const limit = await limitOn(part);
      const us = await make?.(part);
      const harm = over(limit.us, before.us);
      const times = us === undefined ? {} : { us, slower: over(us, usBefore ?? null) };
      const row = { without: name, limit, harm, ...times, because: limit.because };
      rows.push(row);
      known.set(of, row);
    } catch (error) {
      if (!(error instanceof InfeasibleError || error instanceof InputError)) throw error;
      rows.push({
        without: name,
        limit: null,
        harm: null,
        ...(make === undefined ? {} : { us: null, slower: null }),
        because: error.message,
      });
    }
  }
  const badness = ({ us, limit }: FailureRow): readonly [number, number] => [
    limit === null ? Number.POSITIVE_INFINITY : make === undefined ? limit.us : (us ?? limit.us),
    limit?.us ?? 0,
  ];
  const order = new Map(rows.map((row, i) => [row, i]));
  rows.sort((a, b) => {
    const [[x, limitX], [y, limitY]] = [badness(a), badness(b)];
    if (x !== y) return y > x ? 1 : -1;
    return limitY - limitX || (order.get(a) as number) - (order.get(b) as number);
  });
  return { whole: { limit: before, ...(usBefore === undefined ? {} : { us: usBefore }) }, rows };
}
