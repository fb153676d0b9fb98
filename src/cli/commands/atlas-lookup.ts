import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { InfeasibleError, InputError, shown } from "../../base/errors.ts";
import { readTopologyJson } from "../../import/networks/topology-json.ts";
import { kindOf } from "../../kinds/kinds.ts";
import {
  type AtlasClass,
  type AtlasIndex,
  INDEX_FILE,
  NETWORK_FILE,
  PAGE_FILE,
  ranked,
} from "../../model/atlas/atlas-index.ts";
import { type Topology, topologyHash } from "../../model/topology/topology.ts";
import {
  flagOf,
  type OptionId,
  type Options,
  optionsOf,
  optionValue,
  placeOf,
  refuseOptions,
  saidText,
  textOf,
} from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import { classFound, namesHeard } from "../../run/atlas/lookup.ts";
import { movedSchedule } from "../../run/atlas/moved.ts";
import { fitsJson } from "../../run/export/schedule-output.ts";
import { answerByName } from "../atlas-by-name.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { indexIn, movedFile, readyFile } from "../files/atlas-folder.ts";
import { readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { scheduleOf } from "../files/schedule-file.ts";
import { atlasLines, rowJson } from "../reports/atlas-report.ts";
import { type LookupAnswer, type LookupResult, lookupLines, NOT_FOUND, resultOf } from "../reports/lookup-report.ts";

/** Longer schedules are .bys files, as those of the atlas are. */
const MOST_JSON = 2 ** 25;

/** Returns what gives the parts of the file of a class's schedule that is moved to another failure of the class. */
export async function movedInto(
  context: Context,
  index: AtlasIndex,
  kind: string,
  topology: Topology,
  folder: string,
  { failed: first, schedule }: AtlasClass,
  failed: readonly string[],
): Promise<() => Iterable<string | Uint8Array>> {
  if (schedule === null) throw new InputError(placeOf("failed"), "a failure that has a schedule", failed.join(","));
  const file = join(folder, schedule.file);
  const own = await scheduleOf({ ...context, options: {} }, file);
  const moved = kindOf(movedSchedule(index, kind, topology, own, first, failed));
  const { json, bys } = moved.forms;
  const isLong = !fitsJson(moved) || (typeof json !== "string" && json.bytes > MOST_JSON);
  const form = isLong && typeof bys !== "string" ? bys : json;
  if (typeof form === "string") throw new InputError(placeOf("failed"), form, failed.join(","));
  const about = { algorithm: schedule.algorithm, movedFrom: first.join(","), movedTo: failed.join(",") };
  return () => form.parts({ about });
}

/** Returns the network of an atlas. Throws InputError where it is not the one that the index is of. */
function networkIn(folder: string, { network }: AtlasIndex): Topology {
  const file = join(folder, NETWORK_FILE);
  const topology = readTopologyJson(readText(file, placeOf("topology")), file);
  if (topologyHash(topology) !== network.hash)
    throw new InputError(file, `the network of the atlas, ${network.name} (${network.hash})`, topologyHash(topology));
  return topology;
}

/** `banyan atlas lookup DIR [--failed X,...] [--collective C] [-o FILE]`: the class of a failure, its figures, its schedule. */
export async function lookUp(context: Context, folder: string | undefined): Promise<number> {
  const { options, json, style, quiet } = context;
  if (folder === undefined)
    throw new InputError("the command line", "the folder of an atlas").saying(
      "banyan atlas lookup needs the folder of an atlas: banyan atlas lookup DIR --failed NAME",
    );
  refuseOptions(
    options,
    [...MADE_WITH, "failures", "on"],
    "nothing beside lookup, which makes no schedules,",
    "not-together",
  );
  const index = indexIn(folder, "the atlas");
  if (index === null)
    throw new InputError("the atlas", "a folder with an index.json", folder).saying(
      `${shown(folder)} is no folder of an atlas`,
    );
  const kinds = kindsAsked(options, index, folder);
  const names = optionValue(options, "failed");
  const path = textOf(options, "output");
  if (names === undefined) {
    refuseOptions(options, ["output"], `${flagOf("failed")} NAME`, "not-alone");
    if (json) outJson(context, rankingAnswer(index, folder, kinds));
    else outLines(context, atlasLines(index, kinds, style, options["details"] === true));
    return 0;
  }
  if (path !== undefined && kinds.length > 1)
    throw new InputError(placeOf("collective"), `one of ${kinds.join(", ")} beside ${flagOf("output")}`).as("missing");
  const output = path === undefined ? null : outputFile(context, path, placeOf("output"));
  const isWanted = output !== null || textOf(options, "collective") !== undefined;
  const quick = answerByName(index, folder, names, kinds, isWanted);
  const answer = quick ?? (await answerByMaps(context, index, folder, names, kinds, isWanted));
  const [ready] = Object.values(answer.results);
  if (output !== null) {
    if (ready?.file == null) throw new InfeasibleError(whyNoFile(answer, kinds[0] as string));
    output.write([readFileSync(ready.file)]);
  }
  const shownAs =
    output === null
      ? answer
      : { ...answer, results: { [kinds[0] as string]: { ...ready, file: output.path } as LookupResult } };
  const isThere = answer.add === null;
  if (json) outJson(context, shownAs, isThere);
  else if (!(quiet && output !== null)) outLines(context, lookupLines(shownAs, style));
  return isThere ? 0 : 1;
}

/** Options that say how schedules are made, or on which network. */
const MADE_WITH: readonly OptionId[] = [
  ...optionsOf("making", "network", "reading"),
  ...optionsOf("collective"),
].filter((id) => id !== "collective");

const whyNoFile = ({ results, add, failed }: LookupAnswer, kind: string): string => {
  const one = results[kind];
  if (one === undefined || !one.found) return `the atlas has no failure ${failed.join(",")}; this adds it: ${add}`;
  return one.why ?? `there is no schedule for ${failed.join(",")} yet`;
};

function kindsAsked(options: Options, { collectives }: AtlasIndex, folder: string): string[] {
  const there = Object.keys(collectives);
  const place = placeOf("collective");
  const names = textOf(options, "collective")?.split(",");
  if (names === undefined) return there;
  const kinds = [...new Set(names.map((name) => namedCollective(name.trim(), place)))];
  const strange = kinds.find((kind) => !there.includes(kind));
  if (strange !== undefined)
    throw new InputError(place, `one of ${folder}: ${there.join(", ")}`, strange).as("unknown-name");
  return kinds;
}

/** Returns what --json says of an atlas that is there. */
export const rankingAnswer = (index: AtlasIndex, folder: string, kinds: readonly string[]) => ({
  schema: "banyan/atlas-report@1",
  folder,
  index: join(folder, INDEX_FILE),
  page: join(folder, PAGE_FILE),
  network: index.network,
  making: index.making,
  collectives: Object.fromEntries(
    kinds.map((kind) => {
      const one = index.collectives[kind] as AtlasIndex["collectives"][string];
      return [kind, { healthy: one.healthy, ranking: ranked(one).map(rowJson) }];
    }),
  ),
});

/** Returns the answer for what the index does not have by name, or has no file for yet. */
async function answerByMaps(
  context: Context,
  index: AtlasIndex,
  folder: string,
  names: readonly string[],
  kinds: readonly string[],
  isWanted: boolean,
): Promise<LookupAnswer> {
  const topology = networkIn(folder, index);
  const heard = namesHeard(topology, names);
  const resultFor = async (kind: string, failed: readonly string[], isMoved: boolean) => {
    const found = classFound(index, kind, topology, failed);
    if (found === null) return { result: NOT_FOUND, failed };
    const collective = index.collectives[kind] as AtlasIndex["collectives"][string];
    let ready = readyFile(folder, found.one, found.failed);
    if (ready === null && isMoved && found.one.schedule !== null) {
      const parts = await movedInto(context, index, kind, topology, folder, found.one, found.failed);
      ready = keepMoved(context, folder, movedFile(found.one.schedule, found.failed), parts());
    }
    const at = ready === null ? null : { ...ready, file: join(folder, ready.file) };
    return { result: resultOf(collective, found.one, at), failed: found.failed };
  };
  const results: Record<string, LookupResult> = {};
  let failed: readonly string[] = heard;
  for (const kind of kinds) {
    const found = await resultFor(kind, names, isWanted);
    results[kind] = found.result;
    if (found.result.found) failed = found.failed;
  }
  const missing = kinds.filter((kind) => results[kind]?.found !== true);
  const alone: Record<string, Record<string, LookupResult>> = {};
  if (missing.length > 0 && heard.length > 1)
    for (const name of heard) {
      const own: Record<string, LookupResult> = {};
      for (const kind of missing) own[kind] = (await resultFor(kind, [name], false)).result;
      alone[name] = own;
    }
  const add = missing.length === 0 ? null : commandToAdd(index, folder, heard, missing);
  return { schema: "banyan/atlas-lookup@1", folder, network: index.network.name, failed, results, add, alone };
}

/** Keeps a schedule that was moved, so that the next lookup has it at once. */
function keepMoved(context: Context, folder: string, file: string, parts: Iterable<string | Uint8Array>) {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  const bytes = outputFile({ ...context, json: false, inputs: [] }, path, "the atlas").write(parts);
  return { file, bytes, isMoved: true };
}

/** Returns the command that adds a failure: on top of the first one, where several failed. */
function commandToAdd(
  { network }: AtlasIndex,
  folder: string,
  failed: readonly string[],
  kinds: readonly string[],
): string {
  const [first = "", ...rest] = failed;
  const own = saidText(network.options as Options, "network", "reading");
  const what =
    rest.length === 0
      ? `${flagOf("failures")} ${quoted(first)}`
      : `${flagOf("on")} ${quoted(first)} ${flagOf("failures")} ${quoted(rest.join("+"))}`;
  return [
    "banyan atlas",
    quoted(network.given),
    ...(own === "" ? [] : [own]),
    `${flagOf("collective")} ${kinds.join(",")}`,
    what,
    `${flagOf("output")} ${quoted(folder)}`,
  ].join(" ");
}

/** Returns a text as a shell takes it as one word. */
const quoted = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
