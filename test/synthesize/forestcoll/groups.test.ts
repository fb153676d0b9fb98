import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { judgeIndependently } from "../../../src/independent/independent.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import type { SynthesizeOptions } from "../../../src/request/options.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { groupShares } from "../../../src/synthesize/forestcoll/group-shares.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { availableKernels } from "../../support/backends.ts";
import { groupsAlong, groupText } from "../../support/groups-along.ts";
import { refused, unexpected } from "../../support/refusals.ts";

const [fastest] = await availableKernels();

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const made = (network: Topology | string, group: string, more: Partial<SynthesizeOptions> = {}) =>
  synthesize(engine, typeof network === "string" ? presetTopology(network) : network, {
    collective: "allgather",
    algorithm: "forestcoll",
    sizeBytes: 2 ** 28,
    group,
    ...more,
  });

/** Returns the shares of groups, after all that has to hold of them. */
async function shared(network: Topology | string, groups: readonly (readonly number[])[]) {
  const topology = typeof network === "string" ? presetTopology(network) : network;
  const usable = topology.linkBytesPerSecond;
  const found = await groupShares(
    {
      topology,
      groups: groups.map((members) => Int32Array.from(members)),
      usable,
      weight: new Float64Array(groups[0]?.length ?? 0).fill(1),
    },
    (problem) => fastest.rate(problem),
    openHighs,
  );
  usable.forEach((bandwidth, link) => {
    const sum = found.shares.reduce((all, own) => all + own[link], 0);
    expect(sum).toBeLessThanOrEqual(bandwidth);
  });
  for (const own of found.shares) expect(own.every((share) => Number.isSafeInteger(share) && share >= 0)).toBe(true);
  const perMember = toNumber(found.rate);
  expect(perMember).toBeLessThanOrEqual(found.most * (1 + 1e-6));
  return { ...found, perMember };
}

describe("shares of links for groups at once", () => {
  it("are whole links where groups share none", async () => {
    // a group of 4 behind a switch of 50 GB/s: each member receives what the three others send
    const { perMember, most, how } = await shared("switch:4*switch:4*switch:2", groupsAlong([4, 4, 2], [0]));
    expect(perMember).toBeCloseTo(50e9 / 3, 0);
    expect(perMember).toBeGreaterThanOrEqual(most * (1 - 1e-6));
    expect(how).toContain("on whose ways");
  });

  it("are the optimum of all together where groups have to share: found by the linear program", async () => {
    // pairs at opposite places of a ring of 4: each has two ways, every link is on ways of both
    const pairs = await shared("ring:4@40GB/s,1us", [
      [0, 2],
      [1, 3],
    ]);
    expect(pairs.perMember).toBe(40e9);
    // one pair is next to each other, the other at the ends of a line of 4 that the first lies in
    const line = await shared("line:4@40GB/s,1us", [
      [1, 2],
      [0, 3],
    ]);
    expect(line.perMember).toBe(20e9);
    // 0 and 1 can go the long way round, which 2 and 4 leave to them in part
    const ring = await shared("ring:6@60GB/s,1us", [
      [0, 1],
      [5, 2],
    ]);
    expect(ring.perMember).toBeGreaterThanOrEqual(0.999 * ring.most);
    expect(ring.how).toContain("linear program");
  });

  it("are never better than what one group alone would have", async () => {
    for (const preset of ["torus:4x4", "mesh:3x4", "fc:4*ring:3", "dgx-a100:2"]) {
      const { npuCount } = presetTopology(preset);
      const all = Array.from({ length: npuCount }, (_, npu) => npu);
      const groups = [all.filter((npu) => npu % 2 === 0), all.filter((npu) => npu % 2 === 1)];
      const [both, alone] = [await shared(preset, groups), await shared(preset, groups.slice(0, 1))];
      expect(both.perMember).toBeLessThanOrEqual(alone.perMember);
      expect(both.perMember).toBeGreaterThanOrEqual((alone.perMember / 2) * 0.99);
    }
  });

  it("are equal parts of all links where these are one way only", async () => {
    const both = presetTopology("ring:6");
    const oneWay = without(both, ["1>0", "2>1", "3>2", "4>3", "5>4", "0>5"]);
    const { how, perMember } = await shared(oneWay, [
      [0, 2, 4],
      [1, 3, 5],
    ]);
    expect(how).toContain("equal part");
    expect(perMember).toBeCloseTo(25e9 / 2, 0);
  });
});

describe("forestcoll for several groups", () => {
  it.each<[string, readonly number[], readonly number[]]>([
    ["switch:4*switch:4*switch:2", [4, 4, 2], [0]],
    ["switch:4*switch:4*switch:2", [4, 4, 2], [0, 2]],
    ["torus:4x4", [4, 4], [0]],
    ["ring:4*fc:3", [4, 3], [1]],
  ])("on %s %j along %j: verified, and near what cuts allow", async (preset, sizes, along) => {
    const group = groupText(groupsAlong(sizes, along));
    for (const collective of ["allgather", "reducescatter", "allreduce"] as const) {
      const { schedule, report } = await made(preset, group, { collective });
      expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
      expect(report).toMatchObject({ verified: true, schedule: { kind: "steps" } });
      expect(report.ofLimit).toBeGreaterThan(0.9);
      expect(report.notes?.[0]).toMatch(
        /^trees of \d+ groups at once, links shared by the groups on whose ways they are/,
      );
    }
  });

  it("has broadcasts and reductions of each group from its own root", async () => {
    for (const collective of ["broadcast", "reduce"] as const) {
      const { schedule } = await made("torus:4x4", "0,1,2,3;4,5,6,7", { collective });
      expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
    }
  });

  it("is judged right by FORMATS.md alone, unequal shares and chunks of nobody included", async () => {
    const { schedule } = await made("ring:6@60GB/s,1us", "0,1;5,2", {
      collective: "allreduce",
      sizeBytes: 2 ** 20,
      chunks: 2,
    });
    const text = scheduleToJson(schedule as StepSchedule);
    expect(judgeIndependently(text).findings).toMatchObject([{ claim: "rules", verdict: "checked" }]);
  });

  it("takes groups whose ways cross, within the rate of the linear program", async () => {
    const { schedule, report } = await made("mesh:4x4", "0,5,10,15;3,6,9,12");
    expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
    expect(report.notes?.[0]).toMatch(/the slowest group has (at least )?[\d.]+ % of the rate that any shares allow/);
  });

  it("refuses what only one group can ask", async () => {
    await expect(made("torus:4x4", "0,1;2,3", { k: "auto" })).rejects.toThrow(refused("not-together", "k", "auto"));
    await expect(made("torus:4x4", "0,1;2,3", { algorithm: "multitree" })).rejects.toThrow(unexpected("group", 2));
    await expect(made("torus:16x16", `${groupText(groupsAlong([16, 16], [0]))}`, { chunks: 4096 })).rejects.toThrow(
      refused("out-of-range", "chunks", 4096),
    );
    const parted = without(presetTopology("line:4"), ["1-2"]);
    await expect(made(parted, "0,2;1,3")).rejects.toThrow(InfeasibleError);
  });
});
