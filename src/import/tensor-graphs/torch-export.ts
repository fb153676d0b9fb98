import { InputError, inWords } from "../../base/errors.ts";
import type { Axis } from "../../model/tensor-graph/dimension-solver.ts";
import type { TensorGraph } from "../../model/tensor-graph/graph.ts";
import { asList, asObject, asText, placeIn } from "../text/json.ts";
import { type Assembly, freshAxes, newAssembly, placeholder, sizesOf, type Value } from "./assembly.ts";
import { finished } from "./finish.ts";
import { asTensor, type Given, isKnown, type Known } from "./operators.ts";
import { type Declared, type Slot, slotOfArgument, type TorchCall } from "./torch-call.ts";
import { BACKWARD } from "./torch-gradients.ts";
import { FORWARD, type TorchOperator } from "./torch-operators.ts";

type Fields = Readonly<Record<string, unknown>>;

export const TORCH_FORMAT = "banyan-torch-graph";

const OPERATORS: ReadonlyMap<string, TorchOperator> = new Map([...FORWARD, ...BACKWARD]);

const BYTES: readonly (readonly [RegExp, number])[] = [
  [/^(?:float64|int64|double|complex64)$/, 8],
  [/^(?:float32|int32|uint32|float)$/, 4],
  [/^(?:float16|bfloat16|int16|uint16|half)$/, 2],
  [/^(?:bool|int8|uint8|float8_\w+)$/, 1],
];
/** More elements have no tensor's numbers exactly. */
const MOST_SIZE = 2 ** 40;
const MOST_RANK = 14;

/** A node as it is written. */
interface Written {
  readonly name: string;
  readonly operation: string;
  readonly target: string;
  readonly args: readonly unknown[];
  readonly kwargs: Fields;
  /** Of each result. */
  readonly values: readonly (Declared | null)[];
  readonly isList: boolean;
  /** Where it stands in the file. */
  readonly place: string;
}

/** What is wanted of a program, by names of nodes. */
interface Signature {
  readonly parameters: ReadonlySet<string>;
  readonly constants: ReadonlySet<string>;
  readonly tangents: readonly string[];
  readonly outputs: readonly string[];
  readonly gradients: readonly (readonly [string, string])[];
}

function declaredOf(value: unknown, place: string): Declared | null {
  if (value === null || value === undefined) return null;
  const { shape, dtype } = asObject<Fields>(value, place);
  const sizes = asList(shape, `${place}.shape`, "a list of sizes").map((size) => {
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 1 || size > MOST_SIZE)
      throw new InputError(`${place}.shape`, "known sizes of 1 or more (export with static shapes)", size);
    return size;
  });
  if (sizes.length > MOST_RANK || sizes.reduce((a, b) => a * b, 1) > MOST_SIZE)
    throw new InputError(`${place}.shape`, `of at most ${MOST_RANK} dimensions and 2^40 elements`, sizes).as(
      "out-of-range",
    );
  const type = asText(dtype, `${place}.dtype`, "a type of elements").replace("torch.", "");
  const bytes = BYTES.find(([pattern]) => pattern.test(type))?.[1];
  if (bytes === undefined)
    throw new InputError(`${place}.dtype`, "a type of elements of torch", type).as("unknown-name");
  return { shape: sizes, bytes };
}

function writtenOf(value: unknown, fileName: string, at: number): Written {
  const path = `${fileName}: nodes[${at}]`;
  const node = asObject<Fields>(value, path);
  const name = asText(node["name"], `${path}.name`);
  const place = `${fileName}: node ${name}`;
  const isList = Array.isArray(node["value"]);
  const values = isList ? (node["value"] as unknown[]) : [node["value"]];
  return {
    name,
    place,
    operation: asText(node["op"], `${place}: op`),
    target: asText(node["target"], `${place}: target`),
    args: asList(node["args"] ?? [], `${place}: args`),
    kwargs: asObject<Fields>(node["kwargs"] ?? {}, `${place}: kwargs`),
    // of several results those that are no tensors are never asked for
    values: values.map((one) => (isList && Array.isArray(one) ? null : declaredOf(one, `${place}: value`))),
    isList,
  };
}

/** Returns the names of nodes that arguments have. */
function namesIn(argument: unknown, found: string[] = []): string[] {
  if (Array.isArray(argument)) for (const one of argument) namesIn(one, found);
  else if (typeof argument === "object" && argument !== null) {
    const { node } = argument as Fields;
    if (typeof node === "string") found.push(node);
  }
  return found;
}

function signatureOf(file: Fields, fileName: string, known: ReadonlyMap<string, Written>): Signature {
  const names = (key: string, value: unknown = file[key]): string[] =>
    asList(value ?? [], placeIn(fileName, key)).map((name, i) => {
      const place = placeIn(fileName, `${key}[${i}]`);
      if (!known.has(asText(name, place, "the name of a node")))
        throw new InputError(place, "the name of a node", name);
      return name as string;
    });
  const parameters = new Set(names("parameters"));
  const gradients = asList(file["gradients"] ?? [], placeIn(fileName, "gradients")).map((pair, i) => {
    const [parameter, gradient, ...others] = names(`gradients[${i}]`, pair);
    const isTrained =
      parameter !== undefined && parameters.has(parameter) && known.get(parameter)?.operation === "placeholder";
    if (!isTrained || gradient === undefined || others.length > 0)
      throw new InputError(placeIn(fileName, `gradients[${i}]`), "a parameter and its gradient", pair);
    return [parameter, gradient] as const;
  });
  return {
    parameters,
    constants: new Set(names("constants")),
    tangents: names("tangents"),
    outputs: names("outputs"),
    gradients,
  };
}

/** Operators whose results are all one number: where it stands among their arguments, or what it is. */
const NUMBERS: ReadonlyMap<string, number | { readonly at: number }> = new Map<
  string,
  number | { readonly at: number }
>([
  ["full", { at: 1 }],
  ["full_like", { at: 1 }],
  ["scalar_tensor", { at: 0 }],
  ["ones", 1],
  ["ones_like", 1],
  ["zeros", 0],
  ["zeros_like", 0],
]);
/** Operators that leave numbers that are all the same as they are. */
const KEEPING =
  /^(?:view|reshape|_unsafe_view|expand|alias|detach|clone|contiguous|to|_to_copy|unsqueeze|squeeze|permute|transpose|t|slice|select|any|all|lift_fresh_copy)$/;

/** Returns what an operator makes of what is known. */
function workedOut(call: TorchCall, { shape, bytes }: Declared): Known {
  const { operator } = call;
  const given = (place: number): number | null => {
    const slot = slotOfArgument(call, call.args[place]);
    if (typeof slot === "number") return slot;
    return slot !== null && !Array.isArray(slot) && isKnown(slot as Given) ? singleOf(slot as Known) : null;
  };
  const known = NUMBERS.get(operator);
  let number: number | null = null;
  if (typeof known === "number") number = known;
  else if (known !== undefined) number = given(known.at);
  else if (KEEPING.test(operator)) number = given(0);
  else if (operator === "logical_not") number = negated(given(0));
  return { shape, bytes, numbers: number === null ? null : [number] };
}

const singleOf = ({ numbers }: Known): number | null => numbers?.[0] ?? null;
const negated = (number: number | null): number | null => (number === null ? null : Number(number === 0));

/** A reading of a file. */
interface Reading {
  readonly assembly: Assembly;
  readonly slots: Map<string, Slot>;
}

function isTensor(slot: Slot): slot is Value {
  return typeof slot === "object" && slot !== null && !Array.isArray(slot) && "axes" in slot;
}

/** Throws InputError where a tensor is not as torch says it is. */
function checkShape({ assembly }: Reading, { place, values }: Written, slot: Slot): void {
  const all = Array.isArray(slot) ? slot : [slot];
  all.forEach((one: Slot, i) => {
    const declared = values[i];
    if (!isTensor(one) || !declared) return;
    const sizes = sizesOf(assembly, one);
    if (sizes.join() !== declared.shape.join())
      throw new InputError(`${place}: value`, `of sizes ${sizes.join(" x ") || "of one number"}`, declared.shape);
  });
}

const operatorOf = (target: string): string => /^(?:torch\.ops\.)?aten\.(\w+)/.exec(target)?.[1] ?? target;

function read(reading: Reading, written: Written): Slot {
  const { assembly, slots } = reading;
  const { name, target, args, kwargs, values, isList, place } = written;
  const slotOf = (of: string): Slot => {
    const found = slots.get(of);
    if (found === undefined) throw new InputError(place, "of nodes before it", of);
    return found;
  };
  if (target.endsWith("getitem")) {
    const list = slotOfArgument({ slotOf } as TorchCall, args[0]);
    const found = Array.isArray(list) && typeof args[1] === "number" ? (list as readonly Slot[])[args[1]] : undefined;
    if (found === undefined) throw new InputError(place, "one of the results of a node", inWords("another"));
    return found;
  }
  const operator = operatorOf(target);
  const declared = values[0] ?? null;
  const made = { name, bytes: declared?.bytes ?? 0 };
  const call: TorchCall = { assembly, made, operator, args, kwargs, declared, slotOf };
  const taken = [...namesIn(args), ...namesIn(Object.values(kwargs))].map(slotOf);
  const needsNone = !taken.some((slot) => isTensor(slot) || Array.isArray(slot));
  if (needsNone && declared !== null && !isList) return workedOut(call, declared);
  const rule = OPERATORS.get(operator);
  if (rule === undefined)
    throw new InputError(place, "an operator that there is a rule for", target).as("unknown-name");
  if (needsNone && isList) return values.map((one) => one && { ...one, numbers: null });
  if (declared === null) throw new InputError(`${place}: value`, "the shape of its tensor");
  return rule(call);
}

/** Returns the axes of a tangent: those of the first output of its sizes that has none. */
function tangentAxes({ assembly }: Reading, { shape }: Declared, outputs: Value[]): readonly Axis[] {
  const at = outputs.findIndex((value) => sizesOf(assembly, value).join() === shape.join());
  const [found] = at < 0 ? [] : outputs.splice(at, 1);
  return found?.axes ?? freshAxes(assembly.atoms, shape);
}

/**
 * Returns the graph of a program of torch (scripts/torch-graph.py writes it of what torch.export, or aot autograd, makes), joint
 * graphs with gradients included: what depends on a tangent is of the backward phase. Views are no nodes (Zhao 2026, 5.3). Indices
 * of a table become what is 1 at their places (`rowsOf`), slices and concatenations einsums that select, norms and attention
 * several nodes of which the inner ones are fused; what depends on no input, nor on anything trained, is an input that takes no
 * memory. Throws InputError with the node where there is no rule for an operator, a size is not known, or shapes do not go
 * together. O(nodes x dimensions).
 */
export function readTorchGraph(value: unknown, fileName: string): TensorGraph {
  const file = asObject<Fields>(value, fileName);
  const written = asList(file["nodes"], placeIn(fileName, "nodes")).map((node, i) => writtenOf(node, fileName, i));
  const byName = new Map(written.map((node) => [node.name, node]));
  const twice = written.find((node) => byName.get(node.name) !== node);
  if (twice !== undefined) throw new InputError(twice.place, "one node of a name", inWords("two"));
  const signature = signatureOf(file, fileName, byName);
  const reading: Reading = { assembly: newAssembly(fileName), slots: new Map() };
  const { assembly, slots } = reading;
  const tangents = new Set(signature.tangents);
  const dependent = new Set(tangents);
  for (const { name, args, kwargs } of written)
    if ([...namesIn(args), ...namesIn(Object.values(kwargs))].some((of) => dependent.has(of))) dependent.add(name);

  const outputOf = (name: string): Value => {
    const slot = slots.get(name);
    assembly.place = `${fileName}: node ${name}`;
    if (slot === undefined || slot === null || Array.isArray(slot) || !(isTensor(slot) || isKnown(slot as Given)))
      throw new InputError(assembly.place, "a tensor, for it is an output", inWords("something else"));
    return asTensor(assembly, { name, bytes: 0 }, slot as Given);
  };
  const step = (node: Written, outputs: Value[]): void => {
    const { name, operation, place, values } = node;
    assembly.place = place;
    if (operation === "output") return;
    const declared = values[0] ?? null;
    if (operation === "call_function") {
      const slot = read(reading, node);
      checkShape(reading, node, slot);
      slots.set(name, slot);
      return;
    }
    if (operation !== "placeholder" && operation !== "get_attr")
      throw new InputError(place, "a placeholder, a call of an operator, or the output", operation);
    if (declared === null) throw new InputError(`${place}: value`, "the shape of its tensor");
    if (operation === "get_attr" || signature.constants.has(name)) {
      slots.set(name, { ...declared, numbers: null });
      return;
    }
    const isTangent = tangents.has(name);
    const role = isTangent ? "tangent" : signature.parameters.has(name) ? "parameter" : "input";
    const axes = isTangent ? tangentAxes(reading, declared, outputs) : freshAxes(assembly.atoms, declared.shape);
    slots.set(name, placeholder(assembly, { name, bytes: declared.bytes }, role, axes));
  };
  for (const node of written) if (!dependent.has(node.name)) step(node, []);
  const outputs = signature.outputs.filter((name) => !dependent.has(name)).map(outputOf);
  assembly.phase = "backward";
  const waiting = [...outputs];
  for (const node of written) if (dependent.has(node.name)) step(node, waiting);

  const isPlaceholder = ({ operation }: Written): boolean => operation === "placeholder";
  const inOrder = [...written.filter(isPlaceholder), ...written.filter((node) => !isPlaceholder(node))];
  return finished(assembly, {
    name: typeof file["name"] === "string" && file["name"] !== "" ? file["name"] : fileName,
    outputs,
    gradients: signature.gradients.map(([parameter, gradient]) => ({
      parameter: outputOf(parameter),
      gradient: outputOf(gradient),
    })),
    shown: inOrder.flatMap(({ name }) => {
      const slot = slots.get(name);
      return slot !== undefined && isTensor(slot) ? slot.axes : [];
    }),
  });
}
