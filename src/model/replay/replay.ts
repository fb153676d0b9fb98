import { InternalError } from "../../base/errors.ts";
import { MessageNetwork, type Ways } from "./message-network.ts";
import { badRow, type Plan, planOf } from "./plan.ts";
import { hopCountOf, REPLAY_MODE, REPLAY_WANTS, type ReplayOutcome, type ReplayProblem } from "./problem.ts";

/**
 * Returns the replay in JavaScript, the twin of native/kernels/replay.h; calls `goOn` now and then, which may throw. The problem
 * is well-formed but for its rows. Memory O(transfers + NPUs + chunks + links of routes).
 */
export function replayJs(problem: ReplayProblem, goOn: () => void = () => {}): ReplayOutcome {
  const row = badRow(problem);
  if (row >= 0) return { kind: "refused", row };
  return problem.mode === REPLAY_MODE.cutThrough ? replayCutThrough(problem, goOn) : replayEvents(problem, goOn);
}

const NONE = new Float64Array(0);
/** Rows or arrivals between two looks at whether to go on. */
const BETWEEN_LOOKS = 16_384;

/**
 * Returns the replay with cut-through switching; rows are not bad. One pass over the rows in planned order: every constraint
 * on a transfer comes from rows before it, and starts on a link never go back, so the earliest start is a maximum over its
 * links. For each link the transfers in flight form a list by end; a route carries one chunk at a time, so route link p is in
 * its link's list at most once and names the entry. O(transfers x links of a route x in flight).
 */
function replayCutThrough(problem: ReplayProblem, goOn: () => void): ReplayOutcome {
  const { linkOffset, links, route, plannedStart, plannedEnd, serial, delay, cost, capacity, reduces } = problem;
  const count = route.length;
  const routeTotal = problem.routeSource.length;
  const { sourcePlace, targetPlace, initial, byArrival, collective } = planOf(problem);
  const timed = problem.wants !== REPLAY_WANTS.nothing;

  /** [places] when the chunk is there as planned; -1 before anything has come. */
  const ready = Float64Array.from(initial, (held) => held - 1);
  const arrival = new Float64Array(count);
  const starts = timed ? new Float64Array(count) : NONE;
  const routeFree = new Float64Array(routeTotal);
  const lastStart = new Float64Array(problem.linkCount);
  const used = new Float64Array(problem.linkCount);
  const busy = new Float64Array(problem.linkCount);
  const head = new Int32Array(problem.linkCount).fill(-1);
  const tail = new Int32Array(problem.linkCount).fill(-1);
  const next = new Int32Array(links.length).fill(-1);
  const freeAt = new Float64Array(links.length);
  let last = 0;

  for (let i = 0, arrived = 0; i < count; i++) {
    if (i % BETWEEN_LOOKS === 0) goOn();
    for (; arrived < count && plannedEnd[byArrival[arrived]] <= plannedStart[i]; arrived++) {
      const j = byArrival[arrived];
      const place = targetPlace[j];
      const known = ready[place];
      const isLater = arrival[j] > known;
      // sums: the last of the planned contributions; else: the first copy
      if (known < 0 || isLater === (reduces[collective === null ? 0 : collective[j]] === 1)) ready[place] = arrival[j];
    }
    const r = route[i];
    const there = ready[sourcePlace[i]];
    if (there < 0) return { kind: "refused", row: i };
    let start = Math.max(there, routeFree[r]);
    for (let p = linkOffset[r]; p < linkOffset[r + 1]; p++) {
      const link = links[p];
      if (lastStart[link] > start) start = lastStart[link];
      let room = capacity[link] - used[link];
      for (let entry = head[link]; room < cost[p] && entry >= 0; entry = next[entry]) {
        if (freeAt[entry] > start) start = freeAt[entry];
        room += cost[entry];
      }
    }
    const way = collective === null ? r : collective[i] * routeTotal + r;
    const held = serial[way];
    const free = start + held;
    for (let p = linkOffset[r]; p < linkOffset[r + 1]; p++) {
      const link = links[p];
      let first = head[link];
      for (; first >= 0 && freeAt[first] <= start; first = next[first]) used[link] -= cost[first];
      freeAt[p] = free;
      if (first < 0 || freeAt[first] > free) {
        next[p] = first;
        head[link] = p;
        if (first < 0) tail[link] = p;
      } else {
        head[link] = first;
        let before = freeAt[tail[link]] <= free ? tail[link] : first;
        while (next[before] >= 0 && freeAt[next[before]] <= free) before = next[before];
        next[p] = next[before];
        next[before] = p;
        if (next[p] < 0) tail[link] = p;
      }
      used[link] += cost[p];
      busy[link] += held * cost[p];
      lastStart[link] = start;
    }
    routeFree[r] = free;
    arrival[i] = start + delay[way];
    if (arrival[i] > Number.MAX_SAFE_INTEGER) return { kind: "late" };
    if (arrival[i] > last) last = arrival[i];
    if (timed) starts[i] = start;
  }
  const linkBusy = busy.map((scaled, link) => scaled / capacity[link]);
  return { kind: "replayed", last, linkBusy, start: starts, end: timed ? arrival : NONE, hopStart: NONE };
}

/** Returns the ways of all collectives, way k * routes + r for route r of collective k. */
function waysOf({ linkOffset, links, linkCount, firstChunk, serial, delay }: ReplayProblem): Ways {
  const collectives = firstChunk.length - 1;
  const routes = linkOffset.length - 1;
  const hops = links.length;
  const ways = {
    offset: new Int32Array(collectives * routes + 1),
    links: new Int32Array(collectives * hops),
    serial: new Float64Array(collectives * hops),
    delay: new Float64Array(collectives * hops),
  };
  for (let k = 0; k < collectives; k++) {
    for (let r = 0; r < routes; r++) ways.offset[k * routes + r + 1] = k * hops + linkOffset[r + 1];
    for (let p = 0; p < hops; p++) {
      ways.links[k * hops + p] = links[p];
      ways.serial[k * hops + p] = serial[k * linkCount + links[p]];
      ways.delay[k * hops + p] = delay[k * linkCount + links[p]];
    }
  }
  return ways;
}

/** Returns for each row the next row that starts with the same link, or -1; and which rows are the first. */
function byFirstLink({ route, linkOffset, links, linkCount }: ReplayProblem) {
  const last = new Int32Array(linkCount).fill(-1);
  const follower = new Int32Array(route.length).fill(-1);
  const atHead = new Uint8Array(route.length);
  for (let i = 0; i < route.length; i++) {
    const link = links[linkOffset[route[i]]];
    if (last[link] < 0) atHead[i] = 1;
    else follower[last[link]] = i;
    last[link] = i;
  }
  return { follower, atHead };
}

/** Returns where each row's hops begin among those of all. */
function hopOffsets({ linkOffset, route }: ReplayProblem): Float64Array {
  const hopOffset = new Float64Array(route.length);
  for (let i = 1; i < route.length; i++) {
    hopOffset[i] = hopOffset[i - 1] + linkOffset[route[i - 1] + 1] - linkOffset[route[i - 1]];
  }
  return hopOffset;
}

/**
 * Returns the replay as messages in a store-and-forward network; rows are not bad. A transfer is handed to the first link of
 * its way when its chunk is at the source and, in planned order, when those planned before it on that link have been handed
 * over; from then on links are first come, first served. What becomes ready at the same event goes in planned order.
 * O(transfers x links of a route x log events in flight).
 */
function replayEvents(problem: ReplayProblem, goOn: () => void): ReplayOutcome {
  const plan = planOf(problem);
  const { targetPlace, collective } = plan;
  const count = problem.route.length;
  const routes = problem.linkOffset.length - 1;
  const way = collective === null ? problem.route : problem.route.map((r, i) => collective[i] * routes + r);
  const holdings = holdingsOf(problem, plan);
  if (typeof holdings === "number") return { kind: "refused", row: holdings };
  const network =
    problem.wants === REPLAY_WANTS.hops
      ? new MessageNetwork(problem.linkCount, waysOf(problem), way, hopOffsets(problem), hopCountOf(problem))
      : new MessageNetwork(problem.linkCount, waysOf(problem), way);
  const departures = new Departures(problem, plan, holdings, network);
  departures.begin();
  const end = new Float64Array(count);
  let arrived = 0;
  let last = 0;
  goOn();
  network.run((transfer, time) => {
    if (arrived % BETWEEN_LOOKS === 0) goOn();
    end[transfer] = time;
    last = time;
    arrived++;
    holdings.arrive(transfer);
    departures.wake(targetPlace[transfer]);
  });
  if (arrived < count) throw new InternalError(`${count - arrived} transfers of a replay never arrived`);
  if (last > Number.MAX_SAFE_INTEGER) return { kind: "late" };
  const timed = problem.wants !== REPLAY_WANTS.nothing;
  const times = timed ? { start: network.start, end } : { start: NONE, end: NONE };
  return { kind: "replayed", last, linkBusy: network.linkBusy, ...times, hopStart: network.hopStart ?? NONE };
}

/** Hands rows over to the network when their chunk is there and, in planned order, it is their turn on their first link. */
class Departures {
  private readonly sourcePlace: Int32Array;
  private readonly collective: Int32Array | null;
  private readonly reduces: Uint8Array;
  private readonly holdings: Holdings;
  private readonly network: MessageNetwork;
  /** [rows] the next row that starts with the same link; whether the row is the first of them. */
  private readonly follower: Int32Array;
  private readonly atHead: Uint8Array;
  /**
   * [places] rows that wait for the place, as linked lists, soonest ready first: later rows need no fewer contributions, so
   * those of sums ascend; of copies they have no fewer to choose from, so those descend.
   */
  private readonly firstWaiting: Int32Array;
  private readonly lastWaiting: Int32Array;
  private readonly nextWaiting: Int32Array;

  constructor(problem: ReplayProblem, plan: Plan, holdings: Holdings, network: MessageNetwork) {
    const count = problem.route.length;
    this.sourcePlace = plan.sourcePlace;
    this.collective = plan.collective;
    this.reduces = problem.reduces;
    this.holdings = holdings;
    this.network = network;
    const { follower, atHead } =
      problem.mode === REPLAY_MODE.storeAndForward
        ? byFirstLink(problem)
        : { follower: new Int32Array(count).fill(-1), atHead: new Uint8Array(count).fill(1) };
    this.follower = follower;
    this.atHead = atHead;
    this.firstWaiting = new Int32Array(plan.initial.length).fill(-1);
    this.lastWaiting = new Int32Array(plan.initial.length).fill(-1);
    this.nextWaiting = new Int32Array(count).fill(-1);
  }

  /** At time 0 in planned order over all links: a row's turn comes when it is at the head of its link's order. */
  begin(): void {
    const { atHead, follower, holdings, network } = this;
    for (let row = 0; row < atHead.length; row++) {
      if (atHead[row] === 0) continue;
      if (!holdings.isReady(row)) {
        this.park(row);
        continue;
      }
      network.send(row);
      if (follower[row] >= 0) atHead[follower[row]] = 1;
    }
  }

  /** Hands over the rows that wait for a place and are ready now, in planned order. */
  wake(place: number): void {
    const { firstWaiting, lastWaiting, nextWaiting, holdings } = this;
    let ready = -1;
    for (let row = firstWaiting[place]; row >= 0 && holdings.isReady(row); row = firstWaiting[place]) {
      firstWaiting[place] = nextWaiting[row];
      if (firstWaiting[place] < 0) lastWaiting[place] = -1;
      if (this.isSum(row)) {
        this.handOver(row);
      } else {
        nextWaiting[row] = ready;
        ready = row;
      }
    }
    while (ready >= 0) {
      const next = nextWaiting[ready];
      this.handOver(ready);
      ready = next;
    }
  }

  /** Hands over a row that is at the head of its link's order, and those behind it that are ready. */
  private handOver(head: number): void {
    for (let row = head; row >= 0; row = this.follower[row]) {
      if (!this.holdings.isReady(row)) {
        this.park(row);
        return;
      }
      this.network.send(row);
    }
  }

  private park(row: number): void {
    const { firstWaiting, lastWaiting, nextWaiting } = this;
    const place = this.sourcePlace[row];
    const last = lastWaiting[place];
    const copies = !this.isSum(row);
    let before = last >= 0 && last > row === copies ? last : -1;
    let after = before >= 0 ? -1 : firstWaiting[place];
    while (after >= 0 && after > row === copies) [before, after] = [after, nextWaiting[after]];
    nextWaiting[row] = after;
    if (before < 0) firstWaiting[place] = row;
    else nextWaiting[before] = row;
    if (after < 0) lastWaiting[place] = row;
  }

  private isSum(row: number): boolean {
    return this.reduces[this.collective === null ? 0 : this.collective[row]] === 1;
  }
}

/** When a transfer's chunk is at its source as planned; keeps count while transfers arrive. */
interface Holdings {
  isReady(row: number): boolean;
  arrive(row: number): void;
}

/**
 * Returns the holdings of a plan. A departure with n planned arrivals before it at its place is ready, in a reduction,
 * when those n have arrived (arrivals planned for later are set aside, so the payload is the planned one), else when any of
 * them has. Returns a row whose chunk is never at its source where there is one: the first.
 */
function holdingsOf(problem: ReplayProblem, plan: Plan): Holdings | number {
  const { sourcePlace, targetPlace, initial, byArrival, collective } = plan;
  const { plannedStart, plannedEnd, reduces } = problem;
  const count = plannedStart.length;
  const places = initial.length;
  /** [transfers] arrivals planned at the source by the departure, and the turn of the transfer's own arrival. */
  const needed = new Int32Array(count);
  const turn = new Int32Array(count);
  const arrivals = new Int32Array(places);
  let next = 0;
  const takeTurn = (row: number): void => {
    turn[row] = arrivals[targetPlace[row]]++;
    next++;
  };
  for (let i = 0; i < count; i++) {
    while (next < count && plannedEnd[byArrival[next]] <= plannedStart[i]) takeTurn(byArrival[next]);
    needed[i] = arrivals[sourcePlace[i]];
    if (needed[i] === 0 && initial[sourcePlace[i]] === 0) return i;
  }
  while (next < count) takeTurn(byArrival[next]);
  /** First of the planned arrivals to have come, of each place; for reductions how many have come without a gap. */
  const earliest = new Int32Array(reduces.includes(0) ? places : 0).fill(count);
  const sums = reduces.includes(1);
  const offset = new Int32Array(sums ? places + 1 : 0);
  for (let place = 0; place < offset.length - 1; place++) offset[place + 1] = offset[place] + arrivals[place];
  const arrived = new Uint8Array(sums ? count : 0);
  const complete = new Int32Array(sums ? places : 0);
  const isSum = (row: number): boolean => reduces[collective === null ? 0 : collective[row]] === 1;
  return {
    isReady: (row) => {
      const place = sourcePlace[row];
      if (isSum(row)) return complete[place] >= needed[row];
      return initial[place] === 1 || earliest[place] < needed[row];
    },
    arrive: (row) => {
      const place = targetPlace[row];
      if (!isSum(row)) {
        if (turn[row] < earliest[place]) earliest[place] = turn[row];
        return;
      }
      arrived[offset[place] + turn[row]] = 1;
      while (complete[place] < arrivals[place] && arrived[offset[place] + complete[place]] === 1) complete[place]++;
    },
  };
}
