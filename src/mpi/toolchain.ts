import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../base/errors.ts";

/** MPI libraries that the runtime is built for and tried with. */
export const MPI_FLAVOURS = ["openmpi", "mpich"] as const;
export type MpiFlavour = (typeof MPI_FLAVOURS)[number];

/** An MPI library that is installed: its compiler, its launcher, and what it says of itself. */
export interface MpiToolchain {
  readonly flavour: MpiFlavour;
  readonly compiler: string;
  readonly launcher: string;
  /** "Open MPI 4.1.4" */
  readonly version: string;
}

/** Debian's packages of each. */
const PACKAGES: Readonly<Record<MpiFlavour, string>> = {
  openmpi: "openmpi-bin and libopenmpi-dev",
  mpich: "mpich and libmpich-dev",
};

/** What is compiled of `native/mpi/`: the source, what it becomes, further arguments. */
const PRODUCTS = {
  runtime: { source: "runtime.cpp", output: "libbanyan_mpi.so", args: ["-shared", "-fPIC"] },
  "time-calls": { source: "time-calls.cpp", output: "time-calls", args: [] },
  probe: { source: "probe.cpp", output: "probe", args: [] },
  // of the tests
  matrix: { source: "test/matrix.cpp", output: "matrix", args: [] },
  damage: { source: "test/damage.cpp", output: "damage", args: [] },
} as const;
export type MpiProduct = keyof typeof PRODUCTS;

const SOURCES = fileURLToPath(
  new URL(import.meta.url.includes("/command/cli/") ? "../../../native/mpi" : "../../native/mpi", import.meta.url),
);

const outputOf = (command: string, ...args: string[]): string | null => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? `${stdout}${stderr}` : null;
};

/** Returns which library a launcher belongs to, and its version; null: it is not there, or of another library. */
function libraryOf(launcher: string): Pick<MpiToolchain, "flavour" | "version"> | null {
  const text = outputOf(launcher, "--version");
  const open = /Open MPI\) ([\d.]+)/.exec(text ?? "");
  if (open !== null) return { flavour: "openmpi", version: `Open MPI ${open[1]}` };
  const hydra = /HYDRA[\s\S]*?Version:\s+([\d.]+)/.exec(text ?? "");
  return hydra === null ? null : { flavour: "mpich", version: `MPICH ${hydra[1]}` };
}

/** Returns the installed libraries, the one of `mpirun` first. */
export function mpiToolchains(): readonly MpiToolchain[] {
  const found = new Map<MpiFlavour, MpiToolchain>();
  for (const suffix of ["", ".openmpi", ".mpich"]) {
    const library = libraryOf(`mpirun${suffix}`);
    if (library === null || found.has(library.flavour)) continue;
    const compiler = [`mpicxx.${library.flavour}`, `mpicxx${suffix}`].find((name) => outputOf(name, "-show") !== null);
    if (compiler !== undefined) found.set(library.flavour, { ...library, compiler, launcher: `mpirun${suffix}` });
  }
  return [...found.values()];
}

/** Returns a library, the one that is asked for or the first. Throws InputError with what to install. */
export function mpiToolchain(flavour?: MpiFlavour): MpiToolchain {
  const found = mpiToolchains().find((one) => flavour === undefined || one.flavour === flavour);
  if (found !== undefined) return found;
  const needed = flavour === undefined ? `${PACKAGES.openmpi}, or ${PACKAGES.mpich}` : PACKAGES[flavour];
  throw new InputError("MPI", "mpirun and mpicxx on the path", "neither").saying(
    `no MPI library was found (mpirun and mpicxx on the path); Debian has it in ${needed}`,
  );
}

/** Returns where compiled programs are kept. */
function cacheFolder(): string {
  const { BANYAN_CACHE_DIR: own, XDG_CACHE_HOME: xdg } = process.env;
  return own ?? join(xdg ?? (homedir() === "" ? tmpdir() : join(homedir(), ".cache")), "banyan");
}

/**
 * Compiles a program of `native/mpi/` for a library unless that was done before, and returns its path. It is kept under a hash
 * of the sources and of what the compiler says of itself. Throws InputError with the compiler's first error.
 */
export async function builtMpi({ compiler }: MpiToolchain, product: MpiProduct): Promise<string> {
  const { source, output, args } = PRODUCTS[product];
  const hash = createHash("sha256").update(`${outputOf(compiler, "-show")}${outputOf(compiler, "--version")}${args}`);
  const folders = ["", ...(dirname(source) === "." ? [] : [dirname(source)])];
  for (const name of folders.flatMap((one) => readdirSync(join(SOURCES, one)).map((file) => join(one, file))).sort())
    if (/\.(?:h|cpp)$/.test(name)) hash.update(name).update(readFileSync(join(SOURCES, name)));
  const folder = join(cacheFolder(), "mpi", hash.digest("hex").slice(0, 16));
  const path = join(folder, output);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const fresh = join(folder, `.${output}.${process.pid}`);
  const all = ["-std=c++17", "-O2", "-Wall", "-Wextra", ...args, join(SOURCES, source), "-o", fresh, "-lpthread"];
  const child = spawn(compiler, all, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number | null>((done) => child.on("close", done).on("error", () => done(1)));
  if (code === 0) renameSync(fresh, path);
  else {
    rmSync(fresh, { force: true });
    const first = errors.split("\n").find((line) => line.includes("error")) ?? errors.slice(0, 200);
    throw new InputError(compiler, `a compiler that builds ${source}`, first);
  }
  return path;
}
