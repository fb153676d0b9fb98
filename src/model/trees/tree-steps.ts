import { InputError } from "../../base/errors.ts";
import { demandExactPs } from "../numbers/exact-ps.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { linkCount } from "../topology/topology.ts";
import { expandTrees } from "./tree-expansion.ts";
import { copiesOf, demandForwarding, type TreeFlow, treeCount } from "./tree-flow.ts";
import { type Carried, carriedChunks, chunkingOf } from "./tree-steps-chunks.ts";
import { type EdgeTimes, edgeTimes, routesOfEdges } from "./tree-steps-edges.ts";
import { departuresOf, planRows, type TreeRows } from "./tree-steps-plan.ts";
import { checkPieces } from "./tree-times.ts";

/** Above so many transfers, or chunks, trees are not written out. */
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
    throw new InputError("the steps of a tree flow", `at most ${MOST_TRANSFERS} transfers`, Math.max(count, chunks));
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
