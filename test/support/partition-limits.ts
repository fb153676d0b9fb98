import { type Random, random } from "../../src/base/random.ts";
import type { Collective } from "../../src/model/collective/collective.ts";
import { compare, divide, multiply, type Rational, rational } from "../../src/model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../src/model/numbers/units.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { pick } from "./draws.ts";
import { partitionsOf } from "./partition-problems.ts";

/** Small networks with switches of all kinds, and what their cuts and partitions prove, from the definitions alone. */

export interface NetworkShape {
  readonly mostNpus: number;
  readonly mostSwitches: number;
  /** Switches may duplicate, sum, do both or neither. */
  readonly able?: boolean;
  /** As much bandwidth each way. */
  readonly bothWays?: boolean;
  readonly latencies?: readonly number[];
}

/** Returns a network in which every NPU reaches every other, of unequal bandwidths. */
export function drawnNetwork(draws: Random, shape: NetworkShape): Topology {
  const { mostNpus, mostSwitches, able = false, bothWays = false, latencies = [0] } = shape;
  const builder = topologyBuilder("drawn");
  const npus = 2 + draws.below(mostNpus - 1);
  const switches = draws.below(mostSwitches + 1);
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`n${npu}`, draws.below(3) === 0 ? { group: `g${npu >> 1}` } : {});
  for (let s = 0; s < switches; s++) {
    const can = (): boolean => able && draws.below(2) === 0;
    builder.addSwitch(`s${s}`, { multicast: can(), aggregation: can() });
  }
  const nodes = npus + switches;
  // equal ones more often than not: then cuts alone say less
  const speeds = pick([[1], [1], [2, 3], [1, 1, 2, 5, 10]], draws);
  const speed = (): number => 1e9 * pick(speeds, draws);
  const latency = (): number => pick(latencies, draws);
  const order = [...Array(nodes).keys()].sort((a, b) => ((a * 7 + npus) % nodes) - ((b * 7 + npus) % nodes) || a - b);
  const link = (a: number, b: number): void => {
    const there = speed();
    builder.addLink(a, b, there, latency());
    builder.addLink(b, a, bothWays ? there : speed(), latency());
  };
  for (let i = 1; i < nodes; i++) link(order[draws.below(i)] as number, order[i] as number);
  for (let extra = draws.below(4 * nodes); extra > 0; extra--) {
    const a = draws.below(nodes);
    const b = (a + 1 + draws.below(nodes - 1)) % nodes;
    if (bothWays || draws.below(2) === 0) link(a, b);
    else builder.addLink(a, b, speed(), latency());
  }
  return builder.build();
}

export const drawsOf = (seed: number): Random => random(seed, 61);

const isAble = ({ nodeTraits }: Topology, node: number): boolean =>
  nodeTraits[node].multicast === true || nodeTraits[node].aggregation === true;

/** Returns the bandwidth of the links that leave a set of nodes (bits). */
function leaving({ linkSource, linkTarget, linkBytesPerSecond }: Topology, set: number, inwards: boolean): bigint {
  let sum = 0n;
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = inwards ? [linkTarget[link], linkSource[link]] : [linkSource[link], linkTarget[link]];
    if ((set >> from) & 1 && !((set >> to) & 1)) sum += BigInt(linkBytesPerSecond[link]);
  }
  return sum;
}

/** Yields every assignment of items to 0 .. choices - 1. */
function* assignments(items: number, choices: number): Generator<number[]> {
  for (let code = 0; code < choices ** items; code++) {
    yield Array.from({ length: items }, (_, i) => Math.floor(code / choices ** i) % choices);
  }
}

/** How often a chunk that all parts exchange crosses their borders on a side, by what switches in no part can do; 0: that is not known. */
function timesOf(kind: string, side: "in" | "out", merges: boolean): 0 | 1 | 2 {
  if (merges) return 0;
  if (kind === "allreduce") return 2;
  if (kind === "allgather" || kind === "broadcast") return side === "out" ? 1 : 0;
  return side === "in" ? 1 : 0;
}

/** Returns the greatest time that a partition of all NPUs, members of one group, proves by bandwidth; null where none does. */
export function partitionsByOracle(topology: Topology, { kind, sizeBytes }: Collective): Rational | null {
  const { npuCount, nodeTraits } = topology;
  const nodes = nodeCount(topology);
  const switches = [...Array(nodes - npuCount).keys()].map((i) => i + npuCount);
  const able = switches.filter((node) => isAble(topology, node));
  const plain = switches.filter((node) => !isAble(topology, node));
  let best: Rational | null = null;
  for (const part of partitionsOf(npuCount)) {
    const parts = Math.max(...part) + 1;
    if (parts < 2) continue;
    for (const choice of assignments(able.length, parts + 1)) {
      const members = Array<number>(parts).fill(0);
      part.forEach((own, npu) => {
        members[own] |= 1 << npu;
      });
      able.forEach((node, i) => {
        if (choice[i] > 0) members[choice[i] - 1] |= 1 << node;
      });
      for (const side of ["out", "in"] as const) {
        const merges = able.some(
          (node, i) => choice[i] === 0 && nodeTraits[node][side === "out" ? "multicast" : "aggregation"] === true,
        );
        const times = timesOf(kind, side, merges);
        if (times === 0) continue;
        let sum = 0n;
        for (const set of members) {
          let least: bigint | null = null;
          for (const along of assignments(plain.length, 2)) {
            const whole = plain.reduce((all, node, i) => all | (along[i] << node), set);
            const width = leaving(topology, whole, side === "in");
            if (least === null || width < least) least = width;
          }
          sum += least ?? 0n;
        }
        const bytes = multiply(rational(sizeBytes), rational(times * (parts - 1)));
        const time = divide(multiply(bytes, rational(PS_PER_SECOND)), rational(sum));
        if (best === null || compare(time, best) > 0) best = time;
      }
    }
  }
  return best;
}

/** Returns the greatest time that a cut proves by bandwidth: NPUs and switches on either side as may be. */
export function cutsByOracle(topology: Topology, { kind, sizeBytes, rootRank }: Collective): Rational {
  const { npuCount } = topology;
  let best = rational(0);
  for (let set = 1; set < 1 << nodeCount(topology); set++) {
    let inside = 0;
    for (let npu = 0; npu < npuCount; npu++) inside += (set >> npu) & 1;
    if (inside === 0 || inside === npuCount) continue;
    const hasRoot = ((set >> rootRank) & 1) === 1;
    // what must leave the set, in parts of the buffer
    const share =
      kind === "allreduce"
        ? rational(1)
        : kind === "allgather"
          ? rational(inside, npuCount)
          : kind === "reducescatter"
            ? rational(npuCount - inside, npuCount)
            : rational((kind === "broadcast") === hasRoot ? 1 : 0);
    const time = divide(
      multiply(multiply(rational(sizeBytes), share), rational(PS_PER_SECOND)),
      rational(leaving(topology, set, false)),
    );
    if (compare(time, best) > 0) best = time;
  }
  return best;
}
