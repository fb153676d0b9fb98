import { describe, expect, test } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import type { SlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import { translatedRows } from "../../../src/model/symmetry/translation.ts";
import { names } from "../../../src/verify/describe.ts";
import { arrivals } from "../../../src/verify/slots/causality.ts";
import { logFrame } from "../../../src/verify/slots/log.ts";
import { checkSymmetry, verifySlots } from "../../../src/verify/slots/slot-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { recorder } from "../../../src/verify/violation.ts";
import { everyone } from "../../support/everyone.ts";
import { runs, triesAll } from "../../support/runs.ts";
import {
  built,
  copyOf,
  goal,
  grid,
  into,
  logOf,
  networkOf,
  type PlainArrival,
  type PlainSlots,
  SLOT_PS,
} from "../../support/slot-cases.ts";
import { expansionOf } from "../../support/slot-oracle.ts";
import { PASSES, ROOTLESS, type RootlessKind } from "../../support/slot-passes.ts";
import { moved, symmetricSlots } from "../../support/symmetric-slots.ts";

const GROUPS: readonly (readonly number[])[] = [[2], [5], [7], [2, 3], [3, 3], [4, 2], [2, 2, 2]];

const CASES: PlainSlots[] = Array.from({ length: 150 }, (_, seed) => {
  const draws = random(seed, 33);
  const sizes = GROUPS[draws.below(GROUPS.length)] as readonly number[];
  const n = sizes.reduce((product, size) => product * size, 1);
  const offsets = Array.from({ length: 1 + draws.below(4) }, () => 1 + draws.below(n - 1));
  const kind = ROOTLESS[seed % ROOTLESS.length] as RootlessKind;
  return symmetricSlots(sizes, offsets, kind, 1 + draws.below(2), draws);
}).filter((plain) => plain !== null);

/** Returns whether the log of NPU 0 alone says that the schedule is right. */
function compactVerdict(schedule: SlotSchedule): boolean {
  const frame = logFrame(schedule);
  return checkSymmetry(
    frame,
    schedule.symmetry as readonly number[],
    arrivals(frame, 1 << 20),
    recorder(0),
    names(schedule),
  );
}

/** Changes an arrival of NPU 0. */
function changed(list: readonly PlainArrival[], plain: PlainSlots, draws: Random): PlainArrival[] {
  const copy = list.map((arrival) => ({ ...arrival }));
  const one = copy[draws.below(copy.length)] as PlainArrival;
  const other = copy[draws.below(copy.length)] as PlainArrival;
  const change = draws.below(6);
  if (change === 0) one.slot = draws.below(one.slot + 1);
  else if (change === 1) one.slot += draws.below(2);
  else if (change === 2) one.port = draws.below(into(plain.routes, 0).length);
  else if (change === 3) [one.chunk, other.chunk] = [other.chunk, one.chunk];
  else if (change === 4) one.chunk = draws.below(plain.origin.length);
  else copy.splice(copy.indexOf(one), 1);
  return copy;
}

/** Returns the schedule of a ring both ways whose rows are made from that of NPU 0 when they are asked for. */
function largeRing(n: number, change: (list: PlainArrival[], plain: PlainSlots) => PlainArrival[]): SlotSchedule {
  const topology = grid([n], true);
  const routes = routesOf(topology, 1);
  const [collective] = goal("allreduce", n, 1, 0);
  const list: PlainArrival[] = [];
  for (const [port, route] of into(routes, 0).entries()) {
    const next = routes.source[route] === 1;
    for (let slot = 0; slot < (next ? (n - 1) >> 1 : n >> 1); slot++) {
      list.push({ chunk: next ? slot + 1 : n - 1 - slot, port, slot });
    }
  }
  const frame = { topology, collective, routes, slotPs: SLOT_PS, slots: n >> 1, passes: PASSES.allreduce };
  const plain: PlainSlots = { ...frame, origin: [...everyone(n)], symmetry: [n], held: [[0]], arrivals: [] };
  const { chunk, ports } = logOf({ ...plain, arrivals: [change(list, plain)] }, 0);
  const first = { chunk: Int32Array.from(chunk), ports: Uint8Array.from(ports) };
  const rows = { topology, routes, sizes: [n], chunksPerNpu: 1, row: first };
  return { kind: "slots", ...frame, origin: everyone(n), symmetry: [n], row: translatedRows(rows) };
}

describe("the log of one NPU and its translations", () => {
  test(`are right for ${CASES.length} schedules of rings, tori, cubes and circulants with parallel links`, () => {
    expect(CASES.length).toBeGreaterThan(80);
    for (const plain of CASES) {
      const schedule = built(plain);
      expect(compactVerdict(schedule)).toBe(true);
      expect(verifySlots(schedule).violations).toEqual([]);
      const { faults, steps } = expansionOf(schedule);
      expect(faults).toEqual([]);
      expect(steps !== null && verifySchedule(steps).violations).toEqual([]);
    }
  });

  test("are judged as the expansion is, on 1,200 mutants of NPU 0 and their translations", () => {
    const seen = { right: 0, form: 0, content: 0 };
    for (let m = 0; m < 1200; m++) {
      const draws = random(m, 34);
      const original = CASES[m % CASES.length] as PlainSlots;
      const plain = { ...original, arrivals: moved(original, changed(original.arrivals[0], original, draws)) };
      const schedule = built(plain);
      const { faults, steps } = expansionOf(schedule);
      const right = faults.length === 0 && steps !== null && verifySchedule(steps).violationCount === 0;
      seen[right ? "right" : faults.length > 0 ? "form" : "content"]++;
      expect(compactVerdict(schedule), `mutant ${m}`).toBe(right);
      expect(verifySlots(schedule).violationCount === 0, `mutant ${m}`).toBe(right);
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
  });

  test("are refused where the log of another NPU differs, however right it is", () => {
    // in the second of two slots NPU 2 of four swaps what comes from its two neighbours
    const plain = symmetricSlots([4], [1, 3], "allgather", 1, random(1)) as PlainSlots;
    const other = copyOf(plain);
    const both = other.arrivals[2].filter(({ slot }) => slot === 0);
    expect(both.length).toBe(2);
    for (const arrival of other.arrivals[2].filter(({ slot }) => slot === 1)) arrival.port = 1 - arrival.port;
    expect(verifySlots({ ...built(other), symmetry: null }).violations).toEqual([]);
    expect(verifySlots(built(other)).violations).toEqual([
      { kind: "malformed", npu: 2, message: "the log of a2 is not that of a0 moved as the symmetry says" },
    ]);
  });

  const plain = symmetricSlots([2, 3], [1, 2, 4], "allgather", 2, random(2)) as PlainSlots;
  const cut = networkOf(6, [...Array.from({ length: 6 }, (_, v) => [v, (v + 1) % 6] as const), [0, 3]]);
  const cutOff = symmetricSlots([6], [1], "allgather", 1, random(3)) as PlainSlots;
  test.each([
    [{ ...plain, symmetry: [2, 2] }, "translations of 2 x 2 NPUs are not those of a network of 6"],
    [{ ...plain, symmetry: [-2, -3] }, "translations of -2 x -3 NPUs are not those of a network of 6"],
    [{ ...plain, symmetry: [0.5, 12] }, "translations of 0.5 x 12 NPUs are not those of a network of 6"],
    [{ ...plain, symmetry: [6] }, "the routes into a1 are not those into a0 moved by a translation"],
    [
      { ...cutOff, topology: cut, routes: routesOf(cut, 1), symmetry: [6] },
      "the routes into a3 are not those into a0 moved by a translation",
    ],
  ] as const)("need a group under which routes are invariant (%#)", (broken, message) => {
    const { violations } = verifySlots(built(broken as PlainSlots));
    expect(violations[0]).toMatchObject({ kind: "malformed", message });
  });

  test("need chunks numbered by their origins", () => {
    const schedule = built(plain);
    const swapped = Int32Array.from(schedule.origin);
    [swapped[0], swapped[2]] = [1, 0];
    const pre = { kind: "one" as const, npu: swapped };
    const { violations } = verifySlots({
      ...schedule,
      origin: swapped,
      collective: { ...schedule.collective, kind: "custom", pre },
    });
    expect(violations.map((v) => v.message)).toEqual([
      "chunks are not numbered by their origins, the same number for each, as translations need it",
    ]);
  });

  test("are judged in more than 2 million arrivals without a look at all rows", () => {
    const schedule = largeRing(1500, (list) => list);
    let asked = 0;
    const row = (npu: number) => {
      asked++;
      return schedule.row(npu);
    };
    expect(verifySlots({ ...schedule, row }).violations).toEqual([]);
    expect(asked).toBeLessThan(50);
    expect(verifySlots({ ...schedule, symmetry: null }).violations).toEqual([]);
  });

  test("and there too get the verdict of all rows", () => {
    const seen = [0, 0];
    for (let m = 0; m < runs(24); m++) {
      const schedule = largeRing(1500, (list, own) => changed(list, own, random(m, 35)));
      const right = verifySlots({ ...schedule, symmetry: null }, { limit: 0 }).violationCount === 0;
      expect(verifySlots(schedule).violationCount === 0, `mutant ${m}`).toBe(right);
      seen[right ? 1 : 0]++;
    }
    expect(seen[0]).toBeGreaterThan(triesAll ? 10 : 0);
  });

  test("and there a slow link anywhere is noticed", () => {
    const schedule = largeRing(1500, (list) => list);
    const linkBytesPerSecond = schedule.topology.linkBytesPerSecond.slice();
    linkBytesPerSecond[1234] = 1e6;
    const { violations } = verifySlots({ ...schedule, topology: { ...schedule.topology, linkBytesPerSecond } });
    expect(violations.map(({ kind, link }) => [kind, link])).toEqual([["too-fast", 1234]]);
  });

  test("and there rows that are moved wrongly throughout are noticed", () => {
    const schedule = largeRing(1500, (list) => list);
    const wrong = { ...schedule, row: (npu: number) => schedule.row(npu < 2 ? npu : npu - 1) };
    expect(verifySlots(wrong).violations[0]).toMatchObject({ kind: "malformed" });
  });
});
