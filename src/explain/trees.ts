import { addTo } from "../model/numbers/ordering.ts";
import { divide, format, multiply, rational, toNumber } from "../model/numbers/rational.ts";
import { formatBandwidth } from "../model/numbers/units.ts";
import { nodeCount, type Topology } from "../model/topology/topology.ts";
import { copiesOf, type Forest, groupOrder, type TreeFlow, treeCount } from "../model/trees/tree-flow.ts";
import { trafficOf } from "../model/trees/tree-multicast.ts";
import { busiestLinks, usesOfLoads } from "./links.ts";

/** The first few trees are drawn, and of each the first few NPUs. */
const TREES = 4;
const LINES = 40;

const PHASE = { out: "broadcast", in: "reduce" } as const;

/** Returns what a tree flow does, in words: a line each, trees drawn with one NPU a line. O(links of all edges). */
export function explainTrees(flow: TreeFlow): string[] {
  const { topology, collective, forests, symmetry, concurrent } = flow;
  const images = groupOrder(symmetry);
  const lines: string[] = [];
  const phases = forests.map(({ direction }) => PHASE[direction]).join(concurrent ? " beside " : ", then ");
  const able = flow.inNetwork === true ? ", switches duplicate and sum what passes them where they can" : "";
  lines.push(`${collective.kind} by trees on ${topology.name}: ${phases}${able}`);
  for (const forest of forests) {
    const copies = copiesOf(forest, symmetry);
    const rate = forest.copyBytesPerSecond;
    const data = divide(multiply(collective.chunkBytes, rational(collective.chunkCount)), rational(copies));
    const listed = treeCount(forest);
    lines.push("");
    lines.push(
      `${PHASE[forest.direction]}: ${listed} ${listed === 1 ? "tree" : "trees"}${images === 1 ? "" : `, each at ${images} places of the symmetric network`}, ${copies} copies in all; a copy carries ${Math.ceil(toNumber(data))} bytes at ${formatBandwidth(toNumber(rate))} (${format(rate)} bytes/s)`,
    );
    for (let tree = 0; tree < Math.min(listed, TREES); tree++)
      lines.push(...drawTree(topology, forest, tree, collective.groupSize - 1));
    if (listed > TREES) lines.push(`  ... and ${listed - TREES} more trees`);
  }
  lines.push("");
  for (const { phase, links } of fullestLinks(flow))
    lines.push(`limit${phase === null ? "" : ` of the ${phase}`}: ${links}`);
  return lines;
}

/** Returns which links the trees fill most: of each phase where one follows the other. O(links of all edges). */
export function fullestLinks(flow: TreeFlow): { readonly phase: string | null; readonly links: string }[] {
  const { topology, forests, concurrent } = flow;
  const { copies } = trafficOf(flow, flow.inNetwork === true);
  const rates = forests.map(({ copyBytesPerSecond }) => copyBytesPerSecond);
  if (concurrent || forests.length === 1)
    return [{ phase: null, links: busiestLinks(topology, usesOfLoads(topology, copies, rates), "full") }];
  return forests.map(({ direction }, f) => ({
    phase: PHASE[direction],
    links: busiestLinks(topology, usesOfLoads(topology, [copies[f]], [rates[f]]), "full"),
  }));
}

/** Draws a tree with box characters: each NPU below the one it is fed by (or, of sums, feeds), with the switches between. */
function drawTree(
  topology: Topology,
  { root, copies, linkOffset, links, direction }: Forest,
  tree: number,
  edges: number,
): string[] {
  const { linkSource, linkTarget, nodeNames } = topology;
  const children = new Map<number, { readonly node: number; readonly via: readonly number[] }[]>();
  const depth = new Int32Array(nodeCount(topology));
  let height = 0;
  for (let e = tree * edges; e < (tree + 1) * edges; e++) {
    // in-trees are listed from the root outwards too, over links that run towards it
    const path = Array.from(links.subarray(linkOffset[e], linkOffset[e + 1]));
    const [near, far] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
    const from = near[path[0]];
    const to = far[path[path.length - 1]];
    depth[to] = depth[from] + 1;
    height = Math.max(height, depth[to]);
    const via = path.slice(0, -1).map((link) => far[link]);
    addTo(children, from, { node: to, via });
  }
  const many = copies[tree] === 1 ? "" : `, ${copies[tree]} copies`;
  const arrow = direction === "out" ? "to" : "from";
  const lines = [`  tree of ${nodeNames[root[tree]]}${many}, height ${height}: ${arrow}`];
  const stack: {
    readonly node: number;
    readonly via: readonly number[];
    readonly lead: string;
    readonly last: boolean;
  }[] = [];
  const push = (node: number, lead: string): void => {
    const below = children.get(node) ?? [];
    for (let i = below.length - 1; i >= 0; i--) stack.push({ ...below[i], lead, last: i === below.length - 1 });
  };
  push(root[tree], "    ");
  while (stack.length > 0 && lines.length <= LINES) {
    const { node, via, lead, last } = stack.pop() as (typeof stack)[number];
    const by = via.length === 0 ? "" : ` by ${via.map((v) => nodeNames[v]).join(", ")}`;
    lines.push(`${lead}${last ? "└─" : "├─"} ${nodeNames[node]}${by}`);
    push(node, `${lead}${last ? "   " : "│  "}`);
  }
  if (stack.length > 0) lines.push(`    ... ${edges + 1 - lines.length} more NPUs`);
  return lines;
}
