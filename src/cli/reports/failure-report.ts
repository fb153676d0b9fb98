import { gbpsText, percent, significant, timeText } from "../../report/amounts.ts";
import type { FailureRanking, FailureRow, FailureStory, Standing } from "../../report/result.ts";
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

/** Returns a schedule before and after a failure: was, now, what was kept, and the cut to blame. */
export function failureLines(story: FailureStory, style: Style): string[] {
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

/** Returns failures by harm, the worst first, each with the cut to blame. */
export function rankingLines({ whole, rows }: FailureRanking, style: Style): string[] {
  const hasTimes = whole.us !== undefined;
  const lines = folded(rows);
  const shown = lines.slice(0, MOST_ROWS);
  const harmText = (ratio: number | null): string => (ratio !== null && ratio <= 1 ? "no harm" : changeText(ratio));
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
      ...(hasTimes ? [orDash(us ?? null, timeText), us === null ? "" : harmText(slower ?? null)] : []),
      limit === null ? style.bad("none") : timeText(limit.us),
      limit === null ? "" : harmText(harm),
      because,
    ]),
  ];
  const head = ["without", ...(hasTimes ? ["time", "harm"] : []), "limit", hasTimes ? "rise" : "harm", "cut to blame"];
  const written = table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 || i === head.length - 1 ? "left" : "right")),
  );
  const rest = rows.length - shown.reduce((sum, { more }) => sum + 1 + more, 0);
  return ["", ...written, ...(rest === 0 ? [] : ["", `and ${rest} that do no more harm (--json has all)`])].map(
    (line) => `  ${line}`.trimEnd(),
  );
}
