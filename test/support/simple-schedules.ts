import { type Random, random } from "../../src/base/random.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  collective,
  membersOf,
  type Placement,
} from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import { type RouteSet, reversedRoutes, routeTimes } from "../../src/model/routes/routes.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { nodeCount, reversed, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { pick, shuffle } from "./draws.ts";
import { inOrder, type Row, routeSet, scheduleOfRows, type WrittenRoute } from "./schedule-rows.ts";

/** Valid schedules of no quality, by plain means: one transfer after another, at the earliest time that is free. */

const chance = (random: Random, percent: number): boolean => random.below(100) < percent;

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const order = [...items];
  shuffle(order, random);
  return order;
}

/** Returns 2 to 6 NPUs, 0 to 2 switches that join two or more of them, and links both ways that connect all NPUs. */
export function simpleTopology(random: Random): Topology {
  const builder = topologyBuilder("random");
  const npus = 2 + random.below(5);
  const bandwidth = (): number => pick([1e9, 1e9, 2e9, 3e9], random);
  const latency = (): number => pick([0, 0, 500_000, 700], random);
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`n${npu}`);
  for (let npu = 1; npu < npus; npu++) builder.addDuplex(npu, random.below(npu), bandwidth(), latency());
  for (let extra = random.below(4); extra > 0; extra--) {
    const from = random.below(npus);
    builder.addLink(from, (from + 1 + random.below(npus - 1)) % npus, bandwidth(), latency());
  }
  for (let switches = random.below(3); switches > 0; switches--) {
    const node = builder.addSwitch(`s${switches}`);
    const order = shuffled(
      Array.from({ length: npus }, (_, npu) => npu),
      random,
    );
    for (const npu of order.slice(0, 2 + random.below(npus - 1))) builder.addDuplex(npu, node, bandwidth(), latency());
  }
  return builder.build();
}

/** Returns routes: every link between NPUs, whole or in two halves, and ways of two links at 1, 1/2 or 1/3 of them. */
export function simpleRoutes(topology: Topology, random: Random): RouteSet {
  const { linkSource, linkTarget, npuCount } = topology;
  const written: WrittenRoute[] = [];
  const links = Array.from(linkSource, (_, link) => link);
  for (const link of links.filter((id) => linkSource[id] < npuCount && linkTarget[id] < npuCount)) {
    if (chance(random, 80)) written.push({ links: [link] });
    else written.push({ links: [link], share: [1, 2] }, { links: [link], share: [1, 2] });
  }
  for (let hub = 0; hub < nodeCount(topology); hub++) {
    if (hub < npuCount && !chance(random, 15)) continue; // an NPU that forwards, now and then
    const share = [1, pick([1, 2, 3], random)] as const;
    for (const first of links.filter((id) => linkTarget[id] === hub && linkSource[id] < npuCount)) {
      for (const second of links.filter((id) => linkSource[id] === hub && linkTarget[id] < npuCount)) {
        if (linkSource[first] !== linkTarget[second]) written.push({ links: [first, second], share });
      }
    }
  }
  return routeSet(topology, written);
}

/** A chunk to be brought from those who have it to those who want it. */
interface Want {
  readonly chunk: number;
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Returns copies, each NPU at most one of a chunk, that bring every chunk to all who want it. */
function deliver(
  topology: Topology,
  routes: RouteSet,
  bytes: Collective["chunkBytes"],
  wants: readonly Want[],
  random: Random,
): Row[] {
  const { slotPs } = routeTimes(topology, routes, bytes);
  const rows: Row[] = [];

  const fits = (route: number, start: number, end: number): boolean => {
    const beside = rows.filter((row) => row.start < end && start < row.end);
    if (beside.some((row) => row.route === route)) return false;
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      let sixths = 6 * (routes.shareNum[i] / routes.shareDen[i]);
      for (const row of beside) {
        for (let j = routes.linkOffset[row.route]; j < routes.linkOffset[row.route + 1]; j++) {
          if (routes.links[j] === routes.links[i]) sixths += 6 * (routes.shareNum[j] / routes.shareDen[j]);
        }
      }
      if (Math.round(sixths) > 6) return false;
    }
    return true;
  };
  const send = (chunk: number, route: number, ready: number): number => {
    const duration = slotPs[route] + (chance(random, 10) ? 1 + random.below(1000) : 0);
    const moments = [ready, ...rows.map((row) => row.end).filter((end) => end > ready)].sort((a, b) => a - b);
    const start = moments.find((moment) => fits(route, moment, moment + duration)) as number;
    rows.push({ chunk, route, start, end: start + duration, op: OP_COPY });
    return start + duration;
  };
  const step = (npu: number): number[] =>
    shuffled(
      [...routes.source.keys()].filter((r) => routes.source[r] === npu),
      random,
    );

  for (const { chunk, from, to } of shuffled(wants, random)) {
    const since = new Map<number, number>(from.map((npu) => [npu, 0]));
    for (const goal of shuffled(to, random)) {
      const cameBy = new Map<number, number>();
      const queue = shuffled([...since.keys()], random);
      for (let head = 0; head < queue.length && !since.has(goal) && !cameBy.has(goal); head++) {
        for (const route of step(queue[head])) {
          const next = routes.target[route];
          if (since.has(next) || cameBy.has(next)) continue;
          cameBy.set(next, route);
          queue.push(next);
        }
      }
      const way: number[] = [];
      for (let npu = goal; !since.has(npu); npu = routes.source[way[0]]) way.unshift(cameBy.get(npu) as number);
      for (const route of way) {
        const ready = (since.get(routes.source[route]) as number) + (chance(random, 10) ? random.below(2_000_000) : 0);
        since.set(routes.target[route], send(chunk, route, ready));
      }
    }
  }
  return rows;
}

/** Returns deliveries run backwards in time on the reversed network: every chunk is summed where it is wanted. */
function sum(
  topology: Topology,
  routes: RouteSet,
  bytes: Collective["chunkBytes"],
  wants: readonly Want[],
  random: Random,
): Row[] {
  const mirrored = wants.map(({ chunk, from, to }) => ({ chunk, from: to, to: from }));
  const rows = deliver(reversed(topology), reversedRoutes(routes), bytes, mirrored, random);
  const last = Math.max(0, ...rows.map((row) => row.end));
  return rows.map((row) => ({ ...row, start: last - row.end, end: last - row.start, op: OP_REDUCE }));
}

/** Returns a collective of a random kind over one or two groups, or a custom one, with chunks of 1,000 bytes or 1,000/3. */
export function simpleCollective(topology: Topology, random: Random, mostChunks = 2): Collective {
  const npus = shuffled(
    Array.from({ length: topology.npuCount }, (_, npu) => npu),
    random,
  );
  const kind = pick([...COLLECTIVE_KINDS, "allreduce", "custom"] as const, random);
  if (kind !== "custom") {
    const two = npus.length >= 4 && chance(random, 25);
    const size = two ? 2 : 1 + random.below(npus.length);
    const groups = [npus.slice(0, size), ...(two ? [npus.slice(2, 4)] : [])].map((group) => Int32Array.from(group));
    const chunksPerNpu = 1 + random.below(mostChunks);
    return collective({ kind, groups, sizeBytes: 2000, chunksPerNpu, rootRank: random.below(size) });
  }
  const chunkCount = 1 + random.below(4);
  const sets = (): Placement => {
    const lists = Array.from({ length: chunkCount }, () =>
      shuffled(npus, random).slice(0, 1 + random.below(npus.length)),
    );
    const offset = new Int32Array(chunkCount + 1);
    lists.forEach((list, c) => {
      offset[c + 1] = offset[c] + list.length;
    });
    return { kind: "sets", offset, members: Int32Array.from(lists.flatMap((list) => list.sort((a, b) => a - b))) };
  };
  return {
    kind,
    groupCount: 1,
    groupSize: npus.length,
    groupMembers: Int32Array.from(npus),
    rootRank: 0,
    sizeBytes: Math.ceil((2000 * chunkCount) / 3),
    chunksPerNpu: 1,
    chunkCount,
    chunkBytes: rational(2000, 3),
    reduces: chance(random, 50),
    pre: sets(),
    post: sets(),
  };
}

/**
 * Returns a valid schedule of a random collective on a random small network. Reductions go to one NPU of each chunk's
 * postcondition and are copied from there to the others, as all-reduce is a reduce-scatter and an all-gather.
 */
export function simpleSchedule(seed: number): StepSchedule {
  const draws = random(seed);
  const topology = simpleTopology(draws);
  const routes = simpleRoutes(topology, draws);
  const goal = simpleCollective(topology, draws);
  const wants: Want[] = Array.from({ length: goal.chunkCount }, (_, chunk) => ({
    chunk,
    from: [...membersOf(goal, goal.pre, chunk)],
    to: [...membersOf(goal, goal.post, chunk)],
  }));
  if (!goal.reduces) {
    return scheduleOfRows(topology, goal, routes, inOrder(deliver(topology, routes, goal.chunkBytes, wants, draws)));
  }
  const roots = wants.map(({ to, chunk }) => to[chunk % to.length]);
  const sums = sum(
    topology,
    routes,
    goal.chunkBytes,
    wants.map((want, c) => ({ ...want, to: [roots[c]] })),
    draws,
  );
  const done = Math.max(0, ...sums.map((row) => row.end));
  const copies = deliver(
    topology,
    routes,
    goal.chunkBytes,
    wants.map((want, c) => ({ ...want, from: [roots[c]] })),
    draws,
  );
  const later = copies.map((row) => ({ ...row, start: row.start + done, end: row.end + done }));
  return scheduleOfRows(topology, goal, routes, inOrder([...sums, ...later]));
}
