import { InputError, inWords } from "../../base/errors.ts";
import { type Assembly, type Made, sizesOf, type Value } from "./assembly.ts";
import { type Attended, asTensor, axisAt, type Given, isKnown, type Normed } from "./operators.ts";

/** What a forward operator leaves for its gradient, where torch leaves its own figures (means, sums of exponentials). */
export interface Memo {
  readonly normed?: Normed & { readonly epsilon: number; readonly count: number };
  readonly attended?: Attended & { readonly scale: number };
}

/** What a node has made: several of operators with several results. */
export type Slot = Given | Memo | null | readonly Slot[];

/** A tensor as torch says it is. */
export interface Declared {
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** A node of a torch graph that calls an operator. */
export interface TorchCall {
  readonly assembly: Assembly;
  readonly made: Made;
  /** Without its namespace: mm, add, sum. */
  readonly operator: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** Of its first result; null where it is no tensor. */
  readonly declared: Declared | null;
  slotOf(name: string): Slot;
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** Returns an argument as it is written, by its place or else its name; undefined where there is none, or torch wrote None. */
export function argument({ args, kwargs }: TorchCall, place: number, name = ""): unknown {
  const found = place < args.length ? args[place] : Object.hasOwn(kwargs, name) ? kwargs[name] : undefined;
  return found ?? undefined;
}

const placeOf = ({ assembly }: TorchCall, place: number): string => `${assembly.place}: argument ${place}`;

/** Returns what a written argument is, null where it is no number and no node. */
export function slotOfArgument(call: TorchCall, written: unknown): Slot {
  if (typeof written === "number") return written;
  if (!isObject(written)) return null;
  if (typeof written["node"] === "string") return call.slotOf(written["node"]);
  if (typeof written["number"] !== "string") return null;
  return { inf: Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY }[written["number"]] ?? null;
}

const isGiven = (slot: Slot): slot is Given =>
  typeof slot === "number" || (slot !== null && !Array.isArray(slot) && (isKnown(slot as Given) || "axes" in slot));

/** Returns a tensor, or a number, that an argument is. Throws InputError where it is neither. */
export function givenArgument(call: TorchCall, place: number, name = ""): Given {
  const written = argument(call, place, name);
  const slot = slotOfArgument(call, written);
  if (isGiven(slot)) return slot;
  const what = slot === null ? (written ?? inWords("missing")) : inWords("something else");
  throw new InputError(placeOf(call, place), "a tensor or a number", what);
}

export const valueArgument = (call: TorchCall, place: number, name = ""): Value =>
  asTensor(call.assembly, call.made, givenArgument(call, place, name));

/** Returns a tensor, or null where there is none. */
export const optionalValue = (call: TorchCall, place: number, name = ""): Value | null =>
  argument(call, place, name) === undefined ? null : valueArgument(call, place, name);

export function numberArgument(call: TorchCall, place: number, otherwise?: number, name = ""): number {
  const written = argument(call, place, name);
  if (written === undefined && otherwise !== undefined) return otherwise;
  const slot = slotOfArgument(call, written);
  if (typeof slot === "number") return slot;
  throw new InputError(placeOf(call, place), "a number", written);
}

export function flagArgument(call: TorchCall, place: number, name = ""): boolean {
  const written = argument(call, place, name) ?? false;
  if (typeof written === "boolean") return written;
  throw new InputError(placeOf(call, place), "true or false", written);
}

/** Returns whole numbers, also where one is written alone; null where there are none. */
export function numbersArgument(call: TorchCall, place: number, name = ""): number[] | null {
  const written = argument(call, place, name);
  if (written === undefined) return null;
  const list = Array.isArray(written) ? written : [written];
  if (!list.every((one): one is number => Number.isSafeInteger(one)))
    throw new InputError(placeOf(call, place), "whole numbers", written);
  return list;
}

/** Returns the list of tensors that an argument is. */
export function valuesArgument(call: TorchCall, place: number): Value[] {
  const written = argument(call, place);
  if (!Array.isArray(written) || written.length === 0)
    throw new InputError(placeOf(call, place), "a list of tensors", written);
  return written.map((one) => {
    const slot = slotOfArgument(call, one);
    if (!isGiven(slot)) throw new InputError(placeOf(call, place), "a list of tensors", one);
    return asTensor(call.assembly, call.made, slot);
  });
}

/** Returns the number of an axis of a tensor. */
export const axisArgument = (call: TorchCall, value: Value, place: number, otherwise?: number, name = "dim"): number =>
  axisAt(call.assembly, numberArgument(call, place, otherwise, name), value.axes.length);

/** Returns the shape that torch says the result has. */
export function declaredShape({ assembly, declared }: TorchCall): readonly number[] {
  if (declared !== null) return declared.shape;
  throw new InputError(`${assembly.place}: value`, "the shape of its tensor");
}

/** Returns what a forward operator left at an argument. */
export function memoArgument(call: TorchCall, place: number): Memo {
  const slot = slotOfArgument(call, argument(call, place));
  return typeof slot === "object" && slot !== null && !Array.isArray(slot) && !isGiven(slot) ? (slot as Memo) : {};
}

export const sizeAt = ({ assembly }: TorchCall, value: Value, axis: number): number =>
  sizesOf(assembly, value)[axis] as number;
