import type { NamedCollective } from "../model/collective/collective.ts";
import type { KindName } from "../model/steps/schedule.ts";
import type { Layout } from "../picture/scene/layout.ts";
import type { Comparison } from "../report/comparison.ts";
import type { Report } from "../report/result.ts";
import type { Options } from "../request/option-table.ts";
import type { Progress } from "../request/progress.ts";
import type { Lack } from "../run/export/exporter.ts";
import type { KernelCase } from "../run/kernel-problems.ts";
import type { FileReport } from "../run/report-file.ts";
import type { TrainingReport } from "../run/training/report.ts";
import type { PlanFile, PlanView } from "./plan-protocol.ts";

/**
 * What the page and its worker say to each other. The page knows no kernels, readers or synthesizers: it asks, and gets plain
 * data and columns that can be drawn. Every request says all that is needed, so that a worker that was ended (cancelled, out
 * of memory) is replaced by a new one without loss.
 */

/** A file that the user gave; blobs pass between threads without being copied. */
export interface GivenFile {
  readonly name: string;
  readonly content: Blob;
}

/**
 * A network in the words of the command line: `topology` is a preset expression where there is no file. Of the options those of
 * networks count: without, degrade, gpu, assume, nodes, profileSize, profileScale.
 */
export interface NetworkWish {
  readonly topology: string;
  readonly file: GivenFile | null;
  readonly options: Options;
}

/** What to make: options are those of `banyan synth`, as texts ("allreduce", "64MiB", "auto"). */
export interface MakeWish {
  readonly network: NetworkWish;
  readonly options: Options;
}

/**
 * A schedule that was made or opened. The worker finds it by `id` while it lives; another worker reads the file again, or makes
 * it again from the wish: the same words give the same bytes, but where a limit on time decides.
 */
export interface ScheduleRef {
  readonly id: string;
  readonly file: GivenFile | null;
  readonly wish: MakeWish | null;
  /** Network and collective that were chosen when a list of sends was opened, which leaves them open. */
  readonly sendsFor?: MakeWish;
  /** How long it takes in microseconds, where a limit on time decided which one was found: another run may find another. */
  readonly us: number | null;
}

/** What an export is about. */
export type Subject =
  | { readonly kind: "network"; readonly wish: NetworkWish }
  | { readonly kind: "schedule"; readonly schedule: ScheduleRef }
  | { readonly kind: "program"; readonly file: GivenFile };

/** A training step: options are those of `banyan train` that say what is trained and how, as texts. */
export interface TrainWish {
  readonly network: NetworkWish;
  /** A name of the catalogue, or a file: Hugging Face's config.json. */
  readonly model: string | GivenFile;
  readonly options: Options;
}

/** A plan of tensor states: options are those of `banyan plan`, as texts. */
export interface PlanWish {
  readonly network: NetworkWish;
  /** A name of the catalogue, or a file: Hugging Face's config.json, or a graph. */
  readonly model: string | GivenFile;
  readonly options: Options;
}

/** Requests by name: what is asked, and what comes back. */
export interface Requests {
  /** What there is to choose from; the engine that runs. */
  welcome: { ask: Record<string, never>; answer: Welcome };
  network: { ask: { readonly wish: NetworkWish }; answer: NetworkView };
  /** Tells what a dropped or pasted file is, and reads it. */
  open: {
    /** `wish`: network and collective that are chosen, for a list of sends. */
    ask: { readonly file: GivenFile; readonly options: Options; readonly wish?: MakeWish };
    answer: Opened;
  };
  make: { ask: { readonly wish: MakeWish }; answer: ScheduleView };
  /** The schedule as `synth -o FILE` writes it. */
  file: { ask: { readonly schedule: ScheduleRef }; answer: WrittenSchedule };
  /** When links are held; null with a reason where there are too many transfers. */
  timeline: { ask: { readonly schedule: ScheduleRef }; answer: TimelineView | Refusal };
  /** Who holds what, when. */
  hops: { ask: { readonly schedule: ScheduleRef }; answer: HopsView | Refusal };
  loads: { ask: { readonly schedule: ScheduleRef }; answer: LoadsView | Refusal };
  trees: { ask: { readonly schedule: ScheduleRef }; answer: TreesView | Refusal };
  /** Edges of one tree of one forest. */
  tree: { ask: { readonly schedule: ScheduleRef; readonly forest: number; readonly tree: number }; answer: TreeView };
  compare: { ask: { readonly wish: MakeWish; readonly sizes: readonly string[] }; answer: Comparison };
  /** How long a program takes on a network that has as many NPUs as it has ranks. `options`: size, group. */
  programTime: {
    ask: { readonly file: GivenFile; readonly network: NetworkWish; readonly options: Options };
    answer: ProgramTime | Refusal;
  };
  export: { ask: { readonly subject: Subject; readonly to: string; readonly options: Options }; answer: Exported };
  /** Models that can be trained, accelerators, and what the network has of them. */
  workloads: { ask: { readonly network: NetworkWish }; answer: Workloads };
  train: { ask: { readonly wish: TrainWish }; answer: TrainingView };
  /** When the tasks of a step run, with the collectives of a row of the report. */
  trainingTimeline: { ask: { readonly wish: TrainWish; readonly row: number }; answer: StepTimeline | Refusal };
  /** The same as a trace for Perfetto. */
  trainingTrace: { ask: { readonly wish: TrainWish; readonly row: number }; answer: GivenFile };
  /** How the tensors of a step lie so that it is fastest. */
  plan: { ask: { readonly wish: PlanWish }; answer: PlanView };
  /** When the tasks of the best plan run. */
  planTimeline: { ask: { readonly wish: PlanWish }; answer: StepTimeline | Refusal };
  /** The best plan as a file. */
  planFile: { ask: { readonly wish: PlanWish; readonly to: PlanFile }; answer: GivenFile };
  /** How long kernels take in this tab; on the way those that are done have their times. */
  kernels: { ask: Record<string, never>; answer: readonly KernelTimes[] };
}
export type RequestName = keyof Requests;
export type Ask<Name extends RequestName> = Requests[Name]["ask"];
export type Answer<Name extends RequestName> = Requests[Name]["answer"];

/** To the worker. */
export type Order =
  | { readonly kind: "ask"; readonly id: number; readonly name: RequestName; readonly ask: Ask<RequestName> }
  | { readonly kind: "cancel"; readonly id: number };

/** From the worker. */
export type Message =
  /** It is worked on; one that was cancelled while it waited behind others never is. */
  | { readonly kind: "begun"; readonly id: number }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answer<RequestName> }
  | { readonly kind: "failed"; readonly id: number; readonly failure: Failure }
  | { readonly kind: "progress"; readonly id: number; readonly progress: Progress }
  /** A line of a table is done: what there is so far. */
  | { readonly kind: "partial"; readonly id: number; readonly answer: Answer<RequestName> };

export interface Failure {
  /**
   * "input": the user can mend it, `place` is what caused it (an option's name such as "--size", or a file's name with the line);
   * "infeasible": no schedule exists; "cancelled"; "memory": the worker has no more memory and has to be replaced;
   * "internal": a mistake of ours.
   */
  readonly kind: "input" | "infeasible" | "cancelled" | "memory" | "internal";
  readonly place: string | null;
  /** The option that caused it, by its property in the API; null or absent where it is something else. */
  readonly option?: string | null;
  /** One sentence. */
  readonly message: string;
}

/** Why a view cannot be shown, a sentence. */
export interface Refusal {
  readonly refusal: string;
}

export interface Welcome {
  readonly version: string;
  /** "wasm" or "js". */
  readonly backend: string;
  readonly threads: number;
  readonly presets: readonly { readonly name: string; readonly form: string; readonly description: string }[];
  readonly collectives: readonly { readonly kind: NamedCollective; readonly name: string; readonly hasRoot: boolean }[];
  readonly algorithms: readonly AlgorithmLine[];
  /** Networks that can be read. */
  readonly formats: readonly { readonly name: string; readonly description: string }[];
  /** What can be written, and of what. */
  readonly exports: readonly {
    readonly name: string;
    readonly description: string;
    readonly of: readonly Subject["kind"][];
    /** It is several files; they come as a zip. */
    readonly folder: boolean;
  }[];
}

export interface AlgorithmLine {
  readonly name: string;
  readonly description: string;
  readonly makes: "steps" | "trees" | "phases";
  readonly collectives: readonly string[];
  /** It solves integer programs: slow. */
  readonly solves: boolean;
  /** Options that it takes beside those that all take. */
  readonly options: readonly string[];
  readonly policies: readonly string[];
}

/** A network to be drawn. Nodes 0 .. npuCount - 1 are NPUs, switches follow. */
export interface NetworkView {
  readonly name: string;
  /** Of Topology; see topologyHash. */
  readonly hash: string;
  readonly npuCount: number;
  /** "64 NPUs, 3 switches, 512 links" */
  readonly sizeText: string;
  /** [nodes] */
  readonly nodeNames: readonly string[];
  readonly shape: readonly number[];
  readonly sources: readonly string[];
  /** Boxes, pods or racks by name; [nodes] of nodeGroup index them, -1: none. */
  readonly groups: readonly string[];
  readonly nodeGroup: Int32Array;
  /** [nodes] bit 0: duplicates, bit 1: reduces. */
  readonly nodeTraits: Uint8Array;
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  readonly linkBytesPerSecond: Float64Array;
  readonly linkLatencyPs: Float64Array;
  readonly wires: WireColumns;
  /** Bandwidths that look alike, ascending. */
  readonly classes: readonly { readonly text: string; readonly wires: number }[];
  readonly placement: Placement;
  /** The same network without what failed or was degraded, where something was: for the difference. */
  readonly whole: { readonly npuCount: number; readonly nodeNames: readonly string[] } | null;
  /** What failed, where it stood: nodes and wires of the whole network that are not in this one. */
  readonly gone: {
    readonly nodes: readonly {
      readonly name: string;
      readonly x: number;
      readonly y: number;
      readonly isNpu: boolean;
    }[];
    readonly wires: readonly GoneWire[];
  };
}

/** All links between two nodes of the whole network, by name, none of which is left. */
export interface GoneWire {
  readonly a: string;
  readonly b: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** As of a placement. */
  readonly bend: number;
}

/** All links between two nodes as one line: wire w joins a[w] < b[w] (node ids). */
export interface WireColumns {
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** [wires] bytes per second of all links from a to b, and back. */
  readonly forward: Float64Array;
  readonly backward: Float64Array;
  /** [wires] index of `classes`. */
  readonly bandwidthClass: Uint8Array;
  /** [links] the wire that a link is part of. */
  readonly ofLink: Int32Array;
}

/** Where nodes stand; y grows downwards. */
export interface Placement {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Radius of an NPU. */
  readonly radius: number;
  /** [nodes] how wide a switch may be drawn. */
  readonly room: Float32Array;
  readonly width: number;
  readonly height: number;
  /** [wires] how far the middle of the line from a to b stands off the straight one, to its left. */
  readonly bend: Float32Array;
  readonly boxes: Layout["boxes"];
  /** What the layout shows ("8 boxes of 8", "32 x 32 mesh"), for people. */
  readonly caption: string;
}

/** Tells what a file was. */
export type Opened =
  | { readonly kind: "network"; readonly format: string; readonly network: NetworkView }
  | {
      readonly kind: "schedule";
      readonly network: NetworkView;
      readonly schedule: ScheduleView;
      /** Options that ask for its collective, of its algorithm where the file names it; null for a custom collective. */
      readonly asked: Options | null;
      /** A list of sends: how it was read, in sentences; it is for the network that is chosen, unless it names one. */
      readonly sends?: { readonly notes: readonly string[]; readonly namesNetwork: boolean };
    }
  | {
      readonly kind: "program";
      readonly name: string;
      readonly explanation: string;
      readonly rankCount: number;
      readonly verified: boolean;
      readonly violationCount: number;
      /** The first of them, in sentences. */
      readonly violations: readonly string[];
      /** What is no mistake of the program itself but worth knowing: the first few. */
      readonly warnings: readonly string[];
    };

/** The report of the command line, as it stands in `synth --json`. */
export type AnyReport = Report | FileReport;

/** A schedule that was made or opened. */
export interface ScheduleView {
  readonly ref: ScheduleRef;
  readonly report: AnyReport;
  /** The result in one sentence. */
  readonly answer: string;
  /** How far measurements stay behind the answer, where some are known to. */
  readonly optimism: string | null;
  readonly figures: readonly { readonly name: string; readonly value: string; readonly note: string }[];
  readonly kind: KindName;
  readonly chunkCount: number;
  /** Simulated, or as planned where there was no simulation. */
  readonly totalPs: number;
  /** What proves the limit: a set of nodes whose border is the bottleneck; null where something else does. */
  readonly cut: { readonly nodes: Int32Array; readonly direction: "in" | "out" } | null;
  /** The command that makes the same file; "" for a file. */
  readonly command: string;
  /** The network that it runs on, where that is not the wish's: NPUs outside the group were left out. Node ids are of it. */
  readonly network: NetworkView | null;
  /** What formats of exports need and the schedule has none of, by format; pictures as "svg: time". */
  readonly lacks: Readonly<Record<string, Lack>>;
  /** What is wrong with a file, in sentences: the first few. */
  readonly violations: readonly string[];
  /** How long it took in the worker: read, made, verified, simulated, bounded; 0 for a file. */
  readonly ms: number;
}

export interface WrittenSchedule {
  readonly file: GivenFile;
  /** SHA-256 of the file, hexadecimal: that of the command line's file. Null where the page is not in a secure context. */
  readonly sha256: string | null;
}

/** See Timeline of picture/scene/timeline.ts: slice i holds share[i] of link[i] for lastsPs[i] from startPs[i] on, ascending starts. */
export interface TimelineView {
  readonly link: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  readonly share: Float32Array;
  readonly chunk: Int32Array;
  readonly reduces: Uint8Array;
  readonly totalPs: number;
  /** Planned times, where the simulation cannot tell them apart. */
  readonly planned: boolean;
  /** What the user should know of what is shown, a sentence; "" where there is nothing to say. */
  readonly note: string;
}

/** Transfers from NPU to NPU in the order of their ends, and what each NPU has at the beginning. */
export interface HopsView {
  readonly chunk: Int32Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** 1: added to what the target holds. */
  readonly reduces: Uint8Array;
  /** [hops + 1] the wires a hop runs over, in order: wires[wireOffset[i] .. wireOffset[i + 1]]. */
  readonly wireOffset: Int32Array;
  readonly wires: Int32Array;
  readonly chunkCount: number;
  /** Bytes of a chunk, on average. */
  readonly chunkBytes: number;
  /** [chunks] NPU where it begins, or (reductions) where it ends; -1: many. */
  readonly chunkOrigin: Int32Array;
  /** Chunks that NPUs hold at the start: CSR [npus + 1]. */
  readonly heldOffset: Int32Array;
  readonly held: Int32Array;
  /** Chunks that NPUs want in the end. */
  readonly wantedOffset: Int32Array;
  readonly wanted: Int32Array;
  /** NPUs pass on what is still coming in: a hop stands for many pieces, and brings all that its source has when it ends. */
  readonly isPipelined: boolean;
  readonly totalPs: number;
  /** What the user should know of what is shown, a sentence; "" where there is nothing to say. */
  readonly note: string;
}

/** How busy links are. */
export interface LoadsView {
  /** [links] */
  readonly busyPs: Float64Array;
  readonly totalPs: number;
  /** [bins] share of all links' bandwidth that is in use, over equal parts of the time; empty where the timeline is too large. */
  readonly overTime: Float64Array;
  /** The same for each class of bandwidth of NetworkView, [classes][bins]. */
  readonly overTimeOfClass: readonly Float64Array[];
  /** What NPUs send each other; null where the transfers are not known one by one. */
  readonly traffic: TrafficView | null;
}

/** Pair i of NPUs: source[i] sends bytes[i] to target[i], over whatever links and switches; ascending, none twice. */
export interface TrafficView {
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly bytes: Float64Array;
}

export interface TreesView {
  readonly forests: readonly {
    readonly direction: "out" | "in";
    /** [trees] */
    readonly root: Int32Array;
    readonly copies: Float64Array;
    readonly height: Int32Array;
  }[];
  /** Rate of all trees, "1.2 TB/s", and the one that the bound allows, for this reason. */
  readonly rate: string;
  readonly boundRate: string;
  /** Part of the bound's rate that the trees reach. */
  readonly share: number;
  readonly because: string;
  /** Which links the trees fill most: what holds them back. */
  readonly fullest: string;
}

/** Edge i goes from[i] > to[i] over wires[wireOffset[i] .. wireOffset[i + 1]]; from the root outwards, data as `direction` says. */
export interface TreeView {
  readonly root: number;
  readonly direction: "out" | "in";
  readonly copies: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** [edges] edges from the root to its far end. */
  readonly depth: Int32Array;
  readonly wireOffset: Int32Array;
  readonly wires: Int32Array;
}

/** A program carried out on a network, as `banyan simulate FILE --topology TOPO` tells it. */
export interface ProgramTime {
  readonly ps: number;
  readonly sizeBytes: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
  readonly model: string;
}

/** A kernel on one problem: milliseconds of a call on one thread, medians. */
export interface KernelTimes extends Pick<KernelCase, "kernel" | "network"> {
  /** "all-gather" */
  readonly collective: string;
  /** Null until it is measured. */
  readonly wasmMs: number | null;
  /** Null where JavaScript has no answer of its own, too. */
  readonly js: { readonly ms: number; readonly isSame: boolean } | null;
}

export interface Exported {
  readonly file: GivenFile;
  readonly what: string;
  readonly notes: readonly string[];
}

/** What can be trained, and with which NPUs. */
export interface Workloads {
  /** `detail`: "8.03 B parameters". */
  readonly models: readonly { readonly name: string; readonly detail: string; readonly isTransformer: boolean }[];
  /** `detail`: "989.4 TFLOP/s in bf16, 85.5 GB". */
  readonly accelerators: readonly { readonly name: string; readonly detail: string }[];
  /** The accelerator that the network's name tells; null where it tells none. */
  readonly own: string | null;
  readonly npuCount: number;
}

/** What a training step takes. */
export interface TrainingView {
  readonly report: TrainingReport;
  /** How it is split on the whole network, where something of it failed and the whole could be asked the same. */
  readonly whole: { readonly npuCount: number; readonly parallel: string } | null;
  /** Row of the report that a timeline shows where none is chosen. */
  readonly shownRow: number;
}

/** What stands in a row of a step's timeline. */
export const SLICE_STATES = ["runs", "exposed", "waits"] as const;

/**
 * A step in time: slice i stands in row row[i] from startPs[i] on, rows in the order of stages, computations first, and starts
 * ascend within a row. Communications are cut where they begin or end to be waited for.
 */
export interface StepTimeline {
  /** "stage 0, compute" */
  readonly rows: readonly string[];
  /** What slices are of: "compute", "bubble", or the group that communicates. */
  readonly kinds: readonly string[];
  readonly texts: readonly string[];
  /** [slices] */
  readonly row: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  /** [slices] index of `kinds` */
  readonly kind: Uint8Array;
  /** [slices] index of SLICE_STATES: it runs, it runs and is waited for, or a computation waits for it. */
  readonly state: Uint8Array;
  /** [slices] index of `texts`: what it is, or what is waited for. */
  readonly text: Int32Array;
  /** [slices] micro batch, -1 where it is of none. */
  readonly microBatch: Int32Array;
  readonly totalPs: number;
}
