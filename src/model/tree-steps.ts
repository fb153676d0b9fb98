import { InputError } from "../errors.ts";
import { orderByTime } from "./ordering.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "./step-schedule.ts";
import { expandTrees } from "./tree-expansion.ts";
import { copiesOf, type TreeFlow, treeCount } from "./tree-flow.ts";
import { carriedChunks, chunkingOf } from "./tree-steps-chunks.ts";
import { edgeTimes, routesOfEdges } from "./tree-steps-edges.ts";
import { departuresOf, planClock } from "./tree-steps-plan.ts";
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
 * because all shares of a link fit side by side: this gives times in closed form. The plan is these times stretched
 * (`planClock`) until every transfer also has its link-busy time; so on all links transfers are planned in the order of the
 * closed form, and a replay, which keeps that order, reaches exactly its times (simulate/tree-flow.ts). Between the
 * phases of an all-reduce the plan has a barrier, which a replay does not know.
 *
 * Throws InputError for more than 1e7 transfers, for shares above 1 and for times that leave 2^53 ps.
 * O(transfers), about 60 bytes for each.
 */
export function stepsOfTrees(flow: TreeFlow, pieces: number): StepSchedule {
  checkPieces(pieces);
  const count = treeTransfers(flow, pieces);
  const chunks = Number(copiesOf(flow.forests[0], flow.symmetry)) * pieces;
  if (Math.max(count, chunks) > MOST_TRANSFERS) {
    throw new InputError("the steps of a tree flow", `at most ${MOST_TRANSFERS} transfers`, Math.max(count, chunks));
  }
  const whole = expandTrees(flow);
  const chunking = chunkingOf(whole, pieces);
  const times = whole.forests.map((forest) => edgeTimes(whole, forest, pieces));
  const carried = whole.forests.map((forest) => carriedChunks(forest, chunking));
  const departures = departuresOf(whole, times, carried);
  const routes = routesOfEdges(whole.topology, times);
  const chunk = indexColumn(count, chunking.collective.chunkCount);
  const route = indexColumn(count, routes.source.length);
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const op = new Uint8Array(count);

  const edges = whole.collective.groupSize - 1;
  const sharedClock = planClock(times);
  let [row, firstRoute, last] = [0, 0, 0];
  times.forEach(({ forest, serialPs, latencyPs, offsetPs }, f) => {
    const clock = whole.concurrent ? sharedClock : planClock([times[f]]);
    const began = whole.concurrent ? 0 : last;
    const [firstRow, operation] = [row, forest.direction === "in" ? OP_REDUCE : OP_COPY];
    for (let tree = 0; tree < treeCount(forest); tree++) {
      const [from, to] = [carried[f].offset[tree], carried[f].offset[tree + 1]];
      for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
        const slot = serialPs[tree] + latencyPs[edge];
        for (let i = from; i < to; i++, row++) {
          chunk[row] = carried[f].chunk[i];
          route[row] = firstRoute + edge;
          startPs[row] = began + clock(departures[f][i] + offsetPs[edge]);
          endPs[row] = startPs[row] + slot;
          if (endPs[row] > last) last = endPs[row];
        }
      }
    }
    op.fill(operation, firstRow, row);
    firstRoute += latencyPs.length;
  });
  if (!(last <= Number.MAX_SAFE_INTEGER)) {
    throw new InputError("the time of a tree flow's steps", "less than 2^53 ps (2.5 hours)", last);
  }
  return inOrder({
    topology: whole.topology,
    collective: chunking.collective,
    routes,
    chunk,
    route,
    startPs,
    endPs,
    op,
  });
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
