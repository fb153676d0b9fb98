import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology, THEMIS } from "../../../src/model/presets/preset.ts";
import { simulatePhases } from "../../../src/simulate/phases/phases.ts";
import type { PhaseRequest } from "../../../src/synthesize/phase-maker.ts";
import {
  baselineOrders,
  executed,
  type PhaseProblem,
  PUBLISHED,
  themisOrders,
} from "../../../src/synthesize/themis/orders.ts";
import { blueconnect, themis } from "../../../src/synthesize/themis/themis.ts";
import { everyone } from "../../support/everyone.ts";
import {
  amongAll,
  anyPhaseRequest,
  PHASE_COLLECTIVES,
  phaseRequest,
  problemFor,
} from "../../support/phase-problems.ts";
import { outOfRange, refused, unexpected } from "../../support/refusals.ts";

/** Returns the orders of Algorithm 1 and the loads after each chunk. */
function traced(problem: PhaseProblem): { orders: Uint8Array; loads: (readonly number[])[] } {
  const loads: (readonly number[])[] = [];
  return { orders: themisOrders(problem, PUBLISHED, (after) => loads.push(after)), loads };
}

/** Figures 5 and 7: 256 MB in 4 chunks on 4 x 4 NPUs, BW(dim1) = 2 BW(dim2); a unit is 48 MB at 96 GB/s. */
const EXAMPLE = "switch:4*switch:4@96,48GB/s,0us";
const UNIT_PS = 500_000_000;

describe("Themis's example (figures 5 and 7)", () => {
  const problem = problemFor(EXAMPLE, "allreduce", 256e6, 4);

  it("has the loads of figure 7 after each chunk", () => {
    const { orders, loads } = traced(problem);
    expect(loads.map((after) => after.map((ps) => ps / UNIT_PS))).toEqual([
      [1, 0.5],
      [1.25, 2.5],
      [2.25, 3],
      [3.25, 3.5],
    ]);
    expect([...orders]).toEqual([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0]);
  });

  it("takes 8 units by the baseline and 7 by Themis+SCF, all that dimension 2 has to do", () => {
    const last = (schedule: ReturnType<typeof executed>): number => Math.max(...schedule.endPs) / UNIT_PS;
    expect(last(executed(problem, baselineOrders(problem), "fifo"))).toBe(8);
    expect(last(executed(problem, themisOrders(problem), "fifo"))).toBe(8);
    expect(last(executed(problem, themisOrders(problem), "scf"))).toBe(7);
  });

  it("fills dimension 2 from the start to the end", () => {
    const { dimension, chunk, op, startPs, endPs } = executed(problem, themisOrders(problem), "scf");
    const second = [...dimension.keys()].filter((row) => dimension[row] === 1);
    expect(second.map((row) => [chunk[row], op[row], startPs[row] / UNIT_PS, endPs[row] / UNIT_PS])).toEqual([
      [1, 0, 0, 2],
      [0, 0, 2, 2.5],
      [0, 1, 2.5, 3],
      [2, 0, 3, 3.5],
      [2, 1, 3.5, 4],
      [3, 0, 4, 4.5],
      [3, 1, 4.5, 5],
      [1, 1, 5, 7],
    ]);
  });
});

describe("Themis's networks (table 2)", () => {
  const SIZES = [100e6, 250e6, 500e6, 1000e6];
  const runs = Object.keys(THEMIS).flatMap((name) =>
    SIZES.map((size) => {
      const problem = problemFor(`themis:${name}`, "allreduce", size, 64);
      return [
        executed(problem, baselineOrders(problem), "fifo"),
        executed(problem, themisOrders(problem), "fifo"),
        executed(problem, themisOrders(problem), "scf"),
      ].map((schedule) => simulatePhases(schedule));
    }),
  );
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value) / values.length;
  const utilisation = (of: number): number => 100 * mean(runs.map((run) => toNumber(run[of].utilisation)));
  const speedUps = (of: number): number[] => runs.map((run) => run[0].ps / run[of].ps);

  it("are used to 56.31 % by the baseline, 87.67 % by Themis+FIFO, 95.14 % by Themis+SCF", () => {
    expect(Math.abs(utilisation(0) - 56.31)).toBeLessThan(1);
    expect(Math.abs(utilisation(1) - 87.67)).toBeLessThan(4);
    expect(Math.abs(utilisation(2) - 95.14)).toBeLessThan(1);
  });

  it("are 1.58 and 1.72 times faster, 2.70 times at most", () => {
    expect(mean(speedUps(1)) / 1.58).toBeCloseTo(1, 1);
    expect(mean(speedUps(2)) / 1.72).toBeCloseTo(1, 1);
    expect(Math.abs(Math.max(...speedUps(2)) / 2.7 - 1)).toBeLessThan(0.05);
  });
});

describe("themisOrders", () => {
  it("takes each dimension once for each op, all-gathers of an all-reduce in reverse", () => {
    fc.assert(
      fc.property(anyPhaseRequest, ({ topology, collective }) => {
        const { chunksPerNpu, kind, sizeBytes } = collective;
        const problem = problemFor(topology.name, kind as "allreduce", sizeBytes, chunksPerNpu);
        const D = problem.dimensions.length;
        const orders = themisOrders(problem);
        for (let chunk = 0; chunk < chunksPerNpu; chunk++) {
          const order = [...orders.subarray(chunk * problem.perChunk, (chunk + 1) * problem.perChunk)];
          expect([...order.slice(0, D)].sort()).toEqual([...Array(D).keys()]);
          if (kind === "allreduce") expect(order.slice(D)).toEqual(order.slice(0, D).reverse());
        }
      }),
    );
  });

  it("starts with the baseline's order for every collective where latencies are alike", () => {
    const first = (kind: (typeof PHASE_COLLECTIVES)[number]): number[] => [
      ...themisOrders(problemFor("switch:4*switch:4", kind, 1e9, 8)).subarray(0, kind === "allreduce" ? 4 : 2),
    ];
    expect(PHASE_COLLECTIVES.map(first)).toEqual([
      [0, 1, 1, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  it("gathers from the most to the least loaded dimension", () => {
    const { orders, loads } = traced(problemFor("switch:4*switch:4@50GB/s,0us", "allgather", 16e6, 2));
    expect([...orders]).toEqual([1, 0, 0, 1]);
    expect(loads).toEqual([
      [120e6, 30e6],
      [150e6, 150e6],
    ]);
  });

  it("starts loads at A_K: a dimension of long latency is spared", () => {
    const { orders } = traced(problemFor("switch:4*switch:4@50GB/s,0,500us", "allreduce", 16e6, 2));
    expect([...orders.subarray(0, 4)]).toEqual([0, 1, 1, 0]);
    const { orders: other } = traced(problemFor("switch:4*switch:4@50GB/s,500,0us", "allreduce", 16e6, 2));
    expect([...other.subarray(0, 4)]).toEqual([1, 0, 0, 1]);
  });
});

describe("themis", () => {
  it("is never slower than the baseline", () => {
    const networks = ["themis:3d-fc-ring-sw", "torus:8x4x2", "dgx-a100:2", "dgx-h100:4", "mesh:3x5", "ring:4*switch:4"];
    for (const preset of networks) {
      for (const kind of PHASE_COLLECTIVES) {
        for (const [size, chunks] of [
          [2 ** 16, 2],
          [2 ** 22, 8],
          [2 ** 30, 2],
          [2 ** 30, 64],
        ]) {
          const request = phaseRequest(preset, kind, size, chunks);
          const baseline = simulatePhases(blueconnect.makePhases(request).schedule).ps;
          for (const policy of themis.policies) {
            expect(simulatePhases(themis.makePhases({ ...request, policy }).schedule).ps).toBeLessThanOrEqual(baseline);
          }
        }
      }
    }
  });

  it("says when it keeps the baseline's order", () => {
    const asked = { ...phaseRequest("dgx-h100:4", "allreduce", 2 ** 30, 64), policy: "scf" };
    const { policy, notes, schedule } = themis.makePhases(asked);
    const baseline = blueconnect.makePhases(phaseRequest("dgx-h100:4", "allreduce", 2 ** 30, 64)).schedule;
    expect(policy).toBe("dimensions in turn (the baseline's order)");
    expect(notes).toEqual([expect.stringContaining("the baseline's is kept")]);
    expect(schedule.startPs).toEqual(baseline.startPs);
  });

  it("names its queues", () => {
    const request = phaseRequest("torus:4x4", "allreduce", 2 ** 30, 16);
    expect(themis.makePhases({ ...request, policy: "scf" }).policy).toContain("Themis+SCF");
    expect(themis.makePhases({ ...request, policy: "fifo" }).policy).toContain("Themis+FIFO");
  });

  it("orders rows by start, dimension, chunk", () => {
    const { startPs, dimension, chunk } = themis.makePhases(phaseRequest("torus:4x4x4", "allreduce", 1e8, 16)).schedule;
    for (let i = 1; i < startPs.length; i++) {
      const before = [startPs[i - 1], dimension[i - 1], chunk[i - 1]];
      const after = [startPs[i], dimension[i], chunk[i]];
      const differs = before.findIndex((value, k) => value !== after[k]);
      expect(differs).toBeGreaterThanOrEqual(0);
      expect(before[differs]).toBeLessThan(after[differs]);
    }
  });

  it("takes as many chunks as are fastest, one where latency is all", () => {
    for (const maker of [themis, blueconnect]) {
      const ps = (size: number, chunks: number): number =>
        simulatePhases(maker.makePhases(phaseRequest("torus:4x4", "allreduce", size, chunks)).schedule).ps;
      const own = maker.ownChunks(phaseRequest("torus:4x4", "allreduce", 2 ** 26, 1));
      for (const other of [1, 8, 64, 512]) expect(ps(2 ** 26, own)).toBeLessThan(1.0051 * ps(2 ** 26, other));
      expect(ps(2 ** 26, own)).toBeLessThan(ps(2 ** 26, own / 2));
      expect(maker.ownChunks(phaseRequest("torus:4x4", "allreduce", 1, 1))).toBe(1);
    }
  });

  it("lets switches sum when asked, and says where none can", () => {
    const request = phaseRequest("dgx-h100:2", "allreduce", 2 ** 20, 2, { offload: true });
    expect(themis.makePhases(request).schedule.algorithms).toEqual(["offload", "halving-doubling"]);
    expect(() => themis.makePhases(phaseRequest("dgx-a100:2", "allreduce", 1, 1, { offload: true }))).toThrow(
      unexpected("offload", "dgx-a100:2"),
    );
  });

  it("refuses networks that are no product, and groups", () => {
    const dgx1 = phaseRequest("dgx1", "allreduce", 1, 1);
    const phrase = "a product of rings, lines, fully connected and switch dimensions with equal links in each";
    expect(themis.refuses?.(dgx1.topology, dgx1.collective)).toBe(phrase);
    expect(() => blueconnect.makePhases(dgx1)).toThrow(unexpected("the topology", "dgx1"));
    const topology = presetTopology("torus:4x4");
    const whole = amongAll(topology, "allreduce", 1, 1);
    expect(themis.refuses?.(topology, whole)).toBeNull();
    const turned = { ...whole, groupMembers: everyone(16).reverse() };
    expect(themis.refuses?.(topology, turned)).toBeNull();
    const mixed = everyone(16);
    [mixed[0], mixed[5]] = [5, 0];
    expect(themis.refuses?.(topology, { ...whole, groupMembers: mixed })).toMatch(/^groups that are products of lines/);
  });

  it("by the best policy is never slower than by another, and faster where chunks are few", () => {
    const ps = (request: PhaseRequest, policy: string): number =>
      simulatePhases(themis.makePhases({ ...request, policy }).schedule).ps;
    fc.assert(
      fc.property(anyPhaseRequest, (request) => {
        const best = ps(request, "best");
        for (const policy of ["scf", "fifo"]) expect(best).toBeLessThanOrEqual(ps(request, policy));
      }),
    );
    const faster = Object.keys(THEMIS).filter((name) => {
      const request = phaseRequest(`themis:${name}`, "allreduce", 250e6, 4);
      return ps(request, "best") < 0.97 * ps(request, "scf");
    });
    expect(faster.length).toBeGreaterThanOrEqual(5);
  });

  it("refuses policies that it does not have", () => {
    const request = phaseRequest("torus:4x4", "allreduce", 1, 1, { policy: "constructor" });
    expect(() => themis.makePhases(request)).toThrow(refused("unknown-name", "policy", "constructor"));
  });

  it("refuses other collectives, and chunks without end", () => {
    expect(() => themis.makePhases(phaseRequest("torus:4x4", "alltoall", 1, 1))).toThrow(
      unexpected("the collective", "alltoall"),
    );
    expect(() => themis.makePhases(phaseRequest("torus:4x4", "allreduce", 1, 2 ** 21))).toThrow(
      outOfRange("chunks", 2097152, 65536),
    );
  });
});
