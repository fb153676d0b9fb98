import { InputError } from "../../base/errors.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { copiesOf, type Forest, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { type Chunking, carriedChunks, chunkingOf } from "../../model/trees/tree-steps-chunks.ts";
import type { Moves } from "./moves.ts";
import { isOneBlock, rankOf, ranksOf } from "./moves-of-steps.ts";

/** Above so many copies chunks are not numbered. */
const MOST_COPIES = 1e6;

/** A run of chunks of one root, and the trees of each forest that carry it. */
interface Lane {
  readonly chunk: number;
  readonly chunks: number;
  readonly trees: readonly number[];
}

interface MoveLists {
  readonly source: number[];
  readonly target: number[];
  readonly chunk: number[];
  readonly chunks: number[];
  readonly reduces: number[];
  readonly lane: number[];
}

/**
 * Returns the moves of a tree flow: a lane for each tree, or, where the two forests of an all-reduce cut a root's chunks
 * differently, for each run of chunks that has one tree in both. Lane after lane, each move follows the arrival of the one before.
 * A chunk is one copy of a tree. O(edges log edges).
 */
export function movesOfTrees(flow: TreeFlow): Moves {
  const copies = Number(copiesOf(flow.forests[0], flow.symmetry));
  if (copies > MOST_COPIES) throw new InputError("trees to be lowered", `at most ${MOST_COPIES} copies`, copies);
  const whole = expandTrees(flow);
  const chunking = chunkingOf(whole, 1);
  const { collective } = chunking;
  const single = collective.kind === "custom";
  const lists: MoveLists = { source: [], target: [], chunk: [], chunks: [], reduces: [], lane: [] };
  const forests = whole.forests.map((forest) => edgesOutwards(whole, forest));
  lanesOf(whole, chunking).forEach((lane, number) => {
    forests.forEach((edges, f) => {
      addMoves(lists, edges, lane, lane.trees[f], number, single);
    });
  });
  const count = lists.source.length;
  return {
    collective,
    rankCount: collective.groupSize,
    rootRank: collective.rootRank,
    chunksPerBlock: single ? 1 : isOneBlock(collective) ? collective.chunkCount : collective.chunksPerNpu,
    chunkCount: collective.chunkCount,
    source: Int32Array.from(lists.source),
    target: Int32Array.from(lists.target),
    chunk: Int32Array.from(lists.chunk),
    chunks: Int32Array.from(lists.chunks),
    reduces: Uint8Array.from(lists.reduces),
    lane: Int32Array.from(lists.lane),
    departsAt: Int32Array.from({ length: count }, (_, i) => 2 * i),
    arrivesAt: Int32Array.from({ length: count }, (_, i) => 2 * i + 1),
  };
}

/** Returns the runs of chunks that no forest cuts, in the order of chunks. */
function lanesOf({ forests }: TreeFlow, chunking: Chunking): Lane[] {
  const begun = forests.map((forest) => {
    const { offset, chunk } = carriedChunks(forest, chunking);
    const tree = new Int32Array(chunk.length).fill(-1);
    for (let t = 0; t < treeCount(forest); t++) tree[chunk[offset[t]]] = t;
    return tree;
  });
  const lanes: Lane[] = [];
  const trees = forests.map(() => -1);
  let first = 0;
  const { chunkCount } = chunking.collective;
  for (let chunk = 0; chunk <= chunkCount; chunk++) {
    if (chunk < chunkCount && begun.every((tree) => tree[chunk] < 0)) continue;
    if (chunk > first) lanes.push({ chunk: first, chunks: chunk - first, trees: trees.slice() });
    if (chunk === chunkCount) break;
    first = chunk;
    begun.forEach((tree, f) => {
      if (tree[chunk] >= 0) trees[f] = tree[chunk];
    });
  }
  return lanes;
}

/** Edges of a forest as ranks; those of a tree in the order in which data can move over them. */
interface Edges {
  readonly inwards: boolean;
  readonly perTree: number;
  readonly near: Int32Array;
  readonly far: Int32Array;
}

/** Returns a forest's edges: outwards by their distance from the root, inwards by the height of what is beyond them. */
function edgesOutwards({ topology, collective }: TreeFlow, { direction, root, linkOffset, links }: Forest): Edges {
  const { linkSource, linkTarget } = topology;
  const inwards = direction === "in";
  const [nearOf, farOf] = inwards ? [linkTarget, linkSource] : [linkSource, linkTarget];
  const ranks = ranksOf(collective, topology);
  const perTree = collective.groupSize - 1;
  const near = new Int32Array(root.length * perTree);
  const far = new Int32Array(root.length * perTree);
  const level = new Int32Array(collective.groupSize);
  const parent = new Int32Array(collective.groupSize);
  for (let tree = 0; tree < root.length; tree++) {
    const first = tree * perTree;
    for (let edge = first; edge < first + perTree; edge++) {
      near[edge] = rankOf(ranks, nearOf[links[linkOffset[edge]]], topology);
      far[edge] = rankOf(ranks, farOf[links[linkOffset[edge + 1] - 1]], topology);
    }
    level.fill(0);
    if (inwards)
      for (let edge = first + perTree - 1; edge >= first; edge--)
        level[near[edge]] = Math.max(level[near[edge]], level[far[edge]] + 1);
    else for (let edge = first; edge < first + perTree; edge++) level[far[edge]] = level[near[edge]] + 1;
    for (let edge = first; edge < first + perTree; edge++) parent[far[edge]] = near[edge];
    far.subarray(first, first + perTree).sort((a, b) => level[a] - level[b] || a - b);
    for (let edge = first; edge < first + perTree; edge++) near[edge] = parent[far[edge]];
  }
  return { inwards, perTree, near, far };
}

/** Adds the moves of one tree for the chunks of a lane; chunk by chunk where each is a block of its own. */
function addMoves(lists: MoveLists, edges: Edges, lane: Lane, tree: number, number: number, single: boolean): void {
  const { inwards, perTree, near, far } = edges;
  const each = single ? 1 : lane.chunks;
  for (let edge = tree * perTree; edge < (tree + 1) * perTree; edge++) {
    for (let chunk = lane.chunk; chunk < lane.chunk + lane.chunks; chunk += each) {
      lists.source.push(inwards ? far[edge] : near[edge]);
      lists.target.push(inwards ? near[edge] : far[edge]);
      lists.chunk.push(chunk);
      lists.chunks.push(each);
      lists.reduces.push(inwards ? 1 : 0);
      lists.lane.push(number);
    }
  }
}
