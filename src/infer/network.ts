import { median } from "../model/numbers/median.ts";
import { PS_PER_SECOND } from "../model/numbers/units.ts";
import type { ProbeEndpoint } from "../model/probe/measurements.ts";
import type { Topology } from "../model/topology/topology.ts";
import { topologyBuilder } from "../model/topology/topology-builder.ts";
import type { PairFigures } from "./pairs.ts";
import type { FoundFabric } from "./trunks.ts";

const wholeRate = (rate: number): number => Math.max(1, Math.round(rate));
const wholePs = (seconds: number): number => Math.max(0, Math.round(seconds * PS_PER_SECOND));

/**
 * Returns the network of fabrics: direct links, switches `sw0`, `sw1` ... with a link each way per port, leaf switches and their
 * trunks. Hosts of several endpoints are groups. A link has the latency of its pair; over a switch each side has half.
 */
export function topologyOf(
  name: string,
  endpoints: readonly ProbeEndpoint[],
  fabrics: readonly FoundFabric[],
  figures: PairFigures,
): Topology {
  const n = figures.endpoints;
  const builder = topologyBuilder(name);
  const hosts = new Set(endpoints.map(({ host }) => host));
  for (const { name: own, host } of endpoints) builder.addNpu(own, hosts.size > 1 ? { group: host } : undefined);
  let switches = 0;
  const newSwitch = (): number => builder.addSwitch(`sw${switches++}`);
  for (const fabric of fabrics) {
    if (fabric.flows.length === 1) {
      const [{ source, target }] = fabric.flows;
      const p = source * n + target;
      builder.addLink(source, target, wholeRate(figures.rate[p]), wholePs(figures.latencyS[p]));
      continue;
    }
    const { trunks } = fabric;
    const groupOf = (endpoint: number): number => trunks?.groups.findIndex((group) => group.includes(endpoint)) ?? 0;
    const inside = fabric.flows.filter(({ source, target }) => groupOf(source) === groupOf(target));
    const latencies = (flows: readonly { source: number; target: number }[]): number =>
      flows.length === 0 ? 0 : median(flows.map(({ source, target }) => figures.latencyS[source * n + target]));
    const usual = latencies(inside.length > 0 ? inside : fabric.flows);
    const extra = Math.max(0, latencies(fabric.flows.filter((flow) => !inside.includes(flow))) - usual);
    const leaves = (trunks?.groups ?? [[]]).map(newSwitch);
    for (const { direction, endpoint, bytesPerSecond } of [...fabric.out, ...fabric.in]) {
      const leaf = leaves[groupOf(endpoint)];
      const [from, to] = direction === "out" ? [endpoint, leaf] : [leaf, endpoint];
      builder.addLink(from, to, wholeRate(bytesPerSecond), wholePs(usual / 2));
    }
    if (trunks === null) continue;
    const middle = trunks.direct ? -1 : newSwitch();
    for (const { from, to, bytesPerSecond } of trunks.trunks)
      builder.addLink(
        from === null ? middle : leaves[from],
        to === null ? middle : leaves[to],
        wholeRate(bytesPerSecond),
        wholePs(trunks.direct ? extra : extra / 2),
      );
  }
  return builder.build({ sources: ["inferred from measurements"] });
}
