import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CancelledError, InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { isTreeFlow, type TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import type { SynthesizeOptions } from "../../../src/request/options.ts";
import { compare } from "../../../src/run/compare.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { refused, unexpected } from "../../support/refusals.ts";
import { quick } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const UNHURRIED = 600_000;
const auto = (network: string, options: Omit<SynthesizeOptions, "algorithm">) =>
  synthesize(engine, presetTopology(network), { timeLimitMs: UNHURRIED, ...options, algorithm: "auto" });

type Asked = readonly [network: string, collective: NamedCollective, sizesBytes: readonly number[], more: object];
const BEST = quick<Asked>(
  [
    ["dgx-a100:2", "allreduce", [2 ** 10], { trials: 4 }],
    ["dgx-a100:2", "allreduce", [2 ** 28], { trials: 4 }],
    ["dgx-h100:1", "allgather", [2 ** 12, 2 ** 26], {}],
    ["mesh:3x4", "alltoall", [2 ** 14, 2 ** 24], { trials: 8 }],
    ["torus:4x4", "reducescatter", [2 ** 16, 2 ** 28], { trials: 4 }],
    ["K(4,4)", "allreduce", [2 ** 20], { chunks: 2 }],
    ["switch:6*ring:2", "broadcast", [2 ** 22], { root: 3 }],
    ["mesh:3x3", "allgather", [2 ** 22], { group: "0,2,4,6,8" }],
    ["dgx1", "reduce", [2 ** 24], { k: 2 }],
  ],
  ([network]) => !["dgx-a100:2", "torus:4x4", "switch:6*ring:2"].includes(network),
);

describe("auto", () => {
  it.each(BEST)(
    "is as good as the best line of a comparison: %s, %s",
    async (network, collective, sizesBytes, more) => {
      const { rows, leftOut } = await compare(engine, presetTopology(network), { collective, sizesBytes, ...more });
      for (const sizeBytes of sizesBytes) {
        const { report } = await auto(network, { collective, sizeBytes, ...more });
        const ofSize = rows.filter((row) => row.sizeBytes === sizeBytes);
        const [best] = ofSize.filter((row) => row.best);
        // of trees repacked and as packed at first, auto keeps the faster ones
        const wasPackedOnce = report.synthesis.policy.endsWith("not repacked");
        if (wasPackedOnce) expect(report.time.us).toBeLessThan(best?.us ?? 0);
        else expect(report.time.us).toBe(best?.us);
        expect(report.verified).toBe(true);
        expect(report.deterministic).toBe(true);
        const tried = report.auto?.tried ?? [];
        // what meets the limit ends the search
        if (report.ofLimit !== 1 && !wasPackedOnce) {
          expect(report.algorithm).toBe(best?.algorithm);
          expect(tried.map(({ algorithm, us }) => [algorithm, us])).toEqual(
            ofSize.map(({ algorithm, us }) => [algorithm, us]),
          );
          expect(report.auto?.leftOut.map(({ algorithm }) => algorithm)).toEqual(leftOut.map((one) => one.algorithm));
        }
        for (const [i, { ofLimit }] of tried.entries()) {
          if (report.ofLimit !== 1 && !wasPackedOnce) expect(ofLimit).toBeCloseTo(ofSize[i]?.ofLimit ?? 0, 12);
          expect(ofLimit).toBeLessThanOrEqual(report.ofLimit ?? 0);
        }
        expect(report.limit.us).toBeLessThanOrEqual(report.time.us);
      }
    },
  );

  it("keeps a schedule of the kind that the best algorithm makes", async () => {
    const large = await auto("dgx-a100:2", { collective: "allgather", sizeBytes: 2 ** 30 });
    expect(isTreeFlow(large.schedule)).toBe(large.report.schedule.kind === "trees");
    const { report, schedule } = await auto("K(3,3)", { collective: "alltoall", sizeBytes: 2 ** 20 });
    expect(isTreeFlow(schedule)).toBe(false);
    expect(report.auto?.because).toMatch(/^the fastest of \d in simulated time; .* takes/);
  });

  it("keeps what sends least of those that are equally fast", async () => {
    // one NIC has more latency than the others: all end later, the limit of its box hardly moves
    const boxes = presetTopology("dgx-a100:2");
    const { linkSource, linkBytesPerSecond } = boxes;
    const late = boxes.linkLatencyPs.map((ps, l) =>
      linkSource[l] === 0 && linkBytesPerSecond[l] === 25e9 ? 2 * ps : ps,
    );
    const odd = { ...boxes, linkLatencyPs: late };
    const options = { collective: "alltoall", sizeBytes: 240 * 2 ** 20, timeLimitMs: UNHURRIED, algorithm: "auto" };
    const { report } = await synthesize(engine, odd, options as SynthesizeOptions);
    const { us } = report.time;
    expect(report.auto?.tried.filter((one) => one.us === us).map(({ algorithm }) => algorithm)).toEqual([
      "tacos",
      "direct",
      "mcf",
    ]);
    // a message from each NPU to each other
    expect([report.algorithm, report.schedule.transfers]).toEqual(["direct", 16 * 15]);
    expect(report.auto?.because).toMatch(/; mcf takes as long and comes later in the list$/);
  });

  it("tries one where there is no time, and says that the clock decided", async () => {
    const { report } = await auto("dgx-a100:2", { collective: "allreduce", sizeBytes: 2 ** 20, timeLimitMs: 0 });
    expect(report.auto?.tried.map(({ algorithm }) => algorithm)).toEqual([report.algorithm]);
    expect(report.auto?.budgetMs).toBe(0);
    expect(report.deterministic).toBe(false);
    const late = report.auto?.leftOut.filter(({ reason }) => reason === "not tried: the time limit was reached");
    expect(late?.length).toBeGreaterThan(5);
  });

  it("makes trees quickly at first and packs the highest anew once those that could win were tried", async () => {
    const asked = { collective: "allgather", sizeBytes: 2 ** 20 } as const;
    const alone = (policy: object) =>
      synthesize(engine, presetTopology("mi250:1"), { ...asked, algorithm: "forestcoll", ...policy });
    const [quick, full] = [await alone({ policy: "quick" }), await alone({})];
    expect(quick.report.time.us).toBeGreaterThan(full.report.time.us);
    const hurried = await auto("mi250:1", { ...asked, timeLimitMs: 0 });
    expect(hurried.report.time).toEqual(quick.report.time);
    const late = "not tried: the time limit was reached";
    const tail = hurried.report.auto?.leftOut.filter(({ reason }) => reason.endsWith(late)).slice(-4);
    // what knows nothing of the network comes after it
    expect(tail).toEqual([
      { algorithm: "forestcoll", reason: `in full: ${late}` },
      ...["ring", "rhd", "bruck"].map((algorithm) => ({ algorithm, reason: late })),
    ]);
    expect(hurried.report.deterministic).toBe(false);
    const { report } = await auto("mi250:1", asked);
    const us = report.auto?.tried.find(({ algorithm }) => algorithm === "forestcoll")?.us;
    expect(us).toBe(full.report.time.us);
    expect(report.auto?.leftOut.map(({ algorithm }) => algorithm)).not.toContain("forestcoll");
    expect(report.deterministic).toBe(true);
  });

  it("stops a search when the time is over", async () => {
    const { report } = await auto("mesh:5x5", {
      collective: "alltoall",
      sizeBytes: 2 ** 26,
      trials: 1e6,
      timeLimitMs: 1500,
      chunks: 1,
    });
    expect(report.deterministic).toBe(false);
    expect(report.auto?.leftOut.filter(({ reason }) => reason.includes("time limit"))).not.toEqual([]);
  });

  it("ends with the caller's signal", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const running = auto("mesh:5x5", { collective: "alltoall", trials: 1e6, chunks: 1, signal });
    setTimeout(() => controller.abort(), 300);
    await expect(running).rejects.toThrow(CancelledError);
  });

  it("refuses what only one algorithm has, and a time limit without it", async () => {
    await expect(auto("ring:4", { collective: "allgather", policy: "oldest" })).rejects.toThrow(
      refused("not-together", "policy", "oldest", "--algorithm"),
    );
    const { schedule } = await synthesize(engine, presetTopology("ring:4"), {
      collective: "allgather",
      algorithm: "forestcoll",
    });
    const repaired = auto("ring:4", { collective: "allgather", repair: schedule as TreeFlow });
    await expect(repaired).rejects.toThrow(refused("not-applicable", "repair", "auto"));
    const timed = synthesize(engine, presetTopology("ring:4"), { collective: "allgather", timeLimitMs: 5 });
    await expect(timed).rejects.toThrow(InputError);
    await expect(timed).rejects.toThrow(refused("not-applicable", "timeLimitMs", "tacos"));
    await expect(auto("ring:4", { collective: "allgather", timeLimitMs: -1 })).rejects.toThrow(
      unexpected("timeLimitMs", -1),
    );
  });

  it("gives the same as its algorithm alone", async () => {
    const options = { collective: "allgather", sizeBytes: 2 ** 28 } as const;
    const { report } = await auto("dgx-a100:2", options);
    const alone = await synthesize(engine, presetTopology("dgx-a100:2"), { ...options, algorithm: report.algorithm });
    expect(report.time).toEqual(alone.report.time);
    expect(report.schedule).toEqual(alone.report.schedule);
  });
});
