import { InputError, inWords } from "../../base/errors.ts";
import { parseBandwidth, parseTime } from "../../model/numbers/units.ts";
import type { NodeTraits, Topology } from "../../model/topology/topology.ts";
import { topologyBuilder } from "../../model/topology/topology-builder.ts";
import { baseName } from "./topology-json.ts";

/** The words of a line. */
interface Line {
  readonly words: readonly string[];
  readonly place: string;
}

/** The first line: counts, and for SimAI how GPUs form servers. */
interface Header {
  readonly nodes: number;
  readonly switches: number;
  readonly links: number;
  readonly gpusPerServer: number | null;
  readonly nvSwitches: number;
  readonly gpu: string | null;
}

/** Returns true where a text starts with the counts of an ns-3 or SimAI topology and has a link with a rate. */
export function looksLikeNs3(text: string): boolean {
  return (
    /^\ufeff?[ \t\r\n]*\d+[ \t]+\d+[ \t]+\d+(?:[ \t]+\d+[ \t]+\d+[ \t]+\S+)?[ \t]*\r?\n/.test(text) &&
    /^[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[KMGT]?bps\b/m.test(text)
  );
}

/**
 * Returns the network of a topology text of ns-3 (ASTRA-sim's back end: `nodes switches links`) or SimAI (`nodes
 * gpus_per_server nvswitches other_switches links gpu_type`): then the ids of the switches (NVSwitches first), then a line
 * `a b 200Gbps 0.005ms error_rate` for each link, which runs both ways. Nodes that are no switches are NPUs, in the order of
 * their ids; SimAI's servers are groups. Error rates are not used. Throws InputError with the line. O(text).
 */
export function readNs3(text: string, fileName: string): Topology {
  const lines = linesOf(text, fileName);
  const [first, second, ...rest] = lines;
  if (first === undefined) throw new InputError(fileName, "a first line with the numbers of nodes, switches and links");
  const header = headerOf(first);
  const links = header.switches === 0 ? lines.slice(1) : rest;
  if (links.length !== header.links) {
    throw new InputError(first.place, `as many links as the file has (${links.length})`, header.links);
  }
  if (header.nodes > 2 * links.length + 1) throw new InputError(first.place, "nodes that have links", header.nodes);
  const switchIds = header.switches === 0 ? [] : switchesOf(second, header, first.place);

  const builder = topologyBuilder(baseName(fileName), 2 * links.length);
  const places = new Map(switchIds.map((id, position) => [id, position]));
  let npus = 0;
  for (let id = 0; id < header.nodes; id++) {
    const position = places.get(id);
    builder.addNode(String(id), position === undefined ? "npu" : "switch", traitsOf(header, position, npus));
    if (position === undefined) npus++;
  }
  let withErrors = 0;
  for (const { words, place } of links) {
    if (words.length !== 5) throw new InputError(place, "a link as in 0 8 200Gbps 0.005ms 0", words.join(" "));
    const [a, b, rate, latency, errors] = words as [string, string, string, string, string];
    const [from, to] = [a, b].map((word) => idOf(word, header.nodes, place)) as [number, number];
    if (from === to) throw new InputError(place, "two different nodes", a);
    if (!/^[\d.eE+-]+$/.test(errors)) throw new InputError(place, "an error rate such as 0", errors);
    if (Number(errors) !== 0) withErrors++;
    builder.addDuplex(from, to, parseBandwidth(rate, place), parseTime(latency, place));
  }
  const tool = header.gpusPerServer === null ? "ns-3" : `SimAI (${header.gpu})`;
  const notes = withErrors === 0 ? [] : [`error rates of ${withErrors} links not used`];
  return builder.build({ sources: [`${tool} topology ${fileName}`, ...notes] });
}

function headerOf({ words, place }: Line): Header {
  const expected = "3 counts (nodes switches links) or SimAI's 5 counts and a GPU type";
  const counts = words.slice(0, 5).map((word) => (/^\d{1,8}$/.test(word) ? Number(word) : Number.NaN));
  if ((words.length !== 3 && words.length !== 6) || counts.some(Number.isNaN)) {
    throw new InputError(place, expected, words.join(" "));
  }
  const simai = words.length === 6;
  const [nodes, second, third, fourth = 0, fifth = 0] = counts as [number, number, number, number?, number?];
  const header: Header = simai
    ? {
        nodes,
        gpusPerServer: second,
        nvSwitches: third,
        switches: third + fourth,
        links: fifth,
        gpu: words[5] as string,
      }
    : { nodes, gpusPerServer: null, nvSwitches: 0, switches: second, links: third, gpu: null };
  if (header.switches >= nodes) throw new InputError(place, "more nodes than switches", words.join(" "));
  const npus = nodes - header.switches;
  if (simai && (second === 0 || npus % second !== 0)) {
    throw new InputError(place, `GPUs per server that divide ${npus}`, second);
  }
  return header;
}

function switchesOf(line: Line | undefined, { nodes, switches }: Header, after: string): number[] {
  if (line === undefined) throw new InputError(after, "a second line with the ids of the switches");
  const ids = line.words.map((word) => idOf(word, nodes, line.place));
  if (ids.length !== switches || new Set(ids).size !== switches) {
    throw new InputError(line.place, `${switches} different ids of switches`, inWords(`${ids.length} ids`));
  }
  return ids;
}

function idOf(word: string, nodes: number, place: string): number {
  const id = /^\d{1,8}$/.test(word) ? Number(word) : Number.NaN;
  if (!(id < nodes)) throw new InputError(place, `a node id below ${nodes}`, word);
  return id;
}

/** Returns the server of a GPU or of an NVSwitch, where servers have equally many of these. */
function traitsOf(header: Header, switchPosition: number | undefined, npu: number): NodeTraits {
  const { gpusPerServer, nodes, switches, nvSwitches } = header;
  if (gpusPerServer === null) return {};
  if (switchPosition === undefined) return { group: `box${Math.floor(npu / gpusPerServer)}` };
  const perServer = (nvSwitches * gpusPerServer) / (nodes - switches);
  if (switchPosition >= nvSwitches || !Number.isInteger(perServer)) return {};
  return { group: `box${Math.floor(switchPosition / perServer)}` };
}

function linesOf(text: string, fileName: string): Line[] {
  return text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/)
    .map((line, index) => ({ words: line.split(/\s+/).filter(Boolean), place: `${fileName} line ${index + 1}` }))
    .filter(({ words }) => words.length > 0);
}
