import { jsonText } from "../../base/visible.ts";
import { PS_PER_US, toGBps, toUs } from "../../model/numbers/units.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";

/**
 * Returns the text of a `banyan-topology` file (version 1) that reads back to the same network, links in the same order.
 * Two links that follow one another and differ only in direction are written as one that is `bidirectional`.
 */
export function topologyToJson(topology: Topology): string {
  return `${[...topologyJsonParts(topology)].join("")}\n`;
}

/**
 * Yields the parts of that text without the line break at the end. `indent` stands before every line but the first;
 * `hash`, where given, is written beside the name; `before`: fields that come first.
 */
export function* topologyJsonParts(
  topology: Topology,
  indent = "",
  { hash, before = {} }: { readonly hash?: string; readonly before?: object } = {},
): Generator<string> {
  const inner = `\n${indent}  `;
  yield "{";
  for (const [name, value] of Object.entries(before)) yield `${inner}${JSON.stringify(name)}: ${jsonText(value)},`;
  yield `${inner}"format": "banyan-topology",${inner}"version": 1,${inner}"name": ${jsonText(topology.name)},`;
  if (hash !== undefined) yield `${inner}"hash": "${hash}",`;
  if (topology.shape.length > 0) yield `${inner}"shape": [${topology.shape.join(", ")}],`;
  if (topology.sources.length > 0) {
    yield `${inner}"sources": [${topology.sources.map((source) => `${inner}  ${jsonText(source)}`).join(",")}${inner}],`;
  }
  if (topology.measured !== undefined) {
    const { fromBytes, toBytes } = topology.measured;
    yield `${inner}"measured": { "fromBytes": ${fromBytes}, "toBytes": ${toBytes} },`;
  }
  yield* block(inner, "nodes", nodeLines(topology), ",");
  yield* block(inner, "links", linkLines(topology), "");
  yield `\n${indent}}`;
}

/** Yields `"name": [ ... ]` with one entry a line. */
function* block(inner: string, name: string, entries: Iterable<string>, end: string): Generator<string> {
  yield `${inner}"${name}": [`;
  let first = true;
  for (const entry of entries) {
    yield `${first ? "" : ","}${inner}  ${entry}`;
    first = false;
  }
  yield first ? `]${end}` : `${inner}]${end}`;
}

function* nodeLines(topology: Topology): Generator<string> {
  for (const [node, name] of topology.nodeNames.entries()) {
    const { group, multicast, aggregation } = topology.nodeTraits[node];
    const fields = [`"id": ${jsonText(name)}`, `"kind": "${node < topology.npuCount ? "npu" : "switch"}"`];
    if (group !== undefined) fields.push(`"group": ${jsonText(group)}`);
    if (multicast !== undefined) fields.push(`"multicast": ${multicast}`);
    if (aggregation !== undefined) fields.push(`"aggregation": ${aggregation}`);
    yield `{ ${fields.join(", ")} }`;
  }
}

function* linkLines(topology: Topology): Generator<string> {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeNames } = topology;
  const count = linkCount(topology);
  for (let link = 0; link < count; link++) {
    const from = linkSource[link];
    const to = linkTarget[link];
    const next = link + 1;
    const both =
      next < count &&
      linkSource[next] === to &&
      linkTarget[next] === from &&
      linkBytesPerSecond[next] === linkBytesPerSecond[link] &&
      linkLatencyPs[next] === linkLatencyPs[link];
    const ends = `"from": ${jsonText(nodeNames[from])}, "to": ${jsonText(nodeNames[to])}`;
    const figures = `${bandwidthField(linkBytesPerSecond[link])}, ${latencyField(linkLatencyPs[link])}`;
    yield `{ ${ends}, ${figures}${both ? ', "bidirectional": true' : ""} }`;
    if (both) link++;
  }
}

/**
 * Returns the bandwidth in GB/s where that double reads back to the same whole bytes per second (always below 2^51), else
 * as a text in bytes per second.
 */
function bandwidthField(bytesPerSecond: number): string {
  const gbps = toGBps(bytesPerSecond);
  return Math.round(gbps * 1e9) === bytesPerSecond ? `"bandwidthGBps": ${gbps}` : `"bandwidth": "${bytesPerSecond}B/s"`;
}

/** Returns the latency in us where that double reads back to the same whole picoseconds, else as a text in picoseconds. */
function latencyField(ps: number): string {
  const us = toUs(ps);
  return Math.round(us * PS_PER_US) === ps ? `"latencyUs": ${us}` : `"latency": "${ps}ps"`;
}
