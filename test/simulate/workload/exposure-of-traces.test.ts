import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readChakra } from "../../../src/import/workloads/chakra.ts";
import { exposureOf } from "../../../src/simulate/workload/exposure.ts";
import { coll, comp, type HandNode, receive, send, tracesOf } from "../../support/chakra-bytes.ts";
import { BYTE_A_NS, timesOf } from "../../support/placed-costs.ts";

function timeOf(...npus: readonly (readonly HandNode[])[]) {
  const placed = readChakra(tracesOf(...npus), { folds: false });
  const times = timesOf(placed, BYTE_A_NS);
  return { ps: times.ps, actors: exposureOf(placed.tasks, times) };
}

const MICRO = 1e6;

describe("where the time of traces goes", () => {
  it("is a collective for all its members, where it comes last", () => {
    const { actors } = timeOf([comp(0, 10), coll(1, 0, 5000, [0])], [comp(0, 30), coll(1, 0, 5000, [0])]);
    expect(actors.map(({ computePs, exposedPs, bubblePs }) => [computePs, [...exposedPs], bubblePs])).toEqual([
      [10 * MICRO, [["allreduce", 5 * MICRO]], 20 * MICRO],
      [30 * MICRO, [["allreduce", 5 * MICRO]], 0],
    ]);
  });

  it("is a message that is waited for, by collective", () => {
    const { actors } = timeOf([comp(0, 10), send(1, 1, 5000, [0])], [receive(0, 0, 5000), comp(1, 7, [0])]);
    expect([...actors[1].exposedPs]).toEqual([["send", 5 * MICRO]]);
    expect(actors[1].bubblePs).toBe(10 * MICRO);
  });

  it("is counted once where an NPU and its host compute at the same time", () => {
    const { actors } = timeOf([comp(0, 10), { ...comp(1, 15), is_cpu_op: true }]);
    expect(actors[0].computePs).toBe(15 * MICRO);
  });

  it("sums to the time of the step for every NPU", () => {
    const node = fc.tuple(fc.constantFrom("comp", "host", "coll"), fc.integer({ min: 0, max: 3 }), fc.nat(5));
    fc.assert(
      fc.property(
        fc.array(node, { minLength: 1, maxLength: 9 }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 }),
        (nodes, factors) => {
          const { ps, actors } = timeOf(
            ...factors.map((factor) =>
              nodes.map(([kind, size, dep], i): HandNode => {
                const deps = i === 0 ? [] : [Math.min(dep, i - 1)];
                if (kind === "coll") return coll(i, 0, size * 1000, deps);
                return { ...comp(i, size * factor, deps), is_cpu_op: kind === "host" };
              }),
            ),
          );
          for (const { computePs, exposedPs, bubblePs } of actors) {
            const exposed = [...exposedPs.values()].reduce((sum, part) => sum + part, 0);
            expect(computePs + exposed + bubblePs).toBe(ps);
            expect(Math.min(computePs, bubblePs)).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });
});
