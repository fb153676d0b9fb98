import { basename, join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { atlasPage } from "../../export/pictures/html-atlas.ts";
import {
  type AtlasIndex,
  type AtlasSchedule,
  INDEX_FILE,
  NETWORK_FILE,
  type OptionTexts,
  PAGE_FILE,
} from "../../model/atlas/atlas-index.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologySummary } from "../../report/result.ts";
import {
  flagOf,
  NETWORK_OPTIONS,
  type OptionId,
  type Options,
  optionsOf,
  optionValue,
  placeOf,
  refuseOptions,
  textOf,
} from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import { type AtlasRequest, type AtlasWorld, emptyAtlas, extendAtlas } from "../../run/atlas/extend.ts";
import { failureList } from "../../run/atlas/failure-lists.ts";
import { namesHeard } from "../../run/atlas/lookup.ts";
import type { SweepEngine } from "../../sweep/engine.ts";
import { openFolder } from "../../sweep/folder.ts";
import type { Journal } from "../../sweep/journal.ts";
import { openSweepEngine } from "../../sweep/open-engine.ts";
import { performing } from "../../sweep/perform.ts";
import { openStore, placeInStore } from "../../sweep/store.ts";
import { type Context, noteTaken, outJson, outLines } from "../context.ts";
import { indexIn, indexText, prepareFolder, SCHEDULES } from "../files/atlas-folder.ts";
import { outputFile } from "../files/output-file.ts";
import { networkOf } from "../network.ts";
import { atlasLines } from "../reports/atlas-report.ts";
import { version } from "../version.ts";
import { lookUp, movedInto, rankingAnswer } from "./atlas-lookup.ts";
import { executorsOf } from "./sweep.ts";

/** Where an atlas has what came of its tasks, in its folder. */
const WORK = "work";
const LOCAL = "local";
/** Options of all schedules of an atlas. */
const MAKING: readonly OptionId[] = [
  ...optionsOf("collective").filter((id) => id !== "collective"),
  ...optionsOf("making").filter((id) => !["sketch", "repair", "nvls"].includes(id)),
];
const USUAL: OptionTexts = { size: "1GiB", algorithm: "forestcoll" };
const USUAL_FAILURES = ["links", "switches"];
/** The index is written so often at most while schedules are made. */
const SAVE_EVERY_MS = 2000;

/** `banyan atlas TOPO --collective C,... --failures links,... -o DIR`: every failure planned ahead; `atlas lookup DIR --failed X` finds it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const [first, folder] = args as readonly [string, string?];
  if (first === "lookup") return lookUp(context, folder);
  if (folder !== undefined)
    throw new InputError("the command line", "one network", args.join(" ")).saying(
      `banyan atlas takes one network; the folder is ${flagOf("output")} ${folder}`,
    );
  return make(context, first);
}

/** Returns what options say, as texts by their identity. */
const textsOf = (options: Options, ids: readonly OptionId[]): OptionTexts =>
  Object.fromEntries(
    ids.flatMap((id): [string, string | true][] => {
      const value = options[id];
      return typeof value === "string" || value === true ? [[id, value]] : [];
    }),
  );

const said = (texts: OptionTexts): string =>
  Object.entries(texts)
    .map(([id, text]) => (text === true ? flagOf(id) : `${flagOf(id)} ${text}`))
    .join(" ");

/** Returns the atlas that is in a folder, or a new one. Throws InputError where it is of another network or of other schedules. */
function atlasFor(context: Context, folder: string, given: string, topology: Topology): AtlasIndex {
  const place = placeOf("output");
  const before = indexIn(folder, place);
  const { name, hash, npus, switches, links } = topologySummary(topology);
  const making = textsOf(context.options, MAKING);
  if (before === null) {
    prepareFolder(folder, place);
    const options = textsOf(context.options, NETWORK_OPTIONS);
    const network = { name, hash, npus, switches, links, file: NETWORK_FILE, given, options };
    return emptyAtlas(version, network, { ...USUAL, ...making });
  }
  const { network } = before;
  if (network.hash !== hash)
    throw new InputError(place, `a folder for an atlas of ${name}`, folder).saying(
      `${place} is ${folder}, an atlas of ${network.name} (${network.hash}), and not of ${name} (${hash}); name another folder`,
    );
  for (const [id, text] of Object.entries(making))
    if (before.making[id] !== text)
      throw new InputError(placeOf(id as OptionId), "as in the atlas", text).saying(
        `the schedules in ${folder} are made with ${said(before.making)}, and not with ${said({ [id]: text })}; name another folder`,
      );
  return before;
}

/** Returns what is asked for; what is not said is as the atlas has it. */
function requestFor({ options }: Context, before: AtlasIndex, topology: Topology): AtlasRequest {
  const place = placeOf("collective");
  const there = Object.keys(before.collectives);
  const names = textOf(options, "collective")?.split(",");
  if (names === undefined && there.length === 0)
    throw new InputError(place, "collectives").saying(
      `${place} is missing, e.g. ${place} allgather,allreduce; \`banyan list collectives\` lists all`,
    );
  const collectives = [...new Set(names?.map((name) => namedCollective(name.trim(), place)) ?? there)];
  const on = namesHeard(topology, optionValue(options, "on") ?? []);
  const list = optionValue(options, "failures");
  const known = Object.values(before.collectives).flatMap(({ failures }) => Object.keys(failures));
  const isExtended = list === undefined && on.length === 0 && known.length > 0;
  const failures = isExtended
    ? [...new Set(known)].map((key) => key.split("+"))
    : failureList(topology, list ?? USUAL_FAILURES);
  // what has failed fails no more
  return { collectives, on, failures: failures.filter((names) => !names.some((name) => on.includes(name))) };
}

async function make(context: Context, given: string): Promise<number> {
  const { options } = context;
  refuseOptions(options, ["failed"], `\`banyan atlas lookup DIR ${flagOf("failed")} NAME\``, "not-alone");
  const folder = textOf(options, "output");
  if (folder === undefined)
    throw new InputError(placeOf("output"), "a folder").saying(
      `${placeOf("output")} is missing: the folder of the atlas`,
    );
  const topology = await networkOf(given, options);
  noteTaken(context, topology);
  atlasFor(context, folder, given, topology);
  const work = openFolder(join(folder, WORK));
  try {
    // nobody else adds to it from here on
    return await extendIn(context, folder, atlasFor(context, folder, given, topology), topology, work.journal);
  } finally {
    work.close();
  }
}

/** Adds to the atlas of a folder what is asked for, and reports it. */
async function extendIn(
  context: Context,
  folder: string,
  before: AtlasIndex,
  topology: Topology,
  journal: Journal,
): Promise<number> {
  const { options, json, quiet, signal, style } = context;
  const request = requestFor(context, before, topology);
  const store = await openStore(join(folder, SCHEDULES));
  const write = (name: string, parts: Iterable<string>): void => {
    outputFile({ ...context, inputs: [] }, join(folder, name), placeOf("output")).write(parts);
  };
  const networkText = [...topologyJsonParts(topology)].join("");
  const networkBytes = new TextEncoder().encode(`${networkText}\n`);
  if (Object.keys(before.collectives).length === 0) write(NETWORK_FILE, [`${networkText}\n`]);
  let latest = before;
  let saved = 0;
  const save = (index: AtlasIndex, always = false): void => {
    latest = index;
    if (!always && performance.now() - saved < SAVE_EVERY_MS) return;
    write(INDEX_FILE, [indexText(index)]);
    saved = performance.now();
  };
  const memoryBytes = optionValue(options, "memory") ?? null;
  let engine: SweepEngine | undefined;
  const extend = async (): Promise<AtlasIndex> => {
    const networkSha256 = await store.put(networkBytes);
    const world: AtlasWorld = {
      networkSha256,
      perform: async (tasks, ended) => {
        if (tasks.length === 0) return;
        engine ??= await engineOf(context, folder, store.place, memoryBytes);
        await performing({ engine, journal, version, budget: { timeMs: null, memoryBytes }, signal })(tasks, ended);
      },
      fileOf: (sha256) => placeInStore(SCHEDULES, sha256),
      moved: async (current, kind, one, failed): Promise<AtlasSchedule> => {
        const parts = await movedInto(context, current, kind, topology, folder, one, failed);
        const bytes = Buffer.concat(Array.from(parts(), (part) => Buffer.from(part)));
        const sha256 = await store.put(bytes);
        return {
          ...(one.schedule as AtlasSchedule),
          sha256,
          bytes: bytes.length,
          file: placeInStore(SCHEDULES, sha256),
        };
      },
      save,
      progress: (progress) => context.progress({ ...progress, unit: "schedules" }),
    };
    return extendAtlas(before, topology, request, world);
  };
  const index = await extend()
    .catch((error) => {
      // what was made stays, and the same command goes on there
      if (latest !== before) save(latest, true);
      throw error;
    })
    .finally(() => engine?.close());
  save(index, true);
  write(PAGE_FILE, atlasPage(index, topology));
  if (json) outJson(context, rankingAnswer(index, folder, request.collectives));
  else if (!quiet) {
    const lines = atlasLines(index, request.collectives, style, options["details"] === true);
    outLines(context, [...lines, "", `  folder      ${folder}: ${PAGE_FILE} for people, ${INDEX_FILE} for programs`]);
  }
  return 0;
}

/** Opens the engine that --engine asks for. */
const engineOf = (context: Context, folder: string, store: string, memoryBytes: number | null): Promise<SweepEngine> =>
  openSweepEngine({
    ...{ engine: textOf(context.options, "engine") ?? LOCAL, sweep: `atlas ${basename(folder)}`, version, priority: 0 },
    ...{ store, folder: join(folder, WORK), signal: context.signal, note: context.note },
    backend: textOf(context.options, "backend") ?? null,
    command: [process.execPath, process.argv[1] as string],
    executors: () => executorsOf(context, store, memoryBytes),
  });
