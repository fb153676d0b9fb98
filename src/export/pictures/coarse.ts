import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";

/** Nodes put together so that a picture of a large network can be read. */
export interface Coarse {
  /** [nodes] */
  readonly cellOf: Int32Array;
  readonly names: readonly string[];
  /** The first so many cells are NPUs, the others switches. */
  readonly npuCells: number;
  /** What was put together, as a sentence; null where every node stands for itself. */
  readonly note: string | null;
}

/** Returns every node for itself. */
const fine = ({ nodeNames, npuCount }: Topology): Coarse => ({
  cellOf: Int32Array.from(nodeNames.keys()),
  names: nodeNames,
  npuCells: npuCount,
  note: null,
});

function pairsOf({ linkSource, linkTarget }: Topology, { cellOf, names }: Coarse): number {
  const pairs = new Set<number>();
  for (let link = 0; link < linkSource.length; link++)
    pairs.add(cellOf[linkSource[link]] * names.length + cellOf[linkTarget[link]]);
  return pairs.size;
}

/** Returns NPUs by group, other nodes for themselves; null where there are no groups. */
function byGroup({ nodeNames, npuCount, nodeTraits }: Topology): Coarse | null {
  if (nodeTraits.slice(0, npuCount).some(({ group }) => group === undefined)) return null;
  const cells = new Map<string, number>();
  const cellOf = new Int32Array(nodeNames.length);
  for (let npu = 0; npu < npuCount; npu++) {
    const group = nodeTraits[npu].group as string;
    if (!cells.has(group)) cells.set(group, cells.size);
    cellOf[npu] = cells.get(group) as number;
  }
  const names = [...cells.keys()];
  const npuCells = names.length;
  if (npuCells < 2) return null;
  for (let node = npuCount; node < nodeNames.length; node++) {
    const cell = cells.get(nodeTraits[node].group ?? "");
    cellOf[node] = cell ?? names.push(nodeNames[node]) - 1;
  }
  return { cellOf, names, npuCells, note: "Each cell stands for all nodes of a group." };
}

/** Returns runs of `run` nodes that follow one another. */
function byRuns({ nodeNames, npuCount }: Topology, run: number): Coarse {
  const npuCells = Math.ceil(npuCount / run);
  const cellOf = Int32Array.from(nodeNames.keys(), (node) =>
    node < npuCount ? Math.floor(node / run) : npuCells + Math.floor((node - npuCount) / run),
  );
  const cells = npuCells + Math.ceil((nodeNames.length - npuCount) / run);
  const names = Array.from({ length: cells }, (_, cell) => {
    const [first, end] =
      cell < npuCells ? [cell * run, npuCount] : [npuCount + (cell - npuCells) * run, nodeNames.length];
    return `${nodeNames[first]}–${nodeNames[Math.min(first + run, end) - 1]}`;
  });
  return { cellOf, names, npuCells, note: `Each cell stands for ${run} nodes that follow one another.` };
}

/** Returns the finest view of at most `mostCells` cells and `mostPairs` linked pairs of them. O((nodes + links) log nodes). */
export function coarseView(topology: Topology, mostCells: number, mostPairs: number): Coarse {
  const fits = (view: Coarse): boolean => view.names.length <= mostCells && pairsOf(topology, view) <= mostPairs;
  const own = fine(topology);
  if (nodeCount(topology) <= mostCells && (linkCount(topology) <= mostPairs || fits(own))) return own;
  const grouped = byGroup(topology);
  if (grouped !== null && fits(grouped)) return grouped;
  for (let run = 2; ; run *= 2) {
    const view = byRuns(topology, run);
    if (fits(view)) return view;
  }
}

/** Returns the network of groups: a node for each, links between groups as they are, those inside left out; null without groups. */
export function groupsOf(topology: Topology): Topology | null {
  const view = byGroup(topology);
  if (view === null) return null;
  const { cellOf, names, npuCells } = view;
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
