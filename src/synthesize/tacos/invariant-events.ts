import { draw } from "../../base/random.ts";
import { receive, refill, translatedLog } from "./translated-log.ts";

/**
 * All-gather among translations of one NPU over routes of unequal lengths. An orbit is a route into NPU 0 with all its
 * translations, which are used at once; a lane is a set of orbits of which one can be in use at a time (the rotations
 * through a switch). Element o * chunksPerNpu + j is chunk j of the NPU that lies o from the one in view.
 */
export interface LaneProblem {
  readonly npuCount: number;
  readonly chunksPerNpu: number;
  readonly lanes: number;
  /** [orbits] */
  readonly laneOf: Int32Array;
  /** [orbits] how long a transfer takes, picoseconds. */
  readonly slotPs: Float64Array;
  /** [orbits * NPUs] orbit * NPUs + o: what lies o from the source of the orbit lies here from the NPU itself. */
  readonly shifted: Int32Array;
}

/** What the NPU in view receives, in order of arrival. */
export interface LaneSpread {
  readonly element: Int32Array;
  readonly orbit: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: number;
}

/** Candidates that an orbit keeps at a time. */
const WINDOW = 16;

/**
 * Returns an all-gather in which nothing ends after `limitPs`, or null when this seed does not lead to one. Whenever lanes
 * fall idle, those with the fewest candidates choose first: the newest element (noveltyOf), then the one that the fewest
 * orbits could bring, drawn among equals; augmenting paths give an element to every lane that can have one (Kuhn). No element is on its way twice.
 * O(elements * (orbits + lanes * WINDOW)) but for the augmenting.
 */
export function spreadOverLanes(problem: LaneProblem, seed: number, limitPs: number): LaneSpread | null {
  const state = laneState(problem, seed, limitPs);
  const { lanes, novelty, brings, settled, slotPs, over, chunksPerNpu } = state;
  const elements = problem.npuCount * chunksPerNpu;
  /** [lanes] until when it is in use. */
  const endPs = new Float64Array(lanes);
  const found = {
    element: new Int32Array(elements - chunksPerNpu),
    orbit: new Int32Array(elements - chunksPerNpu),
    startPs: new Float64Array(elements - chunksPerNpu),
  };

  for (let j = 0; j < chunksPerNpu; j++) {
    receive(state, j);
    novelty.settle(j);
  }
  for (;;) {
    const idle = idleLanes(state);
    for (const lane of idle) {
      if (choose(state, lane)) continue;
      state.visit++;
      augment(state, lane);
    }
    for (const lane of idle) {
      if (brings[lane] < 0) continue;
      settled[brings[lane]] = 1;
      novelty.settle(brings[lane]);
      endPs[lane] = state.nowPs + slotPs[over[lane]];
    }
    let nextPs = Number.POSITIVE_INFINITY;
    for (let lane = 0; lane < lanes; lane++) if (brings[lane] >= 0 && endPs[lane] < nextPs) nextPs = endPs[lane];
    if (nextPs === Number.POSITIVE_INFINITY) break;
    state.nowPs = nextPs;
    for (let lane = 0; lane < lanes; lane++) {
      if (brings[lane] < 0 || endPs[lane] !== state.nowPs) continue;
      const row = state.length - chunksPerNpu;
      found.element[row] = brings[lane];
      found.orbit[row] = over[lane];
      found.startPs[row] = state.nowPs - slotPs[over[lane]];
      receive(state, brings[lane]);
      brings[lane] = -1;
    }
  }
  return state.length === elements ? { ...found, endPs: state.nowPs } : null;
}

/** Returns the columns of a spread over lanes. */
function laneState(problem: LaneProblem, seed: number, limitPs: number) {
  const { npuCount, chunksPerNpu, lanes, laneOf, slotPs, shifted } = problem;
  const elements = npuCount * chunksPerNpu;
  const orbitsOf: number[][] = Array.from({ length: lanes }, () => []);
  laneOf.forEach((lane, orbit) => {
    orbitsOf[lane].push(orbit);
  });
  return {
    ...translatedLog({ npuCount, chunksPerNpu, shifted }, laneOf.length, WINDOW),
    lanes,
    orbitsOf,
    slotPs,
    limitPs,
    seed,
    novelty: noveltyOf(problem),
    /** What each lane brings (or has chosen), over which orbit; -1 and 0 where idle. */
    brings: new Int32Array(lanes).fill(-1),
    over: new Int32Array(lanes),
    chosenBy: new Int32Array(elements).fill(-1),
    visited: new Int32Array(elements),
    visit: 0,
    nowPs: 0,
  };
}

type LaneState = ReturnType<typeof laneState>;

function inTime(state: LaneState, orbit: number): boolean {
  const { slotPs, limitPs } = state;
  return state.nowPs + slotPs[orbit] <= limitPs;
}

function choose(state: LaneState, lane: number): boolean {
  const { orbitsOf, count, candidate, chosenBy, novelty, bringers, seed, lanes, over, brings } = state;
  let best = -1;
  let newest = 0;
  let fewest = 0;
  let least = 0;
  for (const orbit of orbitsOf[lane]) {
    if (!inTime(state, orbit)) continue;
    for (let i = orbit * WINDOW, end = i + count[orbit]; i < end; i++) {
      const element = candidate[i];
      if (chosenBy[element] >= 0) continue;
      const news = novelty.of(element, orbit);
      const few = bringers[element];
      if (best >= 0 && (news < newest || (news === newest && few > fewest))) continue;
      const tie = draw(seed, state.length * lanes + lane, element);
      if (best >= 0 && news === newest && few === fewest && tie >= least) continue;
      best = element;
      newest = news;
      fewest = few;
      least = tie;
      over[lane] = orbit;
    }
  }
  brings[lane] = best;
  if (best < 0) return false;
  chosenBy[best] = lane;
  return true;
}

function augment(state: LaneState, lane: number): boolean {
  const { orbitsOf, count, candidate, visited, chosenBy, brings, over } = state;
  for (const orbit of orbitsOf[lane]) {
    if (!inTime(state, orbit)) continue;
    for (let i = orbit * WINDOW, end = i + count[orbit]; i < end; i++) {
      const element = candidate[i];
      if (visited[element] === state.visit) continue;
      visited[element] = state.visit;
      if (chosenBy[element] >= 0 && !augment(state, chosenBy[element])) continue;
      chosenBy[element] = lane;
      brings[lane] = element;
      over[lane] = orbit;
      return true;
    }
  }
  return false;
}

/** Lanes that are idle and have something in time, fewest candidates first. */
function idleLanes(state: LaneState): number[] {
  const { lanes, brings, orbitsOf, seed } = state;
  const idle: number[] = [];
  const choices = new Map<number, number>();
  for (let lane = 0; lane < lanes; lane++) {
    if (brings[lane] >= 0) continue;
    let sum = 0;
    for (const orbit of orbitsOf[lane]) if (inTime(state, orbit)) sum += refill(state, orbit, state.length);
    if (sum === 0) continue;
    idle.push(lane);
    choices.set(lane, sum);
  }
  const of = (lane: number): number => choices.get(lane) as number;
  const tie = (lane: number): number => draw(seed, state.length, lane);
  return idle.sort((a, b) => of(a) - of(b) || tie(a) - tie(b) || a - b);
}

/**
 * Returns how new an element would be: of the sets of faster orbits (one set per slot time below the orbit's own), how many
 * can not bring it here from anything held or on its way. A slow lane that brings what a fast one could reach is wasted
 * (novelty, nested, as in the matching kernel); all orbits of one speed make no sets.
 */
function noveltyOf({ npuCount, chunksPerNpu, slotPs, shifted }: LaneProblem) {
  const speeds = [...new Set(slotPs)].sort((a, b) => a - b);
  /** [speed][NPU] the lowest offset that orbits of this speed or faster lead to. */
  const cosets = speeds.slice(0, -1).map((speed) => {
    const coset = new Int32Array(npuCount).fill(-1);
    const queue = new Int32Array(npuCount);
    for (let start = 0; start < npuCount; start++) {
      if (coset[start] >= 0) continue;
      coset[start] = start;
      queue[0] = start;
      for (let i = 0, end = 1; i < end; i++) {
        for (let orbit = 0; orbit < slotPs.length; orbit++) {
          const next = shifted[orbit * npuCount + queue[i]];
          if (slotPs[orbit] > speed || coset[next] >= 0) continue;
          coset[next] = start;
          queue[end++] = next;
        }
      }
    }
    return coset;
  });
  const known = cosets.map(() => new Uint8Array(npuCount * chunksPerNpu));
  const level = Int32Array.from(slotPs, (slot) => speeds.indexOf(slot));
  const place = (element: number, speed: number): number => {
    const offset = Math.floor(element / chunksPerNpu);
    return element + (cosets[speed][offset] - offset) * chunksPerNpu;
  };
  return {
    of: (element: number, orbit: number): number => {
      let news = 0;
      for (let speed = 0; speed < level[orbit]; speed++) if (known[speed][place(element, speed)] === 0) news++;
      return news;
    },
    settle: (element: number): void => {
      for (let speed = 0; speed < known.length; speed++) known[speed][place(element, speed)] = 1;
    },
  };
}
