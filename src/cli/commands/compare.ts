import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { jsonText, textWidth, visible } from "../../base/visible.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { comparisonSvg } from "../../export/pictures/svg-comparison.ts";
import { ncclTestsJson, ncclTestsTable } from "../../export/tables/nccl-tests.ts";
import { TUNER_FORMATS, TUNERS, type TunerFormat } from "../../export/tables/tuners.ts";
import { looksLikeBys } from "../../import/schedules/bys.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { busFactor, collectiveName, type NamedCollective } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { spelt } from "../../model/topology/closest.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { percent, timeText } from "../../report/amounts.ts";
import {
  COMPARE_TARGETS,
  type CompareTarget,
  type Comparison,
  type ComparisonRow,
  LIBRARY_OF,
} from "../../report/comparison.ts";
import { comparisonCsv } from "../../report/comparison-csv.ts";
import { membershipOf, synthesisOptions } from "../../request/from-texts.ts";
import { optionValue, placeOf, refuseOptions, textOf, wordOf } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { namedCollective } from "../../request/values.ts";
import { compare } from "../../run/compare.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { type OwnLine, ownLine } from "../../run/own/own-lines.ts";
import { ALGORITHMS, algorithmNamed } from "../../synthesize/catalog.ts";
import { demandCollective } from "../collective-option.ts";
import { answerText, type Context, noteExtrapolation, outRows, reportText } from "../context.ts";
import { withEngine } from "../engine.ts";
import { nameOf, openSource } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { notWanted, whatItIs } from "../files/what-it-is.ts";
import { networkAndSketch, networkOf } from "../network.ts";
import { comparisonLines, gbps } from "../reports/comparison-lines.ts";
import { aligned } from "../reports/text.ts";
import { version } from "../version.ts";

const FORMATS = ["table", "csv", "json", "jsonl", "nccl-tests", "nccl-tests-json", ...TUNER_FORMATS, "svg"] as const;

/** What a file is written as where nobody says a format. */
const BY_ENDING: Readonly<Record<string, (typeof FORMATS)[number]>> = {
  ".csv": "csv",
  ".json": "json",
  ".jsonl": "jsonl",
  ".svg": "svg",
};

/** 1 KiB, 1 MiB, 1 GiB */
const USUAL_SIZES: readonly number[] = [2 ** 10, 2 ** 20, 2 ** 30];

/** `banyan compare TOPO --collective C --sizes S,...`: a row per size and algorithm. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, signal } = context;
  refuseUnknownTuner(textOf(options, "format"));
  const format = wordOf(options, "format", FORMATS);
  if (json && format !== undefined && format !== "json" && format !== "jsonl")
    throw new InputError(optionName("format"), "json, jsonl, or nothing, beside --json", format);
  const path = textOf(options, "output");
  if (format === undefined && path !== undefined) refuseEnding(path, [".txt", ...Object.keys(BY_ENDING)]);
  const written = format ?? (json ? "json" : (BY_ENDING[/\.\w+$/.exec(path ?? "")?.[0] ?? ""] ?? "table"));
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  await demandCollective(options, () => networkOf(args[0] as string, options));
  const collective = namedCollective(textOf(options, "collective") as string);
  const algorithms = optionValue(options, "algorithms")?.map(
    (name) => algorithmNamed(name, [], placeOf("algorithms")).name,
  );
  const request = {
    collective,
    sizesBytes: optionValue(options, "sizes") ?? USUAL_SIZES,
    ...(algorithms === undefined ? {} : { algorithms }),
    programs: options["programs"] === true,
    ...targetAsked(options, written),
    ...membershipOf(options),
    ...synthesisOptions(options),
  };
  const { topology, sketch } = await networkAndSketch(args[0] as string, options);
  noteExtrapolation(context, topology, request.sizesBytes);
  const shows = output === undefined || json;
  const live = shows ? liveLines(context, written, topology, request.sizesBytes) : null;
  const comparison = await withEngine(context, async (engine) =>
    compare(engine, topology, {
      ...request,
      ...(sketch && { sketch }),
      own: await ownLines(context, engine.kernels, topology, collective),
      signal,
      onLine: ({ sizeBytes, algorithm, done, total }) =>
        // lines take from milliseconds to minutes: no rate of theirs says how long the rest takes
        context.progress({ what: `comparing ${algorithm} at ${formatSize(sizeBytes)} (${done + 1} of ${total})` }),
      onRow: (row, soFar) => {
        live?.shown(row);
        const stopped: Comparison = { ...soFar(), stopped: true };
        context.keep(`${live?.erased() ?? ""}${textIn(context, written, stopped, topology)}`);
      },
    }),
  );
  const text = textIn(context, written, comparison, topology);
  output?.write([written === "jsonl" ? `${comparison.rows.map(jsonLine).join("")}${text}` : text]);
  if (shows) context.out(`${live?.erased() ?? ""}${text}`);
  return 0;
}

/** Returns what --target says, for requests. Throws InputError, for a tuner of another library than the target's too. */
function targetAsked(
  options: Context["options"],
  format: (typeof FORMATS)[number],
): { readonly target?: CompareTarget } {
  const target = wordOf(options, "target", COMPARE_TARGETS);
  if (target === undefined) return {};
  if (isTuner(format) && !TUNERS[format].libraries.includes(LIBRARY_OF[target])) {
    const fit = COMPARE_TARGETS.filter((one) => TUNERS[format].libraries.includes(LIBRARY_OF[one]));
    throw new InputError(
      placeOf("target"),
      `${fit.join(", ")}, or nothing, beside ${placeOf("format")} ${format}`,
      target,
    );
  }
  refuseOptions(options, ["programs"], `nothing beside ${placeOf("target")}, which says whose,`);
  return { target };
}

const isTuner = (format: string): format is TunerFormat => Object.hasOwn(TUNERS, format);

/** Throws InputError, with the libraries that have one, for a tuner of any other. */
function refuseUnknownTuner(format: string | undefined): void {
  if (format === undefined || !format.startsWith("tuner-") || spelt(format, FORMATS) !== undefined) return;
  const known = TUNER_FORMATS.map((name) => `${name} (${TUNERS[name].reader})`).join(", ");
  throw new InputError(placeOf("format"), `of a library that is modelled: ${known}`, format).as("unknown-name");
}

/** Returns the lines of the files of --with. Throws InputError for the first that is of no use here. */
async function ownLines(
  context: Context,
  kernels: Kernels,
  topology: Topology,
  collective: NamedCollective,
): Promise<OwnLine[]> {
  const { options } = context;
  const request = { collective, ...membershipOf(options) };
  const lines: OwnLine[] = [];
  for (const file of optionValue(options, "with") ?? []) {
    context.progress({ what: `reading ${file}` });
    const source = openSource(file, placeOf("with"));
    const bytes = source.read(0, source.size);
    const wrong = looksLikeBys(bytes) ? null : await otherThan(bytes, nameOf(file));
    if (wrong !== null) throw new InputError(placeOf("with"), "a schedule or program", wrong.found).saying(wrong.why);
    const asked = { topology, request, collective: problemOf(topology, { ...request, chunks: 1 }).collective, kernels };
    lines.push(await ownLine(bytes, nameOf(file), asked));
  }
  return lines;
}

/** Returns why a file is no schedule or program where it is known to be something else; null otherwise. */
async function otherThan(bytes: Uint8Array, file: string): ReturnType<typeof notWanted> {
  const text = utf8Text(bytes, file);
  const told = await whatItIs(text, file);
  return told === null || told.kind === "schedule" || told.kind === "program"
    ? null
    : notWanted(text, file, "a schedule or program");
}

/** A row of JSON lines. */
const jsonLine = (row: Omit<ComparisonRow, "best">): string =>
  `${jsonText({ schema: "banyan/comparison-row@1", ...row, best: undefined })}\n`;

/** What is shown of each row as soon as it is finished. */
interface Live {
  shown(row: Omit<ComparisonRow, "best">): void;
  /** Returns what takes the rows that were shown away again, so that the whole table may stand in their place. */
  erased(): string;
}

/** Returns what shows rows as they are finished: JSON lines, or a table that grows on a terminal; null for all else. */
function liveLines(
  context: Context,
  written: (typeof FORMATS)[number],
  topology: Topology,
  sizes: readonly number[],
): Live | null {
  const { terminal, style, quiet } = context;
  if (written === "jsonl") return { shown: (row) => void context.out(jsonLine(row)), erased: () => "" };
  if (written !== "table" || terminal === null || quiet) return null;
  let lines = 0;
  const put = (cells: readonly string[]): void => {
    const line = `  ${aligned([cells], LIVE_ALIGN).join("")}`;
    // a line that wraps, or has left the screen, cannot be taken away again
    lines += textWidth(line) < terminal.columns ? 1 : terminal.rows;
    outRows(context, [style.dim(line)]);
  };
  const sizeWidth = Math.max(...sizes.map((size) => formatSize(size).length));
  const names = ALGORITHMS.map(({ name }) => name.length);
  const widths = [sizeWidth, Math.max(...names), ...LIVE_WIDTHS];
  const padded = (cells: readonly string[]): string[] =>
    cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)));
  return {
    shown(row) {
      if (lines === 0) {
        outRows(context, ["", `  ${networkTitle(topology)}`]);
        lines = 2;
        put(padded(["size", "algorithm", "time", "busbw GB/s", "of limit", "synthesis"]));
      }
      const { sizeBytes, algorithm, us, busbwGBps, ofLimit, synthesisMs, own } = row;
      const synthesis = own === undefined ? timeText(synthesisMs * 1000) : own;
      put(padded([formatSize(sizeBytes), algorithm, timeText(us), gbps(busbwGBps), percent(ofLimit), synthesis]));
    },
    erased: () => (lines === 0 || lines >= terminal.rows ? "" : `\u001b[${lines}A\u001b[J`),
  };
}

/** Columns of the table that grows, behind size and algorithm. */
const LIVE_WIDTHS = [10, 10, 8, 10];
const LIVE_ALIGN = ["left", "left", "right", "right", "right", "right"] as const;

const networkTitle = ({ name }: Topology): string => `${visible(name)}, lines as they are finished`;

/** Returns a comparison in a format; what that cannot say is noted. */
function textIn(
  context: Context,
  format: (typeof FORMATS)[number],
  comparison: Comparison,
  topology: Topology,
): string {
  const { rows } = comparison;
  const collective = comparison.collective as NamedCollective;
  const run = { collective, ranks: ranksOf(context, topology), network: topology.name, version, rows };
  switch (format) {
    case "json":
      return answerText(context, comparison, { ok: comparison.stopped !== true });
    case "jsonl":
      return answerText(context, comparison, { ok: comparison.stopped !== true, indent: 0 });
    case "csv":
      return comparisonCsv(comparison);
    case "nccl-tests":
      return ncclTestsTable(run);
    case "nccl-tests-json":
      return ncclTestsJson(run);
    case "svg":
      return plot(comparison, run.ranks);
    case "table":
      return reportText(context, comparisonLines(comparison, topology, context));
    default:
      return tunerText(context, format, comparison, { nodes: boxesOf(topology), ranks: run.ranks });
  }
}

/**
 * Returns a file that tells a library which of its own algorithms to use; by the times that its own kernels take where a target was
 * named. Sizes that it does not say are noted.
 */
function tunerText(
  context: Context,
  format: TunerFormat,
  { rows, target, collective }: Comparison,
  where: { readonly nodes: number; readonly ranks: number },
): string {
  const { reader, write } = TUNERS[format];
  const own = rows.map((row) => ({ ...row, us: row.libraryUs ?? Number.POSITIVE_INFINITY }));
  const { text, leftOut, beyond } = write(target === undefined ? rows : own, {
    collective: collective as NamedCollective,
    ...where,
  });
  const left = (sizes: readonly number[], why: string): void => {
    for (const size of sizes) context.note(`${reader} keeps its own choice for ${formatSize(size)}: ${why}`);
  };
  left(leftOut, "none of its algorithms was compared for it");
  left(beyond, "its file says no size as large");
  return text;
}

/** Returns bus bandwidth over size, with the limit and what NCCL's model says. */
function plot({ topology, collective, rows, limits, references }: Comparison, ranks: number): string {
  const factor = busFactor(collective as NamedCollective, ranks);
  const lines = {
    limits: limits.map(({ sizeBytes, limit: { us, algbwGBps } }) => ({
      sizeBytes,
      algorithm: "limit",
      us,
      busbwGBps: algbwGBps === null ? null : algbwGBps * factor,
    })),
    references: references.map((reference) => ({ ...reference, algorithm: reference.name })),
  };
  const title = `${collectiveName(collective)} on ${topology.name}`;
  return [...comparisonSvg(rows, { title, show: "busbw", ...lines })].join("");
}

/** NPUs that take part. */
const ranksOf = ({ options }: Context, { npuCount }: Topology): number => {
  const group = textOf(options, "group");
  return group === undefined ? npuCount : (group.split(";", 1)[0] as string).split(",").length;
};

/** Boxes of GPUs, by the groups of the network; 1 where there are none. */
const boxesOf = ({ nodeTraits, npuCount }: Topology): number =>
  new Set(nodeTraits.slice(0, npuCount).map(({ group }) => group ?? "")).size;
