import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import type { PhaseSchedule } from "../../../src/model/phases/phase-schedule.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { verifyPhases } from "../../../src/verify/phases/phases.ts";
import { shuffle } from "../../support/draws.ts";
import { everyone } from "../../support/everyone.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "../../support/phase-cases.ts";
import { phasesWork } from "../../support/phase-oracle.ts";
import { builtPhases, type PhaseRow, type PlainPhases, plannedPhases } from "../../support/phase-schedules.ts";
import { runs, seen } from "../../support/runs.ts";

const KINDS = ["allreduce", "reducescatter", "allgather"] as const;
const NAMES = Object.keys(PHASE_NETWORKS);
const networkNamed = (name: string): PhaseNetwork => PHASE_NETWORKS[name] as PhaseNetwork;

/** Phases of some chunks, each in a drawn order. */
function drawn(name: string, kind: (typeof KINDS)[number], seed: number): PlainPhases {
  const draws = random(seed);
  const { dimensions } = networkNamed(name);
  const orders = Array.from({ length: 1 + draws.below(4) }, () => {
    const order = dimensions.map((_, d) => d);
    shuffle(order, draws);
    return order;
  });
  return plannedPhases({ ...networkNamed(name), kind, sizeBytes: 1 + draws.below(1e6), orders });
}

const wordsOf = (schedule: PhaseSchedule): string[] => verifyPhases(schedule).violations.map(({ message }) => message);
const kindsOf = (schedule: PhaseSchedule): string[] => [
  ...new Set(verifyPhases(schedule).violations.map(({ kind }) => kind)),
];
const torus = (): PlainPhases =>
  plannedPhases({
    ...networkNamed("torus"),
    kind: "allreduce",
    sizeBytes: 2400,
    orders: [
      [0, 1],
      [1, 0],
    ],
  });

/** Changes one row, or leaves it out, or writes it twice. */
function mutant(schedule: PlainPhases, seed: number): PlainPhases {
  const draws = random(seed);
  const rows = schedule.rows.map((row) => ({ ...row }));
  const at = draws.below(rows.length);
  const row = rows[at] as PhaseRow;
  const shift = [-1, 1, -1000, 1000][draws.below(4)] as number;
  const changes: readonly (() => unknown)[] = [
    () => rows.splice(at, 1),
    () => rows.push({ ...row, startPs: row.endPs, endPs: 2 * row.endPs - row.startPs }),
    () => Object.assign(row, { op: 1 - row.op }),
    () => Object.assign(row, { dimension: draws.below(schedule.dimensions.length) }),
    () => Object.assign(row, { chunk: draws.below(schedule.collective.chunksPerNpu) }),
    () => Object.assign(row, { startPs: Math.max(0, row.startPs + shift) }),
    () => Object.assign(row, { endPs: Math.max(row.startPs, row.endPs + shift) }),
    () => {
      const other = rows[draws.below(rows.length)] as PhaseRow;
      [row.chunk, other.chunk] = [other.chunk, row.chunk];
    },
    () => {
      for (const one of rows) {
        one.startPs += 7;
        one.endPs += 7;
      }
    },
  ];
  changes[draws.below(changes.length)]?.();
  return { ...schedule, rows: rows.filter(({ startPs, endPs }) => endPs >= startPs) };
}

describe("the judge of phases", () => {
  it.each(NAMES)("accepts phases in any order of dimensions: %s", (name) => {
    for (const kind of KINDS) {
      for (let seed = 1; seed <= 20; seed++) {
        const schedule = drawn(name, kind, seed);
        expect(phasesWork(schedule)).toBe(true);
        expect(wordsOf(builtPhases(schedule))).toEqual([]);
      }
    }
  });

  it("agrees with phases carried out on every NPU", () => {
    let wrong = 0;
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), fc.constantFrom(...KINDS), fc.nat(1e6), (name, kind, seed) => {
        const schedule = mutant(drawn(name, kind, seed), seed);
        const right = phasesWork(schedule);
        if (!right) wrong++;
        const { violationCount } = verifyPhases(builtPhases(schedule));
        expect(violationCount === 0).toBe(right);
      }),
      { numRuns: runs(600), seed: 7 },
    );
    expect(wrong).toBeGreaterThan(seen(300));
    expect(wrong).toBeLessThan(590);
  });

  it("says which phase of which chunk is wrong", () => {
    const schedule = torus();
    const [first, ...rest] = schedule.rows as [PhaseRow, ...PhaseRow[]];
    const early = { ...first, endPs: first.endPs - 1 };
    expect(wordsOf(builtPhases({ ...schedule, rows: [early, ...rest] }))).toEqual([
      "the reduce-scatter of chunk 0 in dimension 0 (phase 0) takes 1.508999 us, less than the 1.509 us it needs",
    ]);
    expect(wordsOf(builtPhases({ ...schedule, rows: rest }))).toContain("chunk 0 has no reduce-scatter in dimension 0");
    const twice = rest.map((row) => (row.dimension === 1 && row.op === 0 ? { ...row, startPs: 0 } : row));
    expect(kindsOf(builtPhases({ ...schedule, rows: [first, ...twice] }))).toContain("dimension-conflict");
  });

  it("holds the phases against the collective", () => {
    const made = collective({
      kind: "reducescatter",
      groups: [everyone(12)],
      sizeBytes: 2400,
      chunksPerNpu: 2,
      rootRank: 0,
    });
    const words = wordsOf({ ...builtPhases(torus()), collective: made });
    expect(words).toHaveLength(4);
    expect(words[0]).toMatch(/^the all-gather of chunk . in dimension . \(phase \d\) has no place in reducescatter$/);
  });
});

describe("dimensions that are not in the network", () => {
  const stated = (name: string, change: (network: PhaseNetwork) => Partial<PhaseNetwork>): string[] => {
    const own = networkNamed(name);
    const network = { ...own, ...change(own) };
    const orders = [network.dimensions.map((_, d) => d)];
    const schedule = builtPhases(plannedPhases({ ...network, kind: "allreduce", sizeBytes: 1 << 20, orders }));
    const { violations } = verifyPhases(schedule);
    expect(violations.every(({ kind }) => kind === "no-product")).toBe(true);
    return violations.map(({ message }) => message);
  };
  const faster = ({ dimensions }: PhaseNetwork, d: number) => ({
    dimensions: dimensions.map((own, i) => (i === d ? { ...own, bytesPerSecond: own.bytesPerSecond + 2 } : own)),
  });
  const quicker = ({ dimensions }: PhaseNetwork, d: number) => ({
    dimensions: dimensions.map((own, i) => (i === d ? { ...own, stepPs: own.stepPs - 1 } : own)),
  });

  it.each(NAMES)("refuses more bandwidth or less latency than there is: %s", (name) => {
    for (let d = 0; d < networkNamed(name).dimensions.length; d++) {
      expect(stated(name, (own) => faster(own, d)).length).toBeGreaterThan(0);
      expect(stated(name, (own) => quicker(own, d)).length).toBeGreaterThan(0);
      const slower = ({ dimensions }: PhaseNetwork) => ({
        dimensions: dimensions.map((own) => ({
          ...own,
          bytesPerSecond: own.bytesPerSecond - 1,
          stepPs: own.stepPs + 1,
        })),
      });
      expect(stated(name, slower)).toEqual([]);
    }
  });

  it("names the link that is too narrow", () => {
    const { topology } = networkNamed("torus");
    const linkBytesPerSecond = topology.linkBytesPerSecond.slice();
    linkBytesPerSecond[0] = 49e9;
    expect(stated("torus", () => ({ topology: { ...topology, linkBytesPerSecond } }))).toEqual([
      "dimension 0 (ring:4) needs 50000000000 bytes/s from NPU 0 to 1, where the network has 49000000000 bytes/s within 500000 ps",
    ]);
  });

  it("refuses lines of another network", () => {
    const other = (preset: string) => () => ({ topology: presetTopology(preset) });
    expect(stated("torus", other("torus:3x4")).length).toBeGreaterThan(0);
    expect(stated("torus", other("mesh:4x3")).length).toBeGreaterThan(0);
    expect(stated("mesh", other("torus:2x3"))).toEqual([]);
    expect(stated("one switch for all", other("dgx-h100:2"))).toEqual([]);
    expect(stated("rails", other("dgx-a100:3")).length).toBeGreaterThan(0);
  });

  it("counts the links of a fully connected dimension before it looks at each", () => {
    const dimension = { kind: "fc", size: 100_000, bytesPerSecond: 1e12, stepPs: 500_000, inNetwork: false } as const;
    const lines = { topology: presetTopology("ring:100000"), dimensions: [dimension], algorithms: ["direct"] as const };
    expect(stated("box", () => lines)).toEqual([
      "dimension 0 (fc:100000) needs 9999900000 links, where the network has 200000",
    ]);
  });

  it("lets only switches that sum and duplicate do so", () => {
    const { topology } = networkNamed("rails");
    const nodeTraits = topology.nodeTraits.map((traits, v) => (v === 25 ? { ...traits, aggregation: false } : traits));
    expect(stated("rails", () => ({ topology: { ...topology, nodeTraits } }))).toEqual([
      "dimension 0 (switch:8) needs 450000000000 bytes/s through switches that sum and duplicate for the line of NPU 8, where the network has 0 bytes/s within 1000000 ps",
    ]);
  });
});

describe("what is no schedule of phases", () => {
  const faults: Readonly<Record<string, (schedule: PhaseSchedule) => PhaseSchedule>> = {
    "another collective": (schedule) => ({
      ...schedule,
      collective: collective({
        kind: "alltoall",
        groups: [everyone(12)],
        sizeBytes: 2400,
        chunksPerNpu: 2,
        rootRank: 0,
      }),
    }),
    "groups that share an NPU": (schedule) => ({
      ...schedule,
      collective: collective({
        kind: "allreduce",
        groups: [everyone(12), everyone(12)],
        sizeBytes: 2400,
        chunksPerNpu: 2,
        rootRank: 0,
      }),
    }),
    "placements of another collective": (schedule) => ({
      ...schedule,
      collective: { ...schedule.collective, pre: { kind: "one", npu: new Int32Array(24) } },
    }),
    "chunks of another size": (schedule) => ({
      ...schedule,
      collective: { ...schedule.collective, sizeBytes: 2401 },
    }),
    "a dimension too few": (schedule) => ({ ...schedule, dimensions: schedule.dimensions.slice(1) }),
    "dimensions of fewer NPUs": (schedule) => ({
      ...schedule,
      dimensions: schedule.dimensions.map((one) => ({ ...one, size: 3 })),
    }),
    "a line of one NPU": (schedule) => ({
      ...schedule,
      dimensions: schedule.dimensions.map((one, d) => ({ ...one, size: d === 0 ? 12 : 1 })),
    }),
    "an algorithm of other lines": (schedule) => ({ ...schedule, algorithms: ["ring", "direct"] }),
    "columns of other lengths": (schedule) => ({ ...schedule, op: schedule.op.slice(1) }),
    "chunks without phases": (schedule) => ({
      ...schedule,
      chunk: schedule.chunk.slice(0, 1),
      dimension: schedule.dimension.slice(0, 1),
      op: schedule.op.slice(0, 1),
      startPs: schedule.startPs.slice(0, 1),
      endPs: schedule.endPs.slice(0, 1),
    }),
    "a chunk that is none": (schedule) => ({ ...schedule, chunk: schedule.chunk.map((c) => c + 1) }),
    "a dimension that is none": (schedule) => ({ ...schedule, dimension: schedule.dimension.map((d) => d + 1) }),
    "an op that is none": (schedule) => ({ ...schedule, op: schedule.op.map(() => 2) }),
    "times that are no numbers": (schedule) => ({ ...schedule, startPs: schedule.startPs.map(() => Number.NaN) }),
    "rows in another order": (schedule) => ({
      ...schedule,
      startPs: schedule.startPs.toReversed(),
      endPs: schedule.endPs.toReversed(),
    }),
  };

  it.each(Object.keys(faults))("refuses %s", (name) => {
    const schedule = (faults[name] as (schedule: PhaseSchedule) => PhaseSchedule)(builtPhases(torus()));
    expect(kindsOf(schedule)).toEqual(["malformed"]);
  });
});
