import type { NetworkView } from "../../protocol.ts";

/** Nodes along a side of the matrix, put together where they are too many. */
export interface Cells {
  readonly names: readonly string[];
  /** [nodes] -1: not on this side. */
  readonly cellOf: Int32Array;
  /** The first so many cells are NPUs, the others switches. */
  readonly npuCells: number;
  /** What was put together, a sentence; null where every node stands for itself. */
  readonly note: string | null;
}

/** A matrix has as many cells on a side at most. */
export const MOST_CELLS = 1024;

type Nodes = Pick<NetworkView, "nodeNames" | "npuCount" | "groups" | "nodeGroup">;

/** Returns each of the nodes (ascending) for itself. O(nodes). */
export function single({ nodeNames, npuCount }: Nodes, nodes: ArrayLike<number>): Cells {
  const cellOf = new Int32Array(nodeNames.length).fill(-1);
  const names: string[] = [];
  let npuCells = 0;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as number;
    cellOf[node] = names.push(nodeNames[node] as string) - 1;
    if (node < npuCount) npuCells++;
  }
  return { names, cellOf, npuCells, note: null };
}

/** Returns NPUs and switches by their groups, switches without one for themselves; null where there are no groups. */
function byGroup({ nodeNames, npuCount, groups, nodeGroup }: Nodes): Cells | null {
  if (groups.length < 2 || nodeGroup.subarray(0, npuCount).includes(-1)) return null;
  const cells = new Map<number, number>();
  const names: string[] = [];
  const cellOf = new Int32Array(nodeNames.length);
  for (let node = 0; node < nodeNames.length; node++) {
    const group = nodeGroup[node] as number;
    const isSwitch = node >= npuCount;
    // switches without a group stand for themselves; those of a group stand with its NPUs
    const key = group >= 0 ? group : -1 - node;
    const known = cells.get(key);
    const cell = known ?? names.push((group >= 0 ? groups[group] : nodeNames[node]) as string) - 1;
    if (known === undefined) cells.set(key, cell);
    cellOf[node] = cell;
    if (isSwitch && names.length > MOST_CELLS) return null;
  }
  const npuCells = new Set(cellOf.subarray(0, npuCount)).size;
  return { names, cellOf, npuCells, note: "Each cell stands for all nodes of a group; choose one to see inside." };
}

/** Returns nodes that follow one another put together, NPUs and switches apart, in the finest way that fits. */
function byRuns({ nodeNames, npuCount }: Nodes, most: number): Cells {
  const switches = nodeNames.length - npuCount;
  let run = 2;
  while (Math.ceil(npuCount / run) + Math.ceil(switches / run) > most) run *= 2;
  const npuCells = Math.ceil(npuCount / run);
  const cellOf = Int32Array.from(nodeNames.keys(), (node) =>
    node < npuCount ? Math.floor(node / run) : npuCells + Math.floor((node - npuCount) / run),
  );
  const names = Array.from({ length: npuCells + Math.ceil(switches / run) }, (_, cell) => {
    const isNpu = cell < npuCells;
    const first = isNpu ? cell * run : npuCount + (cell - npuCells) * run;
    const last = Math.min(first + run, isNpu ? npuCount : nodeNames.length) - 1;
    return `${nodeNames[first]} – ${nodeNames[last]}`;
  });
  const note = `Each cell stands for ${run} nodes that follow one another; choose one to see inside.`;
  return { names, cellOf, npuCells, note };
}

/** Returns the nodes of a network as cells, at most `most`: each for itself, by group, or runs of them. O(nodes). */
export function cellsFor(network: Nodes, most = MOST_CELLS): Cells {
  if (network.nodeNames.length <= most) return single(network, [...network.nodeNames.keys()]);
  const grouped = byGroup(network);
  return grouped !== null && grouped.names.length <= most ? grouped : byRuns(network, most);
}

/** Returns the nodes of a cell, ascending. O(nodes). */
export const nodesIn = ({ cellOf }: Cells, cell: number): number[] =>
  [...cellOf.keys()].filter((node) => cellOf[node] === cell);
