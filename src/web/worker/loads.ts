import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Replay } from "../../model/replay/problem.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { bandwidthClasses, widthOf } from "../../picture/scene/wires.ts";
import { type LinkUse, linkUseOf } from "../../run/link-use.ts";
import type { LoadsView, Refusal, TrafficView } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import { type Moves, movesOf } from "./moves.ts";
import type { KnownSchedule } from "./schedule-cache.ts";
import { slicesOf } from "./timeline.ts";

const BINS = 400;

/** Returns how long links of a schedule are held whose transfers are too many to be looked at one by one; null where unknown. */
function busyOfMany({ schedule, report }: KnownSchedule, replay: Replay): LinkUse | null {
  const isKnown =
    isPhaseSchedule(schedule) || isTreeFlow(schedule) || isPeriodSchedule(schedule) || report.ofLimit !== null;
  return isKnown ? linkUseOf(schedule, report.schedule.pieces ?? 1, replay) : null;
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
