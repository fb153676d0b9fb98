import type { LabNetwork } from "../../lab/network.ts";
import type { StartUpFigures } from "../../lab/start-up.ts";
import { type Spread, spreadOf, type Timed } from "../../lab/timings.ts";
import { collectiveName, type NamedCollective } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { MpiToolchain } from "../../mpi/toolchain.ts";
import { count, timeText } from "../../report/amounts.ts";
import { topologySummary } from "../../report/result.ts";
import { networkText } from "../../report/subject-text.ts";
import type { Planned } from "../laboratory/plans.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";
import { labelled } from "./text.ts";

/** What an algorithm of the library took, or why it did not work. */
export interface LibraryTimes {
  readonly name: string;
  readonly isOwnChoice: boolean;
  readonly failure: string | null;
  readonly timed: readonly Timed[];
}

interface Found {
  readonly topology: Topology;
  readonly network: LabNetwork;
  readonly toolchain: MpiToolchain;
  readonly hasDelays: boolean;
  readonly buildSeconds: number;
  readonly figures: StartUpFigures;
  readonly collective: NamedCollective;
  readonly repeats: number;
  readonly planned: readonly Planned[];
  readonly own: { readonly failure: string | null; readonly timed: readonly Timed[] };
  readonly library: readonly LibraryTimes[];
}

/** Times of calls in microseconds. */
interface Times {
  readonly medianUs: number;
  readonly minUs: number;
  readonly maxUs: number;
  readonly calls: number;
  readonly right: boolean;
}

const timesOf = (timed: readonly Timed[], sizeBytes: number): Times | null => {
  const one = timed.find((candidate) => candidate.sizeBytes === sizeBytes);
  if (one === undefined || one.seconds.length === 0) return null;
  const { median, min, max, count }: Spread = spreadOf(one.seconds);
  return { medianUs: median * 1e6, minUs: min * 1e6, maxUs: max * 1e6, calls: count, right: one.right === true };
};

/** Returns what was measured beside what was predicted. */
export function labReport(found: Found) {
  const { topology, network, toolchain, figures, library, own } = found;
  const sizes = found.planned.map(({ sizeBytes, algorithm, predictedSeconds }) => {
    const measured = timesOf(own.timed, sizeBytes);
    const others = library.map(({ name, isOwnChoice, failure, timed }) => ({
      ...{ name, isOwnChoice, times: timesOf(timed, sizeBytes), failure },
    }));
    const gain = (times: Times | null | undefined): number | null =>
      measured === null || times == null ? null : times.medianUs / measured.medianUs;
    const choice = others.find(({ isOwnChoice }) => isOwnChoice);
    const [best = null] = others
      .filter(({ isOwnChoice, times }) => !isOwnChoice && times?.right === true)
      .sort((one, other) => (one.times?.medianUs ?? 0) - (other.times?.medianUs ?? 0));
    return {
      ...{ sizeBytes, algorithm, predictedUs: predictedSeconds * 1e6, measured },
      ofPrediction: measured === null ? null : measured.medianUs / (predictedSeconds * 1e6),
      library: others,
      ...{ bestForced: best?.name ?? null, overChoice: gain(choice?.times), overBestForced: gain(best?.times) },
    };
  });
  return {
    schema: "banyan/lab@1",
    topology: topologySummary(topology),
    laboratory: {
      ...{ timesSlower: network.factor, fastestBitsPerSecond: network.fastestBitsPerSecond },
      links: linkCount(network.topology),
      ...{ delays: found.hasDelays, timesMeanSomething: network.isTimed, buildSeconds: found.buildSeconds },
      ...{ hopUs: figures.hopSeconds * 1e6, payloadShare: figures.payloadShare },
    },
    ...{ mpi: toolchain.version, collective: found.collective, repeats: found.repeats, failure: own.failure, sizes },
  };
}

/** A report, with --output also of the plans that were kept. */
export type LabReport = ReturnType<typeof labReport> & { readonly plans?: KeptPlans };

interface KeptPlans {
  readonly folder: string;
  readonly files: readonly string[];
  /** Sizes at which the library was faster. */
  readonly leftToLibrary: readonly number[];
}

const rateText = (bitsPerSecond: number): string =>
  bitsPerSecond >= 1e9 ? `${+(bitsPerSecond / 1e9).toFixed(3)} Gbit/s` : `${+(bitsPerSecond / 1e6).toFixed(3)} Mbit/s`;

const timesText = (gain: number | null): string => (gain === null ? "" : `${gain.toFixed(2)}x`);

type SizeReport = LabReport["sizes"][number];

const medianText = (times: Times | null): string => (times === null ? "failed" : timeText(times.medianUs));

/** Returns a report as lines. */
export function labLines(report: LabReport, style: Style): string[] {
  const { topology, laboratory, sizes, repeats } = report;
  const { timesSlower, fastestBitsPerSecond, delays, hopUs, payloadShare } = laboratory;
  const slower =
    timesSlower >= 1
      ? `${+timesSlower.toPrecision(3)} times slower`
      : `${+(1 / timesSlower).toPrecision(3)} times faster`;
  const latencies = delays ? "" : ", latencies are this machine's own (its kernel has no netem)";
  return [
    labelled("network", networkText(topology)),
    labelled("laboratory", `${slower}: its fastest link has ${rateText(fastestBitsPerSecond)}${latencies}`),
    labelled(
      "measured",
      `${timeText(hopUs)} a hop, ${(100 * payloadShare).toFixed(1)} % of what links carry is payload, all links at once`,
    ),
    labelled("calls", `${collectiveName(report.collective)}, ${report.mpi}, medians of ${repeats}`),
    "",
    ...sizesTable(sizes, style),
    ...libraryTable(sizes, style),
    ...failureLines(report),
    ...(report.plans === undefined ? [] : ["", keptText(report.plans)]),
  ];
}

function keptText({ folder, files, leftToLibrary }: KeptPlans): string {
  const left = leftToLibrary.length === 0 ? "" : `, ${leftToLibrary.map(formatSize).join(", ")} left to the library`;
  return labelled("plans", `${folder}: ${count(files.length - leftToLibrary.length, "plan")}${left}`);
}

/** Returns the table of schedules of ours, and how many times as fast as the library they are. */
function sizesTable(sizes: readonly SizeReport[], style: Style): string[] {
  const hasForced = sizes.some(({ bestForced }) => bestForced !== null);
  const hasChoice = sizes.some(({ overChoice }) => overChoice !== null);
  const head = [
    ...["size", "schedule", "predicted", "measured", "min", "max", "ratio"],
    ...(hasChoice ? ["over library"] : []),
    ...(hasForced ? ["over its best"] : []),
  ];
  const rows = sizes.map(
    ({ sizeBytes, algorithm, predictedUs, measured, ofPrediction, overChoice, overBestForced }) => [
      ...[formatSize(sizeBytes), algorithm, timeText(predictedUs), medianText(measured)],
      ...(measured === null ? ["", "", ""] : [timeText(measured.minUs), timeText(measured.maxUs)]),
      ...(ofPrediction === null ? [] : [ofPrediction.toFixed(3)]),
      ...(hasChoice ? [timesText(overChoice)] : []),
      ...(hasForced ? [timesText(overBestForced)] : []),
    ],
  );
  return drawn(head, rows, style, 1);
}

/** Returns the table of the library's algorithms: medians by size. */
function libraryTable(sizes: readonly SizeReport[], style: Style): string[] {
  const algorithms = sizes[0]?.library ?? [];
  if (algorithms.length === 0) return [];
  const head = ["library", ...sizes.map(({ sizeBytes }) => formatSize(sizeBytes))];
  const rows = algorithms.map(({ name }, i) => [
    name,
    ...sizes.map(({ library }) => medianText(library[i]?.times ?? null)),
  ]);
  return ["", ...drawn(head, rows, style, 0)];
}

const drawn = (head: readonly string[], rows: readonly (readonly string[])[], style: Style, left: number): string[] =>
  table(
    head.map((cell) => style.dim(cell)),
    rows,
    head.map((_, i) => (i === left ? "left" : "right")),
  );

function failureLines({ failure, sizes }: LabReport): string[] {
  const lines = [
    ...(failure === null ? [] : [`the plans: ${failure}`]),
    ...(sizes[0]?.library ?? []).flatMap(({ name, failure: why }) => (why === null ? [] : [`${name}: ${why}`])),
    ...sizes.flatMap(({ sizeBytes, measured, library }) => [
      ...(measured === null || measured.right ? [] : [`the plans' result of ${formatSize(sizeBytes)} is wrong`]),
      ...library.flatMap(({ name, times }) =>
        times === null || times.right ? [] : [`${name}: the library's result of ${formatSize(sizeBytes)} is wrong`],
      ),
    ]),
  ];
  return lines.length === 0 ? [] : ["", ...lines];
}
