import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { topologyToJson } from "../../src/export/networks/topology-json.ts";
import { ncclTestsTable } from "../../src/export/tables/nccl-tests.ts";
import { readTopology } from "../../src/import/networks/network-formats.ts";
import { kindOf } from "../../src/kinds/kinds.ts";
import type { CalibratedClass, CalibrationReport } from "../../src/model/calibration/calibration.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { collectiveCost, type FittedAlgorithm } from "../../src/model/collective/collective-cost.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { isCalibrated, linkClasses, withFigures } from "../../src/model/topology/link-classes.ts";
import { type Topology, topologyHash } from "../../src/model/topology/topology.ts";
import { type CalibrateOptions, calibrate, calibrateSchedules } from "../../src/run/calibrate.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { missing, outOfRange, type Refusal, refusalFrom, refused, unexpected } from "../support/refusals.ts";
import { quick, runs } from "../support/runs.ts";
import { sharedFiles, sharedText } from "../support/shared-data.ts";

const SIZES = Array.from({ length: 19 }, (_, i) => 2 ** (12 + i));

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

/** The network with so many GB/s and us for each of its classes of links. */
const withTruth = (topology: Topology, figures: readonly (readonly [gbps: number, us: number])[]): Topology =>
  withFigures(
    topology,
    linkClasses(topology),
    figures.map(([gbps, us]) => ({ bytesPerSecond: Math.round(gbps * 1e9), latencyPs: Math.round(us * 1e6) })),
    { source: "truth", measured: { fromBytes: 0, toBytes: Number.MAX_SAFE_INTEGER } },
  );

interface LogOf {
  readonly ranks: number;
  readonly collective?: NamedCollective;
  readonly algorithm?: FittedAlgorithm;
  readonly hosts?: number;
  readonly sizes?: readonly number[];
  /** Greatest relative error of a time. */
  readonly noise?: number;
  readonly seed?: number;
}

const tableOf = (
  collective: NamedCollective,
  ranks: number,
  rows: readonly { sizeBytes: number; us: number }[],
): string =>
  ncclTestsTable({
    collective,
    ranks,
    network: "truth",
    version: "1",
    rows: rows.map((row) => ({ ...row, algorithm: "ring" })),
  });

const noisy = (us: number, noise: number, seed: number, i: number): number =>
  us * (1 + noise * (random(seed, i).below(2001) / 1000 - 1));

/** A log whose times are hops x latency + load / bandwidth of the network. */
function logOf(
  truth: Topology,
  { ranks, collective = "allreduce", algorithm = "ring", hosts, sizes = SIZES, noise = 0, seed = 1 }: LogOf,
): string {
  const classes = linkClasses(truth);
  const { hops, load } = collectiveCost(truth, classes, {
    algorithm,
    collective,
    ranks,
    hosts: hosts ?? null,
    source: "log",
  });
  const latencyUs = classes.classes.reduce((sum, { latencyPs }, k) => sum + (hops[k] * latencyPs) / 1e6, 0);
  const usPerByte = Math.max(...classes.classes.map(({ bytesPerSecond }, k) => (load[k] * 1e6) / bytesPerSecond));
  return tableOf(
    collective,
    ranks,
    sizes.map((sizeBytes, i) => ({ sizeBytes, us: noisy(latencyUs + sizeBytes * usPerByte, noise, seed, i) })),
  );
}

/** A log of times that our simulator gives for an algorithm. */
async function simulatedLog(truth: Topology, algorithm: string, noise = 0): Promise<string> {
  const rows: { sizeBytes: number; us: number }[] = [];
  for (const [i, sizeBytes] of SIZES.entries()) {
    const { report } = await synthesize(engine, truth, {
      algorithm,
      collective: "allreduce",
      sizeBytes,
      simulate: true,
      // the model's ring goes one way, in the chunks that libraries cut
      ...(algorithm === "ring" ? { policy: "natural", chunks: 1 } : {}),
    });
    rows.push({ sizeBytes, us: noisy(report.time.us, noise, 7, i) });
  }
  return tableOf("allreduce", truth.npuCount, rows);
}

const run = (topology: Topology, texts: readonly string[], options: CalibrateOptions = {}) =>
  calibrate(
    topology,
    texts.map((text, i) => ({ name: `log${i}`, text })),
    options,
  );
const classNamed = ({ classes }: CalibrationReport, start: string): CalibratedClass =>
  classes.find(({ name }) => name.startsWith(start)) as CalibratedClass;

describe("calibrate finds what made the times", () => {
  it("of our simulator, a ring in one box, with noise of 1 %", async () => {
    const box = presetTopology("dgx-a100:1");
    const { report, topology } = run(box, [await simulatedLog(withTruth(box, [[231, 1.7]]), "ring", 0.01)]);
    const [{ gbps, latencyUs }] = report.classes;
    expect(Math.abs(gbps.value / 231 - 1)).toBeLessThan(0.01);
    expect(Math.abs(latencyUs.value / 1.7 - 1)).toBeLessThan(0.01);
    expect(Math.abs(gbps.value - 231)).toBeLessThan(3 * (gbps.error as number));
    expect(report.errors.worst).toBeLessThan(0.02);
    // the network with these figures gives the times again
    const again = await synthesize(engine, topology, {
      algorithm: "ring",
      policy: "natural",
      chunks: 1,
      collective: "allreduce",
      sizeBytes: 2 ** 20,
      simulate: true,
    });
    const point = report.points.find(({ sizeBytes }) => sizeBytes === 2 ** 20);
    expect(Math.abs(again.report.time.us / (point?.fittedUs as number) - 1)).toBeLessThan(1e-4);
  });

  it("of our simulator, rings through two boxes: the large sizes tell the cards' bandwidth", async () => {
    const boxes = presetTopology("dgx-a100:2");
    const truth = withTruth(boxes, [
      [231, 1.7],
      [22, 4],
    ]);
    const log = await simulatedLog(truth, "nccl-rings");
    // latency hides behind the bytes there, so one line is wrong in the middle and two are not
    const { report } = run(boxes, [log], { regimes: 3, sizeBytes: 2 ** 30 });
    expect(Math.abs(classNamed(report, "GPU-IB").gbps.value / 22 - 1)).toBeLessThan(0.01);
    expect(report.errors.worst).toBeLessThan(0.02);
    expect(report.regimeErrors?.worst).toBeLessThan(0.12);
  });

  const gbps = fc.integer({ min: 5, max: 900 });
  // times are printed with two decimals: below 0.5 us a hop they tell less
  const us = fc.integer({ min: 5, max: 80 }).map((tenths) => tenths / 10);

  it("of the formula, for any figures, from logs of one box and of two", () => {
    const boxes = presetTopology("dgx-h100:2");
    fc.assert(
      fc.property(
        fc.tuple(gbps, us),
        fc.tuple(gbps, us),
        fc.constantFrom<FittedAlgorithm>("ring", "tree"),
        (inner, outer, algorithm) => {
          const truth = withTruth(boxes, [inner, outer]);
          const { report } = run(
            boxes,
            [logOf(truth, { ranks: 8, algorithm }), logOf(truth, { ranks: 16, algorithm })],
            { algorithm },
          );
          const [own, cards] = report.classes as [CalibratedClass, CalibratedClass];
          expect(report.errors.worst).toBeLessThan(0.06);
          expect(Math.abs(own.gbps.value / inner[0] - 1)).toBeLessThan(0.02);
          expect(Math.abs(own.latencyUs.value / inner[1] - 1)).toBeLessThan(0.02);
          // where NVLinks limit two boxes too, the cards are as they were, or as fast as they must be
          const [first, second] = collectiveCost(truth, linkClasses(truth), {
            algorithm,
            collective: "allreduce",
            ranks: 16,
            hosts: null,
            source: "log",
          }).load;
          const needed = second / Math.max(first / inner[0], second / outer[0]);
          if (report.limits[1]?.class === cards.name)
            expect(Math.abs(cards.gbps.value / needed - 1)).toBeLessThan(0.02);
          else expect(cards.gbps).toMatchObject({ certainty: "kept", value: 50 });
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it.each<[string, FittedAlgorithm, NamedCollective, number]>([
    ["hgx-h200", "nvls", "allreduce", 8],
    ["hgx-h200", "nvls", "allgather", 8],
    ["hgx-h200", "ring", "reducescatter", 4],
    ["mi300x", "ring", "allreduce", 8],
    ["dgx1", "ring", "broadcast", 8],
    ["dgx1", "tree", "allreduce", 8],
    ["switch:6@100GB/s", "ring", "reduce", 6],
  ])("of the formula on %s, %s %s of %i", (preset, algorithm, collective, ranks) => {
    const network = presetTopology(preset);
    const figures = linkClasses(network).classes.map(
      ({ bytesPerSecond }) => [(0.77 * bytesPerSecond) / 1e9, 2.5] as const,
    );
    const truth = withTruth(network, figures);
    const { report } = run(network, [logOf(truth, { ranks, algorithm, collective })], { algorithm });
    const limit = classNamed(report, report.limits[0]?.class as string);
    expect(Math.abs(limit.gbps.value / (0.77 * limit.before.gbps) - 1)).toBeLessThan(0.01);
    expect(report.errors.worst).toBeLessThan(0.06);
  });

  it("of the formula, for what MPI libraries run on a torus and through a switch", () => {
    const figures = [[5.4, 1.9]] as const;
    const cases = [
      ["torus:4x4x4@6.8GB/s,0.5us", "bine-rabenseifner", "allreduce"],
      ["torus:4x4x4@6.8GB/s,0.5us", "recursive-doubling", "allreduce"],
      ["switch:12@25GB/s,1us", "rabenseifner", "allreduce"],
      ["switch:16@25GB/s,1us", "binomial", "broadcast"],
    ] as const;
    for (const [name, algorithm, collective] of cases) {
      const network = presetTopology(name);
      const ranks = network.npuCount;
      const log = logOf(withTruth(network, figures), { ranks, algorithm, collective, noise: 0.01 });
      const [one] = run(network, [log], { algorithm }).report.classes;
      expect((one?.gbps.value ?? 0) / 5.4).toBeCloseTo(1, 1);
      expect((one?.latencyUs.value ?? 0) / 1.9).toBeCloseTo(1, 1);
    }
    const box = presetTopology("dgx-a100:1");
    expect(() => run(box, [logOf(box, { ranks: 4 })], { algorithm: "rabenseifner" })).toThrow(/8/);
  });

  it("is as near as the noise: three standard errors hold", () => {
    const box = presetTopology("hgx-h200");
    let outside = 0;
    for (let seed = 0; seed < 40; seed++) {
      const { report } = run(box, [logOf(withTruth(box, [[333, 1.25]]), { ranks: 8, noise: 0.05, seed })]);
      const [{ gbps: rate, latencyUs }] = report.classes;
      if (Math.abs(rate.value - 333) > 3 * (rate.error as number)) outside++;
      if (Math.abs(latencyUs.value - 1.25) > 3 * (latencyUs.error as number)) outside++;
    }
    expect(outside).toBeLessThanOrEqual(2);
  });
});

/** Networks with the schedules that ran on them; those with one class of links first. */
const RAN: readonly (readonly [network: string, algorithm: string, collective: NamedCollective])[] = [
  ["switch:16", "tacos", "allgather"],
  ["ring:8", "tacos", "allgather"],
  ["ring:8", "bfb", "allreduce"],
  ["torus:4x4", "tacos", "allreduce"],
  ["torus:4x4", "themis", "allreduce"],
  ["torus:4x4", "forestcoll", "allgather"],
  ["torus:4x4", "bfb", "reducescatter"],
  ["torus:4x4", "mcf", "alltoall"],
  ["torus:2x3x4", "blueconnect", "reducescatter"],
  ["K(4,4)", "bfb", "allgather"],
  ["K(4,4)", "forestcoll", "allreduce"],
  ["mesh:4x4", "tacos", "allgather"],
  ["mesh:3x3", "multitree", "allreduce"],
  ["mesh:3x3", "tto", "allreduce"],
  ["mesh:4x4", "blueconnect", "allreduce"],
  ["hypercube:3", "rhd", "allreduce"],
  ["switch:12", "forestcoll", "allgather"],
  ["switch:8", "direct", "alltoall"],
  ["switch:8", "bruck", "allgather"],
  ["switch:8", "dbt", "allreduce"],
  ["switch:8", "pat", "allgather"],
  ["switch:6", "rings", "allreduce"],
  ["mi300x", "forestcoll", "allgather"],
  ["hgx-h200", "nccl-tree", "allreduce"],
  ["dgx-a100:1", "multitree", "allgather"],
  ["C(16,{3,4})", "bfb", "allgather"],
  ["DC(16,{1,3,5,9})", "expand", "allreduce"],
  ["Pi(4,20)", "bfb", "allgather"],
  ["dgx1", "tacos", "allgather"],
  ["dgx1", "blink", "broadcast"],
  ["dgx-h100:2", "forestcoll", "allgather"],
  ["dgx-h100:2", "tacos", "allgather"],
  ["dgx-h100:2", "blueconnect", "allreduce"],
  ["dgx-a100:4", "direct", "alltoall"],
];

describe("calibrateSchedules finds what made the times", () => {
  const POWERS = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28];

  it.each(quick(RAN, (_, i) => i % 4 === 3))(
    "of %s with schedules of %s for %s, from noisy times, or says what it cannot know",
    async (preset, algorithm, collective) => {
      const network = presetTopology(preset);
      const made = { algorithm, collective };
      const { classes } = linkClasses(network);
      const seed = RAN.findIndex((one) => one[0] === preset && one[1] === algorithm);
      const drawn = (k: number, values: number): number => random(seed, k).below(values);
      const figures = classes.map(
        ({ bytesPerSecond, latencyPs }, k) =>
          [
            (bytesPerSecond / 1e9) * (0.3 + 0.1 * drawn(2 * k, 7)),
            (latencyPs / 1e6 || 0.5) * (0.5 + 0.5 * drawn(2 * k + 1, 9)),
          ] as const,
      );
      const truth = withTruth(network, figures);
      const rows: { sizeBytes: number; us: number }[] = [];
      for (const [i, power] of POWERS.entries()) {
        const asked = { ...made, sizeBytes: 2 ** power };
        const { schedule, report } = await synthesize(engine, network, asked, false);
        // the schedule that ran was made for the network as it is labelled
        const ran = kindOf(schedule).on(truth).simulate({ pieces: report.schedule.pieces });
        rows.push({ sizeBytes: 2 ** power, us: noisy((ran?.ps ?? 0) / 1e6, 0.02, 100 + seed, i) });
      }
      const log = { name: "log", text: tableOf(collective, network.npuCount, rows) };
      const { report } = await calibrateSchedules(engine, network, [log], made);
      expect(report.errors.worst).toBeLessThan(0.05);
      let fitted = 0;
      report.classes.forEach(({ gbps, latencyUs }, k) => {
        for (const [{ value, error, certainty }, own] of [
          [gbps, figures[k]?.[0] as number],
          [latencyUs, figures[k]?.[1] as number],
        ] as const) {
          if (certainty !== "fitted") continue;
          fitted++;
          expect(Math.abs(value - own)).toBeLessThan(Math.max(4 * (error as number), 0.05 * own));
        }
      });
      if (classes.length === 1) expect(fitted).toBe(2);
    },
  );

  it("of hosts with one GPU each, by a library's ring or by any schedule, on networks without boxes", async () => {
    for (const network of ["switch:8", "ring:8", "torus:2x4", "K(4,4)"].map((name) => presetTopology(name))) {
      const text = logOf(withTruth(network, [[20, 3]]), { ranks: 8 });
      const devices = Array.from({ length: 8 }, (_, r) => `#  Rank ${r} Pid 9 on node${r} device 0 [0x07] some GPU\n`);
      const log = `${devices.join("")}${text}`;
      const [own] = run(network, [log]).report.classes as [CalibratedClass];
      expect([own.gbps.value, own.latencyUs.value].map(Math.round)).toEqual([20, 3]);
      const ours = await calibrateSchedules(engine, network, [{ name: "log", text: log }], { algorithm: "direct" });
      expect(ours.report).toMatchObject({
        algorithm: "direct",
        regimes: [],
        notes: expect.arrayContaining([expect.stringContaining("schedules of direct")]),
      });
      expect(isCalibrated(ours.topology)).toBe(true);
    }
  });

  it("says that one class or the other limits where both explain the times", async () => {
    const network = presetTopology("dgx-h100:2");
    const truth = withTruth(network, [
      [135, 0.5],
      [50, 1.5],
    ]);
    const rows: { sizeBytes: number; us: number }[] = [];
    for (const power of POWERS) {
      const { schedule, report } = await synthesize(
        engine,
        network,
        { algorithm: "forestcoll", collective: "allgather", sizeBytes: 2 ** power },
        false,
      );
      const ran = kindOf(schedule).on(truth).simulate({ pieces: report.schedule.pieces });
      rows.push({ sizeBytes: 2 ** power, us: (ran?.ps ?? 0) / 1e6 });
    }
    const log = { name: "log", text: tableOf("allgather", 16, rows) };
    const { report } = await calibrateSchedules(engine, network, [log], { algorithm: "forestcoll" });
    expect(report.classes.map(({ gbps }) => gbps.certainty)).toEqual(["either", "either"]);
    expect(report.errors.worst).toBeLessThan(0.01);
  });

  it.each<[string, Parameters<typeof calibrateSchedules>[3], Refusal]>([
    ["ranges of sizes", { algorithm: "tacos", regimes: 2 }, refused("not-together", "regimes", 2)],
    ["chunks of a library's ring", { algorithm: "ring", chunks: 2 }, refused("not-together", "chunks", 2)],
  ])("refuses %s", async (_, options, sentence) => {
    const network = presetTopology("ring:8");
    const log = { name: "log", text: logOf(network, { ranks: 8 }) };
    await expect(calibrateSchedules(engine, network, [log], options)).rejects.toEqual(sentence);
  });
});

describe("calibrate says what the data do not tell", () => {
  const box = presetTopology("dgx-a100:1");
  const truth = withTruth(box, [[231, 1.7]]);

  it("large sizes no latency, small sizes no bandwidth: both stay as they were", () => {
    const large = run(box, [logOf(truth, { ranks: 8, sizes: [2 ** 32, 2 ** 33, 2 ** 34], noise: 0.01 })]).report
      .classes[0];
    expect(large.latencyUs).toMatchObject({
      certainty: "kept",
      value: 0.5,
      because: "no sizes so small that it shows",
    });
    expect(large.gbps.certainty).toBe("fitted");
    const small = run(box, [logOf(truth, { ranks: 8, sizes: [8, 16, 32, 64], noise: 0.01 })]);
    expect(small.report.classes[0].gbps).toMatchObject({
      certainty: "kept",
      because: "no sizes so large that it shows",
    });
    expect(small.topology.linkBytesPerSecond).toEqual(box.linkBytesPerSecond);
  });

  it("two boxes alone no latency of each class: they keep their proportion", () => {
    const boxes = presetTopology("dgx-a100:2");
    const { report } = run(boxes, [
      logOf(
        withTruth(boxes, [
          [300, 1],
          [25, 5],
        ]),
        { ranks: 16 },
      ),
    ]);
    const [inner, outer] = report.classes as [CalibratedClass, CalibratedClass];
    expect([inner.latencyUs.certainty, outer.latencyUs.certainty]).toEqual(["together", "together"]);
    expect(inner.latencyUs.because).toContain("known only together with GPU-IB switch 25 GB/s");
    expect(inner.latencyUs.value).toBeCloseTo(1, 2);
    expect(outer.latencyUs.value).toBeCloseTo(5, 2);
    expect(inner.gbps).toMatchObject({ certainty: "kept", because: "limits none of the measurements" });
  });

  it("a launch that hides a latency: a fit of 0 is not written", () => {
    const boxes = presetTopology("dgx-a100:2");
    const floor = (ranks: number, us: number, usPerMB: number): string =>
      tableOf(
        "allreduce",
        ranks,
        SIZES.map((sizeBytes, i) => ({ sizeBytes, us: noisy(us + (sizeBytes * usPerMB) / 1e6, 0.03, ranks, i) })),
      );
    const { report, topology } = run(boxes, [floor(8, 28, 7.4), floor(16, 42, 9.9)]);
    const cards = classNamed(report, "GPU-IB");
    expect(cards.latencyUs).toMatchObject({ certainty: "kept", value: cards.before.latencyUs });
    expect(cards.latencyUs.because).toMatch(/^fits best as 0, which no link has/);
    expect(classNamed(report, "GPU-NVSwitch").latencyUs.certainty).toBe("fitted");
    expect(report.callUs).toBeNull();
    expect(topology.linkLatencyPs.every((ps) => ps > 0)).toBe(true);
  });

  it("what calls cost by themselves is told by other numbers of ranks, and is not written", () => {
    const own = (ranks: number, callUs: number): string => {
      const rows = logOf(truth, { ranks });
      const times = rows.split("\n").flatMap((line) => /^ +(\d+) +\d+ +\S+ +\S+ +\S+ +(\S+)/.exec(line) ?? []);
      expect(times.length).toBe(3 * SIZES.length);
      return tableOf(
        "allreduce",
        ranks,
        SIZES.map((sizeBytes, i) => ({
          sizeBytes,
          us: noisy(Number(times[3 * i + 2]) + callUs, 0.01, ranks, i),
        })),
      );
    };
    const { report } = run(box, [own(2, 15), own(4, 15), own(8, 15)]);
    expect(Math.abs((report.callUs?.value as number) / 15 - 1)).toBeLessThan(0.05);
    expect(Math.abs(report.classes[0].latencyUs.value / 1.7 - 1)).toBeLessThan(0.05);
    expect(Math.abs(report.classes[0].gbps.value / 231 - 1)).toBeLessThan(0.02);
    const none = run(box, [logOf(truth, { ranks: 2 }), logOf(truth, { ranks: 8 })]).report;
    expect(none.callUs).toMatchObject({ certainty: "kept", value: 0 });
    expect(Math.abs(none.classes[0].latencyUs.value / 1.7 - 1)).toBeLessThan(0.01);
  });

  it("a log of one box nothing of the links between boxes", () => {
    const boxes = presetTopology("dgx-a100:2");
    const { report } = run(boxes, [
      logOf(
        withTruth(boxes, [
          [200, 1],
          [25, 5],
        ]),
        { ranks: 8 },
      ),
    ]);
    expect(classNamed(report, "GPU-IB").latencyUs).toMatchObject({
      certainty: "kept",
      because: "none of the measurements crosses it",
    });
  });
});

describe("calibrate", () => {
  const box = presetTopology("dgx-a100:1");
  const log = logOf(withTruth(box, [[231, 1.7]]), { ranks: 8 });

  it("writes a network that says what from, reads back and takes part in the next fit without its old figures", () => {
    const { topology } = run(box, [log]);
    expect(isCalibrated(topology)).toBe(true);
    expect(topology.sources[0]).toMatch(
      /^calibrated: 19 points, .+ to .+, of allreduce as ring \(log0\); mean error 0\.\d %, worst 0\.\d %$/,
    );
    expect(topologyHash(readTopology(topologyToJson(topology), "file"))).toBe(topologyHash(topology));
    const twice = run(topology, [log]).topology;
    expect(twice.sources.filter((source) => source.startsWith("calibrated:")).length).toBe(1);
  });

  it("does not depend on the order of the logs' rows, nor on rows given twice", () => {
    const lines = log.split("\n");
    const first = lines.findIndex((line) => /^ +\d/.test(line));
    const turned = [
      ...lines.slice(0, first),
      ...lines.slice(first, first + SIZES.length).reverse(),
      ...lines.slice(first + SIZES.length),
    ];
    expect(run(box, [turned.join("\n")]).report.classes).toEqual(run(box, [log]).report.classes);
    const [once, twice] = [run(box, [log]), run(box, [log, log])];
    expect(twice.report.classes[0].gbps.value).toBeCloseTo(once.report.classes[0].gbps.value, 6);
  });

  it("notes logs of other GPUs, and what it took a log for", () => {
    const devices = Array.from(
      { length: 8 },
      (_, r) => `#  Rank ${r} Pid 9 on a device ${r} [0x07] NVIDIA H100 80GB\n`,
    );
    const notes = run(box, [`${devices.join("")}${log.replaceAll("all_reduce_perf", "tool")}`]).report.notes;
    expect(notes).toEqual([
      "log0 is taken as allreduce: its busbw is 1.75 times algbw",
      "log0 was measured on H100: ranks 0 to 7 (host a), but dgx-a100:1 has A100",
    ]);
    expect(run(box, [log]).report.notes).toEqual([]);
  });

  it("notes a log of fewer GPUs than a network without boxes has, unless another is of all", () => {
    const network = presetTopology("switch:16");
    const [few, all] = [8, 16].map((ranks) => logOf(withTruth(network, [[40, 1.7]]), { ranks })) as [string, string];
    const note =
      "log0 is of 8 GPUs and switch:16 has 16: the first 8 (0 to 7) are taken to have run; where it is of a whole network, name that one";
    expect(run(network, [few]).report.notes).toEqual([note]);
    expect(run(network, [few, all]).report.notes).toEqual([]);
    expect(run(presetTopology("dgx-a100:2"), [log]).report.notes).toEqual([]);
  });

  it("notes a size that no log measured", () => {
    const notesFor = (sizeBytes: number): readonly string[] => run(box, [log], { regimes: 2, sizeBytes }).report.notes;
    expect(notesFor(2 ** 12).slice(1)).toEqual([]);
    expect(notesFor(2 ** 30).slice(1)).toEqual([]);
    expect(notesFor(1024).slice(1)).toEqual([
      expect.stringMatching(/^the logs measured 4 KiB to 1 GiB: for 1 KiB the line of 4 KiB to .+ is carried on, /),
    ]);
    expect(notesFor(2 ** 34).slice(1)).toEqual([
      expect.stringMatching(/: for 16 GiB the line of .+ to 1 GiB is carried on, /),
    ]);
  });

  it("notes figures above what the network says, beyond 5 %", () => {
    const measuredAt = (gbps: number): readonly string[] =>
      run(box, [logOf(withTruth(box, [[gbps, 1.7]]), { ranks: 8 })]).report.notes;
    expect(measuredAt(310)).toEqual([]);
    expect(measuredAt(450)).toEqual([
      expect.stringMatching(
        /^GPU-NVSwitch 300 GB\/s is fitted with 450 GB\/s, 1\.5 times what the network says it has: /,
      ),
    ]);
  });

  it.each<[string, () => unknown, Refusal]>([
    ["one size", () => run(box, [logOf(box, { ranks: 8, sizes: [1024] })]), outOfRange("log0", 1, 2, 300)],
    [
      "few sizes for ranges",
      () => run(box, [logOf(box, { ranks: 8, sizes: [8, 16, 32] })], { regimes: 2 }),
      outOfRange("log0", 3, 4, 300, 2),
    ],
    [
      "more ranks than there are",
      () => run(box, [log.replace("for 8 ranks", "for 16 ranks")]),
      unexpected("log0", "16 ranks on some hosts", 8),
    ],
    [
      "an all-to-all",
      () => run(box, [log.replaceAll("all_reduce_perf", "alltoall_perf")]),
      unexpected("log0", "alltoall"),
    ],
    ["NVLS without such a switch", () => run(box, [log], { algorithm: "nvls" }), unexpected("algorithm", "nvls")],
    [
      "another collective than asked for",
      () => run(box, [log], { collective: "allgather" }),
      refused("unknown-name", "collective", "allgather"),
    ],
    ["a platform where there is none", () => run(box, [log], { platform: "x" }), unexpected("platform", "x")],
    ["no log", () => run(box, []), missing("LOG")],
    ["a hundred ranges", () => run(box, [log], { regimes: 100 }), outOfRange("regimes", 100, 16)],
  ])("refuses %s", (_, work, sentence) => {
    expect(refusalFrom(work)).toEqual(sentence);
  });

  const published = sharedFiles("baselines").includes("measured_public_nccl.tsv");
  describe.runIf(published)("of the published points", () => {
    const points = published ? sharedText("baselines/measured_public_nccl.tsv") : "";
    const fitted = (preset: string, platform: string, options: CalibrateOptions = {}): CalibrationReport =>
      run(presetTopology(preset), [points], { platform, collective: "allreduce", ...options }).report;

    it("fits those of 8 H200 to 10 % on average by one line, to 4 % by three", () => {
      const report = fitted("hgx-h200", "H200x8 NVLink4", { regimes: 3 });
      expect(report.leftOut).toBe(1);
      expect(report.errors.mean).toBeCloseTo(0.097, 3);
      expect(report.errors.worst).toBeCloseTo(0.195, 3);
      expect(report.regimeErrors?.mean).toBeCloseTo(0.035, 3);
      // the same size by NVLS and by rings
      expect(report.regimeErrors?.worst).toBeCloseTo(0.184, 3);
      expect(report.classes[0].gbps.value).toBeCloseTo(420.8, 1);
      const nvls = fitted("hgx-h200", "H200x8 NVLink4", { algorithm: "nvls", regimes: 3 });
      expect(nvls.regimeErrors?.worst).toBeLessThan(0.08);
    });

    it("fits those of 8 A100 to 17 % on average by one line, to 4 % by two", () => {
      const report = fitted("dgx-a100:1", "A100x8 NVLink3", { regimes: 2 });
      expect(report.errors.mean).toBeCloseTo(0.163, 3);
      expect(report.errors.worst).toBeCloseTo(0.399, 3);
      expect(report.regimeErrors?.mean).toBeCloseTo(0.038, 3);
      expect(report.classes[0].gbps.value).toBeCloseTo(213.1, 1);
    });

    it("lists the platforms", () => {
      expect(refusalFrom(() => run(presetTopology("hgx-h200"), [points]))).toEqual(missing("platform"));
      expect(refusalFrom(() => fitted("hgx-h200", "H200x8"))).toEqual(unexpected("platform", "H200x8"));
    });
  });
});
