import type { MilpOptions, MilpProblem, MilpRunner, MilpSize, MilpSolution } from "../../engine/contract/programs.ts";
import type { Deadline } from "../deadline.ts";
import { type SolverStage, skippedStage, solvedStage } from "../solver-facts.ts";
import type { SynthesisContext } from "../synthesizer.ts";

/** Solves programs one after the other within a time for all of them together, and keeps what each did. */
export interface Stages {
  readonly list: SolverStage[];
  /** Of the time for all, programs being built included. */
  leftMs(): number;
  /** Whether a clock ended a solve. */
  timedOut(): boolean;
  /** Returns the solution; null where no time is left. */
  solve(name: string, problem: MilpProblem, shareOfTime: number, options?: MilpOptions): Promise<MilpSolution | null>;
  /** Returns what `make` makes; null, noted as skipped, where it was handed no room to end. */
  build<T>(name: string, make: (room: Room) => T): Promise<T | null>;
  /** Returns what `step` makes as soon as it makes something; null where it does not in so many steps, or in this share of the time left. */
  repeat<T>(name: string, most: number, shareOfTime: number, step: () => T | null): Promise<T | null>;
}

/** Asked while a program is built, with its size so far where that counts: whether time and memory are left to go on. */
export type Room = (size?: MilpSize) => boolean;

/** Times shorter than this are not worth a solve. */
const LEAST_MS = 50;
/** Steps that are made before others may use the thread. */
const STEPS_AT_ONCE = 16;
/** Of the time left, for a program to be built: none of it is of use unless some is left to solve it. */
const FOR_BUILDING = 0.5;
const NOTHING: MilpSize = { columns: 0, rows: 0, entries: 0 };

/** Returns stages that are solved by a runner until a deadline, and announced as they begin. */
export function stagesOf(
  milp: MilpRunner,
  deadline: Deadline,
  { breathe, onProgress }: Pick<SynthesisContext, "breathe" | "onProgress"> = {},
): Stages {
  const list: SolverStage[] = [];
  let timedOut = false;
  return {
    list,
    leftMs: deadline.leftMs,
    timedOut: () => timedOut || deadline.struck(),
    solve: async (name, problem, shareOfTime, options = {}) => {
      if (!deadline.allows(LEAST_MS)) return null;
      onProgress?.({ phase: `solve ${name}`, done: 0, total: 1 });
      const limit = Math.max(LEAST_MS, deadline.leftMs() * shareOfTime);
      const found = await milp.solve(problem, { ...options, timeLimitMs: limit });
      timedOut ||= found.status === "limit";
      list.push(solvedStage(name, problem, found));
      return found;
    },
    build: async (name, make) => {
      await breathe?.();
      const until = deadline.part(FOR_BUILDING);
      let reached = NOTHING;
      let note: string | null = null;
      const room: Room = (size = NOTHING) => {
        if (size !== NOTHING) reached = size;
        note ??= until.isOver() ? "no time was left to build it" : noMemory(milp, size);
        return note === null;
      };
      const made = room() ? make(room) : null;
      if (note === null) return made;
      list.push(skippedStage(name, reached, note));
      return null;
    },
    repeat: async (name, most, shareOfTime, step) => {
      const until = deadline.part(shareOfTime);
      for (let done = 0; done < most; done++) {
        if (done % STEPS_AT_ONCE === 0) {
          onProgress?.({ phase: name, done, total: most });
          await breathe?.();
        }
        if (until.isOver()) return null;
        const made = step();
        if (made !== null) return made;
      }
      return null;
    },
  };
}

/** Returns that a program of this size is too large for the solver; null where it is not. */
function noMemory({ bytesFor, maxBytes }: MilpRunner, size: MilpSize): string | null {
  const bytes = bytesFor(size);
  if (size === NOTHING || bytes <= maxBytes) return null;
  return `it would need ${Math.ceil(bytes / 2 ** 20)} MiB or more, and the solver has ${Math.floor(maxBytes / 2 ** 20)}`;
}
