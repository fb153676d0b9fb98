import { PS_PER_SECOND } from "../model/numbers/units.ts";
import type { ProbeEndpoint } from "../model/probe/measurements.ts";
import type { Topology } from "../model/topology/topology.ts";
import { topologyBuilder } from "../model/topology/topology-builder.ts";
import type { Resource } from "./sharing.ts";

/** A figure with one standard error. */
export interface Figure {
  readonly bytesPerSecond: number;
  readonly error: number;
}

/** Collects nodes and links; endpoints are nodes by their numbers, switches follow. Each link is a resource. */
export interface Wiring {
  readonly resources: readonly Resource[];
  /** [resources] latency of the link, seconds. */
  readonly latencyS: readonly number[];
  addSwitch(name: string, group?: string): number;
  addLink(kind: Resource["kind"], from: number, to: number, figure: Figure, latencyS: number): number;
  /** Returns the links of the only way between two nodes over links of these kinds, in order; null where there is none. */
  treeWay(from: number, to: number, kinds: readonly Resource["kind"][]): readonly number[] | null;
  /** Returns the network of the endpoints that are NPUs, and of the switches. */
  topology(name: string, sources: readonly string[]): Topology;
}

const wholeRate = (rate: number): number => Math.max(1, Math.round(rate));
const wholePs = (seconds: number): number => Math.max(0, Math.round(seconds * PS_PER_SECOND));

/** Returns an empty wiring of endpoints. */
export function wiringOf(endpoints: readonly ProbeEndpoint[]): Wiring {
  const n = endpoints.length;
  const switches: { name: string; group: string | undefined }[] = [];
  const links: { kind: Resource["kind"]; from: number; to: number }[] = [];
  const resources: Resource[] = [];
  const latencyS: number[] = [];
  const leaving = new Map<number, number[]>();
  const nameOf = (node: number): string => (node < n ? endpoints[node].name : switches[node - n].name);
  return {
    resources,
    latencyS,
    addSwitch: (name, group) => n + switches.push({ name, group }) - 1,
    addLink(kind, from, to, { bytesPerSecond, error }, latency) {
      const link = links.push({ kind, from, to }) - 1;
      resources.push({ name: `${nameOf(from)}>${nameOf(to)}`, kind, bytesPerSecond, error });
      latencyS.push(latency);
      leaving.set(from, [...(leaving.get(from) ?? []), link]);
      return link;
    },
    treeWay(from, to, kinds) {
      const by = new Map<number, number>([[from, -1]]);
      const queue = [from];
      for (const node of queue) {
        if (node === to) break;
        // an NPU forwards nothing
        if (node !== from && node < n) continue;
        for (const link of leaving.get(node) ?? []) {
          const next = links[link].to;
          if (!kinds.includes(links[link].kind) || by.has(next)) continue;
          by.set(next, link);
          queue.push(next);
        }
      }
      if (!by.has(to)) return null;
      const way: number[] = [];
      for (let node = to; node !== from; ) {
        const link = by.get(node) as number;
        way.unshift(link);
        node = links[link].from;
      }
      return way;
    },
    topology(name, sources) {
      const hosts = new Set(endpoints.map(({ host }) => host));
      const builder = topologyBuilder(name);
      const nodeOf = new Map<number, number>();
      const traits = (group: string | undefined) => (hosts.size > 1 && group !== undefined ? { group } : undefined);
      for (const [i, { kind, name: own, host }] of endpoints.entries())
        if (kind === "npu") nodeOf.set(i, builder.addNpu(own, traits(host)));
      for (const [i, { name: own, group }] of switches.entries())
        nodeOf.set(n + i, builder.addSwitch(own, traits(group)));
      for (const [i, { from, to }] of links.entries())
        builder.addLink(
          nodeOf.get(from) as number,
          nodeOf.get(to) as number,
          wholeRate(resources[i].bytesPerSecond),
          wholePs(latencyS[i]),
        );
      return builder.build({ sources });
    },
  };
}
