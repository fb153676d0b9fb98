import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { listed, longestPathFirst, pathsOf } from "../../../src/synthesize/taccl/contiguity.ts";
import { clockOf, type Tasks } from "../../../src/synthesize/taccl/scheduling.ts";
import { contiguous, fixedOrder } from "../../../src/synthesize/taccl/taccl-phases.ts";
import { milpHere } from "../../support/milp-here.ts";
import { greedyTasks } from "../../support/taccl-problems.ts";

/**
 * Returns the shortest end over all ways to merge neighbours in a fixed order: each way's times are the least fixed point of
 * what must end before what starts, found by repeating.
 */
function shortestInOrder(tasks: Tasks, order: NonNullable<ReturnType<typeof fixedOrder>>): number {
  const { count, route, times, before } = tasks;
  let best = Number.POSITIVE_INFINITY;
  for (let chosen = 0; chosen < 2 ** order.together.length; chosen++) {
    let messageOf = Array.from({ length: count }, (_, task) => task);
    const apart = [...order.apart];
    order.together.forEach(([a, b], p) => {
      if ((chosen & (2 ** p)) === 0) apart.push([a, b]);
      else {
        const [into, from] = [messageOf[a] as number, messageOf[b]];
        messageOf = messageOf.map((m) => (m === from ? into : m));
      }
    });
    const size = (m: number): number => messageOf.filter((other) => other === m).length;
    const start = new Float64Array(count);
    const endOf = (task: number): number => {
      const m = messageOf[task] as number;
      return start[m] + times.latencyPs[route[task]] + size(m) * times.serialPs[route[task]];
    };
    const later = [...apart];
    for (let task = 0; task < count; task++) {
      for (let i = before.offset[task]; i < before.offset[task + 1]; i++) later.push([before.items[i], task]);
    }
    let rounds = 0;
    for (let changed = true; changed && rounds <= count; rounds++) {
      changed = false;
      for (const [a, b] of later) {
        const m = messageOf[b] as number;
        if (endOf(a) <= start[m]) continue;
        start[m] = endOf(a);
        changed = true;
      }
    }
    if (rounds <= count) best = Math.min(best, Math.max(...messageOf.map((_, task) => endOf(task))));
  }
  return best;
}

const cases = [
  ["mesh:3", "broadcast", 1, 4],
  ["mesh:3", "broadcast", 20_000, 5],
  ["mesh:4", "broadcast", 15_000, 3],
  ["mesh:4", "broadcast", 60_000, 4],
  ["mesh:4", "scatter", 10_000, 2],
  ["mesh:2x2", "allgather", 20_000, 2],
  ["mesh:4", "gather", 25_000, 2],
] as const;

describe("the program of exact scheduling", () => {
  it.each(cases)(
    "finds the best way to merge a fixed order on %s, %s of %i bytes a chunk",
    async (name, kind, bytes, chunks) => {
      const { tasks, network } = greedyTasks(presetTopology(name), kind, bytes, { chunks });
      const priority = longestPathFirst(tasks, pathsOf(tasks), "in order of paths", 1);
      const plan = listed(tasks, { name: "", priority, mostInside: 1, mostBetween: 1 }, network.leavesBox);
      const endPs = clockOf(tasks).run(plan);
      const order = fixedOrder(tasks, plan);
      if (order === null) throw new Error("no order");
      expect(order.together.length).toBeGreaterThan(0);
      const found = await contiguous(tasks, plan, endPs, await milpHere(), 20_000);
      expect(clockOf(tasks).run(found.plan)).toBe(found.endPs);
      expect(found.endPs).toBeLessThanOrEqual(shortestInOrder(tasks, order));
    },
  );

  it("gains where latency is most of the time", async () => {
    const { tasks, network } = greedyTasks(presetTopology("mesh:3"), "broadcast", 1, { chunks: 4 });
    const priority = longestPathFirst(tasks, pathsOf(tasks), "in order of paths", 1);
    const plan = listed(tasks, { name: "", priority, mostInside: 1, mostBetween: 1 }, network.leavesBox);
    const endPs = clockOf(tasks).run(plan);
    const found = await contiguous(tasks, plan, endPs, await milpHere(), 20_000);
    expect(found.endPs).toBeLessThan(endPs);
    expect(found.stage?.status).toBe("optimal");
  });

  it("keeps the plan without a solver, and says where a program does not fit", async () => {
    const { tasks, network } = greedyTasks(presetTopology("mesh:3"), "broadcast", 1, { chunks: 4 });
    const priority = longestPathFirst(tasks, pathsOf(tasks), "in order of paths", 1);
    const plan = listed(tasks, { name: "", priority, mostInside: 1, mostBetween: 1 }, network.leavesBox);
    const endPs = clockOf(tasks).run(plan);
    expect(await contiguous(tasks, plan, endPs, undefined, 20_000)).toEqual({ plan, endPs, stage: null });
    const small = { ...(await milpHere()), maxBytes: 1 };
    expect((await contiguous(tasks, plan, endPs, small, 20_000)).stage).toMatchObject({
      status: "skipped",
      note: "more memory than the solver has",
    });
  });
});
