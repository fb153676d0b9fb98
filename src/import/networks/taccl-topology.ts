import { InputError, inWords } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { PS_PER_US, parseSize } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, asText, type JsonFields, parseJson, placeIn, refuse } from "../text/json.ts";

/** What a TACCL file does not say. */
export interface TacclOptions {
  /** Number of nodes (boxes), 1 where absent. */
  readonly nodes?: number;
  /** The number of nodes where `nodes` does not say: that of a sketch. Other formats ignore it. */
  readonly usualNodes?: number;
  /** The betas are the costs of this many bytes; see `parseProfileSize`. */
  readonly profileSizeBytes?: number;
  /** All costs are in units of 1/profileScale us. */
  readonly profileScale?: number;
}

type TacclFields = JsonFields<
  | "name"
  | "gpus_per_node"
  | "nics_per_node"
  | "alpha"
  | "node_betas_list"
  | "links"
  | "betas"
  | "remote_alpha"
  | "remote_beta"
>;

/** Turns the file's costs into figures of ours. */
interface Profile {
  readonly bytesPerSecond: (beta: unknown, place: string) => number;
  readonly latencyPs: (alpha: unknown, place: string) => number;
  readonly note: string;
}

/** Pairs of an NDv2 node with two NVLinks and with one, in TACCL's numbering of the GPUs (its `NDv2` matrix). */
const NDV2_DOUBLE = [
  [0, 1],
  [0, 4],
  [1, 3],
  [2, 3],
  [2, 6],
  [4, 5],
  [5, 7],
  [6, 7],
] as const;
const NDV2_SINGLE = [
  [0, 2],
  [0, 3],
  [1, 2],
  [1, 5],
  [3, 7],
  [4, 6],
  [4, 7],
  [5, 6],
] as const;

const MEGABYTE = 2 ** 20;
/** Scales of the public profiles by the size in their names: 1 MB in us, 32 KB in 0.1 us, 1 KB in 0.01 us. */
const PUBLIC_SCALES: Readonly<Record<string, number>> = { "1MB": 1, "32KB": 10, "1KB": 100 };

/** Returns true where a parsed JSON value has the fields of a TACCL topology. */
export function looksLikeTaccl(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && "gpus_per_node" in value && ("alpha" in value || "links" in value)
  );
}

/**
 * Returns bytes for the size of a profile. TACCL's KB and MB are 2^10 and 2^20 bytes: its public 1 KB and 32 KB costs are
 * its 1 MB costs times 1/1024 and 32/1024.
 */
export function parseProfileSize(text: string, place: Place = optionName("profileSizeBytes")): number {
  return parseSize(
    text.replace(/([KMG])B\s*$/i, (_, letter: string) => `${letter.toUpperCase()}iB`),
    place,
  );
}

/**
 * Returns the network of a TACCL topology file (alpha, betas; see TACCL's input guide), with these assumptions, which
 * `sources` repeats:
 *
 * * `links` and `betas` matrices are [destination][source]; any positive `links` entry is one link.
 * * Without them, a name that starts with NDv2 means its hybrid cube mesh in TACCL's numbering of the GPUs, with two betas
 *   (double and single NVLinks); DGX2, or any other profile with one beta, GPUs on one switch with the beta per port.
 * * alpha is per GPU pair: over a switch, half of it on each link. The total costs `*invbw*` are alpha + beta again.
 * * Several nodes: GPU g of G reaches NIC floor(g * nics / G) at the NIC's rate and no latency; all NICs meet in one
 *   switch `ib`, with half of remote_alpha on each side. One node has no NICs.
 * * Costs are for 1 MB in us; names that end in 32KB or 1KB have the sizes and scales of the public profiles, and options
 *   win over names.
 *
 * GPUs are named by their ranks, node by node. Throws InputError with the place in the file.
 */
export function readTacclTopology(text: string, fileName: string, options: TacclOptions = {}): Topology {
  return tacclTopologyFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the network of a parsed TACCL topology value. Throws InputError. */
export function tacclTopologyFromJson(value: unknown, fileName: string, options: TacclOptions = {}): Topology {
  const fields = asObject<TacclFields>(value, fileName);
  const at = (key: string): string => placeIn(fileName, key);
  const name = asText(fields.name, at("name"));
  const gpus = asInteger(fields.gpus_per_node, at("gpus_per_node"), 1, 65536);
  const nodes = asInteger(options.nodes ?? options.usualNodes ?? 1, "the number of nodes", 1, 65536);
  const profile = profileOf(name, at("name"), options);
  const alphaPs = profile.latencyPs(fields.alpha, at("alpha"));

  const builder = topologyBuilder(nodes === 1 ? name : `${name}:${nodes}`);
  for (let gpu = 0; gpu < nodes * gpus; gpu++) builder.addNpu(String(gpu), { group: `box${Math.floor(gpu / gpus)}` });
  const wiring = wiringOf(fields, name, gpus, at, profile, alphaPs);
  for (let node = 0; node < nodes; node++) wiring.wire(builder, node);
  const sources = [`TACCL profile ${fileName}`, profile.note, wiring.note];
  if (nodes > 1) sources.push(connectNodes(builder, fields, nodes, gpus, wiring.nics, at, profile));
  return builder.build({ sources });
}

function profileOf(name: string, place: Place, options: TacclOptions): Profile {
  const suffix = /(\d+)\s*([KMG]B)$/i.exec(name);
  const inName = suffix === null ? "1MB" : `${suffix[1]}${(suffix[2] as string).toUpperCase()}`;
  const publicScale = PUBLIC_SCALES[inName];
  const given = options.profileSizeBytes !== undefined || options.profileScale !== undefined;
  if (!given && publicScale === undefined) {
    throw new InputError(
      place,
      `${optionName("profileSizeBytes")} and ${optionName("profileScale")} for a profile whose scale is not known by its name,`,
      name,
    );
  }
  const bytes = options.profileSizeBytes ?? (given ? MEGABYTE : parseProfileSize(inName, place));
  const scale = options.profileScale ?? (given ? 1 : (publicScale as number));
  if (!Number.isSafeInteger(bytes) || bytes < 1)
    throw new InputError(optionName("profileSizeBytes"), "a positive size", bytes);
  if (!Number.isFinite(scale) || scale <= 0)
    throw new InputError(optionName("profileScale"), "a positive number", scale);
  return {
    bytesPerSecond(beta, at) {
      const rate = typeof beta === "number" && beta > 0 ? Math.round((bytes * scale * 1e6) / beta) : Number.NaN;
      if (!Number.isSafeInteger(rate) || rate < 1) refuse(at, "a positive cost", beta);
      return rate;
    },
    latencyPs(alpha, at) {
      const ps = typeof alpha === "number" && alpha >= 0 ? Math.round((alpha * PS_PER_US) / scale) : Number.NaN;
      if (!Number.isSafeInteger(ps)) refuse(at, "a cost of 0 or more", alpha);
      return ps;
    },
    note: `costs taken as ${scale === 1 ? "us" : `1/${scale} us`} per ${bytes} bytes${given ? "" : " (from the profile's name)"}`,
  };
}

interface Wiring {
  readonly wire: (builder: TopologyBuilder, node: number) => void;
  readonly nics: number;
  readonly note: string;
}

function wiringOf(
  fields: TacclFields,
  name: string,
  gpus: number,
  at: (key: string) => string,
  profile: Profile,
  alphaPs: number,
): Wiring {
  if (fields.links !== undefined) return customWiring(fields, gpus, at, profile, alphaPs);
  const betas = asList(fields.node_betas_list, at("node_betas_list"), "a list of betas (or matrices links and betas)");
  const rates = betas.map((beta, i) => profile.bytesPerSecond(beta, at(`node_betas_list[${i}]`)));
  if (/^ndv2/i.test(name)) {
    if (gpus !== 8) throw new InputError(at("gpus_per_node"), "8 GPUs in a node of NDv2", gpus);
    if (rates.length !== 2)
      throw new InputError(at("node_betas_list"), "the betas of double and of single NVLinks", betas);
    return {
      wire: (builder, node) => {
        for (const [k, pairs] of [NDV2_DOUBLE, NDV2_SINGLE].entries()) {
          for (const [a, b] of pairs) builder.addDuplex(8 * node + a, 8 * node + b, rates[k], alphaPs);
        }
      },
      nics: nicsOf(fields, 1, gpus, at),
      note: "NDv2: hybrid cube mesh in TACCL's numbering of the GPUs, one link per pair at the beta of its NVLinks",
    };
  }
  const dgx2 = /^dgx-?2/i.test(name);
  if (rates.length !== 1)
    throw new InputError(at("node_betas_list"), "one beta (two only where the name starts with NDv2)", betas);
  if (dgx2 && gpus !== 16) throw new InputError(at("gpus_per_node"), "16 GPUs in a node of DGX2", gpus);
  return {
    wire: (builder, node) => {
      const hub = builder.addSwitch(`nvsw${node}`, { group: `box${node}` });
      const up = Math.floor(alphaPs / 2);
      for (let gpu = gpus * node; gpu < gpus * (node + 1); gpu++) {
        builder.addLink(gpu, hub, rates[0], up);
        builder.addLink(hub, gpu, rates[0], alphaPs - up);
      }
    },
    nics: nicsOf(fields, dgx2 ? 8 : 1, gpus, at),
    note: "GPUs on one switch, beta per port, half of alpha on each link",
  };
}

function nicsOf(fields: TacclFields, usual: number, gpus: number, at: (key: string) => string): number {
  return fields.nics_per_node === undefined ? usual : asInteger(fields.nics_per_node, at("nics_per_node"), 1, gpus);
}

function customWiring(
  fields: TacclFields,
  gpus: number,
  at: (key: string) => string,
  profile: Profile,
  alphaPs: number,
): Wiring {
  const square = (value: unknown, key: string): (readonly unknown[])[] => {
    const rows = asList(value, at(key), `a matrix of ${gpus} rows`);
    if (rows.length !== gpus)
      throw new InputError(at(key), `a matrix of ${gpus} rows`, inWords(`one of ${rows.length} rows`));
    return rows.map((row, i) => {
      const cells = asList(row, at(`${key}[${i}]`), `${gpus} numbers`);
      if (cells.length !== gpus)
        throw new InputError(at(`${key}[${i}]`), `${gpus} numbers`, inWords(`${cells.length}`));
      return cells;
    });
  };
  const links = square(fields.links, "links");
  const betas = square(fields.betas, "betas");
  const edges: { readonly from: number; readonly to: number; readonly rate: number }[] = [];
  for (let to = 0; to < gpus; to++) {
    for (let from = 0; from < gpus; from++) {
      const place = `[${to}][${from}]`;
      if (asInteger(links[to][from], at(`links${place}`), 0) === 0) continue;
      if (from === to) throw new InputError(at(`links${place}`), "0, as a GPU has no link to itself,", links[to][from]);
      edges.push({ from, to, rate: profile.bytesPerSecond(betas[to][from], at(`betas${place}`)) });
    }
  }
  edges.sort((a, b) => a.from - b.from || a.to - b.to);
  return {
    wire: (builder, node) => {
      for (const { from, to, rate } of edges) builder.addLink(gpus * node + from, gpus * node + to, rate, alphaPs);
    },
    nics: nicsOf(fields, 1, gpus, at),
    note: "links and betas read as [destination][source]",
  };
}

/** Adds NICs and the switch between nodes; returns the note for `sources`. */
function connectNodes(
  builder: TopologyBuilder,
  fields: TacclFields,
  nodes: number,
  gpus: number,
  nics: number,
  at: (key: string) => string,
  profile: Profile,
): string {
  const rate = profile.bytesPerSecond(fields.remote_beta, at("remote_beta"));
  const alphaPs = profile.latencyPs(fields.remote_alpha, at("remote_alpha"));
  const up = Math.floor(alphaPs / 2);
  const ib = builder.addSwitch("ib");
  for (let node = 0; node < nodes; node++) {
    const nic = Array.from({ length: nics }, (_, k) =>
      builder.addSwitch(nics === 1 ? `nic${node}` : `nic${node}.${k}`, { group: `box${node}` }),
    );
    for (let g = 0; g < gpus; g++) builder.addDuplex(gpus * node + g, nic[Math.floor((g * nics) / gpus)], rate, 0);
    for (const port of nic) {
      builder.addLink(port, ib, rate, up);
      builder.addLink(ib, port, rate, alphaPs - up);
    }
  }
  return `${nics} NIC(s) per node, shared by neighbouring GPUs, one switch between all; half of remote_alpha on each side of it`;
}
