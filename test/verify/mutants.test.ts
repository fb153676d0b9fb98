import { describe, expect, test } from "vitest";
import { random } from "../../src/base/random.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import type { Violation } from "../../src/verify/violation.ts";
import { doubling, make, ring, ringAllReduce, task } from "../support/hand-made-schedules.ts";
import { mergedSchedule } from "../support/merged-schedules.ts";
import { mutant } from "../support/mutants.ts";
import { judge, type Opinion } from "../support/schedule-oracle.ts";
import { simpleSchedule } from "../support/simple-schedules.ts";

/** Schedules made link by link, and the two shapes of all-reduce that trees do not cover. */
const SCHEDULES = [
  ...Array.from({ length: 120 }, (_, seed) => simpleSchedule(seed)),
  ...Array.from({ length: 80 }, (_, seed) => mergedSchedule(seed)),
  doubling(2),
  make(ring(4), task("allreduce", 4), ringAllReduce(4)),
];
const MUTANTS_EACH = 25;

const keysOf = (
  violations: readonly Violation[],
  kinds: readonly string[],
  key: (v: Violation) => unknown,
): Set<unknown> => new Set(violations.filter((v) => kinds.includes(v.kind)).map(key));

/** Compares everything on which verifier and oracle are to agree, not the verdict alone. */
function expectAgreement(violations: readonly Violation[], opinion: Opinion, reduces: boolean, name: string): void {
  expect(violations.length === 0, name).toBe(opinion.valid);
  expect(keysOf(violations, ["malformed"], () => 0).size > 0, name).toBe(opinion.malformed);
  expect(
    keysOf(violations, ["too-fast"], (v) => v.transfer),
    name,
  ).toEqual(opinion.tooFast);
  expect(
    keysOf(violations, ["link-conflict"], (v) => `${v.link}@${v.timePs}`),
    name,
  ).toEqual(opinion.overfull);
  expect(keysOf(violations, ["route-conflict"], () => 0).size > 0, name).toBe(opinion.doubled);
  const kinds = ["absent-chunk", "missing-chunk", "missing-contribution", "repeated-contribution"];
  const chunks = keysOf(violations, kinds, (v) => `${v.kind} ${v.chunk} ${v.npu}`);
  // In collectives that copy, the verifier names the first false departure and not what follows from it.
  if (reduces) expect(chunks, name).toEqual(opinion.chunks);
  else {
    expect(chunks.size > 0, name).toBe(opinion.chunks.size > 0);
    expect(
      [...chunks].filter((key) => !opinion.chunks.has(key as string)),
      name,
    ).toEqual([]);
  }
}

describe("verifySchedule and a brute-force oracle", () => {
  test("find nothing wrong with valid schedules", () => {
    for (const [number, schedule] of SCHEDULES.entries()) {
      expect(verifySchedule(schedule).violations, `schedule ${number}`).toEqual([]);
      expect(judge(schedule).valid, `schedule ${number}`).toBe(true);
    }
  });

  test(`agree on ${SCHEDULES.length * MUTANTS_EACH} mutants of them, which break every rule`, () => {
    const seen = new Map<string, number>();
    for (const [number, schedule] of SCHEDULES.entries()) {
      const draws = random(number, 1);
      for (let m = 0; m < MUTANTS_EACH; m++) {
        const changed = mutant(schedule, draws);
        const { violations, violationCount } = verifySchedule(changed, { limit: Number.MAX_SAFE_INTEGER });
        expect(violationCount).toBe(violations.length);
        expectAgreement(violations, judge(changed), changed.collective.reduces, `schedule ${number}, mutant ${m}`);
        const kinds = new Set(violations.map((v) => v.kind));
        for (const kind of kinds.size === 0 ? ["none"] : kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    const kinds = ["malformed", "too-fast", "link-conflict", "route-conflict", "absent-chunk", "missing-chunk"];
    for (const kind of [...kinds, "missing-contribution", "repeated-contribution", "none"]) {
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(50);
    }
  });
});
