import { random } from "../../base/random.ts";
import { type DimensionWiring, linkBytesPerSecond, wiringOf } from "../dimensions/dimensions.ts";
import { commonDivisor } from "../numbers/integers.ts";
import type { Topology } from "../topology/topology.ts";

/** Hamiltonian cycles of a grid that share no slot of a link; each is a ring both ways. */
export interface GridCycles {
  /** [cycles] NPUs in order, the first is NPU 0. */
  readonly cycles: readonly Int32Array[];
  /** Of each cycle, in each direction. */
  readonly bytesPerSecond: number;
}

/** Larger grids are not searched. */
const MOST_NPUS = 512;
/** Slots of links that an NPU has, counted in one direction of each dimension. */
const MOST_SLOTS = 16;
/** Squares looked at, and NPUs passed when cycles are renumbered: well below a second. */
const BUDGET = 1e7;

const known = new WeakMap<Topology, GridCycles | null>();

/**
 * Returns Hamiltonian cycles of a network whose direct links are a grid (`dimensionsOf`): of a torus as many as there are pairs of
 * links at an NPU, in nearly all cases (they exist for two and three equal rings: Kotzig 1973, Foregger 1978); of other grids of
 * lines with an even side one, a comb. null for other networks and more than 512 NPUs. Deterministic; looked for once.
 */
export function gridCycles(topology: Topology): GridCycles | null {
  let found = known.get(topology);
  if (found === undefined) {
    found = search(topology);
    known.set(topology, found);
  }
  return found;
}

function search(topology: Topology): GridCycles | null {
  const dimensions = topology.npuCount > MOST_NPUS ? null : wiringOf(topology);
  if (dimensions === null || dimensions.some(({ kind }) => kind === "switch")) return null;
  const figures = dimensions.map(linkBytesPerSecond);
  if (dimensions.every(({ kind, size }) => kind === "ring" || size <= 3)) {
    const unit = commonDivisor(figures);
    const slots = dimensions.flatMap((dimension, d) =>
      Array.from({ length: Math.min(figures[d] / unit, MOST_SLOTS + 1) }, () => dimension),
    );
    const cycles = slots.length > MOST_SLOTS ? [] : torusCycles(slots, topology.npuCount);
    if (cycles.length > 0) return { cycles, bytesPerSecond: unit };
  }
  const comb = combOf(dimensions, topology.npuCount);
  return comb === null ? null : { cycles: [comb], bytesPerSecond: Math.min(...figures) };
}

/** Returns the NPU one step on in a dimension, the first of the line after the last. */
function nextIn({ size, stride }: DimensionWiring, npu: number): number {
  const at = Math.floor(npu / stride) % size;
  return npu + (at === size - 1 ? (1 - size) * stride : stride);
}

/**
 * Every NPU has two edges of each colour, and one of none where the dimensions of two NPUs are odd in number. Edge s x NPUs + v joins v and the next NPU in the dimension of slot s; a slot of a
 * dimension of two has the edges of its lower NPUs only.
 */
interface Colouring {
  readonly npus: number;
  /** [edges] */
  readonly ends: readonly [Int32Array, Int32Array];
  /** [edges] -1: of none. */
  readonly colour: Int32Array;
  /** [colours][2 x NPUs] the edges of a colour at an NPU. */
  readonly at: readonly Int32Array[];
  /** [colours][NPUs] which cycle an NPU is in, and how many NPUs after the first of it. */
  readonly cycle: readonly Int32Array[];
  readonly place: readonly Int32Array[];
  /** [colours] cycles. */
  readonly count: number[];
}

/** Returns a colour for each dimension that is a ring, and for each two of two NPUs: cycles in abundance. */
function firstColouring(slots: readonly DimensionWiring[], npus: number): Colouring {
  const ends = [new Int32Array(slots.length * npus).fill(-1), new Int32Array(slots.length * npus).fill(-1)] as const;
  const colour = new Int32Array(slots.length * npus).fill(-1);
  const twos = slots.flatMap(({ size }, s) => (size === 2 ? [s] : []));
  const circles = slots.flatMap(({ size }, s) => (size === 2 ? [] : [s]));
  const parts = [
    ...circles.map((s) => [s]),
    ...twos.flatMap((s, i) => (i % 2 === 1 ? [[twos[i - 1] as number, s]] : [])),
  ];
  const addEdges = (s: number, c: number, edges: Int32Array | null): void => {
    const slot = slots[s] as DimensionWiring;
    for (let v = 0; v < npus; v++) {
      const next = nextIn(slot, v);
      if (slot.size === 2 && next < v) continue;
      const edge = s * npus + v;
      [ends[0][edge], ends[1][edge], colour[edge]] = [v, next, c];
      if (edges !== null) for (const npu of [v, next]) edges[edges[2 * npu] < 0 ? 2 * npu : 2 * npu + 1] = edge;
    }
  };
  const at = parts.map((part, c) => {
    const edges = new Int32Array(2 * npus).fill(-1);
    for (const s of part) addEdges(s, c, edges);
    return edges;
  });
  if (twos.length % 2 === 1) addEdges(twos[twos.length - 1] as number, -1, null);
  const columns = (): Int32Array[] => parts.map(() => new Int32Array(npus));
  const colouring = { npus, ends, colour, at, cycle: columns(), place: columns(), count: parts.map(() => 0) };
  for (let c = 0; c < parts.length; c++) numberCycles(colouring, c);
  return colouring;
}

/** Calls `visit` with the NPUs of the cycle of a colour through `first`, in order. */
function walk({ at, ends }: Colouring, colour: number, first: number, visit: (npu: number) => void): void {
  const edges = at[colour] as Int32Array;
  let npu = first;
  let edge = edges[2 * npu];
  do {
    visit(npu);
    npu = ends[0][edge] === npu ? ends[1][edge] : ends[0][edge];
    edge = edges[2 * npu] === edge ? edges[2 * npu + 1] : edges[2 * npu];
  } while (npu !== first);
}

function numberCycles(colouring: Colouring, colour: number): void {
  const [cycle, place] = [colouring.cycle[colour] as Int32Array, colouring.place[colour] as Int32Array];
  cycle.fill(-1);
  let count = 0;
  for (let first = 0; first < colouring.npus; first++) {
    if (cycle[first] >= 0) continue;
    let i = 0;
    walk(colouring, colour, first, (npu) => {
      cycle[npu] = count;
      place[npu] = i++;
    });
    count++;
  }
  colouring.count[colour] = count;
}

/** Edges u-x and w-y of one colour, u-w and x-y of another. */
interface Square {
  readonly u: number;
  readonly x: number;
  readonly w: number;
  readonly y: number;
}

/** Returns how many more cycles a colour has when its edges u-x and w-y are replaced by u-w and x-y; 0 for edges of none. */
function change({ cycle, place }: Colouring, colour: number, { u, x, w, y }: Square): -1 | 0 | 1 {
  if (colour < 0) return 0;
  const [of, at] = [cycle[colour] as Int32Array, place[colour] as Int32Array];
  if (of[u] !== of[w]) return -1;
  const goesOn = (from: number, to: number): boolean => at[to] === at[from] + 1 || (at[to] === 0 && at[from] > 1);
  return goesOn(u, x) === goesOn(w, y) ? 0 : 1;
}

/**
 * Returns edge-disjoint Hamiltonian cycles of a torus, [colours] at most. Begins with the rings of each dimension and exchanges the
 * colours of opposite sides of squares whose sides have two colours in turns: that leaves every NPU two edges of each colour and
 * joins cycles, or parts and turns them; drawn at random, it is done where there are not more cycles after it.
 */
function torusCycles(slots: readonly DimensionWiring[], npus: number): Int32Array[] {
  const colouring = firstColouring(slots, npus);
  const { colour, at, count } = colouring;
  const edgeOf = (s: number, npu: number): number => {
    const slot = slots[s] as DimensionWiring;
    return s * npus + (slot.size === 2 ? Math.min(npu, nextIn(slot, npu)) : npu);
  };
  const put = (c: number, npu: number, from: number, to: number): void => {
    const edges = at[c] as Int32Array;
    edges[edges[2 * npu] === from ? 2 * npu : 2 * npu + 1] = to;
  };
  const { below: draw } = random(1);
  for (let work = 0; work < BUDGET && count.some((cycles) => cycles > 1); work++) {
    const [s, t, u] = [draw(slots.length), draw(slots.length), draw(npus)];
    const [along, across] = [slots[s] as DimensionWiring, slots[t] as DimensionWiring];
    if (along.stride === across.stride) continue;
    const [x, w] = [nextIn(along, u), nextIn(across, u)];
    const y = nextIn(across, x);
    const [near, far, left, right] = [edgeOf(s, u), edgeOf(s, w), edgeOf(t, u), edgeOf(t, x)];
    const [a, b] = [colour[near], colour[left]];
    if (a === b || colour[far] !== a || colour[right] !== b) continue;
    if (change(colouring, a, { u, x, w, y }) + change(colouring, b, { u, x: w, w: x, y }) > 0) continue;
    for (const [npu, ofA, ofB] of [
      [u, near, left],
      [x, near, right],
      [w, far, left],
      [y, far, right],
    ] as const) {
      if (a >= 0) put(a, npu, ofA, ofB);
      if (b >= 0) put(b, npu, ofB, ofA);
    }
    [colour[near], colour[far], colour[left], colour[right]] = [b, b, a, a];
    for (const c of [a, b]) if (c >= 0) numberCycles(colouring, c);
    work += 2 * npus;
  }
  return count.flatMap((cycles, c) => {
    if (cycles > 1) return [];
    const order: number[] = [];
    walk(colouring, c, 0, (npu) => order.push(npu));
    return [Int32Array.from(order)];
  });
}

/** Returns a Hamiltonian cycle over lines of neighbours: along a snake through all sides but an even one, there and back; else null. */
function combOf(dimensions: readonly DimensionWiring[], npus: number): Int32Array | null {
  const even = dimensions.find(({ size }) => size % 2 === 0 && size < npus);
  if (even === undefined) return null;
  let snake = [0];
  for (const { size, stride } of dimensions.filter((one) => one !== even)) {
    snake = Array.from({ length: size }, (_, i) => {
      const line = snake.map((npu) => npu + i * stride);
      return i % 2 === 0 ? line : line.reverse();
    }).flat();
  }
  const [back, ...teeth] = snake;
  const there = Array.from({ length: even.size }, (_, i) => {
    const line = teeth.map((npu) => npu + i * even.stride);
    return i % 2 === 0 ? line : line.reverse();
  });
  const home = Array.from({ length: even.size - 1 }, (_, i) => (back as number) + (even.size - 1 - i) * even.stride);
  return Int32Array.from([back as number, ...there.flat(), ...home]);
}
