import { availableParallelism } from "node:os";
import { optionName } from "../base/option-names.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import { openEngine } from "../engine/engine.ts";
import { parseBackend } from "../engine/kernels/choose.ts";
import type { Engine } from "../engine/types.ts";
import type { JudgeSteps } from "../model/replay/steps-problem.ts";
import { optionValue, textOf } from "../request/option-table.ts";
import { judgeBy } from "../run/judge.ts";
import type { Context } from "./context.ts";

/** Runs work on the engine that --backend and --threads ask for; a line says which kernels had to do instead, and why. */
export async function withEngine<T>(context: Context, work: (engine: Engine) => Promise<T>): Promise<T> {
  const backend = textOf(context.options, "backend");
  const threads = optionValue(context.options, "threads");
  const engine = await openEngine({
    ...(backend === undefined ? {} : { backend: parseBackend(backend, optionName("backend")) }),
    ...(threads === undefined ? {} : { threads }),
  });
  if (engine.reason !== undefined) context.note(`${engine.backend} kernels, because ${engine.reason}`);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** Returns the judge of transfers among kernels, on the threads that --threads asks for. */
export const judgeHere = (context: Context, kernels: Kernels): JudgeSteps | undefined =>
  judgeBy(kernels, () => optionValue(context.options, "threads") ?? availableParallelism());
