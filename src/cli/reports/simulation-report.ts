import type { Kind, Simulated, Verdict } from "../../kinds/kind.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { treeTransfers } from "../../model/trees/tree-steps.ts";
import { heightsOf } from "../../model/trees/tree-times.ts";
import { count, gbpsText } from "../../report/amounts.ts";
import { type PerDimension, type Throughput, type Timing, topologySummary } from "../../report/result.ts";
import { collectiveText, networkText, sizedText, treesText } from "../../report/subject-text.ts";
import type { Utilisation } from "../../simulate/steps/replay.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { tenantLines, timeLines } from "./joint-report.ts";
import type { Style } from "./style.ts";
import { labelled, labelledTable, linksText, timingCells } from "./text.ts";

type Timed = Timing & { readonly model: string };

/** What a simulation found, as reports show it. */
interface Found {
  readonly verdict: Verdict;
  readonly found: Simulated;
  readonly simulated: Timed;
  readonly links: Utilisation | null;
  readonly perDimension: PerDimension | null;
  readonly trace: string | null;
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
  joint: (kind, _, verdict) => [
    ...tenantLines(kind.schedule as JointSchedule),
    labelled("schedule", `${count(kind.parts.many, kind.parts.one)}, ${verdict}`),
  ],
};

/** Returns the table of planned and simulated times. */
function timesTable(kind: Kind<unknown>, planned: Timed | undefined, simulated: Timed, style: Style): string[] {
  const times = [...(planned === undefined ? [] : [["planned", planned] as const]), ["simulated", simulated] as const];
  if (kind.collectives.length !== 1) return timeLines(times, style);
  const rows = times.map(([name, time]) => [name, ...timingCells(time), time.model]);
  const [head, ...lines] = labelledTable(
    [["", "time", "algbw", "busbw", ""], ...rows],
    ["left", "right", "right", "right", "left"],
  );
  return [style.dim(head as string), ...lines];
}

/** Returns the lines of the report of `banyan simulate` for a schedule of any kind. */
export function simulationLines(kind: Kind<unknown>, said: Found, style: Style): string[] {
  const { verdict, found, simulated, links, perDimension, trace } = said;
  const { topology } = kind.schedule;
  const { time, throughput } = kind.played(verdict, found).speeds as {
    readonly time?: Timed;
    readonly throughput?: Pick<Throughput, "algbwGBps" | "exact">;
  };
  const word = verdict.violationCount === 0 ? style.good("verified") : style.bad("NOT correct");
  const textOf = perDimension === null ? collectiveText : sizedText;
  const subject = SUBJECTS[kind.name]?.(kind, found, word) ?? [
    ...kind.collectives.map((one) => labelled("collective", textOf(topology, one))),
    labelled("schedule", `${kind.deed(verdict).by}, ${word}`),
  ];
  const { algbwGBps, exact } = throughput ?? { algbwGBps: 0, exact: "" };
  const lines = [
    "",
    labelled("topology", networkText(topologySummary(topology))),
    ...subject,
    "",
    ...(perDimension === null ? [] : [...dimensionLines(perDimension, style), ""]),
    ...timesTable(kind, time, simulated, style),
    ...(throughput === undefined
      ? []
      : [labelled("throughput", `${gbpsText(algbwGBps)} (${exact} GB/s exactly) with ever more pieces`)]),
    ...(links === null ? [] : ["", labelled("links", linksText(links))]),
    ...(trace === null ? [] : [labelled("trace", trace)]),
  ];
  return lines.map((line) => `  ${line}`);
}
