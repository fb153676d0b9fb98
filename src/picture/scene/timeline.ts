import { InputError } from "../../base/errors.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { goesWithPrevious, hasMergedSends, type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";

/** When links are held, as columns: slice i holds `share[i]` of link[i] for lastsPs[i] from startPs[i] on. */
export interface Timeline {
  readonly link: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  /** 0 .. 1 */
  readonly share: Float64Array;
  readonly chunk: Int32Array;
  /** 1: the payload is added to what the target holds. */
  readonly reduces: Uint8Array;
  /** When the last transfer has arrived: links are free again a latency before. */
  readonly arrivedPs: number;
}

/** Returns when the plan begins to send each chunk, those of a merged send in the order of the rows. O(transfers). */
function oneByOne(schedule: StepSchedule): Float64Array {
  const { topology, collective, routes, route } = schedule;
  if (!hasMergedSends(schedule)) return schedule.startPs;
  const { serialPs } = routeTimes(topology, routes, collective.chunkBytes);
  const startPs = schedule.startPs.slice();
  for (let i = 1; i < startPs.length; i++) {
    if (goesWithPrevious(schedule, i)) startPs[i] = startPs[i - 1] + serialPs[route[i]];
  }
  return startPs;
}

/**
 * Returns when a schedule's transfers hold links in the network model with cut-through: for the serialisation at the bottleneck of
 * their route, from `startPs` [transfers] on (what `simulate` gives with `timeline: true`; the plan's own times without it, the
 * chunks of a merged send one after the other). A route of several links holds them at the same time. Throws InputError where
 * there is not a time for each transfer. O(slices).
 */
export function timelineOf(schedule: StepSchedule, startPs: Float64Array = oneByOne(schedule)): Timeline {
  const { topology, collective, routes, route, chunk, op } = schedule;
  const { linkOffset, links, shareNum, shareDen } = routes;
  const count = transferCount(schedule);
  if (startPs.length !== count)
    throw new InputError("startPs", `a time for each of ${count} transfers`, startPs.length);
  const { serialPs, slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  let [slices, arrivedPs] = [0, 0];
  for (let i = 0; i < count; i++) {
    slices += linkOffset[route[i] + 1] - linkOffset[route[i]];
    arrivedPs = Math.max(arrivedPs, startPs[i] + slotPs[route[i]]);
  }
  const timeline = {
    link: new Int32Array(slices),
    startPs: new Float64Array(slices),
    lastsPs: new Float64Array(slices),
    share: new Float64Array(slices),
    chunk: new Int32Array(slices),
    reduces: new Uint8Array(slices),
    arrivedPs,
  };
  let slice = 0;
  for (let i = 0; i < count; i++) {
    for (let p = linkOffset[route[i]]; p < linkOffset[route[i] + 1]; p++, slice++) {
      timeline.link[slice] = links[p];
      timeline.startPs[slice] = startPs[i];
      timeline.lastsPs[slice] = serialPs[route[i]];
      timeline.share[slice] = shareNum[p] / shareDen[p];
      timeline.chunk[slice] = chunk[i];
      timeline.reduces[slice] = op[i];
    }
  }
  return timeline;
}

/** Returns [bins] the share of all links that is held in each bin of 0 .. totalPs. O(slices + bins). */
export function busyOverTime(
  { link, startPs, lastsPs, share }: Timeline,
  links: number,
  totalPs: number,
  bins: number,
): Float64Array {
  const busy = new Float64Array(bins);
  if (!(totalPs > 0)) return busy;
  const slope = new Float64Array(bins + 1);
  const perBin = totalPs / bins;
  for (let i = 0; i < link.length; i++) {
    const [from, to] = [startPs[i] / perBin, (startPs[i] + lastsPs[i]) / perBin];
    const [first, last] = [Math.min(bins - 1, Math.floor(from)), Math.min(bins - 1, Math.floor(to))];
    if (first === last) {
      busy[first] += (to - from) * share[i];
      continue;
    }
    busy[first] += (first + 1 - from) * share[i];
    busy[last] += (to - last) * share[i];
    slope[first + 1] += share[i];
    slope[last] -= share[i];
  }
  let whole = 0;
  for (let bin = 0; bin < bins; bin++) {
    whole += slope[bin];
    busy[bin] = (busy[bin] + whole) / links;
  }
  return busy;
}
