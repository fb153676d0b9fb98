import { InputError, inWords } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Engine } from "../engine/types.ts";
import { readMeasurements } from "../import/logs/nccl-tests.ts";
import { kindOf } from "../kinds/kinds.ts";
import {
  type AlphaBetaFit,
  bestRegimes,
  type FitSetup,
  type FittedFigure,
  fitAlphaBeta,
  type Regime,
  refuseFewPoints,
  within,
} from "../model/calibration/alpha-beta.ts";
import {
  type CalibratedClass,
  type CalibratedPoint,
  type CalibrationErrors,
  type CalibrationReport,
  errorsOf,
  percentText,
} from "../model/calibration/calibration.ts";
import { otherGpusNotes, refuseOtherNetwork } from "../model/calibration/log-network.ts";
import type { Measurements } from "../model/calibration/measurements.ts";
import { fitSchedules } from "../model/calibration/schedule-fit.ts";
import type { Clock, TimedSchedule } from "../model/calibration/timed-schedule.ts";
import type { NamedCollective } from "../model/collective/collective.ts";
import {
  type CostRequest,
  collectiveCost,
  FITTED_ALGORITHMS,
  type FittedAlgorithm,
  isFitted,
  placedRanks,
} from "../model/collective/collective-cost.ts";
import {
  BYTES_PER_GB,
  bandwidthFromGBps,
  formatSize,
  formatTime,
  latencyFromUs,
  PS_PER_US,
  toGBps,
} from "../model/numbers/units.ts";
import { didYouMean } from "../model/topology/closest.ts";
import { CALIBRATED, type LinkClasses, linkClasses, withFigures } from "../model/topology/link-classes.ts";
import type { SizeRange, Topology } from "../model/topology/topology.ts";
import { count, significant } from "../report/amounts.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { type SynthesizeResult, synthesize } from "./synthesize.ts";

/** A log as text. */
export interface CalibrationLog {
  readonly name: string;
  readonly text: string;
}

export interface CalibrateOptions {
  /** Logs of this collective only; needed where they do not tell it. */
  readonly collective?: NamedCollective;
  /** What ran: "ring" (without it), "tree", "nvls" or one of MPI's as a library runs them, or with `calibrateSchedules` any other of ours. */
  readonly algorithm?: string;
  /** Rows of this platform, in tables of points. */
  readonly platform?: string;
  /** Ranges of sizes with a line of their own, 1 without it. */
  readonly regimes?: number;
  /** The figures of the range that this size is in, instead of those of all sizes. */
  readonly sizeBytes?: number;
}

/** How the schedules that ran were made, as for `synthesize`. */
export interface CalibrateSchedulesOptions
  extends CalibrateOptions,
    Pick<SynthesizeOptions, "chunks" | "policy" | "seed" | "switching" | "signal"> {
  /** Called as schedules are made, one for each collective, number of ranks and size. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Calibration {
  readonly report: CalibrationReport;
  /** The network with the fitted figures; its sources say from what. */
  readonly topology: Topology;
}

const MOST_REGIMES = 16;
const MOST_TURNS = 4;
/** All ranges of sizes are tried. */
const MOST_REGIME_SIZES = 128;

/** Returns the tables that were asked for. Throws InputError, which lists platforms and collectives. */
function chosenTables(tables: readonly Measurements[], { platform, collective }: CalibrateOptions): Measurements[] {
  const names = [...new Set(tables.map((table) => table.platform))].filter((name) => name !== "");
  if (names.length > 1 || platform !== undefined) {
    const expected =
      names.length > 0
        ? `one of ${names.map((name) => JSON.stringify(name)).join(", ")}`
        : "nothing (the logs name no platforms)";
    if (platform === undefined) throw new InputError(optionName("platform"), expected);
    if (!names.includes(platform))
      throw new InputError(optionName("platform"), `${expected}${didYouMean(platform, names)}`, platform);
  }
  const own = tables.filter((table) => table.platform === (platform ?? table.platform));
  const kinds = [...new Set(own.map((table) => table.collective))];
  const found = collective === undefined ? own : own.filter((table) => table.collective === collective);
  if (found.length === 0)
    throw new InputError(optionName("collective"), `one of ${kinds.join(", ")}, which the logs are of,`, collective).as(
      "unknown-name",
    );
  return found;
}

/** Returns whether a note names another algorithm: "NVLS (SHARP)" where rings are fitted. */
const isOfAnother = (note: string, algorithm: string): boolean => {
  const named = /^(ring|tree|nvls)\b/i.exec(note)?.[1]?.toLowerCase();
  return named !== undefined && named !== algorithm;
};

/** A table of measurements, the points of the algorithm only. */
interface Measured {
  readonly table: Measurements;
  readonly ranks: number;
  readonly sizeBytes: Float64Array;
  readonly timeUs: Float64Array;
}

interface Asked {
  readonly tables: readonly Measurements[];
  readonly measured: readonly Measured[];
  readonly leftOut: number;
  /** The logs' names. */
  readonly source: string;
}

/** Returns the points to fit. Throws InputError where there are none. */
function askedFor(topology: Topology, logs: readonly CalibrationLog[], options: CalibrateOptions): Asked {
  const { algorithm = "ring", collective = null } = options;
  if (logs.length === 0) throw new InputError("LOG", "a log of nccl-tests");
  const tables = chosenTables(
    logs.flatMap(({ name, text }) => readMeasurements(text, name, collective)),
    options,
  );
  for (const table of tables) refuseOtherNetwork(topology, table);
  let leftOut = 0;
  const measured = tables.flatMap((table): Measured[] => {
    const kept = table.notes.map((note) => !isOfAnother(note, algorithm));
    leftOut += kept.filter((own) => !own).length;
    if (!kept.includes(true)) return [];
    const own = (_: number, i: number): boolean => kept[i] as boolean;
    const ranks = table.ranks ?? topology.npuCount;
    return [{ table, ranks, sizeBytes: table.sizeBytes.filter(own), timeUs: table.timeUs.filter(own) }];
  });
  const source = logs.map(({ name }) => name).join(", ");
  if (measured.length === 0)
    throw new InputError(source, `points of ${algorithm}`, inWords(`${leftOut} points of other algorithms`));
  return { tables, measured, leftOut, source };
}

/** Returns what a library's algorithm costs, for each table. */
function setupsOf(topology: Topology, classes: LinkClasses, measured: readonly Measured[], algorithm: FittedAlgorithm) {
  return measured.map((one) => {
    const { collective, hosts, source } = one.table;
    const request: CostRequest = { algorithm, collective, ranks: one.ranks, hosts, source };
    return { ...one, request, terms: collectiveCost(topology, classes, request) };
  });
}

type Setup = ReturnType<typeof setupsOf>[number];

/** Returns the fit; which hops of a ring nothing waits for depends on the latencies, so both are found in turns. */
function fitInTurns(
  topology: Topology,
  classes: LinkClasses,
  first: readonly Setup[],
): { setups: readonly Setup[]; fit: AlphaBetaFit } {
  let setups = first;
  let fit = fitAlphaBeta(setups, classes.classes);
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const latencies = fit.latencyUs.map(({ value }) => value * PS_PER_US);
    const now = classes.classes.map((one, index) => ({ ...one, latencyPs: latencies[index] as number }));
    const next = setups.map((setup) => ({
      ...setup,
      terms: collectiveCost(topology, { ...classes, classes: now }, setup.request),
    }));
    if (next.every(({ terms }, s) => terms.hops.every((hops, k) => hops === (setups[s] as Setup).terms.hops[k]))) break;
    setups = next;
    fit = fitAlphaBeta(setups, classes.classes);
  }
  return { setups, fit };
}

/** Returns every point with what the fit makes of it. */
function pointsOf(used: readonly Measured[], fitted: readonly Float64Array[]): CalibratedPoint[] {
  return used.flatMap(({ table, ranks, sizeBytes, timeUs }, s) =>
    Array.from(sizeBytes, (size, i): CalibratedPoint => {
      const [measuredUs, fittedUs] = [timeUs[i], (fitted[s] as Float64Array)[i]];
      return {
        source: table.source,
        collective: table.collective,
        ranks,
        sizeBytes: size,
        measuredUs,
        fittedUs,
        error: (fittedUs - measuredUs) / measuredUs,
      };
    }),
  );
}

/**
 * Returns the network with the latencies and bandwidths that measurements of nccl-tests tell, and how well they fit: of one box
 * the figures inside, of several those between. Time is the sum of hops x latency and size over the bottleneck, as the algorithm
 * of a library sends; what the data do not tell stays as it was and is named. Throws InputError for other logs and algorithms,
 * ranks that the network does not have, and fewer sizes than unknowns.
 */
export function calibrate(
  topology: Topology,
  logs: readonly CalibrationLog[],
  options: CalibrateOptions = {},
): Calibration {
  const { algorithm = "ring", regimes = 1, sizeBytes } = options;
  if (!isFitted(algorithm))
    throw new InputError(
      optionName("algorithm"),
      `one of ${FITTED_ALGORITHMS.join(", ")} (calibrateSchedules takes the others)`,
      algorithm,
    ).as("unknown-name");
  if (!Number.isInteger(regimes) || regimes < 1 || regimes > MOST_REGIMES)
    throw new InputError(optionName("regimes"), `a number of ranges from 1 to ${MOST_REGIMES}`, regimes).as(
      "out-of-range",
    );
  const asked = askedFor(topology, logs, options);
  const { measured, source } = asked;
  const classes = linkClasses(topology);
  const first = setupsOf(topology, classes, measured, algorithm);
  refuseFewPoints(first, classes.classes, regimes, source);
  const sizes = new Set(first.flatMap((setup) => [...setup.sizeBytes])).size;
  if (regimes > 1 && sizes > MOST_REGIME_SIZES)
    throw new InputError(optionName("regimes"), `1 for more than ${MOST_REGIME_SIZES} sizes`, regimes);

  const { setups, fit: whole } = fitInTurns(topology, classes, first);
  const ranges = regimes > 1 ? bestRegimes(setups, classes.classes, whole.bottleneck, regimes) : [];
  const range =
    sizeBytes === undefined ? undefined : (ranges.find(({ toBytes }) => sizeBytes <= toBytes) ?? ranges.at(-1));
  const used =
    range === undefined
      ? setups
      : within(setups, range.fromBytes, range.toBytes).map((part, s) => ({
          ...(setups[s] as (typeof setups)[number]),
          ...part,
        }));
  const fit = range === undefined ? whole : fitAlphaBeta(used, classes.classes);
  return calibrationOf(topology, classes, asked, {
    algorithm,
    fit,
    used,
    regimes: ranges.map((regime) => regimeRow(regime, setups)),
    regimeErrors: regimes > 1 ? regimeErrorsOf(ranges, setups) : null,
    notes: [
      ...(sizeBytes === undefined || range === undefined
        ? []
        : [timesNote(sizeBytes, range, measured), ...outsideNotes(sizeBytes, range, ranges)]),
      ...(regimes === 1 && sizes <= MOST_REGIME_SIZES ? worthRegimes(setups, classes, fit) : []),
    ],
  });
}

/** Returns the errors of all points, each by the line of its range. */
function regimeErrorsOf(ranges: readonly Regime[], setups: readonly FitSetup[]): CalibrationErrors {
  const together = ranges.flatMap((regime) => fittedBy(regime, setups));
  return errorsOf(
    together.map(([time]) => time),
    together.map(([, time]) => time),
  );
}

/** Returns what each log's collective takes at a size, by the line of a range. */
function timesNote(sizeBytes: number, { callUs, usPerByte }: Regime, measured: readonly Measured[]): string {
  const times = measured.map(({ table, ranks }, s) => {
    const us = (callUs[s] as number) + sizeBytes * (usPerByte[s] as number);
    return `${table.collective} among ${ranks} ${formatTime(us * PS_PER_US)}`;
  });
  return `${formatSize(sizeBytes)} takes by the line of its range: ${[...new Set(times)].join(", ")}`;
}

/** Returns a note where no measured size is as small, or as large, as the one that the figures are for. */
function outsideNotes(sizeBytes: number, { fromBytes, toBytes }: Regime, ranges: readonly Regime[]): string[] {
  const least = Math.min(...ranges.map((one) => one.fromBytes));
  const most = Math.max(...ranges.map((one) => one.toBytes));
  if (sizeBytes >= least && sizeBytes <= most) return [];
  return [
    `the logs measured ${formatSize(least)} to ${formatSize(most)}: for ${formatSize(sizeBytes)} the line of ${formatSize(fromBytes)} to ${formatSize(toBytes)} is carried on, which nothing measured confirms`,
  ];
}

/** One line that is off by more than this on average is worth splitting, where two halve that. */
const LARGE_ERROR = 0.05;
/** Points for each range: two fit any line. */
const LEAST_POINTS = 4;

/** Returns a note where one line for all sizes fits poorly and two would do; none else. */
function worthRegimes(setups: readonly FitSetup[], { classes }: LinkClasses, fit: AlphaBetaFit): string[] {
  const measured = setups.flatMap(({ timeUs }) => [...timeUs]);
  const { mean } = errorsOf(
    measured,
    fit.fittedUs.flatMap((us) => [...us]),
  );
  const sizes = new Set(setups.flatMap(({ sizeBytes }) => [...sizeBytes])).size;
  if (mean <= LARGE_ERROR || sizes < 2 * LEAST_POINTS) return [];
  const ranges = bestRegimes(setups, classes, fit.bottleneck, 2);
  const split = regimeErrorsOf(ranges, setups).mean;
  if (split > mean / 2) return [];
  const upTo = formatSize((ranges[0] as Regime).toBytes);
  const option = optionName("regimes");
  return [
    `one line for all sizes is off by ${percentText(mean)} on average, two (up to ${upTo}, and above) by ${percentText(split)}: ${option} 2, with ${optionName("sizeBytes")} for the size that matters`,
  ];
}

/** A fit of latencies and bandwidths needs at least this many sizes. */
const LEAST_SIZES = 2;

/**
 * Returns what `calibrate` does where the schedules of any of our algorithms ran: they are made for the network as it is given,
 * one for each collective, number of ranks and size, and the figures are found with which their simulated times are the measured
 * ones (fitSchedules). Throws InputError as `calibrate` and `synthesize` do, CancelledError.
 */
export async function calibrateSchedules(
  engine: Engine,
  topology: Topology,
  logs: readonly CalibrationLog[],
  options: CalibrateSchedulesOptions,
): Promise<Calibration> {
  const {
    algorithm = "ring",
    regimes = 1,
    sizeBytes: _s,
    collective: _c,
    platform: _p,
    onProgress,
    ...making
  } = options;
  if (isFitted(algorithm)) {
    const [extra] = (["chunks", "policy", "seed", "switching"] as const).filter((name) => making[name] !== undefined);
    if (extra === undefined) return calibrate(topology, logs, options);
    const expected = `nothing where ${algorithm} is timed as a library runs it; one of \`banyan list algorithms\` takes it,`;
    throw new InputError(optionName(extra), expected, making[extra]).as("not-together");
  }
  if (regimes !== 1)
    throw new InputError(
      optionName("regimes"),
      `1 for ${algorithm}, whose critical path is found for every size,`,
      regimes,
    ).as("not-together");
  const asked = askedFor(topology, logs, options);
  const { measured, source } = asked;
  const sizes = new Set(measured.flatMap(({ sizeBytes }) => [...sizeBytes])).size;
  if (sizes < LEAST_SIZES)
    throw new InputError(source, `at least ${LEAST_SIZES} sizes for a fit of latencies and bandwidths`, sizes).as(
      "out-of-range",
    );
  const classes = linkClasses(topology);
  const made = new Map<string, Clock>();
  const timed: TimedSchedule[] = [];
  const total = measured.reduce((sum, { sizeBytes }) => sum + new Set(sizeBytes).size, 0);
  const ends: number[] = [];
  for (const { table, ranks, sizeBytes: points, timeUs } of measured) {
    for (const sizeBytes of new Set(points)) {
      onProgress?.(timed.length, total);
      const { collective, hosts } = table;
      const key = `${collective} ${ranks} ${hosts} ${sizeBytes}`;
      let clock = made.get(key);
      if (clock === undefined) {
        const members = placedRanks(topology, { ranks, hosts, source: table.source }).flat();
        const group = members.map((npu) => topology.nodeNames[npu]).join(",");
        const request = { ...making, algorithm, collective, sizeBytes, ...(ranks < topology.npuCount && { group }) };
        clock = clockOf(engine, classes, making, await synthesize(engine, topology, request, false));
        made.set(key, clock);
      }
      timed.push({ clock, log: ends.length, sizeBytes, timeUs: timeUs.filter((_, i) => points[i] === sizeBytes) });
    }
    ends.push(timed.length);
  }
  const { fittedUs, bottleneck, ...fit } = fitSchedules(timed, classes.classes);
  return calibrationOf(topology, classes, asked, {
    algorithm,
    fit: {
      ...fit,
      // points stand by size, those of one size next to each other
      fittedUs: ends.map((end, t) => Float64Array.from(fittedUs.slice(ends[t - 1] ?? 0, end).flatMap((us) => [...us]))),
      bottleneck: Int32Array.from(ends, (end) => bottleneck[end - 1]),
    },
    used: measured,
    regimes: [],
    regimeErrors: null,
    notes: [
      `${count(made.size, "schedule")} of ${algorithm}, made for ${topology.name} as it was, simulated with the fitted figures`,
    ],
  });
}

/** Returns how long a schedule takes with other figures. */
function clockOf(
  engine: Engine,
  { classOf }: LinkClasses,
  { switching }: Pick<CalibrateSchedulesOptions, "switching">,
  { schedule, report }: SynthesizeResult,
): Clock {
  const kind = kindOf(schedule);
  const { pieces } = report.schedule;
  return (latencyPs, bytesPerSecond) => {
    const network = {
      ...schedule.topology,
      linkLatencyPs: Float64Array.from(classOf, (index) => latencyPs[index]),
      linkBytesPerSecond: Float64Array.from(classOf, (index) => bytesPerSecond[index]),
    };
    return kind.on(network).simulate({ replay: engine.kernels.replay, pieces, switching })?.ps ?? 0;
  };
}

interface Fitted extends Pick<CalibrationReport, "algorithm" | "regimes" | "regimeErrors"> {
  readonly fit: AlphaBetaFit;
  /** Points of the fit, a table after the other, as the fit has them. */
  readonly used: readonly Measured[];
  readonly notes?: readonly string[];
}

/** Returns the report of a fit and the network that it makes. */
function calibrationOf(
  topology: Topology,
  classes: LinkClasses,
  { tables, leftOut }: Asked,
  { algorithm, fit, used, notes = [], ...ranges }: Fitted,
): Calibration {
  const points = pointsOf(used, fit.fittedUs);
  const errors = errorsOf(
    points.map(({ measuredUs }) => measuredUs),
    points.map(({ fittedUs }) => fittedUs),
  );
  const figures = figuresOf(classes, fit);
  const from = [...new Set(tables.map(({ platform, source: name }) => platform || name))].join(", ");
  const sizes = points.map(({ sizeBytes }) => sizeBytes);
  const measured = { fromBytes: Math.min(...sizes), toBytes: Math.max(...sizes) };
  const range = `${formatSize(measured.fromBytes)} to ${formatSize(measured.toBytes)}`;
  const said = `${CALIBRATED} ${points.length} points, ${range}, of ${[...new Set(points.map((point) => point.collective))].join(", ")} as ${algorithm} (${from}); mean error ${percentText(errors.mean)}, worst ${percentText(errors.worst)}`;
  const report: CalibrationReport = {
    schema: "banyan/calibration@1",
    topology: topology.name,
    algorithm,
    classes: figures,
    callUs: fit.callUs,
    points,
    errors,
    limits: used.map(({ table, ranks }, s) => ({
      source: table.source,
      collective: table.collective,
      ranks,
      class: classes.classes[fit.bottleneck[s]]?.name ?? "",
    })),
    ...ranges,
    leftOut,
    notes: [...fewRanksNotes(topology, used), ...fasterNotes(figures), ...notes, ...notesOf(topology, tables)],
  };
  return { report, topology: calibrated(topology, classes, figures, { source: said, measured }) };
}

/** Returns which GPUs of a network without boxes were taken to have run, where no log is of all of them. */
function fewRanksNotes({ name, nodeNames, nodeTraits, npuCount }: Topology, used: readonly Measured[]): string[] {
  const npus = nodeTraits.slice(0, npuCount);
  if (npus.some(({ group }) => group !== undefined) || used.some(({ ranks }) => ranks === npuCount)) return [];
  const notes = used.map(
    ({ table, ranks }) =>
      `${table.source} is of ${ranks} GPUs and ${name} has ${npuCount}: the first ${ranks} (${nodeNames[0]} to ${nodeNames[ranks - 1]}) are taken to have run; where it is of a whole network, name that one`,
  );
  return [...new Set(notes)];
}

/** Figures of networks are nominal: what is measured may exceed them by this much. */
const ABOVE_NOMINAL = 1.05;

/** Returns which links were measured faster than the network says that they are. */
const fasterNotes = (figures: readonly CalibratedClass[]): string[] =>
  figures.flatMap(({ name, before, gbps }) =>
    gbps.certainty !== "kept" && gbps.value > ABOVE_NOMINAL * before.gbps
      ? [
          `${name} is fitted with ${significant(gbps.value)} GB/s, ${significant(gbps.value / before.gbps, 3)} times what the network says it has: is the log of this network, and of this algorithm (${optionName("algorithm")})?`,
        ]
      : [],
  );

/** Returns what was concluded of the logs, and which were measured on other GPUs than the network's name tells. */
const notesOf = (topology: Topology, tables: readonly Measurements[]): string[] => [
  ...new Set(tables.flatMap((table) => [...table.remarks, ...otherGpusNotes(topology, table)])),
];

/** [points of the range] measured and fitted time. */
const fittedBy = (
  { fromBytes, toBytes, callUs, usPerByte }: Regime,
  setups: readonly FitSetup[],
): (readonly [number, number])[] =>
  within(setups, fromBytes, toBytes).flatMap(({ sizeBytes, timeUs }, s) =>
    Array.from(sizeBytes, (size, i) => [timeUs[i], callUs[s] + size * usPerByte[s]] as const),
  );

function regimeRow(regime: Regime, setups: readonly FitSetup[]): CalibrationReport["regimes"][number] {
  const { fromBytes, toBytes, callUs, usPerByte } = regime;
  const pairs = fittedBy(regime, setups);
  const rate = usPerByte[0] > 0 ? PS_PER_US / BYTES_PER_GB / usPerByte[0] : null;
  return {
    fromBytes,
    toBytes,
    points: pairs.length,
    callUs: callUs[0],
    algbwGBps: rate,
    errors: errorsOf(
      pairs.map(([time]) => time),
      pairs.map(([, time]) => time),
    ),
  };
}

function figuresOf({ classes }: LinkClasses, fit: AlphaBetaFit): CalibratedClass[] {
  const toFigure = (figure: FittedFigure): FittedFigure => {
    const scale = PS_PER_US / BYTES_PER_GB;
    return { ...figure, value: figure.value * scale, error: figure.error === null ? null : figure.error * scale };
  };
  return classes.map(({ name, links, bytesPerSecond, latencyPs }, index) => ({
    name,
    links,
    before: { gbps: toGBps(bytesPerSecond), latencyUs: latencyPs / PS_PER_US },
    gbps: toFigure(fit.bytesPerUs[index] as FittedFigure),
    latencyUs: fit.latencyUs[index] as FittedFigure,
  }));
}

/** Returns the network with fitted figures, the others to the last byte and picosecond as they were. */
function calibrated(
  topology: Topology,
  classes: LinkClasses,
  figures: readonly CalibratedClass[],
  said: { readonly source: string; readonly measured: SizeRange },
): Topology {
  const own = figures.map(({ name, gbps, latencyUs }, index) => {
    const before = classes.classes[index] as LinkClasses["classes"][number];
    return {
      bytesPerSecond: gbps.certainty === "kept" ? before.bytesPerSecond : bandwidthFromGBps(gbps.value, name),
      latencyPs: latencyUs.certainty === "kept" ? before.latencyPs : latencyFromUs(latencyUs.value, name),
    };
  });
  return withFigures(topology, classes, own, said);
}
