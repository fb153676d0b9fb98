import { describe, expect, test } from "vitest";
import type { SlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import { names } from "../../../src/verify/describe.ts";
import { arrivals } from "../../../src/verify/slots/causality.ts";
import { checkFolded } from "../../../src/verify/slots/folded.ts";
import { logFrame } from "../../../src/verify/slots/log.ts";
import { verifySlots } from "../../../src/verify/slots/slot-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { recorder } from "../../../src/verify/violation.ts";
import {
  FOLDED_NETWORKS,
  type FoldedSlots,
  foldedSlots,
  keptFolded,
  withMutation,
} from "../../support/folded-slots.ts";
import { runs, triesAll } from "../../support/runs.ts";
import { expansionOf } from "../../support/slot-oracle.ts";
import { ROOTLESS, type RootlessKind } from "../../support/slot-passes.ts";

const CASES: readonly FoldedSlots[] = FOLDED_NETWORKS.flatMap((network, i) =>
  [1, 2].map((chunks) => foldedSlots(network(), ROOTLESS[(i + chunks) % ROOTLESS.length] as RootlessKind, chunks, i)),
);

/** Returns whether the logs of the least NPUs alone say that the schedule is right. */
function foldedVerdict(schedule: SlotSchedule, generators: readonly Int32Array[], cacheBytes = 1 << 20): boolean {
  const frame = logFrame(schedule);
  return checkFolded(frame, generators, arrivals(frame, cacheBytes), recorder(0), names(schedule));
}

describe("logs that stand for their orbits", () => {
  test("are unfolded to those that the kernel writes for all NPUs", () => {
    for (const made of CASES) {
      const { row } = keptFolded(made);
      for (const [npu, log] of made.all.entries()) {
        expect([...row(npu).chunk]).toEqual([...log.chunk]);
        expect(row(npu).ports).toEqual(log.ports);
      }
      expect(made.least.length).toBeLessThan(made.all.length);
    }
  });

  test("are found right, alone and with all others", () => {
    for (const made of CASES) {
      const schedule = keptFolded(made);
      expect(foldedVerdict(schedule, made.generators)).toBe(true);
      expect(verifySlots(schedule).violations).toEqual([]);
    }
  });

  test("get the verdict of brute force when one arrival is changed, whatever fits the memory", () => {
    const seen = [0, 0];
    for (const [i, made] of CASES.entries()) {
      for (let m = 0; m < runs(60); m++) {
        const schedule = keptFolded(made, withMutation(made, 1000 * i + m));
        const { faults, steps } = expansionOf(schedule);
        const right = faults.length === 0 && steps !== null && verifySchedule(steps).violationCount === 0;
        const bytes = m % 2 === 0 ? 1 << 20 : 100;
        expect(foldedVerdict(schedule, made.generators, bytes), `mutant ${m} of case ${i}`).toBe(right);
        expect(verifySlots(schedule).violationCount === 0, `mutant ${m} of case ${i}`).toBe(right);
        seen[right ? 1 : 0]++;
      }
    }
    expect(seen[0]).toBeGreaterThan(triesAll ? 400 : 0);
    expect(seen[1]).toBeGreaterThan(triesAll ? 10 : 0);
  });

  test("are refused where the log of another NPU differs, however right it is", () => {
    const made = CASES[0] as FoldedSlots;
    const schedule = keptFolded(made);
    const last = made.all.length - 1;
    const { chunk, ports } = schedule.row(last);
    const late = new Uint8Array(ports.length + 1);
    late.set(ports.subarray(0, -1));
    late[ports.length] = ports[ports.length - 1];
    const row = (npu: number) => (npu === last ? { chunk, ports: late } : schedule.row(npu));
    const { violations } = verifySlots({ ...schedule, slots: schedule.slots + 1, row });
    expect(violations[0]).toMatchObject({
      kind: "malformed",
      npu: last,
      message: "the log of a8 is not that of a0 moved as the symmetry says",
    });
  });

  test("name a slow link that only an image uses", () => {
    const schedule = keptFolded(CASES[0] as FoldedSlots);
    const { topology } = schedule;
    for (const link of topology.linkSource.keys()) {
      const linkBytesPerSecond = topology.linkBytesPerSecond.slice();
      linkBytesPerSecond[link] = 1e6;
      const slow = { ...schedule, topology: { ...topology, linkBytesPerSecond } };
      expect(verifySlots(slow).violations.map((v) => [v.kind, v.link])).toContainEqual(["too-fast", link]);
    }
  });

  const three = keptFolded(CASES[0] as FoldedSlots);
  const swap = (a: number, b: number) => Int32Array.from({ length: 9 }, (_, v) => (v === a ? b : v === b ? a : v));
  test.each<[string, readonly Int32Array[], string]>([
    ["a map of another length", [swap(0, 2).subarray(1)], "map 0 of the symmetry is no list of 9 NPUs"],
    [
      "one that is none",
      [swap(0, 0), Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 7)],
      "map 1 of the symmetry does not take NPUs to different ones: 7",
    ],
    [
      "an NPU that there is not",
      [Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 9)],
      "map 0 of the symmetry does not take NPUs to different ones: 9",
    ],
    ["one that does not keep routes", [swap(0, 2)], "map 0 of the symmetry takes a0 to a2, but not the routes into it"],
  ])("need maps of the network: not %s", (_, generators, message) => {
    expect(verifySlots({ ...three, symmetry: { generators } }).violations).toEqual([{ kind: "malformed", message }]);
  });
});
