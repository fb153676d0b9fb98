import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { wholeProblem } from "../../../src/run/auto/candidates.ts";
import { compare } from "../../../src/run/compare.ts";
import { refusalOf } from "../../../src/synthesize/applicable.ts";
import { coarseTime, hasCoarseTime } from "../../../src/synthesize/baselines/coarse.ts";
import { ALGORITHMS } from "../../../src/synthesize/catalog.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

/** Returns the coarse time of each algorithm that has one, by that of its schedule. */
async function shares(network: string, collective: "allreduce" | "allgather" | "alltoall", sizeBytes: number) {
  const topology = presetTopology(network);
  const problem = wholeProblem(topology, { collective, sizeBytes });
  const algorithms = ALGORITHMS.filter(
    (one) =>
      hasCoarseTime(one.name, problem.collective) && refusalOf(one, problem.topology, problem.collective) === null,
  ).map(({ name }) => name);
  const { rows } = await compare(engine, topology, { collective, sizesBytes: [sizeBytes], algorithms });
  expect(rows.map(({ algorithm }) => algorithm)).toEqual(algorithms);
  return rows.map(({ algorithm, us }) => {
    const { ps } = coarseTime(algorithm, problem.topology, problem.collective);
    return [algorithm, ps / 1e6 / us] as const;
  });
}

const RINGS = ["ring", "rings", "nccl-rings", "shifted-rings"];

describe("coarse times", () => {
  const cases = ["ring:16", "mesh:6x6", "torus:4x4x4", "dgx-a100:2", "dgx-h100:4"].flatMap((network) =>
    (["allreduce", "allgather", "alltoall"] as const).map((collective) => [network, collective] as const),
  );

  it.each(cases)("are near those of schedules of 64 MiB: %s, %s", async (network, collective) => {
    for (const [algorithm, share] of await shares(network, collective, 2 ** 26)) {
      const most = RINGS.includes(algorithm) ? 0.05 : 0.3;
      expect(share, algorithm).toBeLessThan(1 + most);
      expect(share, algorithm).toBeGreaterThan(1 - most);
    }
  });

  it.each(cases)("and of 1 MiB: %s, %s", async (network, collective) => {
    for (const [algorithm, share] of await shares(network, collective, 2 ** 20)) {
      expect(share, algorithm).toBeGreaterThan(0.8);
      expect(share, algorithm).toBeLessThan(1.3);
    }
  });
});
