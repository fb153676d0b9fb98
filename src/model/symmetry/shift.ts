import { nodeCount, outLinks, type Topology } from "../topology/topology.ts";

/**
 * Returns [links] where each link goes when every NPU moves `by` places on in the numbering (round the end), null where that is no
 * map of the network onto itself, its bandwidths and latencies, or none that takes switches in the order of their links.
 * O(links).
 */
export function shiftedLinks(topology: Topology, by: number): Int32Array | null {
  const { npuCount, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const { offset, links } = outLinks(topology);
  const nodes = nodeCount(topology);
  const image = new Int32Array(nodes).fill(-1);
  const taken = new Uint8Array(nodes);
  const linkImage = new Int32Array(links.length);
  const queue: number[] = [];
  const maps = (node: number, to: number): boolean => {
    if (image[node] >= 0) return image[node] === to;
    if (taken[to] === 1 || node < npuCount !== to < npuCount) return false;
    image[node] = to;
    taken[to] = 1;
    queue.push(node);
    return true;
  };
  for (let npu = 0; npu < npuCount; npu++) if (!maps(npu, (npu + by) % npuCount)) return null;
  const figures = (link: number): string => `${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`;
  for (const node of queue) {
    const to = image[node];
    const [first, end] = [offset[node], offset[node + 1]];
    if (offset[to + 1] - offset[to] !== end - first) return null;
    const own = [...links.subarray(first, end)];
    /** Links of the image that are still free, by where they go and how fast; those to new switches by how fast alone. */
    const free = new Map<string, number[]>();
    for (const link of links.subarray(offset[to], offset[to + 1])) {
      const target = linkTarget[link];
      const key = taken[target] === 1 ? `${target} ${figures(link)}` : figures(link);
      const list = free.get(key) ?? [];
      list.push(link);
      free.set(key, list);
    }
    // parallel links to one new switch follow the first of them
    const wanted = own.map((link) => (image[linkTarget[link]] < 0 ? -1 : image[linkTarget[link]]));
    for (const [i, link] of own.entries()) {
      const key = wanted[i] < 0 ? figures(link) : `${wanted[i]} ${figures(link)}`;
      const other = free.get(key)?.shift();
      if (other === undefined || !maps(linkTarget[link], linkTarget[other])) return null;
      linkImage[link] = other;
    }
  }
  return linkImage;
}
