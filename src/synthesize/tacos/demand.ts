import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { distancesFrom, groupedBy } from "../../model/graph/graph.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { routeGraph } from "./distances.ts";

/** Which NPUs take part in moving a chunk: those that want it; these and the ones on shortest paths to them; all. */
export type RelayMode = "members" | "paths" | "all";

/** What every NPU starts with: NPU v holds chunk[offset[v] .. offset[v + 1]], ascending. */
export interface Holdings {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns the precondition NPU by NPU. O(NPUs + holdings). */
export function holdingsOf(collective: Collective, npuCount: number): Holdings {
  const offset = new Int32Array(npuCount + 1);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.pre, c)) offset[v + 1]++;
  }
  for (let v = 0; v < npuCount; v++) offset[v + 1] += offset[v];
  const next = offset.slice(0, npuCount);
  const chunk = new Int32Array(offset[npuCount]);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.pre, c)) chunk[next[v]++] = c;
  }
  return { offset, chunk };
}

/** Returns whether every NPU wants every chunk. */
export function everyoneWantsAll(collective: Collective, npuCount: number): boolean {
  return collective.post.kind === "group" && collective.groupCount === 1 && collective.groupSize === npuCount;
}

/** Returns one bit per (NPU, chunk) of the postcondition, rows of ceil(chunks / 32) words. */
export function wantedBits(collective: Collective, npuCount: number): Uint32Array {
  const words = (collective.chunkCount + 31) >>> 5;
  const bits = new Uint32Array(npuCount * words);
  for (let c = 0; c < collective.chunkCount; c++) {
    for (const v of membersOf(collective, collective.post, c)) bits[v * words + (c >>> 5)] |= 1 << (c & 31);
  }
  return bits;
}

/** Chunks with the same holders and the same wanters share their analysis. */
function chunkClasses(collective: Collective): Map<string, number[]> {
  const classes = new Map<string, number[]>();
  for (let c = 0; c < collective.chunkCount; c++) {
    const { pre, post } = collective;
    const from = membersOf(collective, pre, c).join();
    const to =
      post.kind === "group"
        ? `g${Math.floor((c * collective.groupCount) / collective.chunkCount)}`
        : membersOf(collective, post, c).join();
    const key = `${from}>${to}`;
    const list = classes.get(key);
    if (list === undefined) classes.set(key, [c]);
    else list.push(c);
  }
  return classes;
}

/** Returns whether every chunk can spread to the NPUs that want it over those NPUs alone. */
export function spreadsAmongMembers(collective: Collective, routes: RouteSet, npuCount: number): boolean {
  const leaving = groupedBy(routes.source, npuCount);
  for (const chunks of chunkClasses(collective).values()) {
    const wanters = new Set(membersOf(collective, collective.post, chunks[0] as number));
    const reached = new Set(membersOf(collective, collective.pre, chunks[0] as number));
    const queue = [...reached];
    for (let i = 0; i < queue.length; i++) {
      const v = queue[i] as number;
      for (let k = leaving.offset[v]; k < leaving.offset[v + 1]; k++) {
        const next = routes.target[leaving.items[k]];
        if (reached.has(next) || !wanters.has(next)) continue;
        reached.add(next);
        queue.push(next);
      }
    }
    for (const v of wanters) if (!reached.has(v)) return false;
  }
  return true;
}

/**
 * Returns the wanted bits with, for each chunk, the NPUs on shortest paths (in slot times) from its holders to those that
 * want it added: so every chunk can travel from NPU to NPU that all take it.
 */
export function wantedWithPaths(
  collective: Collective,
  routes: RouteSet,
  slotPs: Float64Array,
  npuCount: number,
): Uint32Array {
  const bits = wantedBits(collective, npuCount);
  const words = (collective.chunkCount + 31) >>> 5;
  const network = routeGraph(routes, slotPs, npuCount);
  const previous = new Int32Array(npuCount);
  for (const chunks of chunkClasses(collective).values()) {
    const holders = membersOf(collective, collective.pre, chunks[0] as number);
    previous.fill(-1);
    distancesFrom(network, holders, previous);
    const onPath = new Set<number>();
    for (const wanter of membersOf(collective, collective.post, chunks[0] as number)) {
      for (let v = wanter; v >= 0 && !onPath.has(v); v = previous[v] < 0 ? -1 : routes.source[previous[v]])
        onPath.add(v);
    }
    for (const c of chunks) for (const v of onPath) bits[v * words + (c >>> 5)] |= 1 << (c & 31);
  }
  return bits;
}
