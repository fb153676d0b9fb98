import { distancesFrom, graph } from "../graph/graph.ts";
import { nodeCount, outLinks, type Topology } from "./topology.ts";

/** Parts of a network that share no link and are all alike, one for each of some groups of NPUs. */
export interface Pieces {
  /** The part of a group: its NPUs by their ranks, and what joins them. Names are those of the first group. */
  readonly topology: Topology;
  /** Equal for pieces that are the same but for names. */
  readonly key: string;
  /** [groups][links of `topology`] the network's link that it is. */
  readonly links: readonly Int32Array[];
}

/** A group's part of a network. */
interface Piece {
  /** [nodes] NPUs by rank, then switches in the network's order. */
  readonly nodes: readonly number[];
  /** [links] by their ends and figures. */
  readonly links: Int32Array;
  readonly columns: Pick<Topology, "linkSource" | "linkTarget" | "linkBytesPerSecond" | "linkLatencyPs">;
  readonly shape: readonly number[];
  readonly key: string;
}

/**
 * Returns the parts of a network that join the NPUs of each group without passing other NPUs, [groups x size] members in the order of
 * their ranks; null where two parts share a link, they are not alike, or NPUs of the first group are farther apart in theirs than in
 * the network. What is scheduled for one part is for all, at the same time. O(size x links of the network), O(links) where parts meet.
 */
export function alikePieces(topology: Topology, members: Int32Array, size: number): Pieces | null {
  if (size === topology.npuCount || members.length === 0) return null;
  const taken = new Uint8Array(topology.linkSource.length);
  const links: Int32Array[] = [];
  let first: Piece | null = null;
  for (let at = 0; at < members.length; at += size) {
    const piece = pieceOf(topology, members.subarray(at, at + size));
    for (const link of piece.links) {
      if (taken[link] === 1) return null;
      taken[link] = 1;
    }
    first ??= piece;
    if (piece.key !== first.key) return null;
    links.push(piece.links);
  }
  if (first === null) return null;
  const part = networkOf(topology, first, size);
  return isAsNear(topology, first, part) ? { topology: part, key: first.key, links } : null;
}

/** Returns the part of a network that joins some NPUs: with the switches between them, which others may have links to as well. */
function pieceOf(topology: Topology, members: Int32Array): Piece {
  const { npuCount, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeTraits } = topology;
  const { offset, links: leaving } = outLinks(topology);
  const byFigures = (a: number, b: number): number =>
    linkBytesPerSecond[a] - linkBytesPerSecond[b] || linkLatencyPs[a] - linkLatencyPs[b] || a - b;
  const outOf = (node: number): number[] => [...leaving.subarray(offset[node], offset[node + 1])];
  const found = new Set<number>(members);
  for (const node of found) {
    for (const link of outOf(node)) if (linkTarget[link] >= npuCount) found.add(linkTarget[link]);
  }
  const next = (node: number): Set<number> =>
    new Set(
      outOf(node)
        .map((link) => linkTarget[link])
        .filter((to) => found.has(to)),
    );
  // a switch that leads to one node alone joins nothing
  const ends = [...found].filter((node) => node >= npuCount);
  for (let node = ends.pop(); node !== undefined; node = ends.pop()) {
    if (!found.has(node)) continue;
    const neighbours = next(node);
    if (neighbours.size > 1) continue;
    found.delete(node);
    for (const other of neighbours) if (other >= npuCount) ends.push(other);
  }
  // in the network's order, for of equal ways the lowest nodes are taken
  const nodes = [...members, ...[...found].filter((node) => node >= npuCount).sort((a, b) => a - b)];
  const numberOf = new Map(nodes.map((node, i) => [node, i]));
  const inside = nodes.flatMap((node, from) =>
    outOf(node).flatMap((link) => {
      const to = numberOf.get(linkTarget[link]);
      return to === undefined ? [] : [{ link, from, to }];
    }),
  );
  inside.sort((a, b) => a.from - b.from || a.to - b.to || byFigures(a.link, b.link));
  const links = Int32Array.from(inside, ({ link }) => link);
  const columns = {
    linkSource: Int32Array.from(inside, ({ from }) => from),
    linkTarget: Int32Array.from(inside, ({ to }) => to),
    linkBytesPerSecond: Float64Array.from(links, (link) => linkBytesPerSecond[link]),
    linkLatencyPs: Float64Array.from(links, (link) => linkLatencyPs[link]),
  };
  const boxes: (string | undefined)[] = [];
  const traits = nodes.map((node) => {
    const { group, multicast = false, aggregation = false } = nodeTraits[node] ?? {};
    if (!boxes.includes(group)) boxes.push(group);
    return `${group === undefined ? "" : boxes.indexOf(group)} ${multicast} ${aggregation}`;
  });
  const shape = shapeOf(topology, members);
  const key = JSON.stringify([members.length, shape, traits, ...Object.values(columns).map((column) => [...column])]);
  return { nodes, links, columns, shape, key };
}

/** Returns the sizes of the grid that NPUs are of a network's, in the order of their ranks; empty where they are none. */
function shapeOf({ shape }: Topology, members: Int32Array): number[] {
  const coordinates = (npu: number): number[] => {
    let rest = npu;
    return shape.map((size) => {
      const x = rest % size;
      rest = Math.floor(rest / size);
      return x;
    });
  };
  const all = Array.from(members, coordinates);
  const values = shape.map((_, d) => [...new Set(all.map((at) => at[d] as number))]);
  const isInOrder = all.every((at, rank) => {
    let rest = rank;
    return values.every((own, d) => {
      const isThere = own[rest % own.length] === at[d];
      rest = Math.floor(rest / own.length);
      return isThere;
    });
  });
  const sizes = values.map(({ length }) => length).filter((length) => length > 1);
  return isInOrder && sizes.reduce((all, one) => all * one, 1) === members.length ? sizes : [];
}

/** Returns a piece as a network of its own. */
function networkOf({ nodeNames, nodeTraits, sources }: Topology, piece: Piece, npuCount: number): Topology {
  const { nodes, columns, shape } = piece;
  return {
    name: `${nodeNames[nodes[0] as number]} .. ${nodeNames[nodes[npuCount - 1] as number]}`,
    npuCount,
    nodeNames: nodes.map((node) => nodeNames[node] as string),
    nodeTraits: nodes.map((node) => nodeTraits[node] ?? {}),
    ...columns,
    shape,
    sources,
  };
}

/** Returns whether NPUs of a piece are as few hops apart there as in the network. O(NPUs of the piece x links). */
function isAsNear(topology: Topology, { nodes }: Piece, part: Topology): boolean {
  const hopsIn = (on: Topology) =>
    graph(nodeCount(on), on.linkSource, on.linkTarget, new Float64Array(on.linkSource.length).fill(1));
  const [whole, own] = [hopsIn(topology), hopsIn(part)];
  for (let from = 0; from < part.npuCount; from++) {
    const [near, far] = [distancesFrom(whole, [nodes[from] as number]), distancesFrom(own, [from])];
    for (let to = 0; to < part.npuCount; to++) if (near[nodes[to] as number] < far[to]) return false;
  }
  return true;
}
