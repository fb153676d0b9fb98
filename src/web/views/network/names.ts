import type { Focus } from "../../draw/marks.ts";
import { networkIndex, wireBetween } from "../../draw/network-index.ts";
import { nodeTitle } from "../../draw/tips.ts";
import type { NetworkView } from "../../protocol.ts";

const MOST_OFFERED = 40;

/** Returns what a text names: a node, a link as "a-b" or "a>b", a box; null where nothing. O(length). */
export function named(network: NetworkView, text: string): Focus["at"] | null {
  const { nodeOf } = networkIndex(network);
  const wish = text.trim();
  const node = nodeOf.get(wish) ?? nodeOf.get(wish.replace(/^(NPU|switch)\s+/i, ""));
  if (node !== undefined) return { kind: "node", node };
  const group = network.groups.indexOf(wish);
  if (group >= 0) return { kind: "group", group };
  for (let cut = 1; cut < wish.length - 1; cut++) {
    if (!"-> –→".includes(wish[cut])) continue;
    const [a, b] = [nodeOf.get(wish.slice(0, cut).trim()), nodeOf.get(wish.slice(cut + 1).trim())];
    const wire = a === undefined || b === undefined ? -1 : wireBetween(network, a, b);
    if (wire >= 0) return { kind: "wire", wire };
  }
  return null;
}

/** Returns names of nodes and boxes that have the text in them, those that begin with it first; at most 40. O(nodes). */
export function offered(network: NetworkView, text: string): { readonly name: string; readonly title: string }[] {
  const wish = text.trim().toLowerCase();
  const names = [
    ...network.groups.map((name) => ({ name, title: "box" })),
    ...network.nodeNames.map((name, node) => ({ name, title: nodeTitle(network, node) })),
  ];
  const starts = names.filter(({ name }) => name.toLowerCase().startsWith(wish)).slice(0, MOST_OFFERED);
  const others = names
    .filter(({ name }) => name.toLowerCase().indexOf(wish) > 0)
    .slice(0, MOST_OFFERED - starts.length);
  return [...starts, ...others];
}
