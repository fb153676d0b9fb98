import { median } from "../model/numbers/median.ts";
import type { ProbeEndpoint, ProbeFlow, Prober } from "../model/probe/measurements.ts";
import type { Topology } from "../model/topology/topology.ts";
import { type Asking, askingOf, inRounds, together } from "./asking.ts";
import { type Check, check, objection } from "./check.ts";
import { machinesAmong } from "./machine.ts";
import { type InferredMachine, inferMachines } from "./machines.ts";
import { topologyOf } from "./network.ts";
import {
  emptyFigures,
  flowsOf,
  matchings,
  measureLatencies,
  nearPairs,
  noteAlone,
  noteRates,
  type PairFigures,
  rateExperiments,
} from "./pairs.ts";
import { askRoutes, type Hops, resourcesOn } from "./routes.ts";
import { askPorts, dropDistant, type Fabric, type Fan, fabricsOf } from "./segments.ts";
import type { Resource, Sharing } from "./sharing.ts";
import { type FoundFabric, trunkLine } from "./trunks.ts";

/** What may be said of how to infer. */
export interface InferOptions {
  /** Bytes of the flows that bandwidths are measured with; without it as many as take 64 latencies. */
  readonly bytes?: number;
  /** Random mixes of flows that what was inferred is held against; 24 without it. */
  readonly mixes?: number;
  readonly seed?: number;
  readonly name?: string;
}

/** What was found out about a network. */
export interface Inferred {
  readonly topology: Topology;
  readonly endpoints: readonly ProbeEndpoint[];
  readonly figures: PairFigures;
  readonly fabrics: readonly FoundFabric[];
  /** Machines whose CPUs and NICs could be asked. */
  readonly machines: readonly InferredMachine[];
  /** What flows share, and the way of each pair. */
  readonly sharing: Sharing;
  /** [endpoints x endpoints] endpoints that a pair is forwarded by; absent for those that are joined. */
  readonly forwarders: ReadonlyMap<number, readonly number[]>;
  readonly check: Check;
  /** What the network that was inferred does not explain, in sentences; empty where it explains all. */
  readonly unexplained: readonly string[];
  readonly asked: { readonly batches: number; readonly experiments: number; readonly flows: number };
}

const SOURCES = ["inferred from measurements"];
const RATE_REPEATS = 15;
const MIXES = 24;
/** A flow beside others that should not matter is suspected to have been slowed where it is so much slower than its like. */
const SUSPICIOUS = 0.92;
/** A rate is measured again whose error is so many times that of most. */
const MUCH_WORSE = 3;

/**
 * Infers the network between a prober's endpoints: latency and bandwidth of pairs, ports that flows share, links through which
 * endpoints forward, switches, trunks between them; and holds it against random mixes of flows. Pairs that seem to be joined by their
 * latency are tried first; where that does not explain the mixes, all pairs. Throws what the prober throws.
 */
export async function inferNetwork(prober: Prober, options: InferOptions = {}): Promise<Inferred> {
  const { seed = 1, mixes = MIXES, name = "inferred" } = options;
  const asking = askingOf(prober);
  const n = prober.endpoints.length;
  const figures = emptyFigures(n);
  await measureLatencies(asking, figures, options.bytes);
  if (machinesAmong(prober.endpoints).length > 0) {
    const found = await inferMachines(asking, figures, { seed, mixes });
    return {
      ...found,
      topology: found.wiring.topology(name, SOURCES),
      endpoints: prober.endpoints,
      figures,
      fabrics: found.fabrics.map((fabric) => ({ ...fabric, trunks: null })),
      forwarders: new Map(),
      asked: { ...asking.count },
    };
  }
  const near = nearPairs(figures);
  const fans = new Map<string, Fan>();
  let best = await attempt(asking, figures, near, fans, { seed, mixes });
  const all = Uint8Array.from(near, (_, p) => (Math.floor(p / n) === p % n ? 0 : 1));
  if (best.unexplained.length > 0 && near.includes(0, 1) && best.tried < n * (n - 1)) {
    const other = await attempt(asking, figures, all, fans, { seed: seed + 1, mixes });
    if (other.check.off.length * best.check.flows < best.check.off.length * other.check.flows) best = other;
  }
  const { fabrics, sharing, forwarders, check: checked, unexplained } = best;
  return {
    topology: topologyOf(name, prober.endpoints, fabrics, figures),
    endpoints: prober.endpoints,
    figures,
    fabrics,
    machines: [],
    sharing,
    forwarders,
    check: checked,
    unexplained,
    asked: { ...asking.count },
  };
}

interface Attempt extends Pick<Inferred, "fabrics" | "sharing" | "forwarders" | "check" | "unexplained"> {
  /** Pairs that were tried as joined. */
  readonly tried: number;
}

const MOST_WIDENINGS = 3;

/** Infers the network where these pairs are joined, or some of them, or (where that makes no whole switches) some more. */
async function attempt(
  asking: Asking,
  figures: PairFigures,
  chosen: Uint8Array,
  fans: Map<string, Fan>,
  { seed, mixes }: { readonly seed: number; readonly mixes: number },
): Promise<Attempt> {
  const n = figures.endpoints;
  const { endpoints } = asking.prober;
  const nameOf = ({ source, target }: ProbeFlow): string => `${endpoints[source].name} to ${endpoints[target].name}`;
  const tried = Uint8Array.from(chosen);
  for (let widening = 0; ; widening++) {
    const last = widening === MOST_WIDENINGS;
    const unexplained: string[] = [];
    await measureRates(asking, figures, flowsOf(tried, n));
    const { out, into } = await askPorts(asking, figures, tried, fans);
    const joined = Uint8Array.from(tried);
    while (dropDistant(joined, n, out, into));
    const fabrics = fabricsOf(joined, figures, out, into);
    const missing = fabrics.flatMap((fabric) => missingOf(fabric, tried, n));
    if (missing.length > 0 && !last) {
      for (const p of missing) tried[p] = 1;
      continue;
    }
    await measureAgain(
      asking,
      figures,
      fabrics.flatMap(({ flows }) => (flows.length === 1 ? flows : [])),
    );
    const trunks = await inRounds(
      asking,
      fabrics.map((fabric) => trunkLine(fabric, figures)),
    );
    const found = fabrics.map((fabric, i): FoundFabric => ({ ...fabric, trunks: trunks[i] }));
    const { resources, ways } = resourcesOf(found, figures, endpoints);
    const distant = flowsOf(
      joined.map((one, p) => (one === 1 || Math.floor(p / n) === p % n ? 0 : 1)),
      n,
    );
    const hops: Hops = {
      endpoints: n,
      ways: [...ways],
      capacity: resources.map(({ bytesPerSecond }) => bytesPerSecond),
      fillers: fillersOf(found),
    };
    const routes = distant.length === 0 ? [] : await askRoutes(asking, figures, hops, distant);
    const alone = routes.filter((route) => route.alone && tried[route.flow.source * n + route.flow.target] === 0);
    if (alone.length > 0 && !last) {
      for (const { flow } of alone) tried[flow.source * n + flow.target] = 1;
      continue;
    }
    const forwarders = new Map<number, readonly number[]>();
    for (const { flow, nodes } of routes) {
      const p = flow.source * n + flow.target;
      if (nodes === null) unexplained.push(`no way found from ${nameOf(flow)}`);
      else {
        ways[p] = resourcesOn(hops, nodes);
        forwarders.set(p, nodes.slice(1, -1));
      }
    }
    const sharing: Sharing = { endpoints: n, resources, ways, latencyS: figures.latencyS };
    const checked = await check(asking, figures, sharing, mixes, seed);
    const against = objection(checked);
    if (against !== null) unexplained.push(...unsurePorts(endpoints, out, into), against);
    return { fabrics: found, sharing, forwarders, check: checked, unexplained, tried: flowsOf(tried, n).length };
  }
}

/** Returns what cannot be said of ports, in sentences: pairs that contend but not each with one of them. */
function unsurePorts(
  endpoints: readonly ProbeEndpoint[],
  out: ReadonlyMap<number, Fan>,
  into: ReadonlyMap<number, Fan>,
): string[] {
  const unsure = (fans: ReadonlyMap<number, Fan>, word: string): string[] =>
    [...fans]
      .filter(([, { sure }]) => !sure)
      .map(([endpoint]) => `what flows ${word} ${endpoints[endpoint].name} share is no single port`);
  return [...unsure(out, "from"), ...unsure(into, "to")];
}

/** Returns the pairs of a port out and a port in of a fabric that were not tried: over a switch all are joined. */
function missingOf(fabric: Fabric, tried: Uint8Array, n: number): number[] {
  return fabric.out.flatMap((from) =>
    fabric.in.flatMap((to) => {
      const p = from.endpoint * n + to.endpoint;
      return from.endpoint === to.endpoint || tried[p] === 1 ? [] : [p];
    }),
  );
}

/** Measures the rates of pairs that are not known yet: in matchings, then alone what may have been slowed there. */
async function measureRates(asking: Asking, figures: PairFigures, flows: readonly ProbeFlow[]): Promise<void> {
  const unknown = flows.filter(({ source, target }) => Number.isNaN(figures.rate[source * figures.endpoints + target]));
  if (unknown.length === 0) return;
  noteRates(figures, await asking.ask(rateExperiments(figures, matchings(unknown), RATE_REPEATS)));
  await measureAlone(asking, figures, unknown);
}

/** Measures alone what was slower beside others than the best of its source and target, and of each source and target the best. */
async function measureAlone(asking: Asking, figures: PairFigures, flows: readonly ProbeFlow[]): Promise<void> {
  const n = figures.endpoints;
  const best = { source: new Float64Array(n), target: new Float64Array(n) };
  const beside = ({ source, target }: ProbeFlow): number => figures.besideRate[source * n + target];
  for (const flow of flows) {
    best.source[flow.source] = Math.max(best.source[flow.source], beside(flow));
    best.target[flow.target] = Math.max(best.target[flow.target], beside(flow));
  }
  const suspicious = (flow: ProbeFlow): boolean =>
    beside(flow) < SUSPICIOUS * Math.min(best.source[flow.source], best.target[flow.target]);
  const sample = new Set(
    (["source", "target"] as const).flatMap((end) =>
      [...Array(n).keys()].map((one) => flows.find((flow) => flow[end] === one && beside(flow) === best[end][one])),
    ),
  );
  const first = flows.filter((flow) => suspicious(flow) || sample.has(flow));
  await askAlone(asking, figures, first);
  const misled = [...sample].some(
    (flow) => flow !== undefined && figures.rate[flow.source * n + flow.target] > beside(flow) / SUSPICIOUS,
  );
  if (misled)
    await askAlone(
      asking,
      figures,
      flows.filter((flow) => !first.includes(flow)),
    );
}

async function askAlone(asking: Asking, figures: PairFigures, flows: readonly ProbeFlow[]): Promise<void> {
  const answers = await asking.ask(flows.map((flow) => together([flow], figures.bytes, RATE_REPEATS)));
  for (const { experiment, taken } of answers) noteAlone(figures, experiment.flows[0], taken[0]);
}

/** Measures links alone whose rates are known so much worse than those of most: others were under way, or the machine was busy. */
async function measureAgain(asking: Asking, figures: PairFigures, links: readonly ProbeFlow[]): Promise<void> {
  const part = links.map(({ source, target }) => {
    const p = source * figures.endpoints + target;
    return figures.rateError[p] / figures.rate[p];
  });
  const usual = median(part);
  await askAlone(
    asking,
    figures,
    links.filter((_, i) => part[i] > MUCH_WORSE * usual),
  );
}

/** Returns flows of which no two meet at a port, as many as a greedy choice finds. */
function fillersOf(fabrics: readonly FoundFabric[]): ProbeFlow[] {
  return fabrics.flatMap((fabric) => matchings(fabric.flows).sort((a, b) => b.length - a.length)[0] ?? []);
}

/** Returns what the flows of fabrics share, and the ways of the pairs that these join. */
function resourcesOf(
  fabrics: readonly FoundFabric[],
  figures: PairFigures,
  endpoints: readonly ProbeEndpoint[],
): { resources: Resource[]; ways: (readonly number[] | null)[] } {
  const n = figures.endpoints;
  const resources: Resource[] = [];
  const ways: (readonly number[] | null)[] = Array.from({ length: n * n }, (_, p) =>
    Math.floor(p / n) === p % n ? [] : null,
  );
  const add = (resource: Resource): number => resources.push(resource) - 1;
  for (const fabric of fabrics) {
    if (fabric.flows.length === 1) {
      const [{ source, target }] = fabric.flows;
      const p = source * n + target;
      const name = `${endpoints[source].name}>${endpoints[target].name}`;
      ways[p] = [add({ name, kind: "link", bytesPerSecond: figures.rate[p], error: figures.rateError[p] })];
      continue;
    }
    const portOf = new Map<string, number>();
    for (const port of [...fabric.out, ...fabric.in]) {
      const { direction, endpoint, others, bytesPerSecond, error } = port;
      const name = `${endpoints[endpoint].name} ${direction}`;
      const kind = direction === "out" ? "egress" : "ingress";
      const index = add({ name, kind, bytesPerSecond, error });
      for (const other of others)
        portOf.set(direction === "out" ? `out ${endpoint} ${other}` : `in ${other} ${endpoint}`, index);
    }
    const trunkOf = (fabric.trunks?.trunks ?? []).map(({ from, to, bytesPerSecond }) =>
      add({ name: `trunk ${from ?? "middle"}>${to ?? "middle"}`, kind: "trunk", bytesPerSecond, error: 0 }),
    );
    const groupOf = (endpoint: number): number =>
      fabric.trunks?.groups.findIndex((group) => group.includes(endpoint)) ?? 0;
    for (const { source, target } of fabric.flows) {
      const [a, b] = [groupOf(source), groupOf(target)];
      const crossed = (fabric.trunks?.trunks ?? []).flatMap(({ from, to }, t) =>
        a !== b && (from === null || from === a) && (to === null || to === b) ? [trunkOf[t]] : [],
      );
      ways[source * n + target] = [
        portOf.get(`out ${source} ${target}`) as number,
        ...crossed,
        portOf.get(`in ${source} ${target}`) as number,
      ];
    }
  }
  return { resources, ways };
}
