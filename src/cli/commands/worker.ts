import { availableParallelism } from "node:os";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { optionValue, textOf } from "../../request/option-table.ts";
import { openExecutors } from "../../sweep/executors.ts";
import { isRedis, readRedisAddress } from "../../sweep/redis/address.ts";
import { runRedisWorker } from "../../sweep/redis/worker.ts";
import { workersScript } from "../../sweep/slurm/scripts.ts";
import { runShareWorker } from "../../sweep/slurm/share-worker.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { outputFile } from "../files/output-file.ts";
import { ownCommand } from "../own-command.ts";
import { version } from "../version.ts";

const GRACE_MS = 20_000;
/** What a worker takes to end beside its tasks. */
const LAST_MS = 10_000;
/** How often a line says how far it is where nobody sees progress. */
const LINE_MS = 60_000;

/** `banyan worker PLACE`: does tasks of sweeps until it is interrupted, or until a share is through. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, signal, json, quiet } = context;
  const place = args[0] as string;
  const share = optionValue(options, "share");
  if (share === undefined && !isRedis(place))
    throw new InputError("PLACE", "redis://HOST:PORT, or with --share K/N the folder of a sweep", place);
  if (share !== undefined && isRedis(place))
    throw new InputError(optionName("share"), "with the folder of a sweep, not with a server").as("not-together");
  if (textOf(options, "script") !== undefined) return writeScript(context, place);
  const graceMs = optionValue(options, "grace") ?? GRACE_MS;
  context.grace(graceMs + LAST_MS);
  const backend = textOf(options, "backend") ?? null;
  const kernels = await withEngine(context, async (engine) => engine.backend);
  const cores = availableParallelism();
  const size = optionValue(options, "concurrency") ?? cores;
  let shown = performance.now();
  const common = {
    ...{ version, backend, kernels, size, graceMs, signal, open: openExecutors },
    threads: optionValue(options, "threads") ?? Math.floor(cores / size / 2),
    memoryBytes: optionValue(options, "memory") ?? null,
    note: context.note,
    progress: ({ done, running }: { readonly done: number; readonly running: number }) => {
      if (context.terminal !== null) context.progress({ what: "doing tasks", done, unit: "tasks done" });
      else if (performance.now() - shown > LINE_MS) {
        shown = performance.now();
        context.note(`${done} tasks done, ${running} running`);
      }
    },
  };
  const done =
    share === undefined
      ? await runRedisWorker(place, common)
      : await runShareWorker({ ...common, folder: place, share: share.share, of: share.of });
  if (json) outJson(context, { schema: "banyan/worker@1", tasks: done });
  else if (!quiet) outLines(context, [`  ${done} ${done === 1 ? "task" : "tasks"} done`]);
  return 0;
}

/** `--script FILE`: a script of Slurm that starts such workers. */
function writeScript(context: Context, place: string): number {
  const { options } = context;
  if (!isRedis(place))
    throw new InputError(optionName("script"), "with redis://HOST:PORT; --engine slurm writes the script of shares").as(
      "not-together",
    );
  const path = textOf(options, "script") as string;
  const url = new URL(place);
  [url.username, url.password] = ["", ""];
  readRedisAddress(url.href, {});
  const given = (["memory", "grace", "backend", "threads"] as const).flatMap((id) => {
    const text = textOf(options, id);
    return text === undefined ? [] : [`--${id}`, text];
  });
  const file = outputFile(context, path, optionName("script"));
  file.write([workersScript({ address: url.href, command: ownCommand(), args: given })]);
  context.note(`${path} starts workers: sbatch --ntasks=N ${path}`);
  return 0;
}
