import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Collective,
  collective,
  membersOf,
  type NamedCollective,
} from "../../../src/model/collective/collective.ts";
import { trafficOf } from "../../../src/model/collective/traffic.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { runs } from "../../support/runs.ts";

const NPUS = 6;

/** Returns [NPUs * NPUs] what is sent, chunk by chunk; null where a chunk is no message. */
function chunkByChunk(whole: Collective): number[] | null {
  const sent = new Array<number>(NPUS * NPUS).fill(0);
  for (let chunk = 0; chunk < whole.chunkCount; chunk++) {
    const from = membersOf(whole, whole.pre, chunk);
    const to = membersOf(whole, whole.post, chunk);
    if (whole.reduces || from.length !== 1 || to.length !== 1) return null;
    if (from[0] !== to[0]) sent[from[0] * NPUS + to[0]]++;
  }
  return sent;
}

/** Fails unless traffic says what the chunks do. */
function expectSame(whole: Collective): void {
  const traffic = trafficOf(whole, NPUS);
  const sent = chunkByChunk(whole);
  expect(traffic === null).toBe(sent === null);
  if (traffic === null || sent === null) return;
  const row = new Float64Array(NPUS).fill(9);
  const rows = Array.from({ length: NPUS }, (_, npu) => {
    traffic.fill(npu, row);
    return [...row];
  });
  expect(rows.flat()).toEqual(sent);
  const others = sent.filter((_, pair) => pair % (NPUS + 1) !== 0);
  const alike = others[0] > 0 && others.every((chunks) => chunks === others[0]);
  expect(traffic.each).toBe(alike ? others[0] : null);
}

const groups = fc
  .constantFrom("0,1,2,3,4,5", "5,3,1,0,2,4", "0,1,2;5,3,4", "4,1", "0,5;2,3", "3")
  .map((text) => text.split(";").map((members) => Int32Array.from(members.split(","), Number)));

describe("the traffic of a collective", () => {
  it.each<NamedCollective>(["alltoall", "allgather", "reducescatter", "allreduce", "broadcast", "gather", "scatter"])(
    "is what its chunks say: %s of any groups",
    (kind) => {
      fc.assert(
        fc.property(groups, fc.integer({ min: 1, max: 3 }), (members, chunksPerNpu) => {
          expectSame(collective({ kind, groups: members, sizeBytes: 720, chunksPerNpu, rootRank: 0 }));
        }),
        { numRuns: runs(15) },
      );
    },
  );

  it("is what the chunks of a table say, as lists of one NPU and as sets of some", () => {
    const npu = fc.nat(NPUS - 1);
    const sets = fc.array(fc.tuple(fc.uniqueArray(npu, { maxLength: 2 }), fc.uniqueArray(npu, { maxLength: 2 })));
    const pairs = fc.array(fc.tuple(npu, npu)).map((list) => list.map(([from, to]) => [[from], [to]]));
    const everyPair = Array.from({ length: NPUS * NPUS }, (_, i) => [[Math.floor(i / NPUS)], [i % NPUS]]);
    fc.assert(
      fc.property(fc.oneof(sets, pairs, fc.constant(everyPair)), fc.boolean(), (chunks, listed) => {
        const base = collective({
          kind: "allgather",
          groups: [Int32Array.from({ length: NPUS }, (_, v) => v)],
          sizeBytes: 60,
          chunksPerNpu: 1,
          rootRank: 0,
        });
        const placed = (side: 0 | 1): Collective["pre"] => {
          const members = chunks.map((chunk) => [...chunk[side]].sort((a, b) => a - b));
          if (listed && members.every(({ length }) => length === 1))
            return { kind: "one", npu: Int32Array.from(members.flat()) };
          const offset = Int32Array.from([0, ...members.map(({ length }) => length)]);
          for (let i = 0; i < members.length; i++) offset[i + 1] += offset[i];
          return { kind: "sets", offset, members: Int32Array.from(members.flat()) };
        };
        expectSame({
          ...base,
          kind: "custom",
          chunkCount: chunks.length,
          chunkBytes: rational(1),
          reduces: false,
          pre: placed(0),
          post: placed(1),
        });
      }),
      { numRuns: runs(60) },
    );
  });
});
