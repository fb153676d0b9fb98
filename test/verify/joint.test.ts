import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { type JointSchedule, tenantSchedule } from "../../src/model/joint/joint-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { synthesizeJoint } from "../../src/run/joint.ts";
import { verifyJoint } from "../../src/verify/joint.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { engineOf, jointFaults } from "../support/joint-schedules.ts";
import { scheduleOfRows } from "../support/schedule-rows.ts";
import { wholeCollective } from "../support/synthesis.ts";

const engine = engineOf(jsKernels);

async function example(): Promise<JointSchedule> {
  const { schedule } = await synthesizeJoint(engine, presetTopology("mesh:3x3"), {
    collectives: [
      { collective: "allgather", sizeBytes: 9000 },
      { collective: "reduce", sizeBytes: 4000, chunks: 4, root: 4 },
      { collective: "scatter", sizeBytes: 18_000, root: 8 },
    ],
    trials: 2,
  });
  return schedule;
}

/** Returns the schedule with one number of one row changed. */
function changed(joint: JointSchedule, draws: ReturnType<typeof random>): JointSchedule {
  const t = draws.below(joint.tenants.length);
  const tenant = joint.tenants[t];
  const row = draws.below(tenant.chunk.length);
  const columns = {
    chunk: tenant.chunk.slice(),
    route: tenant.route.slice(),
    startPs: tenant.startPs.slice(),
    endPs: tenant.endPs.slice(),
  };
  const shift = (draws.below(9) - 4) * 250_000;
  switch (draws.below(5)) {
    case 0:
      columns.chunk[row] = draws.below(tenant.collective.chunkCount);
      break;
    case 1:
      columns.route[row] = draws.below(joint.routes.source.length);
      break;
    case 2:
      columns.endPs[row] += shift;
      break;
    case 3: {
      // one message of two chunks, in time enough unless it is a picosecond less
      const beside = [...tenant.route.keys()].filter((other) => tenant.route[other] === tenant.route[row]);
      const other = beside[draws.below(beside.length)];
      columns.startPs[row] = tenant.startPs[other];
      columns.endPs[row] = 2 * tenant.endPs[other] - tenant.startPs[other] - draws.below(2);
      columns.endPs[other] = columns.endPs[row];
      break;
    }
    default:
      columns.startPs[row] = Math.max(0, columns.startPs[row] + shift);
      columns.endPs[row] = columns.startPs[row] + tenant.endPs[row] - tenant.startPs[row];
  }
  const tenants = joint.tenants.map((other, i) => (i === t ? { ...tenant, ...columns } : other));
  return { ...joint, tenants };
}

describe("verifyJoint", () => {
  it("agrees with brute force on 400 changed schedules", async () => {
    const joint = await example();
    expect(jointFaults(joint)).toEqual([]);
    const draws = random(3);
    let [wrong, shared] = [0, 0];
    for (let i = 0; i < 400; i++) {
      const mutant = changed(joint, draws);
      const { violationCount } = verifyJoint(mutant);
      expect(violationCount > 0).toBe(jointFaults(mutant).length > 0);
      if (violationCount === 0) continue;
      wrong++;
      const each = mutant.tenants.every((_, t) => verifySchedule(tenantSchedule(mutant, t)).violationCount === 0);
      if (each) shared++;
    }
    expect(wrong).toBeGreaterThan(100);
    // wrong only because tenants meet on a link
    expect(shared).toBeGreaterThan(10);
  });

  it("merges what one collective sends at once, and nothing of two", () => {
    const topology = presetTopology("mesh:2x1@100GB/s,0.5us");
    const goal = wholeCollective(topology, "allgather", 400_000, 2);
    const rows = [0, 1].map((chunk) => ({ chunk, route: 0, start: 0, end: 2.5e6, op: 0 }));
    const back = [2, 3].map((chunk) => ({ chunk, route: 1, start: 0, end: 2.5e6, op: 0 }));
    const { routes, ...tenant } = scheduleOfRows(topology, goal, routesOf(topology, "ports"), [...rows, ...back]);
    expect(verifyJoint({ topology, routes, tenants: [tenant] }).violations).toEqual([]);
    const { violations } = verifyJoint({ topology, routes, tenants: [tenant, tenant] });
    expect(violations.map(({ kind, tenant: t, transfer }) => [kind, t, transfer])).toEqual([
      ["route-conflict", 1, 0],
      ["route-conflict", 1, 2],
      ["link-conflict", 1, 0],
      ["link-conflict", 1, 2],
    ]);
    expect(violations[0].message).toBe(
      "collective 1 (allgather): rank 0 sends chunk 0 on link 0>1 at 0 us (transfer 0), while chunk 0 of collective 0 (allgather) (transfer 0), one of 2 merged chunks, is on that route until 2.5 us",
    );
  });

  it("names the collectives that meet on a link", () => {
    const topology = presetTopology("mesh:2x1");
    const together = async () => {
      const { schedule } = await synthesizeJoint(engine, topology, {
        collectives: [
          { collective: "broadcast", sizeBytes: 1000 },
          { collective: "scatter", sizeBytes: 2000 },
        ],
      });
      const [first, second] = schedule.tenants;
      const { startPs, endPs } = first;
      return verifyJoint({ ...schedule, tenants: [first, { ...second, startPs, endPs }] });
    };
    return expect(together()).resolves.toMatchObject({
      violationCount: 2,
      violations: [
        {
          kind: "route-conflict",
          tenant: 1,
          message:
            "collective 1 (scatter): rank 0 sends chunk 1 on link 0>1 at 0 us (transfer 0), while chunk 0 of collective 0 (broadcast) (transfer 0) is on that route until 0.52 us",
        },
        { kind: "link-conflict", tenant: 1 },
      ],
    });
  });
});
