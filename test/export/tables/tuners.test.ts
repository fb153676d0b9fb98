import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ncclxCsv, ncclxJson } from "../../../src/export/tables/tuner.ts";
import { mpichJson } from "../../../src/export/tables/tuner-mpich.ts";
import { openMpiJson, openMpiRules } from "../../../src/export/tables/tuner-openmpi.ts";
import type { TunerOptions } from "../../../src/export/tables/tuner-ranges.ts";
import { uccConfig } from "../../../src/export/tables/tuner-ucc.ts";
import { TUNER_FORMATS, TUNERS, type TunerFormat } from "../../../src/export/tables/tuners.ts";
import { missing, refused } from "../../support/refusals.ts";

const row = (sizeBytes: number, algorithm: string, us: number) => ({ sizeBytes, algorithm, us });

/** A call as a library sees it. */
interface Call {
  readonly bytes: number;
  readonly ranks: number;
  readonly nodes: number;
}
/** Readers of the files, by what their libraries say of them: which algorithm a call gets; null: the library's own choice. */
type Reader = (text: string, call: Call) => string | number | null;

/** The last rule that begins at or below a number. */
const lastUpTo = <T>(rules: readonly (readonly [number, T])[], value: number): T =>
  (rules.filter(([from]) => from <= value).at(-1) as readonly [number, T])[1];

const readOpenMpi: Reader = (text, { bytes, ranks }) => {
  const numbers = text.replace(/#.*/g, "").trim().split(/\s+/).map(Number);
  const next = (): number => numbers.shift() as number;
  const list = <T>(read: () => T): T[] => Array.from({ length: next() }, read);
  const rule = (): [number, number] => {
    const [from, algorithm] = [next(), next()];
    next();
    next();
    return [from, algorithm];
  };
  const [[, comms]] = list(() => [next(), list((): [number, [number, number][]] => [next(), list(rule)])] as const);
  expect(numbers).toEqual([]);
  const rules = lastUpTo(comms, ranks);
  expect(rules[0]?.[0]).toBe(0);
  return lastUpTo(rules, bytes) || null;
};

const readOpenMpiJson: Reader = (text, { bytes, ranks }) => {
  const [comms] = Object.values(JSON.parse(text).collectives) as [Record<string, never>[]];
  const comm = comms.find(({ comm_size_min, comm_size_max }) => comm_size_min <= ranks && ranks <= comm_size_max);
  const rules = (comm?.["rules"] ?? []) as { msg_size_min: number; msg_size_max: number | "inf"; alg: string }[];
  const found = rules.find(
    ({ msg_size_min: from, msg_size_max: to }) => from <= bytes && (to === "inf" || bytes <= to),
  );
  return found?.alg ?? null;
};

const isIn = (interval: string, value: number): boolean => {
  const [, from, to] = /^\[(\d+),(\d*)\)$/.exec(interval) as unknown as [string, string, string];
  return Number(from) <= value && (to === "" || value < Number(to));
};
const ncclxHas = (interval: string, nNodes: number, nLocalRanks: number, { bytes, ranks, nodes }: Call): boolean => {
  const local = Math.floor(ranks / nodes);
  return isIn(interval, Math.floor(bytes / (nodes * local))) && nNodes === nodes && nLocalRanks === local;
};
const readNcclx: Reader = (text, call) => {
  const rules = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const fields = rules.map((line) => line.split(/,(?![^[]*\))/));
  const found = fields.find((one) => ncclxHas(one[1] as string, Number(one[5]), Number(one[6]), call));
  return found?.[2] ?? null;
};
const readNcclxJson: Reader = (text, call) => {
  const { rules } = JSON.parse(text);
  for (const { filter, config } of rules)
    if (ncclxHas(filter.bytesPerRank, filter.nNodes, filter.nLocalRanks, call)) return config.algorithm;
  return null;
};

/** `bytes` is what UCC goes by: of a reduce-scatter what a rank gets. */
const readUcc: Reader = (text, { bytes, ranks }) => {
  const tune = /^UCC_TL_UCP_TUNE=(.*)$/m.exec(text)?.[1] as string;
  for (const token of tune.split("#")) {
    const [, range, team, , algorithm] = token.split(":") as [string, string, string, string, string];
    const [from, to] = range.split("-") as [string, string];
    if (team === `[${ranks}]` && Number(from) <= bytes && (to === "inf" || bytes < Number(to)))
      return algorithm.slice(1);
  }
  return null;
};

interface Tree {
  readonly [condition: string]: Tree;
}
/** Returns the algorithm at which MPICH arrives, with the conditions that do not hold for a call. */
function walk(tree: Tree, holds: (condition: string) => boolean): string {
  const [first] = Object.keys(tree) as [string];
  if (first.startsWith("algorithm=")) return first.slice("algorithm=MPIR_".length);
  const key = Object.keys(tree).find(holds);
  if (key === undefined) throw new Error(`nothing holds of ${Object.keys(tree)}`);
  return walk(tree[key] as Tree, holds);
}
const mpichChoice = (
  text: string,
  call: string,
  { bytes, ranks, others = [] }: { bytes: number; ranks: number; others?: readonly string[] },
): string =>
  walk(JSON.parse(text), (condition) => {
    const [, name, relation, value] = /^(\w+?)(<=|<|=)(\w+)$/.exec(condition) as unknown as string[];
    if (name === "collective") return value === call;
    if (name === "comm_type") return value === "intra";
    if (value === "any") return true;
    if (value === "pow2") return name === "comm_size" && Number.isInteger(Math.log2(ranks));
    if (value === "yes" || value === "no") return others.includes(name as string) === (value === "no");
    const of: Record<string, number> = { comm_size: ranks, avg_msg_size: bytes, total_msg_size: bytes };
    const size = of[name as string] as number;
    return relation === "<" ? size < Number(value) : size <= Number(value);
  });

const RANKS = 8;
const OPTIONS: TunerOptions = { collective: "allreduce", nodes: 2, ranks: RANKS };
const rows = [
  row(1024, "rhd", 1),
  row(1024, "ring", 2),
  row(65536, "ring", 1),
  row(65536, "rhd", 2),
  row(1048576, "tacos", 1),
];

describe("files for libraries", () => {
  it("are as Open MPI 4 and 5 read them", () => {
    expect(openMpiRules(rows, OPTIONS).text.replace(/ *#.*/g, "")).toBe(
      "1\n2\n3\n0\n1\n0 0 0 0\n8\n3\n0 6 0 0\n65536 4 0 0\n1048576 0 0 0\n9\n1\n0 0 0 0\n",
    );
  });

  it("are as Open MPI 6 reads them, names of its own included", () => {
    const gather = [row(64, "pat", 1), row(128, "bruck", 1), row(256, "direct", 1), row(512, "ring", 1)];
    const file = JSON.parse(openMpiJson(gather, { ...OPTIONS, collective: "allgather" }).text);
    expect(file).toEqual({
      rule_file_version: 3,
      module: "tuned",
      collectives: {
        allgather: [
          {
            comm_size_min: 8,
            comm_size_max: 8,
            comm_rank_distribution: "any",
            rules: [
              { msg_size_min: 0, msg_size_max: 127, alg: "sparbit" },
              { msg_size_min: 128, msg_size_max: 255, alg: "bruck-k-fanout", faninout: 2 },
              { msg_size_min: 256, msg_size_max: 511, alg: "direct-messaging" },
              { msg_size_min: 512, msg_size_max: "inf", alg: "ring" },
            ],
          },
        ],
      },
    });
    const scatter = openMpiJson([row(64, "ring", 1)], { ...OPTIONS, collective: "reducescatter" }).text;
    expect(Object.keys(JSON.parse(scatter).collectives)).toEqual(["reduce_scatter"]);
  });

  it("are as NCCLX reads them, sizes by rank", () => {
    const two = [row(64, "pat", 1), row(100, "nccl-rings", 1)];
    const options = { ...OPTIONS, collective: "allgather" } as const;
    expect(ncclxCsv(two, options).text.split("\n").slice(1)).toEqual([
      "allgather,[0,13),pat,simple,-1,2,4",
      "allgather,[13,),ring,simple,-1,2,4",
      "",
    ]);
    expect(JSON.parse(ncclxJson(two, options).text).rules[0]).toEqual({
      filter: { collective: "allgather", bytesPerRank: "[0,13)", nNodes: 2, nLocalRanks: 4 },
      config: { algorithm: "pat", protocol: "simple" },
    });
  });

  it("are as UCC reads them: a reduce-scatter by what a rank gets, halving by two", () => {
    const two = [row(64, "rhd", 1), row(8000, "ring", 1)];
    expect(uccConfig(two, { ...OPTIONS, collective: "reducescatter" }).text).toBe(
      "UCC_TL_UCP_TUNE=reduce_scatter:0-1000:[8]:inf:@knomial#reduce_scatter:1000-inf:[8]:inf:@ring\n" +
        "UCC_TL_UCP_REDUCE_SCATTER_KN_RADIX=2\n",
    );
    expect(uccConfig([row(64, "dbt", 1)], { ...OPTIONS, collective: "broadcast" }).text).toBe(
      "UCC_TL_UCP_TUNE=bcast:0-inf:[8]:inf:@dbt\n",
    );
  });

  it("tell MPICH what it knew of all else, and of calls for which an algorithm of ours is wrong", () => {
    const spread = [row(64, "bruck", 1), row(1024, "direct", 1), row(4096, "tacos", 1)];
    const { text, leftOut } = mpichJson(spread, { ...OPTIONS, collective: "alltoall" });
    const of = (bytes: number, ranks = RANKS, others: readonly string[] = ["is_sendbuf_inplace"]) =>
      mpichChoice(text, "alltoall", { bytes, ranks, others });
    expect([of(64), of(1023), of(1024), of(4095)]).toEqual([
      "Alltoall_intra_brucks",
      "Alltoall_intra_brucks",
      "Alltoall_intra_scattered",
      "Alltoall_intra_scattered",
    ]);
    expect(leftOut).toEqual([4096]);
    expect([of(5e4), of(5e4, 4), of(1024, 9), of(64, RANKS, [])]).toEqual([
      "Alltoall_intra_pairwise",
      "Alltoall_intra_pairwise",
      "Alltoall_intra_scattered",
      "Alltoall_intra_pairwise_sendrecv_replace",
    ]);
    const halved = mpichJson([row(64, "direct", 1)], { ...OPTIONS, collective: "reducescatter" }).text;
    for (const call of ["reduce_scatter", "reduce_scatter_block"] as const) {
      const name = `${call.charAt(0).toUpperCase()}${call.slice(1)}_intra`;
      expect(mpichChoice(halved, call, { bytes: 64, ranks: 8 })).toBe(`${name}_pairwise`);
      expect(mpichChoice(halved, call, { bytes: 64, ranks: 9 })).toBe(`${name}_recursive_halving`);
      expect(mpichChoice(halved, call, { bytes: 64, ranks: 8, others: ["is_commutative"] })).toBe(
        `${name}_noncommutative`,
      );
    }
    const calls = Object.keys(JSON.parse(halved)).map((key) => key.slice("collective=".length));
    expect(calls).toHaveLength(44);
    expect(calls.filter((call) => !call.startsWith("i")).map((call) => `i${call}`)).toEqual(
      expect.arrayContaining(calls.filter((call) => call.startsWith("i"))),
    );
  });

  it("never end for MPICH where a page of memory does", () => {
    /** So many ranges, a byte shorter for each that is smaller. */
    const lengthOf = (count: number, smaller: number): number => {
      const table = Array.from({ length: count }, (_, i) =>
        row((i < smaller ? 1000 : 10_000) + i, i % 2 === 0 ? "bruck" : "ring", 1),
      );
      return mpichJson(table, { ...OPTIONS, collective: "allgather" }).text.length;
    };
    const counts = Array.from({ length: 60 }, (_, i) => 100 + i);
    const count = counts.find((one) => lengthOf(one, 1) % 4096 < 90 && lengthOf(one, 1) % 4096 > 5) as number;
    const lengths = Array.from({ length: 98 }, (_, i) => lengthOf(count, i + 1));
    expect(lengths.filter((length) => length % 4096 === 0)).toEqual([]);
    // one that would have: a byte longer, it is as long as the one before
    const at = lengths.findIndex((length, i) => length === lengths[i - 1]);
    expect((lengths[at] as number) % 4096).toBe(1);
  });

  it("leave sizes to MPICH that it cannot count", () => {
    const { text, beyond } = mpichJson([row(64, "rhd", 1), row(2 ** 33, "rhd", 1)], OPTIONS);
    expect(beyond).toEqual([2 ** 33]);
    expect(mpichChoice(text, "allreduce", { bytes: 2 ** 40, ranks: 8 })).toBe(
      "Allreduce_intra_reduce_scatter_allgather",
    );
  });

  const THEIRS: Readonly<Record<TunerFormat, { read?: Reader; of: Readonly<Record<string, string | number>> }>> = {
    tuner: { of: {} },
    "tuner-ncclx": { read: readNcclx, of: { pat: "pat", "nccl-rings": "ring" } },
    "tuner-ncclx-json": { read: readNcclxJson, of: { pat: "pat", "nccl-rings": "ring" } },
    "tuner-openmpi": { read: readOpenMpi, of: { bruck: 2, rhd: 3, ring: 4 } },
    "tuner-openmpi-json": {
      read: readOpenMpiJson,
      of: {
        bruck: "bruck-k-fanout",
        rhd: "recursive_doubling",
        ring: "ring",
        pat: "sparbit",
        direct: "direct-messaging",
      },
    },
    "tuner-mpich": {
      read: (text, { bytes, ranks }) => mpichChoice(text, "allgather", { bytes, ranks }),
      of: { bruck: "Allgather_intra_brucks", rhd: "Allgather_intra_recursive_doubling", ring: "Allgather_intra_ring" },
    },
    "tuner-ucc": {
      read: readUcc,
      of: { bruck: "bruck", rhd: "knomial", ring: "ring", pat: "sparbit", direct: "linear" },
    },
  };

  it.each(TUNER_FORMATS.filter((format) => THEIRS[format].read !== undefined))(
    "give calls the fastest of the library's own of the size below, among as many ranks alone: %s",
    (format) => {
      const { read, of } = THEIRS[format] as Required<(typeof THEIRS)[TunerFormat]>;
      const sizes = fc.integer({ min: 1, max: 40 }).map((k) => 8 * k);
      const names = fc.constantFrom("ring", "rhd", "bruck", "direct", "pat", "nccl-rings", "tacos");
      const anyRow = fc.record({
        sizeBytes: sizes,
        us: fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY),
        algorithm: names,
      });
      fc.assert(
        fc.property(fc.array(anyRow, { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (table, k) => {
          const all = format.startsWith("tuner-ncclx") ? table.filter(({ algorithm }) => algorithm !== "ring") : table;
          const known = all.filter(({ algorithm, us }) => of[algorithm] !== undefined && us < 4);
          fc.pre(known.length > 0);
          const options = { collective: "allgather", nodes: 2, ranks: RANKS } as const;
          const { text, leftOut } = TUNERS[format].write(all, options);
          const bytes = 8 * k;
          const tried = [...new Set(all.map(({ sizeBytes }) => sizeBytes))].sort((a, b) => a - b);
          const size = tried.filter((one) => one <= bytes).at(-1) ?? (tried[0] as number);
          const here = known.filter(({ sizeBytes }) => sizeBytes === size);
          expect(leftOut.includes(size)).toBe(here.length === 0);
          const chosen = read(text, { bytes, ranks: RANKS, nodes: 2 });
          if (here.length > 0) {
            const least = Math.min(...here.map(({ us }) => us));
            expect(here.filter(({ us }) => us === least).map(({ algorithm }) => of[algorithm])).toContain(chosen);
          }
          if (format === "tuner-mpich") return;
          if (here.length === 0) expect(chosen).toBeNull();
          expect(read(text, { bytes, ranks: RANKS + 2, nodes: 2 })).toBeNull();
          expect(read(text, { bytes, ranks: RANKS - 2, nodes: 2 })).toBeNull();
        }),
      );
    },
  );

  it.each(TUNER_FORMATS)("refuse collectives and rows of which the library has nothing: %s", (format) => {
    const { write } = TUNERS[format];
    expect(() => write([row(1, "ring", 1)], { ...OPTIONS, collective: "gather" })).toThrow(
      refused(
        "unknown-name",
        `the collective of ${format.startsWith("tuner-ncclx") || format === "tuner" ? "a tuner" : format}`,
        "gather",
      ),
    );
    expect(() => write([row(1, "tacos", 1)], OPTIONS)).toThrow(missing("the rows of a tuner"));
  });
});
