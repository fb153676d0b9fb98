import { add, compare, format, type Rational, rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes/routes.ts";
import type { SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { linkCount } from "../../model/topology/topology.ts";
import type { Names } from "../describe.ts";
import { groupRows } from "../steps/order.ts";
import type { Recorder } from "../violation.ts";
import { mirrors } from "./slot-mirror.ts";

const WHOLE = rational(1);

/**
 * Records each link of which all routes together take more than the whole: they may all be in use in one slot. Each route
 * carries one chunk a slot, since a port has one bit a slot and mirrors are as distinct as the routes. O(route links).
 */
export function checkShares({ topology, routes }: SlotSchedule, recorder: Recorder, words: Names): void {
  const users = groupRows(routes.links, linkCount(topology));
  for (let link = 0; link + 1 < users.offset.length; link++) {
    const positions = users.rows.subarray(users.offset[link], users.offset[link + 1]);
    if (positions.length < 2) continue; // one share is at most the whole
    const all = sumOfShares(routes, positions);
    if (compare(all, WHOLE) <= 0) continue;
    recorder.record(() => ({
      kind: "link-conflict",
      link,
      message: `routes over link ${words.link(link)} take ${format(all)} times its capacity when they are used together`,
    }));
  }
}

/** Returns the exact sum; shares of one denominator that follow each other are added as doubles. */
function sumOfShares({ shareNum, shareDen }: RouteSet, positions: Int32Array): Rational {
  let all = rational(0);
  let num = 0;
  let den = 1;
  for (const p of positions) {
    if (shareDen[p] !== den || num + shareNum[p] > Number.MAX_SAFE_INTEGER) {
      all = add(all, rational(num, BigInt(den)));
      num = 0;
      den = shareDen[p];
    }
    num += shareNum[p];
  }
  return add(all, rational(num, BigInt(den)));
}

/**
 * Records each route in use that takes longer than a slot: the routes marked where a pass runs forward, their mirrors where
 * one is reversed. O(route links).
 */
export function checkSlotLength(schedule: SlotSchedule, marked: Uint8Array, recorder: Recorder, words: Names): void {
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
