import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import { loadKernels } from "../../engine/kernels/load.ts";
import { wasmKernels } from "../../engine/kernels/wasm.ts";
import type { WorkerSetup } from "../../engine/pool/piscina.ts";
import {
  buffersOf,
  inBuffers,
  replyTo,
  type WorkerReply,
  type WorkerRequest,
  type Works,
} from "../../engine/pool/request.ts";

const { backend, module } = workerData as WorkerSetup;
const works = async (): Promise<Works> => (await import("./works.ts")).WORKS;
const loaded = module === undefined ? loadKernels(backend) : { kernels: wasmKernels(module) };

/** Runs one task or job of src/engine/pool/piscina.ts; the result's columns are moved to the caller, not copied. */
export default async function work(request: WorkerRequest | null): Promise<WorkerReply | null> {
  const { kernels } = await loaded;
  if (request === null) return null;
  const reply = await replyTo(request, kernels, works);
  const buffers = buffersOf(reply);
  if (buffers.length === 0) return reply;
  return move({ [transferableSymbol]: buffers, [valueSymbol]: inBuffers(reply) } as never) as unknown as WorkerReply;
}
