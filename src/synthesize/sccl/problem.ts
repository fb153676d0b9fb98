import { type Collective, membersOf } from "../../model/collective/collective.ts";
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
export function itemsOf(collective: Collective): Item[] {
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
