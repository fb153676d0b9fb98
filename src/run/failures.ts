import { InfeasibleError, InputError, inWords } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Engine } from "../engine/types.ts";
import { isPeriodSchedule } from "../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import { linksOfRoute } from "../model/routes/routes.ts";
import { isSlotSchedule } from "../model/slots/slot-schedule.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { isBox, resolver, without } from "../model/topology/modify.ts";
import { linkCount, linkNames, nodeCount, type Topology } from "../model/topology/topology.ts";
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
import { alikeFailures } from "./alike-failures.ts";
import { limitWithFlow } from "./all-to-all.ts";
import { reportOfFile } from "./report-file.ts";

/** More transfers than these are not compared one by one. */
const MOST_COMPARED = 4e6;
/** More failures than these are for nobody to read. */
const MOST_FAILURES = 4096;
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

/** Returns the names that a list of failures says; "links", "switches" and "npus" stand for each one of them. Throws InputError. */
export function failuresNamed(topology: Topology, list: readonly string[]): string[] {
  const names =
    list.includes("links") && linkCount(topology) > 2 * MOST_FAILURES
      ? linkNames(topology)
      : [...new Set(list.flatMap((name) => namesOf(topology, name)))];
  if (names.length > MOST_FAILURES)
    throw new InputError(
      optionName("withoutEach"),
      `at most ${MOST_FAILURES}, each a synthesis or a proof,`,
      names.length,
    ).as("out-of-range");
  return names;
}

/** What else failures are called. */
const EACH_MEANT: Readonly<Record<string, string>> = {
  all: "links,switches,npus",
  nodes: "npus",
  gpus: "npus",
  link: "links",
  cable: "links",
  cables: "links",
  nic: "links",
  nics: "links",
  npu: "npus",
  switch: "switches",
};

/** Returns what fails together in a failure such as "0-rail0+1-rail1". */
const togetherIn = ({ nodeNames }: Topology, name: string): readonly string[] =>
  nodeNames.includes(name) ? [name] : name.split("+");

function namesOf(topology: Topology, name: string): readonly string[] {
  const { nodeNames, npuCount } = topology;
  if (nodeNames.includes(name)) return [name];
  if (name.includes(";"))
    throw new InputError(optionName("withoutEach"), "failures joined by commas, what fails together by +", name).saying(
      `${optionName("withoutEach")} is ${JSON.stringify(name)}; failures are joined by commas, and what fails together by +: ${name.replaceAll(";", ",")} or ${name.replaceAll(";", "+")}`,
    );
  if (togetherIn(topology, name).length > 1) return [name];
  if (name === "npus") return nodeNames.slice(0, npuCount);
  if (name === "switches") return nodeNames.slice(npuCount, nodeCount(topology));
  if (name !== "links") {
    if (/[->]/.test(name) || isBox(topology, name)) return [name];
    const right = `an NPU, switch, link or box of ${topology.name}, or links, switches or npus for each of them`;
    const meant = EACH_MEANT[name.toLowerCase()];
    const refusal = new InputError(optionName("withoutEach"), right, name).as("unknown-name");
    throw meant === undefined
      ? refusal
      : refusal.saying(`${optionName("withoutEach")} is ${JSON.stringify(name)}; did you mean ${meant}?`);
  }
  // both ways of a cable fail together
  const { linkSource, linkTarget } = topology;
  return linkNames(topology).map((link, e) => {
    const [from, to] = [linkSource[e] as number, linkTarget[e] as number];
    const ordinal = /#\d+$/.exec(link)?.[0] ?? "";
    const [a, b] = from < to ? [from, to] : [to, from];
    return `${nodeNames[a]}-${nodeNames[b]}${ordinal}`;
  });
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
 * left. Of failures that are the same by a symmetry of the network one is looked at: its limit holds for all, and its schedule fits
 * all but for names. The worst first: what leaves no way, then by time or limit, equals as named. Throws InputError for an unknown
 * name.
 */
export async function rankFailures(
  engine: Engine,
  whole: Topology,
  names: readonly string[],
  { request, make, signal, onFailure }: Ranking,
): Promise<FailureRanking> {
  const limitOn = async (given: Topology): Promise<BoundReport> => {
    const { topology, collective } = problemOf(given, request(given));
    const { limit } = await limitWithFlow(engine, topology, collective, signal);
    return boundReport(topology, collective, limit);
  };
  const place = optionName("withoutEach");
  const targetOf = resolver(whole, place);
  const keyOf = alikeFailures(whole, problemOf(whole, request(whole)).collective);
  const failures = names.map((name) => {
    const together = togetherIn(whole, name);
    return { name, together, key: keyOf(together.map(targetOf)) ?? name };
  });
  const unlike = new Set(failures.map(({ key }) => key)).size;
  onFailure(null, unlike);
  const before = await limitOn(whole);
  const usBefore = await make?.(whole);
  const rows: FailureRow[] = [];
  const known = new Map<string, FailureRow>();
  const seen = new Set<string>();
  for (const { name, together, key } of failures) {
    const alike = known.get(key);
    if (alike !== undefined) {
      rows.push({ ...alike, without: name, because: `as without ${alike.without}: ${alike.because}` });
      continue;
    }
    onFailure(seen.size, unlike);
    seen.add(key);
    const part = without(whole, together, place);
    try {
      const limit = await limitOn(part);
      const us = await make?.(part);
      const harm = over(limit.us, before.us);
      const times = us === undefined ? {} : { us, slower: over(us, usBefore ?? null) };
      const row = { without: name, limit, harm, ...times, because: limit.because };
      rows.push(row);
      known.set(key, row);
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
