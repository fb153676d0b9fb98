import type { Layout } from "./layout.ts";
import type { TreeEdge } from "./tree-edges.ts";

const PITCH = 34;
const LEVEL = 46;
const RADIUS = 13;

/** Returns a tree level by level, the root above the middle of its children, leaves side by side. O(edges). */
export function levelLayout(root: number, edges: readonly TreeEdge[]): Layout {
  const children = new Map<number, number[]>();
  let [largest, deepest] = [root, 0];
  for (const { from, to, depth } of edges) {
    const siblings = children.get(from) ?? [];
    children.set(from, siblings);
    siblings.push(to);
    largest = Math.max(largest, to);
    deepest = Math.max(deepest, depth);
  }
  const x = new Float64Array(largest + 1);
  const y = new Float64Array(largest + 1);
  const order = [root];
  const levelOf = new Map([[root, 0]]);
  const open = [root];
  let leaves = 0;
  while (open.length > 0) {
    const node = open.pop() as number;
    const below = children.get(node) ?? [];
    y[node] = RADIUS + 3 + LEVEL * (levelOf.get(node) as number);
    if (below.length === 0) x[node] = RADIUS + 4 + PITCH * leaves++;
    for (const child of below) levelOf.set(child, (levelOf.get(node) as number) + 1);
    order.push(...below);
    open.push(...below.toReversed());
  }
  for (const node of order.toReversed()) {
    const below = children.get(node) ?? [];
    if (below.length > 0) x[node] = (x[below[0]] + x[below[below.length - 1]]) / 2;
  }
  const width = 2 * (RADIUS + 4) + PITCH * Math.max(0, leaves - 1);
  const height = 2 * (RADIUS + 3) + LEVEL * deepest;
  return { x, y, radius: RADIUS, width, height, bend: () => 0, boxes: [] };
}
