import { type Collective, membersOf } from "./collective.ts";
import { routeCount } from "./routes.ts";
import type { SketchNetwork } from "./sketch-network.ts";
import { mayCarry } from "./sketch-relays.ts";

/** A chunk that cannot reach an NPU that wants it. */
export interface UnroutablePair {
  readonly chunk: number;
  readonly npu: number;
  /** The field of the sketch that is in the way, in words. */
  readonly why: string;
}

/**
 * Returns the first chunk for which a sketch has no way to an NPU that wants it, whatever solver runs; null where every chunk
 * has a way. Rotations are not looked at. The collective moves copies. O((routes + NPUs) x different holders of chunks + chunks
 * x their receivers).
 */
export function unroutablePair(network: SketchNetwork, collective: Collective): UnroutablePair | null {
  const known = new Map<string, Uint8Array | null>();
  const outgoing = routesBySource(network);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const holders = membersOf(collective, collective.pre, chunk);
    const key = holders.join();
    let reached = known.get(key);
    if (reached === undefined) {
      const found = reachedFrom(network, outgoing, holders, true);
      reached = found.includes(0) ? found : null;
      known.set(key, reached);
    }
    if (reached === null) continue;
    for (const npu of membersOf(collective, collective.post, chunk)) {
      if (reached[npu] === 0) return { chunk, npu, why: whyNot(network, outgoing, holders, npu) };
    }
  }
  return null;
}

/** Returns the routes that leave each NPU. */
function routesBySource({ routes, topology }: SketchNetwork): readonly (readonly number[])[] {
  const bySource: number[][] = Array.from({ length: topology.npuCount }, () => []);
  for (let route = 0; route < routeCount(routes); route++) bySource[routes.source[route]].push(route);
  return bySource;
}

/** Returns [npus] 1: a chunk of these holders has a way there. */
function reachedFrom(
  { routes, leavesBox, sketch, topology }: SketchNetwork,
  outgoing: readonly (readonly number[])[],
  holders: Int32Array,
  withRelays: boolean,
): Uint8Array {
  const reached = new Uint8Array(topology.npuCount);
  const queue = [...holders];
  for (const npu of queue) reached[npu] = 1;
  for (let i = 0; i < queue.length; i++) {
    for (const route of outgoing[queue[i]]) {
      const to = routes.target[route];
      if (reached[to] === 1) continue;
      const forbidden =
        withRelays && leavesBox[route] === 1 && !holders.some((owner) => mayCarry(sketch, owner, queue[i]));
      if (forbidden) continue;
      reached[to] = 1;
      queue.push(to);
    }
  }
  return reached;
}

function whyNot(
  network: SketchNetwork,
  outgoing: readonly (readonly number[])[],
  holders: Int32Array,
  npu: number,
): string {
  const { topology, boxOf, routes, sketch, leavesBox } = network;
  const name = topology.nodeNames[npu];
  const [owner] = holders;
  const reached = reachedFrom(network, outgoing, holders, false);
  if (reached[npu] === 1) {
    const senders = sketch.internode?.relays?.get(owner % sketch.npusPerBox) ?? [];
    return `internode_sketch.gpus_to_sender_rev_map lets the chunks of ${topology.nodeNames[owner]} leave their node only through its GPUs ${senders.join(", ")}, from where no connection leads to ${name}`;
  }
  const box = boxOf[npu];
  if (!reached.some((there, other) => there === 1 && boxOf[other] === box))
    return `internode_sketch.internode_conn has no connection that a chunk of ${topology.nodeNames[owner]} could take to node ${box}`;
  const entered = routes.target.some((target, route) => target === npu && leavesBox[route] === 0);
  return entered
    ? `intranode_sketch connects ${name} with no GPU that a chunk of ${topology.nodeNames[owner]} could reach`
    : `intranode_sketch has no connection that ends at ${name}`;
}
