import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import type { FittedFigure } from "../../model/calibration/alpha-beta.ts";
import {
  type CalibratedClass,
  type CalibratedPoint,
  type CalibrationErrors,
  type CalibrationReport,
  percentText,
} from "../../model/calibration/calibration.ts";
import { FITTED_ALGORITHMS, isFitted } from "../../model/collective/collective-cost.ts";
import { formatSize, parseSize } from "../../model/numbers/units.ts";
import { looksLikePreset } from "../../model/presets/preset.ts";
import { count, significant } from "../../report/amounts.ts";
import { type Options, optionValue, placeOf, requestOf, textOf } from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import { type CalibrateSchedulesOptions, type CalibrationLog, calibrateSchedules } from "../../run/calibrate.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { AUTO, algorithmNamed } from "../../synthesize/catalog.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { nameOf, readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { networkOf } from "../network.ts";
import type { Style } from "../reports/style.ts";
import { table } from "../reports/table.ts";
import { labelled } from "../reports/text.ts";

/** More points than these are in --json only. */
const MOST_POINTS = 24;
/** Of them, those with the greatest errors. */
const WORST_POINTS = 8;

/** Returns the algorithm that ran: a library's, or one of ours. */
const ranAs = (name: string): string =>
  isFitted(name) || name === AUTO ? name : algorithmNamed(name, [...FITTED_ALGORITHMS, AUTO]).name;

function optionsOf(options: Options): CalibrateSchedulesOptions {
  const collective = textOf(options, "collective");
  const algorithm = textOf(options, "algorithm");
  const platform = textOf(options, "platform");
  const regimes = optionValue(options, "regimes");
  const size = textOf(options, "size");
  if (size !== undefined && (regimes ?? 1) < 2)
    throw new InputError(optionName("sizeBytes"), "--regimes 2 or more beside it", size).as("not-alone");
  return {
    ...(collective !== undefined && { collective: namedCollective(collective) }),
    ...(algorithm !== undefined && { algorithm: ranAs(algorithm) }),
    ...(platform !== undefined && { platform }),
    ...(regimes !== undefined && { regimes }),
    ...(size !== undefined && { sizeBytes: parseSize(size) }),
    ...requestOf(options, ["chunks", "policy", "seed", "switching"]),
  };
}

/** Throws InputError where two logs are the same: its points would count twice, and seem to confirm each other. */
function refuseTwice(logs: readonly CalibrationLog[]): void {
  const first = new Map<string, string>();
  for (const { name, text } of logs) {
    const before = first.get(text);
    if (before !== undefined)
      throw new InputError("LOG", "each log once", name)
        .as("not-together")
        .saying(
          before === name ? `${name} is given twice; each log counts once` : `${name} is the same log as ${before}`,
        );
    first.set(text, name);
  }
}

/** `banyan calibrate TOPO LOG...`: latencies and bandwidths of the links from measurements; -o writes the network with them. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, style } = context;
  const asked = optionsOf(options);
  const path = textOf(options, "output");
  if (path !== undefined) refuseEnding(path, [".json"]);
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const [network = "", second = ""] = args;
  if (looksLikePreset(second) && !looksLikePreset(network))
    throw new InputError("TOPO", "a network, before the logs", network).saying(
      `${network} is before the network; did you mean \`banyan calibrate ${second} ${network}\`?`,
    );
  const topology = await networkOf(network, options);
  const logs = args.slice(1).map((log) => ({
    name: nameOf(log),
    text: readText(log, "LOG"),
  }));
  refuseTwice(logs);
  const onProgress = (done: number, total: number): void =>
    context.progress({ what: "synthesizing", done, total, unit: "sizes" });
  const { signal } = context;
  const { report, topology: fitted } = await withEngine(context, (engine) =>
    calibrateSchedules(engine, topology, logs, { ...asked, signal, onProgress }),
  );
  output?.write(
    (function* () {
      yield* topologyJsonParts(fitted);
      yield "\n";
    })(),
  );
  const file = output === undefined ? [] : ["", labelled("file", output.path)];
  if (json) outJson(context, report);
  else if (!(quiet && output !== undefined))
    outLines(
      context,
      [...linesOf(report, style), ...file].map((line) => `  ${line}`),
    );
  return 0;
}

const usText = (us: number): string => `${significant(us)} us`;
const errorsText = ({ mean, median, worst, explained }: CalibrationErrors): string =>
  `mean ${percentText(mean)}, median ${percentText(median)}, worst ${percentText(worst)}; R² ${explained.toFixed(3)}`;

/** What `compare` calls the algorithms that libraries run. */
const COMPARED_AS: Readonly<Record<string, string>> = { ring: "nccl-rings", tree: "nccl-tree", nvls: "nvls" };

/** Returns "420.8 +- 17.5 GB/s", or what it was before where the data do not tell it. */
function figureText({ value, error, certainty }: FittedFigure, unit: string): string {
  const number = significant(value);
  if (certainty === "kept") return `${number} ${unit}, as before`;
  const text = error === null ? `${number} ${unit}` : `${number} +- ${significant(error, 2)} ${unit}`;
  return certainty === "either" ? `${text}, or another` : text;
}

/** Returns what calls cost by themselves, which is no part of a network. */
function callText({ callUs, classes }: CalibrationReport): string[] {
  if (callUs?.certainty === "fitted")
    return [
      `each call costs ${figureText(callUs, "us")} by itself (launch), which is not part of a network and is not written`,
    ];
  if (callUs !== null || classes.every(({ latencyUs }) => latencyUs.certainty === "kept")) return [];
  return [
    "what a call costs by itself (launch) is not part of a network, but these logs cannot separate it from the latencies, which include it; another log with a different number of ranks could",
  ];
}

/** Returns the points to show, in their order: the largest size of each log, the worst, and others evenly spread. */
function shownPoints(points: readonly CalibratedPoint[]): readonly CalibratedPoint[] {
  if (points.length <= MOST_POINTS) return points;
  const largest = new Map<string, CalibratedPoint>();
  for (const point of points) {
    const log = `${point.source} ${point.collective} ${point.ranks}`;
    if (point.sizeBytes >= (largest.get(log)?.sizeBytes ?? 0)) largest.set(log, point);
  }
  const worst = [...points].sort((a, b) => Math.abs(b.error) - Math.abs(a.error)).slice(0, WORST_POINTS);
  const shown = new Set([...[...largest.values()].slice(0, WORST_POINTS), ...worst]);
  const rest = points.filter((point) => !shown.has(point));
  const room = MOST_POINTS - shown.size;
  for (let i = 0; i < room; i++) shown.add(rest[Math.floor((i * rest.length) / room)] as CalibratedPoint);
  return points.filter((point) => shown.has(point));
}

function linesOf(report: CalibrationReport, style: Style): string[] {
  const { classes, points, errors, limits, regimes, regimeErrors, leftOut, algorithm } = report;
  const lines = [
    "",
    ...heading(["links", "", "bandwidth", "fitted", "latency", "fitted"], classes.map(classCells), style),
  ];
  lines.push("", ...report.notes.map((note) => `note: ${note}`), ...classes.flatMap(reasons), ...callText(report));
  for (const { source, collective, ranks, class: name } of limits)
    lines.push(`${collective} among ${ranks} as ${algorithm} (${source}): large sizes are limited by ${name}`);
  const line = COMPARED_AS[algorithm];
  if (line !== undefined)
    lines.push(
      `fitted as a library runs it, latency after latency and then the bytes; \`compare\` simulates schedules, whose chunks overlap latencies, without launches: set its ${line} beside its other lines, not beside the log`,
    );
  lines.push("", `errors of ${count(points.length, "point")}: ${errorsText(errors)}`);
  if (leftOut > 0) lines.push(`${count(leftOut, "point")} of other algorithms left out`);
  const shown = shownPoints(points);
  const cells = shown.map(({ collective, ranks, sizeBytes, measuredUs, fittedUs, error }) => [
    collective,
    String(ranks),
    formatSize(sizeBytes),
    usText(measuredUs),
    usText(fittedUs),
    `${error > 0 ? "+" : ""}${percentText(error)}`,
  ]);
  lines.push("", ...heading(["collective", "ranks", "size", "measured", "fitted", "error"], cells, style));
  if (points.length > shown.length)
    lines.push(`and ${points.length - shown.length} more, with lesser errors (--json has all)`);
  if (regimeErrors === null) return lines;
  const rows = regimes.map(({ fromBytes, toBytes, points: many, callUs, algbwGBps, errors: own }) => [
    `${formatSize(fromBytes)} to ${formatSize(toBytes)}`,
    String(many),
    usText(callUs),
    algbwGBps === null ? "any" : `${significant(algbwGBps)} GB/s`,
    many > 2 ? percentText(own.mean) : "-",
    many > 2 ? percentText(own.worst) : "-",
  ]);
  lines.push("", ...heading(["sizes", "points", "call", "algbw", "mean error", "worst"], rows, style));
  return [...lines, "", `errors with a line for each range: ${errorsText(regimeErrors)}`];
}

const heading = (names: readonly string[], rows: readonly (readonly string[])[], style: Style): string[] => {
  const [head, ...rest] = table(names, rows, ["left", ...names.slice(1).map(() => "right" as const)]);
  return [style.dim(head as string), ...rest];
};

const classCells = ({ name, links, before, gbps, latencyUs }: CalibratedClass): string[] => [
  name,
  count(links, "link"),
  `${significant(before.gbps)} GB/s`,
  figureText(gbps, "GB/s"),
  usText(before.latencyUs),
  figureText(latencyUs, "us"),
];

/** Returns why figures are as before, known only together with others, or one of several that fit. */
const reasons = ({ name, gbps, latencyUs }: CalibratedClass): string[] =>
  [["bandwidth", gbps.because] as const, ["latency", latencyUs.because] as const].flatMap(([what, because]) =>
    because === "" ? [] : [`${what} of ${name}: ${because}`],
  );
