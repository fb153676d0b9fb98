import type { RouteSet } from "../../model/routes/routes.ts";

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

export function miss({ missing, missingAt }: CellTable, place: number): void {
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
export function takeBack(table: CellTable, place: number): void {
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
