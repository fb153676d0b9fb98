import type { CancelFlag } from "../contract/kernels.ts";
import { INT32_MAX, isInteger, require } from "./check.ts";

/**
 * What a kernel takes and gives, field by field in the order of native/abi.h. The WebAssembly module is handed structs of these
 * fields (`wasm.ts`), the add-on all of them in a row (`addonArguments`).
 */

export type Column = Int32Array | Uint32Array | Float64Array | Uint8Array | Uint16Array;

/** Where the add-on takes a field: in its place, behind the others of the problem, or behind everything. */
type Place = "here" | "late" | "last";

export type Field =
  | { readonly kind: "int"; readonly value: number; readonly place: Place }
  | { readonly kind: "double"; readonly value: number; readonly place: Place }
  | { readonly kind: "column"; readonly values: Column | null; readonly place: Place }
  /** A count or a room that the add-on takes from the length of a column. */
  | { readonly kind: "length"; readonly value: number; readonly wide: boolean }
  /** A column that the kernel writes: the caller's array, of which `filled` tells how much was written. */
  | { readonly kind: "output"; readonly values: Column; readonly zeros: boolean; filled(): number }
  /** A number that the kernel writes, to summary[at] of its struct. */
  | { readonly kind: "result"; readonly at: number; readonly wide: boolean }
  | Struct;

export interface Struct {
  readonly kind: "struct";
  readonly fields: readonly Field[];
  /** Where its results go. */
  readonly summary: Float64Array | null;
}

/** Returns a whole number; throws where it is not within low .. high. */
export function int(value: number, low = 0, high = INT32_MAX, place: Place = "here"): Field {
  require(isInteger(value, low, high));
  return { kind: "int", value, place };
}

/** Returns a seed; throws where it is not of 32 bits. */
export const seed = (value: number, place: Place = "here"): Field => int(value, 0, 2 ** 32 - 1, place);

export const double = (value: number, place: Place = "here"): Field => ({ kind: "double", value, place });

/** Returns how long columns are; throws where that is more than `most`. */
export function count(value: number, most = INT32_MAX - 1): Field {
  require(value <= most);
  return { kind: "length", value, wide: false };
}

/** Returns the room in columns that the kernel writes. */
export const room = (value: number, wide: boolean): Field => ({ kind: "length", value, wide });

/** Returns a column that the kernel reads; throws where its length is another. */
export function column(values: Column, length = values.length): Field {
  require(values.length === length);
  return { kind: "column", values, place: "here" };
}

/** Returns a column, or none; throws where the length of one is another. */
export function columnOrNull(values: Column | null, length: number, place: Place = "here"): Field {
  require(values === null || values.length === length);
  return { kind: "column", values, place };
}

export const output = (values: Column, filled = (): number => values.length): Field => ({
  kind: "output",
  values,
  zeros: false,
  filled,
});

/** Returns a column that the kernel finds full of zeros. */
export const zeros = (values: Column): Field => ({ kind: "output", values, zeros: true, filled: () => values.length });

export const NOWHERE: Field = { kind: "column", values: null, place: "here" };

export const result = (at: number): Field => ({ kind: "result", at, wide: false });
export const wideResult = (at: number): Field => ({ kind: "result", at, wide: true });

export const struct = (fields: readonly Field[], summary: Float64Array | null = null): Struct => ({
  kind: "struct",
  fields,
  summary,
});

/** Returns the arguments of the add-on's function: the problem, the cancel flag, what is written, the summary. */
export function addonArguments(takes: readonly Field[], gives: Field, cancel: CancelFlag | undefined): unknown[] {
  const places = { here: [], late: [], last: [] };
  const given = { here: [], late: [], last: [] };
  addArguments(takes, places);
  addArguments([gives], given);
  const summary = gives.kind === "struct" && gives.summary !== null ? [gives.summary] : [];
  return [...places.here, ...places.late, cancel ?? null, ...given.here, ...places.last, ...summary];
}

function addArguments(fields: readonly Field[], places: Readonly<Record<Place, unknown[]>>): void {
  for (const field of fields) {
    if (field.kind === "struct") addArguments(field.fields, places);
    else if (field.kind === "int") places[field.place].push(field.value);
    else if (field.kind === "double") places[field.place].push(Float64Array.of(field.value));
    else if (field.kind === "column") places[field.place].push(field.values);
    else if (field.kind === "output") places.here.push(field.values);
  }
}
