import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../base/errors.ts";
import { HAS_DELAY, LAB_FOLDER, READY } from "./script.ts";

/** A laboratory that runs: namespaces below one process, which ends with its standard input. */
export interface Laboratory {
  /** Links have the delays that they were to have. */
  readonly hasDelays: boolean;
  /** Seconds that it took to build. */
  readonly seconds: number;
  /** Starts a command inside: in the namespace that NPUs are reached from, or in that of an NPU. */
  start(command: readonly string[], options?: StartOptions): ChildProcess;
  /** Ends everything inside; returns when nothing of it runs any more. */
  close(): Promise<void>;
  /** Returns whether others have ended it; asked once something inside has failed, for that ends first. */
  hasEnded(): Promise<boolean>;
}

export interface StartOptions {
  /** Number of the NPU; without it no NPU's. */
  readonly npu?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** "inherit": its input and output are those of this process; "pipe" is for reading. Its errors are for reading. */
  readonly stdio?: "inherit" | "pipe";
}

/** Under this name the process that holds a laboratory is found again. */
const MARK = "banyan-laboratory";
/** It waits for its input to end; bash takes orphans in. */
const HOLD = "while read -r _; do :; done";
const NAMESPACES = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"];
/** How long after what is inside the laboratory itself may take to end. */
const END_MS = 300;
const USER_NAMESPACE = ["--user", "--map-root-user"];

const withTools = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  PATH: `${env["PATH"] ?? "/usr/bin:/bin"}:/usr/sbin:/sbin`,
});

/** Programs that a laboratory is made with, and Debian's package of each. */
const TOOLS: Readonly<Record<string, string>> = {
  ...{ unshare: "util-linux", nsenter: "util-linux", mount: "mount", hostname: "hostname", bash: "bash" },
  ...{ ip: "iproute2", tc: "iproute2", bridge: "iproute2" },
};

/** Returns why this machine can have no laboratory, and what to do about it; null where it can. */
export function laboratoryHindrance(): string | null {
  if (process.platform !== "linux")
    return `a laboratory is made of Linux's network namespaces, and this is ${process.platform}: run it on Linux, or in a virtual machine`;
  const folders = (withTools(process.env)["PATH"] as string).split(":");
  const missing = Object.keys(TOOLS).filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (missing.length > 0) {
    const packages = [...new Set(missing.map((tool) => TOOLS[tool]))];
    return `a laboratory needs ${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} not on the path: install ${packages.join(" and ")}`;
  }
  return usableNamespaces() === null
    ? "this process may make no network namespaces: run it as root, or allow user namespaces (sysctl user.max_user_namespaces above 0; kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0 where they exist; in a container, more privileges)"
    : null;
}

/** Returns the arguments of `unshare` that work here; null: none do. */
function usableNamespaces(): readonly string[] | null {
  const ways = process.getuid?.() === 0 ? [[], USER_NAMESPACE] : [USER_NAMESPACE];
  const works = (way: readonly string[]): boolean =>
    spawnSync("unshare", [...way, ...NAMESPACES, "ip", "link", "set", "lo", "up"], {
      env: withTools(process.env),
      stdio: "ignore",
    }).status === 0;
  return ways.find(works) ?? null;
}

/** Returns the processes with their parents, states and command lines; those that end meanwhile are left out. */
function processes(): { pid: number; parent: number; state: string; words: string[] }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return [{ pid: Number(name), parent: Number(parent), state: state as string, words }];
    } catch {
      return [];
    }
  });
}

/** A laboratory that runs on this machine. */
export interface FoundLaboratory {
  readonly network: string;
  /** The process that started it. */
  readonly starter: number;
  /** What is the matter with that process; null: it works. */
  readonly orphaned: "ended" | "stopped" | null;
  /** Processes whose end is its end. */
  readonly pids: readonly number[];
}

/** Returns the laboratories that run on this machine, as far as this user may see them. O(processes). */
export function runningLaboratories(): FoundLaboratory[] {
  const all = processes();
  const marked = all.filter(({ words }) => words[0] === "bash" && words.includes(MARK));
  // what a holder starts has its words until it becomes another program
  const holders = marked.filter(({ parent }) => !marked.some(({ pid }) => pid === parent));
  return holders.map(({ pid, parent, words }) => {
    const at = words.indexOf(MARK);
    const holder = all.find((one) => one.pid === parent && one.words[0] === "unshare");
    const starter = Number(words[at + 1]);
    const alive = all.find((one) => one.pid === starter && holder?.parent === starter);
    const orphaned = alive === undefined ? "ended" : /[Tt]/.test(alive.state) ? "stopped" : null;
    const pids = holder === undefined ? [pid] : [pid, holder.pid];
    return { network: words[at + 2] ?? "", starter, orphaned, pids };
  });
}

/** Ends a laboratory at once. The kernel removes what was in it. */
export function endLaboratory({ pids }: FoundLaboratory): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended by itself
    }
  }
}

const textOf = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let text = "";
  stream?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  return () => text;
};

const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((done) => child.on("close", (code) => done(code ?? 1)).on("error", () => done(1)));

/** Returns the process inside, which holds the namespaces; null: it has not begun yet. */
const heldBy = (holder: number): number | null =>
  processes().find(({ parent, words }) => parent === holder && words[0] === "bash")?.pid ?? null;

/**
 * Returns a laboratory, built by a script (`buildScript`). It is ended by `close`, by the abortion of `signal`, and by the kernel
 * when this process ends in whatever way. Throws InputError where this machine can have none, or the script fails.
 */
export async function openLaboratory(name: string, script: string, signal: AbortSignal): Promise<Laboratory> {
  const began = performance.now();
  const hindrance = laboratoryHindrance();
  if (hindrance !== null)
    throw new InputError("the laboratory", "a machine that can have one", hindrance).saying(hindrance);
  const way = usableNamespaces() as readonly string[];
  const env = withTools(process.env);
  // a group of its own: Ctrl-C in a terminal is for this process, which then ends all
  const holder = spawn("unshare", [...way, ...NAMESPACES, "bash", "-c", HOLD, MARK, `${process.pid}`, name], {
    ...{ stdio: ["pipe", "ignore", "ignore"], detached: true, env },
  });
  holder.stdin?.on("error", () => undefined);
  let isOver = false;
  const ended = exitOf(holder).then(() => {
    isOver = true;
  });
  const end = (): void => {
    holder.stdin?.destroy();
    holder.kill("SIGKILL");
  };
  signal.addEventListener("abort", end, { once: true });
  const close = async (): Promise<void> => {
    signal.removeEventListener("abort", end);
    end();
    await ended;
  };
  const hasEnded = async (): Promise<boolean> => {
    await Promise.race([ended, new Promise((done) => setTimeout(done, END_MS))]);
    return isOver;
  };
  let inside: number | null = null;
  while (inside === null && holder.exitCode === null && holder.signalCode === null) {
    await new Promise((done) => setTimeout(done, 2));
    inside = heldBy(holder.pid as number);
  }
  const user = way.length === 0 ? [] : ["--user", "--preserve-credentials"];
  const entering = ["--target", `${inside}`, ...user, "--net", "--mount", "--uts", "--ipc", "--pid"];
  const start = (
    command: readonly string[],
    { npu, env: more = {}, stdio = "pipe" }: StartOptions = {},
  ): ChildProcess => {
    const within = npu === undefined ? command : [`${LAB_FOLDER}/enter`, `${npu}`, ...command];
    const words = [...entering, "--", "bash", "-c", 'cd "$0" && exec "$@"', process.cwd(), ...within];
    return spawn("nsenter", words, {
      env: { ...env, TMPDIR: `${LAB_FOLDER}/tmp`, ...more },
      stdio: [stdio === "inherit" ? "inherit" : "ignore", stdio, "pipe"],
      detached: stdio === "pipe",
    });
  };
  try {
    const builder = spawn("nsenter", [...entering, "--", "bash", "-s"], {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    builder.stdin.on("error", () => undefined);
    builder.stdin.end(script);
    const [out, err] = [textOf(builder.stdout), textOf(builder.stderr)];
    await exitOf(builder);
    signal.throwIfAborted();
    if (!out().includes(READY)) {
      const line = err().trim().split("\n")[0] ?? "";
      throw new InputError(
        "the laboratory",
        "a kernel with network namespaces, veth, bridges, htb and u32 filters",
        line,
      ).saying(`the laboratory could not be built: ${line === "" ? "its processes were ended" : line}`);
    }
    const seconds = (performance.now() - began) / 1000;
    return { hasDelays: out().includes(HAS_DELAY), seconds, start, close, hasEnded };
  } catch (error) {
    await close();
    throw error;
  }
}
