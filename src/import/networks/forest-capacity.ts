import { InputError, inWords } from "../../base/errors.ts";
import { bandwidthFromGBps, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList, asObject, asText, type JsonFields, placeIn, refuse } from "../text/json.ts";
import { baseName } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

type Fields = JsonFields<"name" | "unit" | "directed" | "compute_order" | "nodes" | "edges">;
type NodeFields = JsonFields<"id" | "kind" | "tuple">;
type EdgeFields = JsonFields<"src" | "dst" | "capacity">;

/** Returns true where a parsed JSON value has the fields of a capacity graph. */
export function looksLikeForestCapacity(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("nodes" in value) || !("edges" in value)) return false;
  const { edges } = value;
  return Array.isArray(edges) && (edges.length === 0 || "capacity" in Object(edges[0]));
}

/**
 * Returns the network of a graph of capacities as ForestColl's topologies have them: nodes of kind compute (NPUs, in the
 * order of `compute_order` where there is one) and switch, directed edges (`"directed": false`: both ways) whose capacity is
 * in GB/s, or in B/s where `unit` says so. A node's group is the box of its tuple (box, kind, index). Latencies, which the
 * graph lacks, are the options' (else 0.5 us a link). Throws InputError with the place. O(nodes + edges).
 */
export function readForestCapacity(value: unknown, fileName: string, options: TopologyOptions = {}): Topology {
  const fields = asObject<Fields>(value, fileName);
  const at = (path: string): string => placeIn(fileName, path);
  const name = fields.name === undefined ? baseName(fileName) : asText(fields.name, at("name"));
  const rateOf = rateIn(fields.unit ?? "GB/s", at("unit"));
  const latencyPs = options.latencyPs ?? PS_PER_US / 2;
  const builder = topologyBuilder(name);
  const nodes = nodesOf(fields, at);
  for (const id of orderOf(fields, nodes, at)) builder.addNpu(id, traitsOf(nodes.get(id)?.tuple));
  for (const [id, { kind, tuple }] of nodes) if (kind === "switch") builder.addSwitch(id, traitsOf(tuple));

  const both = fields.directed === false;
  asList(fields.edges, at("edges"), "a list of edges").forEach((entry, i) => {
    const place = (key: string): string => at(`edges[${i}].${key}`);
    const edge = asObject<EdgeFields>(entry, at(`edges[${i}]`));
    const [from, to] = (["src", "dst"] as const).map((end) => {
      const index = builder.indexOf(asText(edge[end], place(end)));
      if (index === undefined) throw new InputError(place(end), "a node of the file", edge[end]);
      return index;
    }) as [number, number];
    if (from === to) throw new InputError(place("dst"), "another node than src", edge.dst);
    const rate = rateOf(edge.capacity, place("capacity"));
    if (both) builder.addDuplex(from, to, rate, latencyPs);
    else builder.addLink(from, to, rate, latencyPs);
  });
  return builder.build({ sources: [`capacity graph ${fileName}`, `latency ${formatTime(latencyPs)} a link, assumed`] });
}

function rateIn(unit: unknown, place: string): (capacity: unknown, place: string) => number {
  if (unit === "GB/s") return bandwidthFromGBps;
  if (unit === "B/s") return (capacity, at) => asInteger(capacity, at, 1);
  return refuse(place, '"GB/s" or "B/s"', unit);
}

interface Node {
  readonly kind: "compute" | "switch";
  readonly tuple: unknown;
}

function nodesOf(fields: Fields, at: (path: string) => string): Map<string, Node> {
  const nodes = new Map<string, Node>();
  asList(fields.nodes, at("nodes"), "a list of nodes").forEach((entry, i) => {
    const { id, kind, tuple } = asObject<NodeFields>(entry, at(`nodes[${i}]`));
    const name = asText(id, at(`nodes[${i}].id`));
    if (nodes.has(name)) throw new InputError(at(`nodes[${i}].id`), "an id not used before", name);
    if (kind !== "compute" && kind !== "switch") refuse(at(`nodes[${i}].kind`), '"compute" or "switch"', kind);
    nodes.set(name, { kind, tuple });
  });
  return nodes;
}

/** Returns the ids of the NPUs: `compute_order`, which must list each once, else the order of the nodes. */
function orderOf(fields: Fields, nodes: ReadonlyMap<string, Node>, at: (path: string) => string): string[] {
  const compute = [...nodes].flatMap(([id, { kind }]) => (kind === "compute" ? [id] : []));
  if (fields.compute_order === undefined) return compute;
  const order = asList(fields.compute_order, at("compute_order")).map((id, i) => {
    const place = at(`compute_order[${i}]`);
    const name = asText(id, place);
    if (nodes.get(name)?.kind !== "compute") throw new InputError(place, "the id of a compute node", name);
    return name;
  });
  if (order.length !== compute.length || new Set(order).size !== order.length) {
    throw new InputError(
      at("compute_order"),
      `each of the ${compute.length} compute nodes once`,
      inWords(`${order.length} ids`),
    );
  }
  return order;
}

/** Returns the group of a node whose tuple is (box, kind, index); nodes outside boxes have box -1. */
function traitsOf(tuple: unknown): { readonly group?: string } {
  const box = Array.isArray(tuple) && tuple.length === 3 ? tuple[0] : undefined;
  return Number.isInteger(box) && box >= 0 ? { group: `box${box}` } : {};
}
