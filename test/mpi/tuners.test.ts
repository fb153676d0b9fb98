import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TUNERS, type TunerFormat } from "../../src/export/tables/tuners.ts";
import type { CollectiveKind } from "../../src/model/collective/collective.ts";
import { MPI_HERE, mpiJob } from "../support/mpi-jobs.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-tuners-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const RANKS = 4;
/** Calls a collective with each of some sizes in bytes, says each on rank 0, and fails where a result is wrong. */
const PROGRAM = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const std::string call = argv[1];
  bool right = true;
  for (int k = 2; k < argc; k++) {
    const int count = atoi(argv[k]) / 4, part = count / n, all = n * (n + 1) / 2;
    std::vector<float> in(count, rank + 1), out(count);
    std::vector<int> counts(n, part);
    if (rank == 0) fprintf(stderr, "size %s\\n", argv[k]);
    if (call == "allreduce") MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (call == "allgather") MPI_Allgather(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
    if (call == "alltoall") MPI_Alltoall(in.data(), part, MPI_FLOAT, out.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
    if (call == "reducescatter")
      MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const bool sums = call == "allreduce" || call == "reducescatter";
    for (int i = 0; i < (call == "reducescatter" ? part : count); i++)
      right = right && out[i] == (sums ? all : i / part + 1);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}
`;

/** Functions of Open MPI that are its algorithms, each called through one that says its name on rank 0. */
const teller = (names: readonly string[]): string => `
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TELL(name) \\
  extern "C" int name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) { \\
    typedef int (*own)(long, long, long, long, long, long, long, long, long, long); \\
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"); \\
    if (rank != nullptr && strcmp(rank, "0") == 0) fprintf(stderr, "chose %s\\n", #name); \\
    return ((own)dlsym(RTLD_NEXT, #name))(a, b, c, d, e, f, g, h, i, j); \\
  }
${names.map((name) => `TELL(ompi_coll_base_${name})`).join("\n")}
`;

function compiled(compiler: string, name: string, source: string, ...args: readonly string[]): string {
  const [from, to] = [join(folder, `${name}.cpp`), join(folder, name)];
  writeFileSync(from, source);
  const { status, stderr } = spawnSync(compiler, ["-D_GNU_SOURCE", "-O1", ...args, from, "-o", to, "-ldl"], {
    encoding: "utf8",
  });
  expect(stderr).not.toContain("error");
  expect(status).toBe(0);
  return to;
}

const row = (sizeBytes: number, algorithm: string) => ({ sizeBytes, algorithm, us: 1 });
const SIZES = [256, 4096, 65536];
const CASES: readonly (readonly [CollectiveKind, readonly string[]])[] = [
  ["allreduce", ["ring", "rhd", "ring"]],
  ["allgather", ["ring", "bruck", "rhd"]],
  ["alltoall", ["direct", "bruck", "direct"]],
  ["reducescatter", ["ring", "rhd", "ring"]],
];
const fileOf = (format: TunerFormat, collective: CollectiveKind, algorithms: readonly string[]): string => {
  const rows = SIZES.map((size, i) => row(size, algorithms[i] as string));
  const path = join(folder, `${format}-${collective}-${algorithms.join("-")}`);
  writeFileSync(path, TUNERS[format].write(rows, { collective, nodes: 1, ranks: RANKS }).text);
  return path;
};

const open = MPI_HERE.find(({ flavour }) => flavour === "openmpi");
const major = Number(/\d+/.exec(open?.version ?? "")?.[0]);

describe.skipIf(open === undefined || (major !== 4 && major !== 5))("Open MPI 4 or 5 with a file of rules", () => {
  const OWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    allreduce: { ring: "allreduce_intra_ring", rhd: "allreduce_intra_redscat_allgather" },
    allgather: {
      ring: "allgather_intra_ring",
      bruck: "allgather_intra_bruck",
      rhd: "allgather_intra_recursivedoubling",
    },
    alltoall: { direct: "alltoall_intra_basic_linear", bruck: "alltoall_intra_bruck" },
    reducescatter: { ring: "reduce_scatter_intra_ring", rhd: "reduce_scatter_intra_basic_recursivehalving" },
  };

  it("runs the algorithm that the file says, from each size to the next", async () => {
    const { compiler } = open as NonNullable<typeof open>;
    const program = compiled(compiler, "calls-open", PROGRAM);
    const names = Object.values(OWN).flatMap((one) => Object.values(one));
    const preload = compiled(compiler, "teller.so", teller(names), "-shared", "-fPIC");
    for (const [collective, algorithms] of CASES) {
      const { code, stderr } = await mpiJob(open as NonNullable<typeof open>, {
        ranks: RANKS,
        program,
        args: [collective, "256", "4080", "4096", "65520", "65536", "1048576"],
        env: {
          OMPI_MCA_coll_tuned_use_dynamic_rules: "1",
          OMPI_MCA_coll_tuned_dynamic_rules_filename: fileOf("tuner-openmpi", collective, algorithms),
        },
        before: `export LD_PRELOAD='${preload}'`,
      });
      expect(code).toBe(0);
      const chosen = stderr
        .split(/^size /m)
        .slice(1)
        .map((text) => /chose ompi_coll_base_(\w+)/.exec(text)?.[1]);
      const [a, b, c] = algorithms.map((ours) => OWN[collective]?.[ours]);
      expect(chosen).toEqual([a, a, b, b, c, c]);
    }
  }, 60_000);
});

const mpich = MPI_HERE.find(({ flavour }) => flavour === "mpich");

describe.skipIf(mpich === undefined)("MPICH with a file of its selection", () => {
  const OWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    allreduce: { rhd: "Allreduce_intra_reduce_scatter_allgather" },
    allgather: {
      ring: "Allgather_intra_ring",
      bruck: "Allgather_intra_brucks",
      rhd: "Allgather_intra_recursive_doubling",
    },
    alltoall: { direct: "Alltoall_intra_scattered", bruck: "Alltoall_intra_brucks" },
    reducescatter: { rhd: "Reduce_scatter_intra_recursive_halving", direct: "Reduce_scatter_intra_pairwise" },
  };
  const OURS: typeof CASES = [
    ["allreduce", ["rhd", "rhd", "rhd"]],
    ["allgather", ["ring", "bruck", "rhd"]],
    ["alltoall", ["direct", "bruck", "direct"]],
    ["reducescatter", ["direct", "rhd", "direct"]],
  ];
  const job = (program: string, collective: string, file: string) =>
    mpiJob(mpich as NonNullable<typeof mpich>, {
      ranks: RANKS,
      program,
      args: [collective, "256", "4080", "4096", "65520", "65536", "1048576"],
      env: { MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: file, MPIR_CVAR_DEVICE_COLLECTIVES: "none" },
    });

  it("takes it, gives right results, and stops at a name that it does not know", async () => {
    const { compiler } = mpich as NonNullable<typeof mpich>;
    const program = compiled(compiler, "calls-mpich", PROGRAM);
    for (const [collective, algorithms] of OURS)
      expect((await job(program, collective, fileOf("tuner-mpich", collective, algorithms))).code).toBe(0);
    const wrong = join(folder, "wrong.json");
    const options = { collective: "allreduce", nodes: 1, ranks: RANKS } as const;
    const { text } = TUNERS["tuner-mpich"].write([row(256, "rhd")], options);
    writeFileSync(wrong, text.replaceAll("Allreduce_intra_reduce_scatter_allgather", "Allreduce_intra_of_nobody"));
    expect((await job(program, "allreduce", wrong)).code).not.toBe(0);
  }, 60_000);

  it("runs the algorithm that the file says, from each size to the next", async (context) => {
    const { compiler } = mpich as NonNullable<typeof mpich>;
    const names = [...new Set(Object.values(OWN).flatMap((one) => Object.values(one)))];
    // its functions can be seen from outside in its archive only
    const tellers = names.map(
      (name) => `
extern "C" int __real_MPIR_${name}(long, long, long, long, long, long, long, long, long, long);
extern "C" int __wrap_MPIR_${name}(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  if (strcmp(getenv("PMI_RANK"), "0") == 0) fprintf(stderr, "chose ${name}\\n");
  return __real_MPIR_${name}(a, b, c, d, e, f, g, h, i, j);
}`,
    );
    const [from, program] = [join(folder, "tells.cpp"), join(folder, "tells")];
    writeFileSync(from, `#include <string.h>\n${PROGRAM}${tellers.join("")}`);
    const shown = spawnSync(compiler, ["-show"], { encoding: "utf8" }).stdout.split(/\s+/);
    const { status } = spawnSync("c++", [
      ...shown.filter((word) => /^-[IL]/.test(word)),
      ...names.map((name) => `-Wl,--wrap=MPIR_${name}`),
      ...["-DMPICH_SKIP_MPICXX", from, "-o", program, "-Wl,-Bstatic", "-lmpich", "-Wl,-Bdynamic"],
      ...["-lucp", "-luct", "-lucs", "-lhwloc", "-lpthread", "-lm", "-ldl"],
    ]);
    if (status !== 0) context.skip("MPICH is not here as an archive over UCX");
    for (const [collective, algorithms] of OURS) {
      const { code, stderr } = await job(program, collective, fileOf("tuner-mpich", collective, algorithms));
      expect(code).toBe(0);
      const chosen = stderr
        .split(/^size /m)
        .slice(1)
        .map((text) => /^chose (\w+)/m.exec(text)?.[1]);
      const [a, b, c] = algorithms.map((ours) => OWN[collective]?.[ours]);
      expect(chosen).toEqual([a, a, b, b, c, c]);
    }
  }, 60_000);
});
