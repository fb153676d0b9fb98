import { wiringOf } from "../../model/dimensions/dimensions.ts";
import { groupDimensions } from "../../model/dimensions/group-dimensions.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Replay } from "../../model/replay/problem.ts";
import { isNpu, type Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { bandwidthClasses, widthOf } from "../../picture/scene/wires.ts";
import { simulatePeriods } from "../../simulate/periods/periods.ts";
import { simulatePhases } from "../../simulate/phases/phases.ts";
import { simulate, switchingFor } from "../../simulate/simulate.ts";
import { simulateTreeFlow } from "../../simulate/trees/tree-flow.ts";
import type { LoadsView, Refusal, TrafficView } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import { type Moves, movesOf } from "./moves.ts";
import type { KnownSchedule } from "./schedule-cache.ts";
import { slicesOf } from "./timeline.ts";

const BINS = 400;

/** Returns the first dimension in which two ranks differ. */
function dimensionOf(dimensions: readonly { readonly size: number }[], a: number, b: number): number {
  let place = 1;
  return dimensions.findIndex(({ size }) => {
    const differs = Math.floor(a / place) % size !== Math.floor(b / place) % size;
    place *= size;
    return differs;
  });
}

/** Returns how long each link of phases is held: all of groups' lines in a dimension as long as its use on average says. O(links). */
function busyOfPhases(schedule: PhaseSchedule): { readonly busyPs: Float64Array; readonly totalPs: number } {
  const { topology, collective } = schedule;
  const { linkSource, linkTarget } = topology;
  const { groupSize, groupMembers } = collective;
  const { ps, dimensions: uses } = simulatePhases(schedule);
  const { dimensions } = schedule;
  const heldPs = uses.map(({ utilisation }) => toNumber(utilisation) * ps);
  const wiring = groupDimensions(wiringOf(topology) ?? [], collective);
  // place of each NPU among the members of all groups; -1 of others
  const placeOf = new Int32Array(topology.npuCount).fill(-1);
  groupMembers.forEach((npu, place) => {
    placeOf[npu] = place;
  });
  const busyPs = Float64Array.from(linkSource, (from, link) => {
    const to = linkTarget[link];
    if (!isNpu(topology, from) || !isNpu(topology, to)) return 0;
    const [a, b] = [placeOf[from], placeOf[to]];
    const isOfGroup = a >= 0 && b >= 0 && Math.floor(a / groupSize) === Math.floor(b / groupSize);
    return isOfGroup ? (heldPs[dimensionOf(dimensions, a, b)] ?? 0) : 0;
  });
  if (typeof wiring === "string") return { busyPs, totalPs: ps };
  wiring.forEach(({ kind, of: { upLink, downLink } }, d) => {
    if (kind !== "switch") return;
    for (const npu of groupMembers) for (const link of [upLink[npu], downLink[npu]]) busyPs[link] = heldPs[d];
  });
  return { busyPs, totalPs: ps };
}

/** Returns how long links of a schedule are held whose transfers are too many to be looked at one by one; null where unknown. */
function busyOfMany(
  { schedule, report }: KnownSchedule,
  replay: Replay,
): { readonly busyPs: Float64Array; readonly totalPs: number } | null {
  if (isPhaseSchedule(schedule)) return busyOfPhases(schedule);
  if (isTreeFlow(schedule)) {
    const { linkBusyPs, ps } = simulateTreeFlow(schedule, report.schedule.pieces ?? 1);
    return { busyPs: linkBusyPs, totalPs: ps };
  }
  if (isPeriodSchedule(schedule)) {
    const { linkBusyPs, ps } = simulatePeriods(schedule);
    return { busyPs: linkBusyPs, totalPs: ps };
  }
  if (report.ofLimit === null) return null;
  const { linkBusyPs, ps } = simulate(schedule, { switching: switchingFor(schedule), replay });
  return { busyPs: linkBusyPs, totalPs: ps };
}

/** Returns [links] the class of bandwidth that NetworkView shows a link in, and how many there are. */
function classesOf(topology: Topology): { readonly ofLink: Uint8Array; readonly classes: number } {
  const { wires, ofLink } = linkWires(topology);
  const tops = bandwidthClasses(wires).map(({ to }) => to);
  const ofWire = wires.map((wire) => tops.findIndex((top) => widthOf(wire) <= top));
  return { ofLink: Uint8Array.from(ofLink, (wire) => ofWire[wire]), classes: tops.length };
}

/** Sums over equal parts of the time; what lasts over several is spread over them. */
class OverTime {
  /** What begins to be in use at a bin's left side, per bin; and what only some of the bin has. */
  private readonly change: Float64Array;
  private readonly rest: Float64Array;
  private readonly perPs: number;

  constructor(bins: number, totalPs: number) {
    this.change = new Float64Array(bins + 1);
    this.rest = new Float64Array(bins);
    this.perPs = bins / totalPs;
  }

  /** Adds `rate` from one time to another. O(1). */
  add(fromPs: number, toPs: number, rate: number): void {
    const { change, rest, perPs } = this;
    const [from, to] = [fromPs * perPs, Math.min(toPs * perPs, rest.length)];
    const [first, last] = [Math.min(Math.floor(from), rest.length - 1), Math.min(Math.floor(to), rest.length - 1)];
    if (first === last) {
      rest[first] += (to - from) * rate;
      return;
    }
    rest[first] += (first + 1 - from) * rate;
    rest[last] += (to - last) * rate;
    change[first + 1] += rate;
    change[last] -= rate;
  }

  /** Returns the mean rate of each bin as a part of `whole`. */
  parts(whole: number): Float64Array {
    let rate = 0;
    return this.rest.map((partly, bin) => {
      rate += this.change[bin];
      // moves at their mean share may seem to meet where their pieces do not
      return whole > 0 ? Math.min(1, (rate + partly) / whole) : 0;
    });
  }
}

/** Returns the share of bandwidth that is in use over time, of all links and of each class. O(slices). */
function useOverTime(moves: Moves): Pick<LoadsView, "overTime" | "overTimeOfClass"> {
  const slices = moves.totalPs > 0 ? slicesOf(moves) : null;
  if (slices === null) return { overTime: new Float64Array(0), overTimeOfClass: [] };
  const { linkBytesPerSecond } = moves.topology;
  const { ofLink, classes } = classesOf(moves.topology);
  const sums = Array.from({ length: classes }, () => new OverTime(BINS, moves.totalPs));
  const { link, startPs, lastsPs, share } = slices;
  for (let i = 0; i < link.length; i++) {
    const rate = share[i] * linkBytesPerSecond[link[i]];
    sums[ofLink[link[i]]].add(startPs[i], startPs[i] + lastsPs[i], rate);
  }
  const whole = new Float64Array(classes);
  linkBytesPerSecond.forEach((bytesPerSecond, l) => {
    whole[ofLink[l]] += bytesPerSecond;
  });
  const overTimeOfClass = sums.map((sum, k) => sum.parts(whole[k]));
  const all = whole.reduce((a, b) => a + b, 0);
  const overTime = new Float64Array(BINS).map((_, bin) =>
    overTimeOfClass.reduce((sum, part, k) => sum + (part[bin] * whole[k]) / all, 0),
  );
  return { overTime, overTimeOfClass };
}

/** Returns how busy links are, and over time where the transfers can be looked at one by one. */
export function loadsView(kept: KnownSchedule, replay: Replay): LoadsView | Refusal {
  const moves = movesOf(kept, replay);
  if (!("refusal" in moves)) {
    const { linkBusyPs, totalPs } = moves;
    return { busyPs: linkBusyPs.slice(), totalPs, ...useOverTime(moves), traffic: trafficView(moves) };
  }
  const many = busyOfMany(kept, replay);
  return many === null
    ? { refusal: "The schedule has too many transfers for a simulation in the page." }
    : { ...many, overTime: new Float64Array(0), overTimeOfClass: [], traffic: null };
}

/** Returns what NPUs send each other in all, pair by pair. O(moves + ways log ways). */
function trafficView({ topology: { npuCount }, chunk, way, ways, chunkBytes, weight }: Moves): TrafficView {
  const { source, target } = ways;
  const chunks = new Float64Array(source.length);
  for (let move = 0; move < chunk.length; move++) chunks[way[move]] += weight === null ? 1 : weight[chunk[move]];
  const used = new Map<number, number>();
  for (let w = 0; w < chunks.length; w++) {
    if (chunks[w] === 0) continue;
    const pair = source[w] * npuCount + target[w];
    used.set(pair, (used.get(pair) ?? 0) + chunks[w]);
  }
  const pairs = Float64Array.from(used.keys()).sort();
  return {
    source: Int32Array.from(pairs, (pair) => Math.floor(pair / npuCount)),
    target: Int32Array.from(pairs, (pair) => pair % npuCount),
    bytes: Float64Array.from(pairs, (pair) => (used.get(pair) as number) * chunkBytes),
  };
}
