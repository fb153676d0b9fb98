import { InputError } from "../errors.ts";
import type { Topology } from "../model/topology.ts";
import { looksLikeEdgeList, readEdgeList } from "./edge-list.ts";
import { parseJson } from "./json-text.ts";
import { embeddedTopology } from "./schedule-header.ts";
import { looksLikeTaccl, type TacclOptions, tacclTopologyFromJson } from "./taccl-topology.ts";
import { topologyFromJson } from "./topology-json.ts";

const READABLE =
  "a network: banyan-topology JSON, a TACCL topology JSON, a CSV edge list with a header, or a banyan-schedule JSON with its network inside,";

/**
 * Returns the network in a text whose format is told by its content; of a schedule, the network it is for. `options` are
 * for TACCL files. Throws InputError, which names the readable formats where it is none of them.
 */
export function readTopology(text: string, fileName: string, options: TacclOptions = {}): Topology {
  if (/^\ufeff?\s*[{[]/.test(text)) {
    const value = parseJson(text, fileName);
    const format = (value as { readonly format?: unknown }).format;
    if (format === "banyan-topology") return topologyFromJson(value, fileName);
    if (format === "banyan-schedule") return embeddedTopology(value, fileName);
    if (looksLikeTaccl(value)) return tacclTopologyFromJson(value, fileName, options);
    if (format !== undefined) throw new InputError(fileName, READABLE, format);
    throw new InputError(
      fileName,
      READABLE,
      Array.isArray(value) ? "a list" : `an object of ${keysOf(value as object)}`,
    );
  }
  if (looksLikeEdgeList(text)) return readEdgeList(text, fileName);
  if (text.trim() === "") throw new InputError(fileName, READABLE);
  throw new InputError(fileName, READABLE, text.trimStart().slice(0, 40));
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  return keys.length === 0 ? "nothing" : keys.slice(0, 4).join(", ") + (keys.length > 4 ? " ..." : "");
}
