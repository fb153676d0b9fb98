import { describe, expect, it } from "vitest";
import { type Failure, SLICE_STATES, type StepTimeline, type TrainWish } from "../../../../src/web/protocol.ts";
import { modelFileOf } from "../../../../src/web/views/step/asking.ts";
import { barsOf, coloursOf, nextStart, shortRow, slicesAt, told } from "../../../../src/web/views/step/rows.ts";
import { fieldOf } from "../../../../src/web/views/training/ask.ts";
import { costText, spentOf, spentText } from "../../../../src/web/views/training/spent.ts";
import { TINY_LLAMA } from "../../../support/tiny-llama.ts";
import { ask, fileOf, networkWish, shown } from "../../../support/worker-asks.ts";

const CONFIG = fileOf("config.json", JSON.stringify(TINY_LLAMA));

const wishOf = (topology: string, options: TrainWish["options"], changes: TrainWish["options"] = {}): TrainWish => ({
  network: networkWish(topology, changes),
  model: CONFIG,
  options: { batch: "8", ...options },
});

/** Sums what slices of a row last, by state and kind: "exposed tensor". */
function spentIn({ row, kind, kinds, state, lastsPs }: StepTimeline, of: number): Map<string, number> {
  const sums = new Map<string, number>();
  row.forEach((at, i) => {
    if (at !== of) return;
    const name = `${SLICE_STATES[state[i]]} ${kinds[kind[i]]}`;
    sums.set(name, (sums.get(name) ?? 0) + lastsPs[i]);
  });
  return sums;
}

describe("a training step for the page", () => {
  const wish = wishOf("dgx-a100:1", { parallel: "tp=2,pp=2,dp=2" });

  it("has a timeline in which the time of each stage is what the report says of it, to the picosecond", async () => {
    const { report, shownRow, whole } = await ask("train", { wish });
    expect([shownRow, whole]).toEqual([1, null]);
    expect(report.rows.map(({ collectives }) => collectives)).toEqual(["library", "best", "ideal"]);
    for (const [at, row] of report.rows.entries()) {
      const timeline = shown(await ask("trainingTimeline", { wish, row: at }));
      expect(timeline.totalPs / 1e6).toBeCloseTo(row.us, 6);
      const computing = timeline.rows.flatMap((name, i) => (name.endsWith("compute") ? [i] : []));
      expect(computing).toHaveLength(2);
      for (const [stage, i] of computing.entries()) {
        const spent = spentIn(timeline, i);
        const all = [...spent.values()].reduce((sum, ps) => sum + ps, 0);
        expect(all).toBe(timeline.totalPs);
        const said = row.stages[stage];
        expect((spent.get("runs compute") ?? 0) / 1e6).toBeCloseTo(said?.computeUs ?? -1, 5);
        expect((spent.get("waits bubble") ?? 0) / 1e6).toBeCloseTo(said?.bubbleUs ?? -1, 5);
        for (const [group, us] of Object.entries(said?.exposedUs ?? {})) {
          expect((spent.get(`waits ${group}`) ?? 0) / 1e6).toBeCloseTo(us, 5);
        }
      }
    }
  });

  it("marks communications as exposed only while some stage waits for them, and cuts none short", async () => {
    const timeline = shown(await ask("trainingTimeline", { wish, row: 0 }));
    const { row, startPs, lastsPs, state, kind, rows, kinds } = timeline;
    const waits = Array.from(row.keys()).filter((i) => SLICE_STATES[state[i]] === "waits");
    let exposed = 0;
    for (let i = 0; i < row.length; i++) {
      if (i > 0 && row[i] === row[i - 1]) expect(startPs[i]).toBeGreaterThanOrEqual(startPs[i - 1] + lastsPs[i - 1]);
      if (SLICE_STATES[state[i]] !== "exposed") continue;
      exposed++;
      const end = startPs[i] + lastsPs[i];
      expect(waits.some((w) => kind[w] === kind[i] && startPs[w] < end && startPs[w] + lastsPs[w] > startPs[i])).toBe(
        true,
      );
    }
    expect(exposed).toBeGreaterThan(0);
    expect(rows[0]).toBe("stage 0, compute");
    expect(kinds.slice(0, 2)).toEqual(["compute", "bubble"]);
  });

  it("says what a slower link and a lost NPU cost, each beside the whole network", async () => {
    const slow = wishOf("ring:4@20GB/s,1us", { parallel: "dp=4,zero=3", accelerator: "a100" }, { degrade: "0-1=0.25" });
    const slower = await ask("train", { wish: slow });
    expect(slower.whole).toEqual({ npuCount: 4, parallel: "dp=4,zero=3" });
    const before = slower.report.wholeNetwork ?? [];
    expect(slower.report.rows[0]?.us).toBeGreaterThan(before[0]?.us ?? 0);
    expect(costText(slower.report.rows, before, false)).toMatch(/^What was slowed down costs a step with .* more \(/);
    const lost = wishOf(
      "fc:5@20GB/s,1us",
      { parallel: "zero=3", batch: "20", accelerator: "a100", algorithms: "ring" },
      { without: "4" },
    );
    const fewer = await ask("train", { wish: lost });
    expect(fewer.whole).toEqual({ npuCount: 5, parallel: "dp=5,zero=3" });
    expect(fewer.report.rows[0]?.us).toBeGreaterThan(fewer.report.wholeNetwork?.[0]?.us ?? 0);
  });

  it("is written as a trace and told of from its file's name", async () => {
    const file = await ask("trainingTrace", { wish, row: 1 });
    expect(file.name).toMatch(/^config.*\.dgx-a100-1\.step\.trace\.json$/);
    expect(JSON.parse(await file.content.text()).traceEvents.length).toBeGreaterThan(10);
  });

  it("knows what there is to choose from, and the accelerator of the network", async () => {
    const there = await ask("workloads", { network: networkWish("dgx-h100:2") });
    expect([there.own, there.npuCount]).toEqual(["h100", 16]);
    expect(there.models.find(({ name }) => name === "llama3-8b")?.detail).toMatch(/^8\.0\d B parameters$/);
    expect(there.accelerators.map(({ name }) => name)).toContain("b200");
    expect((await ask("workloads", { network: networkWish("mesh:3x3") })).own).toBe(null);
  });

  it.each([
    [{ parallel: "tp=2,dp=2" }, /dp=4 makes them 8/, "parallel"],
    [{ parallel: "tp=8", seq: "1025" }, /sequence/, "seq"],
    [{ parallel: "tp=8", batch: "0" }, /--batch|batch/, "batch"],
    [{ parallel: "tp=8", batch: "9", microBatch: "2" }, /batch/, "batch"],
    [{ parallel: "tp=8", precision: "fp8" }, /precision/, "precision"],
    [{ parallel: "tp=8", accelerator: "b2000" }, /b200/, "accelerator"],
    [{ parallel: "tp=8", accelerator: "a100,memory=1MB" }, /memory an NPU/, "parallel"],
  ])("refuses %o beside the field that caused it", async (options, said, field) => {
    const error = await ask("train", { wish: wishOf("dgx-a100:1", options) }).then(
      () => null,
      (refusal) => refusal,
    );
    expect(error?.message).toMatch(said);
    const failure: Failure = { kind: "input", place: error.place, option: error.option, message: error.message };
    expect(fieldOf(failure, null)).toBe(field);
  });
});

describe("what the page says of a step", () => {
  it("finds the field of a file that cannot be a model", () => {
    const failure: Failure = { kind: "input", place: "config.json: hidden_size", option: null, message: "wrong" };
    expect(fieldOf(failure, "config.json")).toBe("model");
    expect(fieldOf(failure, null)).toBe(null);
    expect(fieldOf({ ...failure, kind: "internal" }, "config.json")).toBe(null);
    expect([modelFileOf("llama3-8b"), modelFileOf("config.json~abc")]).toEqual([null, "config.json"]);
  });

  it("tells where the time goes, from the most that is waited for on", () => {
    const row = {
      ...{ collectives: "best", us: 10, samplesPerSecond: 1, tokensPerSecond: null, modelUtilisation: null },
      ...{ computeUs: 6, exposedUs: { data: 1, tensor: 2, pipeline: 0 }, bubbleUs: 1, stages: [], communications: [] },
    };
    expect(spentOf(row).map(({ kind }) => kind)).toEqual(["compute", "tensor", "data", "bubble"]);
    expect(spentText(row)).toBe(
      "computing 60 %, waiting for tp 20 %, waiting for dp 10 %, bubble of the pipeline 10 %",
    );
    expect(costText([row], null, true)).toBe(null);
    expect(costText([row], [{ ...row, us: 8 }], true)).toMatch(/^The failure costs a step with the best 25 % more/);
  });

  it("draws rows in which what waits is low, what is hidden is pale, and steps from start to start", () => {
    const timeline: StepTimeline = {
      rows: ["stage 0, compute", "stage 0, tp"],
      kinds: ["compute", "bubble", "tensor"],
      texts: ["layer (forward)", "layer: sums (forward)"],
      row: Int32Array.of(0, 0, 0, 1, 1),
      startPs: Float64Array.of(0, 10, 15, 5, 10),
      lastsPs: Float64Array.of(10, 5, 5, 5, 5),
      kind: Uint8Array.of(0, 2, 0, 2, 2),
      state: Uint8Array.of(0, 2, 0, 0, 1),
      text: Int32Array.of(0, 1, 0, 1, 1),
      microBatch: Int32Array.of(0, 0, 1, 0, 0),
      totalPs: 20,
    };
    const bars = barsOf(timeline);
    expect(Array.from(bars.offset)).toEqual([0, 3, 5]);
    expect(bars.share[1]).toBeLessThan(0.5);
    expect(bars.names).toEqual(["stage 0", "tp"]);
    expect([shortRow("compute"), shortRow("dp")]).toEqual(["compute", "dp"]);
    // its own colour, or the pale one of its kind
    expect(Array.from(coloursOf(timeline))).toEqual([2, 6, 2, 5, 6]);
    expect(slicesAt(bars, 12)).toEqual([1, 4]);
    expect(slicesAt(bars, 2)).toEqual([0, -1]);
    expect([nextStart(bars, 0, 1), nextStart(bars, 5, 1), nextStart(bars, 15, 1)]).toEqual([5, 10, null]);
    expect([nextStart(bars, 15, -1), nextStart(bars, 0, -1)]).toEqual([10, null]);
    expect(told(timeline, 4)).toEqual([
      "layer: sums (forward)",
      "tp, exposed: computations wait for it",
      "micro batch 0",
      "0.01 ns to 0.015 ns (0.005 ns)",
    ]);
  });
});
