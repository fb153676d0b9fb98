import type { ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, inRounds, together } from "./asking.ts";
import { flowsOf, type PairFigures, slowdown } from "./pairs.ts";
import { type Partition, partition } from "./partition.ts";

/** A port: what flows from (or to) one endpoint to (from) several others share. */
export interface Port {
  readonly endpoint: number;
  readonly direction: "out" | "in";
  /** Endpoints that it leads to, or from. */
  readonly others: readonly number[];
  readonly bytesPerSecond: number;
  readonly error: number;
}

/** Ports that pairs join with each other: a link is one of one port out and one in. */
export interface Fabric {
  readonly out: readonly Port[];
  readonly in: readonly Port[];
  readonly flows: readonly ProbeFlow[];
}

const FAN_REPEATS = 9;

/** Asks by fans from each endpoint and to each which of the chosen pairs share a port; both maps by endpoint. `known`: fans asked before. `apart`: as of `inRounds`. */
export async function askPorts(
  asking: Asking,
  figures: PairFigures,
  chosen: Uint8Array,
  known: Map<string, Fan>,
  apart: (endpoint: number) => number = () => 0,
): Promise<{ out: Map<number, Fan>; into: Map<number, Fan> }> {
  const n = figures.endpoints;
  const flows = flowsOf(chosen, n);
  const fans = [...Array(n).keys()].flatMap((endpoint) => [
    { endpoint, direction: "out" as const, flows: flows.filter(({ source }) => source === endpoint) },
    { endpoint, direction: "in" as const, flows: flows.filter(({ target }) => target === endpoint) },
  ]);
  const key = (fan: (typeof fans)[number]): string =>
    `${fan.direction} ${fan.flows.map(({ source, target }) => `${source}>${target}`).join(" ")}`;
  const unknown = fans.filter((fan) => fan.flows.length > 0 && !known.has(key(fan)));
  const found = await inRounds(
    asking,
    unknown.map((fan) => fanLine(figures, fan.flows, 2 * fan.endpoint + (fan.direction === "out" ? 0 : 1))),
    unknown.map(({ endpoint }) => apart(endpoint)),
  );
  for (const [i, fan] of unknown.entries()) known.set(key(fan), { flows: fan.flows, ...found[i] });
  const result = { out: new Map<number, Fan>(), into: new Map<number, Fan>() };
  for (const fan of fans) {
    const one = known.get(key(fan));
    if (one !== undefined) result[fan.direction === "out" ? "out" : "into"].set(fan.endpoint, one);
  }
  return result;
}

/** Flows from or to one endpoint in classes of those that share a port. */
export interface Fan extends Partition {
  readonly flows: readonly ProbeFlow[];
}

function* fanLine(figures: PairFigures, flows: readonly ProbeFlow[], seed: number) {
  const net = figures.bytes - figures.burstBytes;
  const rates = flows.map(({ source, target }) => figures.rate[source * figures.endpoints + target]);
  const line = partition(rates, net, seed);
  let step = line.next();
  while (step.done !== true) {
    const sets = step.value.map((set) => set.map((i) => flows[i]));
    const answers: readonly Answer[] = yield sets.map((set) => together(set, figures.bytes, FAN_REPEATS));
    step = line.next(answers.map(({ taken }, s) => taken.map((one, i) => slowdown(figures, sets[s][i], one))));
  }
  return step.value;
}

/** Returns the endpoints that flows of the same class as this one come from (of a fan in) or go to (of a fan out). */
export function mates(fan: Fan, flow: ProbeFlow, end: "source" | "target"): number[] {
  const own = fan.flows.findIndex(({ source, target }) => source === flow.source && target === flow.target);
  return fan.flows.filter((_, i) => fan.classOf[i] === fan.classOf[own]).map((one) => one[end]);
}

/**
 * Drops pairs that are no link but lead on through another endpoint: b lies between a and c where the flows a to b and a to c share a
 * port of a, those of a and b to c share one of c, but those of a and c to b share none of b. True where some were dropped.
 */
export function dropDistant(
  chosen: Uint8Array,
  n: number,
  out: ReadonlyMap<number, Fan>,
  into: ReadonlyMap<number, Fan>,
): boolean {
  const distant: number[] = [];
  for (const flow of flowsOf(chosen, n)) {
    const { source: a, target: c } = flow;
    const from = mates(into.get(c) as Fan, flow, "source");
    const between = mates(out.get(a) as Fan, flow, "target").some(
      (b) => b !== c && from.includes(b) && !mates(into.get(b) as Fan, { source: a, target: b }, "source").includes(c),
    );
    if (between) distant.push(a * n + c);
  }
  for (const p of distant) chosen[p] = 0;
  return distant.length > 0;
}

/** Returns the fabrics that the chosen pairs make of the ports of fans, which may have further pairs. */
export function fabricsOf(
  chosen: Uint8Array,
  figures: PairFigures,
  out: ReadonlyMap<number, Fan>,
  into: ReadonlyMap<number, Fan>,
): Fabric[] {
  const n = figures.endpoints;
  const ports: Port[] = [];
  const portOf = { out: new Map<number, number>(), in: new Map<number, number>() };
  for (const direction of ["out", "in"] as const) {
    for (const [endpoint, fan] of direction === "out" ? out : into) {
      for (const [one, capacity] of fan.capacity.entries()) {
        const members = fan.flows.filter(
          ({ source, target }, i) => fan.classOf[i] === one && chosen[source * n + target] === 1,
        );
        if (members.length === 0) continue;
        for (const { source, target } of members) portOf[direction].set(source * n + target, ports.length);
        ports.push({
          endpoint,
          direction,
          others: members.map(({ source, target }) => (direction === "out" ? target : source)),
          ...portRate(figures, members, capacity),
        });
      }
    }
  }
  const parent = ports.map((_, i) => i);
  const root = (i: number): number => (parent[i] === i ? i : root(parent[i]));
  const flows = flowsOf(chosen, n);
  const portsOf = ({ source, target }: ProbeFlow): [number, number] => {
    const p = source * n + target;
    return [portOf.out.get(p) as number, portOf.in.get(p) as number];
  };
  for (const flow of flows) {
    const [a, b] = portsOf(flow);
    parent[root(b)] = root(a);
  }
  const roots = [...new Set(ports.map((_, i) => root(i)))];
  return roots.map((one) => {
    const own = ports.filter((_, i) => root(i) === one);
    return {
      out: own.filter(({ direction }) => direction === "out"),
      in: own.filter(({ direction }) => direction === "in"),
      flows: flows.filter((flow) => root(portsOf(flow)[0]) === one),
    };
  });
}

/** Returns what a port lets through: of one pair alone, what it reaches; of several what they reach together. */
function portRate(
  { rate, rateError, endpoints: n }: PairFigures,
  members: readonly ProbeFlow[],
  capacity: number,
): { bytesPerSecond: number; error: number } {
  const fastest = members.reduce((best, flow) => {
    const p = flow.source * n + flow.target;
    return best < 0 || rate[p] > rate[best] ? p : best;
  }, -1);
  const alone = { bytesPerSecond: rate[fastest], error: rateError[fastest] };
  if (members.length === 1 || capacity === Number.POSITIVE_INFINITY) return alone;
  // a port that one flow fills is known better from the middle of those that fill it
  const full = members.map(({ source, target }) => source * n + target).filter((p) => rate[p] > 0.93 * rate[fastest]);
  if (capacity > 1.1 * rate[fastest])
    return { bytesPerSecond: capacity, error: (alone.error * capacity) / rate[fastest] };
  const sorted = full.map((p) => rate[p]).sort((a, b) => a - b);
  const middle = (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  return { bytesPerSecond: middle, error: alone.error / Math.sqrt(full.length) };
}
