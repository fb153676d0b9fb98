import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Mechanism, mechanismsOf } from "./mechanisms.ts";
import { keepsMessages, type PlannedMessages } from "./plan.ts";
import { type ProgramSimulation, type ProgramSimulationOptions, simulateProgram } from "./program.ts";

/**
 * Why a program takes another time than its schedule: what its runtime adds, or, before that, `instructions` the order in which
 * thread blocks carry out what they do, of a program that sends the schedule's messages; `pieces` other messages than the schedule's,
 * in their order and cut.
 */
export type Cause = "instructions" | "pieces" | Mechanism;

/** What a cause adds to the time; negative: it saves. */
export interface Difference {
  readonly cause: Cause;
  readonly ps: number;
}

/** The time of a program as a sum: what it starts from, and what each cause adds to that. */
export interface Attribution {
  /** Of the schedule; of the program's messages alone, where none is known. */
  readonly fromPs: number;
  /** In the order in which they were counted: fromPs and all of them together are `ps`, exactly. */
  readonly differences: readonly Difference[];
  readonly ps: number;
}

/** The schedule of a program. */
export interface ScheduleTime {
  readonly ps: number;
  /** Its transfers, where it is made of such. */
  readonly planned?: PlannedMessages;
}

/** What of a program's pieces cannot be told apart from those of a schedule that sends others. */
const OWN_PIECES: readonly Mechanism[] = ["messages", "slices", "switches"];

/**
 * Returns the time of a program, `taken` with these options, as a sum: it is simulated with none of what its runtime adds, then with
 * one after the other. A mechanism's figure is what it adds to those counted before it. Throws InputError as simulateProgram does.
 * A simulation for each mechanism that the program has.
 */
export function attribute(
  program: Program,
  topology: Topology,
  options: Omit<ProgramSimulationOptions, "without" | "planned" | "timeline">,
  taken: Pick<ProgramSimulation, "ps" | "npuOfRank">,
  schedule?: ScheduleTime,
): Attribution {
  const { sizeBytes, localBytesPerSecond } = options;
  const planned = schedule?.planned;
  const isKept = planned !== undefined && keepsMessages(program, taken.npuOfRank, sizeBytes, planned);
  const own = mechanismsOf(program, localBytesPerSecond);
  const counted: Mechanism[] = isKept
    ? ["order", "routes", ...own]
    : own.filter((name) => schedule === undefined || !OWN_PIECES.includes(name));
  const psWithout = (without: readonly Mechanism[]): number =>
    without.length === 0
      ? taken.ps
      : simulateProgram(program, topology, { ...options, ...(isKept ? { planned } : {}), without }).ps;
  const times = counted.map((_, k) => psWithout(counted.slice(k)));
  times.push(taken.ps);
  const bare = times[0] as number;
  const added = counted.map((cause, k) => ({ cause, ps: (times[k + 1] as number) - (times[k] as number) }));
  if (schedule === undefined) return { fromPs: bare, differences: added, ps: taken.ps };
  const first = { cause: isKept ? "instructions" : "pieces", ps: bare - schedule.ps } as const;
  return { fromPs: schedule.ps, differences: [first, ...added], ps: taken.ps };
}
