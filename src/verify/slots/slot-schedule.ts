import { InputError } from "../../base/errors.ts";
import type { Placement } from "../../model/collective/collective.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes/routes.ts";
import type { SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type Names, names } from "../describe.ts";
import { checkShares } from "../shares.ts";
import { placementView } from "../steps/rows.ts";
import type { Verification } from "../steps/schedule.ts";
import { type Recorder, recorder } from "../violation.ts";
import { checkParts, type Faults, isBelow, isCount } from "../well-formed.ts";
import { type Arrivals, arrivals, checkLogs, earlyViolation, recordFaults, SOUND } from "./causality.ts";
import { compareWith, isSmall, npusToCompare } from "./compared.ts";
import { checkFolded } from "./folded.ts";
import { eachArrival, type LogFrame, logFrame, portCount } from "./log.ts";

/** Memory for decoded logs unless the caller says otherwise. */
const CACHE_BYTES = 2 ** 29;

export interface SlotVerifyOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Memory for decoded logs, 512 MiB by default; at least two of them are held. */
  readonly cacheBytes?: number;
  /** Hears of NPUs whose logs are judged. What it throws ends the verification. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Returns everything that is wrong with a slot schedule, by the rules of verifySchedule and nothing that its maker says:
 *
 * 0. the network, the collective, routes and passes are well-formed, and the passes make the collective; else nothing
 *    further is judged;
 * 1. on every link the shares of all routes together are at most 1: they may all be in use in one slot, and each carries one
 *    chunk a slot, since a port has one bit a slot and mirrors are as distinct as the routes;
 * 2. each log is well-formed, and has each chunk once, the NPU's own first; one that is not is not judged further;
 * 3. a chunk that arrives is at the source of its route when the slot starts;
 * 4. a slot is as long as a chunk needs on every route in use, in the direction in which it is used.
 *
 * Why that is enough. Fix a chunk. By 2 every NPU but its origin receives it once, by 3 from one that received it in an
 * earlier slot or is the origin. So following senders back ends at the origin: the arrivals are the arcs of a tree away from
 * it, and a forward pass brings the chunk to everyone. In a reversed pass every NPU v but the origin sends once, to its
 * parent, in slot S - 1 - t where t is the slot of its arrival. Its children have slots above t, so they send below
 * S - 1 - t, and what they send is at v when v sends. By induction from the leaves, v sends the contributions of its subtree,
 * all and each once (subtrees of different children have nothing in common), and adds to it nothing afterwards. The origin
 * ends with everyone's. In an all-reduce the forward pass starts after that and replaces what the others hold before they
 * send it on. Faults are named in terms of the first pass.
 *
 * With `symmetry` the log of NPU 0, or those of the least NPUs of orbits, are judged and stand for all others (checkSymmetry,
 * checkFolded). Of the logs that `row` returns it is
 * then guaranteed only up to 2 million arrivals that they are the same but for the translation, and each of them is also
 * judged by itself; beyond, 16 of them are compared. Readers derive them from those (translatedRows, foldedRows), never store them.
 *
 * Throws InputError for a limit or memory that is no whole number, and what `row` and `onProgress` throw; never for a
 * schedule, however wrong. O(chunks x NPUs + slots x NPUs + route links); about 10 bytes a chunk and route beside the cache.
 */
export function verifySlots(schedule: SlotSchedule, options: SlotVerifyOptions = {}): Verification {
  const limit = wholeNumber("options.limit", options.limit ?? 100);
  const cacheBytes = wholeNumber("options.cacheBytes", options.cacheBytes ?? CACHE_BYTES);
  const found = recorder(limit);
  if (checkParts(schedule, () => slotFaults(schedule), found)) {
    const words = names(schedule);
    checkShares(schedule, found, words);
    const frame = logFrame(schedule);
    const { symmetry } = schedule;
    const rows = arrivals(frame, cacheBytes);
    const few =
      symmetry === null ||
      ("generators" in symmetry
        ? checkFolded(frame, symmetry.generators, rows, found, words, options.onProgress)
        : checkSymmetry(frame, symmetry, rows, found, words));
    if (few && (symmetry === null || isSmall(frame))) checkLogs(frame, rows, found, words, options.onProgress);
    checkSlotLength(schedule, rows.used, found, words);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

function wholeNumber(place: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new InputError(place, "a whole number, 0 or more", value).as("out-of-range");
  return value;
}

/**
 * Records each route in use that takes longer than a slot: the routes marked where a pass runs forward, their mirrors where
 * one is reversed. O(route links).
 */
function checkSlotLength(schedule: SlotSchedule, marked: Uint8Array, recorder: Recorder, words: Names): void {
  const { topology, collective, routes, slotPs, passes } = schedule;
  const needed = routeTimes(topology, routes, collective.chunkBytes).slotPs;
  const inUse = new Uint8Array(routeCount(routes));
  const mirror = passes.some(({ reversed }) => reversed) ? mirrors(routes, topology.npuCount) : null;
  const forward = passes.some(({ reversed }) => !reversed);
  for (let route = 0; route < inUse.length; route++) {
    if (marked[route] === 0) continue;
    if (forward) inUse[route] = 1;
    if (mirror instanceof Int32Array) inUse[mirror[route]] = 1;
  }
  for (let route = 0; route < inUse.length; route++) {
    if (inUse[route] === 0 || needed[route] <= slotPs) continue;
    recorder.record(() => ({
      kind: "too-fast",
      npu: routes.source[route],
      link: routes.links[routes.linkOffset[route]],
      message: `${topology.nodeNames[routes.source[route]]} sends on ${words.route(route)} for slots of ${words.time(slotPs)}, less than the ${words.time(needed[route])} that a chunk needs`,
    }));
  }
}

/** The last slot whose end fits the rows of arrivals (slot-arrivals.ts), below the mark of an absent chunk. */
const MOST_SLOTS = 0x7ffffffe;

/** What a sequence of passes does: from whom to whom, and whether it reduces. */
interface Effect {
  readonly pre: "origin" | "everyone";
  readonly post: "origin" | "everyone";
  readonly reduces: boolean;
}

/** The sequences of passes that are collectives. */
const EFFECTS: ReadonlyMap<string, Effect> = new Map([
  ["forward copying", { pre: "origin", post: "everyone", reduces: false }],
  ["reversed reducing", { pre: "everyone", post: "origin", reduces: true }],
  ["reversed reducing, forward copying", { pre: "everyone", post: "everyone", reduces: true }],
]);

/**
 * Yields what keeps the data around the logs from being a slot schedule: numbers, origins, passes that do not make the
 * collective, routes that cannot be run backwards. The network, the collective and the routes must be in order.
 * O(chunks + routes).
 */
function* slotFaults(schedule: SlotSchedule): Faults {
  const { topology, collective, routes, slotPs, slots, passes, origin } = schedule;
  const { npuCount, nodeNames } = topology;
  const { chunkCount } = collective;
  const wayOf = (pass: (typeof passes)[number]): string =>
    `${pass?.reversed ? "reversed" : "forward"} ${pass?.reduces ? "reducing" : "copying"}`;
  const way = Array.isArray(passes) ? passes.map(wayOf).join(", ") : "";
  const effect = EFFECTS.get(way);
  if (!isCount(slots) || slots > MOST_SLOTS) yield { message: `the schedule has ${slots} slots` };
  else if (!isCount(slotPs) || (slotPs === 0 && slots > 0)) {
    yield { message: `a slot lasts ${slotPs} ps, not a whole number above 0` };
  } else if (!isCount(slots * slotPs * 2))
    yield { message: `${slots} slots of ${slotPs} ps are more than can be counted exactly` };
  if (origin.length !== chunkCount) {
    yield { message: `the schedule has origins for ${origin.length} chunks, not for ${chunkCount}` };
    return;
  }
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    if (Number.isInteger(origin[chunk]) && isBelow(origin[chunk], npuCount)) continue;
    yield { chunk, message: `the origin of chunk ${chunk} is no NPU: ${origin[chunk]}` };
    return;
  }
  if (effect === undefined) {
    yield { message: `passes that are ${way === "" ? "none" : way} make no collective` };
    return;
  }
  if (collective.reduces !== effect.reduces) {
    yield { message: `the passes ${effect.reduces ? "reduce" : "copy"} but the collective does not` };
  }
  yield* placementFaults(schedule, collective.pre, effect.pre, "precondition");
  yield* placementFaults(schedule, collective.post, effect.post, "postcondition");
  const mirror = effect.reduces ? mirrors(routes, npuCount) : null;
  if (mirror === null || mirror instanceof Int32Array) return;
  const from = nodeNames[routes.source[mirror.without]];
  const to = nodeNames[routes.target[mirror.without]];
  yield { message: `a pass is reversed, but fewer routes run from ${to} to ${from} than back` };
}

/** Yields the first chunk whose placement is not its origin alone, or not everyone. */
function* placementFaults(
  { topology, collective, origin }: SlotSchedule,
  placement: Placement,
  who: "origin" | "everyone",
  name: string,
): Faults {
  const view = placementView(collective, placement);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    view.look(chunk);
    const size = view.to - view.from;
    // members are distinct NPUs, so as many as there are is all of them
    const fits =
      who === "everyone" ? size === topology.npuCount : size === 1 && view.members[view.from] === origin[chunk];
    if (fits) continue;
    const should = who === "everyone" ? "every NPU" : `its origin ${topology.nodeNames[origin[chunk]]} alone`;
    yield { chunk, message: `the ${name} of chunk ${chunk} is not ${should}, as the passes make it` };
    return;
  }
}

/**
 * Returns for each route the one that carries what a reversed pass sends against it: of the k-th route from a to b the k-th
 * from b to a. Where some route has none: the first such route in order of its ends. O(routes + NPUs).
 *
 * Sorted by (source, target, id) and by (target, source, id), routes that mirror each other stand at the same place.
 */
function mirrors({ source, target }: RouteSet, npus: number): Int32Array | { readonly without: number } {
  const sorted = (first: Int32Array, second: Int32Array): Int32Array => {
    const rows = groupedBy(second, npus).items;
    const keys = rows.map((route) => first[route]);
    return groupedBy(keys, npus).items.map((i) => rows[i]);
  };
  const there = sorted(source, target);
  const back = sorted(target, source);
  const mirror = new Int32Array(source.length);
  for (let i = 0; i < mirror.length; i++) {
    const a = there[i];
    const b = back[i];
    const order = source[a] - target[b] || target[a] - source[b];
    if (order !== 0) return { without: order < 0 ? a : b };
    mirror[a] = b;
  }
  return mirror;
}

/**
 * Judges a schedule by the log of NPU 0 alone: records every violation that it has under the assumption that the log of NPU
 * v is that log moved by v, and returns whether there was none. O(routes + chunks), times dimensions.
 *
 * The translations form a group that takes NPU 0 to any other. Moving takes the route s -> 0 to a route s + v -> v, which
 * exists by the check of the routes, and chunk k o + j of owner o to k (o + v) + j, which has the right origin by the check
 * of the origins. So NPU v receives chunk c from s in slot t just when NPU 0 receives c - v from s - v then, and s has had c
 * since the slot since which NPU 0 has had c - s. One log therefore says everything: v's chunk is at its source in time just
 * when that of NPU 0 is. Which of several routes between two NPUs a chunk takes is left open: all of them count as in use.
 */
export function checkSymmetry(
  frame: LogFrame,
  sizes: readonly number[],
  rows: Arrivals,
  recorder: Recorder,
  words: Names,
): boolean {
  const before = recorder.count();
  if (!checkGroup(frame, sizes, recorder) || frame.npus === 0) return recorder.count() === before;
  const base = rows.rowOf(0);
  if (rows.state[0] !== SOUND) {
    recordFaults(frame, 0, recorder, words);
    return false;
  }
  const { routes } = frame.schedule;
  const { since } = rows;
  const log = frame.schedule.row(0);
  const difference = differences(sizes);
  const perNpu = frame.chunks / frame.npus;
  const inUse = new Uint8Array(frame.npus);
  eachArrival(frame, 0, log, (chunk, port, slot) => {
    const route = frame.ports.items[port];
    const source = routes.source[route];
    inUse[source] = 1;
    const owner = Math.floor(chunk / perNpu);
    const there = since[base + chunk + (difference(owner, source) - owner) * perNpu];
    if (there > slot) {
      recorder.record(() => earlyViolation(frame, words, { chunk, route, slot }, there === rows.absent ? null : there));
    }
  });
  for (let route = 0; route < rows.used.length; route++) {
    if (inUse[difference(routes.source[route], routes.target[route])] === 1) rows.used[route] = 1;
  }
  if (recorder.count() === before) compareLogs(frame, rows, difference, recorder);
  return recorder.count() === before;
}

/** Records what keeps the translations from taking NPUs, routes and origins to such; returns whether there was nothing. */
function checkGroup(frame: LogFrame, sizes: readonly number[], recorder: Recorder): boolean {
  const { npus, chunks, ports, schedule } = frame;
  const { topology, routes, origin } = schedule;
  const before = recorder.count();
  const malformed = (message: string, npu?: number): void =>
    recorder.record(() => ({ kind: "malformed", message, ...(npu === undefined ? {} : { npu }) }));
  const product = sizes.reduce((all, size) => all * size, 1);
  if (product !== npus || !sizes.every((size) => Number.isSafeInteger(size) && size > 0)) {
    malformed(`translations of ${sizes.join(" x ")} NPUs are not those of a network of ${npus}`);
    return false;
  }
  const perNpu = chunks / npus;
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (origin[chunk] === Math.floor(chunk / perNpu) && Number.isInteger(perNpu)) continue;
    malformed("chunks are not numbered by their origins, the same number for each, as translations need it");
    return false;
  }
  const difference = differences(sizes);
  /** Routes into NPU 0 from each source, less those into another NPU from where they are moved to. */
  const missing = new Int32Array(npus);
  const from = (i: number): number => routes.source[ports.items[i]];
  for (let i = 0; i < portCount(frame, 0); i++) missing[from(i)]++;
  for (let npu = 1; npu < npus; npu++) {
    let fits = portCount(frame, npu) === portCount(frame, 0);
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) {
      if (--missing[difference(from(i), npu)] < 0) fits = false;
    }
    for (let i = ports.offset[npu]; i < ports.offset[npu + 1]; i++) missing[difference(from(i), npu)]++;
    if (!fits) {
      const name = topology.nodeNames[npu];
      malformed(`the routes into ${name} are not those into ${topology.nodeNames[0]} moved by a translation`, npu);
    }
  }
  return recorder.count() === before;
}

/** Records logs that are not that of NPU 0 moved. Looks at all of them, or at some where there are many arrivals. */
function compareLogs(
  frame: LogFrame,
  rows: Arrivals,
  difference: (npu: number, by: number) => number,
  recorder: Recorder,
): void {
  const { npus, chunks } = frame;
  const perNpu = chunks / npus;
  const log = frame.schedule.row(0);
  for (const npu of npusToCompare(frame)) {
    const moved = new Int32Array(npus);
    for (let to = 0; to < npus; to++) moved[difference(to, npu)] = to;
    const chunk = Int32Array.from({ length: chunks }, (_, c) => {
      const owner = Math.floor(c / perNpu);
      return c + (moved[owner] - owner) * perNpu;
    });
    compareWith(frame, rows, { npu: 0, log }, npu, { chunk, npu: moved }, recorder);
  }
}

/** Returns the function that takes an NPU back by the translation that takes NPU 0 to `by`. */
function differences(sizes: readonly number[]): (npu: number, by: number) => number {
  return (npu, by) => {
    let image = 0;
    let stride = 1;
    let rest = npu;
    let back = by;
    for (const size of sizes) {
      const x = (rest % size) - (back % size);
      image += (x < 0 ? x + size : x) * stride;
      rest = Math.floor(rest / size);
      back = Math.floor(back / size);
      stride *= size;
    }
    return image;
  };
}
