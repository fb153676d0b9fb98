import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { type MpiRequest, type MpiStep, mpiRounds, mpiSteps } from "../../../src/model/collective/mpi-rounds.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { synthesize } from "../../../src/run/synthesize.ts";

/** Returns which ranks' data each rank has after rounds in which messages carry all that their senders had before. */
function spread(steps: readonly MpiStep[], ranks: number, had: (rank: number) => Iterable<number>): Set<number>[] {
  let have = Array.from({ length: ranks }, (_, rank) => new Set(had(rank)));
  for (const { to, times = 1 } of steps) {
    for (let time = 0; time < times; time++) {
      const next = have.map((own) => new Set(own));
      have.forEach((own, rank) => {
        const target = to(rank);
        if (target >= 0) for (const one of own) next[target]?.add(one);
      });
      have = next;
    }
  }
  return have;
}

const sum = (topology: string, request: MpiRequest, of: "load" | "hops" | "summed") =>
  mpiRounds(presetTopology(topology), request).reduce((total, round) => total + round.times * round[of], 0);
const torus = fc
  .array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 })
  .filter((logs) => logs.reduce((a, b) => a + b) <= 6)
  .map((logs) => `torus:${logs.map((log) => 2 ** log).join("x")}@1GB/s,1us`);
const PARTED = ["rabenseifner", "bine-rabenseifner"] as const;

describe("rounds of MPI's algorithms", () => {
  it("bring every rank's data to every rank, on tori and through a switch of any number of ranks", () => {
    const requests: MpiRequest[] = [
      ...(["ring", "recursive-doubling", "rabenseifner", "bine-doubling", "bine-rabenseifner"] as const).map(
        (algorithm): MpiRequest => ({ algorithm, collective: "allreduce" }),
      ),
      { algorithm: "recursive-doubling", collective: "allgather", unaware: true },
      { algorithm: "bruck", collective: "allgather" },
      { algorithm: "neighbor-exchange", collective: "allgather" },
    ];
    const check = (name: string, request: MpiRequest, port: number): void => {
      const topology = presetTopology(name);
      const ranks = topology.npuCount;
      const all = spread(mpiSteps(topology, request, port), ranks, (rank) => [rank]);
      expect(all.map(({ size }) => size)).toEqual(new Array(ranks).fill(ranks));
    };
    fc.assert(
      fc.property(torus, fc.constantFrom(...requests), fc.nat(3), (name, request, port) => check(name, request, port)),
      { numRuns: 60 },
    );
    for (const ranks of [2, 3, 6, 7, 12, 16])
      for (const algorithm of ["ring", "recursive-doubling", "rabenseifner"] as const)
        check(`switch:${ranks}@1GB/s,1us`, { algorithm, collective: "allreduce" }, 0);
  });

  it("reach every rank from the first, and the first from all", () => {
    for (const name of ["torus:4x8@1GB/s,1us", "torus:2x2x2@1GB/s,1us", "switch:11@1GB/s,1us"]) {
      const topology = presetTopology(name);
      const ranks = topology.npuCount;
      for (const algorithm of ["binomial", "bine-binomial"] as const) {
        if (ranks === 11 && algorithm === "bine-binomial") continue;
        const steps = mpiSteps(topology, { algorithm, collective: "broadcast" });
        const reached = spread(steps, ranks, (rank) => (rank === 0 ? [0] : []));
        expect(reached.every((own) => own.has(0))).toBe(true);
      }
    }
  });

  it("load links no less than any algorithm must, however many interfaces they use", () => {
    fc.assert(
      fc.property(torus, fc.constantFrom(...PARTED), fc.integer({ min: 1, max: 6 }), (name, algorithm, ports) => {
        const topology = presetTopology(name);
        const degree = topology.linkSource.filter((npu) => npu === 0).length;
        const ranks = topology.npuCount;
        const load = sum(name, { algorithm, collective: "allreduce", ports }, "load");
        // what every NPU must send, over all its links
        expect(load * degree).toBeGreaterThanOrEqual((2 * (ranks - 1)) / ranks - 1e-9);
        // and out of its interfaces
        expect(load * ports).toBeGreaterThanOrEqual((2 * (ranks - 1)) / ranks - 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it("are those of closed forms", () => {
    const allreduce = (algorithm: MpiRequest["algorithm"]): MpiRequest => ({ algorithm, collective: "allreduce" });
    expect(sum("switch:32@1GB/s,1us", allreduce("recursive-doubling"), "load")).toBe(5);
    expect(sum("switch:32@1GB/s,1us", allreduce("rabenseifner"), "load")).toBeCloseTo((2 * 31) / 32, 12);
    expect(sum("switch:7@1GB/s,1us", allreduce("ring"), "load")).toBeCloseTo((2 * 6) / 7, 12);
    expect(sum("switch:7@1GB/s,1us", allreduce("ring"), "summed")).toBeCloseTo(6 / 7, 12);
    // bits of distance 1, 2 and 4 in a ring of 8: 1, 2 and (both ways round) 2 messages on a link
    expect(sum("torus:8x2@1GB/s,1us", { ...allreduce("recursive-doubling"), unaware: true }, "load")).toBe(
      1 + 2 + 2 + 1,
    );
    // Bine's distances 1, 1 and 3
    expect(sum("torus:8x2@1GB/s,1us", allreduce("bine-doubling"), "load")).toBe(1 + 1 + 2 + 1);
  });

  it("take as long as the schedule of the same algorithm, simulated", async () => {
    const [bytes, ranks] = [2 ** 30, 32];
    const name = `switch:${ranks}@25GB/s,1us`;
    const engine = await openEngine({ threads: 0 });
    const options = { collective: "allreduce", algorithm: "rhd", sizeBytes: bytes } as const;
    const { report } = await synthesize(engine, presetTopology(name), options);
    await engine.close();
    const request: MpiRequest = { algorithm: "rabenseifner", collective: "allreduce" };
    const us = sum(name, request, "load") * (bytes / 25e3) + sum(name, request, "hops");
    expect(us / report.time.us).toBeCloseTo(1, 3);
  });

  it("are refused on other networks, for other collectives and numbers of ranks", () => {
    const rounds = (name: string, request: MpiRequest) => () => mpiRounds(presetTopology(name), request);
    const ring: MpiRequest = { algorithm: "ring", collective: "allreduce" };
    expect(rounds("mesh:4x4", ring)).toThrow(InputError);
    expect(rounds("dgx-h100:2", ring)).toThrow(InputError);
    expect(rounds("switch:8", { algorithm: "bruck", collective: "allreduce" })).toThrow(InputError);
    expect(rounds("switch:6", { algorithm: "recursive-doubling", collective: "allgather" })).toThrow(InputError);
    expect(rounds("torus:4x4", { algorithm: "pairwise", collective: "alltoall" })).toThrow(InputError);
  });
});
