import { gbpsText, percent, significant, timeText } from "../../report/amounts.ts";
import type { FailureRanking, FailureStory, Standing } from "../../report/result.ts";
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

/** Returns failures by harm, the worst first, each with the cut to blame. */
export function rankingLines({ whole, rows }: FailureRanking, style: Style): string[] {
  const hasTimes = whole.us !== undefined;
  const shown = rows.slice(0, MOST_ROWS);
  const cells = [
    [
      "nothing",
      ...(hasTimes ? [orDash(whole.us ?? null, timeText)] : []),
      timeText(whole.limit.us),
      "",
      whole.limit.because,
    ],
    ...shown.map(({ without, us, limit, harm, because }) => [
      without,
      ...(hasTimes ? [orDash(us ?? null, timeText)] : []),
      limit === null ? style.bad("none") : timeText(limit.us),
      limit === null ? "" : harm !== null && harm <= 1 ? "no harm" : changeText(harm),
      because,
    ]),
  ];
  const head = ["without", ...(hasTimes ? ["time"] : []), "limit", "harm", "cut to blame"];
  const lines = table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 || i === head.length - 1 ? "left" : "right")),
  );
  const rest = rows.length - shown.length;
  return ["", ...lines, ...(rest === 0 ? [] : ["", `and ${rest} that do no more harm (--json has all)`])].map((line) =>
    `  ${line}`.trimEnd(),
  );
}
