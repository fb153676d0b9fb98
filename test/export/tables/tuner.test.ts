import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tunerCsv } from "../../../src/export/tables/tuner.ts";
import { missing, refused } from "../../support/refusals.ts";

const row = (sizeBytes: number, algorithm: string, us: number) => ({ sizeBytes, algorithm, us });
const options = { collective: "allreduce", nodes: 2, ranks: 16 } as const;
const ranges = (text: string) =>
  text
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(","))
    .map(([, from, to, algorithm]) => [Number(from), Number(to), algorithm] as const);

describe("a file for a tuner", () => {
  it("says which of NCCL's algorithms is fastest from which size on", () => {
    const rows = [
      row(1024, "forestcoll", 5),
      row(1024, "ring", 9),
      row(4096, "multitree", 6),
      row(4096, "ring", 10),
      row(65536, "forestcoll", 30),
      row(65536, "ring", 20),
      row(65536, "tacos", 10),
    ];
    const { text, leftOut } = tunerCsv(rows, options);
    expect(text).toBe(
      "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n" +
        "allreduce,0,65535,tree,simple,-1,2,16,-1,-1\nallreduce,65536,4294967295,ring,simple,-1,2,16,-1,-1\n",
    );
    expect(leftOut).toEqual([]);
  });

  it("goes by NCCL's own rings and trees where they were tried", () => {
    const rows = [row(10, "nccl-rings", 5), row(10, "ring", 1), row(10, "nccl-tree", 4), row(10, "forestcoll", 2)];
    expect(ranges(tunerCsv(rows, options).text)).toEqual([[0, 4294967295, "tree"]]);
    expect(ranges(tunerCsv(rows.slice(0, 2), options).text)).toEqual([[0, 4294967295, "ring"]]);
    expect(ranges(tunerCsv([...rows.slice(1, 3)], options).text)).toEqual([[0, 4294967295, "ring"]]);
  });

  it("knows switches that sum as NVLS in a box, and as NVLSTree between boxes", () => {
    const rows = [row(10, "nvls", 5), row(10, "nccl-rings", 6)];
    expect(ranges(tunerCsv(rows, options).text)).toEqual([[0, 4294967295, "nvls_tree"]]);
    expect(ranges(tunerCsv(rows, { ...options, nodes: 1 }).text)).toEqual([[0, 4294967295, "nvls"]]);
  });

  it("leaves sizes to NCCL for which it has nothing that was tried, and tells them", () => {
    const rows = [row(10, "ring", 1), row(20, "tacos", 1), row(30, "ring", 1)];
    const { text, leftOut } = tunerCsv(rows, { ...options, channels: 8, protocol: "ll" });
    expect(ranges(text)).toEqual([
      [0, 19, "ring"],
      [30, 4294967295, "ring"],
    ]);
    expect(text).toContain(",ring,ll,8,2,16,-1,-1\n");
    expect(leftOut).toEqual([20]);
  });

  it("gives each size the fastest counterpart, and no size twice", () => {
    const anyRow = fc.record({
      sizeBytes: fc.integer({ min: 1, max: 50 }),
      us: fc.integer({ min: 1, max: 1000 }),
      algorithm: fc.constantFrom("ring", "forestcoll", "tacos", "direct"),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 1 }), (rows) => {
        const known = rows.filter(({ algorithm }) => algorithm === "ring" || algorithm === "forestcoll");
        if (known.length === 0) {
          expect(() => tunerCsv(rows, options)).toThrow(missing("the rows of a tuner"));
          return;
        }
        const { text, leftOut } = tunerCsv(rows, options);
        for (const size of new Set(rows.map(({ sizeBytes }) => sizeBytes))) {
          const at = ranges(text).filter(([from, to]) => from <= size && size <= to);
          const ours = known.filter(({ sizeBytes }) => sizeBytes === size);
          expect(at).toHaveLength(ours.length === 0 ? 0 : 1);
          expect(leftOut.includes(size)).toBe(ours.length === 0);
          if (ours.length === 0) continue;
          const best = Math.min(...ours.map(({ us }) => us));
          const names = ours
            .filter(({ us }) => us === best)
            .map(({ algorithm }) => (algorithm === "ring" ? "ring" : "tree"));
          expect(names).toContain(at[0][2]);
        }
      }),
    );
  });

  it("refuses collectives that tuners are not asked about; NCCL has trees for all-reduce alone", () => {
    expect(() => tunerCsv([row(1, "ring", 1)], { ...options, collective: "alltoall" })).toThrow(
      refused("unknown-name", "the collective of a tuner", "alltoall"),
    );
    expect(() => tunerCsv([row(1, "forestcoll", 1)], { ...options, collective: "allgather" })).toThrow(
      missing("the rows of a tuner"),
    );
  });
});
