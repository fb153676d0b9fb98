import { afterAll, describe, expect, it } from "vitest";
import { CancelledError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { bestForAllToAll, rowFlow, search } from "../../../src/run/search/search.ts";
import { sweep } from "../../../src/run/search/search-sweep.ts";
import type { Candidate } from "../../../src/synthesize/finder/candidates.ts";
import { missing, outOfRange, refused } from "../../support/refusals.ts";

const engine = await openEngine({ threads: 1 });
afterAll(() => engine.close());

describe("search", () => {
  it("assumes the figures of table 3.4 where it is told nothing", async () => {
    const report = await search(engine, { nodes: 64, degree: 4 });
    expect(report).toMatchObject({ alphaUs: 10, bytesPerSecond: 12.5e9, collective: "allreduce" });
    expect(report.sizes).toEqual([{ sizeBytes: 2 ** 20, weight: 1 }]);
    expect(report.rows.map(({ alltoall, verdict }) => [alltoall, verdict])).toEqual(
      report.rows.map(() => [null, null]),
    );
  });

  it("names a network of fewer ports where that is better, so that more ports never give less", async () => {
    for (const [nodes, bidirectional] of [
      [12, false],
      [12, true],
      [27, false],
    ] as const) {
      for (const collective of ["allreduce", "allgather"] as const) {
        let before = Number.POSITIVE_INFINITY;
        for (let degree = 2; degree <= 6; degree++) {
          const report = await search(engine, { nodes, degree, bidirectional, collective });
          const { rows, best, fewerPorts } = report;
          const own = rows[best]?.[collective === "allreduce" ? "allreduceUs" : "allgatherUs"] ?? Number.NaN;
          if (fewerPorts !== undefined) expect(fewerPorts.us).toBeLessThan(own);
          const offered = fewerPorts?.us ?? own;
          expect([nodes, degree, offered <= before * (1 + 1e-9)]).toEqual([nodes, degree, true]);
          before = offered;
        }
      }
    }
    const { fewerPorts } = await search(engine, { nodes: 27, degree: 4 });
    expect(fewerPorts).toMatchObject({ degree: 3, topology: "L(DC(9,{1,3,4}))" });
    expect(await search(engine, { nodes: 27, degree: 3 })).not.toHaveProperty("fewerPorts");
  });

  it.each([
    [{ sizes: [] }, missing("sizeBytes")],
    [{ sizes: [{ sizeBytes: 0.5, weight: 1 }] }, outOfRange("--size, in bytes", 0.5)],
    [{ sizes: [{ sizeBytes: 1, weight: 0 }] }, outOfRange("a weight of --size", 0)],
    [{ alphaPs: -1 }, outOfRange("--alpha, in picoseconds", -1)],
    [{ bytesPerSecond: Number.NaN }, outOfRange("--bandwidth, in bytes per second", NaN)],
    [{ collective: "alltoal" as "alltoall" }, refused("unknown-name", "collective", "alltoal")],
    [{ degree: 0 }, outOfRange("degree", 0, 128)],
  ])("refuses %j", async (wrong, place) => {
    await expect(search(engine, { nodes: 8, degree: 2, ...wrong })).rejects.toThrow(place);
  });

  it("finds for an all-to-all what other rows do not reach, within proved bounds", async () => {
    const { rows, best, bound } = await search(engine, { nodes: 64, degree: 4, collective: "alltoall" });
    const rates = rows.map(({ alltoall }) => alltoall?.rateValue ?? 0);
    expect(rates[best]).toBe(Math.max(...rates));
    expect(rows.filter(({ efficient }) => !efficient).length).toBeLessThanOrEqual(1);
    expect(rows.map(({ steps }) => steps)).toEqual(rows.map(({ steps }) => steps).sort((a, b) => a - b));
    for (const { alltoall } of rows) {
      if (alltoall === null) throw new Error("a row without its flow");
      expect(alltoall.rateValue).toBeLessThanOrEqual(alltoall.boundValue);
      expect(alltoall.boundValue).toBeLessThanOrEqual(1.01 * alltoall.rateValue);
      expect(alltoall.rateValue).toBeLessThanOrEqual(bound.alltoallRateValue);
    }
    // L(DBJMod(4,2)) of table A.1: 2.21e-2
    expect(rates[best]).toBeGreaterThan(2.3e-2);
  });
});

describe("a sweep", () => {
  it("finds at every size what a search for it finds, several at once, in order", async () => {
    const rows: string[] = [];
    for await (const { nodes, degree, topology, steps, bandwidth } of sweep(engine, [4, 3], 30, false))
      rows.push([nodes, degree, topology, steps, bandwidth].join(" "));
    const expected: string[] = [];
    for (const degree of [4, 3]) {
      for (let nodes = 2; nodes <= 30; nodes++) {
        for (const { topology, steps, bandwidth } of (await search(engine, { nodes, degree })).rows)
          expected.push([nodes, degree, topology, steps, bandwidth].join(" "));
      }
    }
    expect(rows).toEqual(expected);
  });

  it("ends where it is cancelled", async () => {
    const controller = new AbortController();
    const first = sweep(engine, [4], 2000, false, { signal: controller.signal });
    await first.next();
    controller.abort();
    await expect(
      (async () => {
        for await (const { nodes } of first) expect(nodes).toBeLessThan(2000);
      })(),
    ).rejects.toThrow(CancelledError);
  });
});

describe("the best network for an all-to-all", () => {
  const candidate = (text: string, nodes: number, degree: number) =>
    ({ construction: parseConstruction(text), nodes, degree, expansions: 0, diameter: 0 }) as unknown as Candidate;
  const candidates = ["C(16,{3,4})", "DBJMod(4,2)", "Cayley(8,2,7,{1,6,8,11})"].map((text) => candidate(text, 16, 4));

  it("is the one with the greatest rate", async () => {
    const rates = await Promise.all(candidates.map(({ construction }) => rowFlow(engine, construction, undefined)));
    const best = await bestForAllToAll(engine, candidates, 0, undefined, () => undefined);
    expect(best?.flow.rateValue).toBe(Math.max(...rates.map(({ rateValue }) => rateValue)));
  });

  it("is none where a bound says that all are worse", async () => {
    const asked: string[] = [];
    expect(await bestForAllToAll(engine, candidates, 0.16, undefined, (what) => asked.push(what))).toBeNull();
    expect(asked).toEqual([]);
  });
});
