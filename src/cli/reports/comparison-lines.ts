import { listed } from "../../base/listed.ts";
import { textWidth } from "../../base/visible.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { RUNTIME_NAMES, type RuntimeName } from "../../model/program/runtime-names.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { count, percent, significant, timeText } from "../../report/amounts.ts";
import {
  type CoarseRow,
  type CompareTarget,
  type Comparison,
  type ComparisonRow,
  LIBRARY_OF,
  type ReferenceRow,
  usOnTarget,
} from "../../report/comparison.ts";
import {
  type DefaultGain,
  type Gain,
  gainsShown,
  gainText,
  notModelledTexts,
  settingsToSet,
} from "../../report/gains.ts";
import { networkText } from "../../report/subject-text.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import type { Context } from "../context.ts";
import { gainLines } from "./gain-lines.ts";
import { type Style, unstyled } from "./style.ts";
import { table } from "./table.ts";
import { labelled, leftOutLines, reportWidth } from "./text.ts";

export const gbps = (value: number | null): string => (value === null ? "-" : significant(value));

const timeOrNone = (us: number | null): string => (us === null ? "-" : timeText(us));

/**
 * Returns the cells of a line; the size stands in the first of its size. Where a target is named, bandwidths and the share of the
 * limit are those of what would run.
 */
function cellsOf(row: ComparisonRow, isFirst: boolean, target: CompareTarget | undefined, { bold }: Style): string[] {
  const { programUs, libraryUs } = row;
  const ran = target === undefined ? row.us : usOnTarget(row);
  const share = ran > 0 ? row.us / ran : 1;
  const scaled = (value: number | null): string => (value === null || share === 0 ? "-" : gbps(value * share));
  const line = [
    isFirst ? formatSize(row.sizeBytes) : "",
    `${row.best ? "*" : " "} ${row.algorithm}`,
    String(row.chunks),
    timeText(row.us),
    ...(programUs === undefined || target === "nccl" ? [] : [timeOrNone(programUs)]),
    ...(target === undefined ? [] : [timeOrNone(libraryUs ?? null)]),
    scaled(row.algbwGBps),
    scaled(row.busbwGBps),
    share === 0 ? "-" : percent(row.ofLimit * share),
    row.own ?? timeText(row.synthesisMs * 1000),
  ];
  return row.best ? line.map((cell) => (cell === "" ? cell : bold(cell))) : line;
}

/** Returns the cells of a line of which there is a coarse model only; the size stands in it where no other line of its size is above. */
function coarseCells(
  { sizeBytes, algorithm, us, algbwGBps, busbwGBps, ofLimit }: CoarseRow,
  isFirst: boolean,
  { dim }: Style,
): string[] {
  const size = isFirst ? formatSize(sizeBytes) : "";
  const figures = [timeText(us), gbps(algbwGBps), gbps(busbwGBps), percent(ofLimit)];
  return [size, ...[`  ${algorithm}`, "-", ...figures, "coarse"].map(dim)];
}

/** Returns by what lines were counted that have no schedule, those of one setting together. */
function coarseLinesOf(coarse: readonly CoarseRow[]): string[] {
  if (coarse.length === 0) return [];
  const names = new Map<string, Set<string>>();
  for (const { algorithm, policy, by } of coarse) {
    const how = `${policy}; ${by}`;
    names.set(how, (names.get(how) ?? new Set()).add(algorithm));
  }
  return [
    "too many transfers to list: no schedule is made or verified, a model says what it would take",
    ...[...names].map(([how, of]) => `${[...of].join(", ")}: ${how}`),
  ];
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
    if (whose === undefined) continue;
    const words = listed(whose);
    by.set(words, (by.get(words) ?? new Set()).add(algorithm));
  }
  return by.size === 0
    ? []
    : [[...by].map(([whose, algorithms]) => `${[...algorithms].join(", ")}: ${whose}`).join("; ")];
}

/** Returns how what was given beside the algorithms compares with the fastest of them, a line each. */
function givenLines(rows: readonly ComparisonRow[]): string[] {
  const given = [...new Set(rows.flatMap(({ own, algorithm }) => (own === undefined ? [] : [algorithm])))];
  return given.flatMap((name) => {
    const sizes = rows.flatMap(({ algorithm, own, sizeBytes, us, ofLimit }) => {
      if (own === undefined || algorithm !== name) return [];
      const others = rows.filter((row) => row.sizeBytes === sizeBytes && row.own === undefined);
      if (others.length === 0) return [];
      const best = others.reduce((least, row) => (row.us < least.us ? row : least));
      return [`${formatSize(sizeBytes)}: ${againstText(us, best)}, ${percent(ofLimit)} of the limit`];
    });
    return sizes.length === 0 ? [] : [`${name} at ${sizes.join("; ")}`];
  });
}

/** Returns "2.06 x the time of tacos". */
function againstText(us: number, { us: other, algorithm }: ComparisonRow): string {
  const gain = gainText(us, other);
  return gain === "tie" ? `as fast as ${algorithm}` : `${gain} the time of ${algorithm}`;
}

/** Returns at which sizes a library's own is faster than any program. */
function leaveLines(gains: readonly Gain[], target: CompareTarget): string[] {
  const slower = gains.filter(({ us, libraryUs, text }) => us > libraryUs && text !== "tie");
  const sizes = slower.map(({ best, how, libraryUs, us }) => {
    const own = how.replace(/ \(.*/, "");
    return `${formatSize(best.sizeBytes)} (${own} ${timeText(libraryUs)}, the fastest program ${timeText(us)})`;
  });
  return sizes.length === 0
    ? []
    : [
        `load no program for ${sizes.join(", ")}: what ${LIBRARY_OF[target]} ${target === "mpi" ? "itself can be told to run" : "runs by itself"} is faster`,
      ];
}

/** Returns what NCCL's model chose, sizes with the same choice together, and where another setting of NCCL's would be faster. */
function choiceLines(references: readonly ReferenceRow[], defaults: readonly DefaultGain[]): string[] {
  const sizesOf = new Map<string, string[]>();
  for (const { choice, sizeBytes } of references)
    sizesOf.set(choice, [...(sizesOf.get(choice) ?? []), formatSize(sizeBytes)]);
  const chosen = [...sizesOf].map(([choice, sizes]) => `${choice}: ${sizes.join(", ")}`);
  return chosen.length === 0
    ? []
    : [
        ...chosen,
        ...defaults.flatMap(({ best, library, text }) =>
          text === "tie" || text === "none"
            ? []
            : [
                `at ${formatSize(best.sizeBytes)} ${best.algorithm} would be ${text} as fast as ${library.algorithm}, which stands for its choice`,
              ],
        ),
        "it counts launches and costs of messages, which simulated times do not",
      ];
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
  comparison: Comparison,
  { sources }: Pick<Topology, "sources">,
  { style, options, terminal }: Pick<Context, "style" | "options" | "terminal">,
): string[] {
  const {
    topology,
    collective,
    rows,
    references,
    coarse = [],
    settings = [],
    notModelled = [],
    limits,
    leftOut,
    stopped,
    target,
  } = comparison;
  const hasPrograms = target !== "nccl" && rows.some(({ programUs }) => programUs !== undefined);
  const more = [...(hasPrograms ? ["program"] : []), ...(target === undefined ? [] : ["library"])];
  const sizes = new Set([...rows, ...coarse].map(({ sizeBytes }) => sizeBytes));
  const cells = [...sizes].flatMap((size) => {
    const own = rows.filter(({ sizeBytes }) => sizeBytes === size);
    return [
      ...own.map((row, i) => cellsOf(row, i === 0, target, style)),
      ...coarse
        .filter(({ sizeBytes }) => sizeBytes === size)
        .map((row, i) => coarseCells(row, own.length === 0 && i === 0, style)),
      ...references.filter(({ sizeBytes }) => sizeBytes === size).map((row) => referenceCells(row, more, style)),
    ];
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
  const { defaults, gained, tables } = gainsShown(comparison);
  const gains = tables.flatMap((one) => [...gainLines(one, style, reportWidth(terminal)), ""]);
  const verified = rows.length === 1 ? "the line verified" : `all ${count(rows.length, "line")} verified`;
  const isNone = rows.length === 0 && stopped !== true;
  const ended = stopped === true ? `${count(rows.length, "line")}, stopped before the rest` : verified;
  const verdict = isNone ? "no line has a schedule" : ended;
  return [
    "",
    labelled("topology", networkText(topology)),
    labelled("collective", `${collective}; simulated times, ${star}; ${isNone ? verdict : style.good(verdict)}`),
    "",
    ...lines,
    "",
    ...gains,
    ...(isNarrow ? [labelled("narrow", `${LEFT_OUT_OF_NARROW.join(", ")}: in a wider terminal, or --format csv`)] : []),
    ...below("given", givenLines(rows)),
    ...below("libraries", libraryLines(rows)),
    ...figureLines(sources),
    ...below("coarse", coarseLinesOf(coarse)),
    ...below("limit", [...why]),
    ...below("program", target === "nccl" ? [] : programLines(rows)),
    ...below("set", settingsToSet(settings)),
    ...below("no model", notModelledTexts(notModelled)),
    ...below("better", target === undefined || target === "nccl" ? [] : leaveLines(gained, target)),
    ...below("NCCL model", choiceLines(references, target === "nccl" ? [] : defaults)),
    ...(options["details"] === true ? leftOutLines(leftOut) : leftOutLine(leftOut)),
  ].map((line) => `  ${line}`.trimEnd());
}

/** Returns how many algorithms were left out. */
const leftOutLine = (leftOut: Comparison["leftOut"]): string[] =>
  leftOut.length === 0 ? [] : [labelled("left out", `${count(leftOut.length, "algorithm")} (--details says why)`)];
