import { InputError } from "../../base/errors.ts";
import { visible } from "../../base/visible.ts";
import { formatBandwidth } from "../../model/numbers/units.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import { type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { edgesOf } from "../../picture/scene/trees.ts";
import { type Wire, widthOf, wiresOf } from "../../picture/scene/wires.ts";

const MOST_NODES = 5000;
const MOST_EDGES = 200_000;
const TREE_COLOURS = ["#4b2991", "#a3319f", "#dc4f7c", "#e8743f", "#b98612", "#7d8416"];

/** Returns a text as DOT's quoted string; Graphviz resolves entities in labels, which texts must not bring. */
const quoted = (text: string): string =>
  `"${visible(text)
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replace(/&(?=#?\w+;)/g, "&amp;")}"`;

const times = (links: number): string => (links === 1 ? "" : ` ×${links}`);

function* head(name: string): Generator<string> {
  yield `digraph ${quoted(name)} {\n`;
  yield '  graph [fontname="sans-serif", overlap=false, splines=true];\n';
  yield '  node [fontname="sans-serif", shape=circle, style=filled, fillcolor="#dfeafb", color="#2b5fb3"];\n';
  yield '  edge [fontname="sans-serif", fontsize=10, color="#2468b0"];\n';
}

/** Yields nodes, those of a group in a cluster. */
function* nodes({ nodeNames, nodeTraits, npuCount }: Topology): Generator<string> {
  const groups = new Map<string | undefined, number[]>();
  nodeTraits.forEach(({ group }, node) => {
    const members = groups.get(group) ?? [];
    groups.set(group, members);
    members.push(node);
  });
  const line = (node: number): string => {
    const shape = node < npuCount ? "" : ', shape=box, fillcolor="#e9ebef", color="#606b7b"';
    return `n${node} [label=${quoted(nodeNames[node])}${shape}];\n`;
  };
  let cluster = 0;
  for (const [group, members] of groups) {
    if (group === undefined) {
      for (const node of members) yield `  ${line(node)}`;
      continue;
    }
    yield `  subgraph cluster_${cluster++} {\n    label=${quoted(group)};\n    color="#d5dbe3";\n`;
    for (const node of members) yield `    ${line(node)}`;
    yield "  }\n";
  }
}

function wireLine(wire: Wire, most: number): string {
  const { a, b, forward, forwardLinks, backward, backwardLinks } = wire;
  const width = (1 + 3 * Math.sqrt(widthOf(wire) / most)).toFixed(1);
  const edge = (from: number, to: number, bandwidth: number, links: number, both: boolean): string =>
    `  n${from} -> n${to} [label=${quoted(formatBandwidth(bandwidth) + times(links))}, penwidth=${width}${both ? ", dir=both" : ""}];\n`;
  if (forward === backward && forwardLinks === backwardLinks) return edge(a, b, forward, forwardLinks, true);
  const there = forwardLinks === 0 ? "" : edge(a, b, forward, forwardLinks, false);
  return there + (backwardLinks === 0 ? "" : edge(b, a, backward, backwardLinks, false));
}

function refuseLarge(topology: Topology): void {
  const count = nodeCount(topology);
  if (count > MOST_NODES)
    throw new InputError("the nodes of a DOT file", `at most ${MOST_NODES}`, count).as("out-of-range");
}

/**
 * Yields the parts of a Graphviz file of the network: names as labels, groups as clusters, parallel links as one edge with their
 * bandwidth together and their count, equal links there and back as one edge with two heads. Throws InputError above 5,000
 * nodes or 200,000 pairs of linked nodes. O(nodes + links).
 */
export function* topologyDot(topology: Topology): Generator<string> {
  refuseLarge(topology);
  const wires = wiresOf(topology);
  if (wires.length > MOST_EDGES)
    throw new InputError("the pairs of linked nodes of a DOT file", `at most ${MOST_EDGES}`, wires.length).as(
      "out-of-range",
    );
  const most = wires.reduce((sum, wire) => Math.max(sum, widthOf(wire)), 1);
  yield* head(topology.name || "network");
  yield* nodes(topology);
  for (const wire of wires) yield wireLine(wire, most);
  yield "}\n";
}

export interface TreesDotOptions {
  /** Most trees written, in the order of the flow; 64 without it. */
  readonly most?: number;
}

/**
 * Yields the parts of a Graphviz file of a flow's trees: a cluster for each, its root filled, an edge for each step from member
 * to member as data runs, labelled with what forwards between them, coloured by its distance from the root. Trees left out are
 * counted in the label. Throws InputError above 5,000 nodes or where the trees have more than 200,000 edges.
 */
export function* treesDot(flow: TreeFlow, { most = 64 }: TreesDotOptions = {}): Generator<string> {
  const { topology, collective, forests } = flow;
  refuseLarge(topology);
  const all = forests.reduce((sum, forest) => sum + treeCount(forest), 0);
  const shown = Math.min(most, all);
  const edges = shown * (collective.groupSize - 1);
  if (edges > MOST_EDGES)
    throw new InputError("the edges of all trees in a DOT file", `at most ${MOST_EDGES}`, edges).as("out-of-range");
  yield* head(`trees on ${topology.name || "network"}`);
  if (shown < all) yield `  label=${quoted(`${shown} of ${all} trees`)};\n`;
  let tree = 0;
  for (const [f, forest] of forests.entries()) {
    const end =
      f === forests.length - 1
        ? shown
        : Math.min(shown, tree + Math.ceil(shown / forests.length), tree + treeCount(forest));
    for (let t = 0; tree < end && t < treeCount(forest); t++, tree++) yield* treeCluster(flow, f, t, tree);
  }
  yield "}\n";
}

function* treeCluster(
  { topology, collective, forests }: TreeFlow,
  f: number,
  t: number,
  number: number,
): Generator<string> {
  const forest = forests[f];
  const into = forest.direction === "in";
  const name = (node: number): string => topology.nodeNames[node];
  const root = forest.root[t];
  const copies = forest.copies[t] === 1 ? "" : ` ×${forest.copies[t]}`;
  yield `  subgraph cluster_${number} {\n    label=${quoted(`${into ? "reduce to" : "from"} ${name(root)}${copies}`)};\n    color="#d5dbe3";\n`;
  yield `    t${number}n${root} [label=${quoted(name(root))}, fillcolor="#c2410c", fontcolor=white];\n`;
  for (const { from, to, depth, via } of edgesOf(topology, forest, t, collective.groupSize)) {
    const [source, target] = into ? [to, from] : [from, to];
    const way = via.length === 0 ? "" : `label=${quoted((into ? via.toReversed() : via).map(name).join(" "))}, `;
    yield `    t${number}n${to} [label=${quoted(name(to))}];\n`;
    yield `    t${number}n${source} -> t${number}n${target} [${way}color="${TREE_COLOURS[Math.min(depth, 6) - 1]}"];\n`;
  }
  yield "  }\n";
}
