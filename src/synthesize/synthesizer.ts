import type {
  Balance,
  BalanceProblem,
  ConcurrentFlow,
  ConcurrentProblem,
  MatchProblem,
  PeriodProblem,
  PeriodTimetable,
  PlaceProblem,
  RelayProblem,
  SpreadLogs,
  SpreadProblem,
  Transfers,
} from "../engine/contract/kernels.ts";
import type { LpSolver, MilpRunner } from "../engine/contract/programs.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import type { DirectFacts } from "../model/direct/facts.ts";
import type { PeriodSchedule } from "../model/periods/period-schedule.ts";
import type { SwitchDegree } from "../model/routes/switch-degrees.ts";
import type { Sketch } from "../model/sketch/sketch.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import type { Estimate } from "../model/steps/estimate.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { Maker, MakerOptions } from "./maker.ts";
import type { SolverFacts } from "./solver-facts.ts";

/** Where kernels run: in this thread or on a pool; the answers are the same. */
export interface KernelRunner {
  /** How many kernels can run at once. */
  readonly width: number;
  match(problem: MatchProblem): Promise<Transfers>;
  /** Shares the work of a large problem between threads. */
  spread(problem: Omit<SpreadProblem, "threads">): Promise<SpreadLogs | null>;
  relay(problem: RelayProblem): Promise<Transfers | null>;
  place(problem: PlaceProblem): Promise<Float64Array>;
  period(problem: PeriodProblem): Promise<PeriodTimetable>;
  /** Shares the work of a large problem between threads. */
  balance(problem: Omit<BalanceProblem, "threads">): Promise<Balance | null>;
  concurrent(problem: ConcurrentProblem): Promise<ConcurrentFlow>;
}

export interface SynthesisRequest {
  readonly topology: Topology;
  readonly collective: Collective;
  /** 0 .. 2^32 - 1 */
  readonly seed: number;
  /** Most trials per phase, and 32 tries each to let phases overlap; null: min(64, 1e7 / transfers), at least 1. */
  readonly trials: number | null;
  /** One of the synthesizer's policies; null: all in turn. */
  readonly policy: string | null;
  /** null: what the synthesizer finds best. */
  readonly switchDegree: SwitchDegree | null;
  /** Those that solve integer programs stop after about so long, all solves together; null or absent: what they find right. */
  readonly timeLimitMs?: number | null;
  /** What the schedule may use (taccl); null or absent: the synthesizer proposes sketches of its own. */
  readonly sketch?: Sketch | null;
  /** The request as the caller made it: options that have no field here are found in it. */
  readonly own?: MakerOptions;
}

export interface SynthesisContext {
  readonly runner: KernelRunner;
  /** Loads the solver of linear programs; without it synthesizers do with less. */
  readonly lp?: () => Promise<LpSolver>;
  /** Solves mixed-integer programs; without it synthesizers do with less. */
  readonly milp?: MilpRunner;
  /** Between units of work on the calling thread: lets timers and signals in; rejects with CancelledError once cancelled. */
  readonly breathe?: () => Promise<void>;
  /** Called between units of work. */
  readonly onProgress?: (progress: { readonly phase: string; readonly done: number; readonly total: number }) => void;
}

/** Transfers, arrival logs or periods. */
export type MadeSteps = Schedule | PeriodSchedule;

export interface Synthesis<Made extends MadeSteps = Schedule> {
  readonly schedule: Made;
  /** In words: what was chosen, per phase where they differ. */
  readonly policy: string;
  /** Trials run, over all phases. */
  readonly trials: number;
  /** Schedules in comm steps on equal direct links: how good they are. */
  readonly direct?: DirectFacts;
  /** A bound that needs no choice of chunks (as limitOf), where the synthesizer proves one on its way. */
  readonly limit?: Bound;
  /** A bound for the same chunks and routes as the schedule's that is above what boundOf proves, where a solver proved one. */
  readonly bound?: Bound;
  /** What integer programs did. */
  readonly solver?: SolverFacts;
  /** What the user should know, in words. */
  readonly notes?: readonly string[];
  /** False where a clock decided what was tried. */
  readonly deterministic?: boolean;
}

/** One way to make schedules of transfers: a folder under synthesize/ and a line in catalog.ts. */
export interface Synthesizer<Made extends MadeSteps = Schedule> extends Maker {
  readonly makes: "steps";
  /** Large schedules are arrival logs where they can be, so their transfers are not listed. */
  readonly makesLogs?: true;
  /** Returns what a schedule takes that is neither transfers nor arrival logs; null where it is one of these. */
  estimate?(topology: Topology, collective: Collective): Estimate | null;
  /**
   * Its planned times are what it makes short. Others issue messages or comm steps in order: a plan in which latency occupies links
   * is only their file's form, and the replay tells their time.
   */
  readonly plans?: true;
  /**
   * Returns the chunks per NPU with which the synthesizer does best, asked where the user does not say; the request has one.
   * Throws as `synthesize`.
   */
  ownChunks?(request: SynthesisRequest, context: SynthesisContext): Promise<number>;
  /** The same, asked where the user wants the best number whatever it is; null: numbers are to be tried. */
  autoChunks?(request: SynthesisRequest, context: SynthesisContext): Promise<number | null>;
  /** Throws InfeasibleError when there is no schedule, InputError when the request asks for what it cannot do. */
  synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis<Made>>;
}
