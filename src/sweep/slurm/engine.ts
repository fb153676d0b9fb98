import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CancelledError, InputError } from "../../base/errors.ts";
import type { Outcome } from "../../model/sweep/task.ts";
import type { SweepEngine } from "../engine.ts";
import { openStore } from "../store.ts";
import { appendLines, linesFrom, readSmall, sizeOf, writeSmall } from "./lines.ts";
import { arrayScript } from "./scripts.ts";
import { type ShareRefusal, type SharesFacts, shareOf, sharesIn } from "./shares.ts";

/** What a sweep is handed to Slurm with. */
export interface SlurmEngineOptions {
  /** The sweep's folder, on a file system that the machines of the cluster share. */
  readonly folder: string;
  readonly store: string;
  readonly sweep: string;
  readonly version: string;
  readonly backend: string | null;
  /** Elements of the array. */
  readonly shares: number;
  /** Options of the job: partition, time, mem, cpus-per-task, ... */
  readonly job: Readonly<Record<string, string>>;
  /** How banyan is called on the machines of the cluster. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  note(line: string): void;
}

/** What is handed over before something comes back. */
const WINDOW_EACH = 256;
const LEAST_WINDOW = 4096;
const LOOK_MS = 500;
const WATCH_MS = 5000;
/** Elements of a share that may end one after the other without any outcome. */
const MOST_FRUITLESS = 3;

const SHARES = 16;
const MOST_SHARES = 100_000;
/** Options of the job that are ours. */
const OURS = ["array", "output", "error", "job-name", "requeue", "open-mode", "parsable"];

/** Reads "slurm?shares=100&partition=short&time=1:00:00": how many shares, and options of the job. Throws InputError. */
export function readSlurm(text: string): { readonly shares: number; readonly job: Readonly<Record<string, string>> } {
  const parameters = new URLSearchParams(text.replace(/^slurm\??/, ""));
  const job: Record<string, string> = {};
  let shares = SHARES;
  for (const [name, value] of parameters) {
    if (name === "shares") {
      if (!/^\d{1,6}$/.test(value) || Number(value) < 1 || Number(value) > MOST_SHARES)
        throw new InputError("--engine slurm: shares", `a whole number from 1 to ${MOST_SHARES}`, value).as(
          "out-of-range",
        );
      shares = Number(value);
    } else if (!/^[a-z][a-z-]*$/.test(name) || !/^[\w.,:=%+/@()[\]-]+$/.test(value) || OURS.includes(name))
      throw new InputError(
        "--engine slurm",
        "shares=N, and options of sbatch such as partition=NAME",
        `${name}=${value}`,
      );
    else job[name] = value;
  }
  return { shares, job };
}
/** Runs one of Slurm's commands; null where there is none of that name. */
function slurm(
  command: string,
  ...args: string[]
): { readonly code: number; readonly out: string; readonly err: string } | null {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return null;
  return { code: status ?? 1, out: stdout, err: error?.message ?? stderr };
}

/** What is known of one share. */
interface ShareState {
  pending: number;
  /** Bytes of its outcomes that were read, and of these those whose outcomes are settled. */
  read: number;
  settled: number;
  /** Hashes that were read, in order, with where their lines end: below 0 where they are settled, after one that is not. */
  readonly unsettled: Map<string, number>;
  /** Elements of it that were submitted since it last said something. */
  fruitless: number;
}

/** Opens a sweep's folder as the work of a job array. Rejects with InputError where there is no Slurm, and where the folder cannot be written. */
export async function openSlurmEngine(options: SlurmEngineOptions): Promise<SweepEngine> {
  const { sweep: name, version, backend, shares, job, command, signal, note } = options;
  if (slurm("sbatch", "--version") === null)
    throw new InputError("--engine slurm", "a machine that has Slurm's sbatch").saying(
      "sbatch is not there: --engine slurm submits job arrays, and is for a machine of a Slurm cluster",
    );
  const files = sharesIn(resolve(options.folder), shares);
  const store = await openStore(options.store);
  const probe = await store.put(new TextEncoder().encode(`banyan sweep ${name}\n`));
  const place = /^[a-z][a-z0-9+.-]+:\/\//i.test(store.place) ? store.place : resolve(store.place);
  const facts: SharesFacts = { schema: "banyan/shares@1", name, version, backend, store: place, probe, shares };
  try {
    mkdirSync(files.root, { recursive: true });
    writeSmall(files.facts, JSON.stringify(facts));
    writeSmall(
      files.script,
      arrayScript({ name, shares, job, command, folder: resolve(options.folder), log: files.log("%a") }),
    );
    chmodSync(files.script, 0o755);
    rmSync(files.closed, { force: true });
  } catch (error) {
    throw new InputError(options.folder, "a folder that can be written").saying(
      `${files.root} cannot be written: ${(error as Error).message}`,
    );
  }

  const pending = new Map<string, number>();
  const ready: Outcome[] = [];
  /** What came of tasks for a coordinator before this one, which did not settle it. */
  const early = new Map<string, Outcome>();
  const states = Array.from({ length: shares }, (_, i): ShareState => {
    const settled = Number(readSmall(files.taken(i + 1)) ?? 0);
    return { pending: 0, read: settled, settled, unsettled: new Map(), fruitless: 0 };
  });
  const arrays = (readSmall(files.arrays) ?? "").split("\n").filter((id) => id !== "");
  let live: ReadonlySet<number> = new Set();
  let running = 0;
  let isOpening = true;
  let watched = Number.NEGATIVE_INFINITY;

  /** Reads what a share said; returns whether it said anything. */
  function hear(share: number): boolean {
    const state = states[share - 1] as ShareState;
    const path = files.outcomes(share);
    if (sizeOf(path) <= state.read) return false;
    for (const { text, end } of linesFrom(path, state.read)) {
      const outcome = JSON.parse(text) as Outcome;
      state.read = end;
      state.unsettled.delete(outcome.hash);
      if (pending.delete(outcome.hash)) {
        state.pending--;
        ready.push(outcome);
        state.unsettled.set(outcome.hash, end);
        continue;
      }
      // asked for again it is said again
      state.unsettled.set(outcome.hash, -end);
      if (isOpening) early.set(outcome.hash, outcome);
    }
    state.fruitless = 0;
    return true;
  }

  /** Asks which elements there are, and sees to it that shares with tasks have one. Throws InputError where elements end without doing anything. */
  function watch(): void {
    watched = performance.now();
    for (let share = 1; share <= shares; share++) {
      const refused = readSmall(files.refused(share));
      if (refused === null) continue;
      rmSync(files.refused(share), { force: true });
      const { host, pid, reason } = JSON.parse(refused) as ShareRefusal;
      note(`worker ${pid} on ${host} is refused: ${reason}`);
    }
    const found = new Set<number>();
    running = 0;
    for (const id of [...arrays]) {
      const answer = slurm("squeue", "-h", "-r", "-j", id, "-o", "%K %T");
      if (answer === null || (answer.code !== 0 && !/invalid job id/i.test(answer.err))) {
        note(`squeue does not answer: ${(answer?.err ?? "it is not there").trim().split("\n")[0]}`);
        return;
      }
      const rows = answer.out.split("\n").filter((row) => /^\d/.test(row));
      // an array that has ended is not asked for again
      if (rows.length === 0) arrays.splice(arrays.indexOf(id), 1);
      for (const row of rows) {
        const [share, state] = row.split(" ") as [string, string];
        if (/^(?:COMPLETING|COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY)/.test(state)) continue;
        found.add(Number(share));
        if (state === "RUNNING") running++;
      }
    }
    live = found;
    const missing = states.flatMap((state, i) => (state.pending > 0 && !live.has(i + 1) ? [i + 1] : []));
    if (missing.length === 0) return;
    // elements that ended said something at last
    const silent = missing.filter((share) => !hear(share));
    const worst = silent.find((share) => (states[share - 1] as ShareState).fruitless >= MOST_FRUITLESS);
    if (worst !== undefined)
      throw new InputError("--engine slurm", "elements that do their tasks").saying(
        `elements of share ${worst} ended ${MOST_FRUITLESS} times without doing a task: see ${files.log(String(worst))}; what ended is in the journal, and the same command goes on from there`,
      );
    start(missing.filter((share) => (states[share - 1] as ShareState).pending > 0));
  }

  function start(missing: readonly number[]): void {
    if (missing.length === 0) return;
    const answer = slurm("sbatch", "--parsable", `--array=${ranges(missing)}`, files.script);
    if (answer === null || answer.code !== 0)
      throw new InputError("--engine slurm", "a job that Slurm takes").saying(
        `sbatch refuses the job: ${(answer?.err ?? "it is not there").trim().split("\n")[0]}`,
      );
    const id = answer.out.trim().split(";")[0] as string;
    arrays.push(id);
    writeSmall(files.arrays, `${arrays.join("\n")}\n`);
    for (const share of missing) (states[share - 1] as ShareState).fruitless++;
    note(`job array ${id}: ${missing.length} of ${shares} shares`);
  }

  for (let share = 1; share <= shares; share++) hear(share);
  isOpening = false;

  return {
    window: Math.max(LEAST_WINDOW, WINDOW_EACH * shares),
    async submit(jobs) {
      const lines = new Map<number, string[]>();
      for (const one of jobs) {
        const known = early.get(one.hash);
        if (known !== undefined) {
          early.delete(one.hash);
          ready.push(known);
          continue;
        }
        const share = shareOf(one.hash, shares);
        pending.set(one.hash, share);
        (states[share - 1] as ShareState).pending++;
        lines.set(share, [...(lines.get(share) ?? []), JSON.stringify(one)]);
      }
      for (const [share, own] of lines) appendLines(files.tasks(share), own);
    },
    async ended() {
      while (ready.length === 0 && pending.size > 0) {
        if (signal.aborted) throw new CancelledError();
        states.forEach((state, i) => {
          if (state.pending > 0) hear(i + 1);
        });
        if (ready.length > 0) break;
        if (performance.now() - watched > WATCH_MS) watch();
        if (ready.length === 0) await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
      return ready.splice(0);
    },
    async settled(hashes) {
      const changed = new Set<number>();
      for (const hash of hashes) {
        const share = shareOf(hash, shares);
        const { unsettled } = states[share - 1] as ShareState;
        if (unsettled.has(hash)) unsettled.set(hash, -(unsettled.get(hash) as number));
        changed.add(share);
      }
      for (const share of changed) {
        const state = states[share - 1] as ShareState;
        // what lies before the first that is not settled
        for (const [hash, end] of state.unsettled) {
          if (end > 0) break;
          state.settled = -end;
          state.unsettled.delete(hash);
        }
        writeSmall(files.taken(share), String(state.settled));
      }
    },
    state: () => ({ workers: running, pending: pending.size }),
    async cancel() {
      if (arrays.length > 0) slurm("scancel", ...arrays);
      pending.clear();
      ready.length = 0;
      for (let share = 1; share <= shares; share++) rmSync(files.tasks(share), { force: true });
      writeSmall(files.closed, "");
    },
    async close() {
      // elements that wait for more end; those that still have tasks go on
      if (pending.size === 0 && existsSync(files.root)) writeSmall(files.closed, "");
    },
  };
}

/** Returns whole numbers that grow as sbatch has them: "1-3,7". */
function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const number of numbers) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([low, high]) => (low === high ? String(low) : `${low}-${high}`)).join();
}
