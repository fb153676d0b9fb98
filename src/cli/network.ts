import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { InputError } from "../base/errors.ts";
import type { TopologyOptions } from "../import/networks/topology-options.ts";
import { looksLikePreset, PRESETS, presetTopology } from "../model/presets/preset.ts";
import { closest } from "../model/topology/closest.ts";
import type { Topology } from "../model/topology/topology.ts";
import { changedNetwork, topologyOptions } from "../request/network-from-texts.ts";
import type { Options } from "../request/option-table.ts";
import { headOf, nameOf, openSource, STANDARD_INPUT, statOf, textFrom } from "./files/input-file.ts";

/** Returns what a text that is neither a file nor a preset was perhaps meant to be: a file's or a preset's name. */
function near(text: string): string {
  const folder = dirname(text);
  let files: string[] = [];
  try {
    files = readdirSync(folder).map((name) => (text.startsWith(".") || folder !== "." ? join(folder, name) : name));
  } catch {
    // no such folder
  }
  const file = closest(text, files);
  const preset = closest(
    text.split(/[:@,*\d]/, 1)[0] as string,
    PRESETS.map(({ name }) => name),
  );
  const form = PRESETS.find(({ name }) => name === preset)?.form;
  const found = file ?? form;
  return found === undefined ? "" : `; did you mean ${JSON.stringify(found)}?`;
}

/**
 * Returns the network of a file (where there is one of that name; "-": standard input) or of a preset expression, as it is.
 * Throws InputError.
 */
async function given(text: string, open: TopologyOptions): Promise<Topology> {
  const preset = looksLikePreset(text);
  const stats = text === STANDARD_INPUT ? null : statOf(text, "the topology");
  if (stats !== null && (stats === undefined ? !preset : stats.isDirectory() && !preset)) {
    if (stats !== undefined) throw new InputError("the topology", "a file or a preset, not a folder,", text);
    const expected = `a file that exists or a preset (see \`banyan list presets\`${near(text)})`;
    throw new InputError("the topology", expected, text);
  }
  // The readers, and their libraries with them, are loaded only for a file.
  if (stats === undefined || stats?.isDirectory() === true) {
    if (Object.keys(open).length > 0) (await import("../import/networks/network-formats.ts")).refuseOptions(open, text);
    return presetTopology(text);
  }
  const { looksLikeBys, readBysTopology } = await import("../import/schedules/bys.ts");
  const source = openSource(text, "the topology");
  const { readTopology, refuseOptions } = await import("../import/networks/network-formats.ts");
  if (!looksLikeBys(headOf(source))) return readTopology(textFrom(source, text, "the topology"), nameOf(text), open);
  refuseOptions(open, text);
  return readBysTopology(source, text);
}

/**
 * Returns the network of TOPO with its --without and --degrade; `usual`: what its file leaves open where options do not say it.
 * Throws InputError.
 */
export async function networkOf(text: string, options: Options, usual: TopologyOptions = {}): Promise<Topology> {
  const open = { ...usual, ...topologyOptions(options) };
  return (await changedNetwork(options, () => given(text, open))).topology;
}
