import { CancelledError, DamagedFileError, InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import type { CancelFlag, Kernels } from "../contract/kernels.ts";
import type { MilpSolution } from "../contract/programs.ts";
import type { Board } from "../milp/board.ts";
import { type MilpJob, runMilpJob } from "../milp/job.ts";
import { type PoolResult, type PoolTask, runTask, type Work } from "./pool.ts";

/** What a pool sends to its threads; columns, flag and board lie in shared memory. */
export type WorkerRequest =
  | { readonly task: PoolTask; readonly cancel: CancelFlag | undefined }
  | { readonly job: MilpJob; readonly board: Board }
  | { readonly work: string; readonly argument: unknown };

/** What a thread can do beside kernels and mixed-integer programs. */
export type Works = readonly Work<never, object>[];

export type WorkerResult = PoolResult<PoolTask> | MilpSolution | object;
export type WorkerReply = { readonly result: WorkerResult } | { readonly failure: Failure };

/** Returns the reply to a request that this thread works on; rejects with errors that are not ours. */
export async function replyTo(
  request: WorkerRequest,
  kernels: Kernels,
  works: () => Promise<Works>,
): Promise<WorkerReply> {
  try {
    if ("job" in request) return { result: await runMilpJob(request.job, request) };
    if ("task" in request) return { result: runTask(kernels, request.task, request.cancel) };
    const work = (await works()).find(({ name }) => name === request.work);
    if (work === undefined) throw new InternalError(`a thread was asked for ${request.work}, which it does not know`);
    return { result: work.run(request.argument as never) };
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

/** A column whose bytes a message cannot count: it keeps the lengths of views only modulo 4 GiB, but buffers whole. */
interface LongColumn {
  readonly long: ArrayBuffer;
  readonly type: "Uint8Array" | "Uint16Array" | "Int32Array" | "Float64Array";
}

const COLUMNS = { Uint8Array, Uint16Array, Int32Array, Float64Array };
const isLong = (part: unknown): part is Uint8Array => ArrayBuffer.isView(part) && part.byteLength >= 2 ** 32;

/** Returns the reply with its columns of 4 GiB and more as buffers, which `inViews` takes back. */
export function inBuffers(reply: WorkerReply): WorkerReply {
  if ("failure" in reply || reply.result === null || !Object.values(reply.result).some(isLong)) return reply;
  const long = (column: Uint8Array): LongColumn => ({
    long: column.buffer as ArrayBuffer,
    type: column.constructor.name as LongColumn["type"],
  });
  const parts = Object.entries(reply.result).map(([name, part]) => [name, isLong(part) ? long(part) : part]);
  return { result: Object.fromEntries(parts) };
}

/** Returns a result that went through a message, with all its columns. */
export function inViews(result: WorkerResult): WorkerResult {
  const isBuffer = (part: unknown): part is LongColumn => part !== null && typeof part === "object" && "long" in part;
  if (result === null || !Object.values(result).some(isBuffer)) return result;
  const parts = Object.entries(result).map(([name, part]) => [
    name,
    isBuffer(part) ? new COLUMNS[part.type](part.long) : part,
  ]);
  return Object.fromEntries(parts);
}

/** An error of ours on its way between threads, where classes and fields get lost. */
export interface Failure {
  readonly message: string;
  readonly fields: { readonly name: string };
}

/** By the names they go by between threads, subclasses first: those of the classes themselves do not outlive a minifier. */
const CLASSES = Object.entries({ DamagedFileError, InputError, InfeasibleError, CancelledError, InternalError });

/** Returns the message form of an error of ours; undefined for any other. */
export function toFailure(error: unknown): Failure | undefined {
  const [name] = CLASSES.find(([, candidate]) => error instanceof candidate) ?? [];
  if (name === undefined) return undefined;
  return { message: (error as Error).message, fields: { ...(error as Error), name } };
}

/** Returns the error again, of its class and with its fields. */
export function fromFailure({ message, fields }: Failure): Error {
  const [, known] = CLASSES.find(([name]) => name === fields.name) ?? ["", InternalError];
  return Object.assign(Object.setPrototypeOf(new Error(message), known.prototype), fields);
}
