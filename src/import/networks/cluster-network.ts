import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
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
interface ClusterFigures {
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
        throw new InputError(
          place,
          `fewer hosts below a switch (or ${optionName("assume")} spine=...)`,
          hosts[lower],
        ).as("out-of-range");
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
      if (indexOf.has(node)) {
        throw new InputError(place, "hosts that are not named like a switch", node).as("not-together");
      }
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

/** Hosts on a ring or torus, first dimension fastest. */
export interface ListedGrid {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly nodes: readonly string[];
  /** Where it stands in the file. */
  readonly place: string;
}

/**
 * Returns the network of rings or tori of hosts, an NPU for each host, a link each way between neighbours at the rate of a
 * host's port; grids are not joined. Throws InputError for a repeated host or a number of hosts that is not the product of
 * the sizes. O(hosts).
 */
export function gridNetwork(
  name: string,
  grids: readonly ListedGrid[],
  figures: ClusterFigures,
  sources: readonly string[],
): Topology {
  const builder = topologyBuilder(name);
  for (const { nodes, sizes, name: group, place } of grids) {
    const product = sizes.reduce((count, size) => count * size, 1);
    if (product !== nodes.length) throw new InputError(place, `${product} hosts`, inWords(`${nodes.length}`));
    const first = nodes.map((node) => {
      if (builder.indexOf(node) !== undefined) throw new InputError(place, "every host once", node);
      return builder.addNpu(node, { group });
    })[0] as number;
    let stride = 1;
    for (const size of sizes) {
      for (let host = 0; size > 1 && host < product; host++) {
        const x = Math.floor(host / stride) % size;
        if (size === 2 && x === 1) continue;
        const next = host + (((x + 1) % size) - x) * stride;
        builder.addDuplex(first + host, first + next, figures.leaf, figures.latencyPs);
      }
      stride *= size;
    }
  }
  return builder.build({ shape: grids.length === 1 ? grids[0].sizes : [], sources });
}

/** No file may name more hosts than this. */
export const MAX_HOSTS = 1_000_000;

/** A host name has at most 253 characters (RFC 1035). */
const MAX_NAME = 253;

/** Names that a bracket stands for: `from` .. `to`, zero-padded to `width` characters. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/**
 * Returns the names of a Slurm hostlist in its order: `a[1-3,7],b2`, zero padding as in `n[08-12]`, several brackets in one
 * name (`rack[0-1]n[0-3]`, the last one fastest). Throws InputError for a malformed list, a name of more than 253 characters
 * and for more than `limit` names, before they are made. O(text + names).
 */
export function expandHostlist(text: string, place: string, limit = MAX_HOSTS): string[] {
  const names: string[] = [];
  for (const item of itemsOf(text, place)) {
    const parts = partsOf(item, place);
    const count = parts.reduce((product, part) => product * (typeof part === "string" ? 1 : sizeOf(part)), 1);
    if (names.length + count > limit)
      throw new InputError(place, `at most ${limit} names in all`, item).as("out-of-range");
    let made = [""];
    for (const part of parts) {
      const next = typeof part === "string" ? [part] : part.flatMap(numbersOf);
      made = made.flatMap((name) => next.map((text) => name + text));
      if ((made[0] as string).length > MAX_NAME) {
        throw new InputError(place, `names of at most ${MAX_NAME} characters`, item);
      }
    }
    for (const name of made) names.push(name);
  }
  return names;
}

/** Returns the parts between commas that stand outside brackets. */
function itemsOf(text: string, place: string): string[] {
  const items: string[] = [];
  let start = 0;
  let inside = false;
  for (let at = 0; at <= text.length; at++) {
    const mark = text[at];
    if (mark === "[" || mark === "]") {
      if (inside === (mark === "[")) throw new InputError(place, "brackets in pairs, such as n[0-3]", text);
      inside = mark === "[";
    } else if (mark === undefined || (mark === "," && !inside)) {
      items.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (inside || items.some((item) => item === "" || /\s/.test(item))) {
    throw new InputError(place, "a list of hosts such as n[0-3],m7", text);
  }
  return items;
}

function partsOf(item: string, place: string): (string | Range[])[] {
  return item
    .split(/(\[[^\]]*\])/)
    .filter((part) => part !== "")
    .map((part) =>
      part.startsWith("[")
        ? part
            .slice(1, -1)
            .split(",")
            .map((range) => rangeOf(range, item, place))
        : part,
    );
}

function rangeOf(text: string, item: string, place: string): Range {
  const match = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/.exec(text);
  const expected = "ranges such as [0-3,7] or [08-12]";
  if (match === null) throw new InputError(place, expected, item);
  const [, low, high = low] = match as unknown as [string, string, string?];
  const [from, to] = [Number(low), Number(high)];
  if (to < from) throw new InputError(place, `${expected}, ascending,`, item);
  return { from, to, width: low.length };
}

const sizeOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { from, to }) => sum + (to - from + 1), 0);

const numbersOf = ({ from, to, width }: Range): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(width, "0"));
