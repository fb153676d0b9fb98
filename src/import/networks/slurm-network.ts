import { InputError } from "../../base/errors.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../model/topology/topology-builder.ts";
import type { TopologyOptions } from "./topology-options.ts";

/** A switch as a cluster manager lists it: the switches and the hosts below it. */
export interface ListedSwitch {
  readonly name: string;
  readonly switches: readonly string[];
  readonly nodes: readonly string[];
  /** Where it stands in the file. */
  readonly place: string;
}

const LEAF_BYTES_PER_SECOND = 50e9;
const LATENCY_PS = PS_PER_US / 2;

/** Figures that cluster managers do not list, and a sentence for each assumption. */
export interface ClusterFigures {
  readonly leaf: number;
  /** Of a link between switches; null: as much as the hosts below the lower switch can send. */
  readonly spine: number | null;
  readonly latencyPs: number;
  readonly notes: readonly string[];
}

/** Returns the figures of the options, else 50 GB/s a host, links between switches that do not block, 0.5 us a link. */
export function clusterFigures({ bandwidth = {}, latencyPs = LATENCY_PS }: TopologyOptions): ClusterFigures {
  const leaf = bandwidth.leaf ?? LEAF_BYTES_PER_SECOND;
  const spine = bandwidth.spine ?? null;
  const said = (value: unknown): string => (value === undefined ? "assumed" : "as given");
  return {
    leaf,
    spine,
    latencyPs,
    notes: [
      `${formatBandwidth(leaf)} between a host and its switch, ${said(bandwidth.leaf)}; ${formatTime(latencyPs)} a link`,
      spine === null
        ? "links between switches carry what the hosts below can send (not blocking), assumed"
        : `${formatBandwidth(spine)} between switches, as given`,
      "one NPU for each host",
    ],
  };
}

/**
 * Returns the network of switches over hosts: an NPU for each host in the order of listing, in the group of its first
 * switch; a link each way between a host and each switch that lists it, and between a switch and each that lists it. Throws
 * InputError for a repeated name, a switch that is not listed, a cycle of switches, or no host. O(switches + links).
 */
export function switchTree(
  name: string,
  switches: readonly ListedSwitch[],
  figures: ClusterFigures,
  sources: readonly string[],
): Topology {
  const builder = topologyBuilder(name);
  const indexOf = new Map<string, number>();
  switches.forEach((listed, index) => {
    if (indexOf.has(listed.name)) throw new InputError(listed.place, "a switch not listed before", listed.name);
    indexOf.set(listed.name, index);
  });
  addHosts(builder, switches, indexOf);
  const firstSwitch = switches.map(({ name: label }) => builder.addSwitch(label));
  const below = switches.map(({ switches: lower, place }) =>
    lower.map((label) => {
      const index = indexOf.get(label);
      if (index === undefined) throw new InputError(place, "switches that the file lists", label);
      return index;
    }),
  );
  const parents = new Int32Array(switches.length);
  for (const lower of below) for (const index of lower) parents[index]++;
  const hosts = hostsBelow(switches, below, parents);

  switches.forEach(({ nodes, place }, index) => {
    const here = firstSwitch[index];
    for (const node of nodes) {
      builder.addDuplex(builder.indexOf(node) as number, here, figures.leaf, figures.latencyPs);
    }
    for (const lower of below[index]) {
      const rate = figures.spine ?? Math.round((figures.leaf * hosts[lower]) / parents[lower]);
      if (rate < 1) continue;
      if (!Number.isSafeInteger(rate)) {
        throw new InputError(place, "fewer hosts below a switch (or --assume spine=...)", hosts[lower]);
      }
      builder.addDuplex(firstSwitch[lower], here, rate, figures.latencyPs);
    }
  });
  return builder.build({ sources });
}

function addHosts(
  builder: TopologyBuilder,
  switches: readonly ListedSwitch[],
  indexOf: ReadonlyMap<string, number>,
): void {
  for (const { nodes, name, place } of switches) {
    const traits = { group: name };
    const here = new Set<string>();
    for (const node of nodes) {
      if (indexOf.has(node)) throw new InputError(place, "hosts that are not named like a switch", node);
      if (here.has(node)) throw new InputError(place, "every host once", node);
      here.add(node);
      if (builder.indexOf(node) === undefined) builder.addNpu(node, traits);
    }
  }
}

/**
 * Returns the hosts below each switch, those of a switch in equal parts below all that list it. Throws InputError where
 * switches form a cycle.
 */
function hostsBelow(
  switches: readonly ListedSwitch[],
  below: readonly (readonly number[])[],
  parents: Int32Array,
): Float64Array {
  const hosts = Float64Array.from(switches, ({ nodes }) => nodes.length);
  const waiting = Int32Array.from(below, (lower) => lower.length);
  const above: number[][] = switches.map(() => []);
  below.forEach((lower, index) => {
    for (const child of lower) above[child].push(index);
  });
  const ready = switches.flatMap((_, index) => (waiting[index] === 0 ? [index] : []));
  for (let i = 0; i < ready.length; i++) {
    for (const upper of above[ready[i]]) {
      hosts[upper] += hosts[ready[i]] / parents[ready[i]];
      if (--waiting[upper] === 0) ready.push(upper);
    }
  }
  const stuck = waiting.findIndex((count) => count > 0);
  if (stuck >= 0) throw new InputError(switches[stuck].place, "switches without a cycle", switches[stuck].name);
  return hosts;
}
