import { nodeCount, type Topology } from "./topology.ts";

/**
 * Returns for every link one that runs the other way and has the same latency and `amount` [links], each of them once; null
 * when some link has none. The k-th of equal links from a to b gets the k-th from b to a. O(links log links).
 */
export function oppositeLinks(topology: Topology, amount: Float64Array): Int32Array | null {
  const { linkSource, linkTarget, linkLatencyPs } = topology;
  const nodes = nodeCount(topology);
  const links = linkSource.length;
  const forwardKey = Float64Array.from(linkSource, (source, e) => source * nodes + linkTarget[e]);
  const backwardKey = Float64Array.from(linkTarget, (target, e) => target * nodes + linkSource[e]);
  const sorted = (key: Float64Array): Int32Array =>
    Int32Array.from({ length: links }, (_, e) => e).sort(
      (a, b) => key[a] - key[b] || amount[a] - amount[b] || linkLatencyPs[a] - linkLatencyPs[b] || a - b,
    );
  const forward = sorted(forwardKey);
  const backward = sorted(backwardKey);
  const opposite = new Int32Array(links);
  for (let i = 0; i < links; i++) {
    const [e, f] = [forward[i], backward[i]];
    if (forwardKey[e] !== backwardKey[f] || amount[e] !== amount[f] || linkLatencyPs[e] !== linkLatencyPs[f])
      return null;
    opposite[e] = f;
  }
  return opposite;
}
