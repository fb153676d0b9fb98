import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { mpiToolchains } from "../../src/mpi/toolchain.ts";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const textOf = (name: string): string => readFileSync(here.at(name), "utf8");

beforeAll(() => here.run("export ring:4 -q -c allreduce -a ring -s 1MiB --to mpi -o ring.plan"));

describe("plans for MPI on the command line", () => {
  it("are verified, run, simulated and explained", async () => {
    expect(await here.json("verify ring.plan")).toMatchObject({
      correct: true,
      target: "mpi",
      modes: ["in place", "out of place"],
    });
    expect(await here.run("run ring.plan")).toContain("in place: correct on all 4 GPUs");
    expect(await here.run("simulate ring.plan --topology ring:4 -s 4MiB")).toContain("program/mpi: ");
    expect(await here.run("explain ring.plan -s 4MiB")).toContain("Banyan's runtime for MPI, in place: yes");
  });

  it("take no longer than their schedule in the simulation", async () => {
    for (const collective of ["allgather", "allreduce", "reducescatter"]) {
      const { us } = (
        (await here.json(`export ring:8 -c ${collective} -a ring --sizes 4MiB --to mpi -o by-size-${collective}`)) as {
          readonly files: readonly { readonly us: number }[];
        }
      ).files[0] as { readonly us: number };
      const { time } = (await here.json(`synth ring:8 -c ${collective} -a ring -s 4MiB`)) as {
        readonly time: { readonly us: number };
      };
      expect(us).toBeLessThanOrEqual(time.us * 1.001);
    }
  });

  it("by size cover every size once, and a folder of them is judged as the runtime takes it", async () => {
    await here.run("export hypercube:2 -q -c allgather --sizes 1KiB,4MiB --to mpi -o plans");
    expect(await here.json("verify plans")).toMatchObject({ correct: true, target: "mpi", violations: [] });
  });

  it("say for which processes they are, where these are not all", async () => {
    await here.run("export torus:3x3 -q -c allgather --group 0,1,2 -a ring -s 1MiB --to mpi -o group.plan");
    expect(textOf("group.plan")).toContain("\ngroup 0 1 2\n");
    expect(textOf("ring.plan")).not.toContain("\ngroup ");
  });

  it("say on which hosts their processes are, and are written again for others", async () => {
    const hosts = (name: string): string[] => textOf(name).match(/^host .*$/gm) ?? [];
    await here.run("export ring:4 -q -c allreduce -a ring -s 1MiB --to mpi --hosts b:1,a[2-3],b -o hosts.plan");
    expect(hosts("hosts.plan")).toEqual(["host 0 b 0", "host 1 a2 0", "host 2 a3 0", "host 3 b 1"]);
    await here.run("export hosts.plan -q --to mpi --hosts node[0-1]:2 -o moved.plan");
    expect(hosts("moved.plan")).toEqual(["host 0 node0 0", "host 1 node0 1", "host 2 node1 0", "host 3 node1 1"]);
    await here.run(
      "export torus:3x3 -q -c allgather --group 5,3,4 -a ring -s 1MiB --to mpi --hosts n[0-1]:4,m -o some.plan",
    );
    expect(hosts("some.plan")).toEqual(["host 5 n1 1", "host 3 n0 3", "host 4 n1 0"]);
    await here.run("export ring:4 -q -c allgather --sizes 1KiB,1MiB --to mpi --hosts n[0-3] -o by-host");
    expect(await here.json("verify by-host")).toMatchObject({ correct: true, target: "mpi" });
  });

  it("are written again for other sizes, and made of every kind of schedule", async () => {
    await here.run("export ring.plan --to mpi --max-bytes 1MiB -q -o again.plan");
    expect(textOf("again.plan")).toContain("\nbytes 0 1048576\n");
    await here.run("export ring.plan --to mpi -q -o same.plan");
    expect(textOf("same.plan")).toBe(textOf("ring.plan"));
    for (const algorithm of ["themis", "forestcoll", "tacos"])
      await here.run(`export torus:3x3 -q -c allreduce -a ${algorithm} -s 1MiB --to mpi -o ${algorithm}.plan`);
  });

  it.each([
    ["export ring.plan --to msccl-xml -o a.xml", "plan for MPI"],
    [
      "export ring:4 -c allreduce -a ring --to mpi --hosts a:2,b -o a.plan",
      "--hosts is 3 in all; it must be 4 processes",
    ],
    ["export ring.plan --to mpi --hosts a:0 -o a.plan", '--hosts is "a:0"; it must be hosts with their numbers'],
    ["export ring.plan --to mpi --hosts a[0-3 -o a.plan", "it must be a list of hosts such as n[0-3],m7"],
    ["export ring:4 -c allreduce --to msccl-xml --hosts a:4 -o a.xml", "--hosts"],
    ["export ring.plan --to mpi --dialect rccl -o a.plan", "--dialect"],
    ["verify ring.plan --target azure", "mpi for a plan for MPI"],
    ["export dgx-h100:1 -c allreduce -a nvls --to mpi -o a.plan", "NVLS"],
  ])("are refused in a sentence: %s", async (command, why) => {
    const { failure } = await here.ends(command);
    expect(failure).toMatchObject({ code: 2 });
    expect(failure?.message).toContain(why);
  });

  it("that were changed are damaged", async () => {
    here.put("changed.plan", textOf("ring.plan").replace(/^segment .*$/m, "segment 65537"));
    expect((await here.ends("verify changed.plan")).failure?.message).toContain(
      "changed.plan is damaged: its checksum is",
    );
    here.put("cut.plan", textOf("ring.plan").slice(0, 400));
    expect((await here.ends("verify cut.plan")).failure?.message).toContain("cut.plan is damaged");
  });
});

const toolchains = mpiToolchains();
const hasEngine = existsSync(new URL("../../native/mpi/engine.h", import.meta.url));
const why = toolchains.length === 0 ? "no MPI is installed" : hasEngine ? "" : "native/mpi has no engine";
const COLLECTIVES = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "gather", "scatter", "alltoall"];

describe.skipIf(why !== "")(`plans as C programs${why === "" ? "" : ` (${why})`}`, () => {
  it.each(toolchains.flatMap(({ flavour }) => COLLECTIVES.map((collective) => [flavour, collective] as const)))(
    "compile without a warning as C99 and are right: %s, %s",
    async (flavour, collective) => {
      const processes = collective === "alltoall" ? 3 : 4;
      const file = `${flavour}-${collective}`;
      await here.run(`export ring:${processes} -q -c ${collective} -a tacos -s 1MiB --to mpi-c -o ${file}.c`);
      const compiler = spawnSync(
        `mpicc.${flavour}`,
        ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", here.at(`${file}.c`), "-o", here.at(file)],
        { encoding: "utf8" },
      );
      expect(compiler.status, compiler.stderr).toBe(0);
      const root = flavour === "openmpi" ? ["--oversubscribe"] : [];
      const env = {
        ...process.env,
        OMPI_ALLOW_RUN_AS_ROOT: "1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
        UCX_TLS: "tcp,self,sm",
      };
      for (const bytes of [0, 1000, 1_000_003]) {
        const args = [...root, "-n", `${processes}`, here.at(file), `${bytes}`, "1"];
        const { stdout, stderr, status } = spawnSync(`mpirun.${flavour}`, args, {
          encoding: "utf8",
          env,
          timeout: 60_000,
        });
        expect(status, stderr).toBe(0);
        expect(stdout).toContain("right");
      }
    },
    120_000,
  );
});
