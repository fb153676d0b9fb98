import {
  type AtlasClass,
  type AtlasCollective,
  type AtlasIndex,
  changeText,
  harmText,
  type Ranked,
  ranked,
} from "../../model/atlas/atlas-index.ts";
import { collectiveName } from "../../model/collective/collective.ts";
import { count, grouped, timeText } from "../../report/amounts.ts";
import { classText } from "./lookup-report.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";
import { labelled } from "./text.ts";

/** More classes than these are in --json, --details and the folder only. */
const MOST_ROWS = 24;

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
const timeOr = (us: number | null): string => (us === null ? "-" : timeText(us));
const riseText = (ratio: number | null): string =>
  ratio === null ? "-" : changeText(ratio).replace("no slower", "none");

const keptText = ({ kept, status }: AtlasClass): string =>
  kept === null ? (status === "done" ? "none" : "") : `${grouped(kept.kept)}/${grouped(kept.of)} ${kept.what}`;

/** Returns the failures of a collective by harm, the worst first, beside the network without one. */
function rankingLines(kind: string, collective: AtlasCollective, style: Style, details: boolean): string[] {
  const { healthy } = collective;
  const rows = ranked(collective);
  const shown = details ? rows : rows.slice(0, MOST_ROWS);
  const failures = rows.reduce((sum, { members }) => sum + members, 0);
  const cells = [
    ["nothing", timeOr(healthy.us), "", timeText(healthy.limitUs), "", "", healthy.because],
    ...shown.map(({ one, members }) => [
      classText(one, members),
      timeOr(one.schedule?.us ?? null),
      one.status === "done" ? harmText(one) : style.bad(harmText(one)),
      one.schedule === null ? "-" : timeText(one.schedule.limitUs),
      one.schedule === null ? "" : riseText(one.limitRose),
      keptText(one),
      one.schedule?.because ?? one.why ?? "not made yet",
    ]),
  ];
  const head = ["without", "time", "slower by", "limit", "rise", "kept", "cut to blame"];
  const written = table(
    head.map(style.dim),
    cells,
    head.map((_, i) => (i === 0 || i === head.length - 1 ? "left" : "right")),
  );
  const rest = rows.length - shown.length;
  return [
    "",
    label(
      "collective",
      `${collectiveName(kind)}: ${count(failures, "failure")} in ${count(rows.length, "class", "classes")}`,
    ),
    "",
    ...written.map((line) => `  ${line}`.trimEnd()),
    ...(rest === 0 ? [] : ["", `  and ${count(rest, "class", "classes")} that do no more harm (--details has all)`]),
  ];
}

/** Returns an atlas as lines: each collective's failures by harm. */
export function atlasLines(index: AtlasIndex, kinds: readonly string[], style: Style, details: boolean): string[] {
  const { name, npus, switches, links } = index.network;
  return [
    "",
    label("topology", `${name}: ${npus} NPUs, ${switches === 0 ? "" : `${switches} switches, `}${links} links`),
    label(
      "made by",
      Object.entries(index.making)
        .map(([id, text]) => (text === true ? id : `${id} ${text}`))
        .join(", "),
    ),
    ...kinds.flatMap((kind) => rankingLines(kind, index.collectives[kind] as AtlasCollective, style, details)),
  ];
}

/** What `--json` says of a class. */
export const rowJson = ({ one, members }: Ranked) => ({ ...one, failures: members });
