import type { Bound } from "../model/bounds/bounds.ts";
import type { Collective } from "../model/collective/collective.ts";
import type { JointSchedule } from "../model/joint/joint-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { Report } from "../report/result.ts";
import type { Verification } from "../verify/steps/schedule.ts";
import type { CertificateVerdict } from "../verify/trees/certificate.ts";
import type { Violation } from "../verify/violation.ts";

/** A schedule of any kind, of one collective or of several. */
export type GivenSchedule = AnySchedule | JointSchedule;

export interface JudgeOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Hears of NPUs that are judged, where there are many. */
  readonly onProgress?: (done: number, total: number) => void;
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
  /** "in 1.68 ms", "at 346.7 GB/s (1040/3); proved optimal for every schedule: ...". */
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
};

/** All that is asked of a schedule whatever its kind; each kind says it once, in its file. */
export interface Kind {
  readonly name: "steps" | "slots" | "trees" | "phases" | "joint";
  readonly schedule: GivenSchedule;
  readonly collectives: readonly Collective[];
  /** Returns what the judge of the kind finds wrong. Throws InputError for bad options only. */
  judge(options?: JudgeOptions): Verdict;
  /** Returns the greatest limit that is proved for any schedule of the collectives; the verdict is that of `judge`. */
  limit(verdict: Verdict): Bound;
  /** Returns the end in picoseconds: planned, of trees simulated. */
  endPs(): number;
  /** Returns the schedule in the format that keeps all of it. */
  file(): { readonly as: "json" | "bys"; readonly parts: Iterable<string | Uint8Array> };
  /** Returns what `verify --json` says of this kind beside the verdict. */
  facts(verdict: Verdict): Readonly<Record<string, unknown>>;
  /** Returns what a correct schedule does. */
  deed(verdict: Verdict): Deed;
  /**
   * Returns what the schedule does, in words; wrong phases do nothing that could be told. Throws InputError where it is too long.
   * Null: nobody has words for several collectives at once.
   */
  readonly explain: ((isCorrect: boolean) => readonly string[]) | null;
  /**
   * Returns the report of the schedule as it was read: judged, simulated (`replay`: the kernel that does it) and bounded.
   * `algorithm`: what it says of its maker. Null: there is none of several collectives at once.
   */
  readonly report: ((algorithm: string, replay?: Replay) => Report) | null;
}
