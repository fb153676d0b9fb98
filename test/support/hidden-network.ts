import { type Random, random } from "../../src/base/random.ts";
import type { Experiment, Measurement, ProbeEndpoint, ProbeFlow, Prober } from "../../src/model/probe/measurements.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { shuffle } from "./draws.ts";

/** What a prober measures without knowing: capacities that flows share max-min fair, a fixed route and a latency per ordered pair. */
export interface HiddenNetwork {
  readonly endpoints: readonly ProbeEndpoint[];
  /** [resources] */
  readonly names: readonly string[];
  /** [resources] bytes per second. */
  readonly capacity: readonly number[];
  /** [endpoints x endpoints] resources on the way; empty on the diagonal. */
  readonly routes: readonly (readonly number[])[];
  /** [endpoints x endpoints] */
  readonly latencyS: Float64Array;
}

export interface Noise {
  /** Standard deviation of a factor on every time. */
  readonly factor: number;
  /** Part of the times that are three times as long. */
  readonly outliers: number;
}

export const USUAL_NOISE: Noise = { factor: 0.03, outliers: 0.02 };

/** Returns a number of the standard normal distribution (Box and Muller). */
export function normal(draws: Random): number {
  const u = (draws.next() + 1) / 4294967297;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos((2 * Math.PI * draws.next()) / 4294967296);
}

/** Returns a prober of a hidden network, and what it was asked. The same seed gives the same times. */
export function hiddenProber(
  network: HiddenNetwork,
  seed: number,
  noise: Noise = USUAL_NOISE,
): Prober & { readonly asked: { batches: number; experiments: number; flows: number } } {
  const draws = random(seed, 77);
  const asked = { batches: 0, experiments: 0, flows: 0 };
  const timesOf = (experiment: Experiment): Measurement => {
    const exact = fluidTimes(network, experiment.flows, experiment.bytes);
    const { repeats, flows } = experiment;
    const seconds = new Float64Array(repeats * flows.length);
    for (let i = 0; i < seconds.length; i++) {
      const factor = Math.max(0.5, 1 + noise.factor * normal(draws));
      const late = draws.next() / 4294967296 < noise.outliers ? 3 : 1;
      seconds[i] = (exact[i % flows.length] as number) * factor * late;
    }
    return { experiment, seconds };
  };
  return {
    endpoints: network.endpoints,
    resolutionS: 1e-9,
    asked,
    measure: async (experiments) => {
      asked.batches++;
      asked.experiments += experiments.length;
      for (const { flows } of experiments) asked.flows += flows.length;
      return experiments.map(timesOf);
    },
  };
}

/** Returns when each flow has arrived, seconds, where all start at once and share max-min fair: the narrowest resource first. */
export function fluidTimes(network: HiddenNetwork, flows: readonly ProbeFlow[], bytes: number): number[] {
  const count = network.endpoints.length;
  const pairs = flows.map(({ source, target }) => source * count + target);
  const left = flows.map(() => bytes);
  const ended = flows.map(() => 0);
  const open = new Set(flows.keys());
  let now = 0;
  while (open.size > 0) {
    const rates = maxMin(
      network,
      [...open].map((flow) => pairs[flow] as number),
    );
    const running = [...open];
    const step = Math.min(...running.map((flow, i) => (left[flow] as number) / (rates[i] as number)));
    now += step;
    running.forEach((flow, i) => {
      left[flow] = (left[flow] as number) - (rates[i] as number) * step;
      if ((left[flow] as number) > 1e-9 * bytes) return;
      ended[flow] = now;
      open.delete(flow);
    });
  }
  return ended.map((time, flow) => time + (network.latencyS[pairs[flow] as number] as number));
}

/** Returns max-min fair rates: the resource with the least share per flow fixes its flows, and is taken away. */
function maxMin(network: HiddenNetwork, pairs: readonly number[]): number[] {
  const rates = pairs.map(() => -1);
  const routes = pairs.map((pair) => network.routes[pair] as readonly number[]);
  const spare = new Map<number, number>();
  const users = new Map<number, number[]>();
  for (const [i, route] of routes.entries()) {
    for (const r of new Set(route)) {
      spare.set(r, network.capacity[r] as number);
      users.set(r, [...(users.get(r) ?? []), i]);
    }
  }
  const isOpen = (i: number): boolean => rates[i] === -1;
  for (let open = pairs.length; open > 0; ) {
    let narrowest = -1;
    let least = Number.POSITIVE_INFINITY;
    for (const [r, rest] of spare) {
      const many = (users.get(r) as number[]).filter(isOpen).length;
      if (many > 0 && rest / many < least) {
        least = rest / many;
        narrowest = r;
      }
    }
    if (narrowest < 0) throw new Error("a flow without a limit");
    for (const i of (users.get(narrowest) as number[]).filter(isOpen)) {
      rates[i] = least;
      open--;
      for (const r of routes[i] as readonly number[]) spare.set(r, Math.max(0, (spare.get(r) as number) - least));
    }
    spare.delete(narrowest);
  }
  return rates;
}

/** Returns a random order of 0 .. count - 1. */
export function randomOrder(count: number, seed: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  shuffle(order, random(seed, 5));
  return order;
}

/** Returns the network whose endpoint i is endpoint order[i] of the given one. */
export function renumbered(
  network: HiddenNetwork,
  order: readonly number[],
  name = (i: number) => `${i}`,
): HiddenNetwork {
  const count = network.endpoints.length;
  const at = (i: number): number => (order[Math.floor(i / count)] as number) * count + (order[i % count] as number);
  return {
    ...network,
    endpoints: order.map((old, i) => ({ ...(network.endpoints[old] as ProbeEndpoint), name: name(i) })),
    routes: network.routes.map((_, i) => network.routes[at(i)] as readonly number[]),
    latencyS: network.latencyS.map((_, i) => network.latencyS[at(i)] as number),
  };
}

/**
 * Returns a topology as a laboratory builds it: a bucket per link and direction, one route per pair by fewest hops, the next hop
 * looked up by target (ties by seed), the sum of latencies and what sending and receiving take. NPUs forward.
 */
export function hiddenLaboratory(
  topology: Topology,
  { seed = 1, overheadS = 20e-6, hopS = 0 }: { seed?: number; overheadS?: number; hopS?: number } = {},
): HiddenNetwork {
  const { npuCount, nodeNames, linkSource, linkTarget } = topology;
  const nodes = nodeNames.length;
  const draws = random(seed, 3);
  const routes: number[][] = Array.from({ length: npuCount * npuCount }, () => []);
  const latencyS = new Float64Array(npuCount * npuCount);
  for (let target = 0; target < npuCount; target++) {
    const distance = new Array<number>(nodes).fill(Number.POSITIVE_INFINITY);
    distance[target] = 0;
    const queue = [target];
    for (const node of queue) {
      for (let link = 0; link < linkSource.length; link++) {
        if (linkTarget[link] !== node || distance[linkSource[link] as number] !== Number.POSITIVE_INFINITY) continue;
        distance[linkSource[link] as number] = (distance[node] as number) + 1;
        queue.push(linkSource[link] as number);
      }
    }
    const next = new Array<number>(nodes).fill(-1);
    for (let node = 0; node < nodes; node++) {
      const ways: number[] = [];
      for (let link = 0; link < linkSource.length; link++) {
        if (linkSource[link] === node && distance[linkTarget[link] as number] === (distance[node] as number) - 1)
          ways.push(link);
      }
      if (ways.length > 0) next[node] = ways[draws.below(ways.length)] as number;
    }
    for (let source = 0; source < npuCount; source++) {
      if (source === target) continue;
      const pair = source * npuCount + target;
      latencyS[pair] = overheadS;
      for (let node = source; node !== target; node = linkTarget[next[node] as number] as number) {
        const link = next[node] as number;
        (routes[pair] as number[]).push(link);
        latencyS[pair] = (latencyS[pair] as number) + (topology.linkLatencyPs[link] as number) / 1e12 + hopS;
      }
    }
  }
  return {
    endpoints: Array.from({ length: npuCount }, (_, i) => ({ kind: "npu", name: `${i}`, host: "here" }) as const),
    names: Array.from(linkSource, (from, link) => `${nodeNames[from]}>${nodeNames[linkTarget[link] as number]}`),
    capacity: [...topology.linkBytesPerSecond],
    routes,
    latencyS,
  };
}
