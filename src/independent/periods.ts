import { type Network, readTask, type Task } from "./collectives.ts";
import { type Route, readRoutes } from "./transfers.ts";
import {
  bad,
  ceil,
  compare,
  exact,
  type Fraction,
  isWhole,
  type Json,
  LARGEST,
  listAt,
  objectAt,
  plus,
  SECOND,
  wholeAt,
  wholesAt,
  wrong,
} from "./values.ts";

/** Periods: "Periods, JSON" of FORMATS.md. */

/** By NPU: its edge up, and when it sends up and is sent what comes down, picoseconds; -1 at the root. */
interface Tree {
  readonly edge: readonly number[];
  readonly up: readonly number[];
  readonly down: readonly number[];
}

export interface Periods {
  readonly net: Network;
  readonly task: Task;
  readonly routes: readonly Route[];
  readonly there: readonly number[];
  readonly back: readonly number[];
  readonly periodPs: number;
  readonly trees: readonly Tree[];
}

export function readPeriods(file: Json, net: Network): Periods {
  const task = readTask(file, "", net);
  const routes = readRoutes(file["routes"], net);
  const given = objectAt(file["periods"], "periods");
  const there = wholesAt(given["there"], "periods.there", routes.length - 1);
  const back = wholesAt(given["back"], "periods.back", routes.length - 1, there.length);
  const periodPs = wholeAt(given["periodPs"], "periods.periodPs", 1);
  const tickPs = wholeAt(given["tickPs"], "periods.tickPs", 1, periodPs);
  const trees = listAt(given["trees"], "periods.trees").map((entry, t): Tree => {
    const place = `periods.trees[${t}]`;
    const own = objectAt(entry, place);
    const column = (key: string, most: number): readonly number[] => {
      const list = listAt(own[key], `${place}.${key}`);
      if (list.length !== net.npus) bad(`${place}.${key}`, `${net.npus} numbers`, list);
      const other = list.findIndex((value) => !isWhole(value, -1, most));
      if (other >= 0) bad(`${place}.${key}[${other}]`, `a whole number of -1 to ${most}`, list[other]);
      return list as readonly number[];
    };
    const edge = column("edge", there.length - 1);
    const [up, down] = ["up", "down"].map((key) => {
      const ticks = column(key, Math.floor(LARGEST / tickPs));
      const other = ticks.findIndex((tick, npu) => tick < 0 !== edge[npu] < 0);
      if (other >= 0) bad(`${place}.${key}[${other}]`, "-1 where, and only where, the edge is", ticks[other]);
      return ticks.map((tick) => (tick < 0 ? -1 : tick * tickPs));
    }) as [number[], number[]];
    return { edge, up, down };
  });
  if (trees.length === 0) bad("periods.trees", "at least one tree", trees);
  return { net, task, routes, there, back, periodPs, trees };
}

/** Returns how long each route is held, and when what begins at 0 has arrived. */
function timesOf({ net, task, routes }: Periods) {
  const serial = routes.map(({ links, share }) =>
    links.reduce((most, link, i) => {
      const [num, den] = share[i];
      return Math.max(
        most,
        exact(ceil(task.bytes[0] * SECOND * den, task.bytes[1] * BigInt(net.rate[link] as number) * num)),
      );
    }, 0),
  );
  return { serial, arrival: serial.map((ps, id) => ps + (routes[id] as Route).latency) };
}

/** Returns the routes of an edge, away from an NPU and to it. Throws Wrong where it is not there. */
function waysAt({ routes, there, back }: Periods, edge: number, npu: number): readonly [out: number, back: number] {
  const [a, b] = [there[edge], back[edge]] as [number, number];
  if (routes[a].source === npu) return [a, b];
  return routes[b].source === npu ? [b, a] : wrong(`edge ${edge} is not at NPU ${npu}`);
}

/** Throws Wrong for the first rule of periods that is broken. O(places log places). */
export function checkPeriods(periods: Periods): void {
  const { net, task, routes, there, back, periodPs, trees } = periods;
  if (task.kind !== "allreduce") wrong(`periods do not make ${task.kind}`);
  if (task.groups.length !== 1 || task.size !== net.npus || task.groups[0]?.members.some((npu, i) => npu !== i))
    wrong("periods are for all NPUs in their order");
  if (trees.length > task.chunks) wrong(`${trees.length} trees have no more than ${task.chunks} chunks`);
  there.forEach((a, edge) => {
    const [one, other] = [routes[a], routes[back[edge]]] as [Route, Route];
    if (one.source !== other.target || one.target !== other.source || one.source === one.target)
      wrong(`edge ${edge} does not go there and back`);
    for (const { links } of [one, other])
      if (links.slice(1).some((link) => net.from[link] < net.npus)) wrong(`edge ${edge} passes an NPU`);
  });
  const held = net.from.map((): Fraction => [0n, 1n]);
  for (const { links, share } of routes)
    for (const [i, link] of links.entries()) held[link] = plus(held[link], share[i] as Fraction);
  const full = held.findIndex((share) => compare(share, [1n, 1n]) > 0);
  if (full >= 0) wrong(`routes take more than the whole of link ${full}`);
  const { serial, arrival } = timesOf(periods);
  /** By route: when it begins to be held, modulo the period. */
  const begins = routes.map((): number[] => []);
  for (const [t, { edge, up, down }] of trees.entries()) {
    if (edge.filter((own) => own < 0).length !== 1) wrong(`tree ${t} has not one root`);
    const root = edge.indexOf(-1);
    const ways = edge.map((own, npu) => (own < 0 ? null : waysAt(periods, own, npu)));
    const above = ways.map((own) => (own === null ? -1 : (routes[own[0]] as Route).target));
    const summed = new Array<number>(net.npus).fill(0);
    const result = new Array<number>(net.npus).fill(0);
    const reached = new Array<boolean>(net.npus).fill(false);
    reached[root] = true;
    for (const [npu, own] of ways.entries()) {
      if (own === null) continue;
      const trail: number[] = [];
      for (let at = npu; !reached[at]; at = above[at]) {
        trail.push(at);
        if (trail.length > net.npus) wrong(`NPU ${npu} does not come to the root of tree ${t}`);
      }
      for (const at of trail) reached[at] = true;
      const parent = above[npu] as number;
      summed[parent] = Math.max(summed[parent], up[npu] + arrival[own[0]]);
      result[npu] = down[npu] + arrival[own[1]];
      begins[own[0]].push(up[npu] % periodPs);
      begins[own[1]].push(down[npu] % periodPs);
    }
    result[root] = summed[root] as number;
    for (const [npu, own] of ways.entries()) {
      if (own === null) continue;
      if (up[npu] < summed[npu]) wrong(`NPU ${npu} sends up tree ${t} before all has arrived`);
      if (down[npu] < result[above[npu]]) wrong(`NPU ${npu} is sent the result of tree ${t} before it is there`);
    }
  }
  for (const [id, own] of begins.entries()) {
    own.sort((a, b) => a - b);
    own.forEach((ps, i) => {
      const next = i + 1 < own.length ? own[i + 1] : own[0] + periodPs;
      if (next - ps < serial[id]) wrong(`route ${id} is held by two transfers of a period at once`);
    });
  }
}

/** Returns when the last chunk has arrived. */
export function periodsPs(periods: Periods): number {
  const { task, periodPs, trees } = periods;
  const { arrival } = timesOf(periods);
  let last = 0n;
  for (const [t, { edge, down }] of trees.entries()) {
    const before = BigInt(Math.ceil((task.chunks - t) / trees.length) - 1) * BigInt(periodPs);
    for (const [npu, own] of edge.entries()) {
      if (own < 0) continue;
      const ps = before + BigInt(down[npu] + arrival[waysAt(periods, own, npu)[1]]);
      if (ps > last) last = ps;
    }
  }
  return exact(last);
}
