import type { ProbeEndpoint, ProbeFlow, Prober } from "../model/probe/measurements.ts";
import type { Topology } from "../model/topology/topology.ts";
import { askingOf, inRounds, together } from "./asking.ts";
import { type Check, check } from "./check.ts";
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
import { askPorts, dropDistant, type Fabric, fabricsOf } from "./segments.ts";
import type { Resource, Sharing } from "./sharing.ts";
import { type FoundFabric, groupsOf, slowPairs, trunkLine } from "./trunks.ts";

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
  /** What flows share, and the way of each pair. */
  readonly sharing: Sharing;
  /** [endpoints x endpoints] endpoints that a pair is forwarded by; absent for those that are joined. */
  readonly forwarders: ReadonlyMap<number, readonly number[]>;
  readonly check: Check;
  /** What the network that was inferred does not explain, in sentences; empty where it explains all. */
  readonly unexplained: readonly string[];
  readonly asked: { readonly batches: number; readonly experiments: number; readonly flows: number };
}

const RATE_REPEATS = 15;
const MIXES = 24;
/** A flow beside others that should not matter is suspected to have been slowed where it is so much slower than its like. */
const SUSPICIOUS = 0.92;

/**
 * Infers the network between a prober's endpoints: latency and bandwidth of pairs, ports that flows share, links through which
 * endpoints forward, switches, trunks between them; and holds it against random mixes of flows. Throws what the prober throws.
 */
export async function inferNetwork(prober: Prober, options: InferOptions = {}): Promise<Inferred> {
  const { seed = 1 } = options;
  const asking = askingOf(prober);
  const n = prober.endpoints.length;
  const figures = emptyFigures(n);
  const unexplained: string[] = [];
  await measureLatencies(asking, figures, options.bytes);
  const near = nearPairs(figures);

  const rounds = matchings(flowsOf(near, n));
  noteRates(figures, await asking.ask(rateExperiments(figures, rounds, RATE_REPEATS)));
  await measureAlone(asking, figures, flowsOf(near, n));

  const fans = await askPorts(asking, figures, near);
  while (dropDistant(near, n, fans.out, fans.in));
  const fabrics = fabricsOf(near, figures, fans.out, fans.in);
  for (const direction of ["out", "in"] as const)
    for (const [endpoint, fan] of fans[direction])
      if (!fan.sure)
        unexplained.push(
          `${prober.endpoints[endpoint].name}: what flows ${direction === "out" ? "from" : "to"} it share is no single port`,
        );

  const lines = fabrics.map((fabric) => fabricLine(fabric, figures));
  const trunks = await inRounds(asking, lines);
  const found = fabrics.map((fabric, i): FoundFabric => ({ ...fabric, trunks: trunks[i] }));
  const { resources, ways } = resourcesOf(found, figures, prober.endpoints);

  const distant = flowsOf(
    near.map((chosen, p) => (chosen === 1 || Math.floor(p / n) === p % n ? 0 : 1)),
    n,
  );
  const forwarders = new Map<number, readonly number[]>();
  if (distant.length > 0) {
    const hops: Hops = {
      endpoints: n,
      ways,
      capacity: resources.map(({ bytesPerSecond }) => bytesPerSecond),
      fillers: fillersOf(found),
    };
    for (const { flow, nodes } of await askRoutes(asking, figures, hops, distant)) {
      const p = flow.source * n + flow.target;
      if (nodes === null)
        unexplained.push(
          `no way found from ${prober.endpoints[flow.source].name} to ${prober.endpoints[flow.target].name}`,
        );
      else {
        ways[p] = resourcesOn(hops, nodes);
        forwarders.set(p, nodes.slice(1, -1));
      }
    }
  }
  const sharing: Sharing = { endpoints: n, resources, ways, latencyS: figures.latencyS };
  const checked = await check(asking, figures, sharing, options.mixes ?? MIXES, seed);
  if (checked.off.length > 0)
    unexplained.push(
      `${checked.off.length} of ${checked.flows} flows in random mixes took other than predicted by more than 15 %`,
    );
  return {
    topology: topologyOf(options.name ?? "inferred", prober.endpoints, found, figures),
    endpoints: prober.endpoints,
    figures,
    fabrics: found,
    sharing,
    forwarders,
    check: checked,
    unexplained,
    asked: { ...asking.count },
  };
}

/** Measures alone what was slower beside others than the best of its source and target, and for each source one that was not. */
async function measureAlone(
  asking: ReturnType<typeof askingOf>,
  figures: PairFigures,
  flows: readonly ProbeFlow[],
): Promise<void> {
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
    [...Array(n).keys()].map((source) =>
      flows.find((flow) => flow.source === source && beside(flow) === best.source[source]),
    ),
  );
  const first = flows.filter((flow) => suspicious(flow) || sample.has(flow));
  const ask = async (some: readonly ProbeFlow[]): Promise<void> => {
    const answers = await asking.ask(some.map((flow) => together([flow], figures.bytes, RATE_REPEATS)));
    for (const { experiment, taken } of answers) noteAlone(figures, experiment.flows[0], taken[0]);
  };
  await ask(first);
  const misled = [...sample].some(
    (flow) => flow !== undefined && figures.rate[flow.source * n + flow.target] > beside(flow) / SUSPICIOUS,
  );
  if (misled) await ask(flows.filter((flow) => !first.includes(flow)));
}

/** Asks for trunks where the ports of a fabric do not explain what was slow. */
function* fabricLine(fabric: Fabric, figures: PairFigures) {
  const slow = slowPairs(fabric, figures);
  if (fabric.flows.length === 1 || slow.length === 0) return null;
  const groups = groupsOf(fabric, slow);
  if (groups.length < 2) return null;
  return yield* trunkLine(fabric, figures, groups);
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
