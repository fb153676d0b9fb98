import type { Topology } from "../model/topology/topology.ts";

/** Nodes put together so that a picture of a large network can be read. */
export interface Cells {
  readonly names: readonly string[];
  /** [nodes] -1: in none. */
  readonly cellOf: Int32Array;
  /** The cells up to this one are NPUs, the others switches. */
  readonly npuCells: number;
  /** What was put together, a sentence; null where every node stands for itself. */
  readonly note: string | null;
}

/** The nodes of a network and their groups: [nodes] of nodeGroup index `groups`, -1: none. */
export interface Nodes {
  readonly nodeNames: readonly string[];
  readonly npuCount: number;
  readonly groups: readonly string[];
  readonly nodeGroup: ArrayLike<number>;
}

/** Returns each of the nodes (ascending) for itself. O(nodes). */
export function single({ nodeNames, npuCount }: Omit<Nodes, "groups" | "nodeGroup">, nodes: Iterable<number>): Cells {
  const cellOf = new Int32Array(nodeNames.length).fill(-1);
  const names: string[] = [];
  let npuCells = 0;
  for (const node of nodes) {
    cellOf[node] = names.push(nodeNames[node]) - 1;
    if (node < npuCount) npuCells++;
  }
  return { names, cellOf, npuCells, note: null };
}

/** Returns NPUs and switches by their groups, switches without one for themselves; null where an NPU has none. O(nodes). */
function byGroup({ nodeNames, npuCount, groups, nodeGroup }: Nodes): Omit<Cells, "note"> | null {
  const cells = new Map<number, number>();
  const names: string[] = [];
  const cellOf = new Int32Array(nodeNames.length);
  for (let node = 0; node < nodeNames.length; node++) {
    const group = nodeGroup[node];
    if (group < 0 && node < npuCount) return null;
    const key = group < 0 ? -1 - node : group;
    const cell = cells.get(key) ?? names.push(group < 0 ? nodeNames[node] : groups[group]) - 1;
    cells.set(key, cell);
    cellOf[node] = cell;
  }
  return { names, cellOf, npuCells: new Set(cellOf.subarray(0, npuCount)).size };
}

/** Returns runs of `run` nodes that follow one another, NPUs and switches apart, named by the first and the last. O(nodes). */
function byRuns({ nodeNames, npuCount }: Omit<Nodes, "groups" | "nodeGroup">, run: number, to: string) {
  const npuCells = Math.ceil(npuCount / run);
  const cellOf = Int32Array.from(nodeNames.keys(), (node) =>
    node < npuCount ? Math.floor(node / run) : npuCells + Math.floor((node - npuCount) / run),
  );
  const cells = npuCells + Math.ceil((nodeNames.length - npuCount) / run);
  const names = Array.from({ length: cells }, (_, cell) => {
    const [first, end] =
      cell < npuCells ? [cell * run, npuCount] : [npuCount + (cell - npuCells) * run, nodeNames.length];
    return `${nodeNames[first]}${to}${nodeNames[Math.min(first + run, end) - 1]}`;
  });
  return { names, cellOf, npuCells };
}

/** A matrix in the page has as many cells on a side at most. */
const MOST_CELLS = 1024;

/** Returns nodes as cells that can be looked into, at most `most`: each for itself, by group, or runs of them. O(nodes). */
export function cellsFor(nodes: Nodes, most = MOST_CELLS): Cells {
  const { nodeNames, npuCount, groups } = nodes;
  if (nodeNames.length <= most) return single(nodes, nodeNames.keys());
  const grouped = groups.length < 2 ? null : byGroup(nodes);
  if (grouped !== null && grouped.names.length <= most)
    return { ...grouped, note: "Each cell stands for all nodes of a group; choose one to see inside." };
  const cellsOf = (run: number): number => Math.ceil(npuCount / run) + Math.ceil((nodeNames.length - npuCount) / run);
  let run = 2;
  while (cellsOf(run) > most) run *= 2;
  const note = `Each cell stands for ${run} nodes that follow one another; choose one to see inside.`;
  return { ...byRuns(nodes, run, " – "), note };
}

/** Returns the nodes of a cell, ascending. O(nodes). */
export const nodesIn = ({ cellOf }: Cells, cell: number): number[] =>
  [...cellOf.keys()].filter((node) => cellOf[node] === cell);

/** Returns the nodes of a network by the groups of its NPUs; null where there are not several, or NPUs without one. O(nodes). */
function inGroups({ nodeNames, npuCount, nodeTraits }: Topology): Omit<Cells, "note"> | null {
  const groups = [...new Set(nodeTraits.slice(0, npuCount).map(({ group }) => group))];
  if (groups.length < 2 || groups.includes(undefined)) return null;
  const indexOf = new Map(groups.map((name, index) => [name, index]));
  const nodeGroup = nodeTraits.map(({ group }) => indexOf.get(group) ?? -1);
  return byGroup({ nodeNames, npuCount, groups: groups as string[], nodeGroup });
}

function pairsOf({ linkSource, linkTarget }: Topology, { cellOf, names }: Omit<Cells, "note">): number {
  const pairs = new Set<number>();
  for (let link = 0; link < linkSource.length; link++)
    pairs.add(cellOf[linkSource[link]] * names.length + cellOf[linkTarget[link]]);
  return pairs.size;
}

/** Returns the finest view of at most `mostCells` cells and `mostPairs` linked pairs of them. O((nodes + links) log nodes). */
export function coarseView(topology: Topology, mostCells: number, mostPairs: number): Cells {
  const { nodeNames, linkSource } = topology;
  const fits = (view: Omit<Cells, "note">): boolean =>
    view.names.length <= mostCells && (linkSource.length <= mostPairs || pairsOf(topology, view) <= mostPairs);
  const fine = single(topology, nodeNames.keys());
  if (fits(fine)) return fine;
  const grouped = inGroups(topology);
  if (grouped !== null && fits(grouped)) return { ...grouped, note: "Each cell stands for all nodes of a group." };
  for (let run = 2; ; run *= 2) {
    const view = byRuns(topology, run, "–");
    if (fits(view)) return { ...view, note: `Each cell stands for ${run} nodes that follow one another.` };
  }
}

/** Returns the network of groups: a node for each, links between groups as they are, those inside left out; null without groups. */
export function groupsOf(topology: Topology): Topology | null {
  const view = inGroups(topology);
  return view === null ? null : networkOfCells(topology, view);
}

/** Returns the network of cells: a node for each, links between cells as they are, those inside left out. O(nodes + links). */
export function networkOfCells(topology: Topology, { cellOf, names, npuCells }: Omit<Cells, "note">): Topology {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const between = [...linkSource.keys()].filter((link) => cellOf[linkSource[link]] !== cellOf[linkTarget[link]]);
  return {
    ...topology,
    npuCount: npuCells,
    nodeNames: names,
    nodeTraits: names.map(() => ({})),
    linkSource: Int32Array.from(between, (link) => cellOf[linkSource[link]]),
    linkTarget: Int32Array.from(between, (link) => cellOf[linkTarget[link]]),
    linkBytesPerSecond: Float64Array.from(between, (link) => linkBytesPerSecond[link]),
    linkLatencyPs: Float64Array.from(between, (link) => linkLatencyPs[link]),
    shape: [],
  };
}
