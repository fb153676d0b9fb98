import { spawn } from "node:child_process";
import { builtMpi, type MpiToolchain, mpiToolchains } from "../../src/mpi/toolchain.ts";

/** MPI libraries that are installed here. */
export const MPI_HERE: readonly MpiToolchain[] = mpiToolchains();

/** Why nothing of MPI can be tried here; null where it can. */
export const mpiMissing: string | null = MPI_HERE.length > 0 ? null : "no MPI library is installed";

export interface MpiJob {
  readonly ranks: number;
  readonly program: string;
  readonly args?: readonly string[];
  /** Folder of plans; undefined: without the runtime. */
  readonly plans?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Shell commands that every rank runs first; $RANK is its number. */
  readonly before?: string;
  readonly seconds?: number;
}

/** Runs a job and returns how it ended; after so many seconds, 60 without it, it is ended, with code null. */
export async function mpiJob(
  toolchain: MpiToolchain,
  { ranks, program, args = [], plans, env = {}, before = ":", seconds = 60 }: MpiJob,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const isOpen = toolchain.flavour === "openmpi";
  const runtime = plans === undefined ? null : await builtMpi(toolchain, "runtime");
  const given = { ...env, ...(plans === undefined ? {} : { BANYAN_PLANS: plans }) };
  const set = Object.entries(given).map(([name, value]) => `${name}='${value}'`);
  const preload = runtime === null ? "" : `LD_PRELOAD='${runtime}'`;
  const script = `RANK=\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; export ${set.join(" ")} _=; ${before}; ${preload} exec "$0" "$@"`;
  const launch = isOpen ? ["--oversubscribe", "--allow-run-as-root"] : [];
  const child = spawn(toolchain.launcher, [...launch, "-n", String(ranks), "sh", "-c", script, program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const late = setTimeout(() => child.kill("SIGTERM"), seconds * 1000);
  const code = await new Promise<number | null>((done) => child.on("close", (status) => done(status)));
  clearTimeout(late);
  return { code, stdout, stderr };
}
