import { InputError, shown } from "../base/errors.ts";
import type { TopologyOptions } from "../import/networks/topology-options.ts";
import { looksLikePreset, presetMeant, presetTopology } from "../model/presets/preset.ts";
import type { Sketch } from "../model/sketch/sketch.ts";
import type { Topology } from "../model/topology/topology.ts";
import { changedNetwork, topologyOptions } from "../request/network-from-texts.ts";
import { type Options, textOf } from "../request/option-table.ts";
import { headOf, nameOf, nearestFile, openSource, STANDARD_INPUT, statOf, textFrom } from "./files/input-file.ts";

/**
 * Returns the network of a file (where there is one of that name; "-": standard input) or of a preset expression, as it is.
 * Throws InputError.
 */
async function given(text: string, open: TopologyOptions): Promise<Topology> {
  const preset = looksLikePreset(text);
  const stats = text === STANDARD_INPUT ? null : statOf(text, "the topology");
  if (stats !== null && (stats === undefined ? !preset : stats.isDirectory() && !preset)) {
    if (stats !== undefined) throw new InputError("the topology", "a file or a preset, not a folder,", text);
    if (/^[a-z]+:\/\//i.test(text))
      throw new InputError("the topology", "a file or a preset", text).saying(
        `${shown(text)} is an address; networks are read from files: download it, and name the file`,
      );
    const file = nearestFile(text);
    const meant = file === null ? presetMeant(text) : JSON.stringify(file);
    const all = "`banyan list presets` lists presets";
    throw new InputError(
      "the topology",
      `a file that exists or a preset of \`banyan list presets\`${meant === null ? "" : `; did you mean ${meant}?`}`,
      text,
    ).saying(
      `${shown(text)} is neither a file nor a preset of a network; ${meant === null ? all : `did you mean ${meant}? (${all})`}`,
    );
  }
  // The readers, and their libraries with them, are loaded only for a file.
  if (stats === undefined || stats?.isDirectory() === true) {
    if (Object.keys(open).length > 0) (await import("../import/networks/network-formats.ts")).refuseOptions(open, text);
    return presetTopology(text);
  }
  const { looksLikeBys, readBysTopology } = await import("../import/schedules/bys.ts");
  const source = openSource(text, "the topology");
  const { readTopology, refuseOptions } = await import("../import/networks/network-formats.ts");
  if (!looksLikeBys(headOf(source))) {
    const content = textFrom(source, text, "the topology");
    try {
      return readTopology(content, nameOf(text), open);
    } catch (error) {
      // of what is wrong with the whole file it is said what the file is
      if (!(error instanceof InputError) || error.place !== nameOf(text)) throw error;
      const { notWanted } = await import("./files/what-it-is.ts");
      const why = await notWanted(content, nameOf(text), "a network");
      throw why === null ? error : error.saying(why.why);
    }
  }
  refuseOptions(open, text);
  return readBysTopology(source, text);
}

/** Returns the network of TOPO with its --without and --degrade, and without them; else as `networkOf`. */
export async function networksOf(
  text: string,
  options: Options,
  usual: TopologyOptions = {},
): Promise<{ readonly topology: Topology; readonly whole: Topology }> {
  const open = { ...usual, ...topologyOptions(options) };
  return changedNetwork(options, () => given(text, open));
}

/**
 * Returns the network of TOPO with its --without and --degrade; `usual`: what its file leaves open where options do not say it.
 * Throws InputError.
 */
export const networkOf = async (text: string, options: Options, usual: TopologyOptions = {}): Promise<Topology> =>
  (await networksOf(text, options, usual)).topology;

/**
 * Returns the network of TOPO with its --without and --degrade, and the sketch of --sketch, which is one of the whole network and
 * tells how many nodes there are where nothing else does. Throws InputError.
 */
export async function networkAndSketch(
  text: string,
  options: Options,
): Promise<{ readonly topology: Topology; readonly sketch?: Sketch }> {
  const path = textOf(options, "sketch");
  if (path === undefined) return { topology: await networkOf(text, options) };
  const { readSketchFile, sketchFileNodes } = await import("./files/sketch-file.ts");
  const usualNodes = await sketchFileNodes(path);
  const { topology, whole } = await networksOf(text, options, usualNodes === null ? {} : { usualNodes });
  return { topology, sketch: await readSketchFile(path, whole) };
}
