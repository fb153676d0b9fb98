import type { Topology } from "../../model/topology/topology.ts";
import { type Forest, groupOrder, listedTrees, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { DEPTHS, depthStep, firstDepth } from "../../picture/scales.ts";
import { type Layout, layoutOf } from "../../picture/scene/layout.ts";
import { edgesOf, type TreeEdge, throughNodes } from "../../picture/scene/trees.ts";
import { wiresOf } from "../../picture/scene/wires.ts";
import { levelsOf } from "../../picture/tree-levels.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";
import { arrowhead, curve } from "./svg-topology.ts";

interface TreesPictureOptions {
  /** Most trees drawn, 12 without it. */
  readonly most?: number;
}

const DEFAULT_MOST = 12;
/** Up to this many nodes trees are drawn where the nodes of the network stand. */
const MOST_ON_NETWORK = 144;
/** Width of all trees of a row together. */
const ROW = 1080;
const GAP = 26;
/** Trees that would be smaller than this stand below each other, so that their names can be read. */
const LEAST_SCALE = 0.75;

interface Panel {
  readonly title: string;
  readonly root: number;
  readonly edges: readonly TreeEdge[];
  readonly layout: Layout;
  readonly into: boolean;
  /** Drawn level by level, not where the nodes of the network stand. */
  readonly isByLevel: boolean;
}

/**
 * Yields the parts of an SVG of trees, one beside the other, as small multiples: the root filled, links coloured by how far from
 * the root they are, arrows as data runs. On networks without switches trees lie on the network, otherwise they are drawn level
 * by level, member to member, dashed between groups. Of more than `most` trees those are drawn that come first, which the picture says.
 */
export const treesSvg = (flow: TreeFlow, options: TreesPictureOptions & PictureOptions = {}): Generator<string> =>
  framed(treesPicture(flow, options), options);

/** Returns that picture without its frame. */
export function treesPicture(flow: TreeFlow, { most = DEFAULT_MOST }: TreesPictureOptions = {}): Picture {
  const { topology, forests, symmetry } = flow;
  const listed = listedTrees(flow);
  const perForest = Math.max(1, Math.floor(most / forests.length));
  const network = networkLayout(topology);
  const panels = forests.flatMap((forest) => panelsOf(flow, forest, perForest, network));
  const depth = panels.reduce((deepest, { edges }) => edges.reduce((d, edge) => Math.max(d, edge.depth), deepest), 0);
  const widest = panels.reduce((wide, { layout }) => Math.max(wide, layout.width), 0);
  const fitting = Math.max(1, Math.floor(ROW / (LEAST_SCALE * widest + GAP)));
  const columns = Math.min(fitting, panels.length <= 4 ? Math.min(2, panels.length) : panels.length <= 9 ? 3 : 4);
  const panel = Math.min(Math.max(500, widest), ROW / Math.max(1, columns) - GAP);
  const rows = Math.ceil(panels.length / Math.max(1, columns));
  const scale = panels.reduce(
    (least, { layout }) => Math.min(least, panel / layout.width, (1.2 * panel) / layout.height),
    2,
  );
  const tall = 26 + scale * panels.reduce((high, { layout }) => Math.max(high, layout.height), 0);
  const width = Math.max(columns * (panel + GAP) - GAP, 220);
  function* parts(): Generator<string> {
    for (const [i, one] of panels.entries()) {
      const [x, y] = [(i % columns) * (panel + GAP), Math.floor(i / columns) * (tall + GAP)];
      yield `<g transform="translate(${at(x)} ${at(y)})">${label(panel / 2, 12, one.title)}`;
      yield `<g transform="translate(${at((panel - scale * one.layout.width) / 2)} 24) scale(${scale.toFixed(3)})">`;
      yield* drawnTree(topology, one, depth);
      yield "</g></g>";
    }
    yield* depthLegend(depth, rows * (tall + GAP));
  }
  const images = groupOrder(symmetry);
  const left = listed > panels.length ? ` ${panels.length} of ${listed} are drawn.` : "";
  const repeated = images > 1 ? ` Each stands for ${images} that a symmetry of the network makes of it.` : "";
  const grouped =
    network === null && new Set(topology.nodeTraits.slice(0, topology.npuCount).map(({ group }) => group)).size > 1;
  const dashed = grouped ? " Dashed: between groups." : "";
  const sentence = `${listed} ${listed === 1 ? "tree" : "trees"}, roots filled.${dashed}${left}${repeated}`;
  const title = `Trees on ${topology.name || "the network"}`;
  return { title, sentence, width, height: rows * (tall + GAP) + 12, parts: parts() };
}

/** Returns where the nodes of the network stand; null where trees are easier to read level by level. */
function networkLayout(topology: Topology): Layout | null {
  if (topology.nodeNames.length > topology.npuCount || topology.npuCount > MOST_ON_NETWORK) return null;
  return layoutOf(topology, wiresOf(topology));
}

function panelsOf(flow: TreeFlow, forest: Forest, most: number, network: Layout | null): Panel[] {
  const { topology, collective, forests } = flow;
  const into = forest.direction === "in";
  const count = Math.min(most, treeCount(forest));
  return Array.from({ length: count }, (_, tree) => {
    const logical = edgesOf(topology, forest, tree, collective.groupSize);
    const edges = network === null ? logical : throughNodes(logical);
    const root = forest.root[tree];
    const copies = forest.copies[tree] === 1 ? "" : ` × ${forest.copies[tree]}`;
    const way = forests.length === 1 ? "" : into ? "reduce to " : "broadcast from ";
    const title = `${way}${way === "" ? "root " : ""}${topology.nodeNames[root]}${copies}`;
    const layout = network ?? levelLayout(root, edges);
    return { title, root, edges, into, layout, isByLevel: network === null };
  });
}

/** Yields the edges and nodes of a tree. */
function* drawnTree(
  topology: Topology,
  { root, edges, layout, into, isByLevel }: Panel,
  depth: number,
): Generator<string> {
  const { nodeNames, nodeTraits } = topology;
  const { x, y, radius } = layout;
  for (const edge of edges) {
    const colour = `d${depthStep(edge.depth, depth)}`;
    const [from, to] = into ? [edge.to, edge.from] : [edge.from, edge.to];
    const { d, x: midX, y: midY } = isByLevel ? elbow(layout, edge) : curve(layout, edge.from, edge.to);
    const [dx, dy] = isByLevel ? [0, y[to] - y[from]] : [x[to] - x[from], y[to] - y[from]];
    const away = nodeTraits[from].group !== nodeTraits[to].group ? ' stroke-dasharray="5 4"' : "";
    const way = [edge.from, ...edge.via, edge.to].map((node) => nodeNames[node]);
    const title = escaped((into ? way.toReversed() : way).join(" → "));
    yield `<path d="${d}" class="wire ${colour}" stroke-width="${at(Math.max(1.2, radius / 6))}"${away}><title>${title}</title></path>`;
    yield `${arrowhead(dx, dy, midX, midY, Math.max(2.5, radius * 0.36))} class="f${colour}"/>`;
  }
  const used = new Set([root, ...edges.map(({ to }) => to)]);
  for (const node of used) {
    const mark = node === root ? " root" : "";
    const title = `<title>${escaped(nodeNames[node])}</title>`;
    const name = short(nodeNames[node], 6);
    const size = Math.min(radius * 0.9, (3 * radius) / Math.max(2.4, name.length));
    yield `<circle cx="${at(x[node])}" cy="${at(y[node])}" r="${at(radius)}" class="npu${mark}">${title}</circle>`;
    if (size < 4) continue;
    yield `<text x="${at(x[node])}" y="${at(y[node] + size * 0.35)}" text-anchor="middle" style="font-size:${at(size)}px"${mark === "" ? "" : ' class="on"'}>${escaped(name)}</text>`;
  }
}

/** Yields which colour is how many links from the root. */
function* depthLegend(deepest: number, top: number): Generator<string> {
  const shown = Math.min(deepest, DEPTHS);
  if (shown === 0) return;
  yield label(0, top + 4, "links from the root", "label soft", "start");
  for (let i = 0; i < shown; i++) {
    const x = 130 + 52 * i;
    yield `<path d="M${x} ${at(top)}h20" class="wire d${i}" stroke-width="3"/>${label(x + 25, top + 4, `${firstDepth(i, deepest)}${deepest > DEPTHS ? "+" : ""}`, "label", "start")}`;
  }
}

const PITCH = 34;
const LEVEL = 54;
const RADIUS = 13;
/** How far below a node the lines to its children part, and how round their corners are. */
const PARTING = RADIUS + 9;
const CORNER = 6;

/** Returns the line from a node down to a child: it turns above all children, so that it runs behind none of them; and where its arrow is. */
function elbow({ x, y }: Layout, { from, to }: TreeEdge): { d: string; x: number; y: number } {
  const [x0, x1, parting] = [x[from], x[to], y[from] + PARTING];
  const corner = Math.min(CORNER, Math.abs(x1 - x0) / 2);
  const side = Math.sign(x1 - x0) * corner;
  const bent =
    corner === 0
      ? ""
      : `V${at(parting - corner)}Q${at(x0)} ${at(parting)} ${at(x0 + side)} ${at(parting)}H${at(x1 - side)}Q${at(x1)} ${at(parting)} ${at(x1)} ${at(parting + corner)}`;
  return { d: `M${at(x0)} ${at(y[from])}${bent}V${at(y[to])}`, x: x1, y: (parting + corner + y[to] - RADIUS) / 2 };
}

/** Returns a tree level by level, the root above the middle of its children, leaves side by side. O(edges). */
function levelLayout(root: number, edges: readonly TreeEdge[]): Layout {
  const column = (name: "from" | "to" | "depth"): number[] => edges.map((edge) => edge[name]);
  const tree = levelsOf({ root, from: column("from"), to: column("to"), depth: column("depth") });
  const largest = tree.nodes.reduce((most, { node }) => Math.max(most, node), root);
  const x = new Float64Array(largest + 1);
  const y = new Float64Array(largest + 1);
  for (const { node, level, place } of tree.nodes) {
    x[node] = RADIUS + 4 + PITCH * place;
    y[node] = RADIUS + 3 + LEVEL * level;
  }
  const width = 2 * (RADIUS + 4) + PITCH * Math.max(0, tree.leaves - 1);
  const height = 2 * (RADIUS + 3) + LEVEL * (tree.levels - 1);
  return { x, y, radius: RADIUS, width, height, bend: () => 0, boxes: [] };
}
