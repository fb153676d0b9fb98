import { has } from "./collectives.ts";
import { ordered, type Route, type Steps } from "./transfers.ts";
import { divisor, heap, lowest, wrong } from "./values.ts";

/** Transfers in time: "How a schedule is replayed" of FORMATS.md. */

/** Returns planned starts, merged sends one after another where routes share links, and rows in the order of these. */
export function planned(steps: Steps): { readonly plan: Float64Array; readonly order: Int32Array } {
  const { routes, tenant, route, start, end } = steps;
  const plan = start.slice();
  if (routes.some(({ share }) => share.some(([num, den]) => num !== den)))
    for (let i = 1; i < plan.length; i++)
      if (route[i] === route[i - 1] && start[i] === start[i - 1] && end[i] === end[i - 1])
        plan[i] = Math.min(plan[i - 1] + steps.serial(tenant[i], route[i]), end[i] - 1);
  return { plan, order: ordered(plan.length, (a, b) => plan[a] - plan[b]) };
}

export const beginsAt = ({ tasks, tenant, chunk, first, routes, route }: Steps, row: number): boolean => {
  const t = tenant[row];
  return has(tasks[t].pre, chunk[row] - first[t], routes[route[row] as number].source);
};

/** Returns the time of the last arrival where a route is held at once from end to end. O(rows log rows) but for what links share. */
export function cutThroughPs(steps: Steps): number {
  const { net, tasks, routes, tenant, chunk, route, end, byEnd } = steps;
  const { plan, order } = planned(steps);
  const whole: bigint[] = net.from.map(() => 1n);
  for (const { links, share } of routes)
    links.forEach((link, i) => {
      const [num, den] = lowest(share[i]);
      const own = whole[link];
      if (num !== den) whole[link] = (own / divisor(own, den)) * den;
    });
  const unit = whole.map((own) => (own >= 2n ** 53n ? 2n ** 52n : own));
  const came = new Map<number, number>();
  const arrived = new Float64Array(chunk.length);
  const free = new Float64Array(routes.length);
  const last = new Float64Array(net.from.length);
  /** By link: who holds it, until when and how much, the first to end first. */
  const holds: { until: number; part: bigint }[][] = net.from.map(() => []);
  const held: bigint[] = net.from.map(() => 0n);
  let [latest, ended] = [0, 0];
  for (const row of order) {
    for (; end[byEnd[ended] as number] <= plan[row]; ended++) {
      const one = byEnd[ended];
      const key = chunk[one] * net.npus + routes[route[one] as number].target;
      const { sums } = tasks[tenant[one] as number];
      const [before, now] = [came.get(key), arrived[one] as number];
      came.set(key, before === undefined ? now : sums ? Math.max(before, now) : Math.min(before, now));
    }
    const id = route[row];
    const { links, share, source, latency } = routes[id];
    const isThere = !tasks[tenant[row] as number].sums && beginsAt(steps, row);
    let now = Math.max(free[id], isThere ? 0 : (came.get(chunk[row] * net.npus + source) ?? 0));
    for (const link of links) now = Math.max(now, last[link]);
    const parts = share.map(([num, den], i) => (num * unit[links[i] as number]) / den);
    for (let changed = true; changed; ) {
      changed = false;
      links.forEach((link, i) => {
        const own = holds[link] as { until: number; part: bigint }[];
        const wanted = links.reduce((sum, other, j) => (other === link ? sum + parts[j] : sum), 0n);
        if (links.indexOf(link) !== i) return;
        while (own.length > 0 && ((own[0]?.until as number) <= now || held[link] + wanted > unit[link])) {
          const { until, part } = own.shift() as { until: number; part: bigint };
          held[link] = held[link] - part;
          if (until > now) [now, changed] = [until, true];
        }
      });
    }
    const until = now + steps.serial(tenant[row], id);
    links.forEach((link, i) => {
      const own = holds[link] as { until: number; part: bigint }[];
      let place = own.length;
      while (place > 0 && (own[place - 1]?.until as number) > until) place--;
      own.splice(place, 0, { until, part: parts[i] });
      held[link] = held[link] + parts[i];
      last[link] = now;
    });
    free[id] = until;
    arrived[row] = until + latency;
    latest = Math.max(latest, until + latency);
  }
  return latest;
}

/** Rows that come to a place (chunk and NPU) and rows that wait for them there, both in the order in which they were planned. */
export interface Waiting {
  readonly coming: number[];
  readonly waiting: number[];
  /** Of sums: rows of `coming` that have arrived, from the first on without a gap. */
  all: number;
  /** Of copies: the least place in `coming` of what has arrived. */
  least: number;
}

/** Returns the time of the last arrival where every link takes a row whole before it goes on. O(rows x links of routes, log). */
export function storeAndForwardPs(steps: Steps): number {
  const { net, tasks, routes, tenant, chunk, route, end, byEnd } = steps;
  const { plan, order } = planned(steps);
  const count = chunk.length;
  const places = new Map<number, Waiting>();
  const placeOf = (row: number, npu: number): Waiting => {
    const key = chunk[row] * net.npus + npu;
    const place = places.get(key) ?? { coming: [], waiting: [], all: 0, least: Infinity };
    places.set(key, place);
    return place;
  };
  const routeOf = (row: number): Route => routes[route[row] as number];
  const isSum = (row: number): boolean => tasks[tenant[row] as number].sums;
  const needs = new Int32Array(count);
  const nth = new Int32Array(count);
  const [isReady, isThere] = [new Uint8Array(count), new Uint8Array(count)];
  const position = new Int32Array(count);
  const queues: number[][] = net.from.map(() => []);
  let ended = 0;
  order.forEach((row, i) => {
    for (; end[byEnd[ended] as number] <= plan[row]; ended++) {
      const one = byEnd[ended];
      nth[one] = placeOf(one, routeOf(one).target).coming.push(one) - 1;
    }
    const place = placeOf(row, routeOf(row).source);
    needs[row] = place.coming.length;
    if (isSum(row) ? needs[row] === 0 : beginsAt(steps, row)) isReady[row] = 1;
    else place.waiting.push(row);
    position[row] = i;
    queues[routeOf(row).links[0] as number].push(row);
  });
  for (; ended < count; ended++) {
    const one = byEnd[ended];
    nth[one] = placeOf(one, routeOf(one).target).coming.push(one) - 1;
  }
  for (const place of places.values())
    if (place.waiting[0] !== undefined && isSum(place.waiting[0])) place.waiting.reverse();

  const heads = new Int32Array(queues.length);
  const free = heap();
  const may = (row: number | undefined): void => {
    if (row !== undefined && isReady[row] === 1) free.add(position[row], row);
  };
  const events = heap();
  const sent: { readonly row: number; readonly hop: number }[] = [];
  const busy = new Uint8Array(queues.length);
  const lines: (typeof sent)[] = queues.map(() => []);
  const next = new Int32Array(queues.length);
  const enter = (row: number, hop: number, now: number): void => {
    const link = routeOf(row).links[hop];
    if (busy[link] === 1) {
      (lines[link] as typeof sent).push({ row, hop });
      return;
    }
    busy[link] = 1;
    const serial = steps.linkSerial(tenant[row], link);
    const id = 2 * sent.push({ row, hop });
    events.add(now + serial + net.latency[link], id);
    events.add(now + serial, id + 1);
  };
  const handOver = (now: number): void => {
    while (free.size() > 0) {
      const row = free.take();
      const link = routeOf(row).links[0];
      enter(row, 0, now);
      heads[link] = heads[link] + 1;
      may(queues[link][heads[link] as number]);
    }
  };
  const ready = (row: number): void => {
    isReady[row] = 1;
    const link = routeOf(row).links[0];
    if (queues[link][heads[link] as number] === row) may(row);
  };
  const arrive = (row: number): void => {
    const place = placeOf(row, routeOf(row).target);
    isThere[row] = 1;
    while (isThere[place.coming[place.all] as number] === 1) place.all++;
    place.least = Math.min(place.least, nth[row]);
    const isDue = (one: number | undefined): one is number =>
      one !== undefined && (isSum(one) ? needs[one] <= place.all : needs[one] > place.least);
    while (isDue(place.waiting.at(-1))) ready(place.waiting.pop() as number);
  };
  queues.forEach(([row]) => {
    may(row);
  });
  handOver(0);
  let latest = 0;
  while (events.size() > 0) {
    const now = events.key();
    const id = events.take();
    const { row, hop } = sent[(id >> 1) - 1] as (typeof sent)[0];
    const link = routeOf(row).links[hop];
    if (id % 2 === 1) {
      busy[link] = 0;
      const line = lines[link] as typeof sent;
      const first = line[next[link] as number];
      if (first !== undefined) {
        next[link] = next[link] + 1;
        enter(first.row, first.hop, now);
      }
    } else if (hop + 1 < routeOf(row).links.length) enter(row, hop + 1, now);
    else {
      latest = Math.max(latest, now);
      arrive(row);
    }
    handOver(now);
  }
  return isReady.includes(0) ? wrong("some row never starts in the replay") : latest;
}
