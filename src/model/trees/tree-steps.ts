import { InputError, inWords } from "../../base/errors.ts";
import { type Collective, collective as named } from "../collective/collective.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { divide, rational } from "../numbers/rational.ts";
import { demandExactPs } from "../numbers/units.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { linkCount, type Topology } from "../topology/topology.ts";
import { expandTrees } from "./tree-expansion.ts";
import { copiesOf, demandForwarding, type Forest, type TreeFlow, treeCount } from "./tree-flow.ts";
import { checkPieces, chunkSerial, dataBytesOf, type Pace, paceOf } from "./tree-times.ts";

/** Above this many transfers, or chunks, trees are not written out. */
const MOST_TRANSFERS = 1e7;

/** Returns how many transfers the steps of a flow are: one for each chunk and edge. */
export function treeTransfers(flow: TreeFlow, pieces: number): number {
  const edges = flow.collective.groupSize - 1;
  return flow.forests.reduce((sum, forest) => sum + Number(copiesOf(forest, flow.symmetry)) * pieces * edges, 0);
}

/**
 * Returns a tree flow as a step schedule: each copy's part of the data is cut into `pieces` equal chunks; a route for each
 * edge of each tree, with its share of the links, carries the chunks of the tree one after the other.
 *
 * In the network model (latency occupies nothing) chunks leave a root back to back and nobody waits for anything but data,
 * because all shares of a link fit side by side: this gives times in closed form. The plan keeps their order on every link
 * and gives each transfer its link-busy time (`planRows`). A replay keeps that order too and drops planned times, so nobody
 * waits for a link in it either: it reaches exactly the closed form (simulate/trees/tree-flow.ts). Between the phases of an
 * all-reduce the plan has a barrier, which a replay does not know.
 *
 * Throws InputError for flows whose switches duplicate or sum, for more than 1e7 transfers, for shares above 1 and for times
 * that leave 2^53 ps. O(transfers x links of a route), about 80 bytes for each.
 */
export function stepsOfTrees(flow: TreeFlow, pieces: number): StepSchedule {
  checkPieces(pieces);
  demandForwarding(flow, "the steps of a tree flow");
  const count = treeTransfers(flow, pieces);
  const chunks = Number(copiesOf(flow.forests[0], flow.symmetry)) * pieces;
  if (Math.max(count, chunks) > MOST_TRANSFERS) {
    throw new InputError("the steps of a tree flow", `at most ${MOST_TRANSFERS} transfers`, Math.max(count, chunks)).as(
      "out-of-range",
    );
  }
  const whole = expandTrees(flow);
  const { topology } = whole;
  const chunking = chunkingOf(whole, pieces);
  const times = whole.forests.map((forest) => edgeTimes(whole, forest, pieces));
  const carried = whole.forests.map((forest) => carriedChunks(forest, chunking));
  const departures = departuresOf(whole, times, carried);
  const rows = emptyRows(routesOfEdges(topology, times), count, chunking.collective.chunkCount);
  const op = new Uint8Array(count);

  let [row, firstRoute, last] = [0, 0, 0];
  times.forEach((edges, f) => {
    const from = row;
    row = fillRows(rows, edges, carried[f], departures[f], firstRoute, row);
    op.fill(edges.forest.direction === "in" ? OP_REDUCE : OP_COPY, from, row);
    firstRoute += edges.near.length;
    if (!whole.concurrent) last = planRows(rows, linkCount(topology), from, row, last);
  });
  if (whole.concurrent) last = planRows(rows, linkCount(topology), 0, row, 0);
  demandExactPs(last, "the time of a tree flow's steps");
  const { routes, chunk, route, startPs, endPs } = rows;
  return inOrder({ topology, collective: chunking.collective, routes, chunk, route, startPs, endPs, op });
}

function emptyRows(routes: RouteSet, count: number, chunks: number): TreeRows {
  const routeTotal = routeCount(routes);
  return {
    routes,
    chunk: indexColumn(count, chunks),
    route: indexColumn(count, routeTotal),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    closedPs: new Float64Array(count),
    firstRow: new Float64Array(routeTotal),
    slotPs: new Float64Array(routeTotal),
    parent: new Int32Array(routeTotal),
    outwards: new Uint8Array(routeTotal),
    completePs: new Float64Array(chunks),
  };
}

/** Fills in the rows of a forest, from `row` on, and what is known of its routes; returns the row behind them. */
function fillRows(
  rows: TreeRows,
  { forest, serialPs, latencyPs, offsetPs, parent }: EdgeTimes,
  { offset, chunk }: Carried,
  departure: Float64Array,
  firstRoute: number,
  firstRow: number,
): number {
  const edges = treeCount(forest) === 0 ? 0 : latencyPs.length / treeCount(forest);
  let row = firstRow;
  for (let edge = 0; edge < latencyPs.length; edge++) {
    const tree = Math.floor(edge / edges);
    const route = firstRoute + edge;
    rows.firstRow[route] = row;
    rows.slotPs[route] = serialPs[tree] + latencyPs[edge];
    rows.parent[route] = parent[edge] < 0 ? -1 : firstRoute + parent[edge];
    rows.outwards[route] = forest.direction === "out" ? 1 : 0;
    for (let i = offset[tree]; i < offset[tree + 1]; i++, row++) {
      rows.chunk[row] = chunk[i];
      rows.route[row] = route;
      rows.closedPs[row] = departure[i] + offsetPs[edge];
    }
  }
  return row;
}

/** Returns the schedule, whose rows are route by route, in order of (startPs, route, chunk). */
function inOrder(schedule: StepSchedule): StepSchedule {
  const order = orderByTime(schedule.startPs);
  return {
    ...schedule,
    chunk: schedule.chunk.map((_, i) => schedule.chunk[order[i]]),
    route: schedule.route.map((_, i) => schedule.route[order[i]]),
    startPs: schedule.startPs.map((_, i) => schedule.startPs[order[i]]),
    endPs: schedule.endPs.map((_, i) => schedule.endPs[order[i]]),
    op: schedule.op.map((_, i) => schedule.op[order[i]]),
  };
}

/**
 * Returns, for each forest, when the first senders of each of its trees send each chunk that it carries, in the closed
 * form: back to back from 0. Where the forests of an all-reduce run side by side, a root broadcasts a chunk when it
 * is complete there and the tree has sent the one before. O(chunks).
 */
export function departuresOf(flow: TreeFlow, times: readonly EdgeTimes[], carried: readonly Carried[]): Float64Array[] {
  const backToBack = carried.map(({ offset, chunk }, f) => {
    const departure = new Float64Array(chunk.length);
    times[f].serialPs.forEach((serial, tree) => {
      for (let i = offset[tree]; i < offset[tree + 1]; i++) departure[i] = (i - offset[tree]) * serial;
    });
    return departure;
  });
  if (!flow.concurrent) return backToBack;
  const complete = new Float64Array(carried[0].chunk.length);
  times[0].fillPs.forEach((fill, tree) => {
    const { offset, chunk } = carried[0];
    for (let i = offset[tree]; i < offset[tree + 1]; i++) complete[chunk[i]] = backToBack[0][i] + fill;
  });
  const broadcast = backToBack[1];
  times[1].serialPs.forEach((serial, tree) => {
    const { offset, chunk } = carried[1];
    let free = 0;
    for (let i = offset[tree]; i < offset[tree + 1]; i++) {
      broadcast[i] = Math.max(free, complete[chunk[i]]);
      free = broadcast[i] + serial;
    }
  });
  return backToBack;
}

/** Transfers route by route: those of route r are firstRow[r] onwards, in the order of its tree's chunks. */
interface TreeRows extends Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs"> {
  readonly routes: RouteSet;
  /** [transfers] start in the closed form. */
  readonly closedPs: Float64Array;
  /** [routes] */
  readonly firstRow: Float64Array;
  /** [routes] latency + serialisation. */
  readonly slotPs: Float64Array;
  /** [routes] route over the next edge towards the root, -1 at the root. */
  readonly parent: Int32Array;
  /** [routes] 1: away from the root. */
  readonly outwards: Uint8Array;
  /** [chunks] when the chunk is planned to be complete at its root; 0 before anything is planned. */
  readonly completePs: Float64Array;
}

/**
 * Plans the rows from .. to - 1, none before `earliest`, and returns when the last of them ends: each transfer takes its
 * link-busy time and departs as soon as its chunk is there, its route is free and all that start before it in the closed form
 * on any of its links have departed, strictly before it. So the order of starts on every link is that of the closed form, the
 * shares in use are those of different routes, and the plan is as early as this order lets it be.
 * O(links of the routes of all rows), and a sort of the closed form's times.
 */
function planRows(rows: TreeRows, linkTotal: number, from: number, to: number, earliest: number): number {
  const { chunk, route, startPs, endPs, closedPs, firstRow, slotPs, parent, outwards, completePs } = rows;
  const { linkOffset, links } = rows.routes;
  const planned = new Float64Array(linkTotal).fill(-1);
  const closed = new Float64Array(linkTotal).fill(-1);
  let last = earliest;
  for (const k of orderByTime(closedPs.subarray(from, to))) {
    const row = from + k;
    const r = route[row];
    const nth = row - firstRow[r];
    let start = Math.max(earliest, startPs[row]);
    if (outwards[r] === 1)
      start = Math.max(start, parent[r] < 0 ? completePs[chunk[row]] : endPs[firstRow[parent[r]] + nth]);
    if (nth > 0 && endPs[row - 1] > start) start = endPs[row - 1];
    for (let i = linkOffset[r]; i < linkOffset[r + 1]; i++) {
      const link = links[i];
      const after = closed[link] < closedPs[row] ? planned[link] + 1 : planned[link];
      if (after > start) start = after;
    }
    for (let i = linkOffset[r]; i < linkOffset[r + 1]; i++) {
      planned[links[i]] = start;
      closed[links[i]] = closedPs[row];
    }
    const end = start + slotPs[r];
    startPs[row] = start;
    endPs[row] = end;
    if (end > last) last = end;
    if (outwards[r] === 1) continue;
    if (parent[r] < 0) completePs[chunk[row]] = Math.max(completePs[chunk[row]], end);
    else startPs[firstRow[parent[r]] + nth] = Math.max(startPs[firstRow[parent[r]] + nth], end);
  }
  return last;
}

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

/** Returns the times of a forest whose copies are cut into this many pieces. O(links of all edges). */
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
  return new InputError(`a tree over link ${ends.join(">")}`, "a share of at most 1", inWords(`${num}/${den}`));
}

/** Which chunks the copies of each root carry: copy i of a root has the chunks (firstCopy + i) * pieces onwards. */
export interface Chunking {
  /** The flow's collective, cut into chunks of one piece of one copy. */
  readonly collective: Collective;
  readonly pieces: number;
  /** [NPUs] copies of the roots of lower rank. */
  readonly firstCopy: Float64Array;
}

/**
 * Returns the chunks of a flow without symmetry whose copies are cut into `pieces`: in the order of the roots' ranks, so those
 * of an all-gather are numbered as its collective numbers them. The chunks of an all-reduce belong to nobody; where they are
 * not as many for each NPU, its `chunksPerNpu` is rounded down.
 * Throws InputError where copies per root are not what the kind of collective asks for. O(trees + NPUs + chunks).
 */
export function chunkingOf(flow: TreeFlow, pieces: number): Chunking {
  const { collective, topology, forests } = flow;
  const { groupMembers, groupCount } = collective;
  if (groupCount !== 1) throw new InputError("a tree flow", "one process group", groupCount);
  const [copies, ...others] = forests.map((forest) => copiesPerRoot(forest, topology.npuCount));
  for (const other of others) {
    const npu = other.findIndex((many, v) => many !== copies[v]);
    if (npu < 0) continue;
    throw new InputError(
      `copies at root ${topology.nodeNames[npu]}`,
      `as many as in the first forest (${copies[npu]})`,
      other[npu],
    );
  }
  const firstCopy = new Float64Array(topology.npuCount);
  let sum = 0;
  for (const npu of groupMembers) {
    firstCopy[npu] = sum;
    sum += copies[npu];
  }
  const all = copies.reduce((total, many) => total + many, 0);
  if (sum !== all)
    throw new InputError(
      "roots of a tree flow",
      "members of its process group",
      inWords(`${all - sum} copies elsewhere`),
    );
  return { collective: cut(flow, sum * pieces, copies), pieces, firstCopy };
}

function copiesPerRoot({ root, copies }: Forest, npus: number): Float64Array {
  const sum = new Float64Array(npus);
  for (let tree = 0; tree < root.length; tree++) sum[root[tree]] += copies[tree];
  return sum;
}

/** Returns the flow's collective with this many equal chunks. */
function cut(flow: TreeFlow, chunkCount: number, copies: Float64Array): Collective {
  const { kind, groupMembers, groupSize, rootRank, sizeBytes } = flow.collective;
  const request = { groups: [groupMembers], sizeBytes, rootRank };
  switch (kind) {
    case "broadcast":
    case "reduce":
      if (copies.some((many, npu) => many > 0 && npu !== groupMembers[rootRank])) {
        throw new InputError(`the trees of a ${kind}`, "the collective's root as their only root", inWords("others"));
      }
      return named({ ...request, kind, chunksPerNpu: chunkCount });
    case "allgather":
    case "reducescatter":
      if (groupMembers.some((npu) => copies[npu] !== copies[groupMembers[0]])) {
        throw new InputError(`the trees of the ${kind}`, "as many copies at every root", inWords("different numbers"));
      }
      return named({ ...request, kind, chunksPerNpu: chunkCount / groupSize });
    case "allreduce": {
      const whole = named({ ...request, kind, chunksPerNpu: Math.max(1, Math.floor(chunkCount / groupSize)) });
      return { ...whole, chunkCount, chunkBytes: divide(dataBytesOf(flow), rational(chunkCount)) };
    }
    case "custom":
      return cutTable(flow, chunkCount, copies);
    default:
      throw new InputError("the collective of a tree flow", "one that trees carry", kind);
  }
}

/** [trees + 1] tree t carries chunk[offset[t] .. offset[t + 1]], in the order in which it sends them. */
export interface Carried {
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
}

/** Returns what each tree carries: piece after piece, of each the copies one after the other. O(chunks). */
export function carriedChunks({ root, copies }: Forest, { firstCopy, pieces, collective }: Chunking): Carried {
  const nextCopy = firstCopy.slice();
  const offset = new Int32Array(root.length + 1);
  const chunk = new Int32Array(collective.chunkCount);
  let at = 0;
  for (let tree = 0; tree < root.length; tree++) {
    const first = nextCopy[root[tree]];
    nextCopy[root[tree]] += copies[tree];
    for (let piece = 0; piece < pieces; piece++) {
      for (let copy = first; copy < first + copies[tree]; copy++) chunk[at++] = copy * pieces + piece;
    }
    offset[tree + 1] = at;
  }
  return { offset, chunk };
}

/** The collective is a table: an all-gather (or, where it reduces, a reduce-scatter) of unequal shards. */
function cutTable(flow: TreeFlow, chunkCount: number, copies: Float64Array): Collective {
  const { collective } = flow;
  const npu = new Int32Array(chunkCount);
  const pieces = chunkCount / copies.reduce((sum, many) => sum + many, 0);
  let chunk = 0;
  for (const member of collective.groupMembers) {
    npu.fill(member, chunk, chunk + copies[member] * pieces);
    chunk += copies[member] * pieces;
  }
  const [root, everyone] = [{ kind: "one", npu }, { kind: "group" }] as const;
  return {
    ...collective,
    chunksPerNpu: 1,
    chunkCount,
    chunkBytes: divide(dataBytesOf(flow), rational(chunkCount)),
    ...(collective.reduces ? { pre: everyone, post: root } : { pre: root, post: everyone }),
  };
}
