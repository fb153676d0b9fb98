import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { isOwnFailure } from "../../../src/run/auto/candidates.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { applicableTo } from "../../../src/synthesize/applicable.ts";
import { algorithmNamed } from "../../../src/synthesize/catalog.ts";
import { pick } from "../../support/draws.ts";
import { drawnNetwork, drawsOf } from "../../support/partition-limits.ts";
import { triesAll } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

/** All 500 are tried by BANYAN_TESTS=large, in some minutes; 156: TACOS with one chunk was the fastest, but only with all its trials. */
const COUNT = process.env["BANYAN_TESTS"] === "large" ? 500 : triesAll ? 60 : 30;
const SEEDS = [...new Set([...Array(COUNT).keys(), 156])];
const KINDS: readonly NamedCollective[] = [
  "allgather",
  "reducescatter",
  "allreduce",
  "alltoall",
  "broadcast",
  "reduce",
];
const SIZES = [2 ** 10, 2 ** 16, 2 ** 20, 2 ** 26, 2 ** 30];
const UNHURRIED = 600_000;

describe("auto", () => {
  it("is never slower than any algorithm by itself, on random networks", { timeout: 3_600_000 }, async () => {
    const faster: string[] = [];
    let compared = 0;
    for (const seed of SEEDS) {
      const draws = drawsOf(seed);
      const shape = { mostNpus: 10, mostSwitches: 3, bothWays: seed % 2 === 0, latencies: [0, 500_000, 2_500_000] };
      const topology = drawnNetwork(draws, shape);
      const asked = { collective: pick(KINDS, draws), sizeBytes: pick(SIZES, draws) };
      const best = await synthesize(engine, topology, { ...asked, algorithm: "auto", timeLimitMs: UNHURRIED });
      for (const algorithm of applicableTo(topology, wholeCollective(topology, asked.collective, asked.sizeBytes))) {
        // auto leaves these out unless they are named
        if (algorithmNamed(algorithm).traits?.solves === true) continue;
        try {
          const { report } = await synthesize(engine, topology, { ...asked, algorithm });
          compared++;
          if (report.time.us < best.report.time.us)
            faster.push(
              `network ${seed}, ${asked.collective} of ${asked.sizeBytes}: ${algorithm} ${report.time.us} us, auto ${best.report.time.us} us by ${best.report.algorithm}`,
            );
        } catch (error) {
          if (!isOwnFailure(error)) throw error;
        }
      }
    }
    expect(faster).toEqual([]);
    expect(compared).toBeGreaterThan(5 * SEEDS.length);
  });
});
