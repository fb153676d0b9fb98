import { type Random, random } from "../../src/base/random.ts";
import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { type RouteSet, reversedRoutes, routeTimes } from "../../src/model/routes/routes.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { reversed, type Topology } from "../../src/model/topology/topology.ts";
import { shuffle } from "./draws.ts";
import { inOrder, type Row, scheduleOfRows } from "./schedule-rows.ts";
import { simpleCollective, simpleRoutes, simpleTopology } from "./simple-schedules.ts";

/** For each chunk the NPUs that have it and those that want it. */
interface Want {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/**
 * Returns copies that bring every chunk to all who want it, each NPU at most one of a chunk: whenever links are free, up to
 * four chunks that the source holds and the target lacks leave as one message.
 */
function flood(
  topology: Topology,
  routes: RouteSet,
  bytes: Collective["chunkBytes"],
  wants: readonly Want[],
  draws: Random,
): Row[] {
  const { latencyPs, serialPs } = routeTimes(topology, routes, bytes);
  const since = wants.map(({ from }) => new Map(from.map((npu) => [npu, 0])));
  const rows: Row[] = [];
  const messages: { readonly route: number; readonly end: number }[] = [];
  const sixthsOf = (route: number, link: number): number => {
    let sum = 0;
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      if (routes.links[i] === link) sum += 6 * (routes.shareNum[i] / routes.shareDen[i]);
    }
    return sum;
  };
  const fits = (route: number, now: number): boolean => {
    const beside = messages.filter(({ end }) => end > now).map((message) => message.route);
    const own = [...routes.links.subarray(routes.linkOffset[route], routes.linkOffset[route + 1])];
    const load = (link: number): number =>
      [route, ...beside].reduce((sum, other) => sum + Math.round(sixthsOf(other, link)), 0);
    return !beside.includes(route) && own.every((link) => load(link) <= 6);
  };
  const order = [...routes.source.keys()];
  const isDone = (): boolean => wants.every(({ to }, c) => to.every((npu) => since[c].has(npu)));
  for (let now = 0; !isDone(); ) {
    shuffle(order, draws);
    for (const route of order) {
      if (draws.below(8) === 0 || !fits(route, now)) continue;
      const [source, target] = [routes.source[route], routes.target[route]];
      const sendable = since.flatMap((held, c) =>
        (held.get(source) ?? now + 1) <= now && !held.has(target) ? [c] : [],
      );
      shuffle(sendable, draws);
      const chunks = sendable.slice(0, 1 + draws.below(4));
      if (chunks.length === 0) continue;
      const spare = draws.below(8) === 0 ? 1 + draws.below(1000) : 0;
      const end = now + latencyPs[route] + chunks.length * serialPs[route] + spare;
      for (const chunk of chunks) {
        rows.push({ chunk, route, start: now, end, op: OP_COPY });
        since[chunk].set(target, end);
      }
      messages.push({ route, end });
    }
    now = Math.min(...rows.map((row) => row.end).filter((end) => end > now), now + 1_000_000);
  }
  return needed(rows, routes, wants);
}

/** Returns the copies that lead to somebody who wants the chunk. */
function needed(rows: readonly Row[], routes: RouteSet, wants: readonly Want[]): Row[] {
  const leads = ({ chunk, route }: Row): boolean =>
    wants[chunk].to.includes(routes.target[route]) ||
    rows.some((next) => next.chunk === chunk && routes.source[next.route] === routes.target[route] && leads(next));
  return rows.filter(leads);
}

/** Returns the flood from all who want a chunk's sum, run backwards in time. */
function gathered(
  topology: Topology,
  routes: RouteSet,
  bytes: Collective["chunkBytes"],
  wants: readonly Want[],
  draws: Random,
): Row[] {
  const mirrored = wants.map(({ from, to }) => ({ from: to, to: from }));
  const rows = flood(reversed(topology), reversedRoutes(routes), bytes, mirrored, draws);
  const last = Math.max(0, ...rows.map((row) => row.end));
  return rows.map((row) => ({ ...row, start: last - row.end, end: last - row.start, op: OP_REDUCE }));
}

/** Returns a valid schedule with merged sends for a collective over routes, whose shares are sixths. */
export function mergedScheduleOf(topology: Topology, goal: Collective, routes: RouteSet, draws: Random): StepSchedule {
  const wants: Want[] = Array.from({ length: goal.chunkCount }, (_, chunk) => ({
    from: [...membersOf(goal, goal.pre, chunk)],
    to: [...membersOf(goal, goal.post, chunk)],
  }));
  const bytes = goal.chunkBytes;
  const made = (rows: readonly Row[]): StepSchedule => scheduleOfRows(topology, goal, routes, inOrder(rows));
  if (!goal.reduces) return made(flood(topology, routes, bytes, wants, draws));
  const roots = wants.map(({ to }, chunk) => [to[chunk % to.length]]);
  const sums = gathered(
    topology,
    routes,
    bytes,
    wants.map(({ from }, c) => ({ from, to: roots[c] })),
    draws,
  );
  const done = Math.max(0, ...sums.map((row) => row.end));
  const copies = flood(
    topology,
    routes,
    bytes,
    wants.map(({ to }, c) => ({ from: roots[c], to })),
    draws,
  );
  return made([...sums, ...copies.map((row) => ({ ...row, start: row.start + done, end: row.end + done }))]);
}

/** Returns a valid schedule with merged sends of a random collective on a random small network. */
export function mergedSchedule(seed: number): StepSchedule {
  const draws = random(seed, 7);
  const topology = simpleTopology(draws);
  const routes = simpleRoutes(topology, draws);
  return mergedScheduleOf(topology, simpleCollective(topology, draws, 4), routes, draws);
}
