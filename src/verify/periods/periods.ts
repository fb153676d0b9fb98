import { InputError } from "../../base/errors.ts";
import {
  inwardRoute,
  outwardRoute,
  type PeriodSchedule,
  roundsOf,
  treesOf,
} from "../../model/periods/period-schedule.ts";
import { type RouteTimes, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { isNpu } from "../../model/topology/topology.ts";
import { type Names, names } from "../describe.ts";
import { checkShares } from "../shares.ts";
import type { Verification } from "../steps/schedule.ts";
import { type Recorder, recorder, type Violation } from "../violation.ts";
import { checkParts, type Faults, isBelow, isCount } from "../well-formed.ts";

/**
 * Returns everything that is wrong with a schedule of periods, in the network model and by nothing that its maker says:
 *
 * 0. it is well-formed, an all-reduce of all NPUs, its edges join the same NPUs both ways; else nothing further is judged;
 * 1. on every link the shares of all routes together are at most 1;
 * 2. every tree has one root, and the way up from every NPU ends there;
 * 3. an NPU sends up when all that comes up to it has arrived, the root sends down when all has, others when the sum has;
 * 4. a route carries one transfer at a time: no two serialise at once, whatever their rounds.
 *
 * Why that is enough. By 2 and 3 each NPU sends up the sum of those below it, each of them once, so the root has everyone's, and by 3
 * it and all others send down nothing less. Rounds are of other chunks and differ by whole periods only, so by 4 none meets another.
 * Throws InputError for a limit that is no whole number; never for a schedule, however wrong. O(places log of those of a route) for
 * trees x NPUs places, 8 bytes each.
 */
export function verifyPeriods(schedule: PeriodSchedule, options: { readonly limit?: number } = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
  const found = recorder(limit);
  if (checkParts(schedule, () => periodFaults(schedule), found)) {
    const words = names(schedule);
    const times = routeTimes(schedule.topology, schedule.routes, schedule.collective.chunkBytes);
    checkShares(schedule, found, words);
    checkTrees(schedule, times, found, words);
    checkRoutes(schedule, times, found, words);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

/** Jobs, two a place, are told by numbers of 31 bits. */
const MOST_PLACES = 2 ** 30 - 1;

/** Yields what keeps the data from being periods at all; network, collective and routes are in order. O(places + route links). */
function* periodFaults(schedule: PeriodSchedule): Faults {
  const { topology, collective, entry, startPs, periodPs } = schedule;
  const { kind, groupCount, groupSize, groupMembers, sizeBytes, chunkCount } = collective;
  const { npuCount } = topology;
  if (kind !== "allreduce") yield { message: `periods make an all-reduce, not ${kind}` };
  const all = groupCount === 1 && groupSize === npuCount && groupMembers.every((npu, rank) => npu === rank);
  if (!all) yield { message: "periods are for one group of all NPUs in their order" };
  if (sizeBytes === 0) yield { message: "the collective has no bytes" };
  if (!isCount(periodPs) || periodPs === 0) yield { message: `the period is ${periodPs} ps, no whole number above 0` };
  const trees = treesOf(schedule);
  if (!isCount(trees) || trees === 0 || trees > chunkCount || startPs.length !== 2 * entry.length) {
    const sizes = `${entry.length} places and ${startPs.length} starts`;
    yield { message: `${sizes} are not those of 1 to ${chunkCount} trees of ${npuCount} NPUs` };
  } else if (entry.length > MOST_PLACES) {
    yield { message: `${trees} trees of ${npuCount} NPUs are more than the ${MOST_PLACES} places that can be judged` };
  } else {
    yield* edgeFaults(schedule);
    yield* placeFaults(schedule);
  }
}

/** Yields edges that are not two ways between two NPUs. */
function* edgeFaults({ topology, routes, there, back }: PeriodSchedule): Faults {
  const { source, target, linkOffset, links } = routes;
  if (there.length !== back.length) yield { message: `${there.length} edges go there and ${back.length} back` };
  for (let edge = 0; edge < Math.min(there.length, back.length); edge++) {
    const [to, from] = [there[edge], back[edge]];
    if (!isBelow(to, routeCount(routes)) || !isBelow(from, routeCount(routes))) {
      yield { edge, message: `edge ${edge} is of routes ${to} and ${from}, which do not both exist` };
    } else if (source[to] !== target[from] || target[to] !== source[from] || source[to] === target[to]) {
      yield { edge, message: `edge ${edge} is of routes ${to} and ${from}, which are not two ways between two NPUs` };
    }
    for (const route of [to, from]) {
      for (let i = linkOffset[route] + 1; i < linkOffset[route + 1]; i++) {
        const link = links[i];
        const npu = topology.linkSource[link];
        if (!isNpu(topology, npu)) continue;
        const name = topology.nodeNames[npu];
        yield { edge, npu, link, message: `edge ${edge} passes NPU ${name}, which would store what it forwards` };
      }
    }
  }
}

/** Yields places whose edge is not at their NPU, or whose starts are no times. */
function* placeFaults(schedule: PeriodSchedule): Faults {
  const { topology, routes, there, back, entry, startPs, periodPs } = schedule;
  const { npuCount, nodeNames } = topology;
  let lastPs = 0;
  for (let place = 0; place < entry.length; place++) {
    const tree = Math.floor(place / npuCount);
    const npu = place - tree * npuCount;
    const edge = entry[place];
    const upPs = startPs[2 * tree * npuCount + npu];
    const downPs = startPs[(2 * tree + 1) * npuCount + npu];
    const at = edge < 0 || edge >= there.length || edge >= back.length ? -1 : there[edge];
    let fault = "";
    if (edge < 0) {
      if (edge !== -1 || upPs !== -1 || downPs !== -1)
        fault = `has entry ${edge} and starts ${upPs} and ${downPs} ps, not -1`;
    } else if (at < 0) fault = `has edge ${edge}, which does not exist`;
    else if (routes.source[at] !== npu && routes.target[at] !== npu)
      fault = `has edge ${edge}, which does not end there`;
    else if (!isCount(upPs) || !isCount(downPs))
      fault = `starts at ${upPs} and ${downPs} ps, not whole numbers from 0 on`;
    if (fault !== "") yield { tree, npu, message: `tree ${tree} at NPU ${nodeNames[npu]} ${fault}` };
    if (downPs > lastPs) lastPs = downPs;
    if (upPs > lastPs) lastPs = upPs;
  }
  const { slotPs } = routeTimes(topology, routes, schedule.collective.chunkBytes);
  const endPs = (roundsOf(schedule) - 1) * periodPs + lastPs + slotPs.reduce((most, ps) => Math.max(most, ps), 0);
  if (!isCount(endPs)) yield { message: "the last round may end after 2^53 ps, more than can be counted exactly" };
}

/** Records trees that are none, and transfers that start before what they carry is there. O(places). */
function checkTrees(schedule: PeriodSchedule, { slotPs }: RouteTimes, recorder: Recorder, words: Names): void {
  const { topology, routes, entry, startPs } = schedule;
  const { npuCount } = topology;
  const parent = new Int32Array(npuCount);
  const edgeBelow = new Int32Array(npuCount);
  /** [NPUs] when the last of what comes up has arrived, and from whom. */
  const summedPs = new Float64Array(npuCount);
  const slowest = new Int32Array(npuCount);
  const seen = new Int32Array(npuCount);
  for (let tree = 0; tree < treesOf(schedule); tree++) {
    const up = 2 * tree * npuCount;
    const down = up + npuCount;
    summedPs.fill(0);
    for (let npu = 0; npu < npuCount; npu++) {
      const edge = entry[tree * npuCount + npu];
      edgeBelow[npu] = edge;
      parent[npu] = edge < 0 ? -1 : routes.target[outwardRoute(schedule, edge, npu)];
      if (edge < 0) continue;
      const thereAtPs = startPs[up + npu] + slotPs[outwardRoute(schedule, edge, npu)];
      if (thereAtPs <= summedPs[parent[npu]]) continue;
      summedPs[parent[npu]] = thereAtPs;
      slowest[parent[npu]] = npu;
    }
    checkShape(tree, parent, seen, recorder, words);
    for (let npu = 0; npu < npuCount; npu++) {
      const above = parent[npu];
      if (above < 0) continue;
      if (startPs[up + npu] < summedPs[npu]) {
        recorder.record(() =>
          early(schedule, words, { tree, npu, job: up + npu }, words.npu(slowest[npu], 0), summedPs[npu]),
        );
      }
      const isRoot = parent[above] < 0;
      const route = isRoot ? -1 : inwardRoute(schedule, edgeBelow[above], above);
      const resultPs = isRoot ? summedPs[above] : startPs[down + above] + slotPs[route];
      if (startPs[down + npu] >= resultPs) continue;
      const from = isRoot ? slowest[above] : parent[above];
      recorder.record(() => early(schedule, words, { tree, npu, job: down + npu }, words.npu(from, 0), resultPs));
    }
  }
}

/** Records a tree that has not one root, and each circle of ways up. `seen` is scratch, of trees before this one. O(NPUs). */
function checkShape(tree: number, parent: Int32Array, seen: Int32Array, recorder: Recorder, words: Names): void {
  const fault = (npu: number, text: string): void =>
    recorder.record(() => ({ kind: "not-a-tree", tree, npu, message: `tree ${tree} ${text}` }));
  const first = parent.indexOf(-1);
  const second = first < 0 ? -1 : parent.indexOf(-1, first + 1);
  if (second >= 0) fault(second, `has a second root, ${words.npu(second, 0)}, beside ${words.npu(first, 0)}`);
  // a way that is being followed is marked by its own number, one that ended by that of all
  const ended = 2 * parent.length;
  seen.fill(-1);
  for (let begin = 0; begin < parent.length; begin++) {
    let npu = begin;
    for (; npu >= 0 && seen[npu] < 0; npu = parent[npu]) seen[npu] = begin;
    if (npu >= 0 && seen[npu] === begin) fault(npu, `leads from ${words.npu(npu, 0)} up to itself, never to a root`);
    for (let at = begin; at >= 0 && seen[at] === begin; at = parent[at]) seen[at] = ended;
  }
}

/** One transfer of round 0: up from an NPU, or down to it. */
interface Job {
  readonly tree: number;
  readonly npu: number;
  readonly job: number;
}

/** Returns the job of that number. */
function jobOf({ topology }: PeriodSchedule, job: number): Job {
  const tree = Math.floor(job / (2 * topology.npuCount));
  return { tree, npu: job % topology.npuCount, job };
}

const isUp = ({ topology }: PeriodSchedule, { tree, job }: Job): boolean => job < (2 * tree + 1) * topology.npuCount;

/** Returns the route of a job. */
const routeOfJob = (schedule: PeriodSchedule, job: Job): number =>
  (isUp(schedule, job) ? outwardRoute : inwardRoute)(
    schedule,
    schedule.entry[job.tree * schedule.topology.npuCount + job.npu],
    job.npu,
  );

/** Returns "rank 1 sends up tree 0 on link 1>0 at 5 us" with what a violation says beside. */
function sending(schedule: PeriodSchedule, words: Names, job: Job): Omit<Violation, "kind"> {
  const { routes, startPs } = schedule;
  const route = routeOfJob(schedule, job);
  const npu = routes.source[route];
  const timePs = startPs[job.job];
  const way = isUp(schedule, job) ? "up" : "down";
  const message = `${words.npu(npu, 0)} sends ${way} tree ${job.tree} on ${words.route(route)} at ${words.time(timePs)}`;
  return { tree: job.tree, npu, link: routes.links[routes.linkOffset[route]], timePs, message };
}

function early(schedule: PeriodSchedule, words: Names, job: Job, from: string, readyPs: number): Violation {
  const { message, ...where } = sending(schedule, words, job);
  return {
    kind: "absent-chunk",
    ...where,
    message: `${message}, before what ${from} sends is there at ${words.time(readyPs)}`,
  };
}

/**
 * Records transfers that start on a route while another, of any round, serialises there: begun at times modulo the period, in order,
 * each is through before the next begins, and the last before the first of the next period. O(places log of those of a route).
 */
function checkRoutes(schedule: PeriodSchedule, { serialPs }: RouteTimes, recorder: Recorder, words: Names): void {
  const { startPs, periodPs } = schedule;
  const { offset, jobs } = jobsByRoute(schedule);
  let most = 0;
  for (let route = 0; route < serialPs.length; route++) most = Math.max(most, offset[route + 1] - offset[route]);
  const scratch = new Float64Array(most);
  for (let route = 0; route < serialPs.length; route++) {
    const own = jobs.subarray(offset[route], offset[route + 1]);
    const phases = scratch.subarray(0, own.length);
    for (let i = 0; i < own.length; i++) phases[i] = startPs[own[i]] % periodPs;
    phases.sort();
    for (let i = 0; i < phases.length; i++) {
      const next = i + 1 < phases.length ? phases[i + 1] : phases[0] + periodPs;
      if (next - phases[i] >= serialPs[route]) continue;
      recorder.record(() => {
        const phase = (job: number): number => startPs[job] % periodPs;
        const inOrder = own.slice().sort((a, b) => phase(a) - phase(b) || a - b);
        const [one, other] = [inOrder[i], inOrder[(i + 1) % own.length]].map((job) => jobOf(schedule, job)) as [
          Job,
          Job,
        ];
        const { message, ...where } = sending(schedule, words, other);
        const { message: first } = sending(schedule, words, one);
        const period = `${words.time(serialPs[route])} each, again every ${words.time(periodPs)}`;
        return { kind: "route-conflict", ...where, message: `${message}, which meets what ${first}: ${period}` };
      });
    }
  }
}

/** Returns the jobs of each route, jobs[offset[route] .. offset[route + 1]] (counting sort). O(places + routes). */
function jobsByRoute(schedule: PeriodSchedule): { readonly offset: Int32Array; readonly jobs: Int32Array } {
  const { topology, routes, entry } = schedule;
  const { npuCount } = topology;
  const offset = new Int32Array(routeCount(routes) + 1);
  let moved = 0;
  for (let place = 0; place < entry.length; place++) {
    if (entry[place] < 0) continue;
    const npu = place % npuCount;
    offset[outwardRoute(schedule, entry[place], npu) + 1]++;
    offset[inwardRoute(schedule, entry[place], npu) + 1]++;
    moved += 2;
  }
  for (let route = 0; route + 1 < offset.length; route++) offset[route + 1] += offset[route];
  const next = offset.slice();
  const jobs = new Int32Array(moved);
  for (let place = 0; place < entry.length; place++) {
    if (entry[place] < 0) continue;
    const npu = place % npuCount;
    const up = 2 * place - npu;
    jobs[next[outwardRoute(schedule, entry[place], npu)]++] = up;
    jobs[next[inwardRoute(schedule, entry[place], npu)]++] = up + npuCount;
  }
  return { offset, jobs };
}
