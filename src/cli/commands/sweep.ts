import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { type Job, type Row, TASK_STATUSES, taskHash } from "../../model/sweep/task.ts";
import { optionValue, placeOf, textOf } from "../../request/option-table.ts";
import { type Inputs, inputOf, planSweep, type SweepInput, type SweepPlan } from "../../request/sweep/plan.ts";
import { readSweepFile } from "../../request/sweep/sweep-file.ts";
import { ANOTHER_TRY, coordinate, type Placed, type SweepProgress } from "../../sweep/coordinator.ts";
import { type Executors, openExecutors } from "../../sweep/executors.ts";
import { FOLDER_FILES, openFolder, rowsOfTask, type SweepFolder } from "../../sweep/folder.ts";
import { isElsewhere, openSweepEngine } from "../../sweep/open-engine.ts";
import { isRedis } from "../../sweep/redis/address.ts";
import { writeDuckDb } from "../../sweep/rows/database.ts";
import { openStore } from "../../sweep/store.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { nameOf, readText, STANDARD_INPUT, statOf } from "../files/input-file.ts";
import { ownCommand } from "../own-command.ts";
import { duration } from "../progress.ts";
import { table } from "../reports/table.ts";
import { labelled } from "../reports/text.ts";
import { version } from "../version.ts";

/** Of more points than these it is not worked out beforehand how many are alike. */
const MOST_COUNTED = 2e5;
/** Tasks that an estimate tries, each no longer than this. */
const TRIED = 3;
const TRIED_MS = 10_000;

/** Returns a reader of the files that a sweep names; each is read once. */
function inputReader(): Inputs {
  const known = new Map<string, SweepInput | null>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const stats = name === STANDARD_INPUT ? undefined : statOf(name, "a file of the sweep");
    const input = stats?.isFile() === true ? inputOf(readText(name, "a file of the sweep")) : null;
    known.set(name, input);
    return input;
  };
}

/** Returns the jobs of a plan, each hash once. */
function* jobsOf(plan: SweepPlan, memoryBytes: number | null): Generator<Placed> {
  const { budget } = plan.file;
  const own = { timeMs: budget.timeMs, memoryBytes: budget.memoryBytes ?? memoryBytes };
  for (const { task, cells } of plan.tasks()) {
    yield { job: { hash: taskHash(task, version), task, budget: own }, cells };
  }
}

/** Returns how many tasks differ; null where there are too many points to say. */
function unlikeTasks(plan: SweepPlan, memoryBytes: number | null): number | null {
  if (plan.points > MOST_COUNTED) return null;
  const hashes = new Set<string>();
  for (const { job } of jobsOf(plan, memoryBytes)) hashes.add(job.hash);
  return hashes.size;
}

/** `banyan sweep FILE`: the tasks of a sweep, each once, and what came of them in a folder. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const file = args[0] as string;
  const said = readSweepFile(readText(file, "the sweep"), nameOf(file));
  const name = said.name ?? basename(nameOf(file)).replace(/\.[^.]*$/, "");
  if (options["status"] === true || options["cancel"] === true) return onServer(context, name);
  const plan = planSweep(said, nameOf(file), inputReader());
  const memoryBytes = optionValue(options, "memory") ?? null;
  const path = textOf(options, "output") ?? `${name.replace(/\s+/g, "-")}.sweep`;
  const store = textOf(options, "store") ?? join(path, FOLDER_FILES.store);
  const unlike = unlikeTasks(plan, memoryBytes);
  if (options["dryRun"] === true) return dryRun(context, { plan, name, unlike });
  const folder = openFolder(path);
  try {
    await keepFiles(plan, store);
    folder.describe({
      ...{ schema: "banyan/sweep-folder@1", name, version, verb: said.verb },
      ...{ axes: plan.axes, options: said.options, points: plan.points, store },
    });
    const began = performance.now();
    const progress = await coordinated(context, { name, folder, store, plan, memoryBytes, unlike });
    const rows = folder.writeResults(jobsOf(plan, memoryBytes));
    const db = textOf(options, "db");
    if (db !== undefined) await writeDuckDb(rowsOf(folder, plan, memoryBytes), db);
    const report = {
      ...{ schema: "banyan/sweep@1", name, folder: path, points: plan.points, tasks: progress.done },
      ...{ before: progress.before, statuses: progress.statuses, rows, seconds: (performance.now() - began) / 1000 },
    };
    if (json) outJson(context, report);
    else if (!quiet) outLines(context, sweepLines(report));
    return 0;
  } catch (error) {
    if (!(error instanceof InputError) || folder.journal.count === 0) throw error;
    throw error.saying(`${error.message}; what was done is safe in ${path}, and the same command goes on`);
  } finally {
    folder.close();
  }
}

/** Yields the rows of the results. */
function* rowsOf({ journal }: SweepFolder, plan: SweepPlan, memoryBytes: number | null): Generator<Row> {
  for (const { job, cells } of jobsOf(plan, memoryBytes)) yield* rowsOfTask(journal, job.hash, cells);
}

/** Starts the processes that --jobs, --backend and --threads ask for. */
export function executorsOf({ options }: Context, store: string, memoryBytes: number | null): Promise<Executors> {
  const cores = availableParallelism();
  const size = optionValue(options, "jobs") ?? cores;
  const threads = optionValue(options, "threads") ?? Math.floor(cores / size / 2);
  return openExecutors({ size, backend: textOf(options, "backend") ?? null, threads, store, memoryBytes });
}

/** Puts the files that tasks name into the store, where whoever does them finds them. */
async function keepFiles({ files }: SweepPlan, place: string): Promise<void> {
  const store = await openStore(place);
  for (const { text } of files) await store.put(new TextEncoder().encode(text));
}

interface Coordinated {
  readonly name: string;
  readonly folder: SweepFolder;
  readonly store: string;
  readonly plan: SweepPlan;
  readonly memoryBytes: number | null;
  readonly unlike: number | null;
}

/** Does the tasks that have no outcome yet. */
async function coordinated(
  context: Context,
  { name, folder, store, plan, memoryBytes, unlike }: Coordinated,
): Promise<SweepProgress> {
  const { options, signal, progress, note } = context;
  const where = textOf(options, "engine") ?? "local";
  const engine = await openSweepEngine({
    ...{ engine: where, sweep: name, version, priority: plan.file.priority, store, folder: folder.path, signal, note },
    backend: textOf(options, "backend") ?? null,
    command: ownCommand(),
    executors: () => executorsOf(context, store, memoryBytes),
  });
  const total = unlike ?? plan.points;
  try {
    return await coordinate(jobsOf(plan, memoryBytes), {
      engine,
      journal: folder.journal,
      again: options["retry"] === true ? ANOTHER_TRY : [],
      signal,
      onProgress: ({ done, before, workers }) =>
        progress({
          what: isElsewhere(where) ? `doing tasks on ${workers} workers` : "doing tasks",
          ...{ done: done - before, total: total - before, unit: "tasks" },
        }),
    });
  } finally {
    await engine.close();
  }
}

/** `--status`, `--cancel`: what a server has of sweeps, and the end of this one there. */
async function onServer(context: Context, name: string): Promise<number> {
  const { options, json } = context;
  const url = textOf(options, "engine") ?? "";
  if (!isRedis(url))
    throw new InputError(
      placeOf(options["cancel"] === true ? "cancel" : "status"),
      "--engine redis://HOST beside it",
    ).as("not-alone");
  const { cancelSweep, listSweeps } = await import("../../sweep/redis/admin.ts");
  if (options["cancel"] === true) {
    const waiting = await cancelSweep(url, name);
    if (json) outJson(context, { schema: "banyan/queue@1", name, cancelled: waiting });
    else outLines(context, [`  ${name} is cancelled: ${waiting} tasks that waited are taken back, what runs is ended`]);
    return 0;
  }
  const { sweeps, workers } = await listSweeps(url);
  if (json) outJson(context, { schema: "banyan/queue@1", sweeps, workers });
  else {
    const cells = sweeps.map((one) => [
      ...[one.name, one.version, String(one.priority), String(one.waiting), String(one.running), String(one.ended)],
      one.isAlive ? `${one.host}:${one.pid}` : "gone",
    ]);
    const heads = ["sweep", "version", "priority", "waiting", "running", "to be taken", "coordinator"];
    outLines(context, [
      "",
      ...table(heads, cells, ["left", "left", "right", "right", "right", "right", "left"]).map((line) => `  ${line}`),
      "",
      `  ${workers.length} ${workers.length === 1 ? "worker" : "workers"}: ${workers.map(({ host, pid }) => `${host}:${pid}`).join(", ") || "none"}`,
    ]);
  }
  return 0;
}

interface Dry {
  readonly plan: SweepPlan;
  readonly name: string;
  readonly unlike: number | null;
}

/** `--dry-run`: how many tasks there are, and about how long they take, by a few that are tried. */
async function dryRun(context: Context, { plan, name, unlike }: Dry): Promise<number> {
  const { signal, options, json } = context;
  const total = unlike ?? plan.points;
  const memoryBytes = optionValue(options, "memory") ?? null;
  const chosen = new Set([0, Math.floor(total / 2), total - 1].slice(0, TRIED));
  const tried: { readonly job: Job }[] = [];
  let at = 0;
  const seen = new Set<string>();
  for (const placed of jobsOf(plan, memoryBytes)) {
    if (unlike !== null) {
      if (seen.has(placed.job.hash)) continue;
      seen.add(placed.job.hash);
    }
    if (chosen.has(at++)) tried.push(placed);
    if (tried.length === chosen.size) break;
  }
  const store = mkdtempSync(join(tmpdir(), "banyan-dry-"));
  context.temporary.add(store);
  const seconds: number[] = [];
  let isLonger = false;
  let executors: Executors | undefined;
  try {
    await keepFiles(plan, store);
    executors = await executorsOf(context, store, memoryBytes);
    for (const { job } of tried) {
      context.progress({ what: "trying some tasks" });
      const task = { ...job.task, keep: false };
      const outcome = await executors.execute({ ...job, task, budget: { ...job.budget, timeMs: TRIED_MS } }, signal);
      isLonger ||= outcome.status === "timeout";
      seconds.push(outcome.measured.seconds);
    }
  } finally {
    await executors?.close();
    rmSync(store, { recursive: true, force: true });
    context.temporary.remove(store);
  }
  const { size } = executors;
  const mean = seconds.reduce((sum, each) => sum + each, 0) / Math.max(1, seconds.length);
  const estimate = (mean * total) / size;
  const report = {
    ...{ schema: "banyan/sweep-plan@1", name, points: plan.points, tasks: total },
    ...{ jobs: size, secondsEach: mean, seconds: estimate, isLonger },
  };
  if (json) outJson(context, report);
  else
    outLines(context, [
      "",
      `  ${labelled("sweep", name)}`,
      `  ${labelled("points", String(plan.points))}`,
      `  ${labelled("tasks", unlike === null ? `at most ${total}` : `${total}${total < plan.points ? ", as the others are like them by symmetry or the same" : ""}`)}`,
      `  ${labelled("time", `${isLonger ? "more than " : "about "}${duration(estimate)} with ${size} at once, by ${tried.length === 1 ? "the task" : `${tried.length} tasks`} tried (${duration(mean)} each)`)}`,
    ]);
  return 0;
}

function sweepLines(report: {
  readonly name: string;
  readonly folder: string;
  readonly points: number;
  readonly tasks: number;
  readonly before: number;
  readonly statuses: SweepProgress["statuses"];
  readonly rows: number;
  readonly seconds: number;
}): string[] {
  const { name, folder, points, tasks, before, statuses, rows, seconds } = report;
  const ended = TASK_STATUSES.filter((status) => statuses[status] > 0).map((status) => `${statuses[status]} ${status}`);
  return [
    "",
    `  ${labelled("sweep", name)}`,
    `  ${labelled("points", String(points))}`,
    `  ${labelled("tasks", `${tasks}${before > 0 ? `, ${before} of them done before` : ""}: ${ended.join(", ") || "none"}`)}`,
    `  ${labelled("rows", `${rows} in ${join(folder, FOLDER_FILES.results)}`)}`,
    `  ${labelled("time", duration(seconds))}`,
    "",
    `  \`banyan results ${folder}\` shows them`,
  ];
}
