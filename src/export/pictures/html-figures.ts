import { collectiveName } from "../../model/collective/collective.ts";
import { formatShare, formatSize, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";

interface TimingFigures {
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
  readonly model: string;
}

interface BoundFigures {
  readonly us: number;
  readonly exact: string;
  readonly kind: string;
  readonly witness: Readonly<Record<string, unknown>>;
  readonly because: string;
}

/** What a report tells of a result; the JSON of `synth --json` has these fields, and others. */
export interface ReportFigures {
  readonly collective: { readonly kind: string; readonly sizeBytes: number; readonly chunksPerNpu: number };
  readonly algorithm: string;
  readonly schedule: {
    readonly kind: string;
    readonly transfers: number | null;
    readonly trees?: number;
    readonly pieces?: number;
  };
  readonly time: TimingFigures;
  readonly limit: BoundFigures;
  readonly classLimit: (BoundFigures & { readonly holdsFor: string }) | null;
  readonly ofLimit: number | null;
  readonly ofClassLimit: number | null;
  readonly gaps: readonly { readonly because: string }[];
  readonly throughput?: {
    readonly algbwGBps: number;
    readonly busbwGBps: number;
    readonly height: number;
    readonly distinctTrees: number;
  };
  readonly verified: boolean;
  readonly notes?: readonly string[];
  /** null: read from a file, which does not tell. */
  readonly synthesis: {
    readonly ms: number;
    readonly backend: string;
    readonly seed: number;
    readonly trials: number;
    readonly policy: string;
  } | null;
}

const nameOf = (kind: string): string => (kind === "custom" ? "custom collective" : collectiveName(kind));

/** Returns "All-gather of 1 GB on mesh:4x4". */
export function titleOf({ collective }: ReportFigures, topology: Topology): string {
  const name = nameOf(collective.kind);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} of ${formatSize(collective.sizeBytes)} on ${topology.name || "a network"}`;
}

const us = (time: number): string => formatTime(time * PS_PER_US);
const gbps = (value: number | null): string => (value === null ? "–" : `${Number(value.toPrecision(4))} GB/s`);

/** Returns the result in one sentence. */
export function answerOf({ synthesis, ...report }: ReportFigures): string {
  const { collective, algorithm, time: timing, limit, ofLimit, verified } = report;
  const by = synthesis === null ? "" : ` by ${algorithm}`;
  const checked = verified ? "The schedule was verified." : "The schedule was not verified.";
  const what = `The ${nameOf(collective.kind)} of ${formatSize(collective.sizeBytes)}${by}`;
  if (timing.us === 0) return `${what} takes no time: nothing has to be sent. ${checked}`;
  const share = ofLimit ?? limit.us / timing.us;
  const distance =
    share >= 1
      ? "which is as fast as any algorithm can be"
      : `which is ${formatShare(share)} of what any algorithm can reach`;
  return `${what} takes ${us(timing.us)} (bus bandwidth ${gbps(timing.busbwGBps)}), ${distance}. ${checked}`;
}

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

/** Returns the figures that stand at the top of the page. */
export function figuresOf(report: ReportFigures): Figure[] {
  const { time: timing, ofLimit, ofClassLimit, verified, throughput, limit, classLimit } = report;
  return [
    { name: "Time", value: us(timing.us), note: `model ${timing.model}` },
    { name: "Alg. bandwidth", value: gbps(timing.algbwGBps), note: "size / time" },
    { name: "Bus bandwidth", value: gbps(timing.busbwGBps), note: "as nccl-tests defines it" },
    ...(throughput === undefined
      ? []
      : [
          {
            name: "Rate of the trees",
            value: gbps(throughput.algbwGBps),
            note: "with ever more pieces",
          },
        ]),
    ...(ofLimit === null
      ? []
      : [{ name: "Of the limit", value: formatShare(ofLimit), note: `${us(limit.us)}; any algorithm` }]),
    ...(ofClassLimit === null || classLimit === null
      ? []
      : [
          {
            name: "Of its class",
            value: formatShare(ofClassLimit),
            note: `${us(classLimit.us)}; ${classLimit.holdsFor}`,
          },
        ]),
    { name: "Verified", value: verified ? "yes" : "no", note: "by a judge that shares no code with the maker" },
  ];
}

/** Returns names and values of how the schedule was made. */
export function madeOf(report: ReportFigures, version: string): [string, string][] {
  const { algorithm, collective, synthesis } = report;
  return [
    ["Algorithm", algorithm],
    ["Schedule", scheduleOf(report)],
    ["Chunks per NPU", String(collective.chunksPerNpu)],
    ...(synthesis === null ? [] : synthesisRows(synthesis)),
    ["Banyan", version],
  ];
}

/** Returns how much a schedule is: all trees, also those that symmetry spares a file. */
function scheduleOf({ schedule: { trees, pieces = 1, transfers }, throughput }: ReportFigures): string {
  const number = (count: number, name: string): string =>
    `${count.toLocaleString("en")} ${count === 1 ? name : `${name}s`}`;
  if (trees === undefined) return number(transfers ?? 0, "transfer");
  return `${number(throughput?.distinctTrees ?? trees, "tree")}, ${number(pieces, "piece")} a copy`;
}

const synthesisRows = ({
  seed,
  trials,
  policy,
  backend,
  ms,
}: NonNullable<ReportFigures["synthesis"]>): [string, string][] => [
  ["Seed", String(seed)],
  ["Trials", String(trials)],
  ["Policy", policy],
  ["Kernels", backend],
  ["Synthesis", us(ms * 1000)],
];

/** Returns why nothing is faster, and what lies between, a sentence each. */
export function boundSentences({ limit, classLimit, time, gaps }: ReportFigures): string[] {
  return [
    `No algorithm can take less than ${us(limit.us)}: ${limit.because}.`,
    ...(classLimit === null
      ? []
      : [
          `Schedules like this one (${classLimit.holdsFor}) take at least ${us(classLimit.us)}: ${classLimit.because}.`,
        ]),
    `This schedule takes ${us(time.us)}.`,
    ...gaps.map(({ because }) => `${because.charAt(0).toUpperCase()}${because.slice(1)}.`),
  ];
}
