import { visitSets } from "../../model/bounds/cut-sets.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";

/**
 * k-synchronous schedules (Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021): steps one after the other,
 * step s of r_s >= 1 rounds; in a round an arc carries as many chunks as fit into the time that the slowest route needs for
 * one; a chunk is sent on in a later step than it came. A schedule of S steps and R rounds in all costs S * alpha + R * beta.
 */

/** Routes from one NPU to another that a chunk may take alike. */
export interface Arcs {
  /** [arcs] */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Its routes, ascending. */
  readonly routes: readonly (readonly number[])[];
}

/** Sends over these arcs, each counted `weight` times, are at most `capacity` chunks a round. */
export interface Load {
  /** An arc that is there twice counts twice. */
  readonly arcs: Int32Array;
  readonly weight: number;
  readonly capacity: number;
}

/**
 * What moves: one chunk from any of its sources to all of its targets, or, where `demand` says how many chunks each target
 * gets, chunks of one source that each have one target; these are alike until they arrive.
 */
export interface Item {
  readonly sources: Int32Array;
  /** Without NPUs that hold the chunk at the start. */
  readonly targets: Int32Array;
  /** [targets] null: a single chunk. */
  readonly demand: Int32Array | null;
  /** Chunks of the collective, by target where there is a demand. */
  readonly chunks: Int32Array;
}

/** A collective without reduction on a network. */
export interface SyncProblem {
  readonly npuCount: number;
  readonly arcs: Arcs;
  readonly loads: readonly Load[];
  readonly items: readonly Item[];
}

/** Chunks that an item is. */
export const chunksOf = ({ chunks }: Item): number => chunks.length;

const floorOf = ({ num, den }: Rational): number => Number(num / den);

/** Returns the rate of each route in bytes per second: the least of its shares of links. */
function routeRates({ linkBytesPerSecond }: Topology, routes: RouteSet): Rational[] {
  const { linkOffset, links, shareNum, shareDen } = routes;
  return Array.from({ length: routeCount(routes) }, (_, route) => {
    let least: Rational | null = null;
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
      const share = rational(shareNum[i], shareDen[i]);
      const rate = multiply(share, rational(linkBytesPerSecond[links[i]]));
      if (least === null || compare(rate, least) < 0) least = rate;
    }
    return least as Rational;
  });
}

/** Returns [links] whether the shares of all routes together are more than the link: then they cannot all be in use. */
function crowdedLinks(topology: Topology, { links, shareNum, shareDen }: RouteSet): Uint8Array {
  const sums = new Float64Array(linkCount(topology));
  // shares of unwound routes add up to at most 1; a hair above it is rounding
  for (let i = 0; i < links.length; i++) sums[links[i]] += shareNum[i] / shareDen[i];
  return Uint8Array.from(sums, (sum) => (sum > 1 + 1e-9 ? 1 : 0));
}

/** Returns the arcs and what they carry together; parallel routes over links of their own are one arc. */
function arcsOf(topology: Topology, routes: RouteSet): { readonly arcs: Arcs; readonly loads: Load[] } {
  const { linkOffset, links } = routes;
  const rates = routeRates(topology, routes);
  const base = rates.reduce((least, rate) => (compare(rate, least) < 0 ? rate : least), rates[0] ?? rational(1));
  const perRound = (rate: Rational): number => floorOf(rational(rate.num * base.den, rate.den * base.num));
  const crowded = crowdedLinks(topology, routes);
  const bundles = new Map<string, { readonly source: number; readonly target: number; readonly routes: number[] }>();
  for (let route = 0; route < routeCount(routes); route++) {
    const source = routes.source[route];
    const target = routes.target[route];
    const isAlone = links.subarray(linkOffset[route], linkOffset[route + 1]).every((link) => crowded[link] === 0);
    const key = isAlone ? `${source} ${target}` : `${source} ${target} ${route}`;
    const known = bundles.get(key);
    if (known === undefined) bundles.set(key, { source, target, routes: [route] });
    else known.routes.push(route);
  }
  const sorted = [...bundles.values()].sort(
    (a, b) => a.source - b.source || a.target - b.target || (a.routes[0] as number) - (b.routes[0] as number),
  );
  const loads: Load[] = sorted.map((arc, a) => ({
    arcs: Int32Array.of(a),
    weight: 1,
    capacity: arc.routes.reduce((sum, route) => sum + perRound(rates[route] as Rational), 0),
  }));
  const users: number[][] = Array.from({ length: linkCount(topology) }, () => []);
  sorted.forEach((arc, a) => {
    for (const route of arc.routes) {
      for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++) {
        if (crowded[links[i]] === 1) users[links[i]]?.push(a);
      }
    }
  });
  const shared = users.flatMap((list, link) =>
    list.length < 2
      ? []
      : [
          {
            arcs: Int32Array.from(list),
            weight: 1,
            capacity: perRound(rational(topology.linkBytesPerSecond[link])),
          },
        ],
  );
  // in an order that does not depend on the numbers of links
  shared.sort((a, b) => (a.arcs.join() < b.arcs.join() ? -1 : a.arcs.join() > b.arcs.join() ? 1 : 0));
  loads.push(...shared);
  const arcs = {
    source: Int32Array.from(sorted, (arc) => arc.source),
    target: Int32Array.from(sorted, (arc) => arc.target),
    routes: sorted.map((arc) => arc.routes),
  };
  return { arcs, loads };
}

/** Returns the items of a collective, by their least chunks. */
function itemsOf(collective: Collective): Item[] {
  const items: Item[] = [];
  const bySource = new Map<number, { readonly target: number; readonly chunk: number }[]>();
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const sources = membersOf(collective, collective.pre, chunk);
    const targets = membersOf(collective, collective.post, chunk)
      .filter((v) => !sources.includes(v))
      .sort();
    if (targets.length === 0) continue;
    if (targets.length > 1 || sources.length > 1) {
      items.push({ sources: sources.slice().sort(), targets, demand: null, chunks: Int32Array.of(chunk) });
      continue;
    }
    const source = sources[0];
    const list = bySource.get(source);
    if (list === undefined) bySource.set(source, [{ target: targets[0], chunk }]);
    else list.push({ target: targets[0], chunk });
  }
  for (const [source, list] of bySource) {
    list.sort((a, b) => a.target - b.target || a.chunk - b.chunk);
    const targets = [...new Set(list.map(({ target }) => target))];
    items.push({
      sources: Int32Array.of(source),
      targets: Int32Array.from(targets),
      demand: Int32Array.from(targets, (target) => list.filter((one) => one.target === target).length),
      chunks: Int32Array.from(list, ({ chunk }) => chunk),
    });
  }
  return items.sort((a, b) => a.chunks[0] - b.chunks[0]);
}

/**
 * Returns the problem of a collective without reduction over these routes. Rounds are of the slowest route's time for a
 * chunk, in which faster ones carry as many as fit whole. O(routes x route length + chunks x members).
 */
export function syncProblem(topology: Topology, routes: RouteSet, collective: Collective): SyncProblem {
  return { npuCount: topology.npuCount, ...arcsOf(topology, routes), items: itemsOf(collective) };
}

/** Returns a text that is the same for problems that differ in nothing but the numbers of routes and chunks. */
export function problemKey({ npuCount, arcs, loads, items }: SyncProblem): string {
  return JSON.stringify([
    npuCount,
    [...arcs.source],
    [...arcs.target],
    loads.map(({ arcs, capacity }) => [[...arcs], capacity]),
    items.map(({ sources, targets, demand }) => [[...sources], [...targets], demand === null ? 0 : [...demand]]),
  ]);
}

const UNREACHED = 1_000_000;

/** Returns [from * NPUs + to] how many arcs apart NPUs are; more than any number of steps where there is no way. */
export function hopsOf({ npuCount, arcs }: Pick<SyncProblem, "npuCount" | "arcs">): Int32Array {
  const { offset, items: out } = groupedBy(arcs.source, npuCount);
  const hops = new Int32Array(npuCount * npuCount).fill(UNREACHED);
  const queue = new Int32Array(npuCount);
  for (let from = 0; from < npuCount; from++) {
    const row = hops.subarray(from * npuCount, (from + 1) * npuCount);
    row[from] = 0;
    queue[0] = from;
    for (let head = 0, tail = 1; head < tail; head++) {
      const v = queue[head];
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const w = arcs.target[out[i]];
        if (row[w] !== UNREACHED) continue;
        row[w] = row[v] + 1;
        queue[tail++] = w;
      }
    }
  }
  return hops;
}

/** When an item can be where, in steps. */
export interface Window {
  /** [npus] steps after which the item can be there at the earliest: arcs from the nearest source. */
  readonly early: Int32Array;
  /** [npus] steps that it needs from there to the nearest target. */
  readonly left: Int32Array;
}

/** Returns the window of each item; those with equal sources and targets share one. */
export function windowsOf({ npuCount, items }: SyncProblem, hops: Int32Array): Window[] {
  const known = new Map<string, Window>();
  const least = (ends: Int32Array, at: (end: number) => number): number =>
    ends.reduce((best, end) => Math.min(best, hops[at(end)]), UNREACHED);
  return items.map(({ sources, targets }) => {
    const key = `${sources.join()}>${targets.join()}`;
    let window = known.get(key);
    if (window === undefined) {
      window = {
        early: Int32Array.from({ length: npuCount }, (_, v) => least(sources, (s) => s * npuCount + v)),
        left: Int32Array.from({ length: npuCount }, (_, v) => least(targets, (t) => v * npuCount + t)),
      };
      known.set(key, window);
    }
    return window;
  });
}

/** Returns the fewest steps in which every target can be reached, and a pair that needs them; steps 0: nothing to send. */
export function leastSteps(items: readonly Item[], windows: readonly Window[]) {
  let far = { steps: 0, source: 0, target: 0 };
  items.forEach(({ sources, targets }, i) => {
    for (const target of targets) {
      const steps = (windows[i] as Window).early[target];
      if (steps > far.steps) far = { steps, source: sources[0], target };
    }
  });
  return { ...far, reachable: far.steps < UNREACHED };
}

/** Up to this many NPUs every set of them is tried. */
const ALL_SETS = 12;

/** Returns chunks that must enter a set of NPUs. */
function entering({ items }: SyncProblem, within: Uint8Array): number {
  let chunks = 0;
  for (const { sources, targets, demand } of items) {
    if (sources.some((v) => within[v] === 1)) continue;
    if (demand === null) chunks += targets.some((v) => within[v] === 1) ? 1 : 0;
    else
      targets.forEach((v, t) => {
        if (within[v] === 1) chunks += demand[t];
      });
  }
  return chunks;
}

/**
 * Returns how many chunks may enter a set in a round: each arc into it by the load of its own, or, where that is less, by
 * loads of several arcs (ports), those first that save most. Arcs are counted once.
 */
function room({ arcs, loads }: SyncProblem, within: Uint8Array): number {
  const own = new Float64Array(arcs.source.length);
  for (const { arcs: users, capacity } of loads) {
    const enters = within[arcs.source[users[0]]] === 0 && within[arcs.target[users[0]]] === 1;
    if (users.length === 1 && enters) own[users[0]] = capacity;
  }
  const savedBy = ({ arcs: users, capacity }: Load): number => users.reduce((sum, a) => sum + own[a], -capacity);
  let chunks = 0;
  let ports = loads.filter((load) => load.arcs.length > 1);
  for (;;) {
    ports = ports.filter((load) => savedBy(load) > 0);
    const best = ports.reduce<Load | null>((a, b) => (a === null || savedBy(b) > savedBy(a) ? b : a), null);
    if (best === null) break;
    chunks += best.capacity;
    for (const a of best.arcs) own[a] = 0;
  }
  return chunks + own.reduce((sum, capacity) => sum + capacity, 0);
}

/** Array cells that may be read to find sets. */
const SET_BUDGET = 1_000_000;

/** Returns sets of NPUs of a network whose borders are likely to be narrow: boxes, what faster links join, slabs. */
export function likelySets(topology: Topology): Int32Array[] {
  const sets: Int32Array[] = [];
  if (topology.npuCount <= ALL_SETS) return sets;
  visitSets(
    topology,
    null,
    { left: SET_BUDGET },
    {
      visit: (nodes, _, again) => {
        if (!again) sets.push(nodes.filter((v) => v < topology.npuCount));
      },
      worthTrying: () => false,
      prefixes: () => null,
    },
  );
  return sets;
}

/**
 * Returns a number of rounds that no schedule can do with less: chunks that must enter a set of NPUs over what enters it in a
 * round, for all sets of a small network, else for single NPUs, these sets, and all that lack one of them.
 * O(sets x (items + arcs)).
 */
export function leastRounds(problem: SyncProblem, sets: readonly Int32Array[] = []): number {
  const { npuCount } = problem;
  let most = 0;
  const attempt = (within: Uint8Array): void => {
    const chunks = entering(problem, within);
    if (chunks > 0) most = Math.max(most, Math.ceil(chunks / room(problem, within)));
  };
  if (npuCount <= ALL_SETS) {
    const within = new Uint8Array(npuCount);
    for (let set = 1; set < 2 ** npuCount - 1; set++) attempt(within.map((_, v) => (set >> v) & 1));
    return most;
  }
  for (const set of [...Array.from({ length: npuCount }, (_, v) => Int32Array.of(v)), ...sets]) {
    const within = new Uint8Array(npuCount);
    for (const v of set) within[v] = 1;
    attempt(within);
    attempt(within.map((one) => 1 - one));
  }
  return most;
}
