import { InputError } from "../../base/errors.ts";
import type { RouteSet } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";
import { type Forest, type TreeFlow, treeCount } from "./tree-flow.ts";
import { chunkSerial, dataBytesOf, type Pace, paceOf } from "./tree-times.ts";

/** The edges of a forest in time. A chunk that a tree's first senders send at 0 leaves over edge e at offsetPs[e]. */
export interface EdgeTimes {
  readonly forest: Forest;
  readonly pace: Pace;
  /** [trees] how long a chunk occupies each edge. */
  readonly serialPs: Float64Array;
  /** [trees] when it has come to all members ("out"), or is complete at the root ("in"). */
  readonly fillPs: Float64Array;
  /** [edges] NPU nearer to the root, and the other. */
  readonly near: Int32Array;
  readonly far: Int32Array;
  /** [edges] number of the edge into `near` from the root's side, -1 at the root. */
  readonly parent: Int32Array;
  /** [edges] */
  readonly latencyPs: Float64Array;
  readonly offsetPs: Float64Array;
}

/** Returns the times of a forest whose copies are cut into so many pieces. O(links of all edges). */
export function edgeTimes(flow: TreeFlow, forest: Forest, pieces: number): EdgeTimes {
  const { topology, collective } = flow;
  const { linkSource, linkTarget, linkLatencyPs, nodeNames } = topology;
  const { linkOffset, links, direction } = forest;
  const [nearOf, farOf] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const pace = paceOf(topology, forest);
  const serialOf = chunkSerial(flow, forest, pace, dataBytesOf(flow));
  const edges = collective.groupSize - 1;
  const count = treeCount(forest) * edges;
  const serialPs = Float64Array.from(forest.copies, (copies) => serialOf(copies, pieces));
  const near = new Int32Array(count);
  const far = new Int32Array(count);
  const latencyPs = new Float64Array(count);
  for (let edge = 0; edge < count; edge++) {
    const [from, to] = [linkOffset[edge], linkOffset[edge + 1]];
    near[edge] = nearOf[links[from]];
    far[edge] = farOf[links[to - 1]];
    for (let i = from; i < to; i++) latencyPs[edge] += linkLatencyPs[links[i]];
  }
  const parent = parentEdges(forest.root, near, far, edges, nodeNames.length);
  const times = { forest, pace, serialPs, fillPs: new Float64Array(serialPs.length), near, far, parent, latencyPs };
  const setOffsets = direction === "out" ? fromTheRoot : towardsTheRoot;
  return { ...times, offsetPs: setOffsets(times, edges, nodeNames.length) };
}

function parentEdges(root: Int32Array, near: Int32Array, far: Int32Array, edges: number, nodes: number): Int32Array {
  const parent = new Int32Array(near.length);
  const into = new Int32Array(nodes);
  root.forEach((npu, tree) => {
    into[npu] = -1;
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      parent[edge] = into[near[edge]];
      into[far[edge]] = edge;
    }
  });
  return parent;
}

type Unset = Omit<EdgeTimes, "offsetPs">;

/** A member passes a chunk on as soon as it has come. */
function fromTheRoot(
  { forest, serialPs, fillPs, near, far, latencyPs }: Unset,
  edges: number,
  nodes: number,
): Float64Array {
  const offsetPs = new Float64Array(near.length);
  const arrival = new Float64Array(nodes);
  forest.root.forEach((root, tree) => {
    arrival[root] = 0;
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      offsetPs[edge] = arrival[near[edge]];
      arrival[far[edge]] = offsetPs[edge] + serialPs[tree] + latencyPs[edge];
      fillPs[tree] = Math.max(fillPs[tree], arrival[far[edge]]);
    }
  });
  return offsetPs;
}

/** A member sends its sum as soon as all that it adds has come: leaves at once. Parents are listed before their children. */
function towardsTheRoot(
  { forest, serialPs, fillPs, near, far, latencyPs }: Unset,
  edges: number,
  nodes: number,
): Float64Array {
  const offsetPs = new Float64Array(near.length);
  const complete = new Float64Array(nodes);
  forest.root.forEach((root, tree) => {
    complete[root] = 0;
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) complete[far[edge]] = 0;
    for (let edge = (tree + 1) * edges - 1; edge >= tree * edges; edge--) {
      offsetPs[edge] = complete[far[edge]];
      const arrival = offsetPs[edge] + serialPs[tree] + latencyPs[edge];
      complete[near[edge]] = Math.max(complete[near[edge]], arrival);
    }
    fillPs[tree] = complete[root];
  });
  return offsetPs;
}

/** Returns one route for each edge of each forest, in the direction of the data. Throws InputError for a share above 1. */
export function routesOfEdges(topology: Topology, forests: readonly EdgeTimes[]): RouteSet {
  const routes = forests.reduce((sum, { near }) => sum + near.length, 0);
  const total = forests.reduce((sum, { forest }) => sum + forest.links.length, 0);
  const source = new Int32Array(routes);
  const target = new Int32Array(routes);
  const linkOffset = new Int32Array(routes + 1);
  const links = new Int32Array(total);
  const shareNum = new Float64Array(total);
  const shareDen = new Float64Array(total);
  let route = 0;
  let at = 0;
  for (const { forest, pace, near, far } of forests) {
    const outwards = forest.direction === "out";
    const edges = forest.root.length === 0 ? 0 : near.length / forest.root.length;
    for (let edge = 0; edge < near.length; edge++, route++) {
      source[route] = outwards ? near[edge] : far[edge];
      target[route] = outwards ? far[edge] : near[edge];
      const copies = forest.copies[Math.floor(edge / edges)];
      const [from, to] = [forest.linkOffset[edge], forest.linkOffset[edge + 1]];
      for (let i = from; i < to; i++, at++) {
        const link = forest.links[outwards ? i : to - 1 - (i - from)];
        links[at] = link;
        shareNum[at] = copies * pace.shareNum[link];
        shareDen[at] = pace.shareDen[link];
        if (!(shareNum[at] <= shareDen[at])) throw tooWide(topology, link, shareNum[at], shareDen[at]);
      }
      linkOffset[route + 1] = at;
    }
  }
  return { source, target, linkOffset, links, shareNum, shareDen };
}

function tooWide(topology: Topology, link: number, num: number, den: number): InputError {
  const ends = [topology.linkSource[link], topology.linkTarget[link]].map((node) => topology.nodeNames[node]);
  return new InputError(`a tree over link ${ends.join(">")}`, "a share of at most 1", `${num}/${den}`);
}
