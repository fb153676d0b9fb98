import { InputError, inWords } from "../../base/errors.ts";
import { bandwidthFromGBps, latencyFromUs, parseBandwidth, parseTime } from "../../model/numbers/units.ts";
import type { NodeTraits, SizeRange, Topology } from "../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../model/topology/topology-builder.ts";
import {
  asFlag,
  asInteger,
  asList,
  asObject,
  asText,
  below,
  checkHeader,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";

type TopologyFields = JsonFields<"name" | "shape" | "sources" | "measured" | "nodes" | "links">;

type NodeFields = JsonFields<"id" | "kind" | "group" | "multicast" | "aggregation">;

type LinkFields = JsonFields<
  "from" | "to" | "bandwidthGBps" | "bandwidth" | "latencyUs" | "latency" | "bidirectional" | "count" | "id"
>;

/** More links than this are refused: a mistyped `count` must not exhaust the memory. */
const MAX_LINKS = 2 ** 24;

const NODE_KEYS = ["id", "kind", "group", "multicast", "aggregation"];
const LINK_KEYS = ["from", "to", "bandwidthGBps", "bandwidth", "latencyUs", "latency", "bidirectional", "count", "id"];

/** Throws InputError for a key that means nothing: a misspelt one would silently give another network. */
function refuseUnknown(value: object, keys: readonly string[], place: string): void {
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) throw new InputError(place, `no keys but ${keys.join(", ")}`, key);
  }
}

/**
 * Returns the network that a `banyan-topology` file (version 1) describes.
 *
 * `count` links run in parallel; a `bidirectional` link is one link each way, declared one after the other for each of
 * the `count`. Bandwidth and latency are numbers (`bandwidthGBps`, `latencyUs`) or texts with a unit (`bandwidth`:
 * "400Gbps", `latency`: "700ns"). A link's `id` must be unique and is not kept. Nodes may come in any order: NPUs are
 * numbered in theirs. Throws InputError with the place in the file. O(text).
 */
export function readTopologyJson(text: string, fileName: string): Topology {
  return topologyFromJson(parseJson(text, fileName), fileName);
}

/** Returns the network of a parsed `banyan-topology` value found at `path` in the file. Throws InputError. */
export function topologyFromJson(value: unknown, fileName: string, path = ""): Topology {
  checkHeader(value, fileName, path, "banyan-topology");
  const fields = value as TopologyFields;
  const at = (key: string): string => placeIn(fileName, below(path, key));
  const name = fields.name === undefined ? baseName(fileName) : asText(fields.name, at("name"));
  const builder = topologyBuilder(name);

  const nodes = asList(fields.nodes, at("nodes"), "a list of nodes");
  let npus = 0;
  for (const [i, node] of nodes.entries()) if (addNode(builder, node, at(`nodes[${i}]`)) === "npu") npus++;
  if (nodes.length === 0) throw new InputError(at("nodes"), "at least one node", nodes).as("out-of-range");
  if (npus === 0)
    throw new InputError(at("nodes"), "at least one NPU", inWords(`${nodes.length} switches`)).as("out-of-range");

  const links = asList(fields.links, at("links"), "a list of links");
  const ids = new Set<string>();
  let total = 0;
  for (const [i, link] of links.entries()) {
    total += addLinks(builder, link, at(`links[${i}]`), ids, MAX_LINKS - total);
  }

  const sources = fields.sources === undefined ? [] : asList(fields.sources, at("sources"));
  return builder.build({
    shape: shapeOf(fields.shape, at("shape"), npus),
    sources: sources.map((source, i) => asText(source, at(`sources[${i}]`))),
    measured: fields.measured === undefined ? undefined : measuredOf(fields.measured, at("measured")),
  });
}

function measuredOf(value: unknown, place: string): SizeRange {
  const fields = asObject<JsonFields<"fromBytes" | "toBytes">>(value, place);
  refuseUnknown(fields, ["fromBytes", "toBytes"], place);
  const fromBytes = asInteger(fields.fromBytes, `${place}.fromBytes`, 0);
  return { fromBytes, toBytes: asInteger(fields.toBytes, `${place}.toBytes`, fromBytes) };
}

/** Returns the file's name without folders and extension, for networks that do not name themselves. */
export function baseName(fileName: string): string {
  const last = fileName.split(/[\\/]/).at(-1) as string;
  return last.replace(/(?<=.)\.[^.]*$/, "") || "topology";
}

/** Returns a node's name: a text, or a whole number as a text. */
function nodeName(value: unknown, place: string): string {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return asText(value, place, "a node id");
}

function addNode(builder: TopologyBuilder, value: unknown, place: string): "npu" | "switch" {
  const fields = asObject<NodeFields>(value, place);
  refuseUnknown(fields, NODE_KEYS, place);
  const name = nodeName(fields.id, `${place}.id`);
  if (builder.indexOf(name) !== undefined) throw new InputError(`${place}.id`, "an id not used by another node", name);
  const { kind, group } = fields;
  if (kind !== "npu" && kind !== "switch") refuse(`${place}.kind`, '"npu" or "switch"', kind);
  const traits: NodeTraits = {
    ...(group === undefined ? {} : { group: asText(group, `${place}.group`) }),
    ...(fields.multicast === undefined ? {} : { multicast: asFlag(fields.multicast, `${place}.multicast`) }),
    ...(fields.aggregation === undefined ? {} : { aggregation: asFlag(fields.aggregation, `${place}.aggregation`) }),
  };
  builder.addNode(name, kind, traits);
  return kind;
}

/** Adds the links of one entry and returns how many they are. */
function addLinks(builder: TopologyBuilder, value: unknown, place: string, ids: Set<string>, room: number): number {
  const fields = asObject<LinkFields>(value, place);
  refuseUnknown(fields, LINK_KEYS, place);
  const from = endOf(builder, fields.from, `${place}.from`);
  const to = endOf(builder, fields.to, `${place}.to`);
  if (from === to) throw new InputError(`${place}.to`, "another node than the link's own start", fields.to);
  const bandwidth = bandwidthOf(fields, place);
  const latency = latencyOf(fields, place);
  const both = asFlag(fields.bidirectional, `${place}.bidirectional`);
  const count = fields.count === undefined ? 1 : asInteger(fields.count, `${place}.count`, 1);
  if (count * (both ? 2 : 1) > room)
    throw new InputError(`${place}.count`, `at most ${MAX_LINKS} links in all`, count).as("out-of-range");
  if (fields.id !== undefined) {
    const id = nodeName(fields.id, `${place}.id`);
    if (ids.has(id)) throw new InputError(`${place}.id`, "an id not used by another link", id);
    ids.add(id);
  }
  for (let copy = 0; copy < count; copy++) {
    if (both) builder.addDuplex(from, to, bandwidth, latency);
    else builder.addLink(from, to, bandwidth, latency);
  }
  return both ? 2 * count : count;
}

function endOf(builder: TopologyBuilder, value: unknown, place: string): number {
  const node = builder.indexOf(nodeName(value, place));
  if (node === undefined) throw new InputError(place, "the id of a node in the list of nodes", value);
  return node;
}

function bandwidthOf(fields: LinkFields, place: string): number {
  if (fields.bandwidthGBps === undefined && typeof fields.bandwidth === "string") {
    return parseBandwidth(fields.bandwidth, `${place}.bandwidth`);
  }
  if (fields.bandwidthGBps === undefined) throw new InputError(`${place}.bandwidthGBps`, "a positive number of GB/s");
  return bandwidthFromGBps(fields.bandwidthGBps, `${place}.bandwidthGBps`);
}

function latencyOf(fields: LinkFields, place: string): number {
  if (fields.latencyUs === undefined && typeof fields.latency === "string") {
    return parseTime(fields.latency, `${place}.latency`);
  }
  if (fields.latencyUs === undefined) throw new InputError(`${place}.latencyUs`, "a latency in us, 0 or more");
  return latencyFromUs(fields.latencyUs, `${place}.latencyUs`);
}

/** Returns the sizes of the dimensions; they must multiply to the number of NPUs. */
function shapeOf(value: unknown, place: string, npus: number): number[] {
  if (value === undefined) return [];
  const shape = asList(value, place).map((size, i) => asInteger(size, `${place}[${i}]`, 1));
  if (shape.length > 0 && shape.reduce((product, size) => product * size, 1) !== npus) {
    throw new InputError(place, `dimensions that multiply to ${npus} NPUs`, shape);
  }
  return shape;
}
