import { STATUS, throwForStatus } from "./status.ts";

/** What wasm/build/banyan.wasm exports; pointers are unsigned 32-bit numbers that arrive signed. */
export interface WasmExports {
  readonly memory: WebAssembly.Memory;
  _initialize?(): void;
  banyan_alloc(bytes: number): number;
  banyan_free(pointer: number): void;
  banyan_cancel_callback(): number;
  banyan_match(...args: number[]): number;
  banyan_spread(...args: number[]): number;
  banyan_relay(...args: number[]): number;
  banyan_place(...args: number[]): number;
  banyan_rate(...args: number[]): number;
  banyan_pack(...args: number[]): number;
  banyan_sweep(...args: number[]): number;
  banyan_arborescence(...args: number[]): number;
  banyan_balance(...args: number[]): number;
  banyan_concurrent(...args: number[]): number;
  banyan_replay(...args: number[]): number;
}

type Column = Int32Array | Uint32Array | Float64Array | Uint8Array | Uint16Array;

/** Allocations in the module's memory that live for one kernel call. */
export class WasmHeap {
  readonly #exports: WasmExports;
  readonly #pointers: number[] = [];

  constructor(exports: WasmExports) {
    this.#exports = exports;
  }

  /** Returns the address of `bytes` fresh bytes; throws as for a kernel out of memory. */
  allocate(bytes: number): number {
    // One allocation of 2 GiB or more fails in the module's allocator.
    const pointer = bytes < 2 ** 31 ? this.#exports.banyan_alloc(bytes) >>> 0 : 0;
    if (pointer === 0) throwForStatus(STATUS.outOfMemory, 0, 0);
    this.#pointers.push(pointer);
    return pointer;
  }

  /** Copies a column in and returns its address; 0 for null. */
  put(column: Column | null): number {
    if (column === null) return 0;
    const pointer = this.allocate(column.byteLength);
    // The buffer is new after every growth of the memory, so views are made at each use.
    const bytes = new Uint8Array(this.#exports.memory.buffer, pointer, column.byteLength);
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
    return pointer;
  }

  /** Copies a column out of the address that was allocated for it. */
  take(column: Column, pointer: number): void {
    const source = new Uint8Array(this.#exports.memory.buffer, pointer, column.byteLength);
    new Uint8Array(column.buffer, column.byteOffset, column.byteLength).set(source);
  }

  view(): DataView {
    return new DataView(this.#exports.memory.buffer);
  }

  freeAll(): void {
    for (const pointer of this.#pointers.splice(0)) this.#exports.banyan_free(pointer);
  }
}
