import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jointScheduleJsonParts } from "../../src/export/schedules/schedule-json.ts";
import { readAnySchedule } from "../../src/import/schedules/schedule-json.ts";
import { jointKind } from "../../src/kinds/joint.ts";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import { jointBoundOf } from "../../src/model/bounds/joint.ts";
import { type JointSchedule, jointEndPs, tenantSchedule } from "../../src/model/joint/joint-schedule.ts";
import { rational, toNumber } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import { hasMergedSends, makespanPs } from "../../src/model/steps/step-schedule.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { problemOf } from "../../src/request/problem.ts";
import { type JointOptions, synthesizeJoint } from "../../src/run/joint.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { runnerFor } from "../../src/run/threads/runner.ts";
import { simulateJoint, simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { direct } from "../../src/synthesize/baselines/direct.ts";
import { togetherBy } from "../../src/synthesize/joint/by-maker.ts";
import { taccl } from "../../src/synthesize/taccl/taccl.ts";
import { verifyJoint } from "../../src/verify/joint.ts";
import { availableKernels } from "../support/backends.ts";
import { engineOf, jointFaults, tenantSets } from "../support/joint-schedules.ts";
import { quick, runs, seen, triesAll } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

const [fastest] = await availableKernels();
const engine = engineOf(fastest);
const MIB = 2 ** 20;
const mesh = presetTopology("mesh:6x6");

/** All-gather, broadcast from NPU 2 and reduction to NPU 17: all chunks of 1 MiB (TACOS 2023, figure 22b). */
const threeTenants = (gathered: number, sent: number): JointOptions["collectives"] => [
  { collective: "allgather", sizeBytes: 36 * gathered * MIB, chunks: gathered },
  { collective: "broadcast", sizeBytes: sent * MIB, chunks: sent, root: 2 },
  { collective: "reduce", sizeBytes: sent * MIB, chunks: sent, root: 17 },
];

const slotPs = routeTimes(mesh, routesOf(mesh, 1), wholeCollective(mesh, "broadcast", MIB).chunkBytes).slotPs[0];

describe("several collectives at once", () => {
  it.each(
    quick(
      [
        // one after the other: 18 + 8 + 8
        ["one chunk per NPU each", 1, 1, 18],
        // 35 and 2 + 9 + 9
        ["two chunks gathered, four sent", 2, 4, 37],
        // 18 + 25 + 25
        ["equal bytes", 1, 36, 36],
      ] as const,
      ([, gathered, sent]) => gathered === sent,
    ),
  )("meet the joint bound on the 6x6 mesh: %s", async (_, gathered, sent, slots) => {
    const { schedule, report } = await synthesizeJoint(engine, mesh, { collectives: threeTenants(gathered, sent) });
    expect(jointEndPs(schedule) / slotPs).toBe(slots);
    expect(report.details.ofPlannedBound).toBe(1);
    expect(verifyJoint(schedule).violations).toEqual([]);
  });

  it("mix chunk sizes", async () => {
    const collectives: JointOptions["collectives"] = [
      { collective: "allgather", sizeBytes: 36 * MIB },
      { collective: "broadcast", sizeBytes: 36 * MIB, chunks: 12, root: 2 },
      { collective: "reduce", sizeBytes: 36 * MIB, chunks: 9, root: 17 },
    ];
    const { schedule, report } = await synthesizeJoint(engine, mesh, { collectives, trials: triesAll ? 16 : 4 });
    expect(verifyJoint(schedule).violations).toEqual([]);
    expect(report.details.ofPlannedBound).toBeGreaterThan(0.75);
  });

  it("are right, and no faster than their bound, on any network", async () => {
    const property = fc.asyncProperty(tenantSets(), async ({ topology, tenants, seed }) => {
      const options = { collectives: tenants, seed, trials: 2 };
      const { schedule, report } = await synthesizeJoint(engine, topology, options);
      expect(jointFaults(schedule)).toEqual([]);
      expect(verifyJoint(schedule).violations).toEqual([]);
      expect(report.details.ofPlannedBound).toBeLessThanOrEqual(1);
      expect(report.ofLimit).toBeLessThanOrEqual(1);
      expect(report.time.us).toBeLessThanOrEqual(report.details.planned?.us ?? 0);
      expect(await synthesizeJoint(engine, topology, options)).toMatchObject({ schedule });
    });
    await fc.assert(property, { numRuns: runs(40), seed: 4 });
  });

  it("write files that read back to the same schedule", async () => {
    const property = fc.asyncProperty(tenantSets(), async ({ topology, tenants, seed }) => {
      const { schedule } = await synthesizeJoint(engine, topology, { collectives: tenants, seed, trials: 1 });
      const text = [...jointScheduleJsonParts(schedule, { about: { madeBy: "test" } })].join("");
      const read = readAnySchedule(text, "joint.json") as JointSchedule;
      expect(read.routes).toEqual(schedule.routes);
      expect(read.tenants.map(plain)).toEqual(schedule.tenants.map(plain));
    });
    await fc.assert(property, { numRuns: runs(20), seed: 5 });
  });

  it("that have nothing to send take no time", async () => {
    const collectives = [{ collective: "allgather", group: "3" }] as const;
    const { report } = await synthesizeJoint(engine, mesh, { collectives });
    expect([report.time.us, report.schedule.transfers, report.details.ofPlannedBound]).toEqual([0, 0, 1]);
  });
});

describe("several collectives at once by a maker of single ones", () => {
  it.each([taccl, direct])("$name: right, beside each other, no faster than the bound", async (maker) => {
    let [merged, overlapping] = [0, 0];
    const { runner, dispose } = runnerFor(engine, 1, undefined, () => {});
    const property = fc.asyncProperty(tenantSets(), async ({ topology, tenants, seed }) => {
      const collectives = tenants
        .map((one) => problemOf(topology, one).collective)
        .filter(({ groupSize }) => groupSize > 1);
      fc.pre(collectives.length > 0);
      const { schedule } = await togetherBy(maker)(
        { topology, collectives, seed, trials: 2, policy: null, switchDegree: null, timeLimitMs: 60 },
        { runner, breathe: async () => {} },
      );
      expect(jointFaults(schedule)).toEqual([]);
      expect(verifyJoint(schedule).violations).toEqual([]);
      expect(toNumber(jointKind(schedule).plannedBound()?.ps ?? rational(0))).toBeLessThanOrEqual(jointEndPs(schedule));
      const own = schedule.tenants.map((_, t) => tenantSchedule(schedule, t));
      if (own.some(hasMergedSends)) merged++;
      const starts = own.map(({ startPs }) => Math.min(...startPs));
      const ends = own.map(makespanPs);
      if (own.some((_, i) => own.some((_, k) => i !== k && starts[i] < ends[k] && starts[k] < ends[i]))) overlapping++;
    });
    await fc.assert(property, { numRuns: runs(30), seed: 6, endOnFailure: true });
    dispose();
    expect(overlapping).toBeGreaterThan(seen(8));
    if (maker === taccl) expect(merged).toBeGreaterThan(seen(4));
  });

  it("moves whole messages beside each other", async () => {
    const star = presetTopology("switch:8@100GB/s,150ns");
    const groups = ["0,1,2,3", "4,5,6,7"];
    const collectives = groups.map((group) => ({ collective: "allgather" as const, sizeBytes: 4000, group }));
    const { schedule, report } = await synthesizeJoint(engine, star, {
      algorithm: "taccl",
      collectives,
      timeLimitMs: 2000,
    });
    // two rounds of 300 ns and three receipts of 10 ns, which do not meet
    expect(jointEndPs(schedule)).toBe(630_000);
    expect(report.details.ofPlannedBound).toBe(1);
  });

  it("says what a maker needs, and which take a time limit", async () => {
    const collectives = [{ collective: "allgather" as const }];
    const asked = (options: object) => synthesizeJoint(engine, mesh, { collectives, ...options });
    await expect(asked({ algorithm: "ring" })).rejects.toThrow("taccl, direct");
    await expect(asked({ algorithm: "direct", timeLimitMs: 100 })).rejects.toThrow("tacos-ilp or taccl");
  });
});

/** Columns in the order of (start, route, chunk), which files keep, as plain numbers. */
function plain(tenant: JointSchedule["tenants"][number]) {
  const rows = Array.from(tenant.chunk, (chunk, i) =>
    [tenant.startPs[i], tenant.route[i], chunk, tenant.endPs[i], tenant.op[i]].join(),
  );
  return { collective: tenant.collective, rows: rows.sort() };
}

describe("the joint bound", () => {
  it("is at least what each collective needs alone, and with one collective just that", () => {
    const property = fc.property(tenantSets(), ({ topology, tenants }) => {
      const whole = tenants.map(({ collective, sizeBytes, chunks }) =>
        wholeCollective(topology, collective, sizeBytes, chunks),
      );
      const routes = routesOf(topology, "ports");
      const alone = whole.map((c) =>
        toNumber(boundOf(topology, c, routes, routeTimes(topology, routes, c.chunkBytes)).ps),
      );
      const joint = toNumber(jointBoundOf(topology, whole, routes).ps);
      expect(joint).toBeGreaterThanOrEqual(Math.max(...alone));
      expect(toNumber(jointBoundOf(topology, [whole[0]], routes).ps)).toBe(alone[0]);
    });
    fc.assert(property, { numRuns: runs(150), seed: 6 });
  });

  it("counts the transfers of all over all links", () => {
    // 16 x 15 of the all-gather and 16 x 32 hops of the all-to-all over 64 links; no border needs more than 9 slots.
    const torus = presetTopology("torus:4x4");
    const both = [wholeCollective(torus, "allgather", 16 * MIB), wholeCollective(torus, "alltoall", 16 * MIB)];
    const slot = routeTimes(torus, routesOf(torus, 1), both[0].chunkBytes).slotPs[0];
    expect(toNumber(jointBoundOf(torus, both, routesOf(torus, 1)).ps) / slot).toBe(12);
  });

  it("adds chunks of unequal size by their slots, which no link shares out", () => {
    // Over one link of 1 GB/s: two chunks of 1000 bytes and one of 3000 take 5 us, and the last of 3 + 1 us is not yet enough.
    const line = presetTopology("mesh:2x1@1GB/s,0us");
    const small = wholeCollective(line, "broadcast", 2000, 2);
    const large = wholeCollective(line, "broadcast", 3000, 1);
    expect(toNumber(jointBoundOf(line, [small, large], routesOf(line, 1)).ps)).toBe(5_000_000);
  });
});

describe("process groups", () => {
  it.each(
    quick(
      [
        // [network, collective, chunks, groups, slots]: the bound is met where it says so
        ["mesh:6x6", "alltoall", 1, "0,1,2,3;32,33,34,35", 3], // the bound
        ["mesh:6x6", "scatter", 4, "0,2,4,12,14,16;1,3,5,13,15,17", 14], // the bound
        ["mesh:6x6", "allreduce", 1, "0,5,30,35;1,4,31,34", 12], // bound 11; 20 through owners in the groups
        ["mesh:6x6", "allgather", 4, "0,5,30,35;1,4,31,34", 12], // bound 10
        ["torus:4x4", "allreduce", 1, "0,5,10,15;1,6,11,12;2,7,8,13;3,4,9,14", 4], // the bound
        ["torus:3x3", "allreduce", 1, "0,1,2,3,4,5,6,7,8", 4], // the bound
      ] as const,
      ([name]) => name.startsWith("torus"),
    ),
  )("several at once, relayed by outsiders: %s %s %s", async (name, collective, chunks, group, slots) => {
    const topology = presetTopology(name);
    const { schedule, report } = await synthesize(engine, topology, { collective, chunks, group });
    const { slotPs } = routeTimes(topology, (schedule as Schedule).routes, schedule.collective.chunkBytes);
    expect((report.details.planned?.us ?? 0) / (slotPs[0] / 1e6)).toBeCloseTo(slots, 9);
    expect(report.verified).toBe(true);
  });
});

describe("the joint replay", () => {
  it("of one collective is the replay of its schedule", async () => {
    const property = fc.asyncProperty(tenantSets(), async ({ topology, tenants, seed }) => {
      const { schedule } = await synthesizeJoint(engine, topology, {
        collectives: tenants.slice(0, 1),
        seed,
        trials: 1,
      });
      for (const switching of ["cut-through", "store-and-forward"] as const) {
        const alone = simulateSchedule(tenantSchedule(schedule, 0), { switching });
        expect(simulateJoint(schedule, { switching })).toEqual(alone);
      }
    });
    await fc.assert(property, { numRuns: runs(20), seed: 8 });
  });

  it("keeps each tenant at least as late as it would be alone", async () => {
    const { schedule } = await synthesizeJoint(engine, mesh, { collectives: threeTenants(1, 1) });
    for (const switching of ["cut-through", "store-and-forward"] as const) {
      const together = simulateJoint(schedule, { switching }).ps;
      const alone = schedule.tenants.map((_, t) => simulateSchedule(tenantSchedule(schedule, t), { switching }).ps);
      expect(together).toBeGreaterThanOrEqual(Math.max(...alone));
      expect(together).toBeLessThanOrEqual(jointEndPs(schedule));
    }
  });
});

it("never has two sizes of chunks on a route that takes half of its links", async () => {
  const builder = topologyBuilder("two ways from a switch");
  const [a, b] = [builder.addNpu("a"), builder.addNpu("b")];
  const hub = builder.addSwitch("s");
  builder.addDuplex(a, hub, 2e9, 500_000);
  builder.addDuplex(b, hub, 3e9, 0);
  builder.addDuplex(b, hub, 1e9, 2000);
  const { report } = await synthesizeJoint(engine, builder.build(), {
    collectives: [
      { collective: "allgather", chunks: 3, sizeBytes: 60 },
      { collective: "gather", chunks: 1, sizeBytes: 1 },
      { collective: "broadcast", chunks: 5, sizeBytes: 2 ** 26 },
    ],
  });
  expect(report.verified).toBe(true);
});
