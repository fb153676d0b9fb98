import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { compare, type Rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Forest, TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { heightsOf } from "../../../src/model/trees/tree-times.ts";
import type { SynthesizeOptions } from "../../../src/request/options.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const WHOLE = presetTopology("dgx-h100:40");
const BOX = Array.from({ length: 8 }, (_, npu) => npu);

/** Returns verified trees on forty boxes that lack a NIC (or on all of them), and how they were made. */
async function made(more: Omit<SynthesizeOptions, "algorithm" | "sizeBytes">, network = without(WHOLE, ["0-rail0"])) {
  const { schedule, report } = await synthesize(engine, network, {
    algorithm: "forestcoll",
    sizeBytes: 2 ** 30,
    ...more,
  });
  const flow = schedule as TreeFlow;
  return {
    flow,
    rate: throughputOf(flow),
    height: heightsOf(flow).greatest,
    policy: report.synthesis?.policy ?? "",
    report,
  };
}

const ofRate = (rate: Rational, other: Rational): number => toNumber(rate) / toNumber(other);
const roots = ({ root }: Forest): Set<number> => new Set(root);

describe("trees on a large network in which something failed", () => {
  it.each(["allgather", "reducescatter"] as const)(
    "are those before of an %s, a few packed again: as fast as all anew, and lower",
    async (collective) => {
      const mended = await made({ collective });
      const anew = await made({ collective, policy: "even" });
      expect(mended.policy).toMatch(/before something failed, \d+ of \d+ trees grown again$/);
      expect(compare(mended.rate, anew.rate)).toBe(0);
      expect(mended.height).toBeLessThan(anew.height);
      expect(judgeCertificate(mended.flow).proof?.optimal).toBe(true);
    },
  );

  it("reduce and broadcast side by side, rooted outside of the box that lost a NIC, within 3 % of the whole network", async () => {
    const [mended, whole] = [await made({ collective: "allreduce" }), await made({ collective: "allreduce" }, WHOLE)];
    expect(mended.flow.concurrent).toBe(true);
    expect(ofRate(mended.rate, whole.rate)).toBeGreaterThan(0.97);
    for (const forest of mended.flow.forests) expect(BOX.some((npu) => roots(forest).has(npu))).toBe(false);
  });

  it("reduce and broadcast side by side are bounded by what bounded the whole network, without what failed", async () => {
    const { flow, rate } = await made({ collective: "allreduce" });
    const { proof, violations } = judgeCertificate(flow);
    expect(violations).toEqual([]);
    // all boxes together send 40 x 400 GB/s, less 50; each byte leaves, and enters, 39 of them
    expect(toNumber(proof?.bound ?? rate)).toBeCloseTo((40 * 400e9 - 50e9) / (2 * 39), -3);
    expect(ofRate(rate, proof?.bound ?? rate)).toBeGreaterThan(0.97);
  });

  it("reduce and broadcast side by side, rooted in none of the boxes that lost a NIC", async () => {
    const large = presetTopology("dgx-h100:72");
    const { flow, rate, policy } = await made({ collective: "allreduce" }, without(large, ["0-rail0", "9-rail1"]));
    expect(policy).toContain("no roots where it is narrowest");
    for (const forest of flow.forests) expect(Math.min(...roots(forest))).toBe(16);
    const { proof } = judgeCertificate(flow);
    expect(ofRate(rate, proof?.bound ?? rate)).toBeGreaterThan(0.97);
  });

  it("are made of those of the whole network that are to be repaired", async () => {
    const repair = (await made({ collective: "allreduce" }, WHOLE)).flow;
    const mended = await made({ collective: "allreduce", repair });
    const anew = await made({ collective: "allreduce" });
    expect(compare(mended.rate, anew.rate)).toBe(0);
    const { kept, changed } = mended.report.repaired ?? { kept: 0, changed: 0 };
    expect(kept + changed).toBe(WHOLE.npuCount - BOX.length);
    expect(kept).toBeGreaterThan(6 * changed);
  });

  it("are packed anew where two boxes lost a NIC and trees around one of them are too slow", async () => {
    const { policy, rate } = await made({ collective: "allreduce" }, without(WHOLE, ["0-rail0", "9-rail1"]));
    expect(policy).not.toContain("no roots where it is narrowest");
    expect(toNumber(rate)).toBeGreaterThan(180e9);
  });
});
