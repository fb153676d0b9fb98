import { InternalError } from "../../base/errors.ts";
import type { CancelFlag, Kernels } from "../contract/kernels.ts";
import type { Column, Field, Struct } from "./fields.ts";
import { compiledKernels, type KernelName } from "./problems.ts";
import { STATUS, throwForStatus } from "./status.ts";

/**
 * The kernels as WebAssembly, in Node, workers and browsers. Problems are copied into the module's memory, laid out as
 * the structs of native/abi.h (wasm/entry.cpp asserts the offsets), and results out of it.
 */

/** An instance whose memory has grown beyond this is dropped after the call: WebAssembly memory never shrinks. */
const KEEP_BYTES = 64 * 2 ** 20;

/** What wasm/build/banyan.wasm exports; pointers are unsigned 32-bit numbers that arrive signed. */
export interface WasmExports extends Readonly<Record<`banyan_${KernelName}`, (...args: number[]) => number>> {
  readonly memory: WebAssembly.Memory;
  _initialize?(): void;
  banyan_alloc(bytes: number): number;
  banyan_free(pointer: number): void;
  banyan_cancel_callback(): number;
}

/** Returns the kernels of a compiled module. Compiling is the caller's: browsers allow it only off the main path. */
export function wasmKernels(module: WebAssembly.Module): Kernels {
  let exports: WasmExports | undefined;
  let flag: CancelFlag | undefined;
  const cancelled = (): number => (flag === undefined ? 0 : Atomics.load(flag, 0));

  /** Runs one kernel call; the instance does not outlive an error of ours, nor a call that made it big. */
  const call = (name: KernelName, takes: readonly Field[], gives: Field, cancel: CancelFlag | undefined): number => {
    const raw = exports ?? instanceOf(module, cancelled);
    exports = undefined;
    try {
      flag = cancel;
      const status = callOnce(raw, name, takes, gives, cancel === undefined ? 0 : raw.banyan_cancel_callback());
      const failed = status === STATUS.outOfMemory || status === STATUS.badArgument;
      if (!failed && raw.memory.buffer.byteLength <= KEEP_BYTES) exports = raw;
      return status;
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        throw new InternalError(`the WebAssembly kernel stopped: ${error.message}`);
      }
      throw error;
    } finally {
      flag = undefined;
    }
  };
  return { ...compiledKernels("wasm", call), module };
}

/** Returns a new instance; throws as for a kernel out of memory where there is no room for one. */
function instanceOf(module: WebAssembly.Module, cancelled: () => number): WasmExports {
  try {
    const instance = new WebAssembly.Instance(module, {
      banyan: { cancelled },
      env: { emscripten_notify_memory_growth: () => {} },
      wasi_snapshot_preview1: {
        proc_exit: (code: number) => {
          throw new WebAssembly.RuntimeError(`exit ${code}`);
        },
      },
    });
    const raw = instance.exports as unknown as WasmExports;
    raw._initialize?.();
    return raw;
  } catch (error) {
    if (error instanceof RangeError) throwForStatus(STATUS.outOfMemory, 0, 0);
    throw error;
  }
}

function callOnce(raw: WasmExports, name: KernelName, takes: readonly Field[], gives: Field, callback: number): number {
  const heap = new WasmHeap(raw);
  const out = heap.lay(gives);
  const args = takes.map((field) => heap.lay(field));
  const status = raw[`banyan_${name}`](...args, callback, 0, out);
  heap.collect(status);
  heap.freeAll();
  return status;
}

/** Something that the kernel writes, and where. */
interface Written<Kind extends "output" | "result"> {
  readonly pointer: number;
  readonly field: Extract<Field, { readonly kind: Kind }>;
}

/** Allocations in the module's memory that live for one kernel call. */
class WasmHeap {
  readonly #exports: WasmExports;
  readonly #pointers: number[] = [];
  readonly #outputs: Written<"output">[] = [];
  readonly #results: (Written<"result"> & { readonly summary: Float64Array })[] = [];

  constructor(exports: WasmExports) {
    this.#exports = exports;
  }

  /** Returns the word that stands for a field: a number, or the address of its copy. */
  lay(field: Field): number {
    switch (field.kind) {
      case "column":
        return field.values === null ? 0 : this.#put(field.values);
      case "output": {
        const pointer = field.zeros ? this.#put(field.values) : this.#allocate(field.values.byteLength);
        this.#outputs.push({ pointer, field });
        return pointer;
      }
      case "struct":
        return this.#layStruct(field);
      case "result":
        return 0;
      default:
        return field.value;
    }
  }

  /** Copies what the kernel wrote to the caller's arrays: its results, and columns where it found something. */
  collect(status: number): void {
    const view = this.#view();
    for (const { pointer, field, summary } of this.#results)
      summary[field.at] = field.wide ? view.getFloat64(pointer, true) : view.getInt32(pointer, true);
    if (status !== STATUS.ok && status !== STATUS.unreachable) return;
    for (const { pointer, field } of this.#outputs) this.#take(field.values, field.filled(), pointer);
  }

  freeAll(): void {
    for (const pointer of this.#pointers.splice(0)) this.#exports.banyan_free(pointer);
  }

  #layStruct({ fields, summary }: Struct): number {
    const words: number[] = [];
    const offsets: number[] = [];
    let [bytes, aligned] = [0, 4];
    for (const field of fields) {
      words.push(this.lay(field));
      // doubles lie at multiples of 8 bytes, all other fields are words of 4
      const size = isWide(field) ? 8 : 4;
      const offset = Math.ceil(bytes / size) * size;
      offsets.push(offset);
      bytes = offset + size;
      aligned = Math.max(aligned, size);
    }
    const pointer = this.#allocate(Math.ceil(bytes / aligned) * aligned);
    const view = this.#view();
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i];
      const at = pointer + offsets[i];
      if (isWide(field)) view.setFloat64(at, words[i], true);
      else view.setUint32(at, words[i], true);
      if (field.kind === "result" && summary !== null) this.#results.push({ pointer: at, field, summary });
    }
    return pointer;
  }

  /** Returns the address of `bytes` fresh bytes; throws as for a kernel out of memory. */
  #allocate(bytes: number): number {
    // One allocation of 2 GiB or more fails in the module's allocator.
    const pointer = bytes < 2 ** 31 ? this.#exports.banyan_alloc(bytes) >>> 0 : 0;
    if (pointer === 0) throwForStatus(STATUS.outOfMemory, 0, 0);
    this.#pointers.push(pointer);
    return pointer;
  }

  #put(column: Column): number {
    const pointer = this.#allocate(column.byteLength);
    // The buffer is new after every growth of the memory, so views are made at each use.
    const bytes = new Uint8Array(this.#exports.memory.buffer, pointer, column.byteLength);
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
    return pointer;
  }

  /** Copies the first elements of a column out of the address that was allocated for it. */
  #take(column: Column, count: number, pointer: number): void {
    const filled = count === column.length ? column : column.subarray(0, count);
    const source = new Uint8Array(this.#exports.memory.buffer, pointer, filled.byteLength);
    new Uint8Array(filled.buffer, filled.byteOffset, filled.byteLength).set(source);
  }

  #view(): DataView {
    return new DataView(this.#exports.memory.buffer);
  }
}

const isWide = (field: Field): boolean =>
  field.kind === "double" || ((field.kind === "length" || field.kind === "result") && field.wide);
