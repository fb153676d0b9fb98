import { optionName } from "../../base/option-names.ts";
import { gbpsText, percent, significant, timeText } from "../../report/amounts.ts";
import type { FailureRanking, FailureRow, FailureStory, Report, Standing } from "../../report/result.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";
import { labelled, labelledTable } from "./text.ts";

/** More failures than these are in --json only. */
const MOST_ROWS = 24;
/** More lost nodes and links than these are counted. */
const MOST_LOST = 8;

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
const orDash = (value: number | null, text: (value: number) => string): string => (value === null ? "-" : text(value));
/** Returns "+2.1 %" of a ratio. */
const changeText = (ratio: number | null): string =>
  ratio === null ? "-" : `${ratio < 1 ? "" : "+"}${significant(100 * (ratio - 1), 3)} %`;

/** Returns whether trees made anew could be better than repaired ones; nothing where none were repaired. */
function anewLines({ repaired, throughput }: Pick<Report, "repaired" | "throughput">): string[] {
  if (repaired === undefined || throughput === undefined) return [];
  const { ofBound, bound } = throughput;
  const without = `without ${optionName("repair")} all trees are made anew`;
  return [
    label(
      "anew",
      ofBound > 1 - SAME_RATE
        ? `no better: the repaired trees reach the greatest rate that trees can have here (${without})`
        : `${without}, at most for ${gbpsText(bound.algbwGBps)}; the repaired ones reach ${percent(ofBound)} of that rate`,
    ),
  ];
}

/** Rates that differ by less are equal. */
const SAME_RATE = 1e-9;

/** Returns a schedule before and after a failure: was, now, what was kept, whether that is best, and the cut to blame. */
export function failureLines(
  story: FailureStory,
  report: Pick<Report, "repaired" | "throughput">,
  style: Style,
): string[] {
  const { was, now, kept, keptNote, lost, slower, limitRose, blame } = story;
  const hasRate = was.throughputGBps !== null && now.throughputGBps !== null;
  const cells = (name: string, { us, algbwGBps, limit, ofLimit, throughputGBps }: Standing): string[] => [
    name,
    orDash(us, timeText),
    orDash(algbwGBps, gbpsText),
    ...(hasRate ? [gbpsText(throughputGBps)] : []),
    timeText(limit.us),
    orDash(ofLimit, percent),
  ];
  const rate = (before: number | null, after: number | null): string =>
    changeText(before === null || after === null || before === 0 ? null : after / before);
  const change = [
    "change",
    changeText(slower),
    rate(was.algbwGBps, now.algbwGBps),
    ...(hasRate ? [rate(was.throughputGBps, now.throughputGBps)] : []),
    changeText(limitRose),
    "",
  ];
  const head = ["", "time", "algbw", ...(hasRate ? ["throughput"] : []), "limit", "of limit"];
  const rows = [head, cells("was", was), cells("now", now), change];
  const [first, ...rest] = labelledTable(rows, ["left", ...head.slice(1).map(() => "right" as const)]);
  const gone =
    lost.length <= MOST_LOST
      ? lost.join(", ")
      : `${lost.slice(0, MOST_LOST).join(", ")} and ${lost.length - MOST_LOST} more`;
  const keptText =
    kept === null
      ? (keptNote ?? "")
      : `${kept.kept} of ${kept.of} ${kept.what}${keptNote === null ? "" : ` (${keptNote})`}`;
  return [
    "",
    label("failure", lost.length === 0 ? "nothing is lost" : `without ${gone}`),
    style.dim(`  ${first}`),
    ...rest.map((line) => `  ${line}`),
    label("kept", keptText),
    ...anewLines(report),
    label("blame", blame),
  ];
}

/** As many failures in a row that do the same are one line. */
const LEAST_ALIKE = 4;

/** Returns rows, the first of those in a row that do the same in the same way for all of them, with how many more there are. */
function folded(rows: readonly FailureRow[]): { readonly row: FailureRow; readonly more: number }[] {
  const wayOf = ({ limit, us, because }: FailureRow): string => {
    if (limit === null) return because;
    const { kind, nodeCount, bytesPerSecond } = limit.witness;
    return JSON.stringify([limit.us, us, kind, nodeCount, bytesPerSecond]);
  };
  const runs: { row: FailureRow; way: string; all: FailureRow[] }[] = [];
  for (const row of rows) {
    const way = wayOf(row);
    const last = runs.at(-1);
    if (last?.way === way) last.all.push(row);
    else runs.push({ row, way, all: [row] });
  }
  return runs.flatMap(({ row, all }) =>
    all.length >= LEAST_ALIKE ? [{ row, more: all.length - 1 }] : all.map((one) => ({ row: one, more: 0 })),
  );
}

/** A schedule that is slower by this much more than its limit rises loses more than it must. */
const FAR_ABOVE = 0.05;
const isFarAbove = ({ slower, harm }: FailureRow): boolean =>
  typeof slower === "number" && typeof harm === "number" && slower > harm + FAR_ABOVE;

const noLess = (ratio: number | null | undefined): boolean => typeof ratio === "number" && ratio <= 1;

/** Returns failures by harm, the worst first, each with the cut to blame; `details`: all of them, each in a line of its own. */
export function rankingLines({ whole, rows }: FailureRanking, style: Style, details: boolean): string[] {
  const hasTimes = whole.us !== undefined;
  const lines = details ? rows.map((row) => ({ row, more: 0 })) : folded(rows);
  const shown = details ? lines : lines.slice(0, MOST_ROWS);
  const harmText = (ratio: number | null, none: string): string => (noLess(ratio) ? none : changeText(ratio));
  const cells = [
    [
      "nothing",
      ...(hasTimes ? [orDash(whole.us ?? null, timeText), ""] : []),
      timeText(whole.limit.us),
      "",
      whole.limit.because,
    ],
    ...shown.map(({ row: { without, us, slower, limit, harm, because }, more }) => [
      more === 0 ? without : `${without} and ${more} alike`,
      ...(hasTimes ? [orDash(us ?? null, timeText), us === null ? "" : harmText(slower ?? null, "no slower")] : []),
      limit === null ? style.bad("none") : timeText(limit.us),
      limit === null ? "" : harmText(harm, hasTimes ? "none" : "no harm"),
      because,
    ]),
  ];
  const head = [
    "without",
    ...(hasTimes ? ["time", "slower by"] : []),
    "limit",
    hasTimes ? "rise" : "harm",
    "cut to blame",
  ];
  const written = table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 || i === head.length - 1 ? "left" : "right")),
  );
  const rest = rows.length - shown.reduce((sum, { more }) => sum + 1 + more, 0);
  const notes = [
    ...(rest === 0 ? [] : [`and ${rest} that do no more harm (--details has all)`]),
    ...(shown.some(({ more }) => more > 0) ? ["alike: the same limit in the same way; --details lists each"] : []),
    ...(rows.some(({ slower, harm }) => noLess(slower) && (harm ?? 1) > 1)
      ? ["no slower where the limit rises: this algorithm's schedule for the whole network did not reach its own limit"]
      : []),
    ...(shown.some(({ row }) => isFarAbove(row))
      ? [
          "slower by far more than the rise of the limit: this algorithm loses more than every algorithm must; another may lose less",
        ]
      : []),
    ...(hasTimes || rows.length === 0
      ? []
      : [
          `harm: what every algorithm loses at least, as if all that still works took over for what failed`,
          `a schedule can lose far more: \`synth\` with the same ${optionName("withoutEach")} ranks by that`,
        ]),
  ];
  return ["", ...written, ...(notes.length === 0 ? [] : ["", ...notes])].map((line) => `  ${line}`.trimEnd());
}
