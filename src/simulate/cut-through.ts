import { InputError } from "../errors.ts";
import { gcd } from "../model/integers.ts";
import { routeTimes } from "../model/routes.ts";
import { linkNames } from "../model/topology.ts";
import { neverThere, planOf } from "./plan.ts";
import type { Rows } from "./rows.ts";
import type { Simulation } from "./simulation.ts";

/** Shares as whole numbers: route link p takes `cost[p]` of the `capacity` of its link. */
interface Shares {
  /** [route links] */
  readonly cost: Float64Array;
  /** [links] */
  readonly capacity: Float64Array;
}

const COARSE = 2 ** 52;

/**
 * Returns the shares scaled, per link, by the least common multiple of their denominators. Where that leaves 2^53 - 1 the
 * capacity is 2^52 and shares are rounded down, so what a verified plan puts side by side still fits.
 * Throws InputError for a share that is not in (0, 1].
 */
function wholeShares({ topology, routes }: Rows): Shares {
  const { links, shareNum, shareDen } = routes;
  const capacity = new Float64Array(topology.linkSource.length).fill(1);
  for (let p = 0; p < links.length; p++) {
    const [num, den, link] = [shareNum[p], shareDen[p], links[p]];
    if (!(num > 0 && num <= den)) {
      throw new InputError(`a route over link ${linkNames(topology)[link]}`, "a share in (0, 1]", `${num}/${den}`);
    }
    const multiple = capacity[link] === COARSE ? COARSE : (capacity[link] / gcd(capacity[link], den)) * den;
    capacity[link] = multiple > Number.MAX_SAFE_INTEGER ? COARSE : multiple;
  }
  const cost = Float64Array.from(links, (link, p) =>
    capacity[link] % shareDen[p] === 0
      ? (capacity[link] / shareDen[p]) * shareNum[p]
      : Math.max(1, Number((BigInt(COARSE) * BigInt(shareNum[p])) / BigInt(shareDen[p]))),
  );
  return { cost, capacity };
}

/**
 * Returns the replay with cut-through switching. One pass over the rows in planned order: every constraint on a transfer
 * comes from rows before it, and starts on a link never go back, so the earliest start is a maximum over its links.
 * For each link the transfers in flight form a list by end; a route carries one chunk at a time, so route link p is in
 * its link's list at most once and names the entry. O(transfers x links of a route x in flight).
 */
export function replayCutThrough(rows: Rows, timeline: boolean): Simulation {
  const { topology, routes, route, startPs: plannedStart, endPs: plannedEnd, collectives, tenant } = rows;
  const { linkOffset, links } = routes;
  const count = route.length;
  const linkTotal = topology.linkSource.length;
  const { sourcePlace, targetPlace, initial, byArrival } = planOf(rows);
  const { cost, capacity } = wholeShares(rows);
  const kinds = collectives.map(({ reduces, chunkBytes }) => ({
    reduces,
    ...routeTimes(topology, routes, chunkBytes),
  }));

  /** [places] when the chunk is there as planned; -1 before anything has come. */
  const readyPs = Float64Array.from(initial, (held) => held - 1);
  const arrivalPs = new Float64Array(count);
  const startPs = timeline ? new Float64Array(count) : undefined;
  const routeFreePs = new Float64Array(routes.source.length);
  const lastStartPs = new Float64Array(linkTotal);
  const used = new Float64Array(linkTotal);
  const busy = new Float64Array(linkTotal);
  const head = new Int32Array(linkTotal).fill(-1);
  const tail = new Int32Array(linkTotal).fill(-1);
  const next = new Int32Array(links.length).fill(-1);
  const freePs = new Float64Array(links.length);
  let last = 0;

  for (let i = 0, arrived = 0; i < count; i++) {
    for (; arrived < count && plannedEnd[byArrival[arrived]] <= plannedStart[i]; arrived++) {
      const j = byArrival[arrived];
      const place = targetPlace[j];
      const known = readyPs[place];
      const later = arrivalPs[j] > known;
      // reductions: the last of the planned contributions; else: the first copy
      if (known < 0 || later === kinds[tenant === null ? 0 : tenant[j]].reduces) readyPs[place] = arrivalPs[j];
    }
    const r = route[i];
    const ready = readyPs[sourcePlace[i]];
    if (ready < 0) throw neverThere(rows, i);
    let start = Math.max(ready, routeFreePs[r]);
    for (let p = linkOffset[r]; p < linkOffset[r + 1]; p++) {
      const link = links[p];
      if (lastStartPs[link] > start) start = lastStartPs[link];
      let taken = used[link] + cost[p];
      for (let entry = head[link]; taken > capacity[link]; entry = next[entry]) {
        if (freePs[entry] > start) start = freePs[entry];
        taken -= cost[entry];
      }
    }
    const { serialPs, slotPs } = kinds[tenant === null ? 0 : tenant[i]];
    const serial = serialPs[r];
    const free = start + serial;
    for (let p = linkOffset[r]; p < linkOffset[r + 1]; p++) {
      const link = links[p];
      let first = head[link];
      for (; first >= 0 && freePs[first] <= start; first = next[first]) used[link] -= cost[first];
      freePs[p] = free;
      if (first < 0 || freePs[first] > free) {
        next[p] = first;
        head[link] = p;
        if (first < 0) tail[link] = p;
      } else {
        head[link] = first;
        let before = freePs[tail[link]] <= free ? tail[link] : first;
        while (next[before] >= 0 && freePs[next[before]] <= free) before = next[before];
        next[p] = next[before];
        next[before] = p;
        if (next[p] < 0) tail[link] = p;
      }
      used[link] += cost[p];
      busy[link] += serial * cost[p];
      lastStartPs[link] = start;
    }
    routeFreePs[r] = free;
    arrivalPs[i] = start + slotPs[r];
    if (arrivalPs[i] > last) last = arrivalPs[i];
    if (startPs !== undefined) startPs[i] = start;
  }
  return {
    ps: last,
    model: "network/cut-through",
    linkBusyPs: busy.map((scaled, link) => scaled / capacity[link]),
    ...(startPs === undefined ? {} : { startPs, endPs: arrivalPs }),
  };
}
