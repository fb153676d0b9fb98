import type { NetworkView } from "../protocol.ts";
import type { Region } from "./camera.ts";
import type { Focus } from "./marks.ts";
import { wiresAt } from "./network-index.ts";

/** Returns the part of the network to look at for a node with its nearer neighbours, a wire, or a group. O(nodes) for a group. */
export function regionOf(network: NetworkView, { at }: Focus): Region {
  const { x, y, radius } = network.placement;
  const { a, b } = network.wires;
  const around = (nodes: readonly number[]): Region => ({
    left: Math.min(...nodes.map((node) => x[node])) - 4 * radius,
    top: Math.min(...nodes.map((node) => y[node])) - 4 * radius,
    right: Math.max(...nodes.map((node) => x[node])) + 4 * radius,
    bottom: Math.max(...nodes.map((node) => y[node])) + 4 * radius,
  });
  if (at.kind === "wire") return around([a[at.wire], b[at.wire]]);
  if (at.kind === "node") {
    const near = Array.from(wiresAt(network, at.node), (wire) => (a[wire] === at.node ? b[wire] : a[wire]))
      .map((node) => ({ node, off: Math.hypot(x[node] - x[at.node], y[node] - y[at.node]) }))
      .sort((one, other) => one.off - other.off || one.node - other.node)
      .slice(0, 4);
    return around([at.node, ...near.map(({ node }) => node)]);
  }
  const members: number[] = [];
  network.nodeGroup.forEach((group, node) => {
    if (group === at.group && (node < network.npuCount || members.length === 0)) members.push(node);
  });
  return members.length === 0 ? around([0]) : around(members);
}

/** Returns the node nearest to another one in a direction (a unit vector), by angle and distance; -1 where there is none. O(nodes). */
export function nodeTowards(network: NetworkView, from: number, dx: number, dy: number): number {
  const { x, y } = network.placement;
  let [best, least] = [-1, Number.POSITIVE_INFINITY];
  for (let node = 0; node < x.length; node++) {
    const along = (x[node] - x[from]) * dx + (y[node] - y[from]) * dy;
    if (node === from || along <= 0) continue;
    const aside = Math.abs((x[node] - x[from]) * dy - (y[node] - y[from]) * dx);
    if (aside > along * 1.2) continue;
    const cost = along + 2.5 * aside;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}
