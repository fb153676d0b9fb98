import { count, gbpsText, percent, timeText } from "../../report/amounts.ts";
import { isSimulated } from "../../report/chain.ts";
import type { BoundReport, Chain, Details, Rate, Report, Throughput, Timed } from "../../report/result.ts";
import { solverLines } from "./solver-lines.ts";
import type { Style } from "./style.ts";
import { labelled, labelledTable, writtenText } from "./text.ts";

/** What the reports of all kinds say alike. Lines are two blanks in. */

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;

type Cells = readonly string[];

/** Returns the cells of a limit: name, time, bandwidth, whom it binds and why it holds. */
export const limitCells = (name: string, { us, algbwGBps, because }: BoundReport, whom: string, share = ""): Cells => [
  name,
  timeText(us),
  gbpsText(algbwGBps),
  "",
  share,
  `${whom}: ${because}`,
];

/** Returns the cells of a time; `share` is of the limit. */
export const timeCells = (name: string, { us, algbwGBps, busbwGBps, model }: Timed, share: string): Cells => [
  name,
  timeText(us),
  gbpsText(algbwGBps),
  busbwGBps === null ? "" : gbpsText(busbwGBps),
  share,
  model,
];

/** Returns a table of times; `shares`: what they are of. */
export function chainTable(rows: readonly Cells[], style: Style, shares = "of limit"): string[] {
  const head = ["", "time", "algbw", "busbw", shares, ""];
  const shown = [0, 1, 2, 3, 4, 5].filter((column) => column === 0 || rows.some((row) => row[column] !== ""));
  const cells = [head, ...rows].map((row) => shown.map((column) => row[column] as string));
  const align = (["left", "right", "right", "right", "right", "left"] as const).filter((_, i) => shown.includes(i));
  const [first, ...lines] = labelledTable(cells, align);
  return [style.dim(`  ${first}`), ...lines.map((line) => `  ${line}`)];
}

/** Returns the chain of a report: limits, the schedule, and what lies between; `details`: figures of other models too. */
export function chainLines(
  report: Chain & Pick<Report, "details"> & { readonly throughput?: Rate & Partial<Throughput> },
  style: Style,
  details = false,
): string[] {
  const { time, limit, classLimit, ofLimit, ofClassLimit, gaps, throughput } = report;
  const simulated = isSimulated(report);
  const rows = [
    limitCells("limit", limit, "any algorithm"),
    ...(classLimit === null ? [] : [limitCells("class limit", classLimit, classLimit.holdsFor)]),
    timeCells(simulated ? "schedule" : "planned", time, ofLimit === null ? "" : percent(ofLimit)),
  ];
  if (throughput !== undefined) {
    const { algbwGBps, busbwGBps = null, exact } = throughput;
    const reached = { us: 0, algbwGBps, busbwGBps, model: `${exact} GB/s exactly, with ever more pieces` };
    rows.push(timeCells("throughput", reached, "").map((cell, i) => (i === 1 ? "" : cell)));
  }
  return [
    ...chainTable(rows, style),
    ...(simulated ? [] : [label("simulated", "not above 1e8 transfers without --simulate")]),
    ...gaps.map(({ because }, i) => label(i === 0 ? "gap" : "", because)),
    ...(ofClassLimit === null || !details ? [] : [label("of class", `${percent(ofClassLimit)} of the class limit`)]),
    ...(details ? ["", ...detailLines(report.details, throughput, style)] : []),
  ];
}

/** Returns the figures of other models than the network's. */
function detailLines(
  { planned, plannedBound, ofPlannedBound, reference, latencyUs }: Details,
  throughput: Partial<Throughput> | undefined,
  style: Style,
): string[] {
  const rows: Cells[] = [];
  const share = (of: number | null): string => (of === null ? "" : percent(of));
  if (plannedBound !== null) rows.push(limitCells("its bound", plannedBound, "link-busy, these routes and chunks"));
  if (planned !== null) rows.push(timeCells("planned", planned, share(ofPlannedBound)));
  if (throughput?.bound !== undefined)
    rows.push(
      limitCells("rate bound", throughput.bound, "trees, without latencies", share(throughput.ofBound ?? null)),
    );
  if (reference !== null)
    rows.push(["reference", timeText(reference.us), "", "", "", `${reference.name}, not a bound`]);
  rows.push(["latency", timeText(latencyUs), "", "", "", "of one byte, any algorithm"]);
  return chainTable(rows, style, "of bound");
}

/** Returns how a schedule was made, what there is to know, and its file; `details`: by which policy too. */
export function closingLines(
  { notes = [], schedule, synthesis, solver, deterministic, repaired }: Omit<Report, "collective">,
  { fileBytes, details = false }: { readonly fileBytes?: number | undefined; readonly details?: boolean } = {},
): string[] {
  const { trials, seed, ms, backend, threads, policy } = synthesis;
  const where = `${backend} kernels${threads > 1 ? `, ${count(threads, "thread")}` : ""}`;
  const tried = schedule.kind === "steps" || schedule.kind === "slots" ? `${count(trials, "trial")} in ` : "";
  return [
    label("synthesis", `${tried}${timeText(ms * 1000)} on ${where}, seed ${seed}`),
    ...(details || repaired !== undefined ? [label("policy", policy)] : []),
    ...(solver === undefined ? [] : solverLines(solver).map((line) => `  ${line}`)),
    ...(solver !== undefined && !deterministic
      ? [label("note", "the time limit decided: another run may give another schedule")]
      : []),
    ...notes.map((note) => label("note", note)),
    ...(schedule.file === null ? [] : [label("file", writtenText(schedule.file, fileBytes))]),
  ];
}
