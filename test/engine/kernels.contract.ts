import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CancelledError, InfeasibleError, InputError, InternalError } from "../../src/base/errors.ts";
import type { Backend, Kernels, MatchProblem, PlaceProblem, RelayProblem } from "../../src/engine/contract/kernels.ts";
import { loadKernels } from "../../src/engine/kernels/load.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { kernelsOrReason } from "../support/backends.ts";
import { allGather, matchProblems, mesh, networkOf, relayOf, relayProblems } from "../support/networks.ts";
import { placedByOracle, placeOf, placeProblems } from "../support/place-problems.ts";
import { runs, triesAll } from "../support/runs.ts";
import { spreadOf } from "../support/spread-problems.ts";
import { brokenMatchLaws, brokenRelayLaws } from "../support/transfer-laws.ts";
import { arborescenceContract } from "./arborescence.contract.ts";
import { balanceContract } from "./balance.contract.ts";
import { concurrentContract } from "./concurrent.contract.ts";
import { foldedContract } from "./folded.contract.ts";
import { packContract } from "./pack.contract.ts";
import { partitionContract } from "./partition.contract.ts";
import { periodContract } from "./period.contract.ts";
import { rateContract } from "./rate.contract.ts";
import { replayContract } from "./replay.contract.ts";
import { spreadContract } from "./spread.contract.ts";
import { sweepContract } from "./sweep.contract.ts";

/**
 * What every backend of the kernels must do. A backend's test file only supplies its name. `npm test` holds the fastest that is
 * there to it, and the others to that one (agreement.test.ts).
 */
export async function kernelContract(backend: Backend): Promise<void> {
  const { kernels, reason } = await kernelsOrReason(backend);
  if (!triesAll && (await loadKernels()).kernels.backend !== backend) {
    it(`has the ${backend} kernels${kernels ? "" : ` (not here: ${reason})`}`, () =>
      expect(kernels?.backend).toBe(kernels && backend));
    return;
  }
  const suite = `${backend} kernels${kernels ? "" : ` (skipped: ${reason})`}`;
  describe.runIf(kernels !== undefined)(suite, () => cases(backend, kernels as Kernels));
}

const chain = (slots: readonly number[]) =>
  networkOf(
    slots.length + 1,
    slots.map((slotPs, i) => ({ source: i, target: i + 1, slotPs })),
  );

const end = (
  problem: { network: MatchProblem["network"] },
  { route, startPs }: ReturnType<Kernels["match"]>,
): number => (route.length === 0 ? 0 : startPs[route.length - 1] + problem.network.slotPs[route[route.length - 1]]);

function broadcastFromFirst(npus: number, network: MatchProblem["network"]): MatchProblem {
  const heldOffset = new Int32Array(npus + 1).fill(1);
  heldOffset[0] = 0;
  return { ...allGather(network), chunkCount: 1, heldOffset, heldChunk: Int32Array.of(0) };
}

function cases(backend: Backend, kernels: Kernels): void {
  it("says which backend it is", () => {
    expect(kernels.backend).toBe(backend);
  });

  it("passes one chunk down a chain, each transfer as soon as its source holds it", () => {
    const result = kernels.match(broadcastFromFirst(4, chain([10, 7, 5])));
    expect(result.route).toEqual(Int32Array.of(0, 1, 2));
    expect(result.chunk).toEqual(Int32Array.of(0, 0, 0));
    expect(result.startPs).toEqual(Float64Array.of(0, 10, 17));
  });

  it("keeps time exact beyond 32 bits", () => {
    const slot = 2 ** 51 + 1;
    const result = kernels.match(broadcastFromFirst(3, chain([slot, slot])));
    expect(result.startPs).toEqual(Float64Array.of(0, slot));
  });

  it("fills a ring in as many slots as there are chunks to get", () => {
    const routes = Array.from({ length: 6 }, (_, v) => ({ source: v, target: (v + 1) % 6, slotPs: 100 }));
    const problem = allGather(networkOf(6, routes));
    expect(end(problem, kernels.match(problem))).toBe(500);
  });

  it.each([
    ["one NPU", allGather(networkOf(1, []))],
    [
      "no chunks",
      { ...allGather(networkOf(1, [])), chunkCount: 0, heldOffset: new Int32Array(2), heldChunk: new Int32Array() },
    ],
    ["nothing wanted", { ...allGather(mesh(2, 2)), wanted: new Uint32Array(4) }],
  ])("returns no transfers for %s", (_, problem) => {
    const { chunk, route, startPs } = kernels.match(problem);
    expect([chunk.length, route.length, startPs.length]).toEqual([0, 0, 0]);
  });

  it("sends through a shared port one chunk at a time", () => {
    const uses = [[0, 1]] as const;
    const routes = [
      { source: 0, target: 1, slotPs: 10, uses },
      { source: 0, target: 2, slotPs: 10, uses },
    ];
    const result = kernels.match(broadcastFromFirst(3, networkOf(3, routes, [1])));
    expect(result.startPs).toEqual(Float64Array.of(0, 10));
  });

  it("moves a chunk over NPUs that do not want it", () => {
    const result = kernels.relay(relayOf(chain([10, 7, 5]), [[0, 3]]));
    expect(result?.route).toEqual(Int32Array.of(0, 1, 2));
    expect(result?.startPs).toEqual(Float64Array.of(0, 10, 17));
  });

  it("moves nothing when every chunk is where it should be", () => {
    const result = kernels.relay(relayOf(mesh(2, 1), [[1, 1]]));
    expect(result?.chunk.length).toBe(0);
  });

  it("returns null when a relay problem has too little room", () => {
    expect(kernels.relay({ ...relayOf(chain([1, 1]), [[0, 2]]), maxTransfers: 1 })).toBeNull();
  });

  it("names an NPU and a chunk that cannot reach it", () => {
    const problem = broadcastFromFirst(3, networkOf(3, [{ source: 0, target: 1, slotPs: 1 }]));
    expect(() => kernels.match(problem)).toThrow(InfeasibleError);
    expect(() => kernels.match(problem)).toThrow("chunk 0 cannot reach NPU 2");
    const relay = relayOf(networkOf(2, [{ source: 0, target: 1, slotPs: 1 }]), [[1, 0]]);
    expect(() => kernels.relay(relay)).toThrow(InfeasibleError);
  });

  it("stops when the cancel flag is set", () => {
    const flag = Int32Array.of(1);
    expect(() => kernels.match(allGather(mesh(8, 8)), flag)).toThrow(CancelledError);
    const pairs = Array.from({ length: 64 }, (_, v) => [v, 63 - v] as const);
    expect(() => kernels.relay(relayOf(mesh(8, 8), pairs), flag)).toThrow(CancelledError);
  });

  it("works on after an error and after a cancellation", () => {
    const problem = allGather(mesh(3, 3));
    const before = kernels.match(problem);
    expect(() => kernels.match(problem, Int32Array.of(1))).toThrow(CancelledError);
    expect(() => kernels.match({ ...problem, heldChunk: Int32Array.of(99) })).toThrow();
    expect(kernels.match(problem)).toEqual(before);
  });

  it.each([
    ["one step away, where none has either: the oldest", 1, 0],
    ["two steps away, where one has the oldest: the other", 4, 1],
  ])("looks at what NPUs have that are %s", (_, choice, first) => {
    // 0 > 1 > 2 > 3: 0 has both chunks, 3 has chunk 0; chunk 1 is as common, at an NPU without routes
    const problem = {
      ...allGather(
        networkOf(
          5,
          [0, 1, 2].map((v) => ({ source: v, target: v + 1, slotPs: 10 })),
        ),
        1,
        {
          choice,
          window: 9,
          lateLimit: 9,
        },
      ),
      chunkCount: 2,
      heldOffset: Int32Array.of(0, 2, 2, 2, 3, 4),
      heldChunk: Int32Array.of(0, 1, 0, 1),
      wanted: Uint32Array.of(3, 3, 3, 3, 2),
    };
    expect(kernels.match(problem).chunk[0]).toBe(first);
    const logs = kernels.spread(spreadOf(problem));
    expect(logs?.chunk[logs.logOffset[1]]).toBe(first);
  });

  it("refuses schedules that last longer than exact integers reach", () => {
    const slot = Number.MAX_SAFE_INTEGER;
    expect(() => kernels.match(broadcastFromFirst(3, chain([slot, slot])))).toThrow(InputError);
  });

  it("reads columns in shared memory", () => {
    const problem = allGather(mesh(3, 2, 10, 15), 2, { novelty: 1, overtaking: 1 });
    expect(kernels.match(shareColumns(problem))).toEqual(kernels.match(problem));
  });

  it("leaves the problem as it was", () => {
    const problem = allGather(mesh(4, 3, 10, 15), 2, {
      novelty: 1,
      overtaking: 1,
      choice: 1,
      window: 8,
      lateLimit: 100,
    });
    const copy = structuredClone(problem);
    kernels.match(problem);
    expect(problem).toEqual(copy);
  });

  foldedContract(kernels);
  spreadContract(kernels);
  rateContract(kernels);
  packContract(kernels);
  periodContract(kernels);
  sweepContract(kernels);
  partitionContract(kernels);
  arborescenceContract(kernels);
  balanceContract(kernels);
  concurrentContract(kernels);
  replayContract(kernels);
  placing(kernels);
  badMatchProblems(kernels);
  badRelayProblems(kernels);

  it.each([
    ["without shared resources", ["none"]],
    ["with ports", ["ports", "mixed"]],
    ["with any shared resources", ["arbitrary"]],
  ] as const)("delivers every wanted chunk once, lawfully, on random networks %s", (_, sharings) => {
    fc.assert(
      fc.property(matchProblems(sharings, true), (problem) => {
        expect(brokenMatchLaws(problem, kernels.match(problem))).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });

  it("keeps the laws or names what cannot be reached when not all chunks are wanted", () => {
    fc.assert(
      fc.property(matchProblems(["none", "ports", "mixed", "arbitrary"]), (problem) => {
        try {
          expect(brokenMatchLaws(problem, kernels.match(problem))).toEqual([]);
        } catch (error) {
          if (!(error instanceof InfeasibleError)) throw error;
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("brings every chunk to its target, lawfully, on random networks", () => {
    fc.assert(
      fc.property(relayProblems(["none", "ports", "mixed", "arbitrary"]), (problem) => {
        const result = kernels.relay(problem);
        expect(result).not.toBeNull();
        if (result !== null) expect(brokenRelayLaws(problem, result)).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });
}

function placing(kernels: Kernels): void {
  it("starts ready transfers of a route in the order of their keys, ties by index", () => {
    const rows = [3, -5, 3, 2 ** 53 - 1, -(2 ** 53) + 1].map((key) => ({ route: 0, key }));
    const starts = kernels.place(placeOf(chain([10]), rows));
    expect(starts).toEqual(Float64Array.of(20, 10, 30, 40, 0));
  });

  it("starts a transfer when the last that it waits for has ended", () => {
    const rows = [{ route: 0, successors: [2] }, { route: 1, successors: [2] }, { route: 2 }, { route: 1 }];
    expect(kernels.place(placeOf(chain([10, 7, 5]), rows))).toEqual(Float64Array.of(0, 0, 10, 7));
  });

  it("lets the least key of several routes have what they share, and tries the others when it frees", () => {
    const routes = [1, 2, 3].map((target) => ({ source: 0, target, slotPs: 10, uses: [[0, 1]] as const }));
    const rows = [
      { route: 0, key: 5 },
      { route: 1, key: 7 },
      { route: 2, key: 5 },
      { route: 2, key: 1 },
    ];
    expect(kernels.place(placeOf(networkOf(4, routes, [2]), rows))).toEqual(Float64Array.of(0, 10, 10, 0));
  });

  it("lets a smaller transfer pass one that does not fit", () => {
    const uses = [[0, 1]] as const;
    const wide = [[0, 2]] as const;
    const routes = [
      { source: 0, target: 1, slotPs: 10, uses },
      { source: 0, target: 2, slotPs: 10, uses: wide },
      { source: 0, target: 3, slotPs: 4, uses },
    ];
    const rows = [0, 1, 2].map((route) => ({ route, key: route }));
    expect(kernels.place(placeOf(networkOf(4, routes, [2]), rows))).toEqual(Float64Array.of(0, 10, 0));
  });

  it("places nothing when there is nothing to place", () => {
    expect(kernels.place(placeOf(mesh(2, 2), []))).toEqual(new Float64Array(0));
  });

  it("refuses transfers that wait for each other in a circle", () => {
    const rows = [{ route: 0 }, { route: 0, successors: [2] }, { route: 1, successors: [1] }];
    expect(() => kernels.place(placeOf(chain([1, 1]), rows))).toThrow(InternalError);
  });

  it("refuses starts and ends beyond exact integers", () => {
    const rows = [{ route: 0 }, { route: 0 }];
    expect(() => kernels.place(placeOf(chain([Number.MAX_SAFE_INTEGER]), rows))).toThrow(InputError);
    expect(kernels.place(placeOf(chain([Number.MAX_SAFE_INTEGER]), rows.slice(1)))).toEqual(Float64Array.of(0));
  });

  it("stops placing when the cancel flag is set", () => {
    const problem = placeOf(chain([1]), [{ route: 0 }]);
    expect(() => kernels.place(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  it("leaves a place problem as it was and reads it in shared memory", () => {
    const problem = placeOf(chain([10, 7]), [{ route: 0, key: 1, successors: [2] }, { route: 0 }, { route: 1 }]);
    const copy = structuredClone(problem);
    expect(kernels.place(shareColumns(problem))).toEqual(kernels.place(problem));
    expect(problem).toEqual(copy);
  });

  it("places random transfers as the definition says", () => {
    fc.assert(
      fc.property(placeProblems(["none", "ports", "mixed", "arbitrary"]), (problem) => {
        expect(kernels.place(problem)).toEqual(placedByOracle(problem));
      }),
      { numRuns: runs(250) },
    );
  });

  const good = placeOf(chain([10, 7]), [{ route: 0, successors: [1] }, { route: 1 }]);
  it.each<[string, Partial<PlaceProblem>]>([
    ["a route out of range", { route: Int32Array.of(0, 2) }],
    ["a negative route", { route: Int32Array.of(-1, 0) }],
    ["a successor out of range", { successor: Int32Array.of(2) }],
    ["successor offsets that fall", { successorOffset: Int32Array.of(0, 2, 1) }],
    ["successor offsets that are too few", { successorOffset: Int32Array.of(0, 1) }],
    ["a key that is not whole", { key: Float64Array.of(0.5, 1) }],
    ["a NaN key", { key: Float64Array.of(0, Number.NaN) }],
    ["a key beyond exact integers", { key: Float64Array.of(-(2 ** 53), 0) }],
    ["too few keys", { key: Float64Array.of(0) }],
    ["a slot of 0", { network: { ...good.network, slotPs: new Float64Array(2) } }],
  ])("refuses to place with %s", (_, part) => {
    expect(() => kernels.place({ ...good, ...part })).toThrow(InternalError);
  });
}

function badMatchProblems(kernels: Kernels): void {
  const good = allGather(mesh(2, 2));
  const network = (part: Partial<MatchProblem["network"]>): MatchProblem => ({
    ...good,
    network: { ...good.network, ...part },
  });
  const policy = (part: Partial<MatchProblem["policy"]>): MatchProblem => ({
    ...good,
    policy: { ...good.policy, ...part },
  });
  const routes = good.network.slotPs.length;
  it.each<[string, MatchProblem]>([
    ["a route from NPU 4 of 4", network({ routeSource: new Int32Array(routes).fill(4) })],
    ["a route from NPU -1", network({ routeSource: new Int32Array(routes).fill(-1) })],
    ["a route to itself", network({ routeTarget: good.network.routeSource })],
    ["a slot of 0", network({ slotPs: new Float64Array(routes) })],
    ["a slot of NaN", network({ slotPs: new Float64Array(routes).fill(Number.NaN) })],
    ["a fractional slot", network({ slotPs: new Float64Array(routes).fill(1.5) })],
    ["a column that is too short", network({ slotPs: good.network.slotPs.subarray(1) })],
    ["offsets that fall", network({ useOffset: Int32Array.from(good.network.useOffset, (_, i) => (i === 1 ? 1 : 0)) })],
    ["no NPUs", network({ npuCount: 0 })],
    ["a fractional count", network({ npuCount: 4.5 })],
    ["NaN chunks", { ...good, chunkCount: Number.NaN }],
    ["a held chunk out of range", { ...good, heldChunk: Int32Array.of(0, 1, 2, 4) }],
    ["held offsets that do not end at the chunks", { ...good, heldOffset: Int32Array.of(0, 1, 2, 3, 3) }],
    ["too few wanted words", { ...good, wanted: new Uint32Array(3) }],
    ["a choice that does not exist", policy({ choice: 5 })],
    ["a window of 0", policy({ window: 0 })],
    ["a negative seed", policy({ seed: -1 })],
  ])("refuses %s", (_, problem) => {
    expect(() => kernels.match(problem)).toThrow(InternalError);
  });

  it("refuses a route that takes more of a resource than there is", () => {
    const uses = [[0, 2]] as const;
    const overdrawn = networkOf(2, [{ source: 0, target: 1, slotPs: 1, uses }], [1]);
    expect(() => kernels.match(broadcastFromFirst(2, overdrawn))).toThrow(InternalError);
  });
}

function badRelayProblems(kernels: Kernels): void {
  const good = relayOf(mesh(2, 2), [[0, 3]]);
  it.each<[string, Partial<RelayProblem>]>([
    ["a source out of range", { chunkSource: Int32Array.of(4) }],
    ["a negative target", { chunkTarget: Int32Array.of(-1) }],
    ["a NaN distance", { distancePs: new Float64Array(16).fill(Number.NaN) }],
    ["a distance column that is too short", { distancePs: new Float64Array(15) }],
    ["an order out of range", { order: new Int32Array(16).fill(4) }],
    ["an order that names a target twice", { order: new Int32Array(16).fill(1) }],
    ["negative room", { maxTransfers: -1 }],
  ])("refuses %s", (_, part) => {
    expect(() => kernels.relay({ ...good, ...part })).toThrow(InternalError);
  });
}
