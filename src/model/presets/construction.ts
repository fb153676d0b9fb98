import { unlessRefused } from "../../base/errors.ts";
import { type Construction, constructionText, graphOf, sizeOf } from "../direct/construction.ts";
import { arcSources, type Digraph, networkOf } from "../direct/digraph.ts";
import { beginsConstruction, parseConstruction } from "../direct/parse.ts";
import { linkCount, switchCount, type Topology } from "../topology/topology.ts";
import { DEFAULT_BYTES_PER_SECOND, DEFAULT_LATENCY_PS, parseExpression, perDimension } from "./expression.ts";

/** Networks written as constructions of graphs, all links equal: `L3(C(16,{3,4}))@25Gbps,10us`. */

const headOf = (text: string): string => text.split("@", 1)[0].trim();

/**
 * Returns whether a text is written like a construction: a name of letters and digits with a bracket behind it, or a family's
 * name with nothing that constructions do not have; a word in small letters or with digits (K5, and not h200) only where it is one. Paths, presets
 * with a colon and documents are not.
 */
export function looksLikeConstruction(text: string): boolean {
  const head = headOf(text);
  if (/[/\\\n:"]/.test(head) || /\.[a-z]+$/i.test(text.trim())) return false;
  const [start, word, digits] = /^(?:\(\s*)*([A-Za-z]+|Π)(\d*)/.exec(head) ?? [];
  if (start === undefined) return false;
  if (/^[\s^□]*\(/.test(head.slice(start.length))) return true;
  if (!beginsConstruction(word) && !beginsConstruction(word + digits)) return false;
  if (/^[a-z]{2,}$|^[A-Za-z]+\d+$/.test(head)) return unlessRefused(() => parseConstruction(head)) !== null;
  return /^[A-Za-z0-9(){},^*_□×Π\s]+$/.test(head);
}

/**
 * Returns the network of a construction, with the link's bandwidth and latency after `@`: NPU v is node v of the graph, links are
 * its arcs in order without self-loops. The shape is that of a known group of translations. Throws InputError, for a malformed
 * construction with a caret under the place.
 */
export function constructionTopology(expression: string): Topology {
  const head = headOf(expression);
  const construction = parseConstruction(head);
  const { text, bandwidths, latencies } = parseExpression(expression);
  const [bytesPerSecond] = perDimension(bandwidths, 1, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [latencyPs] = perDimension(latencies, 1, DEFAULT_LATENCY_PS, "latency", text);
  const graph = graphOf(construction);
  const given = bandwidths.length > 0 || latencies.length > 0;
  const sources = [
    `graph ${constructionText(construction)} (Zhao 2026, tables 3.3, A.2 and A.3)`,
    given ? "bandwidth and latency as given (50 GB/s, 0.5 us where not)" : "default link: 50 GB/s, 0.5 us",
  ];
  const shape = graph.translations ?? [];
  return networkOf(graph, text, { bytesPerSecond, latencyPs }, { shape, sources }).topology;
}

/**
 * Returns the construction that a network's name writes, if the network is that of the construction: the same NPUs and links, all
 * links equal. Null for every other network. O(links), and O(1) where the name is of another kind.
 */
export function constructionOf(topology: Topology): Construction | null {
  if (!looksLikeConstruction(topology.name) || switchCount(topology) > 0) return null;
  return unlessRefused(() => {
    const construction = parseConstruction(headOf(topology.name));
    const { nodes, degree } = sizeOf(construction);
    if (nodes !== topology.npuCount || nodes * degree < linkCount(topology)) return null;
    return isNetworkOf(graphOf(construction), topology) ? construction : null;
  });
}

/** Returns whether a network's links are the arcs of a graph in order, without self-loops, and all equal. O(arcs). */
function isNetworkOf(graph: Digraph, topology: Topology): boolean {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const source = arcSources(graph);
  let link = 0;
  for (let arc = 0; arc < source.length; arc++) {
    if (source[arc] === graph.target[arc]) continue;
    if (linkSource[link] !== source[arc] || linkTarget[link] !== graph.target[arc]) return false;
    if (linkBytesPerSecond[link] !== linkBytesPerSecond[0] || linkLatencyPs[link] !== linkLatencyPs[0]) return false;
    link++;
  }
  return link === linkSource.length;
}
