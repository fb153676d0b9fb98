import { describe, expect, it } from "vitest";
import { looksLikeScclAlgorithm, readScclAlgorithm } from "../../../src/import/schedules/schedule-text.ts";
import { transferCount } from "../../../src/model/steps/step-schedule.ts";
import { verify } from "../../../src/verify/verify.ts";
import { refusalFrom, unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";

/** An all-gather round a one-way ring of 3, in msccl-tools's layout. */
const RING = {
  sccl_type: "algorithm",
  collective: {
    chunks: [0, 1, 2].map((rank) => ({ pre: [rank], post: [0, 1, 2], addr: rank })),
  },
  topology: {
    sccl_type: "topology",
    name: "ring3",
    links: [
      [0, 0, 1],
      [1, 0, 0],
      [0, 1, 0],
    ],
    switches: [],
  },
  steps: [
    {
      rounds: 1,
      sends: [
        [0, 0, 1],
        [1, 1, 2],
        [2, 2, 0],
      ],
    },
    {
      rounds: 1,
      sends: [
        [2, 0, 1],
        [0, 1, 2],
        [1, 2, 0],
      ],
    },
  ],
};

describe("algorithms of msccl-tools and TACCL", () => {
  it("are schedules on their own network, each send as early as it can be", () => {
    expect(looksLikeScclAlgorithm(RING)).toBe(true);
    const schedule = readScclAlgorithm(RING, "a.json", { sizeBytes: 75_000_000, latencyPs: 0 });
    expect(schedule.collective.kind).toBe("allgather");
    expect([...schedule.endPs]).toEqual([1e9, 1e9, 1e9, 2e9, 2e9, 2e9]);
    expect(verify(schedule).violations).toEqual([]);
  });

  it("may be broadcasts, gathers and all-to-alls", () => {
    const chunk = (pre: number[], post: number[], addr: number) => ({ pre, post, addr });
    const broadcast = {
      ...RING,
      collective: { chunks: [chunk([1], [0, 1, 2], 5), chunk([1], [0, 1, 2], 6)] },
      steps: [
        {
          sends: [
            [6, 1, 2],
            [5, 1, 2],
          ],
        },
        {
          sends: [
            [5, 2, 0],
            [6, 2, 0],
          ],
        },
      ],
    };
    const read = readScclAlgorithm(broadcast, "a.json");
    expect([read.collective.kind, read.collective.rootRank, read.collective.chunkCount]).toEqual(["broadcast", 1, 2]);
    expect(verify(read).violations).toEqual([]);
    const gather = { ...RING, collective: { chunks: [0, 1, 2].map((rank) => chunk([rank], [2], rank)) }, steps: [] };
    expect(readScclAlgorithm(gather, "a.json").collective).toMatchObject({ kind: "gather", rootRank: 2 });
    const pairs = [0, 1, 2].flatMap((from) => [0, 1, 2].map((to) => chunk([from], [to], 3 * from + to)));
    const alltoall = { ...RING, collective: { chunks: pairs }, steps: [] };
    expect(readScclAlgorithm(alltoall, "a.json").collective.kind).toBe("alltoall");
  });

  it.skipIf(!hasSharedData)("of TACCL for NDv2 passes the verifier", () => {
    const value = JSON.parse(sharedText("taccl/example-algorithm-ndv2-n1.sccl.json"));
    const schedule = readScclAlgorithm(value, "a.json");
    expect(transferCount(schedule)).toBe(56);
    expect(verify(schedule).violations).toEqual([]);
  });

  it.each([
    [{ steps: [{ sends: [[0, 1, 2]] }] }, unexpected("a.json: steps[0].sends[0]", 0)],
    [{ steps: [{ sends: [[0, 0, 2]] }] }, unexpected("a.json: steps[0].sends[0]", "0 to 2")],
    [{ steps: [{ sends: [[7, 0, 1]] }] }, unexpected("a.json: steps[0].sends[0][0]", 7)],
    [{ steps: [{ sends: [[0, 0, 3]] }] }, unexpected("a.json: steps[0].sends[0][2]", 3, 2)],
    [
      { collective: { chunks: [{ pre: [0, 1], post: [0], addr: 0 }] } },
      unexpected("a.json: collective.chunks", "1 chunks elsewhere"),
    ],
    [{ collective: { chunks: [] } }, unexpected("a.json: collective.chunks", "0 chunks elsewhere")],
  ])("%j is refused with its place", (change, sentence) => {
    expect(refusalFrom(() => readScclAlgorithm({ ...RING, ...change }, "a.json"))).toEqual(sentence);
  });
});
