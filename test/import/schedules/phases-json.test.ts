import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { phasesToJson } from "../../../src/export/schedules/phases-json.ts";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { isPhasesJson, readPhases } from "../../../src/import/schedules/phases-json.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import type { PhaseSchedule } from "../../../src/model/phases/phase-schedule.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import { verifyPhases } from "../../../src/verify/phases/phases.ts";
import { anyTextChange, changedText } from "../../support/changed-text.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "../../support/phase-cases.ts";
import { builtPhases, plannedPhases } from "../../support/phase-schedules.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { isRefused } from "../support.ts";

const KINDS = ["allreduce", "reducescatter", "allgather"] as const;

function phasesOn(name: string, kind: (typeof KINDS)[number] = "allreduce"): PhaseSchedule {
  const network = PHASE_NETWORKS[name] as PhaseNetwork;
  const order = network.dimensions.map((_, d) => d);
  return builtPhases(plannedPhases({ ...network, kind, sizeBytes: 2401, orders: [order, order.toReversed()] }));
}

// biome-ignore lint/suspicious/noExplicitAny: the tests break it in every way
const fileOf = (schedule: PhaseSchedule): any => JSON.parse(phasesToJson(schedule));
/** Returns a change that puts a value (nothing: removes it) at a path such as `dimensions[0].kind`. */
const put =
  (path: string, value: unknown) =>
  (file: unknown): void => {
    const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
    const last = keys.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: any path
    const holder = keys.reduce((at: any, key) => at[key], file);
    holder[last] = value;
  };

describe("files of phases", () => {
  it("are read back as they were written", () => {
    for (const name of Object.keys(PHASE_NETWORKS)) {
      for (const kind of KINDS) {
        const schedule = phasesOn(name, kind);
        const text = phasesToJson(schedule, { note: "phases" });
        for (const read of [readPhases(text, "p.json"), readAnySchedule(text, "p.json")]) {
          expect(phasesToJson(read as PhaseSchedule, { note: "phases" })).toBe(text);
          for (const key of ["dimensions", "algorithms", "chunk", "dimension", "op", "startPs", "endPs"] as const)
            expect((read as PhaseSchedule)[key]).toEqual(schedule[key]);
          expect(verifyPhases(read as PhaseSchedule).violations).toEqual([]);
        }
      }
    }
  });

  it("can be read by people", () => {
    const text = phasesToJson(phasesOn("box"));
    expect(text.slice(text.indexOf('  "collective"'))).toBe(`  "collective": {
    "kind": "allreduce",
    "groups": [[0,1,2,3]],
    "rootRank": 0,
    "sizeBytes": 2401,
    "chunksPerNpu": 2
  },
  "chunks": { "count": 8, "bytes": "2401/8" },
  "dimensions": [
    {"kind":"fc","size":4,"bytesPerSecond":150000000000,"stepPs":500000,"inNetwork":false,"algorithm":"direct"}
  ],
  "phases": {
    "count": 4,
    "chunk": [0,0,1,1],
    "dimension": [0,0,0,0],
    "op": [0,1,0,1],
    "startPs": [0,506003,512006,1018009],
    "endPs": [506003,1012006,1018009,1524012]
  }
}
`);
  });

  it("are told from others, and tell their network", () => {
    const schedule = phasesOn("rails");
    expect(isPhasesJson(fileOf(schedule))).toBe(true);
    expect(isPhasesJson(JSON.parse(scheduleToJson(ringSchedule())))).toBe(false);
    for (const value of [null, 1, "phases", []]) expect(isPhasesJson(value)).toBe(false);
    expect(topologyHash(readTopology(phasesToJson(schedule), "p.json"))).toBe(topologyHash(schedule.topology));
  });

  it("are for their network only", () => {
    const schedule = phasesOn("torus");
    const text = phasesToJson(schedule);
    const { topology } = schedule;
    expect(readPhases(text, "p.json", { topology }).chunk).toEqual(schedule.chunk);
    const other = presetTopology("torus:3x4");
    expect(refusalFrom(() => readPhases(text, "p.json", { topology: other }))).toEqual(
      unexpected("p.json", `one for another topology, torus:4x3 (hash ${topologyHash(topology)})`, topologyHash(other)),
    );
  });

  it.each<[string, unknown, Refusal]>([
    ["version", 2, unexpected("p.json: version", 2)],
    ["format", "banyan-stages", unexpected("p.json: format", "banyan-stages")],
    ["topology.hash", "0", unexpected("p.json: topology.hash", "0", topologyHash(phasesOn("torus").topology))],
    ["collective.kind", "allsum", unexpected("p.json: collective.kind", "allsum")],
    ["chunks.count", 25, unexpected("p.json: chunks", 25, 24)],
    ["chunks.bytes", "2401", unexpected("p.json: chunks.bytes", "2401", 2401, 24)],
    ["dimensions", [], unexpected("p.json: dimensions", 0, 52)],
    ["dimensions", {}, unexpected("p.json: dimensions", {})],
    ["dimensions[1]", 7, unexpected("p.json: dimensions[1]", 7)],
    ["dimensions[0].kind", "star", unexpected("p.json: dimensions[0].kind", "star")],
    ["dimensions[0].size", 1, unexpected("p.json: dimensions[0].size", 1, 2)],
    ["dimensions[0].bytesPerSecond", 0.5, unexpected("p.json: dimensions[0].bytesPerSecond", 0.5)],
    ["dimensions[0].stepPs", -1, unexpected("p.json: dimensions[0].stepPs", -1)],
    ["dimensions[0].inNetwork", 1, unexpected("p.json: dimensions[0].inNetwork", 1)],
    ["dimensions[1].algorithm", undefined, missing("p.json: dimensions[1].algorithm")],
    ["phases", undefined, missing("p.json: phases")],
    ["phases.count", 7, unexpected("p.json: phases.count", 7, 8)],
    ["phases.op", [0], unexpected("p.json: phases.op", 1, 8)],
    ["phases.chunk", [0], outOfRange("p.json: phases.chunk", 1, 2)],
    ["phases.chunk[3]", 2, unexpected("p.json: phases.chunk[3]", 2)],
    ["phases.dimension[3]", 2, unexpected("p.json: phases.dimension[3]", 2)],
    ["phases.op[0]", 2, unexpected("p.json: phases.op[0]", 2)],
    ["phases.startPs[0]", 1.5, unexpected("p.json: phases.startPs[0]", 1.5)],
    ["phases.endPs[7]", 3, unexpected("p.json: phases.endPs[7]", 3)],
    ["phases.startPs[7]", 0, unexpected("p.json: phases.startPs[7]", 0)],
  ])("with a wrong %s are refused with the place", (path, value, sentence) => {
    const file = fileOf(phasesOn("torus"));
    put(path, value)(file);
    const read = () => readPhases(JSON.stringify(file), "p.json");
    expect(refusalFrom(read)).toEqual(sentence);
  });

  it("with any damage are read and judged, or refused in a sentence", () => {
    const texts = Object.keys(PHASE_NETWORKS).map((name) => phasesToJson(phasesOn(name)));
    const count = { refused: 0, wrong: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...texts), anyTextChange(fc.nat(3).map(String)), fc.nat(2), (text, change, way) => {
        const after = way === 0 ? null : way === 1 ? 0 : text.indexOf('"dimensions"');
        let violations = 0;
        const isBad = isRefused(() => {
          violations = verifyPhases(readPhases(changedText(text, change, after), "p.json")).violationCount;
        });
        if (isBad) count.refused++;
        else if (violations > 0) count.wrong++;
      }),
      { numRuns: runs(1500), seed: 3 },
    );
    expect(count.refused).toBeGreaterThan(seen(800));
    expect(count.wrong).toBeGreaterThan(seen(50));
  });
});
