import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import { mayCarry } from "../../model/sketch/sketch-relays.ts";
import { type Distances, distancesFrom } from "./routing-distances.ts";

/** So many sentences are given at most. */
const MOST_SENTENCES = 6;
/** So many NPUs are named in a list. */
const MOST_NAMES = 8;

/**
 * Returns what keeps chunks of some owners from some boxes, a sentence each with the sketch's fields; empty where every chunk
 * reaches all its targets. Loads are never in the way, for time is what they cost; so reaching all is all there is to be
 * feasible. O(chunks * NPUs), and O(routes) for each pair of an owner and a box in conflict.
 */
export function routingConflict(
  network: SketchNetwork,
  whole: Collective,
  distancesOf: readonly Distances[],
): string[] {
  const sentences = new Set<string>();
  const told = new Set<string>();
  for (let chunk = 0; chunk < whole.chunkCount; chunk++) {
    const { rank } = distancesOf[chunk];
    const holders = membersOf(whole, whole.pre, chunk);
    for (const target of membersOf(whole, whole.post, chunk)) {
      if (rank[target] >= 0) continue;
      const pair = `${holders[0]},${network.boxOf[target]}`;
      if (told.has(pair)) continue;
      told.add(pair);
      if (sentences.size <= MOST_SENTENCES) sentences.add(whyNot(network, holders, target));
    }
  }
  const all = [...sentences];
  return all.length > MOST_SENTENCES ? [...all.slice(0, MOST_SENTENCES), "others like these"] : all;
}

function whyNot(network: SketchNetwork, holders: Int32Array, target: number): string {
  const { topology, routes, boxOf, leavesBox, sketch } = network;
  const { npuCount } = topology;
  const names = (npus: Iterable<number>): string => listed([...new Set(npus)].map((npu) => topology.nodeNames[npu]));
  const reach = (from: Int32Array, allowed: (route: number) => boolean): Int32Array =>
    distancesFrom(npuCount, routes, new Float64Array(routeCount(routes)).fill(1), from, allowed)(0).order;
  const [owner] = holders;
  const home = boxOf[owner];
  const away = boxOf[target];
  if (home === away) {
    return `intranode_sketch: no connections lead from GPU ${names([owner])} to GPU ${names([target])}`;
  }
  const all = Int32Array.from({ length: routeCount(routes) }, (_, route) => route);
  const out = all.filter((route) => leavesBox[route] === 1 && boxOf[routes.source[route]] === home);
  const into = all.filter((route) => leavesBox[route] === 1 && boxOf[routes.target[route]] === away);
  if (out.length === 0) return `internode_sketch.internode_conn: nothing leaves node ${home}`;
  if (into.length === 0) return `internode_sketch.internode_conn: nothing enters node ${away}`;

  const free = new Set(reach(holders, () => true));
  if (free.has(target)) {
    const carriers = out.map((route) => routes.source[route]).filter((sender) => mayCarry(sketch, owner, sender));
    const map = `gpus_to_sender_rev_map: chunks of GPU ${names([owner])}`;
    const inside = new Set(reach(holders, (route) => leavesBox[route] === 0));
    const reached = carriers.filter((sender) => inside.has(sender));
    if (reached.length === 0)
      return `${map} may leave node ${home} only through GPU ${names(carriers)}, which they cannot reach by intranode_sketch`;
    return `${map} may leave nodes only through GPU ${names(reached)} and its like, from where internode_conn and intranode_sketch do not lead to GPU ${names([target])} of node ${away}`;
  }
  const entries = [...new Set(into.map((route) => routes.target[route]))].filter((npu) => free.has(npu));
  if (entries.length > 0)
    return `intranode_sketch: chunks of GPU ${names([owner])} enter node ${away} at GPU ${names(entries)}, from where no connections lead to GPU ${names([target])}`;
  const senders = [...new Set(out.map((route) => routes.source[route]))];
  if (!senders.some((sender) => free.has(sender)))
    return `intranode_sketch: no connections lead from GPU ${names([owner])} to the senders of node ${home} in internode_conn, GPU ${names(senders)}`;
  return `internode_sketch.internode_conn: no connections lead from GPU ${names([owner])} of node ${home} to node ${away}`;
}

const listed = (names: readonly string[]): string =>
  names.length <= MOST_NAMES ? names.join(", ") : `${names.slice(0, MOST_NAMES).join(", ")} ..`;
