import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InternalError } from "../../src/base/errors.ts";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { REPLAY_MODE, REPLAY_WANTS, type ReplayProblem } from "../../src/model/replay/problem.ts";
import { replayedByOracle } from "../support/replay-oracle.ts";
import { replayProblemOf, replayProblems } from "../support/replay-problems.ts";
import { runs, seen } from "../support/runs.ts";

const { cutThrough, storeAndForward, firstCome } = REPLAY_MODE;
const MODES = [cutThrough, storeAndForward, firstCome];

/** Returns a chain 0 > 1 > 2 whose links take 10 and deliver after 12, and a chunk of NPU 0 that goes to its end. */
function chain(mode: number): ReplayProblem {
  const isCutThrough = mode === cutThrough;
  return {
    mode,
    wants: isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops,
    npuCount: 3,
    linkCount: 2,
    routeSource: Int32Array.of(0, 1),
    routeTarget: Int32Array.of(1, 2),
    linkOffset: Int32Array.of(0, 1, 2),
    links: Int32Array.of(0, 1),
    firstChunk: Int32Array.of(0, 2),
    reduces: Uint8Array.of(0),
    serial: Float64Array.of(10, 10),
    delay: Float64Array.of(12, 12),
    cost: isCutThrough ? Float64Array.of(1, 1) : new Float64Array(0),
    capacity: isCutThrough ? Float64Array.of(1, 1) : new Float64Array(0),
    holders: Int32Array.of(0, 0),
    setOffset: Int32Array.of(0, 1),
    setMembers: Int32Array.of(0),
    chunk: Int32Array.of(0, 1, 0),
    route: Int32Array.of(0, 0, 1),
    plannedStart: Float64Array.of(0, 20, 20),
    plannedEnd: Float64Array.of(20, 40, 40),
  };
}

/** What every backend's replay kernel must do. */
export function replayContract(kernels: Kernels): void {
  it.each(MODES)("starts what is there when the link is free, not when its latency is over (mode %i)", (mode) => {
    const hops = mode === cutThrough ? [] : [0, 10, 12];
    expect(kernels.replay(chain(mode))).toEqual({
      kind: "replayed",
      last: 24,
      linkBusy: Float64Array.of(20, 10),
      start: Float64Array.of(0, 10, 12),
      end: Float64Array.of(12, 22, 24),
      hopStart: Float64Array.from(hops),
    });
  });

  it.each(MODES)("returns no times that are not asked for (mode %i)", (mode) => {
    const found = kernels.replay({ ...chain(mode), wants: REPLAY_WANTS.nothing });
    const none = new Float64Array(0);
    expect(found).toEqual({
      ...{ kind: "replayed", last: 24, linkBusy: Float64Array.of(20, 10) },
      ...{ start: none, end: none, hopStart: none },
    });
  });

  it("carries side by side what fits a link, none past an earlier one", () => {
    const problem = {
      ...chain(cutThrough),
      linkCount: 1,
      links: Int32Array.of(0, 0),
      routeSource: Int32Array.of(0, 0),
      cost: Float64Array.of(2, 1),
      capacity: Float64Array.of(3),
      chunk: Int32Array.of(0, 1, 1, 0),
      route: Int32Array.of(0, 1, 0, 1),
      plannedStart: Float64Array.of(0, 0, 1, 1),
      plannedEnd: Float64Array.of(9, 9, 9, 9),
      serial: Float64Array.of(10, 4),
      delay: Float64Array.of(10, 4),
    };
    const found = kernels.replay(problem);
    expect(found).toMatchObject({ start: Float64Array.of(0, 0, 10, 10), linkBusy: Float64Array.of(48 / 3) });
  });

  it.each([storeAndForward, firstCome])("keeps the order of a first link where it is asked to (mode %i)", (mode) => {
    // NPU 1 has chunk 1 at once and chunk 0, planned first, at 12
    const problem = {
      ...chain(mode),
      holders: Int32Array.of(0, 1),
      setOffset: Int32Array.of(0, 1, 2),
      setMembers: Int32Array.of(0, 1),
      chunk: Int32Array.of(0, 0, 1),
      route: Int32Array.of(0, 1, 1),
      plannedStart: Float64Array.of(0, 20, 21),
      plannedEnd: Float64Array.of(20, 40, 41),
    };
    const start = mode === firstCome ? [0, 12, 0] : [0, 12, 22];
    expect(kernels.replay(problem)).toMatchObject({ start: Float64Array.from(start) });
  });

  it.each([
    ["copies, the last planned first", 0, [3, 2, 1]],
    ["contributions, the first planned first", 1, [1, 2, 3]],
  ] as const)("hands over what waits for each of several %s", (_, reduces, times) => {
    // NPUs 1, 2, 3 send NPU 0 what they have of a chunk; it goes back to each when so many are there
    const problem = {
      ...chain(storeAndForward),
      npuCount: 4,
      linkCount: 6,
      routeSource: Int32Array.of(1, 2, 3, 0, 0, 0),
      routeTarget: Int32Array.of(0, 0, 0, 1, 2, 3),
      linkOffset: Int32Array.of(0, 1, 2, 3, 4, 5, 6),
      links: Int32Array.of(0, 1, 2, 3, 4, 5),
      firstChunk: Int32Array.of(0, 1),
      reduces: Uint8Array.of(reduces),
      serial: Float64Array.of(...times, 1, 1, 1),
      delay: Float64Array.of(...times, 1, 1, 1),
      holders: Int32Array.of(0),
      setOffset: Int32Array.of(0, 3),
      setMembers: Int32Array.of(1, 2, 3),
      chunk: new Int32Array(6),
      route: Int32Array.of(0, 1, 2, 3, 4, 5),
      plannedStart: Float64Array.of(0, 0, 0, 10, 11, 12),
      plannedEnd: Float64Array.of(10, 11, 12, 20, 20, 20),
    };
    expect(kernels.replay(problem)).toMatchObject({ start: Float64Array.of(0, 0, 0, ...times) });
  });

  it.each(MODES)("is what the definition says, on random plans (mode %i)", (mode) => {
    let moved = 0;
    fc.assert(
      fc.property(replayProblems([mode], 40, true), (problem) => {
        const found = kernels.replay(problem);
        expect(found).toEqual(replayedByOracle(problem));
        if (found.kind === "replayed") moved += problem.chunk.length;
      }),
      { seed: 21, numRuns: runs(300) },
    );
    expect(moved).toBeGreaterThan(seen(1000));
  });

  it.each(MODES)("replays nothing (mode %i)", (mode) => {
    const problem = replayProblemOf({ mode, rows: 0, seed: 1 });
    const found = kernels.replay(problem);
    expect(found).toMatchObject({ kind: "replayed", last: 0, linkBusy: new Float64Array(problem.linkCount) });
  });

  it.each(MODES)("stays exact up to 2^53 - 1 and says when a time would leave it (mode %i)", (mode) => {
    const half = 2 ** 52;
    const times = { serial: Float64Array.of(half, 3), delay: Float64Array.of(half, half - 1) };
    const one = { chunk: Int32Array.of(0, 0), route: Int32Array.of(0, 1) };
    const plan = { plannedStart: Float64Array.of(0, 20), plannedEnd: Float64Array.of(20, 40) };
    const problem = { ...chain(mode), ...times, ...one, ...plan };
    expect(kernels.replay(problem)).toMatchObject({ last: 2 ** 53 - 1 });
    expect(kernels.replay({ ...problem, delay: Float64Array.of(half, half) })).toEqual({ kind: "late" });
    expect(kernels.replay({ ...problem, delay: Float64Array.of(half, 2 ** 53) })).toEqual({ kind: "late" });
  });

  it.each<[string, Partial<ReplayProblem>, number]>([
    ["a start before the last one", { plannedStart: Float64Array.of(0, 20, 19) }, 2],
    ["a start below 0", { plannedStart: Float64Array.of(-1, 20, 20) }, 0],
    ["no number for a start", { plannedStart: Float64Array.of(0, Number.NaN, 20) }, 1],
    ["an end at its start", { plannedEnd: Float64Array.of(20, 20, 40) }, 1],
    ["an end beyond 2^53 - 1", { plannedEnd: Float64Array.of(20, 40, 2 ** 53) }, 2],
    ["an infinite end", { plannedEnd: Float64Array.of(20, Number.POSITIVE_INFINITY, 40) }, 1],
    ["a chunk that does not exist", { chunk: Int32Array.of(0, 2, 0) }, 1],
    ["a chunk below 0", { chunk: Int32Array.of(0, 1, -1) }, 2],
    ["a route that does not exist", { route: Int32Array.of(2, 0, 1) }, 0],
    ["a route below 0", { route: Int32Array.of(0, -1, 1) }, 1],
    ["a chunk that comes too late for the plan", { plannedStart: Float64Array.of(0, 19, 19) }, 2],
    ["a chunk that never comes", { chunk: Int32Array.of(0, 0, 1) }, 2],
  ])("refuses a row with %s", (_, part, row) => {
    for (const mode of MODES) {
      expect(kernels.replay({ ...chain(mode), ...part })).toEqual({ kind: "refused", row });
    }
  });

  it.each<[string, Partial<ReplayProblem>]>([
    ["an unknown mode", { mode: 3 }],
    ["a wish for more than there is", { wants: 3 }],
    ["no NPUs", { npuCount: 0 }],
    ["-1 links", { linkCount: -1 }],
    ["a source out of range", { routeSource: Int32Array.of(0, 3) }],
    ["a target out of range", { routeTarget: Int32Array.of(-1, 2) }],
    ["too few targets", { routeTarget: Int32Array.of(1) }],
    ["a route without links", { linkOffset: Int32Array.of(0, 0, 2) }],
    ["offsets that fall", { linkOffset: Int32Array.of(0, 3, 2) }],
    ["too few offsets", { linkOffset: Int32Array.of(0, 2) }],
    ["a link out of range", { links: Int32Array.of(0, 2) }],
    ["no collectives", { firstChunk: Int32Array.of(0), reduces: new Uint8Array(0) }],
    ["chunks of no collective", { firstChunk: Int32Array.of(0, 1) }],
    ["a collective that half reduces", { reduces: Uint8Array.of(2) }],
    ["too many collectives", { reduces: Uint8Array.of(0, 0) }],
    ["a time below 0", { serial: Float64Array.of(10, -1) }],
    ["a time beyond 2^53", { delay: Float64Array.of(10, 2 ** 53 + 2) }],
    ["half a picosecond", { delay: Float64Array.of(10.5, 10) }],
    ["no number for a time", { serial: Float64Array.of(Number.NaN, 10) }],
    ["too few times", { serial: Float64Array.of(10) }],
    ["holders out of range", { holders: Int32Array.of(0, 1) }],
    ["holders below 0", { holders: Int32Array.of(-1, 0) }],
    ["members out of range", { setMembers: Int32Array.of(3) }],
    ["members twice", { setOffset: Int32Array.of(0, 2), setMembers: Int32Array.of(1, 1) }],
    [
      "no offsets of sets",
      { setOffset: new Int32Array(0), holders: new Int32Array(0), firstChunk: Int32Array.of(0, 0) },
    ],
    ["too few routes of rows", { route: Int32Array.of(0, 0) }],
    ["too few planned ends", { plannedEnd: Float64Array.of(20, 40) }],
  ])("refuses a problem with %s", (_, part) => {
    for (const mode of MODES) expect(() => kernels.replay({ ...chain(mode), ...part })).toThrow(InternalError);
  });

  it.each<[string, Partial<ReplayProblem>]>([
    ["a cost of 0", { cost: Float64Array.of(1, 0) }],
    ["a cost above the capacity", { cost: Float64Array.of(2, 1) }],
    ["half a cost", { cost: Float64Array.of(0.5, 1) }],
    ["a capacity of 0", { capacity: Float64Array.of(1, 0) }],
    ["a capacity of 2^53", { capacity: Float64Array.of(1, 2 ** 53) }],
    ["too few costs", { cost: Float64Array.of(1) }],
    ["too few capacities", { capacity: Float64Array.of(1) }],
    ["a wish for hops", { wants: REPLAY_WANTS.hops }],
  ])("refuses cut-through with %s", (_, part) => {
    expect(() => kernels.replay({ ...chain(cutThrough), ...part })).toThrow(InternalError);
  });

  it.each(MODES)("leaves a problem as it was, reads it in shared memory, stops when the flag is set (%i)", (mode) => {
    const problem = chain(mode);
    const copy = structuredClone(problem);
    expect(kernels.replay(shareColumns(problem))).toEqual(kernels.replay(problem));
    expect(problem).toEqual(copy);
    expect(() => kernels.replay(problem, Int32Array.of(1))).toThrow(CancelledError);
  });
}
