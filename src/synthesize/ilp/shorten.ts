import { formatTime } from "../../model/numbers/units.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { earliest, endOfMoves, type Move } from "./found-rows.ts";
import { clockFor, type Flow, type FlowProblem, firstFrom, inSlots, resourcesOf, slotTicks } from "./problem.ts";
import { type Refutation, search, type Trying } from "./search.ts";
import type { Stages } from "./stages.ts";

export interface ShortenRequest {
  readonly topology: Topology;
  readonly routes: RouteSet;
  /** [sizes][routes] picoseconds. */
  readonly durations: readonly Float64Array[];
  /** Length of a slot; null: exact times where these are few. */
  readonly slotPs: number | null;
  readonly flows: readonly Flow[];
  /** No schedule ends before. */
  readonly lowPs: number;
  /** One that ends then is known. */
  readonly highPs: number;
  readonly trying: Trying;
}

/** What a program proved: no schedule that it describes ends before `ps`. */
export interface Proof {
  readonly ps: number;
  readonly slots: number;
  readonly refutation: Refutation;
}

export interface Shortened {
  /** In order of start, picoseconds; null where nothing shorter was found. */
  readonly moves: readonly Move[] | null;
  /** What found them: "program: 8 slots, whole". */
  readonly how: string;
  readonly proof: Proof | null;
  /** What the programs describe, in words. */
  readonly model: string;
  readonly notes: readonly string[];
}

/**
 * Returns a schedule shorter than the one known, where the time of `stages` was enough to find one, and what was proved.
 * Programs over exact times where these are few; else over slots, rounded up to find schedules, which then are timed exactly,
 * and rounded down to prove that there are none: starts and durations rounded down still fit, in no more slots.
 */
export async function shortened(request: ShortenRequest, stages: Stages): Promise<Shortened> {
  const { topology, routes, durations, flows, lowPs, highPs, trying } = request;
  const { resources, exact } = resourcesOf(routes);
  const problem: FlowProblem = { npuCount: topology.npuCount, routes, durations, flows };
  // trees in and out of one meeting place are not all that an all-reduce can be
  const provable = exact && flows.every(({ kind }) => kind !== "both");
  const clock = clockFor(durations, highPs, request.slotPs);
  if (clock.kind === "sums") {
    const { ticks } = clock;
    const equal = durations.every((column) => column.every((ps) => ps === durations[0][0]));
    const timeName = (tick: number): string => (equal ? `${tick} slots` : `by ${formatTime(ticks[tick])}`);
    const found = await search(
      { topology, problem, resources, ticks, low: lowPs, high: highPs, timeName, trying, provable },
      stages,
    );
    const { refuted } = found;
    const model = equal
      ? `whole chunks, each sent by itself, in time slots of ${formatTime(durations[0][0])}`
      : "whole chunks, each sent by itself, starts at sums of route times";
    const next = refuted === null ? undefined : (ticks[refuted.tick + 1] ?? highPs);
    return {
      moves: found.moves === null ? null : earliest(problem, resources, found.moves),
      how: found.how,
      proof:
        !provable || refuted === null || next === undefined
          ? null
          : { ps: Math.min(next, highPs), slots: refuted.tick, refutation: refuted },
      model,
      notes: [],
    };
  }
  const { slotPs } = clock;
  const notes = [`times were rounded to slots of ${formatTime(slotPs)}, so shorter schedules may have been missed`];
  const model = `whole chunks, each sent by itself, times rounded down to slots of ${formatTime(slotPs)}`;
  const timeName = (tick: number): string => `${tick} slots`;
  const slots = Math.ceil(highPs / slotPs);
  const rounded = (up: boolean) => ({
    topology,
    resources,
    ticks: slotTicks(slots),
    problem: { ...problem, durations: inSlots(durations, slotPs, up) },
    provable,
    timeName: (tick: number) => `${timeName(tick)} ${up ? "rounded up" : "rounded down"}`,
  });
  const low = Math.floor(lowPs / slotPs);
  const below =
    provable && durations.every((column) => column.every((ps) => ps >= slotPs))
      ? await search({ ...rounded(false), low, high: Math.floor(highPs / slotPs), trying: "relaxed" }, stages)
      : null;
  const refuted = below?.refuted ?? null;
  const proof = refuted === null ? null : { ps: (refuted.tick + 1) * slotPs, slots: refuted.tick, refutation: refuted };
  const from = Math.max(low, firstFrom(slotTicks(slots), Math.ceil((proof?.ps ?? 0) / slotPs)));
  const above = await search({ ...rounded(true), low: from, high: slots, trying }, stages);
  const moves = above.moves === null ? null : earliest(problem, resources, above.moves);
  return {
    moves: moves !== null && endOfMoves(problem, moves) < highPs ? moves : null,
    how: above.how,
    proof,
    model,
    notes,
  };
}
