import type { DirectNetwork } from "../direct/digraph.ts";
import { routesOf } from "../routes/routing.ts";
import { translationsOf } from "../symmetry/translation.ts";
import { linkCount, outLinks, switchCount, type Topology } from "../topology/topology.ts";

/**
 * Returns the graph of a network of direct links, an arc for every link; null where there are switches. Where translations
 * leave the network as it is, the k-th arc that leaves a node is the image of the k-th that leaves node 0. O(links log links)
 * beside the search for translations.
 */
export function directNetworkOf(topology: Topology): DirectNetwork | null {
  if (switchCount(topology) > 0) return null;
  const { npuCount, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const translations = translationsOf(topology, routesOf(topology, 1));
  const { offset, links } = outLinks(topology);
  const target = new Int32Array(linkCount(topology));
  const linkOfArc = new Int32Array(linkCount(topology));
  for (let v = 0; v < npuCount; v++) {
    const leaving = links.slice(offset[v], offset[v + 1]);
    if (translations !== null) {
      const shift = Float64Array.from(leaving, (link) => difference(translations, linkTarget[link], v));
      const order = Int32Array.from(leaving.keys()).sort((i, j) => {
        const [a, b] = [leaving[i], leaving[j]];
        const byFigures = linkBytesPerSecond[a] - linkBytesPerSecond[b] || linkLatencyPs[a] - linkLatencyPs[b];
        return shift[i] - shift[j] || byFigures || a - b;
      });
      leaving.set(order.map((i) => leaving[i]));
    }
    linkOfArc.set(leaving, offset[v]);
    for (let k = 0; k < leaving.length; k++) target[offset[v] + k] = linkTarget[leaving[k]];
  }
  return { graph: { nodes: npuCount, offset, target, translations }, topology, linkOfArc };
}

/** Returns the node whose translation takes `from` to `to`. O(dimensions). */
function difference(sizes: readonly number[], to: number, from: number): number {
  let by = 0;
  let stride = 1;
  for (const size of sizes) {
    const shift = (Math.floor(to / stride) % size) - (Math.floor(from / stride) % size);
    by += (shift < 0 ? shift + size : shift) * stride;
    stride *= size;
  }
  return by;
}
