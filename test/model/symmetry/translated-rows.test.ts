import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { portsOf } from "../../../src/model/slots/slot-schedule.ts";
import { indexColumn } from "../../../src/model/steps/step-schedule.ts";
import { translatedRows, translatedSchedule } from "../../../src/model/symmetry/translation.ts";
import { anyCayley, type Cayley, cayleyNetwork, npusOf, sum } from "../../support/cayley.ts";
import { type Arrival, slotScheduleOf } from "../../support/slot-schedules.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const FORWARD = [{ reversed: false, reduces: false }];

/** Returns arrivals at NPU 0 that mean nothing: every foreign chunk once, over ports and slots in turn, some slots empty. */
function anyArrivals(cayley: Cayley, chunksPerNpu: number, seed: number) {
  const ports = cayley.offsets.length;
  const foreign = (npusOf(cayley) - 1) * chunksPerNpu;
  return Array.from({ length: foreign }, (_, i) => {
    const at = i + 1 + (seed % 3);
    const slot = Math.floor(at / ports);
    return { chunk: chunksPerNpu + ((i * 7 + seed) % foreign), port: at % ports, slot: slot + Math.floor(slot / 3) };
  }).filter(({ chunk }, i, all) => all.findIndex((other) => other.chunk === chunk) === i);
}

describe("translatedRows", () => {
  it("gives the logs that translated arrivals make one by one", () => {
    fc.assert(
      fc.property(anyCayley(30), fc.integer({ min: 1, max: 3 }), fc.nat(1000), (cayley, chunksPerNpu, seed) => {
        const { sizes } = cayley;
        const topology = cayleyNetwork(cayley, seed);
        const routes = routesOf(topology, 1);
        const { offset, items } = portsOf(routes, topology.npuCount);
        const mine = anyArrivals(cayley, chunksPerNpu, seed);
        fc.pre(mine.length === (npusOf(cayley) - 1) * chunksPerNpu);

        const arrivals: Arrival[] = [];
        for (let v = 0; v < topology.npuCount; v++) {
          for (const { chunk, port, slot } of mine) {
            const owner = Math.floor(chunk / chunksPerNpu);
            const source = routes.source[items[port]];
            const earlier = [...items.subarray(0, port)].filter((route) => routes.source[route] === source).length;
            const parallel = [...items.subarray(offset[v], offset[v + 1])].filter(
              (route) => routes.source[route] === sum(sizes, source, v),
            );
            arrivals.push({
              chunk: sum(sizes, owner, v) * chunksPerNpu + (chunk % chunksPerNpu),
              route: parallel[earlier],
              slot,
            });
          }
        }
        const collective = wholeCollective(topology, "allgather", 1000, chunksPerNpu);
        const origin = Int32Array.from({ length: collective.chunkCount }, (_, c) => Math.floor(c / chunksPerNpu));
        const common = { topology, collective, slotPs: 1000, passes: FORWARD };
        const expected = slotScheduleOf({ ...common, origin, arrivals });

        const rows = { topology, routes, sizes, chunksPerNpu, row: expected.row(0) };
        const time = { slotPs: 1000, slots: expected.slots, passes: FORWARD };
        const actual = translatedSchedule(rows, collective, time);
        expect([...actual.origin]).toEqual([...origin]);
        expect(actual.symmetry).toEqual(sizes);
        for (let v = 0; v < topology.npuCount; v++) expect(actual.row(v)).toEqual(expected.row(v));
      }),
    );
  });

  it("keeps rows that were handed out", () => {
    const topology = cayleyNetwork({ sizes: [300], offsets: [1, 299] });
    const chunk = indexColumn(300, 300);
    for (let c = 0; c < 300; c++) chunk[c] = c;
    const ports = new Uint8Array(299).fill(1);
    const rows = { topology, routes: routesOf(topology, 1), sizes: [300], chunksPerNpu: 1, row: { chunk, ports } };
    const row = translatedRows(rows);
    const first = row(7);
    row(8);
    expect(first.chunk).toBeInstanceOf(Uint16Array);
    expect([...first.chunk.subarray(290)]).toEqual([297, 298, 299, 0, 1, 2, 3, 4, 5, 6]);
  });

  it("throws where the routes are not invariant", () => {
    const topology = cayleyNetwork({ sizes: [4], offsets: [1] });
    const row = { chunk: Uint8Array.of(0, 1, 2, 3), ports: Uint8Array.of(1, 1, 1) };
    const rows = { topology, routes: routesOf(topology, 1), chunksPerNpu: 1, row };
    expect(() => translatedRows({ ...rows, sizes: [2, 2] })(1)).toThrow("not invariant");
  });
});
