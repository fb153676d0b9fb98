import { random } from "../base/random.ts";
import { median } from "../model/numbers/median.ts";
import type { Experiment, ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, together } from "./asking.ts";
import { type PairFigures, SURE } from "./pairs.ts";
import type { Fabric } from "./segments.ts";
import { arrivals } from "./sharing.ts";

/** Endpoints of a fabric by the switch they hang on, and what joins the switches. */
export interface Trunks {
  /** [groups] endpoints. */
  readonly groups: readonly (readonly number[])[];
  readonly trunks: readonly Trunk[];
  /** Trunks join switches two by two; else each has one up and one down. */
  readonly direct: boolean;
}

/** A part of the network that was found: direct links, or a switch, perhaps of several with trunks between them. */
export interface FoundFabric extends Fabric {
  readonly trunks: Trunks | null;
}

export interface Trunk {
  /** Group that it leaves; null: the middle. */
  readonly from: number | null;
  readonly to: number | null;
  readonly bytesPerSecond: number;
}

/** Flows within a group are slower than their ports no more often than this. */
const SELDOM = 0.12;
const SLOWER = 0.88;
const REPEATS = 9;
/** More rounds of all endpoints, each with another: what a trunk that is not much too narrow slows is seen by chance. */
const MORE_ROUNDS = 8;
/** Latencies are of two kinds where none lies within this part of each other, or within the errors. */
const LATENCY_GAP = 1.06;

/** Returns what the port of a pair lets through at its source or target. */
function portOf(fabric: Fabric, { source, target }: ProbeFlow, direction: "out" | "in"): number {
  const [own, other] = direction === "out" ? [source, target] : [target, source];
  return (
    fabric[direction].find(({ endpoint, others }) => endpoint === own && others.includes(other))?.bytesPerSecond ?? 0
  );
}

/** Returns what the ports of a pair would let through. */
const portsRate = (fabric: Fabric, flow: ProbeFlow): number =>
  Math.min(portOf(fabric, flow, "out"), portOf(fabric, flow, "in"));

/** Returns the pairs of a fabric that were slower beside others, or alone, than their ports. */
export function slowPairs(fabric: Fabric, figures: PairFigures): ProbeFlow[] {
  const n = figures.endpoints;
  return fabric.flows.filter((flow) => {
    const p = flow.source * n + flow.target;
    return Math.min(figures.besideRate[p], figures.rate[p]) < SLOWER * portsRate(fabric, flow);
  });
}

const keyOf = ({ source, target }: ProbeFlow): string => `${source} ${target}`;
const membersOf = (fabric: Fabric): number[] =>
  [...new Set([...fabric.out, ...fabric.in].map(({ endpoint }) => endpoint))].sort((a, b) => a - b);

/**
 * Returns the endpoints of a fabric in groups within which flows are not slower than their ports when all flow: those are merged first
 * whose flows to and from the same others are slow. O(endpoints^4).
 */
export function groupsBySlow(fabric: Fabric, slow: readonly ProbeFlow[]): number[][] {
  const members = membersOf(fabric);
  const isSlow = new Set(slow.flatMap(({ source, target }) => [`${source} ${target}`, `${target} ${source}`]));
  const meets = (a: number, b: number): boolean => isSlow.has(`${a} ${b}`);
  const alike = (a: number, b: number): number => members.filter((c) => meets(a, c) && meets(b, c)).length;
  let groups = members.map((one) => [one]);
  const mean = (a: readonly number[], b: readonly number[], value: (i: number, j: number) => number): number =>
    a.reduce((sum, i) => sum + b.reduce((part, j) => part + value(i, j), 0), 0) / (a.length * b.length);
  for (;;) {
    let best: readonly [number, number, number] = [0, -1, -1];
    for (let i = 0; i < groups.length; i++) {
      for (let j = i + 1; j < groups.length; j++) {
        const now = mean(groups[i], groups[j], alike);
        if (now <= best[0] || mean(groups[i], groups[j], (a, b) => Number(meets(a, b))) > SELDOM) continue;
        best = [now, i, j];
      }
    }
    const [, i, j] = best;
    if (i < 0) return groups;
    groups = [...groups.filter((_, k) => k !== i && k !== j), [...groups[i], ...groups[j]]];
  }
}

/** Returns the endpoints of a fabric in groups that are nearer to each other than to all others; null where latencies are of one kind. */
export function groupsByLatency(
  fabric: Fabric,
  { latencyS, latencyError, endpoints: n }: PairFigures,
): number[][] | null {
  const members = membersOf(fabric);
  const error = median(fabric.flows.map(({ source, target }) => latencyError[source * n + target]));
  const between = (a: number, b: number): number => (latencyS[a * n + b] + latencyS[b * n + a]) / 2;
  const sorted = members.flatMap((a) => members.filter((b) => b > a).map((b) => between(a, b))).sort((a, b) => a - b);
  let at = -1;
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i] / sorted[i - 1];
    if (sorted[i] - sorted[i - 1] < SURE * error) continue;
    if (gap > LATENCY_GAP && (at < 0 || gap > sorted[at] / sorted[at - 1])) at = i;
  }
  if (at < 0) return null;
  const groups: number[][] = [];
  for (const one of members) {
    const own = groups.find(([first]) => between(first, one) < sorted[at]);
    if (own === undefined) groups.push([one]);
    else own.push(one);
  }
  const fits = groups.every((group) => group.every((a) => group.every((b) => a === b || between(a, b) < sorted[at])));
  return fits && groups.length > 1 && groups.length < members.length ? groups : null;
}

/**
 * Asks whether a fabric is several switches with trunks between them, and which: endpoints that are nearer to each other, else those
 * whose flows are slower than their ports in rounds of all. Returns null where it is one switch.
 */
export function* trunkLine(
  fabric: Fabric,
  figures: PairFigures,
): Generator<readonly Experiment[], Trunks | null, readonly Answer[]> {
  if (fabric.flows.length < 6) return null;
  const n = figures.endpoints;
  const members = membersOf(fabric);
  const draws = random(members.length, 41);
  const joined = new Set(fabric.flows.map(keyOf));
  const rounds = Array.from({ length: MORE_ROUNDS }, () => {
    const order = [...members];
    for (let i = order.length - 1; i > 0; i--) {
      const j = draws.below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order
      .map((source, i) => ({ source, target: order[(i + 1) % order.length] }))
      .filter((flow) => joined.has(keyOf(flow)));
  }).filter((flows) => flows.length > 0);
  const answers = yield rounds.map((flows) => together(flows, figures.bytes, REPEATS));
  const slow = slowPairs(fabric, figures);
  for (const { experiment, taken } of answers) {
    experiment.flows.forEach((flow, i) => {
      const net = taken[i].seconds - figures.latencyS[flow.source * n + flow.target];
      const rate = (figures.bytes - figures.burstBytes) / net;
      if (rate < SLOWER * portsRate(fabric, flow)) slow.push(flow);
    });
  }
  const near = groupsByLatency(fabric, figures);
  const within = (groups: readonly (readonly number[])[]): number =>
    slow.filter(({ source, target }) => groups.some((group) => group.includes(source) && group.includes(target)))
      .length;
  if (near !== null && within(near) <= SELDOM * slow.length) return yield* askTrunks(fabric, figures, near);
  if (slow.length === 0) return null;
  const groups = groupsBySlow(fabric, slow);
  return groups.length < 2 || groups.length === members.length ? null : yield* askTrunks(fabric, figures, groups);
}

/** Asks what the trunks between groups let through: all that one sends out, all that one receives, and each pair of groups. */
function* askTrunks(
  fabric: Fabric,
  figures: PairFigures,
  groups: readonly (readonly number[])[],
): Generator<readonly Experiment[], Trunks, readonly Answer[]> {
  const joined = new Set(fabric.flows.map(({ source, target }) => source * figures.endpoints + target));
  const between = (from: readonly number[], to: readonly number[]): ProbeFlow[] =>
    from
      .map((source, i) => ({ source, target: to[i % to.length] }))
      .filter(({ source, target }) => joined.has(source * figures.endpoints + target));
  const others = (g: number): number[] => interleaved(groups.filter((_, k) => k !== g));
  const pairs = groups.flatMap((_, a) => groups.map((__, b): [number, number] => [a, b])).filter(([a, b]) => a !== b);
  const experiments = [
    ...groups.map((group, g) => between(group, others(g))),
    ...groups.map((group, g) => {
      const from = others(g);
      const count = Math.min(from.length, Math.max(group.length, 1) * 2);
      return from.slice(0, count).map((source, i) => ({ source, target: group[i % group.length] }));
    }),
    ...pairs.map(([a, b]) => {
      const count = Math.max(groups[a].length, groups[b].length);
      return Array.from({ length: count }, (_, i) => ({
        source: groups[a][i % groups[a].length],
        target: groups[b][i % groups[b].length],
      }));
    }),
  ];
  const answers = yield experiments.map((flows) => together(flows, figures.bytes, REPEATS));
  const reached = answers.map((answer) => trunkRate(fabric, figures, answer));
  const count = groups.length;
  const up = reached.slice(0, count);
  const down = reached.slice(count, 2 * count);
  const mesh = reached.slice(2 * count);
  const direct = count > 2 && up.every((rate, g) => rate > 1.3 * Math.max(...mesh.filter((_, p) => pairs[p][0] === g)));
  if (count === 2 || direct)
    return {
      groups,
      direct: true,
      trunks: pairs.map(([from, to], p) => ({ from, to, bytesPerSecond: mesh[p] })),
    };
  return {
    groups,
    direct: false,
    trunks: groups.flatMap((_, g) => [
      { from: g, to: null, bytesPerSecond: up[g] },
      { from: null, to: g, bytesPerSecond: down[g] },
    ]),
  };
}

/** Returns the rate of a trunk that all flows cross: what explains the last arrival; where ports do, what these let through. */
function trunkRate(fabric: Fabric, figures: PairFigures, { experiment, taken }: Answer): number {
  const { flows } = experiment;
  const net = figures.bytes - figures.burstBytes;
  const last = Math.max(
    ...flows.map(({ source, target }, i) => taken[i].seconds - figures.latencyS[source * figures.endpoints + target]),
  );
  const { endpoints: n } = figures;
  const used = [...new Set(flows.flatMap(({ source, target }) => [source, n + target]))];
  const capacity = used.map((port) =>
    Math.min(
      ...flows
        .filter(({ source, target }) => source === port || n + target === port)
        .map((flow) => portOf(fabric, flow, port < n ? "out" : "in")),
    ),
  );
  const ways = flows.map(({ source, target }) => [0, 1 + used.indexOf(source), 1 + used.indexOf(n + target)]);
  const lastWith = (rate: number): number => Math.max(...arrivals(ways, [rate, ...capacity], net));
  const sum = capacity.reduce((total, one) => total + one, 0);
  const ports = (side: (port: number) => boolean): number =>
    capacity.reduce((total, one, i) => total + (side(used[i]) ? one : 0), 0);
  if (lastWith(sum) > 0.97 * last)
    return Math.min(
      ports((port) => port < n),
      ports((port) => port >= n),
    );
  let [low, high] = [net / last, sum];
  while (high - low > 1e-6 * high) {
    const middle = (low + high) / 2;
    if (lastWith(middle) > last) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the items of lists, one of each in turn. */
function interleaved(lists: readonly (readonly number[])[]): number[] {
  const most = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: most }, (_, i) => lists.flatMap((list) => (i < list.length ? [list[i]] : []))).flat();
}
