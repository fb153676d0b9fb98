import { replayEvents } from "./events.ts";
import { badRow, planOf } from "./plan.ts";
import { REPLAY_MODE, REPLAY_WANTS, type ReplayOutcome, type ReplayProblem } from "./problem.ts";

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
/** Rows between two looks at whether to go on. */
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
