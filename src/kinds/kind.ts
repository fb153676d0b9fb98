import type { Told } from "../export/schedules/schedule-header.ts";
import type { ClassLimit } from "../model/bounds/class-limit.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import type { GivenSchedule } from "../model/joint/joint-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { JudgeSteps } from "../model/replay/steps-problem.ts";
import type { KindName } from "../model/steps/schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { PerDimension, Rate, Report, Timed, Timing } from "../report/result.ts";
import type { PhaseSimulation } from "../simulate/phases/phases.ts";
import type { Switching } from "../simulate/simulation.ts";
import type { Verification } from "../verify/steps/schedule.ts";
import type { CertificateVerdict } from "../verify/trees/certificate.ts";
import type { Violation } from "../verify/violation.ts";

export interface JudgeOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Hears of NPUs or links that are judged, where there are many. What it throws ends the judging. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Transfers one by one: the kernel that looks first; without it in JavaScript. */
  readonly judge?: JudgeSteps | undefined;
}

/** What a judge found. */
export interface Verdict extends Omit<Verification, "violations"> {
  /** Of one of several collectives with its number. */
  readonly violations: readonly (Violation & { readonly tenant?: number })[];
  /** Trees: what their certificate proves; null where the trees are faulty and have no throughput. */
  readonly certificate?: CertificateVerdict | null;
}

/** What is said of a correct schedule: "13 trees make all-gather of 1 GiB ... at 346.7 GB/s". */
export interface Deed {
  /** "1920 transfers", "512 phases of 64 chunks", "13 trees". */
  readonly by: string;
  /** "planned to end after 1.68 ms (link-busy)", "at 346.7 GB/s (1040/3); proved optimal for every schedule: ...". */
  readonly end: string;
}

/** What reports say of the making of a schedule that was read. */
export const READ_FROM_FILE: Report["synthesis"] = {
  ms: 0,
  backend: "js",
  threads: 0,
  seed: 0,
  trials: 0,
  policy: "read from a file",
  isRead: true,
};

export interface SimulateOptions {
  /** Without it what the routes of the schedule ask for. */
  readonly switching?: Switching | undefined;
  /** The kernel that replays; without it in JavaScript. */
  readonly replay?: Replay;
  readonly onProgress?: (done: number, total: number) => void;
  /** Trees: into how many pieces each tree's part is cut; without it what is fastest. */
  readonly pieces?: number | undefined;
  /** Null is returned in place of a replay of more transfers. */
  readonly most?: number;
}

/** What a simulation gave. */
export interface Simulated {
  readonly ps: number;
  readonly model: string;
  /** Trees: pieces of each tree's part. */
  readonly pieces?: number;
  /** [links] how long each is in use, picoseconds. */
  readonly linkBusyPs?: Float64Array;
  /** Phases: dimension by dimension. */
  readonly phases?: PhaseSimulation;
  readonly perDimension?: PerDimension;
  /** Several collectives: when each ends. */
  readonly tenantPs?: Float64Array;
}

/** A file that keeps a schedule, of about this many bytes; `told`: what it says of its making, and what JSON claims besides. */
export interface FileForm {
  readonly bytes: number;
  parts(told?: Told): Iterable<string | Uint8Array>;
}

/** Options of `simulate` that say nothing for some kinds. */
export type SimulateOption = "reference" | "trace" | "switching" | "chunks";

/** Returns the limit of a collective on a network, for any algorithm. */
export type LimitFor = (topology: Topology, collective: Collective) => Bound;

/** What those said who judge a schedule. */
export interface Judged {
  readonly verdict: Verdict;
  /** Null where there were too many transfers. */
  readonly simulated: Simulated | null;
  readonly limit: Bound;
  /** Null where none is known, or not yet, as the bound of planned times. */
  readonly classLimit: ClassLimit | null;
  readonly plannedBound: Bound | null;
  readonly limitFor: LimitFor;
}

/** What is known of the making of a schedule. */
export interface Making extends Pick<Report, "algorithm" | "synthesis">, Partial<Pick<Report, OfTheMaker>> {}
type OfTheMaker = "notes" | "deterministic" | "direct" | "solver" | "traffic" | "repaired";

/** What is known of a schedule's speed beside its simulated time. */
export interface Speeds {
  readonly planned?: Timed;
  readonly throughput?: Rate;
}

/** All that is asked of a schedule whatever its kind; each kind says it once, in its file. */
export interface Kind<AReport = Report> {
  readonly name: KindName | "joint";
  readonly schedule: GivenSchedule;
  readonly collectives: readonly Collective[];
  /** Returns what the judge of the kind finds wrong. Throws InputError for bad options only. */
  judge(options?: JudgeOptions): Verdict;
  /** Returns what it takes under congestion. Throws InputError for phases that are wrong. */
  simulate(options: SimulateOptions): Simulated | null;
  /**
   * Returns the greatest limit that is proved for any schedule of the collectives: `known`, or without it what cuts prove, or what
   * a certificate does. The verdict is that of `judge`.
   */
  limit(verdict: Verdict, known?: Bound): Bound;
  /**
   * Returns the greatest limit that is proved, in the network model, for schedules that have something in common with this one;
   * null where there is none. `stores`: switches store what they forward.
   */
  classLimit(verdict: Verdict, limitFor: LimitFor, stores: boolean): ClassLimit | null;
  /** Returns the bound of times as they are planned, in the link-busy model; null for what has none. */
  plannedBound(): Bound | null;
  /** These two can take as long as all the rest, so they may be found later. */
  readonly boundsLate: boolean;
  /** Returns the end in picoseconds: planned, of trees simulated. */
  endPs(): number;
  /** Returns the same on a network that has other figures and is else the same. */
  on(topology: Topology): Kind<AReport>;
  /** Its files; a text in place of one says what is to be written instead. */
  readonly forms: { readonly json: FileForm; readonly bys: FileForm | string };
  /** The format of which records keep the hash. */
  readonly keptAs: "json" | "bys";
  /** What it consists of: 12 "transfer", 3 "tree". */
  readonly parts: { readonly many: number; readonly one: string };
  /** Returns what `verify --json` says of this kind beside the verdict. */
  facts(verdict: Verdict): Readonly<Record<string, unknown>>;
  /** "this schedule is", "these trees are": the beginning of a sentence. */
  readonly these: string;
  /** Returns what an option of `simulate` would be for, and what there is; null where it counts. `value`: as it was written. */
  idle(
    option: SimulateOption,
    value: string | undefined,
  ): { readonly expected: string; readonly received?: unknown } | null;
  /** Returns whether it can be simulated, for all that is wrong with it. */
  playable(verdict: Verdict): boolean;
  /** Returns what `simulate --json` says: of the collective, what is counted, and speeds beside the simulated time. */
  played(
    verdict: Verdict,
    simulated: Simulated,
  ): Readonly<Record<"about" | "counts", Readonly<Record<string, unknown>>>> & { readonly speeds: Speeds };
  /** Returns a time with the bandwidths that it makes. */
  timing(ps: number): Timing;
  /** Returns what a correct schedule does. */
  deed(verdict: Verdict): Deed;
  /**
   * Returns what the schedule does, in words, transfers at their simulated times; wrong phases do nothing that could be described.
   * Throws InputError where it is too long. Null: nobody has words for several collectives at once.
   */
  readonly explain: ((isCorrect: boolean, replay: Replay) => readonly string[]) | null;
  /** Returns the report of what was made, or read, and judged. */
  report(judged: Judged, making: Making): AReport;
}
