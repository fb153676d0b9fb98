import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, asText, type JsonFields, placeIn, refuse } from "../text/json.ts";
import { baseName } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

type Fields = JsonFields<
  | "sccl_type"
  | "topology"
  | "name"
  | "links"
  | "switches"
  | "copies"
  | "ngpus_per_node"
  | "node_links"
  | "node_invbws"
  | "local_switches"
  | "remote_invbw"
  | "internode_conn"
>;
type At = (path: string) => string;
type Row = readonly unknown[];

/** A link's entry in a file means this rate where no option tells: one NVLink of the second or third generation. */
const UNIT_BYTES_PER_SECOND = 25e9;
/** TACCL's costs are in us for 2^20 bytes. */
const BYTES_US = 2 ** 20 * 1e6;
const MAX_RANKS = 4096;

/** Returns true where a parsed JSON value is a topology of msccl-tools (or TACCL's algorithm files), or an algorithm on one. */
export function looksLikeMscclTools(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { sccl_type: type, links, name } = value as Fields;
  if (type === "topology" || (type === "algorithm" && "topology" in value)) return true;
  return Array.isArray(links) && Array.isArray(links[0]) && typeof name === "string" && !("gpus_per_node" in value);
}

/**
 * Returns the network of a msccl-tools topology, `{name, links, switches}`, or of an algorithm file with one. `links`
 * [destination][source] counts chunks a round: a link of this many units, each the options' NVLink rate (else 25 GB/s).
 * `switches`, limits on what ranks together send and receive, become a switch with a port for each rank.
 *
 * TACCL's algorithm files have `node_links` and `node_invbws` (us for 1 MiB) for a node instead, `copies` of it, and
 * `internode_conn`, from each sender to its receivers in the other node, at `remote_invbw`; rates are taken from these costs.
 * Latencies, which are part of them, are the options' (else 0.5 us a link). Throws InputError with the place.
 */
export function readMscclTools(value: unknown, fileName: string, options: TopologyOptions = {}): Topology {
  const whole = asObject<Fields>(value, fileName);
  const inside = whole.topology !== undefined;
  const fields = inside ? asObject<Fields>(whole.topology, placeIn(fileName, "topology")) : whole;
  const at: At = (path) => placeIn(fileName, inside ? `topology.${path}` : path);
  const name = fields.name === undefined ? baseName(fileName) : asText(fields.name, at("name"));
  const latencyPs = options.latencyPs ?? PS_PER_US / 2;
  const builder = topologyBuilder(name);
  const unit = options.bandwidth?.nvlink ?? UNIT_BYTES_PER_SECOND;
  const note =
    fields.node_links === undefined
      ? addPlain(builder, fields, at, unit, latencyPs)
      : addNodes(builder, fields, at, latencyPs);
  const kind = inside ? "network of the algorithm" : "msccl-tools topology";
  return builder.build({
    sources: [`${kind} ${fileName}`, note, `latency ${formatTime(latencyPs)} a link, assumed`],
  });
}

function addPlain(builder: TopologyBuilder, fields: Fields, at: At, unit: number, latencyPs: number): string {
  const rows = matrixOf(fields.links, at("links"), null);
  for (let rank = 0; rank < rows.length; rank++) builder.addNpu(String(rank));
  const limits = portLimits(fields.switches, at("switches"), rows.length);
  const hubs = addPorts(builder, limits, unit, latencyPs);
  eachLink(rows, at("links"), (from, to, count) => {
    if (!hubs.some((ranks) => ranks.has(from) && ranks.has(to))) builder.addLink(from, to, count * unit, latencyPs);
    else if (tooSlow(limits, from, to, count)) {
      throw new InputError(at(`links[${to}][${from}]`), "as many chunks as its switch lets through", count);
    }
  });
  return `${formatBandwidth(unit)} for a chunk a round (${optionName("assume")} nvlink=...)`;
}

/** Returns whether a link under a switch is narrower than both of its ports. */
function tooSlow(limits: readonly PortLimit[], from: number, to: number, count: number): boolean {
  const limit = limits.find(({ ranks }) => ranks.has(from) && ranks.has(to)) as PortLimit;
  return count < Math.min(limit.out.get(from) as number, limit.in.get(to) as number);
}

function addNodes(builder: TopologyBuilder, fields: Fields, at: At, latencyPs: number): string {
  const gpus = asInteger(fields.ngpus_per_node, at("ngpus_per_node"), 1, MAX_RANKS);
  const copies = asInteger(fields.copies ?? 1, at("copies"), 1, 2);
  if (fields.local_switches !== undefined && fields.local_switches !== null) {
    const switches = asList(fields.local_switches, at("local_switches"));
    if (switches.length > 0) throw new InputError(at("local_switches"), "no switches in a node", switches);
  }
  const links = matrixOf(fields.node_links, at("node_links"), gpus);
  const costs = matrixOf(fields.node_invbws, at("node_invbws"), gpus);
  for (let rank = 0; rank < copies * gpus; rank++) {
    builder.addNpu(String(rank), { group: `box${Math.floor(rank / gpus)}` });
  }
  for (let copy = 0; copy < copies; copy++) {
    eachLink(links, at("node_links"), (from, to) => {
      const rate = rateOf(costs[to]?.[from], at(`node_invbws[${to}][${from}]`));
      builder.addLink(copy * gpus + from, copy * gpus + to, rate, latencyPs);
    });
  }
  if (copies > 1) joinNodes(builder, fields, at, gpus, latencyPs);
  return "rates from the costs of 1 MiB, links and costs read as [destination][source]";
}

function joinNodes(builder: TopologyBuilder, fields: Fields, at: At, gpus: number, latencyPs: number): void {
  const rate = rateOf(fields.remote_invbw, at("remote_invbw"));
  const senders = asObject<Readonly<Record<string, unknown>>>(fields.internode_conn, at("internode_conn"));
  for (const [sender, receivers] of Object.entries(senders)) {
    const place = at(`internode_conn.${sender}`);
    const from = asInteger(/^\d{1,6}$/.test(sender) ? Number(sender) : sender, place, 0, gpus - 1);
    for (const receiver of asList(receivers, place)) {
      const to = asInteger(receiver, place, 0, gpus - 1);
      builder.addLink(from, gpus + to, rate, latencyPs);
      builder.addLink(gpus + from, to, rate, latencyPs);
    }
  }
}

function rateOf(cost: unknown, place: string): number {
  const rate = typeof cost === "number" && cost > 0 ? Math.round(BYTES_US / cost) : Number.NaN;
  if (!Number.isSafeInteger(rate) || rate < 1) refuse(place, "a positive cost in us", cost);
  return rate;
}

/** Returns the rows of a square matrix of `size` (any where null). */
function matrixOf(value: unknown, place: string, size: number | null): Row[] {
  const rows = asList(value, place, "a square matrix");
  const count = size ?? rows.length;
  if (rows.length !== count || count > MAX_RANKS) {
    throw new InputError(
      place,
      `a matrix of ${size ?? `at most ${MAX_RANKS}`} rows`,
      inWords(`one of ${rows.length} rows`),
    );
  }
  return rows.map((row, i) => {
    const cells = asList(row, `${place}[${i}]`, `${count} numbers`);
    if (cells.length !== count) throw new InputError(`${place}[${i}]`, `${count} numbers`, inWords(`${cells.length}`));
    return cells;
  });
}

/** Calls `use` for each positive entry, by source and then by destination. */
function eachLink(rows: readonly Row[], place: string, use: (from: number, to: number, count: number) => void): void {
  for (let from = 0; from < rows.length; from++) {
    for (let to = 0; to < rows.length; to++) {
      const count = rows[to]?.[from];
      if (count === 0) continue;
      asInteger(count, `${place}[${to}][${from}]`, 0, 1e6);
      if (from === to) throw new InputError(`${place}[${to}][${from}]`, "0, as no rank has a link to itself,", count);
      use(from, to, count as number);
    }
  }
}

/** Ranks under one switch, and the chunks a round that each may send into it and receive from it. */
interface PortLimit {
  readonly ranks: ReadonlySet<number>;
  readonly out: Map<number, number>;
  readonly in: Map<number, number>;
}

/**
 * Returns the switches in msccl-tools's `switches`, a list of (sources, destinations, chunks a round, name), each a limit on
 * what the sources together send to the destinations. Limits of one source or one destination are ports; those of the same
 * ranks make a switch, which must have a port each way for each of its ranks. Throws InputError for other limits.
 */
function portLimits(value: unknown, place: string, ranks: number): PortLimit[] {
  const limits = new Map<string, PortLimit>();
  const list = value === undefined || value === null ? [] : asList(value, place);
  list.forEach((entry, i) => {
    const at = `${place}[${i}]`;
    const [sources, destinations, count] = asList(entry, at, "sources, destinations, chunks a round and a name");
    const from = ranksOf(sources, `${at}[0]`, ranks);
    const to = ranksOf(destinations, `${at}[1]`, ranks);
    const rate = asInteger(count, `${at}[2]`, 1, 1e6);
    const members = [...new Set([...from, ...to])].sort((a, b) => a - b);
    const key = members.join();
    const limit = limits.get(key) ?? { ranks: new Set(members), out: new Map(), in: new Map() };
    limits.set(key, limit);
    const whole = members.length === from.length + to.length;
    if (!whole || (from.length !== 1 && to.length !== 1)) {
      throw new InputError(
        at,
        "the port of one rank (one source or one destination)",
        inWords(`${from.length} to ${to.length}`),
      );
    }
    if (from.length === 1) limit.out.set(from[0] as number, rate);
    if (to.length === 1) limit.in.set(to[0] as number, rate);
  });
  for (const { ranks: members, out, in: into } of limits.values()) {
    if (out.size !== members.size || into.size !== members.size) {
      throw new InputError(
        place,
        `a port out and in for each of ${members.size} ranks`,
        inWords(`${out.size} out, ${into.size} in`),
      );
    }
  }
  return [...limits.values()];
}

function ranksOf(value: unknown, place: string, ranks: number): number[] {
  const list = asList(value, place, "a list of ranks").map((rank, i) =>
    asInteger(rank, `${place}[${i}]`, 0, ranks - 1),
  );
  if (list.length === 0 || new Set(list).size !== list.length) throw new InputError(place, "different ranks", list);
  return list;
}

/** Adds the switches with their ports; returns the ranks under each. */
function addPorts(
  builder: TopologyBuilder,
  limits: readonly PortLimit[],
  unit: number,
  latencyPs: number,
): ReadonlySet<number>[] {
  return limits.map(({ ranks, out, in: into }, i) => {
    const hub = builder.addSwitch(`sw${i}`);
    const up = Math.floor(latencyPs / 2);
    for (const rank of ranks) {
      builder.addLink(rank, hub, (out.get(rank) as number) * unit, up);
      builder.addLink(hub, rank, (into.get(rank) as number) * unit, latencyPs - up);
    }
    return ranks;
  });
}
