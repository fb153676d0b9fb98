import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./redis.ts";

/** A cluster of this machine alone: a real slurmctld, a real slurmd, and munge between them. */
export interface TestSlurm {
  readonly folder: string;
  /** What its commands need in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command of Slurm's; returns what it writes. */
  run(command: string, ...args: string[]): string;
  remove(): Promise<void>;
}

const isThere = (command: string, ...args: string[]): boolean => spawnSync(command, args).error === undefined;

/** Why no cluster can be started here; null where it can be tried. */
export const slurmMissing: string | null =
  process.getuid?.() !== 0
    ? "only root starts slurmd"
    : !isThere("munged", "--version")
      ? "munge is not installed"
      : !isThere("slurmctld", "-V") || !isThere("slurmd", "-V") || !isThere("sbatch", "--version")
        ? "slurm-wlm is not installed"
        : null;

/** Returns a file's text; "" where there is none that can be read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const TRIES = 150;
const PAUSE_MS = 200;

/** Starts a cluster; returns why it does not start, where it does not. */
export async function startSlurm(): Promise<TestSlurm | string> {
  const folder = mkdtempSync(join(tmpdir(), "banyan-slurm-"));
  const at = (name: string): string => join(folder, name);
  const host = hostname().split(".")[0] as string;
  for (const name of ["munge", "state", "spool"]) mkdirSync(at(name), { mode: 0o700 });
  writeFileSync(at("munge/key"), randomBytes(1024), { mode: 0o400 });
  const children: ChildProcess[] = [];
  const start = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void => {
    children.push(spawn(command, args, { stdio: "ignore", env }));
  };
  const [controller, daemon] = [await freePort(), await freePort()];
  const lines = [
    ...["ClusterName=banyan", `SlurmctldHost=${host}(127.0.0.1)`],
    ...[`SlurmctldPort=${controller}`, `SlurmdPort=${daemon}`],
    ...["AuthType=auth/munge", `AuthInfo=socket=${at("munge/socket")}`, "CredType=cred/munge"],
    ...["SlurmUser=root", "SlurmdUser=root", `StateSaveLocation=${at("state")}`, `SlurmdSpoolDir=${at("spool")}`],
    ...[`SlurmctldPidFile=${at("slurmctld.pid")}`, `SlurmdPidFile=${at("slurmd.pid")}`],
    ...[`SlurmctldLogFile=${at("slurmctld.log")}`, `SlurmdLogFile=${at("slurmd.log")}`],
    ...["ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SwitchType=switch/none", "MpiDefault=none"],
    ...["SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "SlurmdParameters=config_overrides"],
    ...["SchedulerType=sched/builtin", "SchedulerParameters=sched_interval=1,batch_sched_delay=0"],
    ...["JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none"],
    ...["ReturnToService=2", "KillWait=3", "MinJobAge=2"],
    `NodeName=${host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN`,
    "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE",
  ];
  writeFileSync(at("slurm.conf"), `${lines.join("\n")}\n`);
  // nothing here uses control groups, but slurmd looks for their plugin
  writeFileSync(at("cgroup.conf"), "CgroupPlugin=cgroup/v1\n");
  const env = { SLURM_CONF: at("slurm.conf") };
  const all = { ...process.env, ...env };
  const munge = ["key-file=key", "socket=socket", "pid-file=pid", "log-file=log", "seed-file=seed"].map((word) => {
    const [name, file] = word.split("=") as [string, string];
    return `--${name}=${at(`munge/${file}`)}`;
  });
  start("munged", ["--force", "--foreground", ...munge]);
  await pause(PAUSE_MS);
  start("slurmctld", ["-D", "-f", at("slurm.conf")], all);
  start("slurmd", ["-D", "-f", at("slurm.conf"), "-N", host], all);
  const remove = async (): Promise<void> => {
    spawnSync("scancel", ["--user=root"], { env: all });
    for (let i = 0; i < TRIES; i++) {
      if (spawnSync("squeue", ["-h"], { encoding: "utf8", env: all }).stdout?.trim() === "") break;
      await pause(PAUSE_MS);
    }
    for (const child of children.reverse()) {
      if (child.exitCode !== null) continue;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    // steps that still wait to tell slurmd of their end
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const environment = textOf(`/proc/${pid}/environ`).split("\0");
      if (
        environment.includes(`SLURM_CONF=${at("slurm.conf")}`) &&
        textOf(`/proc/${pid}/comm`).startsWith("slurmstepd")
      )
        process.kill(Number(pid), "SIGKILL");
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { encoding: "utf8", env: all });
  for (let i = 0; i < TRIES; i++) {
    const { stdout } = spawnSync("sinfo", ["-h", "-o", "%T"], { encoding: "utf8", env: all });
    if (stdout?.trim() === "idle") return { folder, env, run, remove };
    await pause(PAUSE_MS);
  }
  await remove();
  return "slurmctld and slurmd do not come up here";
}
