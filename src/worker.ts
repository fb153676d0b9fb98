import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import { loadKernels } from "./engine/kernels/load.ts";
import { runMilpJob } from "./engine/milp/job.ts";
import { toFailure } from "./engine/pool/failure.ts";
import type { WorkerReply, WorkerRequest, WorkerResult, WorkerSetup } from "./engine/pool/piscina.ts";
import { runTask } from "./engine/pool/pool.ts";

const { backend } = workerData as WorkerSetup;
const loaded = loadKernels(backend);

/** Runs one task or job of src/engine/pool/piscina.ts; the result's columns are moved to the caller, not copied. */
export default async function work(request: WorkerRequest): Promise<WorkerReply> {
  const { kernels } = await loaded;
  try {
    if ("job" in request) return moved(await runMilpJob(request.job, request));
    return moved(runTask(kernels, request.task, request.cancel));
  } catch (error) {
    const failure = toFailure(error);
    if (failure === undefined) throw error;
    return { failure };
  }
}

function moved(result: WorkerResult): WorkerReply {
  const reply = { result };
  if (result === null) return reply;
  const parts: unknown[] = ArrayBuffer.isView(result)
    ? [result]
    : Object.values("trees" in result ? result.trees : result);
  const buffers = parts.filter((part) => ArrayBuffer.isView(part)).map((column) => column.buffer);
  return move({ [transferableSymbol]: buffers, [valueSymbol]: reply } as never) as unknown as WorkerReply;
}
