import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PHASE_ALL_GATHER } from "../../../src/model/phases/phase-schedule.ts";
import { baselineOrders, type ChunkOrders, opAt, type PhaseProblem } from "../../../src/synthesize/themis/orders.ts";
import { balancedOrders } from "../../../src/synthesize/themis/themis.ts";
import { anyPhaseRequest, PHASE_COLLECTIVES, problemFor } from "../../support/phase-problems.ts";

/** Returns what the dimensions have to do in the chunks' first phases, with A_K. */
function loadsOf(problem: PhaseProblem, orders: ChunkOrders): number[] {
  const { chunks, dimensions, perChunk, collective, scatters, costs } = problem;
  const op = opAt(problem, 0);
  const loads = dimensions.map((_, d) => (perChunk / dimensions.length) * costs(d, op, 1).latencyPs);
  for (let chunk = 0; chunk < chunks; chunk++) {
    let holders = scatters === 0 ? collective.groupSize : 1;
    for (const d of orders.subarray(chunk * perChunk, chunk * perChunk + dimensions.length)) {
      if (op === PHASE_ALL_GATHER) holders /= dimensions[d].size;
      loads[d] += costs(d, op, holders).serialPs;
      if (op !== PHASE_ALL_GATHER) holders *= dimensions[d].size;
    }
  }
  return loads;
}

/** Returns the orders in which so many of the chunks take two dimensions the other way round. */
function turned(problem: PhaseProblem, count: number): ChunkOrders {
  const { perChunk } = problem;
  return baselineOrders(problem).map((d, i) => (i < count * perChunk ? 1 - d : d));
}

describe("balancedOrders", () => {
  it("takes each dimension once for each op, and never loads one more than the baseline", () => {
    fc.assert(
      fc.property(anyPhaseRequest, ({ topology, collective }) => {
        const { kind, sizeBytes, chunksPerNpu } = collective;
        const problem = problemFor(topology.name, kind as "allreduce", sizeBytes, chunksPerNpu);
        const { perChunk } = problem;
        const D = problem.dimensions.length;
        const orders = balancedOrders(problem);
        for (let i = 0; i < orders.length; i += perChunk) {
          const order = [...orders.subarray(i, i + perChunk)];
          expect([...order.slice(0, D)].sort()).toEqual([...Array(D).keys()]);
          if (perChunk > D) expect(order.slice(D)).toEqual(order.slice(0, D).reverse());
        }
        const most = (of: ChunkOrders): number => Math.max(...loadsOf(problem, of));
        expect(most(orders)).toBeLessThanOrEqual(most(baselineOrders(problem)));
      }),
    );
  });

  it("is the best that two dimensions allow", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PHASE_COLLECTIVES),
        fc.integer({ min: 2, max: 9 }),
        fc.integer({ min: 2, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 24 }),
        (kind, first, second, slow, fast, chunks) => {
          const problem = problemFor(`switch:${first}*fc:${second}@${fast},${slow}GB/s,1,3us`, kind, 1e8, chunks);
          const most = (of: ChunkOrders): number => Math.max(...loadsOf(problem, of));
          const all = Array.from({ length: chunks + 1 }, (_, count) => most(turned(problem, count)));
          expect(most(balancedOrders(problem))).toBe(Math.min(...all));
        },
      ),
    );
  });

  it("turns the baseline's order round where there are more dimensions than it can permute", () => {
    const problem = problemFor("hypercube:6@50GB/s,0us", "allreduce", 6.4e8, 6);
    const loads = loadsOf(problem, balancedOrders(problem));
    expect(Math.max(...loads)).toBe(Math.min(...loads));
  });
});
