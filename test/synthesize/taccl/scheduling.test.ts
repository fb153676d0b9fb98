import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { planned } from "../../../src/synthesize/taccl/contiguity.ts";
import { clockOf, mergedSends, singles, stepsOfPlan } from "../../../src/synthesize/taccl/scheduling.ts";
import { verify } from "../../../src/verify/verify.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { endInOrder, shortestEnd } from "../../support/plan-oracle.ts";
import { runs } from "../../support/runs.ts";
import { greedyTasks } from "../../support/taccl-problems.ts";

const options = { seed: 1, budget: 2e5, leastPs: 0 };

/** Tiny problems: chunks of one root along a line, a ring, and to the ports of a switch; latencies and bytes trade places. */
const tiny = [1, 20_000, 1_000_000].flatMap((bytes) => [
  { topology: "mesh:3", kind: "broadcast", chunks: 3, bytes },
  { topology: "mesh:3", kind: "allgather", chunks: 1, bytes },
  { topology: "ring:3", kind: "alltoall", chunks: 1, bytes },
  { topology: "mesh:4", kind: "scatter", chunks: 1, bytes },
  { topology: "switch:3", kind: "allgather", chunks: 1, bytes },
]) as readonly {
  topology: string;
  kind: "broadcast" | "allgather" | "alltoall" | "scatter";
  chunks: number;
  bytes: number;
}[];

describe("plans of orders and merged sends", () => {
  it.each(tiny)(
    "end as early as any on $topology, $kind of $chunks x $bytes bytes",
    async ({ topology, kind, chunks, bytes }) => {
      const { tasks, network } = greedyTasks(presetTopology(topology), kind, bytes, { chunks });
      expect(tasks.count).toBeLessThanOrEqual(7);
      expect((await planned(tasks, { ...options, leavesBox: network.leavesBox })).endPs).toBe(shortestEnd(tasks));
    },
  );

  it("are timed as by a clock that looks at links one by one", () => {
    fc.assert(
      fc.property(connectedTopology(6), fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (topology, draws) => {
        const { tasks } = greedyTasks(topology, "allgather", 50_000);
        // that clock has one message at a time on a link, whatever its share
        fc.pre(tasks.routes.shareNum.every((num, i) => num === tasks.routes.shareDen[i]));
        const clock = clockOf(tasks);
        const plan = singles(Float64Array.from({ length: tasks.count }, (_, task) => draws[task % 40] as number));
        const end = clock.run(plan);
        const order = Array.from(plan.leader).sort((a, b) => clock.startPs[a] - clock.startPs[b] || a - b);
        expect(
          endInOrder(
            tasks,
            order.map((task) => [task]),
          ),
        ).toBe(end);
      }),
      { numRuns: runs(60) },
    );
  });

  it("pass the judge on random networks, never before the bound", async () => {
    await fc.assert(
      fc.asyncProperty(
        connectedTopology(7),
        fc.constantFrom("allgather", "alltoall", "broadcast", "scatter", "gather"),
        fc.constantFrom(1, 50_000, 4_000_000),
        async (topology, kind, bytes) => {
          const { tasks, network, collective } = greedyTasks(topology, kind, bytes, { chunks: 2 });
          const { plan, endPs, boundPs } = await planned(tasks, {
            ...options,
            budget: 2e4,
            leavesBox: network.leavesBox,
          });
          const schedule = stepsOfPlan(topology, collective, tasks, plan);
          expect(verify(schedule).violations).toEqual([]);
          expect(makespanPs(schedule)).toBe(endPs);
          expect(endPs).toBeGreaterThanOrEqual(boundPs);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("merge where latency is all, and not where it is nothing", async () => {
    const merged = await Promise.all(
      [1, 2 ** 30].map(async (bytes) => {
        const { tasks, network } = greedyTasks(presetTopology("mesh:3"), "broadcast", bytes, { chunks: 3 });
        return mergedSends((await planned(tasks, { ...options, leavesBox: network.leavesBox })).plan);
      }),
    );
    expect(merged[0]).toBeGreaterThan(0);
    expect(merged[1]).toBe(0);
  });

  it("are the same for the same seed", async () => {
    const { tasks, network } = greedyTasks(presetTopology("mesh:3x3"), "allgather", 100_000);
    const plan = () => planned(tasks, { ...options, leavesBox: network.leavesBox });
    const [a, b] = [await plan(), await plan()];
    expect(a).toEqual(b);
  });
});
