import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { plainEngine } from "../../support/lowering-cases.ts";
import { lowered, loweringCases, scheduleFor } from "../../support/lowering-matrix.ts";
import { quick } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const SOLVERS: readonly string[] = ["taccl", "sccl", "tacos-ilp"];
const CASES = quick(
  loweringCases(["switch:2", "ring:4", "switch:5", "mesh:2x3", "hypercube:3", "torus:3x3"]),
  ({ topology, algorithm, collective }) =>
    !SOLVERS.includes(algorithm) &&
    (!["hypercube:3", "torus:3x3"].includes(topology) || ["allreduce", "alltoall"].includes(collective)),
);

/** Ways to cut and order. */
const WAYS = [{}, { parts: 4, order: "simulated" }, { parts: 6, connections: 3, segmentBytes: 0 }] as const;

describe("a schedule's plan for MPI", () => {
  it.each(CASES)("$algorithm $collective on $topology is right, written, and read again", async (found) => {
    const made = await scheduleFor(engine, found);
    if (made === null) return;
    // switches that sum send no messages
    const { schedule } = made;
    const sums =
      ("inNetwork" in schedule && schedule.inNetwork === true) ||
      ("algorithms" in schedule && schedule.algorithms.includes("offload"));
    for (const way of WAYS) {
      const { outcome, reason } = lowered(found, made, { runtime: "mpi", ...way });
      expect(outcome, reason).toBe(sums ? "refused" : "exported");
    }
  });
});
