import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { InputError } from "../errors.ts";
import { parseProfileSize, type TacclOptions } from "../import/taccl-topology.ts";
import { closest } from "../model/closest.ts";
import { degrade, without } from "../model/modify.ts";
import { looksLikePreset, PRESETS, presetTopology } from "../model/presets/preset.ts";
import type { Topology } from "../model/topology.ts";
import { headOf, openSource, textFrom } from "./input-file.ts";
import type { Options } from "./protocol.ts";
import { degradations, listOf, textOf, wholeNumber } from "./values.ts";

/** Returns the options that only a TACCL file takes; null where none is given. */
function tacclOptions(options: Options): TacclOptions | null {
  const nodes = wholeNumber(textOf(options, "nodes"), "--nodes", 1);
  const profileScale = wholeNumber(textOf(options, "profileScale"), "--profile-scale", 1);
  const size = textOf(options, "profileSize");
  const given: TacclOptions = {
    ...(nodes === undefined ? {} : { nodes }),
    ...(profileScale === undefined ? {} : { profileScale }),
    ...(size === undefined ? {} : { profileSizeBytes: parseProfileSize(size) }),
  };
  return Object.keys(given).length === 0 ? null : given;
}

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

/** Returns the network of a file (where there is one of that name) or of a preset expression, as it is. Throws InputError. */
async function given(text: string, options: Options): Promise<Topology> {
  const taccl = tacclOptions(options);
  const preset = looksLikePreset(text);
  const stats = statSync(text, { throwIfNoEntry: false });
  if (stats === undefined ? !preset : stats.isDirectory() && !preset) {
    if (stats !== undefined) throw new InputError("the topology", "a file or a preset, not a folder,", text);
    const expected = `a file that exists or a preset (see \`banyan list presets\`${near(text)})`;
    throw new InputError("the topology", expected, text);
  }
  const refuseTaccl = (content: string): void => {
    if (taccl === null || content.includes('"gpus_per_node"')) return;
    throw new InputError("--nodes, --profile-size and --profile-scale", "a TACCL topology file beside them", text);
  };
  if (stats === undefined || stats.isDirectory()) {
    refuseTaccl("");
    return presetTopology(text);
  }
  // The readers, and the CSV library with them, are loaded only for a file.
  const { looksLikeBys, readBysTopology } = await import("../import/bys.ts");
  const source = openSource(text, "the topology");
  const isBys = looksLikeBys(headOf(source));
  const content = isBys ? "" : textFrom(source, text, "the topology");
  refuseTaccl(content);
  if (isBys) return readBysTopology(source, text);
  const { readTopology } = await import("../import/recognise.ts");
  return readTopology(content, text, taccl ?? {});
}

/** Returns the network of TOPO with its --without and --degrade. Throws InputError. */
export async function networkOf(text: string, options: Options): Promise<Topology> {
  const gone = textOf(options, "without");
  const slow = textOf(options, "degrade");
  const whole = await given(text, options);
  const rest =
    gone === undefined ? whole : without(whole, listOf(gone, "--without", "names of NPUs, switches and links"));
  return slow === undefined ? rest : degrade(rest, degradations(slow));
}
