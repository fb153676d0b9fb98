import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Kernels, MatchProblem, SpreadProblem } from "../../src/engine/kernels/kernels.ts";
import { shareColumns } from "../../src/engine/pool/share.ts";
import { CancelledError, InfeasibleError, InternalError } from "../../src/errors.ts";
import { allGather, matchProblems, mesh, networkOf } from "../support/networks.ts";
import { brokenSpreadLaws, spreadOf } from "../support/spread-problems.ts";

const chain = (npus: number): MatchProblem =>
  allGather(
    networkOf(
      npus,
      Array.from({ length: npus - 1 }, (_, v) => ({ source: v, target: v + 1, slotPs: 1 })),
    ),
  );

const fromFirst = (npus: number): SpreadProblem => {
  const heldOffset = new Int32Array(npus + 1).fill(1);
  heldOffset[0] = 0;
  return { ...spreadOf(chain(npus)), chunkCount: 1, heldOffset, heldChunk: Int32Array.of(0) };
};

const bothWays = networkOf(2, [
  { source: 0, target: 1, slotPs: 1 },
  { source: 1, target: 0, slotPs: 1 },
]);

/** What every backend's kernel for slots must do. */
export function spreadContract(kernels: Kernels): void {
  it("writes what an NPU holds and receives, and the port of each arrival, slot by slot", () => {
    const logs = kernels.spread({ ...fromFirst(3), maxSlots: 2 });
    expect(logs?.logOffset).toEqual(Float64Array.of(0, 1, 2, 3));
    expect(logs?.chunk).toEqual(Uint16Array.of(0, 0, 0));
    expect(logs?.portOffset).toEqual(Float64Array.of(0, 0, 2, 4));
    expect(logs?.ports).toEqual(Uint8Array.of(1, 0, 0, 1));
    expect(logs?.slots).toEqual(Int32Array.of(0, 1, 2));
  });

  it("brings chunks through more than eight ports in one slot, in ascending order of port", () => {
    const routes = Array.from({ length: 10 }, (_, v) => ({ source: 9 - v + 1, target: 0, slotPs: 1 }));
    const problem = allGather(networkOf(11, routes));
    const wanted = new Uint32Array(11);
    wanted[0] = 2 ** 11 - 1;
    const logs = kernels.spread({ ...spreadOf(problem, 1), wanted });
    expect(logs?.chunk.slice(0, 11)).toEqual(Uint16Array.of(0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
    expect(logs?.ports).toEqual(Uint8Array.of(255, 3));
  });

  it("keeps chunks beyond 65,535 whole", () => {
    const problem = spreadOf(allGather(bothWays, 40_000), 40_000);
    const logs = kernels.spread(problem);
    expect(logs?.chunk).toBeInstanceOf(Int32Array);
    expect([...(logs?.chunk.slice(0, 80_000) ?? [])].sort((a, b) => a - b)).toEqual([...Array(80_000).keys()]);
  });

  it("returns null when there is room for too few slots", () => {
    expect(kernels.spread({ ...fromFirst(4), maxSlots: 2 })).toBeNull();
    expect(kernels.spread({ ...fromFirst(4), maxSlots: 3 })).not.toBeNull();
  });

  it("names an NPU and a chunk that cannot reach it, when slots pass without arrivals", () => {
    const problem = spreadOf(chain(3));
    expect(() => kernels.spread(problem)).toThrow(InfeasibleError);
    expect(() => kernels.spread(problem)).toThrow("chunk 1 cannot reach NPU 0");
  });

  it("tells how far it is and stops when the flag says so", () => {
    const problem = spreadOf(allGather(mesh(9, 9)));
    const flag = new Int32Array(2);
    kernels.spread(problem, flag);
    if (kernels.backend !== "wasm") expect(flag[1]).toBeGreaterThan(900);
    expect(() => kernels.spread(problem, Int32Array.of(1, 0))).toThrow(CancelledError);
    expect(() => kernels.spread(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  it("reads columns in shared memory and leaves the problem as it was", () => {
    const problem = spreadOf(allGather(mesh(4, 3), 2, { choice: 1, window: 8, lateLimit: 100 }));
    const copy = structuredClone(problem);
    expect(kernels.spread(shareColumns(problem))).toEqual(kernels.spread(problem));
    expect(problem).toEqual(copy);
  });

  it("brings every wanted chunk once, lawfully, on random networks, or names one that cannot be reached", () => {
    fc.assert(
      fc.property(matchProblems(["none"]), (problem) => {
        try {
          const logs = kernels.spread(spreadOf(problem));
          expect(logs).not.toBeNull();
          if (logs !== null) expect(brokenSpreadLaws(problem, logs)).toEqual([]);
        } catch (error) {
          if (!(error instanceof InfeasibleError)) throw error;
        }
      }),
      { numRuns: 250 },
    );
  });

  const good = spreadOf(allGather(mesh(2, 2)));
  it.each<[string, Partial<SpreadProblem>]>([
    ["a source out of range", { routeSource: good.routeSource.map((v, r) => (r === 0 ? 4 : v)) }],
    ["a negative target", { routeTarget: good.routeTarget.map((v, r) => (r === 0 ? -1 : v)) }],
    ["a route to its own source", { routeTarget: good.routeSource }],
    ["targets of another length", { routeTarget: new Int32Array(3) }],
    ["no NPU", { npuCount: 0 }],
    ["a held chunk out of range", { heldChunk: Int32Array.of(0, 1, 2, 4) }],
    ["a chunk held twice", { heldOffset: Int32Array.of(0, 4, 4, 4, 4), heldChunk: Int32Array.of(0, 1, 1, 3) }],
    ["offsets that fall", { heldOffset: Int32Array.of(0, 3, 2, 3, 4) }],
    ["wanted rows of another length", { wanted: new Uint32Array(3) }],
    ["no threads", { threads: 0 }],
    ["an unknown choice", { policy: { ...good.policy, choice: 5 } }],
    ["no window", { policy: { ...good.policy, window: 0 } }],
    ["slots that are no number", { maxSlots: Number.NaN }],
  ])("refuses %s", (_, change) => {
    expect(() => kernels.spread({ ...good, ...change })).toThrow(InternalError);
  });
}
