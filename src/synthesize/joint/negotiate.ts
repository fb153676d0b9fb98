import { draw } from "../../base/random.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { RouteSet } from "../../model/routes/routes.ts";

/**
 * Negotiated repair of a table that is too full (PathFinder: McMurchie and Ebeling 1995, there for wires of an FPGA).
 *
 * A missing place is brought in along a cheapest way in time and space from the NPUs that have its errand. Cells that
 * others occupy may be taken, at a price: the delivery that loses them becomes missing itself, and every theft makes the
 * cell dearer, so that errands that have other ways learn to avoid it. What hangs on a lost delivery stays and waits for
 * it to come back in time; branches that would leave too early are taken back. Ends when nothing is missing.
 *
 * Prices are integers: a way over few cells first, then the theft of a leaf, then of an inner node.
 */
const PRICE = { cell: 6, relay: 8, theft: 64, branch: 32, lateBranch: 32, grudge: 16 };
const NOWHERE = 2 ** 52;
/** A table with this many more missing places than at its best (and twice that) does not recover. */
const HOPELESS = 60;

/** Returns about how many array cells one repair reads: at every time every NPU, every route and half of the routes' cells. */
export function repairCost({ cells, network }: CellTable): number {
  return cells * (network.npus + network.routes.source.length + cellsOfRoutes(network) / 2);
}

/** Makes at most `most` repairs; returns whether nothing is missing, and how many they were. O(most x repairCost). */
export function negotiate(table: CellTable, seed: number, most: number): { full: boolean; repairs: number } {
  const repair = repairOf(table, seed);
  const { missing, npus } = repair;
  let least = missing.length;
  let repairs = 0;
  for (; missing.length > 0 && repairs < most; repairs++) {
    least = Math.min(least, missing.length);
    if (missing.length > 2 * least + HOPELESS) break;
    const place = missing[Math.floor((draw(seed, 1, repairs) * missing.length) / 4294967296)] as number;
    const e = Math.floor(place / npus);
    lookAt(repair, e);
    const end = search(repair, e, place - e * npus);
    if (end >= 0) walk(repair, e, place - e * npus, end);
    else if (!clear(repair, e, place - e * npus)) break;
  }
  return { full: missing.length === 0, repairs };
}

/** Returns what repairs of a table work with. */
function repairOf(table: CellTable, seed: number) {
  const { network, cells, owner } = table;
  const { npus, routes } = network;
  return {
    ...network,
    ...table,
    table,
    leaving: [groupedBy(routes.source, npus), groupedBy(routes.target, npus)] as const,
    grudge: new Int32Array(owner.length),
    /** [cells + 1][npus] least price of being there by then, and the route by which (-1: waited, or had it). */
    price: new Float64Array((cells + 1) * npus),
    by: new Int32Array((cells + 1) * npus),
    /** [npus] of the errand at hand: 1 has it, 0 has it but hangs on a missing place, -1 has it not. */
    state: new Int8Array(npus),
    x: draw(seed, 0, 0),
  };
}

type Repair = ReturnType<typeof repairOf>;

/** Tells in `state` who has an errand. */
function lookAt(repair: Repair, e: number): void {
  const { errands, npus, state, arrival, via, routes } = repair;
  const { reversed } = errands[e] as Errand;
  const base = e * npus;
  for (let v = 0; v < npus; v++) state[v] = arrival[base + v] < 0 ? -1 : via[base + v] < 0 ? 1 : 2;
  for (let v = 0; v < npus; v++) {
    let up = v;
    while (state[up] === 2) up = tailOf(routes, reversed, via[base + up]);
    const known = state[up] === 1 ? 1 : 0;
    for (up = v; state[up] === 2; up = tailOf(routes, reversed, via[base + up])) state[up] = known;
  }
}

/** Returns what the cells of a transfer cost now; Infinity where the errand itself holds one. */
function fee(repair: Repair, e: number, route: number, first: number, length: number): number {
  const { routes, links, owner, grudge, npus, branches } = repair;
  let sum = 0;
  let before = -1;
  for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
    for (let row = first; row < first + length; row++) {
      const cell = row * links + routes.links[i];
      const held = owner[cell];
      sum += grudge[cell];
      if (held < 0 || held === before) continue;
      before = held;
      if (held >= e * npus && held < (e + 1) * npus) return NOWHERE;
      sum += PRICE.theft + PRICE.branch * branches[held];
    }
  }
  return sum;
}

/** Fills `price` and `by`; returns when to arrive at `goal` at the least price, or -1. */
function search(repair: Repair, e: number, goal: number): number {
  const { errands, lengths, npus, leaving, price, by, state, arrival, cells, routes, wants, branches } = repair;
  const { reversed, sizeClass, release } = errands[e] as Errand;
  const length = lengths[sizeClass] as Int32Array;
  const base = e * npus;
  const out = reversed ? leaving[1] : leaving[0];
  price.fill(NOWHERE);
  by.fill(-1);
  for (let v = 0; v < npus; v++) if (state[v] === 1) price[arrival[base + v] * npus + v] = 0;
  const late = lateBranches(repair, e, goal);
  let best = -1;
  let least = NOWHERE;
  for (let now = release; now <= cells; now++) {
    const row = now * npus;
    const there = price[row + goal];
    if (there < NOWHERE && there + late[now] < least) {
      least = there + late[now];
      best = now;
    }
    for (let v = 0; v < npus && now < cells; v++) {
      const paid = price[row + v];
      if (paid >= least || v === goal) continue;
      if (paid < price[row + npus + v]) {
        price[row + npus + v] = paid;
        by[row + npus + v] = -1;
      }
      for (let i = out.offset[v]; i < out.offset[v + 1]; i++) {
        const route = out.items[i];
        const head = headOf(routes, reversed, route);
        if (state[head] >= 0) continue;
        const lasts = length[route];
        const end = now + lasts;
        if (end > cells) continue;
        const place = base + head;
        repair.x = (Math.imul(0x9e3779b1, repair.x) + 0x7f4a7c15) >>> 0;
        const relay = wants[place] === 1 || branches[place] > 0 ? 0 : PRICE.relay;
        const fare = paid + PRICE.cell * lasts + relay + (repair.x >>> 30);
        const at = end * npus + head;
        if (fare >= price[at]) continue;
        const total = fare + fee(repair, e, route, firstCell(cells, reversed, end, lasts), lasts);
        if (total >= price[at]) continue;
        price[at] = total;
        by[at] = route;
      }
    }
  }
  return best;
}

/** Returns [cells + 1] what an arrival at that time costs in branches of the place that leave before. */
function lateBranches(repair: Repair, e: number, goal: number): Float64Array {
  const { cells, branches } = repair;
  const cost = new Float64Array(cells + 2);
  eachBranch(repair, e, goal, (place, departure) => {
    cost[departure + 1] += PRICE.lateBranch * (1 + branches[place]);
  });
  for (let s = 1; s <= cells; s++) cost[s] += cost[s - 1];
  return cost;
}

function eachBranch(repair: Repair, e: number, npu: number, visit: (place: number, departure: number) => void): void {
  const { errands, branches, npus, via, routes, arrival, lengths } = repair;
  const { reversed, sizeClass } = errands[e] as Errand;
  let left = branches[e * npus + npu];
  for (let v = 0; v < npus && left > 0; v++) {
    const route = via[e * npus + v];
    if (route < 0 || tailOf(routes, reversed, route) !== npu) continue;
    left--;
    visit(e * npus + v, arrival[e * npus + v] - (lengths[sizeClass] as Int32Array)[route]);
  }
}

/** Takes the way that `search` found to (goal, arrival). */
function walk(repair: Repair, e: number, goal: number, end: number): void {
  const { errands, state, arrival, npus, by, lengths, routes, cells, links, owner, grudge, table } = repair;
  const { reversed, sizeClass } = errands[e] as Errand;
  const steps: { head: number; route: number; end: number }[] = [];
  for (let v = goal, now = end; ; ) {
    if (state[v] === 1 && now === arrival[e * npus + v]) break;
    const route = by[now * npus + v];
    if (route < 0) {
      now--;
      continue;
    }
    steps.push({ head: v, route, end: now });
    now -= (lengths[sizeClass] as Int32Array)[route];
    v = tailOf(routes, reversed, route);
  }
  for (const step of steps.reverse()) {
    const lasts = (lengths[sizeClass] as Int32Array)[step.route];
    const first = firstCell(cells, reversed, step.end, lasts);
    for (let row = first; row < first + lasts; row++) {
      for (let i = routes.linkOffset[step.route]; i < routes.linkOffset[step.route + 1]; i++) {
        const cell = row * links + routes.links[i];
        if (owner[cell] < 0) continue;
        grudge[cell] += PRICE.grudge;
        takeBack(table, owner[cell]);
      }
    }
    deliver(table, e * npus + step.head, step.route, step.end);
  }
  // only now: a relay that loses its last branch is taken back itself
  for (const { head, end: since } of steps) {
    eachBranch(repair, e, head, (place, departure) => {
      if (departure < since) takeBack(table, place);
    });
  }
}

/**
 * Makes room where no way leads to an NPU in time, whatever is paid: takes back the branches of the errand that hang in
 * the air, else what brings it too late to the NPU's neighbours, else to anyone. Returns whether there was any.
 */
function clear(repair: Repair, e: number, npu: number): boolean {
  const { npus, via, table, state, errands, leaving, routes } = repair;
  const base = e * npus;
  let cleared = 0;
  const clearPlace = (v: number): void => {
    if (via[base + v] < 0) return;
    takeBack(table, base + v);
    cleared++;
  };
  for (let v = 0; v < npus; v++) if (state[v] === 0) clearPlace(v);
  if (cleared > 0) return true;
  const { reversed } = errands[e] as Errand;
  const entering = reversed ? leaving[0] : leaving[1];
  for (let i = entering.offset[npu]; i < entering.offset[npu + 1]; i++) {
    clearPlace(tailOf(routes, reversed, entering.items[i]));
  }
  if (cleared === 0) for (let v = 0; v < npus; v++) clearPlace(v);
  return cleared > 0;
}

/** A network cut into cells: link l during [k, k + 1) units of time is cell k * links + l. */
export interface CellNetwork {
  readonly npus: number;
  readonly links: number;
  readonly routes: RouteSet;
  /** [classes][routes] how many cells of each of its links a transfer of that class of chunks occupies. */
  readonly lengths: readonly Int32Array[];
}

/**
 * One chunk on its way in one direction of time. Where `reversed`, its time runs backwards from the end of the table and
 * its routes from target to source: what leaves the sources in that view are contributions on their way to them.
 */
export interface Errand {
  readonly reversed: boolean;
  /** Index into `lengths`. */
  readonly sizeClass: number;
  /** Where it is from `release` on (in its own time). */
  readonly sources: Int32Array;
  readonly release: number;
  /** Who must have it at the end of its own time. */
  readonly wanted: Int32Array;
}

/**
 * Who occupies which cell, and by which route and when every NPU gets every errand: trees, of which some branches may be
 * cut off for the moment (their root is *missing*, what hangs on it stays where it is). A place is errand * npus + NPU.
 */
export interface CellTable {
  readonly network: CellNetwork;
  readonly errands: readonly Errand[];
  readonly cells: number;
  /** [cells * links] place that is delivered through the cell, or -1. */
  readonly owner: Int32Array;
  /** [places] when it arrives, in the errand's own time; -1 where it does not. */
  readonly arrival: Int32Array;
  /** [places] route over which it arrives; -1 at sources and where it does not. */
  readonly via: Int32Array;
  /** [places] how many places hang on this one. */
  readonly branches: Int32Array;
  /** [places] 1 where the NPU wants the errand. */
  readonly wants: Uint8Array;
  /** Places that must be delivered and are not. */
  readonly missing: number[];
  /** [places] position in `missing`, or -1. */
  readonly missingAt: Int32Array;
}

/** Returns how many cells one transfer on each route would occupy, beyond a cell each, in the class with the longest. */
export function cellsOfRoutes({ routes, lengths }: CellNetwork): number {
  const sums = lengths.map((length) =>
    length.reduce((sum, cells, r) => sum + cells * (routes.linkOffset[r + 1] - routes.linkOffset[r]) - 1, 0),
  );
  return Math.max(0, ...sums);
}

/** Returns the empty table of `cells` units of time: everything that is wanted is missing. O(cells + places). */
export function cellTable(network: CellNetwork, errands: readonly Errand[], cells: number): CellTable {
  const places = errands.length * network.npus;
  const table: CellTable = {
    network,
    errands,
    cells,
    owner: new Int32Array(cells * network.links).fill(-1),
    arrival: new Int32Array(places).fill(-1),
    via: new Int32Array(places).fill(-1),
    branches: new Int32Array(places),
    wants: new Uint8Array(places),
    missing: [],
    missingAt: new Int32Array(places).fill(-1),
  };
  errands.forEach(({ sources, release, wanted }, e) => {
    for (const v of sources) table.arrival[e * network.npus + v] = release;
    for (const v of wanted) table.wants[e * network.npus + v] = 1;
    for (const v of wanted) if (table.arrival[e * network.npus + v] < 0) miss(table, e * network.npus + v);
  });
  return table;
}

/** Returns the NPU that a route leaves in the errand's own view. */
export const tailOf = ({ source, target }: RouteSet, reversed: boolean, route: number): number =>
  reversed ? target[route] : source[route];

export const headOf = ({ source, target }: RouteSet, reversed: boolean, route: number): number =>
  reversed ? source[route] : target[route];

/** Returns the first cell row of a transfer that lasts `length` and arrives at `arrival` in the errand's own time. */
export const firstCell = (cells: number, reversed: boolean, arrival: number, length: number): number =>
  reversed ? cells - arrival : arrival - length;

function miss({ missing, missingAt }: CellTable, place: number): void {
  if (missingAt[place] >= 0) return;
  missingAt[place] = missing.length;
  missing.push(place);
}

function found({ missing, missingAt }: CellTable, place: number): void {
  const at = missingAt[place];
  if (at < 0) return;
  const last = missing.pop() as number;
  if (last !== place) {
    missing[at] = last;
    missingAt[last] = at;
  }
  missingAt[place] = -1;
}

function parentOf(table: CellTable, place: number): number {
  const { routes, npus } = table.network;
  const errand = Math.floor(place / npus);
  return errand * npus + tailOf(routes, (table.errands[errand] as Errand).reversed, table.via[place]);
}

/** Marks (or frees, with -1) the cells of the delivery to a place. */
function mark(table: CellTable, place: number, owner: number): void {
  const { network, cells, arrival, via } = table;
  const { reversed, sizeClass } = table.errands[Math.floor(place / network.npus)] as Errand;
  const { linkOffset, links } = network.routes;
  const route = via[place];
  const length = (network.lengths[sizeClass] as Int32Array)[route];
  const first = firstCell(cells, reversed, arrival[place], length);
  for (let row = first; row < first + length; row++) {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) table.owner[row * network.links + links[i]] = owner;
  }
}

/** Delivers to a place over a route whose cells are free. */
export function deliver(table: CellTable, place: number, route: number, arrival: number): void {
  table.via[place] = route;
  table.arrival[place] = arrival;
  table.branches[parentOf(table, place)]++;
  mark(table, place, place);
  found(table, place);
}

/**
 * Takes a delivery back. The place is then missing if its NPU wants the errand or something hangs on it; a relay that
 * nothing hangs on any more is taken back too, and so on towards the source.
 */
function takeBack(table: CellTable, place: number): void {
  const { via, arrival, branches, wants } = table;
  for (let at = place; ; ) {
    const parent = parentOf(table, at);
    mark(table, at, -1);
    via[at] = -1;
    arrival[at] = -1;
    if (wants[at] === 1 || branches[at] > 0) miss(table, at);
    branches[parent]--;
    if (branches[parent] > 0 || wants[parent] === 1) return;
    if (via[parent] < 0) {
      found(table, parent);
      return;
    }
    at = parent;
  }
}
