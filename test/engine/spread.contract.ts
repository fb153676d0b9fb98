import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InfeasibleError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, MatchProblem, SpreadLogs, SpreadProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { type FoldedProblem, foldedAllGather, foldedProblems, mapColumns } from "../support/folded-problems.ts";
import { allGather, matchProblems, mesh, networkOf } from "../support/networks.ts";
import { runs } from "../support/runs.ts";
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

/** Returns the arrivals of an NPU as "slot chunk source", where a map takes chunks and sources; sorted. */
function arrivals({ problem }: FoldedProblem, logs: SpreadLogs, npu: number, map: Int32Array): string[] {
  const { routeSource, routeTarget } = problem.network;
  const chunks = problem.chunkCount / problem.network.npuCount;
  const sources = routeSource.filter((_, route) => routeTarget[route] === npu);
  const bytes = (sources.length + 7) >> 3;
  let entry = logs.logOffset[npu] + chunks;
  const found: string[] = [];
  for (let slot = 0; slot < logs.slots[npu]; slot++) {
    for (const [port, source] of sources.entries()) {
      const at = logs.portOffset[npu] + slot * bytes + (port >> 3);
      if (((logs.ports[at] >> (port & 7)) & 1) === 0) continue;
      const chunk = logs.chunk[entry++];
      found.push(`${slot} ${map[Math.floor(chunk / chunks)] * chunks + (chunk % chunks)} ${map[source]}`);
    }
  }
  return found.sort();
}

/** Fails unless the logs are lawful and, for NPUs that no map leaves in place, the same under all maps. */
function expectSymmetric(folded: FoldedProblem, logs: SpreadLogs | null): void {
  expect(logs).not.toBeNull();
  if (logs === null) return;
  expect(brokenSpreadLaws(folded.problem, logs)).toEqual([]);
  const identity = folded.maps[0] as Int32Array;
  for (const v of identity) {
    if (folded.maps.some((map, g) => g > 0 && map[v] === v)) continue;
    for (const map of folded.maps) {
      expect(arrivals(folded, logs, map[v], identity)).toEqual(arrivals(folded, logs, v, map));
    }
  }
}

/** Fails unless the least NPUs of the orbits have their logs and the others none. */
function expectKept({ maps }: FoldedProblem, all: SpreadLogs, kept: SpreadLogs | null): void {
  for (const npu of maps[0] as Int32Array) {
    const rowOf = ({ logOffset, chunk, portOffset, ports, slots }: SpreadLogs) => [
      [...chunk.slice(logOffset[npu], logOffset[npu + 1])],
      [...ports.slice(portOffset[npu], portOffset[npu + 1])],
      slots[npu],
    ];
    const isLeast = maps.every((map) => map[npu] >= npu);
    expect(kept && rowOf(kept)).toEqual(isLeast ? rowOf(all) : [[], [], 0]);
  }
}

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

  it("gives the same bits by many more threads than processors", () => {
    const network = mesh(40, 40);
    const choosers = Uint8Array.from({ length: 1600 }, (_, npu) => (npu % 40 < 2 ? 1 : 0));
    for (const problem of [
      allGather(network),
      { ...allGather(network, 1, { choice: 1, window: 8, lateLimit: 2000 }), choosers },
    ]) {
      const [one, many] = [1, 24].map((threads) => kernels.spread(spreadOf(problem, 900, threads)));
      // Vitest's own comparison takes a minute for so many numbers
      expect(isDeepStrictEqual(many, one)).toBe(true);
    }
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
      { numRuns: runs(250) },
    );
  });

  it("is lawful and the same under the maps it is given, on random networks", () => {
    fc.assert(
      fc.property(foldedProblems, (folded) => {
        const problem = { ...spreadOf(folded.problem), maps: mapColumns(folded.maps) };
        const logs = kernels.spread(problem);
        expectSymmetric(folded, logs);
        if (logs !== null) expectKept(folded, logs, kernels.spread({ ...problem, folded: true }));
      }),
      { numRuns: runs(250) },
    );
  });

  it.each([
    [4, 4, 8],
    [5, 5, 12],
    [7, 6, 21],
    [11, 11, 60],
  ])("meets the bound on the %i x %i mesh with all its symmetries", (width, height, slots) => {
    const folded = foldedAllGather(allGather(mesh(width, height)));
    const logs = kernels.spread({ ...spreadOf(folded.problem), maps: mapColumns(folded.maps) });
    expectSymmetric(folded, logs);
    expect(Math.max(...(logs?.slots ?? []))).toBe(slots);
  });

  const flips = mapColumns([Int32Array.of(0, 1, 2, 3), Int32Array.of(1, 0, 3, 2)]);
  it.each<[string, Partial<SpreadProblem>]>([
    ["maps of another length", { maps: flips.slice(0, 7) }],
    ["maps that do not begin with the identity", { maps: flips.slice(4) }],
    ["a map out of range", { maps: Int32Array.of(0, 1, 2, 3, 1, 0, 3, 4) }],
    ["a map that does not take routes to routes", { maps: Int32Array.of(0, 1, 2, 3, 0, 1, 3, 2) }],
    [
      "maps with a choice besides the oldest",
      { maps: flips, policy: { ...spreadOf(allGather(mesh(2, 2))).policy, choice: 1 } },
    ],
    ["maps where some want a part", { maps: flips, wanted: Uint32Array.of(15, 15, 15, 7) }],
    ["maps that change how much is held", { maps: flips, heldOffset: Int32Array.of(0, 2, 2, 3, 4) }],
    [
      "maps where a chunk is held twice",
      { maps: flips, heldOffset: Int32Array.of(0, 2, 3, 4, 5), heldChunk: Int32Array.of(0, 1, 1, 2, 3) },
    ],
  ])("refuses %s", (_, change) => {
    const problem = spreadOf(allGather(mesh(2, 2)));
    expect(kernels.spread({ ...problem, maps: flips })).not.toBeNull();
    expect(() => kernels.spread({ ...problem, ...change })).toThrow(InternalError);
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
