import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { otherGpusNotes, refuseOtherNetwork } from "../../../src/model/calibration/log-network.ts";
import { type LoggedRank, measurementsOf } from "../../../src/model/calibration/measurements.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";

const A100 = "NVIDIA A100-SXM4-80GB";
const H100 = "NVIDIA H100 80GB HBM3";

/** Ranks in the order of hosts, so many on each. */
const listOf = (hosts: readonly (readonly [host: string, ranks: number, gpu?: string])[]): LoggedRank[] =>
  hosts
    .flatMap(([host, ranks, gpu = A100]) => Array.from({ length: ranks }, () => ({ host, gpu })))
    .map((one, rank) => ({ rank, ...one }));

const logOf = (listed: readonly LoggedRank[]) =>
  measurementsOf([{ sizeBytes: 1, timeUs: 1, inPlaceUs: Number.NaN, note: "" }], {
    collective: "allreduce",
    ranks: listed.length,
    hosts: new Set(listed.map(({ host }) => host)).size,
    platform: "",
    source: "log",
    listed,
    remarks: [],
  });

function said(network: string, listed: readonly LoggedRank[]): string | null {
  try {
    refuseOtherNetwork(presetTopology(network), logOf(listed));
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as InputError).message;
  }
}

describe("a log of another network", () => {
  it.each([
    [
      "a host that no box is left for",
      "dgx-a100:2",
      listOf([
        ["a", 8],
        ["b", 8],
        ["c", 8],
      ]),
      "host c (ranks 16 to 23) of log has no box in dgx-a100:2: dgx-a100:2 has 2 boxes of 8 GPUs; try dgx-a100:3",
    ],
    [
      "a host with more GPUs than its box, though all are as many as the network has",
      "dgx-a100:2",
      listOf([
        ["a", 6],
        ["b", 10],
      ]),
      "host b (ranks 6 to 15) of log has 10 ranks, but box1 of dgx-a100:2 has 8 GPUs",
    ],
    [
      "a host with more GPUs than any box",
      "dgx-a100:2",
      listOf([["a", 16]]),
      "host a (ranks 0 to 15) of log has 16 ranks, but box0 of dgx-a100:2 has 8 GPUs",
    ],
    [
      "a host with fewer",
      "dgx-a100:2",
      listOf([
        ["a", 8],
        ["b", 7],
      ]),
      "host b (ranks 8 to 14) of log has 7 ranks where host a (ranks 0 to 7) has 8: a fit is of boxes with as many each",
    ],
    [
      "a rank that is missing",
      "dgx-a100:2",
      listOf([
        ["a", 8],
        ["b", 8],
      ]).filter(({ rank }) => rank !== 5),
      "log lists no rank 5: the next is rank 6 (host a)",
    ],
    [
      "a host with other GPUs than the rest",
      "dgx-a100:2",
      listOf([
        ["a", 8],
        ["b", 8, H100],
      ]),
      "host b (ranks 8 to 15) of log ran on H100, others on A100, which all of dgx-a100:2 is of",
    ],
    [
      "a rank beyond a network without boxes",
      "switch:4",
      listOf([
        ["a", 1],
        ["b", 1],
        ["c", 1],
        ["d", 1],
        ["e", 1],
      ]),
      "rank 4 (host e) of log has no place in switch:4, which has 4 NPUs",
    ],
  ])("is refused with the rank or host that does not fit: %s", (_, network, listed, sentence) => {
    expect(said(network, listed)).toBe(sentence);
  });

  it("is none where each host's ranks are as many and fit a box, however hosts are called and dealt", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        (hosts, each, dealt) => {
          const ranks = Array.from({ length: hosts * each }, (_, rank) => ({
            rank,
            host: `h${dealt ? rank % hosts : Math.floor(rank / each)}`,
            gpu: A100,
          }));
          expect(said("dgx-a100:4", ranks)).toBeNull();
        },
      ),
    );
  });

  it("finds the one host of many that has another number of ranks", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 7 }), (odd, ranks) => {
        const listed = listOf(Array.from({ length: 4 }, (_, h) => [`h${h}`, h === odd ? ranks : 8]));
        expect(said("dgx-a100:4", listed)).toContain(`host h${odd} (`);
      }),
    );
  });

  it("is noted with its ranks where all ran on other GPUs, and nothing is where names do not tell", () => {
    const box = presetTopology("dgx-a100:1");
    const other = logOf(listOf([["a", 8, H100]]));
    expect(said("dgx-a100:1", other.listed)).toBeNull();
    expect(otherGpusNotes(box, other)).toEqual([
      "log was measured on H100: ranks 0 to 7 (host a), but dgx-a100:1 has A100",
    ]);
    expect(otherGpusNotes(presetTopology("switch:8"), other)).toEqual([]);
    expect(otherGpusNotes(box, logOf(listOf([["a", 8, ""]])))).toEqual([]);
  });
});
