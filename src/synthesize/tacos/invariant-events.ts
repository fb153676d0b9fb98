import { draw } from "../../base/random.ts";

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
  const { npuCount, chunksPerNpu, lanes, laneOf, slotPs, shifted } = problem;
  const orbits = laneOf.length;
  const elements = npuCount * chunksPerNpu;
  const log = new Int32Array(elements);
  /** Held or on its way. */
  const settled = new Uint8Array(elements);
  const bringers = new Uint32Array(elements);
  const candidate = new Int32Array(orbits * WINDOW);
  const count = new Int32Array(orbits);
  const read = new Int32Array(orbits);
  const orbitsOf: number[][] = Array.from({ length: lanes }, () => []);
  for (let orbit = 0; orbit < orbits; orbit++) orbitsOf[laneOf[orbit]].push(orbit);
  const novelty = noveltyOf(problem);
  /** What each lane brings (or has chosen), over which orbit, until when; -1 and 0 where idle. */
  const brings = new Int32Array(lanes).fill(-1);
  const over = new Int32Array(lanes);
  const endPs = new Float64Array(lanes);
  const chosenBy = new Int32Array(elements).fill(-1);
  const visited = new Int32Array(elements);
  const found = {
    element: new Int32Array(elements - chunksPerNpu),
    orbit: new Int32Array(elements - chunksPerNpu),
    startPs: new Float64Array(elements - chunksPerNpu),
  };
  let length = 0;
  let visit = 0;
  let nowPs = 0;

  const from = (element: number, orbit: number): number => {
    if (chunksPerNpu === 1) return shifted[orbit * npuCount + element];
    const offset = Math.floor(element / chunksPerNpu);
    return element + (shifted[orbit * npuCount + offset] - offset) * chunksPerNpu;
  };
  const receive = (element: number): void => {
    settled[element] = 1;
    log[length++] = element;
    for (let orbit = 0; orbit < orbits; orbit++) bringers[from(element, orbit)]++;
  };
  const refill = (orbit: number): number => {
    const base = orbit * WINDOW;
    let kept = 0;
    for (let i = 0; i < count[orbit]; i++) {
      if (settled[candidate[base + i]] === 0) candidate[base + kept++] = candidate[base + i];
    }
    let next = read[orbit];
    while (kept < WINDOW && next < length) {
      const element = from(log[next++], orbit);
      if (settled[element] === 0) candidate[base + kept++] = element;
    }
    read[orbit] = next;
    count[orbit] = kept;
    return kept;
  };
  const inTime = (orbit: number): boolean => nowPs + slotPs[orbit] <= limitPs;
  const choose = (lane: number): boolean => {
    let best = -1;
    let newest = 0;
    let fewest = 0;
    let least = 0;
    for (const orbit of orbitsOf[lane]) {
      if (!inTime(orbit)) continue;
      for (let i = orbit * WINDOW, end = i + count[orbit]; i < end; i++) {
        const element = candidate[i];
        if (chosenBy[element] >= 0) continue;
        const news = novelty.of(element, orbit);
        const few = bringers[element];
        if (best >= 0 && (news < newest || (news === newest && few > fewest))) continue;
        const tie = draw(seed, length * lanes + lane, element);
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
  };
  const augment = (lane: number): boolean => {
    for (const orbit of orbitsOf[lane]) {
      if (!inTime(orbit)) continue;
      for (let i = orbit * WINDOW, end = i + count[orbit]; i < end; i++) {
        const element = candidate[i];
        if (visited[element] === visit) continue;
        visited[element] = visit;
        if (chosenBy[element] >= 0 && !augment(chosenBy[element])) continue;
        chosenBy[element] = lane;
        brings[lane] = element;
        over[lane] = orbit;
        return true;
      }
    }
    return false;
  };
  /** Lanes that are idle and have something in time, fewest candidates first. */
  const idleLanes = (): number[] => {
    const idle: number[] = [];
    const choices = new Map<number, number>();
    for (let lane = 0; lane < lanes; lane++) {
      if (brings[lane] >= 0) continue;
      let sum = 0;
      for (const orbit of orbitsOf[lane]) if (inTime(orbit)) sum += refill(orbit);
      if (sum === 0) continue;
      idle.push(lane);
      choices.set(lane, sum);
    }
    const of = (lane: number): number => choices.get(lane) as number;
    const tie = (lane: number): number => draw(seed, length, lane);
    return idle.sort((a, b) => of(a) - of(b) || tie(a) - tie(b) || a - b);
  };

  for (let j = 0; j < chunksPerNpu; j++) {
    receive(j);
    novelty.settle(j);
  }
  for (;;) {
    const idle = idleLanes();
    for (const lane of idle) {
      if (choose(lane)) continue;
      visit++;
      augment(lane);
    }
    for (const lane of idle) {
      if (brings[lane] < 0) continue;
      settled[brings[lane]] = 1;
      novelty.settle(brings[lane]);
      endPs[lane] = nowPs + slotPs[over[lane]];
    }
    let nextPs = Number.POSITIVE_INFINITY;
    for (let lane = 0; lane < lanes; lane++) if (brings[lane] >= 0 && endPs[lane] < nextPs) nextPs = endPs[lane];
    if (nextPs === Number.POSITIVE_INFINITY) break;
    nowPs = nextPs;
    for (let lane = 0; lane < lanes; lane++) {
      if (brings[lane] < 0 || endPs[lane] !== nowPs) continue;
      const row = length - chunksPerNpu;
      found.element[row] = brings[lane];
      found.orbit[row] = over[lane];
      found.startPs[row] = nowPs - slotPs[over[lane]];
      receive(brings[lane]);
      brings[lane] = -1;
    }
  }
  return length === elements ? { ...found, endPs: nowPs } : null;
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
