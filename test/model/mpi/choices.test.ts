import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { mpichAlgorithms, mpichChoice, mpichEnvironment } from "../../../src/model/mpi/mpich.ts";
import { openMpiAlgorithms, openMpiChoice, openMpiEnvironment } from "../../../src/model/mpi/open-mpi.ts";

const FIXTURE = JSON.parse(readFileSync(new URL("../../fixtures/mpi-choices.json", import.meta.url), "utf8")) as {
  readonly sizes: readonly number[];
  readonly choices: Readonly<
    Record<string, readonly { readonly ranks: readonly number[]; readonly choices: string }[]>
  >;
};
const KINDS = COLLECTIVE_KINDS;

/** "1 ring, 8 recursive_doubling": from a size on. */
const choicesIn = (text: string): (readonly [from: number, name: string])[] =>
  text.split(", ").map((one) => {
    const [from, name] = one.split(" ") as [string, string];
    return [Number(from), name];
  });

describe("what Open MPI chooses", () => {
  it("is what the library itself chose, for all ranks and sizes that it was asked", () => {
    let asked = 0;
    const wrong: string[] = [];
    for (const collective of KINDS) {
      const isWhole = ["allreduce", "broadcast", "reduce"].includes(collective);
      for (const { ranks, choices } of FIXTURE.choices[collective] ?? [])
        for (const count of ranks)
          for (const size of FIXTURE.sizes) {
            const theirs = choicesIn(choices).findLast(([from]) => from <= size)?.[1];
            const ours = openMpiChoice(collective, count, isWhole ? size : size * count);
            asked++;
            if (ours !== theirs) wrong.push(`${collective} ${count} ${size}: ${ours}, not ${theirs}`);
          }
    }
    expect(wrong).toEqual([]);
    // 8 collectives among 2 to 64 and 15 larger numbers of ranks, at 71 sizes
    expect(asked).toBe(8 * 78 * 71);
  });

  const installed = spawnSync("ompi_info", ["--param", "coll", "tuned", "--level", "9", "--parsable"], {
    encoding: "utf8",
  });
  it.skipIf(installed.status !== 0)(
    "has the numbers and names that an installed Open MPI has (needs ompi_info)",
    () => {
      for (const collective of KINDS)
        for (const name of openMpiAlgorithms(collective, 2)) {
          const [, parameter, number] = /OMPI_MCA_(coll_tuned_\w+)=(\d+)$/.exec(
            openMpiEnvironment(collective, name, 0),
          ) as RegExpExecArray;
          expect(installed.stdout).toContain(`:${parameter}:enumerator:value:${number}:${name}\n`);
        }
    },
  );

  it("is one of what it can be told, and told by its number and, where messages are cut, the segments", () => {
    for (const collective of KINDS)
      for (let ranks = 2; ranks < 70; ranks++)
        for (const size of FIXTURE.sizes)
          expect(openMpiAlgorithms(collective, ranks)).toContain(openMpiChoice(collective, ranks, size));
    expect(openMpiEnvironment("broadcast", "pipeline", 16384)).toBe(
      "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_bcast_algorithm=3 OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize=16384",
    );
  });
});

describe("what MPICH chooses", () => {
  // bytes of each rank's part, or of the whole buffer, up to which; as MPICH 4.0.2 was seen to do
  type Case = readonly [NamedCollective, number, readonly (readonly [sizeBytes: number, name: string])[]];
  const cases: readonly Case[] = [
    [
      "allreduce",
      8,
      [
        [8, "recursive_doubling"],
        [12, "recursive_doubling"],
        [32, "reduce_scatter_allgather"],
      ],
    ],
    [
      "allgather",
      8,
      [
        [524_287, "recursive_doubling"],
        [524_288, "ring"],
      ],
    ],
    [
      "allgather",
      6,
      [
        [81_919, "brucks"],
        [81_920, "ring"],
      ],
    ],
    [
      "reducescatter",
      6,
      [
        [524_287, "recursive_halving"],
        [524_288, "pairwise"],
      ],
    ],
    // it takes 8 ranks for fewer than 8 here
    [
      "alltoall",
      8,
      [
        [8 * 256, "scattered"],
        [8 * 32_768, "scattered"],
        [8 * 32_769, "pairwise"],
      ],
    ],
    [
      "alltoall",
      9,
      [
        [9 * 256, "brucks"],
        [9 * 257, "scattered"],
        [9 * 32_769, "pairwise"],
      ],
    ],
    ["broadcast", 7, [[2 ** 24, "binomial"]]],
    [
      "broadcast",
      8,
      [
        [12_288, "binomial"],
        [524_288, "scatter_recursive_doubling_allgather"],
      ],
    ],
    [
      "broadcast",
      9,
      [
        [12_288, "binomial"],
        [12_289, "scatter_ring_allgather"],
      ],
    ],
    [
      "reduce",
      5,
      [
        [2048, "binomial"],
        [2049, "reduce_scatter_gather"],
      ],
    ],
    ["gather", 5, [[8, "binomial"]]],
    ["scatter", 5, [[8, "binomial"]]],
  ];
  it.each(cases)("for %s among %d ranks", (collective, ranks, choices) => {
    for (const [size, name] of choices) {
      expect(mpichChoice(collective, ranks, size), `${size}`).toBe(name);
      expect(mpichAlgorithms(collective)).toContain(name);
    }
  });

  it("is told by variables of the call that is made", () => {
    expect(mpichEnvironment("reducescatter", "pairwise")).toBe(
      "MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM=pairwise MPIR_CVAR_REDUCE_SCATTER_BLOCK_DEVICE_COLLECTIVE=0",
    );
  });
});
