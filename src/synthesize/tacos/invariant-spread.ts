import { draw } from "../../base/random.ts";

/** A spread among translations of one NPU. Element o * chunks + j is chunk j of the NPU that lies o from the one in view. */
export interface InvariantProblem {
  readonly npuCount: number;
  readonly chunksPerNpu: number;
  readonly ports: number;
  /** [ports * NPUs] p * NPUs + o: what lies o from the source of port p lies here from the NPU itself. */
  readonly shifted: Int32Array;
}

/** How a port chooses among what it could bring: what the fewest ports could bring, then the oldest or any. */
export type SpreadChoice = "oldest" | "random";

/** What the NPU in view holds and receives, in the form of an ArrivalLog. */
export interface Spread {
  readonly slots: number;
  readonly log: Int32Array;
  readonly bits: Uint8Array;
}

/** Candidates that a port keeps at a time: at least FEWEST; as many as ports, so that a matching is maximum, up to MOST. */
const FEWEST = 8;
const MOST = 64;

/**
 * Returns a spread in at most `limit` slots, or null when this choice does not lead to one. In each slot a maximum matching
 * of ports to new elements, augmenting paths after a greedy start (Kuhn): port p can bring shifted[p][o] when o is held at
 * the start of the slot, so it walks through the NPU's own log once and keeps a window of what is still missing.
 * Maximum where ports <= 64, over the window beyond. O(elements * (ports + window)) but for the augmenting, which is rare.
 */
export function spread(problem: InvariantProblem, choice: SpreadChoice, seed: number, limit: number): Spread | null {
  const { npuCount, chunksPerNpu, ports, shifted } = problem;
  const elements = npuCount * chunksPerNpu;
  const window = Math.min(MOST, Math.max(FEWEST, ports));
  const bytes = (ports + 7) >>> 3;
  const log = new Int32Array(elements);
  let bits = new Uint8Array(bytes * (Math.ceil(elements / ports) + 64));
  const held = new Uint8Array(elements);
  /** By how many ports an element could come. */
  const bringers = new Uint32Array(elements);
  /** The port that brings or brought it, -1 for none. */
  const taken = new Int32Array(elements).fill(-1);
  const visited = new Int32Array(elements);
  const candidate = new Int32Array(ports * window);
  const count = new Int32Array(ports);
  const read = new Int32Array(ports);
  const brings = new Int32Array(ports);
  const order = new Int32Array(ports);
  const bucket = new Int32Array(window + 2);
  let length = 0;
  let visit = 0;

  const from = (element: number, port: number): number => {
    if (chunksPerNpu === 1) return shifted[port * npuCount + element];
    const offset = Math.floor(element / chunksPerNpu);
    return element + (shifted[port * npuCount + offset] - offset) * chunksPerNpu;
  };
  const receive = (element: number): void => {
    held[element] = 1;
    log[length++] = element;
    for (let p = 0; p < ports; p++) bringers[from(element, p)]++;
  };
  const refill = (port: number, visible: number): void => {
    const base = port * window;
    let kept = 0;
    for (let i = 0; i < count[port]; i++) {
      const element = candidate[base + i];
      if (held[element] === 0) candidate[base + kept++] = element;
    }
    let next = read[port];
    while (kept < window && next < visible) {
      const element = from(log[next++], port);
      if (held[element] === 0) candidate[base + kept++] = element;
    }
    read[port] = next;
    count[port] = kept;
  };
  /** Ports by number of candidates, fewest first; among equals round robin from a drawn one. */
  const sortPorts = (slot: number): void => {
    bucket.fill(0);
    for (let p = 0; p < ports; p++) bucket[count[p] + 1]++;
    for (let c = 0; c <= window; c++) bucket[c + 1] += bucket[c];
    const first = draw(seed, slot, 0) % ports;
    for (let i = 0; i < ports; i++) {
      const p = first + i < ports ? first + i : first + i - ports;
      order[bucket[count[p]]++] = p;
    }
  };
  const choose = (port: number, slot: number): number => {
    let best = -1;
    let fewest = 0;
    let least = 0;
    for (let i = port * window, end = i + count[port]; i < end; i++) {
      const element = candidate[i];
      if (taken[element] >= 0 || (best >= 0 && bringers[element] > fewest)) continue;
      const tie = choice === "oldest" ? i : draw(seed, slot * ports + port, element + 1);
      if (best >= 0 && bringers[element] === fewest && tie >= least) continue;
      best = element;
      fewest = bringers[element];
      least = tie;
    }
    return best;
  };
  const augment = (port: number): boolean => {
    for (let i = port * window, end = i + count[port]; i < end; i++) {
      const element = candidate[i];
      if (visited[element] === visit) continue;
      visited[element] = visit;
      if (taken[element] >= 0 && !augment(taken[element])) continue;
      taken[element] = port;
      brings[port] = element;
      return true;
    }
    return false;
  };

  for (let j = 0; j < chunksPerNpu; j++) receive(j);
  let slot = 0;
  for (; length < elements; slot++) {
    if (slot + Math.ceil((elements - length) / ports) > limit) return null;
    const visible = length;
    for (let p = 0; p < ports; p++) refill(p, visible);
    sortPorts(slot);
    brings.fill(-1);
    for (let i = 0; i < ports; i++) {
      const port = order[i];
      const element = choose(port, slot);
      if (element >= 0) {
        taken[element] = port;
        brings[port] = element;
      } else if (count[port] > 0) {
        visit++;
        augment(port);
      }
    }
    if ((slot + 1) * bytes > bits.length) bits = extended(bits);
    for (let p = 0; p < ports; p++) {
      if (brings[p] < 0) continue;
      bits[slot * bytes + (p >> 3)] |= 1 << (p & 7);
      receive(brings[p]);
    }
    if (length === visible) return null;
  }
  return { log, slots: slot, bits: bits.slice(0, slot * bytes) };
}

function extended(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(bits.length * 2);
  longer.set(bits);
  return longer;
}
