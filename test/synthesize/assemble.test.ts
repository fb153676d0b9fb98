import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { draw } from "../../src/base/random.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { assemble, type PhaseTransfers } from "../../src/synthesize/tacos/assemble.ts";
import { assembleInPlace } from "../../src/synthesize/tacos/tacos.ts";
import { runs } from "../support/runs.ts";
import { columnsOf, wholeCollective } from "../support/synthesis.ts";

const topology = presetTopology("fc:6");
const routes = routesOf(topology, 1);
const collective = wholeCollective(topology, "allgather", 2 ** 20, 3);

/** Returns made-up transfers: `slots` different slot lengths, in order of their ends or in none. */
function phaseOf(options: {
  rows: number;
  slots: number;
  reversed: boolean;
  sorted: boolean;
  seed: number;
}): PhaseTransfers {
  const { rows, slots, reversed, sorted, seed } = options;
  const slotPs = Float64Array.from(routes.source, (_, r) => 1000 + 7 * (r % slots));
  const made = Array.from({ length: rows }, (_, i) => {
    const route = draw(seed, 1, i) % slotPs.length;
    const startPs = 500 * (draw(seed, 2, i) % Math.max(1, rows >> 2));
    return { chunk: draw(seed, 3, i) % collective.chunkCount, route, startPs };
  });
  if (sorted) made.sort((a, b) => a.startPs + slotPs[a.route] - b.startPs - slotPs[b.route]);
  return {
    chunk: Int32Array.from(made, (row) => row.chunk),
    route: Int32Array.from(made, (row) => row.route),
    startPs: Float64Array.from(made, (row) => row.startPs),
    slotPs,
    routes,
    reversed,
    reduces: reversed,
  };
}

/** Returns the rows phase by phase, each sorted by comparison. */
function sorted(phases: readonly PhaseTransfers[]) {
  let base = 0;
  const all = phases.flatMap(({ chunk, route, startPs, slotPs, reversed, reduces }) => {
    const ends = [...startPs].map((start, i) => start + slotPs[route[i]]);
    const end = Math.max(0, ...ends);
    const rows = [...startPs].map((start, i) => {
      const at = base + (reversed ? end - (ends[i] as number) : start);
      return { chunk: chunk[i], route: route[i], startPs: at, endPs: at + slotPs[route[i]], op: reduces ? 1 : 0 };
    });
    base += end;
    return rows.sort((a, b) => a.startPs - b.startPs);
  });
  const column = (name: "chunk" | "route" | "startPs" | "endPs" | "op") => all.map((row) => row[name]);
  return {
    chunk: column("chunk"),
    route: column("route"),
    startPs: column("startPs"),
    endPs: column("endPs"),
    op: column("op"),
  };
}

const phases = fc.record({
  rows: fc.integer({ min: 0, max: 60 }),
  slots: fc.integer({ min: 1, max: 12 }),
  reversed: fc.boolean(),
  sorted: fc.boolean(),
  seed: fc.nat(),
});

describe("assembling phases", () => {
  it("puts each phase's rows in order of start, equal starts as they came", () => {
    fc.assert(
      fc.property(fc.array(phases, { minLength: 1, maxLength: 2 }), (options) => {
        const made = options.map(phaseOf);
        expect(columnsOf(assemble(topology, collective, made))).toEqual(sorted(made));
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    [1, false],
    [3, false],
    [3, true],
  ])("holds for more rows than are handled at a time: %i slot lengths, reversed %s", (slots, reversed) => {
    const made = phaseOf({ rows: 140_000, slots, reversed, sorted: true, seed: 5 });
    const { startPs, chunk } = assemble(topology, collective, [made]);
    expect(startPs.every((start, i) => i === 0 || startPs[i - 1] <= start)).toBe(true);
    const total = (column: { [Symbol.iterator](): Iterator<number> }) => [...column].reduce((sum, c) => sum + c, 0);
    expect(total(chunk)).toBe(total(made.chunk));
  });
});

describe("assembling one phase over its own columns", () => {
  const copyOf = (phase: PhaseTransfers): PhaseTransfers => ({
    ...phase,
    chunk: phase.chunk.slice(),
    route: phase.route.slice(),
    startPs: phase.startPs.slice(),
  });

  it("gives the same schedule", () => {
    fc.assert(
      fc.property(phases, fc.boolean(), ({ slots, ...options }, reduces) => {
        const made = { ...phaseOf({ ...options, slots: Math.min(slots, 8), reversed: false, sorted: true }), reduces };
        const expected = columnsOf(assemble(topology, collective, [copyOf(made)]));
        const schedule = assembleInPlace(topology, collective, made);
        expect(schedule && columnsOf(schedule)).toEqual(expected);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ["one slow row behind many fast ones that start later", 3, 9000],
    ["no slow row", 0, 9000],
  ])("holds while many rows wait: %s", (_, slow, fast) => {
    const slotPs = Float64Array.from(routes.source, (_, r) => (r === 0 ? 1e6 : 1 + r));
    const rows = [
      ...Array.from({ length: fast }, (_, i) => ({ route: 1 + (i % 5), startPs: 3 * i })),
      ...Array.from({ length: slow }, (_, i) => ({ route: 0, startPs: 5 * i })),
    ].sort((a, b) => a.startPs + slotPs[a.route] - b.startPs - slotPs[b.route]);
    const made: PhaseTransfers = {
      chunk: Int32Array.from(rows, (_, i) => i % collective.chunkCount),
      route: Int32Array.from(rows, (row) => row.route),
      startPs: Float64Array.from(rows, (row) => row.startPs),
      slotPs: slotPs.map((slot, r) => (r > 5 ? 2 : slot)),
      routes,
      reversed: false,
      reduces: false,
    };
    const expected = columnsOf(assemble(topology, collective, [copyOf(made)]));
    const schedule = assembleInPlace(topology, collective, made);
    expect(schedule && columnsOf(schedule)).toEqual(expected);
  });

  it.each([
    ["runs backwards in time", { reversed: true, sorted: true, slots: 2 }],
    ["is not in order of its ends", { reversed: false, sorted: false, slots: 2 }],
    ["has too many slot lengths", { reversed: false, sorted: true, slots: 12 }],
  ])("leaves alone what %s", (_, options) => {
    const made = phaseOf({ rows: 200, seed: 7, ...options });
    const before = copyOf(made);
    expect(assembleInPlace(topology, collective, made)).toBeNull();
    expect(made).toEqual(before);
  });
});
