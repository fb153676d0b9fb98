import type { Kind, Simulated, Verdict } from "../../kinds/kind.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { treeTransfers } from "../../model/trees/tree-steps.ts";
import { heightsOf } from "../../model/trees/tree-times.ts";
import { count } from "../../report/amounts.ts";
import { tenantReport } from "../../report/joint-result.ts";
import { type Chain, type PerDimension, type Report, type Timed, topologySummary } from "../../report/result.ts";
import { collectiveText, networkText, sizedText, treesText } from "../../report/subject-text.ts";
import type { Utilisation } from "../../simulate/steps/replay.ts";
import { chainLines, chainTable, timeCells } from "./chain-report.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { tenantLines } from "./joint-report.ts";
import type { Style } from "./style.ts";
import { labelled, linksText } from "./text.ts";

/** How a schedule stands to its limits. */
export type ChainOfFile = Chain & Pick<Report, "details">;

/** What a simulation found, as reports show it. */
interface Found {
  readonly verdict: Verdict;
  readonly found: Simulated;
  readonly time: Timed;
  /** Null for one that is not correct, and for other models. */
  readonly chain: ChainOfFile | null;
  readonly links: Utilisation | null;
  readonly perDimension: PerDimension | null;
  readonly trace: string | null;
  readonly details: boolean;
}

/** Returns the lines that say what the schedule is, of kinds that have their own; `verdict` in a word. */
const SUBJECTS: Partial<Record<Kind["name"], (kind: Kind<unknown>, found: Simulated, verdict: string) => string[]>> = {
  trees(kind, { pieces = 1 }, verdict) {
    const flow = kind.schedule as TreeFlow;
    const transfers = flow.inNetwork === true ? "" : `, ${count(treeTransfers(flow, pieces), "transfer")}`;
    return [
      labelled("trees", `${treesText(flow)}, height ${heightsOf(flow).greatest}, ${verdict}`),
      labelled("pipeline", `${count(pieces, "piece")} of each tree's part${transfers}`),
    ];
  },
  joint: (kind, { tenantPs }, verdict) => [
    ...tenantLines(
      kind.schedule as JointSchedule,
      kind.collectives.map((_, t) => tenantReport(kind.schedule as JointSchedule, t, tenantPs?.[t])),
    ),
    labelled("schedule", `${count(kind.parts.many, kind.parts.one)}, ${verdict}`),
  ],
};

/** Returns the lines of the report of `banyan simulate` for a schedule of any kind. */
export function simulationLines(kind: Kind<unknown>, said: Found, style: Style): string[] {
  const { verdict, found, time, chain, links, perDimension, trace, details } = said;
  const { topology } = kind.schedule;
  const { throughput } = kind.played(verdict, found).speeds;
  const word = verdict.violationCount === 0 ? style.good("verified") : style.bad("NOT correct");
  const textOf = perDimension === null ? collectiveText : sizedText;
  const subject = SUBJECTS[kind.name]?.(kind, found, word) ?? [
    ...kind.collectives.map((one) => labelled("collective", textOf(topology, one))),
    labelled("schedule", `${kind.deed(verdict).by}, ${word}`),
  ];
  const lines = [
    "",
    labelled("topology", networkText(topologySummary(topology))),
    ...subject,
    "",
    ...(perDimension === null ? [] : [...dimensionLines(perDimension, style), ""]),
  ].map((line) => `  ${line}`);
  lines.push(
    ...(chain === null
      ? chainTable([timeCells("schedule", time, "")], style)
      : chainLines(throughput === undefined ? chain : { ...chain, throughput }, style, details)),
  );
  if (links !== null) lines.push("", `  ${labelled("links", linksText(links))}`);
  if (trace !== null) lines.push(`  ${labelled("trace", trace)}`);
  return lines;
}
