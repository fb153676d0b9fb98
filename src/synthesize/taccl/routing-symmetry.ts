import { type Collective, membersOf, type Placement } from "../../model/collective/collective.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { imagesByName } from "../../model/symmetry/images.ts";

/** One member of the group that a sketch's rotations generate. */
export interface RoutingMap {
  /** [chunks] */
  readonly chunkTo: Int32Array;
  /** [routes] */
  readonly routeTo: Int32Array;
}

/** Chunks that are images of each other are routed alike, so one of each orbit stands for all. */
export interface RoutingSymmetry {
  /** The identity first; no other map leaves a chunk in place, so every orbit has as many chunks as there are maps. */
  readonly maps: readonly RoutingMap[];
  /** Least chunk of each orbit, ascending. */
  readonly representatives: Int32Array;
  /** Rotations that had to be left out, in words. */
  readonly notes: readonly string[];
}

/** So many entries of maps are held at most. */
const MOST_ENTRIES = 2e7;

/**
 * Returns the orbits of chunks under the sketch's rotations (TACCL, appendix B.1, symmetric sends). Chunks follow their holders
 * and targets, the k-th of equal ones onto the k-th, so all-to-all turns both ends. A rotation is left out, with a note, where
 * the collective is not the same after it (a broadcast's root moves) or where it leaves chunks in place, so that their routes
 * would have to be images of each other. O(maps * (chunks + routes)).
 */
export function routingSymmetry(network: SketchNetwork, whole: Collective): RoutingSymmetry {
  const routes = routeCount(network.routes);
  const identity: RoutingMap = { chunkTo: indicesBelow(whole.chunkCount), routeTo: indicesBelow(routes) };
  const notes: string[] = [];
  const generators: RoutingMap[] = [];
  let maps: readonly RoutingMap[] = [identity];
  for (const [i, symmetry] of network.symmetries.entries()) {
    const leaveOut = (why: string): void => {
      const { offset, period } = network.sketch.symmetries[i] ?? { offset: 0, period: 0 };
      notes.push(`symmetry_offsets [${offset}, ${period}] is not used: ${why}`);
    };
    const chunkTo = imagesByName(endsOf(whole, null), endsOf(whole, symmetry.npuTo));
    if (chunkTo === null) {
      leaveOut("it is no symmetry of the collective");
      continue;
    }
    const more = [...generators, { chunkTo, routeTo: symmetry.routeTo }];
    const closed = closure(identity, more, Math.min(whole.chunkCount, MOST_ENTRIES / (whole.chunkCount + routes)));
    if (closed === null) {
      leaveOut("it leaves chunks in place, or takes too much memory");
      continue;
    }
    maps = closed;
    generators.push(more[more.length - 1]);
  }
  const least = indicesBelow(whole.chunkCount);
  for (const { chunkTo } of maps) {
    for (let chunk = 0; chunk < chunkTo.length; chunk++) least[chunkTo[chunk]] = Math.min(least[chunkTo[chunk]], chunk);
  }
  return { maps, representatives: identity.chunkTo.filter((chunk) => least[chunk] === chunk), notes };
}

/** Returns all products of the generators; null where there are more than `most` or one but the identity keeps a chunk. */
function closure(identity: RoutingMap, generators: readonly RoutingMap[], most: number): RoutingMap[] | null {
  const maps = [identity];
  const seen = new Set([keyOf(identity)]);
  for (let i = 0; i < maps.length; i++) {
    for (const { chunkTo, routeTo } of generators) {
      const product = {
        chunkTo: maps[i].chunkTo.map((chunk) => chunkTo[chunk]),
        routeTo: maps[i].routeTo.map((route) => routeTo[route]),
      };
      const key = keyOf(product);
      if (seen.has(key)) continue;
      if (maps.length >= most || product.chunkTo.some((to, chunk) => to === chunk)) return null;
      seen.add(key);
      maps.push(product);
    }
  }
  return maps;
}

const keyOf = ({ chunkTo, routeTo }: RoutingMap): string => `${chunkTo.join()};${routeTo.join()}`;

/** Returns a text for each chunk that tells its holders and targets, each NPU taken to its image. */
function endsOf(whole: Collective, npuTo: Int32Array | null): string[] {
  const known = new Map<string, string>();
  const textOf = (placement: Placement, chunk: number): string => {
    const members = membersOf(whole, placement, chunk);
    if (members.length === 1) return `${npuTo === null ? members[0] : npuTo[members[0]]}`;
    const key = members.join();
    let text = known.get(key);
    if (text === undefined) {
      text = (npuTo === null ? members.slice() : members.map((npu) => npuTo[npu])).sort().join();
      known.set(key, text);
    }
    return text;
  };
  return Array.from(
    { length: whole.chunkCount },
    (_, chunk) => `${textOf(whole.pre, chunk)}>${textOf(whole.post, chunk)}`,
  );
}
