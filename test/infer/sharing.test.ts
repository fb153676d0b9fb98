import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { medianOf } from "../../src/infer/asking.ts";
import { CUBE_MESH, TACCL_NDV2, usualOrder } from "../../src/infer/canonical.ts";
import { equalsAmong } from "../../src/infer/equals.ts";
import { partition } from "../../src/infer/partition.ts";
import { arrivals, sharedCapacity } from "../../src/infer/sharing.ts";
import { fluidTimes, type HiddenNetwork, normal, randomOrder } from "../support/hidden-network.ts";
import { runs } from "../support/runs.ts";

/** Returns a random network of `flows` pairs (2i, 2i+1) over some resources. */
function randomSharing(seed: number) {
  const draws = random(seed, 1);
  const flows = 1 + draws.below(8);
  const capacity = Array.from({ length: 1 + draws.below(6) }, () => 1 + draws.below(20));
  const ways = Array.from({ length: flows }, () => {
    const way = [...capacity.keys()].filter(() => draws.below(3) === 0);
    return way.length > 0 ? way : [draws.below(capacity.length)];
  });
  return { flows, capacity, ways };
}

describe("flows that share", () => {
  it("arrive when the narrowest resource first says, by another way of reckoning", () => {
    for (let seed = 1; seed <= runs(300); seed++) {
      const { flows, capacity, ways } = randomSharing(seed);
      const count = 2 * flows;
      const network: HiddenNetwork = {
        endpoints: Array.from({ length: count }, (_, i) => ({ kind: "npu", name: `${i}`, host: "" })),
        names: capacity.map(String),
        capacity,
        routes: Array.from({ length: count * count }, (_, p) => {
          const [a, b] = [Math.floor(p / count), p % count];
          return a % 2 === 0 && b === a + 1 ? (ways[a / 2] as number[]) : [];
        }),
        latencyS: new Float64Array(count * count),
      };
      const list = Array.from({ length: flows }, (_, i) => ({ source: 2 * i, target: 2 * i + 1 }));
      const wanted = fluidTimes(network, list, 1000);
      const found = arrivals(ways, capacity, 1000);
      for (const [i, time] of wanted.entries()) expect(found[i]).toBeCloseTo(time, 6);
    }
  });

  it("tell the capacity that they share, or that they share none", () => {
    let delayed = 0;
    for (let seed = 1; seed <= runs(100); seed++) {
      const draws = random(seed, 2);
      const limits = Array.from({ length: 2 + draws.below(6) }, () => 5 + draws.below(20));
      const sum = limits.reduce((total, one) => total + one, 0);
      const most = Math.max(...limits);
      // narrow enough to delay the last: below all of them, wide enough for any one
      const capacity = most + (sum - most) * 0.2;
      const times = arrivals(
        limits.map((_, i) => [0, i + 1]),
        [capacity, ...limits],
        100,
      );
      const alone = 100 / Math.min(...limits);
      const last = Math.max(...times);
      if (last <= alone * 1.001) continue;
      delayed++;
      expect(Math.abs(sharedCapacity(limits, 100, last) / capacity - 1)).toBeLessThan(1e-3);
      expect(sharedCapacity(limits, 100, alone * 0.999)).toBe(Number.POSITIVE_INFINITY);
    }
    expect(delayed).toBeGreaterThan(5);
  });
});

describe("partition by contention", () => {
  it("finds classes of random sizes from noisy times", () => {
    let asked = 0;
    const cases = runs(200);
    for (let seed = 1; seed <= cases; seed++) {
      const draws = random(seed, 3);
      const count = 2 + draws.below(14);
      const classes = 1 + draws.below(4);
      const hidden = Array.from({ length: count }, () => draws.below(classes));
      const line = partition(new Array<number>(count).fill(1), 1, seed);
      let step = line.next();
      while (step.done !== true) {
        asked += step.value.length;
        step = line.next(
          step.value.map((set) =>
            set.map((i) => set.filter((j) => hidden[j] === hidden[i]).length * (1 + 0.012 * normal(draws))),
          ),
        );
      }
      const { classOf } = step.value;
      for (let i = 0; i < count; i++)
        for (let j = 0; j < count; j++) expect(classOf[i] === classOf[j]).toBe(hidden[i] === hidden[j]);
    }
    expect(asked / cases).toBeLessThan(8);
  });
});

describe("classes of equals", () => {
  it("are those of the figures before noise", () => {
    for (let seed = 1; seed <= runs(100); seed++) {
      const draws = random(seed, 4);
      const levels = [10, 12, 23, 46].filter(() => draws.below(2) === 0);
      if (levels.length === 0) continue;
      const level = Array.from({ length: 60 }, () => draws.below(levels.length));
      const values = level.map((k) => (levels[k] as number) * (1 + 0.008 * normal(draws)));
      const { classOf, value } = equalsAmong(
        values,
        values.map((one) => 0.008 * one),
      );
      const used = [...new Set(level)].sort((a, b) => a - b);
      expect(value.length).toBe(used.length);
      for (const [i, k] of level.entries()) expect(classOf[i]).toBe(used.indexOf(k));
    }
  });
});

describe("medians", () => {
  it("do not mind late ones, and know their error", () => {
    let within = 0;
    for (let seed = 1; seed <= 300; seed++) {
      const draws = random(seed, 5);
      const values = Float64Array.from(
        { length: 21 },
        () => (1 + 0.03 * normal(draws)) * (draws.below(20) === 0 ? 3 : 1),
      );
      const { seconds, error } = medianOf(values);
      if (Math.abs(seconds - 1) < 2.5 * error) within++;
    }
    expect(within).toBeGreaterThan(270);
  });
});

describe("usual numbers", () => {
  const wanted = (usual: typeof CUBE_MESH): Int32Array => {
    const links = new Int32Array(64);
    for (const [a, b, count] of usual.links) {
      links[a * 8 + b] = count;
      links[b * 8 + a] = count;
    }
    return links;
  };

  it("are found in any order, with switches and NIC where they belong", () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const order = randomOrder(8, seed);
      const links = wanted(CUBE_MESH);
      const hidden = Int32Array.from(
        { length: 64 },
        (_, i) => links[(order[i >> 3] as number) * 8 + (order[i & 7] as number)] as number,
      );
      const switches = (CUBE_MESH.switches ?? []).map((members) => members.map((k) => order.indexOf(k)));
      const found = usualOrder(CUBE_MESH, hidden, switches, 0) as number[];
      for (let i = 0; i < 64; i++)
        expect(hidden[(found[i >> 3] as number) * 8 + (found[i & 7] as number)]).toBe(links[i]);
      expect(new Set(found.slice(0, 2).map((gpu) => order[gpu]))).toEqual(new Set([0, 1]));
      const taccl = usualOrder(TACCL_NDV2, hidden, switches, 0) as number[];
      expect([0, 1]).toContain(order[taccl[0] as number]);
    }
  });

  it("are none where a link is missing", () => {
    const links = wanted(CUBE_MESH);
    links[3] = 1;
    expect(usualOrder(CUBE_MESH, links, [], -1)).toBeNull();
    expect(usualOrder(CUBE_MESH, new Int32Array(16), [], -1)).toBeNull();
  });
});
