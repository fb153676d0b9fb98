import { describe, expect, it } from "vitest";
import { scheduleJsonParts, scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { readSchedule } from "../../../src/import/schedules/schedule-json.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import { expectSameTransfers, longRingSchedule, ringSchedule } from "../../support/ring-schedule.ts";
import { triesAll } from "../../support/runs.ts";

describe("scheduleToJson", () => {
  it("writes a small schedule so that people can read it", () => {
    const schedule = ringSchedule();
    const link = (from: string, to: string): string =>
      `{ "from": "${from}", "to": "${to}", "bandwidthGBps": 1, "latencyUs": 0 }`;
    expect(scheduleToJson(schedule, { algorithm: "ring" })).toBe(`{
  "format": "banyan-schedule",
  "version": 1,
  "about": {
    "algorithm": "ring"
  },
  "topology": {
    "format": "banyan-topology",
    "version": 1,
    "name": "ring3",
    "hash": "${topologyHash(schedule.topology)}",
    "nodes": [
      { "id": "a", "kind": "npu" },
      { "id": "b", "kind": "npu" },
      { "id": "c", "kind": "npu" }
    ],
    "links": [
      ${link("a", "b")},
      ${link("b", "c")},
      ${link("c", "a")}
    ]
  },
  "collective": {
    "kind": "allgather",
    "groups": [[0,1,2]],
    "rootRank": 0,
    "sizeBytes": 3000000,
    "chunksPerNpu": 1
  },
  "chunks": [
    { "id": 0, "bytes": 1000000, "origin": 0 },
    { "id": 1, "bytes": 1000000, "origin": 1 },
    { "id": 2, "bytes": 1000000, "origin": 2 }
  ],
  "routes": [
    { "id": 0, "links": ["a>b"], "share": "1" },
    { "id": 1, "links": ["b>c"], "share": "1" },
    { "id": 2, "links": ["c>a"], "share": "1" }
  ],
  "transfers": {
    "count": 6,
    "chunk": [0,1,2,2,0,1],
    "route": [0,1,2,0,1,2],
    "startPs": [0,0,0,1000000000,1000000000,1000000000],
    "endPs": [1000000000,1000000000,1000000000,2000000000,2000000000,2000000000],
    "op": [0,0,0,0,0,0]
  }
}
`);
  });

  it("counts more than 10,000 chunks instead of listing them", () => {
    const base = ringSchedule();
    const groups = [Int32Array.of(0, 1, 2)];
    const many = {
      ...base,
      chunk: Uint16Array.from(base.chunk),
      collective: collective({ kind: "allgather", groups, sizeBytes: 100_000, chunksPerNpu: 4000, rootRank: 0 }),
    };
    const text = scheduleToJson(many);
    expect(text).toContain('"chunks": { "count": 12000, "bytes": "25/3" }');
    expect(readSchedule(text, "s.json")).toEqual(many);
  });

  it("yields many transfers in parts of about a megabyte", () => {
    const long = longRingSchedule(triesAll ? 1_000_000 : 200_000);
    const parts = [...scheduleJsonParts(long)];
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(1.2e6);
    expectSameTransfers(readSchedule(parts.join(""), "s.json"), long);
  });
});
