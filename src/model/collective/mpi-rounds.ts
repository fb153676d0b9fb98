import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { type LineKind, wiringOf } from "../dimensions/dimensions.ts";
import type { Topology } from "../topology/topology.ts";
import type { NamedCollective } from "./collective.ts";

/**
 * What MPI libraries run, by the names of their papers: Thakur, Rabenseifner and Gropp 2005 (recursive doubling and halving,
 * Rabenseifner, scatter and all-gather), Bruck et al. 1997, Chen et al. 2005 (neighbour exchange), Loch and Koslovski 2021 (sparbit),
 * De Sensi et al. 2025 (Bine: distances 1, -1, 3, -5 ... instead of 1, 2, 4, 8 ...).
 */
export const MPI_ALGORITHMS = [
  "ring",
  "recursive-doubling",
  "recursive-halving",
  "rabenseifner",
  "bruck",
  "sparbit",
  "neighbor-exchange",
  "binomial",
  "scatter-allgather",
  "scatter-ring",
  "pairwise",
  "bine-doubling",
  "bine-halving",
  "bine-rabenseifner",
  "bine-binomial",
  "bine-scatter-allgather",
] as const;
export type MpiAlgorithm = (typeof MPI_ALGORITHMS)[number];

/** Rounds that are alike, one after the other; all messages of a round start together. */
export interface MpiRound {
  readonly times: number;
  /** Bytes of the largest message for a byte of the call's size. */
  readonly message: number;
  /** Bytes over the most loaded link, or out of the most loaded interface, for a byte of the call's size. */
  readonly load: number;
  /** Links on the longest way of a message. */
  readonly hops: number;
  /** Bytes that a rank sums for a byte of the call's size. */
  readonly summed: number;
}

export interface MpiRequest {
  readonly algorithm: MpiAlgorithm;
  readonly collective: NamedCollective;
  /**
   * Parts of the data that go through the dimensions in rotated orders at once, each out of a network interface of its own, as fast
   * as a link; the second half of more parts than dimensions runs mirrored. 1 without it, ranks then take the dimensions in turns too.
   */
  readonly ports?: number;
  /** Ranks are counted through, dimension after dimension: of a library that does not know the network. */
  readonly unaware?: boolean;
}

/** A round before it is laid on links: each rank sends this part of the size to the rank that `to` says (-1: none). */
export interface MpiStep {
  readonly to: (rank: number) => number;
  readonly share: number;
  readonly times?: number;
  readonly sums?: boolean;
}

interface Grid {
  readonly sizes: readonly number[];
  readonly strides: readonly number[];
  /** Lines of NPUs joined one after the other; false: one switch. */
  readonly direct: boolean;
  readonly ranks: number;
}

const DIRECT: readonly LineKind[] = ["ring", "line", "fc"];

function gridOfTopology(topology: Topology): Grid {
  const wiring = wiringOf(topology);
  const direct = wiring?.every(({ kind, size }) => kind === "ring" || (DIRECT.includes(kind) && size <= 3)) ?? false;
  const switched = wiring?.length === 1 && wiring[0].kind === "switch";
  if (wiring === null || !(direct || switched))
    throw new InputError(optionName("algorithm"), "ring, tree or nvls on such a network").saying(
      `${topology.name} is neither a torus nor one switch with links of one kind, where MPI's algorithms are known`,
    );
  return {
    sizes: wiring.map(({ size }) => size),
    strides: wiring.map(({ stride }) => stride),
    direct,
    ranks: topology.npuCount,
  };
}

const isPowerOfTwo = (value: number): boolean => (value & (value - 1)) === 0;
const floorLog2 = (value: number): number => 31 - Math.clz32(value);

/** Returns the steps of algorithms that halve or double, nearest first: of each the dimension and its number in there. */
function stepsOf({ sizes }: Grid, unaware: boolean, port: number): [dimension: number, step: number][] {
  const counts = sizes.map(floorLog2);
  if (unaware) return counts.flatMap((count, d) => Array.from({ length: count }, (_, k): [number, number] => [d, k]));
  const steps: [number, number][] = [];
  for (let k = 0; k < Math.max(...counts); k++) {
    for (let i = 0; i < sizes.length; i++) {
      const d = (i + port) % sizes.length;
      if (k < (counts[d] as number)) steps.push([d, k]);
    }
  }
  return steps;
}

/** Returns whom a rank exchanges with in a step: by the bit of its coordinate, or at Bine's distances. */
function peerIn(grid: Grid, [d, k]: readonly [number, number], isBine: boolean, mirrored: boolean) {
  const [size, stride] = [grid.sizes[d] as number, grid.strides[d] as number];
  // 1, -1, 3, -5, 11 ...
  const distance = (1 - (-2) ** (k + 1)) / 3;
  return (rank: number): number => {
    const own = Math.floor(rank / stride) % size;
    const even = own % 2 === 0;
    const by = even === mirrored ? -distance : distance;
    const other = isBine ? (((own + by) % size) + size) % size : own ^ (1 << k);
    return other < size ? rank + (other - own) * stride : -1;
  };
}

/** Returns the rounds of an algorithm, one part of them. */
function roundsOf(grid: Grid, { algorithm, collective, unaware = false }: MpiRequest, port: number): MpiStep[] {
  const { ranks } = grid;
  const isBine = algorithm.startsWith("bine-");
  const mirrored = port >= grid.sizes.length;
  const steps = stepsOf(grid, unaware || (!isBine && !grid.direct), port);
  const peers = steps.map((step) => peerIn(grid, step, isBine, mirrored));
  const core = 2 ** steps.length;
  const extra = core < ranks;
  const name = isBine ? algorithm.slice("bine-".length) : algorithm;

  const whole = (sums: boolean): MpiStep[] => peers.map((to) => ({ to, share: 1, sums }));
  /** Nearest first, the largest part first. */
  const halved = (sums: boolean): MpiStep[] => peers.map((to, i) => ({ to, share: 2 ** -(i + 1), sums }));
  const farthestFirst = (sums: boolean): MpiStep[] =>
    peers.toReversed().map((to, i) => ({ to, share: 2 ** -(i + 1), sums }));
  const shifted = (by: number, share: number, times = 1, sums = false): MpiStep => ({
    to: (rank) => (rank + by) % ranks,
    share,
    times,
    sums,
  });
  const round = (sums: boolean): MpiStep => shifted(1, 1 / ranks, ranks - 1, sums);
  /** A tree from rank 0 that reaches twice as many in each round, farthest first unless it follows the network. */
  const tree = (shareOf: (i: number) => number, sums: boolean): MpiStep[] => {
    const order = isBine ? peers : peers.toReversed();
    const reached = new Set([0]);
    const rounds = order.map((peer, i): MpiStep => {
      const now = new Map([...reached].map((rank) => [rank, peer(rank)]));
      for (const to of now.values()) if (to >= 0) reached.add(to);
      return { to: (rank) => now.get(rank) ?? -1, share: shareOf(i), sums };
    });
    if (extra)
      rounds.push({ to: (rank) => (rank < ranks - core ? core + rank : -1), share: shareOf(rounds.length), sums });
    return rounds;
  };
  // of more ranks than a power of two the others hand over first, and are handed the result
  const folded = (rounds: MpiStep[], part = 1): MpiStep[] => {
    if (!extra) return rounds;
    const [out, back] = [
      (rank: number) => (rank >= core ? rank - core : -1),
      (rank: number) => (rank < ranks - core ? rank + core : -1),
    ];
    return [{ to: out, share: 1, sums: true }, ...rounds, { to: back, share: part }];
  };
  const doubling = (): MpiStep[] => {
    const shares: number[] = [];
    for (let have = 1; have < ranks; have *= 2) shares.push(Math.min(have, ranks - have) / ranks);
    return shares.map((share, k) => shifted(2 ** k, share));
  };

  const refuse = (): never => {
    throw new InputError(optionName("algorithm"), `an algorithm of ${collective}`, algorithm);
  };
  if (extra && collective === "allgather" && name.endsWith("doubling")) return refuse();
  switch (`${collective} ${name}`) {
    case "allreduce ring":
      return [round(true), round(false)];
    case "allreduce recursive-doubling":
    case "allreduce doubling":
      return folded(whole(true));
    case "allreduce rabenseifner":
      return folded([...halved(true), ...halved(false).toReversed()]);
    case "reducescatter ring":
      return [round(true)];
    case "reducescatter recursive-halving":
      return folded(farthestFirst(true), 1 / ranks);
    case "reducescatter halving":
      return halved(true);
    case "allgather ring":
      return [round(false)];
    case "allgather recursive-doubling":
      return farthestFirst(false).toReversed();
    case "allgather doubling":
      return halved(false).toReversed();
    case "allgather bruck":
    case "allgather sparbit":
      return doubling();
    case "allgather neighbor-exchange":
      if (ranks % 2 !== 0) return refuse();
      // with the two neighbours in turns, after the first round two blocks each time
      return Array.from({ length: ranks / 2 }, (_, i) => ({
        to: (rank: number): number => (rank + ((rank + i) % 2 === 0 ? 1 : ranks - 1)) % ranks,
        share: (i === 0 ? 1 : 2) / ranks,
      }));
    case "broadcast binomial":
      return tree(() => 1, false);
    case "reduce binomial":
      return tree(() => 1, true).toReversed();
    case "broadcast scatter-allgather":
      return [...tree((i) => 2 ** -(i + 1), false), ...(isPowerOfTwo(ranks) ? halved(false).toReversed() : doubling())];
    case "broadcast scatter-ring":
      return [...tree((i) => 2 ** -(i + 1), false), round(false)];
    case "reduce rabenseifner":
      return [...halved(true), ...tree((i) => 2 ** -(i + 1), false).toReversed()];
    case "alltoall pairwise":
      if (grid.direct) return refuse();
      return [shifted(1, 1 / ranks, ranks - 1)];
    default:
      return refuse();
  }
}

/** Adds what messages of a round load: [dimensions x 2 x ranks] links by their first NPU and direction. Returns the most links of one. */
function layOn(grid: Grid, { to, share }: MpiStep, part: number, load: Float64Array, out: Float64Array): number {
  const { sizes, strides, ranks, direct } = grid;
  let most = 0;
  for (let rank = 0; rank < ranks; rank++) {
    const target = to(rank);
    if (target < 0 || target === rank) continue;
    const bytes = share * part;
    out[rank] += bytes;
    if (!direct) {
      // into the switch and out of it
      load[rank] += bytes;
      load[ranks + target] += bytes;
      most = Math.max(most, 2);
      continue;
    }
    let at = rank;
    let hops = 0;
    sizes.forEach((size, d) => {
      const stride = strides[d] as number;
      const own = Math.floor(at / stride) % size;
      const ahead = (Math.floor(target / stride) - own + size) % size;
      // half way round both ways are as short: every second NPU takes the other
      const forward = 2 * ahead < size || (2 * ahead === size && own % 2 === 0);
      for (let left = forward ? ahead : (size - ahead) % size; left > 0; left--) {
        load[(2 * d + Number(forward)) * ranks + at] += bytes;
        const here = Math.floor(at / stride) % size;
        at += ((forward ? (here + 1) % size : (here + size - 1) % size) - here) * stride;
        hops++;
      }
    });
    most = Math.max(most, hops);
  }
  return most;
}

/** Returns whom ranks send to in an algorithm's rounds, of one of its parts. Throws as `mpiRounds`. */
export const mpiSteps = (topology: Topology, request: MpiRequest, port = 0): readonly MpiStep[] =>
  roundsOf(gridOfTopology(topology), request, port);

/**
 * Returns the rounds of an algorithm of MPI libraries among all NPUs, with what they load: on a torus messages take the dimensions in
 * order, each the shorter way. Size as nccl-tests count it. Throws InputError for other networks, for algorithms that do not make the
 * collective, and where a power of two is needed. O(ranks x rounds x hops).
 */
export function mpiRounds(topology: Topology, request: MpiRequest): MpiRound[] {
  const grid = gridOfTopology(topology);
  const { ports = 1 } = request;
  const parts = Array.from({ length: ports }, (_, port) => roundsOf(grid, request, port));
  const { ranks, sizes } = grid;
  return (parts[0] as MpiStep[]).map(({ share, times = 1, sums = false }, i): MpiRound => {
    const load = new Float64Array(2 * sizes.length * ranks);
    const out = new Float64Array(ranks);
    const hops = parts.reduce((most, own) => Math.max(most, layOn(grid, own[i] as MpiStep, 1 / ports, load, out)), 0);
    const most = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b), 0);
    return {
      times,
      message: share / ports,
      load: Math.max(most(load), most(out) / ports),
      hops,
      summed: sums ? share : 0,
    };
  });
}
