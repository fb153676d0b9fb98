import { COLLECTIVE_KINDS, type Collective, membersOf } from "../../model/collective/collective.ts";
import { trafficOf } from "../../model/collective/traffic.ts";
import { listSchedule } from "../../model/messages/list-schedule.ts";
import { type Messages, messages } from "../../model/messages/messages.ts";
import { portRounds } from "../../model/messages/port-rounds.ts";
import { composed, orderByColumns, orderByTime } from "../../model/numbers/ordering.ts";
import { evenRoutes, type MessageRoutes, shortestRoutes } from "../../model/routes/list-routes.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, switchCount, type Topology } from "../../model/topology/topology.ts";
import { scheduleAlong } from "../alltoall/alltoall.ts";
import { messagesOf } from "../alltoall/paths.ts";
import type { TimingOptions } from "../alltoall/slots.ts";
import { leastOf, simulatedPs } from "../fastest.ts";
import type { Synthesizer } from "../synthesizer.ts";

/** Rounds in each of which an NPU has one target, another than any other NPU. */
interface Rounds {
  readonly policy: string;
  readonly count: number;
  /** The round from a source to a target; 0: to itself. */
  readonly of: (source: number, target: number) => number;
}

/** In round k an NPU sends to the k-th after it. */
const rotated = (npuCount: number): Rounds => ({
  policy: "rotated",
  count: npuCount,
  of: (source, target) => (target - source + npuCount) % npuCount,
});

/**
 * Returns rounds that rotate over the boxes and, for each, over the places in them, as NCCL schedules its sends and receives:
 * one rotation over all NPUs would have a whole box begin with the same NPU of the next.
 */
function rotatedOverBoxes(boxes: readonly Int32Array[]): Rounds {
  const size = (boxes[0] as Int32Array).length;
  const count = boxes.length * size;
  const [boxOf, placeOf] = [new Int32Array(count), new Int32Array(count)];
  boxes.forEach((npus, box) => {
    npus.forEach((npu, place) => {
      boxOf[npu] = box;
      placeOf[npu] = place;
    });
  });
  const after = (column: Int32Array, source: number, target: number, around: number): number =>
    (column[target] - column[source] + around) % around;
  return {
    policy: "rotated over boxes",
    count,
    of: (source, target) => after(boxOf, source, target, boxes.length) * size + after(placeOf, source, target, size),
  };
}

function roundsOf(topology: Topology): Rounds {
  const boxes = boxesOf(topology);
  return boxes === null || boxes.length === 1 ? rotated(topology.npuCount) : rotatedOverBoxes(boxes);
}

/** Issues every message straight from where a chunk is to where it must go, contributions before copies, round by round. */
function issue(list: Messages, collective: Collective, rounds: Rounds): void {
  const drafts = messages();
  const keys: number[] = [];
  const draft = (phase: number, chunk: number, source: number, target: number): void => {
    if (source === target) return;
    drafts.add(chunk, source, target, collective.reduces && phase === 0);
    keys.push((phase * rounds.count + rounds.of(source, target)) * collective.chunkCount + chunk);
  };
  for (let c = 0; c < collective.chunkCount; c++) {
    const owner = ownerOf(collective, c);
    const holders = membersOf(collective, collective.pre, c);
    if (collective.reduces) for (const source of holders) draft(0, c, source, owner);
    for (const target of membersOf(collective, collective.post, c)) {
      if (collective.reduces || !holders.includes(target)) draft(1, c, owner, target);
    }
  }
  for (const i of orderByTime(Float64Array.from(keys))) {
    list.add(drafts.chunk[i], drafts.source[i], drafts.target[i], drafts.reduce[i] === 1);
  }
}

/** Where a chunk is complete first: its block's rank where every rank both starts and ends with it, else the first holder. */
function ownerOf(collective: Collective, chunk: number): number {
  const { pre, post, reduces } = collective;
  if (!reduces) return membersOf(collective, pre, chunk)[0];
  if (post.kind !== "group") return membersOf(collective, post, chunk)[0];
  const perGroup = collective.chunkCount / collective.groupCount;
  const rank = Math.floor((chunk % perGroup) / collective.chunksPerNpu);
  return membersOf(collective, post, chunk)[rank];
}

/**
 * Everyone sends straight to everyone, on short paths: the all-to-all of every library and, where all can reach all at once, the
 * all-pairs reduction and all-gather of RCCL with MSCCL++ and of NCCL's symmetric memory kernels (2.27).
 */
export const direct: Synthesizer = {
  name: "direct",
  makes: "steps",
  traits: { goesAllTheWay: true, library: "within a box", librariesOf: ["NCCL", "RCCL", "MPI"] },
  description: "every chunk straight to each of its targets, on short paths that load links evenly (baseline)",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [],
  async synthesize({ topology, collective, seed }, { runner }) {
    const list = messages();
    const rounds = roundsOf(topology);
    issue(list, collective, rounds);
    const shortest = shortestRoutes(topology, list);
    const made = (order: Messages, ways: MessageRoutes, policy: string): Made => ({
      schedule: listSchedule(topology, collective, order, ways),
      policy,
    });
    const tried = [made(list, shortest, rounds.policy)];
    if (switchCount(topology) > 0 && list.count <= MOST_COMPARED) {
      const even = evenRoutes(topology, shortest);
      tried.push(made(list, even, `${rounds.policy}, links loaded evenly`));
      const isOnePhase = collective.kind !== "allreduce" && collective.kind !== "custom";
      const order = isOnePhase ? inPortRounds(topology, list, even) : null;
      if (order !== null) {
        tried.push(made(reordered(list, order), { ...even, routeOf: composed(even.routeOf, order) }, PORT_ROUNDS));
      }
      if (list.count <= MOST_HANDED_ON && trafficOf(collective, topology.npuCount) !== null) {
        tried.push(...(await handedOn(topology, collective, list, even, { seed, trials: 1, runner })));
      }
    }
    return { ...leastOf(tried, ({ schedule }) => simulatedPs(schedule)), trials: tried.length };
  },
};

/** Messages in one of the orders that are tried, over some ways. */
interface Made {
  readonly schedule: StepSchedule;
  readonly policy: string;
}

/** Of more messages only the usual order on the usual ways is made. */
const MOST_COMPARED = 2e5;
/** Of more messages none is handed on: placing them takes seconds. */
const MOST_HANDED_ON = 5e4;
const PORT_ROUNDS = "a message in and out of every port at a time, links loaded evenly";
/** How many hops more than the fewest ways may have, in turn. */
const DETOURS = [0, 2, 4];
const handedOnBy = (detour: number): string =>
  `links loaded evenly${detour === 0 ? "" : ` by up to ${detour} hops more`}, NPUs on the way hand on whole chunks`;
/** Links that are so nearly as busy as the busiest of a way are its ports. */
const NEARLY = 0.9;

/**
 * Returns the order of messages by rounds in each of which a busy link takes one message (portRounds): the first and the last of
 * the busy links of a way count. Null where rounds would take too much memory.
 */
function inPortRounds(topology: Topology, list: Messages, { routes, routeOf }: MessageRoutes): Int32Array | null {
  const links = linkCount(topology);
  const busy = new Float64Array(links);
  const wayOf = (i: number): Int32Array =>
    routes.links.subarray(routes.linkOffset[routeOf[i]], routes.linkOffset[routeOf[i] + 1]);
  for (let i = 0; i < list.count; i++) {
    for (const link of wayOf(i)) busy[link] += 1 / topology.linkBytesPerSecond[link];
  }
  const [from, to] = [new Int32Array(list.count), new Int32Array(list.count)];
  for (let i = 0; i < list.count; i++) {
    const way = wayOf(i);
    const most = way.reduce((greatest, link) => Math.max(greatest, busy[link]), 0);
    const ports = way.filter((link) => busy[link] >= NEARLY * most);
    from[i] = ports[0];
    to[i] = links + ports[ports.length - 1];
  }
  const rounds = portRounds(from, to, 2 * links);
  return rounds === null ? null : orderByColumns([rounds]);
}

/**
 * Returns chunks that each go from one NPU to one on ways that load links ever more evenly, each with more hops than the last,
 * from NPU to NPU, as relays over NVLink do (PXN of NCCL 2.12): a switch lets them through, an NPU on the way has them whole first.
 */
async function handedOn(
  topology: Topology,
  collective: Collective,
  list: Messages,
  even: MessageRoutes,
  options: TimingOptions,
): Promise<Made[]> {
  const sent = messagesOf(collective, topology.npuCount);
  const messageOf = new Int32Array(collective.chunkCount);
  for (let i = 0; i < list.count; i++) messageOf[list.chunk[i]] = i;
  const found: Made[] = [];
  let ways = even;
  for (const detour of DETOURS) {
    const before = ways;
    if (detour > 0) ways = evenRoutes(topology, before, detour);
    if (detour > 0 && areSame(ways.routes.links, before.routes.links)) continue;
    const { routes, routeOf } = ways;
    const paths = Array.from(sent.chunk, (chunk) => {
      const route = routeOf[messageOf[chunk]];
      return routes.links.subarray(routes.linkOffset[route], routes.linkOffset[route + 1]);
    });
    const schedule = await scheduleAlong(topology, collective, sent, paths, options);
    found.push({ schedule, policy: handedOnBy(detour) });
  }
  return found;
}

const areSame = (a: Int32Array, b: Int32Array): boolean => a.length === b.length && a.every((x, i) => x === b[i]);

function reordered(list: Messages, order: Int32Array): Messages {
  const next = messages();
  for (const i of order) next.add(list.chunk[i], list.source[i], list.target[i], list.reduce[i] === 1);
  return next;
}
