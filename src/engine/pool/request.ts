import type { CancelFlag, Kernels } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/milp.ts";
import type { Board } from "../milp/board.ts";
import { type MilpJob, runMilpJob } from "../milp/job.ts";
import { type Failure, toFailure } from "./failure.ts";
import { type PoolResult, type PoolTask, runTask } from "./pool.ts";

/** What a pool sends to its threads; columns, flag and board lie in shared memory. */
export type WorkerRequest =
  | { readonly task: PoolTask; readonly cancel: CancelFlag | undefined }
  | { readonly job: MilpJob; readonly board: Board };

export type WorkerResult = PoolResult<PoolTask> | MilpSolution;
export type WorkerReply = { readonly result: WorkerResult } | { readonly failure: Failure };

/** Returns the reply to a request that this thread works on; rejects with errors that are not ours. */
export async function replyTo(request: WorkerRequest, kernels: Kernels): Promise<WorkerReply> {
  try {
    const result =
      "job" in request ? await runMilpJob(request.job, request) : runTask(kernels, request.task, request.cancel);
    return { result };
  } catch (error) {
    const failure = toFailure(error);
    if (failure === undefined) throw error;
    return { failure };
  }
}

/** Returns the buffers of a reply's columns, which can be moved to another thread. */
export function buffersOf(reply: WorkerReply): ArrayBuffer[] {
  if ("failure" in reply || reply.result === null) return [];
  const { result } = reply;
  const parts: unknown[] = ArrayBuffer.isView(result)
    ? [result]
    : Object.values("trees" in result ? result.trees : result);
  return parts.filter((part) => ArrayBuffer.isView(part)).map((column) => column.buffer as ArrayBuffer);
}
