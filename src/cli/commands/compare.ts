import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { jsonText, textWidth, visible } from "../../base/visible.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { comparisonSvg } from "../../export/pictures/svg-comparison.ts";
import { ncclTestsJson, ncclTestsTable } from "../../export/tables/nccl-tests.ts";
import { tunerCsv } from "../../export/tables/tuner.ts";
import { looksLikeBys } from "../../import/schedules/bys.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { busFactor, collectiveName, type NamedCollective } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { RUNTIME_NAMES, type RuntimeName } from "../../model/program/runtimes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count, percent, significant, timeText } from "../../report/amounts.ts";
import type { CompareTarget, Comparison, ComparisonRow, ReferenceRow } from "../../report/comparison.ts";
import { comparisonCsv } from "../../report/comparison-csv.ts";
import { gainText } from "../../report/gains.ts";
import { networkText } from "../../report/subject-text.ts";
import { membershipOf, synthesisOptions } from "../../request/from-texts.ts";
import { optionValue, placeOf, refuseOptions, textOf, wordOf } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { namedCollective } from "../../request/values.ts";
import { compare } from "../../run/compare.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { type OwnLine, ownLine } from "../../run/own/own-lines.ts";
import { LIBRARY_OF } from "../../run/programs/line-programs.ts";
import { ALGORITHMS, algorithmNamed } from "../../synthesize/catalog.ts";
import { demandCollective } from "../collective-option.ts";
import { answerText, type Context, noteExtrapolation, outRows, reportText } from "../context.ts";
import { withEngine } from "../engine.ts";
import { nameOf, openSource } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { notWanted, whatItIs } from "../files/what-it-is.ts";
import { networkAndSketch, networkOf } from "../network.ts";
import { gainLines } from "../reports/gain-lines.ts";
import { type Style, unstyled } from "../reports/style.ts";
import { table } from "../reports/table.ts";
import { aligned, labelled, leftOutLines, reportWidth } from "../reports/text.ts";
import { version } from "../version.ts";

const FORMATS = ["table", "csv", "json", "jsonl", "nccl-tests", "nccl-tests-json", "tuner", "svg"] as const;

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
    ...targetAsked(options),
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

const TARGETS: readonly CompareTarget[] = [...RUNTIME_NAMES, "nccl"];

/** Returns what --target says, for requests. Throws InputError. */
function targetAsked(options: Context["options"]): { readonly target?: CompareTarget } {
  const target = wordOf(options, "target", TARGETS);
  if (target === undefined) return {};
  refuseOptions(options, ["programs"], `nothing beside ${placeOf("target")}, which says whose,`);
  return { target };
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
      return comparisonCsv(rows);
    case "nccl-tests":
      return ncclTestsTable(run);
    case "nccl-tests-json":
      return ncclTestsJson(run);
    case "svg":
      return plot(comparison, run.ranks);
    case "tuner": {
      const { text, leftOut } = tunerCsv(rows, { collective, nodes: boxesOf(topology), ranks: run.ranks });
      for (const size of leftOut)
        context.note(`no algorithm of NCCL's was compared for ${formatSize(size)}: it keeps its own choice`);
      return text;
    }
    case "table":
      return reportText(context, comparisonLines(comparison, topology, context));
  }
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

const gbps = (value: number | null): string => (value === null ? "-" : significant(value));

const timeOrNone = (us: number | null): string => (us === null ? "-" : timeText(us));

/** Returns the cells of a line; the size stands in the first of its size. */
function cellsOf(row: ComparisonRow, isFirst: boolean, hasLibrary: boolean, { bold }: Style): string[] {
  const { programUs, libraryUs } = row;
  const line = [
    isFirst ? formatSize(row.sizeBytes) : "",
    `${row.best ? "*" : " "} ${row.algorithm}`,
    String(row.chunks),
    timeText(row.us),
    ...(programUs === undefined ? [] : [timeOrNone(programUs)]),
    ...(hasLibrary ? [timeOrNone(libraryUs ?? null)] : []),
    gbps(row.algbwGBps),
    gbps(row.busbwGBps),
    percent(row.ofLimit),
    row.own ?? timeText(row.synthesisMs * 1000),
  ];
  return row.best ? line.map((cell) => (cell === "" ? cell : bold(cell))) : line;
}

/** Returns the cells of a model's line, below those of its size. */
function referenceCells(
  { name, us, algbwGBps, busbwGBps }: ReferenceRow,
  more: readonly string[],
  { dim }: Style,
): string[] {
  const program = more.map(() => "");
  return ["", `  ${name}`, "", timeText(us), ...program, gbps(algbwGBps), gbps(busbwGBps), "", ""].map((cell) =>
    cell === "" ? cell : dim(cell),
  );
}

const PROGRAM_NAMES: Readonly<Record<RuntimeName, string>> = {
  msccl: "MSCCL XML for microsoft/msccl",
  azure: "MSCCL XML for Azure's executor",
  rccl: "MSCCL XML for RCCL",
  mscclpp: "an MSCCL++ plan",
  mpi: "a plan for MPI",
};

/** Returns what reads the programs, why some are faster than their schedules, and why some lines have none; equal reasons once. */
function programLines(rows: readonly ComparisonRow[]): string[] {
  const readers = RUNTIME_NAMES.flatMap((reader) => {
    const algorithms = new Set(rows.filter(({ programFor }) => programFor === reader).map((row) => row.algorithm));
    return algorithms.size === 0 ? [] : [`${[...algorithms].join(", ")}: ${PROGRAM_NAMES[reader]}`];
  });
  const faster = new Set(rows.filter((row) => (row.programUs ?? row.us) < row.us).map(({ algorithm }) => algorithm));
  const none = new Map<string, Set<string>>();
  for (const { algorithm, noProgram } of rows)
    if (noProgram !== undefined) none.set(noProgram, (none.get(noProgram) ?? new Set()).add(algorithm));
  return [
    ...readers,
    ...(faster.size === 0
      ? []
      : [
          `${[...faster].join(", ")}: faster than the schedule, for it cuts the data finer and passes it on piece by piece, or lets switches sum`,
        ]),
    ...[...none].map(([reason, algorithms]) => `${[...algorithms].join(", ")}: none, ${reason}`),
  ];
}

const below = (label: string, texts: readonly string[]): string[] =>
  texts.map((text, i) => labelled(i === 0 ? label : "", text));

/** Returns which figures of a network were measured, or else which were assumed. */
function figureLines(sources: readonly string[]): string[] {
  const measured = sources.filter((source) => source.startsWith("calibrated"));
  if (measured.length === 0)
    return below(
      "assumed",
      sources.filter((source) => /not measured|taken as|default link/.test(source)),
    );
  return below("figures", [
    ...measured,
    "schedules overlap latencies that a library pays in each call, and its launch is left out: lines are to be held against each other, not against the log",
  ]);
}

/** Returns whose libraries the algorithms of a comparison are. */
function libraryLines(rows: readonly ComparisonRow[]): string[] {
  const by = new Map<string, Set<string>>();
  for (const { algorithm, library } of rows) {
    const whose = library === undefined ? undefined : algorithmNamed(algorithm).traits?.librariesOf;
    if (whose !== undefined) by.set(whose, (by.get(whose) ?? new Set()).add(algorithm));
  }
  return by.size === 0
    ? []
    : [[...by].map(([whose, algorithms]) => `${[...algorithms].join(", ")}: ${whose}`).join("; ")];
}

/** Returns how what was given beside the algorithms compares with the fastest of them, a line each. */
function givenLines(rows: readonly ComparisonRow[]): string[] {
  const given = [...new Set(rows.flatMap(({ own, algorithm }) => (own === undefined ? [] : [algorithm])))];
  return given.map((name) => {
    const sizes = rows.flatMap(({ algorithm, own, sizeBytes, us, ofLimit }) => {
      if (own === undefined || algorithm !== name) return [];
      const others = rows.filter((row) => row.sizeBytes === sizeBytes && row.own === undefined);
      const best = others.reduce((least, row) => (row.us < least.us ? row : least));
      return [`${formatSize(sizeBytes)}: ${againstText(us, best)}, ${percent(ofLimit)} of the limit`];
    });
    return `${name} at ${sizes.join("; ")}`;
  });
}

/** Returns "2.06 x the time of tacos". */
function againstText(us: number, { us: other, algorithm }: ComparisonRow): string {
  const gain = gainText(us, other);
  return gain === "tie" ? `as fast as ${algorithm}` : `${gain} the time of ${algorithm}`;
}

/** Returns what NCCL's model chose, sizes with the same choice together. */
function choiceLines(references: readonly ReferenceRow[]): string[] {
  const sizesOf = new Map<string, string[]>();
  for (const { choice, sizeBytes } of references)
    sizesOf.set(choice, [...(sizesOf.get(choice) ?? []), formatSize(sizeBytes)]);
  const chosen = [...sizesOf].map(([choice, sizes]) => `${choice}: ${sizes.join(", ")}`);
  return chosen.length === 0
    ? []
    : [...chosen, "it counts launches and costs of messages, which simulated times do not"];
}

/** Returns by what the lines of a target are ranked. */
const rankedBy = (target: CompareTarget): string =>
  target === "nccl"
    ? "as NCCL runs it"
    : `as a program for ${target} or as ${LIBRARY_OF[target]} runs its own without one, whichever is faster`;

/** Columns that a table has no room for in a narrow terminal. */
const LEFT_OUT_OF_NARROW: readonly string[] = ["chunks", "synthesis"];

/** Returns a comparison for people; of one that was stopped no gains at the size that it was at. */
export function comparisonLines(
  { topology, collective, rows, references, limits, leftOut, stopped, target }: Comparison,
  { sources }: Pick<Topology, "sources">,
  { style, options, terminal }: Pick<Context, "style" | "options" | "terminal">,
): string[] {
  const hasPrograms = rows.some(({ programUs }) => programUs !== undefined);
  const hasLibrary = rows.some(({ libraryUs }) => libraryUs !== undefined);
  const more = [...(hasPrograms ? ["program"] : []), ...(hasLibrary ? ["library"] : [])];
  const cells = rows.flatMap((row, i) => {
    const line = cellsOf(row, rows[i - 1]?.sizeBytes !== row.sizeBytes, hasLibrary, style);
    const isLast = rows[i + 1]?.sizeBytes !== row.sizeBytes;
    const reference = references.find(({ sizeBytes }) => isLast && sizeBytes === row.sizeBytes);
    return reference === undefined ? [line] : [line, referenceCells(reference, more, style)];
  });
  const head = ["size", "  algorithm", "chunks", "time", ...more, "algbw GB/s", "busbw GB/s", "of limit", "synthesis"];
  const all = columnsOf(() => true);
  const isNarrow = all.some((line) => textWidth(unstyled(line)) + 2 > reportWidth(terminal));
  const lines = isNarrow ? columnsOf((name) => !LEFT_OUT_OF_NARROW.includes(name)) : all;
  function columnsOf(isShown: (name: string) => boolean): string[] {
    const shown = (line: readonly string[]): string[] => line.filter((_, i) => isShown(head[i] as string));
    const align = head
      .map((_, i) => (i < 2 ? "left" : "right") as "left" | "right")
      .filter((_, i) => isShown(head[i] as string));
    return table(shown(head).map(style.dim), cells.map(shown), align);
  }
  const ranked = target === undefined ? (hasPrograms ? ", programs aside" : "") : `, ${rankedBy(target)}`;
  const star = `* the fastest of its size${stopped === true ? " so far" : ""}${ranked}`;
  const why = new Set(
    limits.map(({ sizeBytes, limit }) => `${formatSize(sizeBytes)}: ${timeText(limit.us)}, ${limit.because}`),
  );
  // of the size at which it was stopped the fastest is not known
  const whole = stopped === true ? rows.filter(({ sizeBytes }) => sizeBytes !== rows.at(-1)?.sizeBytes) : rows;
  const gains = gainLines(whole, style, reportWidth(terminal));
  const verified = rows.length === 1 ? "the line verified" : `all ${count(rows.length, "line")} verified`;
  const verdict = stopped === true ? `${count(rows.length, "line")}, stopped before the rest` : verified;
  return [
    "",
    labelled("topology", networkText(topology)),
    labelled("collective", `${collective}; simulated times, ${star}; ${style.good(verdict)}`),
    "",
    ...lines,
    "",
    ...(gains.length === 0 ? [] : [...gains, ""]),
    ...(isNarrow ? [labelled("narrow", `${LEFT_OUT_OF_NARROW.join(", ")}: in a wider terminal, or --format csv`)] : []),
    ...below("given", givenLines(rows)),
    ...below("libraries", libraryLines(rows)),
    ...figureLines(sources),
    ...below("limit", [...why]),
    ...below("program", programLines(rows)),
    ...below("NCCL model", choiceLines(references)),
    ...(options["details"] === true ? leftOutLines(leftOut) : leftOutLine(leftOut)),
  ].map((line) => `  ${line}`.trimEnd());
}

/** Returns how many algorithms were left out. */
const leftOutLine = (leftOut: Comparison["leftOut"]): string[] =>
  leftOut.length === 0 ? [] : [labelled("left out", `${count(leftOut.length, "algorithm")} (--details says why)`)];
