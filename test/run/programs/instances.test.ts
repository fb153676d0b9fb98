import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { readProgram } from "../../../src/import/programs/program.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { threadBlockBytesPerSecond } from "../../../src/model/nccl/network.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import type { ProgramOptions } from "../../../src/request/from-texts.ts";
import { besideEngine } from "../../../src/run/programs/beside.ts";
import { fastestProgram } from "../../../src/run/programs/fastest.ts";
import { runsAtOnce, saturatingInstances, withBlockRate } from "../../../src/run/programs/instances.ts";
import { callOf, lowered, programUs } from "../../../src/run/programs/programs.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { commandsHere } from "../../support/cli-here.ts";
import { plainEngine } from "../../support/lowering-cases.ts";
import { quick } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const MIB = 2 ** 20;
/** Instances that are tried one by one. */
const MOST = 32;
const scheduleOf = async (network: string, algorithm: string, collective: NamedCollective, sizeBytes: number) =>
  (await synthesize(engine, presetTopology(network), { collective, algorithm, sizeBytes })).schedule;
const fastest = (schedule: AnySchedule, wanted: Parameters<typeof fastestProgram>[1]) =>
  fastestProgram(schedule, wanted, besideEngine(engine));

/** Returns the time of a program of so many instances in the faster of two protocols, if a thread block moves so much; of one that cannot run: Infinity. */
function timeWith(schedule: AnySchedule, how: ProgramOptions, instances: number): number {
  const times = (["Simple", "LL128"] as const).map((protocol) => {
    try {
      const program = lowered(schedule, { ...how, instances, protocol });
      return runsAtOnce(program, schedule.topology) ? programUs(program, schedule, how) : Number.POSITIVE_INFINITY;
    } catch (error) {
      if (error instanceof InputError) return Number.POSITIVE_INFINITY;
      throw error;
    }
  });
  return Math.min(...times);
}

/** V100s with links of 25 to 50 GB/s, V100s and H100s behind switches. */
const CASES = quick(
  [
    ["dgx1:1", "direct", "allgather", 64 * MIB],
    ["dgx1:1", "direct", "allreduce", 64 * MIB],
    ["dgx2:1", "rhd", "allreduce", 64 * MIB],
    ["dgx-h100:1", "rhd", "allgather", 64 * MIB],
    ["dgx-h100:1", "ring", "allgather", 1024 * MIB],
    ["ndv2:2", "tacos", "allgather", 64 * MIB],
  ] as const,
  ([network]) => network !== "ndv2:2" && network !== "dgx2:1",
);

const here = commandsHere();

describe("instances that are to be found", () => {
  it.each([
    ["dgx1:1", 3],
    ["dgx2:1", 8],
    ["dgx-h100:1", 13],
  ])("fill the widest link that one thread block serves: %s", async (network, instances) => {
    const schedule = await scheduleOf(network, "direct", "allgather", MIB);
    const program = lowered(schedule, { runtime: "azure" });
    const rate = threadBlockBytesPerSecond(schedule.topology) as number;
    const { rankToNpu } = callOf(program, schedule);
    expect(saturatingInstances(program, schedule.topology, rankToNpu, rate)).toBe(instances);
    // a plan says nothing of peers but where it writes
    const plan = lowered(schedule, { runtime: "mscclpp", throughSwitch: false });
    expect(saturatingInstances(plan, schedule.topology, callOf(plan, schedule).rankToNpu, rate)).toBe(instances);
  });

  it.each(CASES)("are as fast as the best of all numbers: %s %s %s of %i bytes", async (...given) => {
    const schedule = await scheduleOf(...given);
    const wanted = { runtime: "azure", instances: "auto" } as const;
    const { program, options, us, made } = await fastest(schedule, wanted);
    expect(options.blockBytesPerSecond).toBe(threadBlockBytesPerSecond(schedule.topology));
    expect(us).toBe(programUs(program, schedule, options));
    const { rankToNpu } = callOf(program, schedule);
    const rate = options.blockBytesPerSecond as number;
    const most = Math.max(8, saturatingInstances(program, schedule.topology, rankToNpu, rate));
    const times = Array.from({ length: MOST }, (_, i) => timeWith(schedule, options, i + 1));
    const within = Math.min(...times.slice(0, most));
    expect(us * 0.99).toBeLessThanOrEqual(within);
    // those that fill no link better, but cut finer, pay little
    expect(us * 0.97).toBeLessThanOrEqual(Math.min(...times));
    expect(runsAtOnce(program, schedule.topology)).toBe(true);
    // the file says the same program
    const read = readProgram([...made.parts()].join(""), "made.xml");
    expect(verifyProgram(read, { limit: 1 }).violationCount).toBe(0);
    const call = { ...callOf(program, schedule), localBytesPerSecond: rate };
    expect(simulateProgram(read, schedule.topology, call).ps).toBe(
      simulateProgram(program, schedule.topology, call).ps,
    );
  });

  it.each(["azure", "mscclpp"] as const)("are no slower for %s than what is fastest without limit", async (runtime) => {
    for (const [network, algorithm, collective] of [
      ["dgx-h100:1", "direct", "allgather"],
      ["dgx1:1", "direct", "allreduce"],
    ] as const) {
      const schedule = await scheduleOf(network, algorithm, collective, 256 * MIB);
      const auto = await fastest(schedule, { runtime, instances: "auto" });
      const usual = await fastest(schedule, { runtime });
      expect(usual.options.blockBytesPerSecond).toBeUndefined();
      expect(auto.us * 0.99).toBeLessThanOrEqual(programUs(usual.program, schedule, auto.options));
    }
  });

  it("are those of thread blocks without limit where GPUs are not known", async () => {
    const topology = presetTopology("torus:3x3");
    expect(withBlockRate({ runtime: "azure", instances: "auto" }, topology)).toEqual({ runtime: "azure" });
    const schedule = await scheduleOf("torus:3x3", "tacos", "allgather", MIB);
    const auto = await fastest(schedule, { runtime: "azure", instances: "auto" });
    const usual = await fastest(schedule, { runtime: "azure" });
    expect([...auto.made.parts()].join("")).toBe([...usual.made.parts()].join(""));
  });

  it("are told on the command line, with what they are due to", async () => {
    const line = "export dgx1:1 --collective allgather --algorithm direct --size 64MiB --instances auto";
    const { code, out, err } = await here.ends(`${line} --to msccl-xml -o a.xml`);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/\n {2}\d+ instances?: a thread block moves 20 GB\/s at most here, as NCCL counts a channel/);
    const unknown =
      "export torus:3x3 --collective allgather --algorithm tacos --instances auto --to mscclpp-json -o b.json";
    expect((await here.ends(unknown)).out).toMatch(/what a thread block of these GPUs can move is not known/);
    const inLanguage = await here.ends(`${line} --to msccl-lang -o c.py`);
    expect([inLanguage.code, inLanguage.err]).toEqual([
      2,
      'banyan: --instances is "auto"; it must be a number for programs in a language, or nothing\n',
    ]);
  });
});
