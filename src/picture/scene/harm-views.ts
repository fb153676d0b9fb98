import { linkNames, nodeCount, type Topology } from "../../model/topology/topology.ts";
import { type Cells, coarseView, networkOfCells } from "../cells.ts";
import { isDrawable, isGrid, type Layout, layoutOf } from "./layout.ts";
import { sizeText, type Wire, wiresOf } from "./wires.ts";

/** What a part of a picture is of: one node or cable, or several put together. */
export interface Mark {
  readonly label: string;
  /** All failures that this shows, by their names. */
  readonly names: readonly string[];
}

/** A picture whose parts are coloured by what their failures do. */
export interface HarmView {
  readonly heading: string;
  readonly sentence: string;
  readonly topology: Topology;
  readonly layout: Layout;
  readonly wires: readonly Wire[];
  /** [nodes], [wires], [boxes of the layout] places in the list of marks. */
  readonly nodeMark: readonly number[];
  readonly wireMark: readonly number[];
  readonly boxMark: readonly number[];
}

/** Larger networks are drawn by cells first: with more, links cannot be told apart on a screen. */
const MOST_NODES = 320;
const MOST_WIRES = 1200;
/** A grid can be read with more. */
const MOST_IN_GRID = 5000;
/** Cells of a coarse picture, and linked pairs of them, each way. */
const MOST_CELLS = 160;
const MOST_PAIRS = 2600;
/** Unlike cells that are drawn in full beside it. */
const MOST_DETAILS = 2;

/** Returns the names that a cable's failure may have, by the link's name: both ways, each way, for each link. */
function cableNames(topology: Topology): string[] {
  const { linkSource, linkTarget, nodeNames } = topology;
  return linkNames(topology).map((link, e) => {
    const [from, to] = [linkSource[e] as number, linkTarget[e] as number];
    const [a, b] = from < to ? [from, to] : [to, from];
    return `${nodeNames[a]}-${nodeNames[b]}${/#\d+$/.exec(link)?.[0] ?? ""}`;
  });
}

/** Collects marks and gives each its place. */
class Marks {
  readonly all: Mark[] = [];
  add(label: string, names: readonly string[]): number {
    return this.all.push({ label, names: [...new Set(names)] }) - 1;
  }
}

/** Returns the failures of each pair of nodes' links, by "a b" of two numbers, a < b, after `cellOf`. */
function namesBetween(topology: Topology, cellOf: (node: number) => number): Map<string, string[]> {
  const { linkSource, linkTarget } = topology;
  const found = new Map<string, string[]>();
  const cables = cableNames(topology);
  const links = linkNames(topology);
  for (let e = 0; e < cables.length; e++) {
    const [x, y] = [cellOf(linkSource[e] as number), cellOf(linkTarget[e] as number)];
    const key = x < y ? `${x} ${y}` : `${y} ${x}`;
    const names = found.get(key) ?? [];
    found.set(key, names);
    names.push(cables[e] as string, links[e] as string);
  }
  return found;
}

/** Returns a view of a network whose nodes and links stand for themselves. */
function plainView(whole: Topology, shown: Topology, heading: string, sentence: string, marks: Marks): HarmView {
  const wires = wiresOf(shown);
  const layout = layoutOf(shown, wires);
  const between = namesBetween(shown, (node) => node);
  const { nodeNames } = shown;
  return {
    heading,
    sentence,
    topology: shown,
    layout,
    wires,
    nodeMark: nodeNames.map((name, node) => marks.add(`${node < shown.npuCount ? "NPU" : "switch"} ${name}`, [name])),
    wireMark: wires.map(({ a, b }) => marks.add(`${nodeNames[a]} – ${nodeNames[b]}`, between.get(`${a} ${b}`) ?? [])),
    boxMark: layout.boxes.map(({ name }) => marks.add(name, whole.nodeNames.includes(name) ? [] : [name])),
  };
}

/** Returns the network of some nodes and of all that is linked to them, with links that touch them. O(nodes + links). */
function around(topology: Topology, chosen: ReadonlySet<number>): Topology {
  const { linkSource, linkTarget, nodeNames, nodeTraits, npuCount } = topology;
  const links = [...linkSource.keys()].filter(
    (e) => chosen.has(linkSource[e] as number) || chosen.has(linkTarget[e] as number),
  );
  const kept = new Set([...chosen, ...links.flatMap((e) => [linkSource[e] as number, linkTarget[e] as number])]);
  const nodes = [...nodeNames.keys()].filter((node) => kept.has(node));
  const at = new Map(nodes.map((node, i) => [node, i]));
  return {
    ...topology,
    npuCount: nodes.filter((node) => node < npuCount).length,
    nodeNames: nodes.map((node) => nodeNames[node] as string),
    nodeTraits: nodes.map((node) => nodeTraits[node] ?? {}),
    linkSource: Int32Array.from(links, (e) => at.get(linkSource[e] as number) as number),
    linkTarget: Int32Array.from(links, (e) => at.get(linkTarget[e] as number) as number),
    linkBytesPerSecond: Float64Array.from(links, (e) => topology.linkBytesPerSecond[e] as number),
    linkLatencyPs: Float64Array.from(links, (e) => topology.linkLatencyPs[e] as number),
    shape: [],
  };
}

/** Returns a view in which a node stands for each cell, and a line for all links between two. */
function cellView(whole: Topology, cells: Cells, marks: Marks): HarmView {
  const shown = networkOfCells(whole, cells);
  const wires = wiresOf(shown);
  const cellOf = (node: number): number => cells.cellOf[node] as number;
  const between = namesBetween(whole, cellOf);
  const inside = cells.names.map((name, cell) => [name, ...(between.get(`${cell} ${cell}`) ?? [])]);
  whole.nodeNames.forEach((name, node) => {
    inside[cellOf(node)]?.push(name);
  });
  return {
    heading: "The whole network",
    sentence: `${sizeText(whole)}. ${cells.note ?? ""} A circle has the colour of the worst failure inside it.`,
    topology: shown,
    layout: layoutOf(shown, wires),
    wires,
    nodeMark: cells.names.map((name, cell) => marks.add(name, inside[cell] as string[])),
    wireMark: wires.map(({ a, b }) =>
      marks.add(`${cells.names[a]} – ${cells.names[b]}`, between.get(`${a} ${b}`) ?? []),
    ),
    boxMark: [],
  };
}

/**
 * Returns what is drawn of a network, and the marks of all pictures: the network as it is where that can be read, else its boxes, or
 * runs of its nodes, as cells, and in full those that are unlike in what `classOf` says of their failures, the worst of it first in
 * `first`. O((nodes + links) log nodes).
 */
export function harmViews(
  topology: Topology,
  classOf: (name: string) => number | undefined,
  first: string | undefined,
): { readonly views: readonly HarmView[]; readonly marks: readonly Mark[] } {
  const marks = new Marks();
  const wires = wiresOf(topology);
  const nodes = nodeCount(topology);
  const isSmall = nodes <= MOST_NODES && wires.length <= MOST_WIRES;
  if (isSmall || (isGrid(topology, wires) && nodes <= MOST_IN_GRID && isDrawable(topology, wires)))
    return { views: [plainView(topology, topology, "The network", `${sizeText(topology)}.`, marks)], marks: marks.all };
  const cells = coarseView(topology, MOST_CELLS, MOST_PAIRS);
  const overview = cellView(topology, cells, marks);
  const views = [overview];
  const members = cells.names.map((): Set<number> => new Set());
  cells.cellOf.forEach((cell, node) => {
    members[cell]?.add(node);
  });
  const kinds = new Map<string, { cell: number; count: number }>();
  const order = [...members.keys()].sort((a, b) => Number(holds(b)) - Number(holds(a)) || a - b);
  for (const cell of order) {
    const chosen = members[cell] as Set<number>;
    if (chosen.size < 2) continue;
    const kind = signature(marks.all[overview.nodeMark[cell] as number] as Mark);
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { cell, count: 1 });
    else known.count++;
  }
  for (const { cell, count } of [...kinds.values()].slice(0, MOST_DETAILS)) {
    const shown = around(topology, members[cell] as Set<number>);
    if (nodeCount(shown) > MOST_NODES || !isDrawable(shown, wiresOf(shown))) continue;
    const alike = count === 1 ? "" : ` ${count - 1} more ${count === 2 ? "is" : "are"} alike.`;
    views.push(
      plainView(topology, shown, `${cells.names[cell]} in full`, `With all that it is linked to.${alike}`, marks),
    );
  }
  return { views, marks: marks.all };

  /** Whether a cell has the node, or an end of the link, that is to be seen. */
  function holds(cell: number): boolean {
    if (first === undefined) return false;
    return (marks.all[overview.nodeMark[cell] as number] as Mark).names.includes(first) || touches(cell, first);
  }
  function touches(cell: number, name: string): boolean {
    return [...(members[cell] as Set<number>)].some((node) => name.startsWith(`${topology.nodeNames[node]}-`));
  }
  function signature({ names }: Mark): string {
    const counts = new Map<number, number>();
    for (const name of names) {
      const at = classOf(name);
      if (at !== undefined) counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return JSON.stringify([...counts].sort((a, b) => a[0] - b[0]));
  }
}
