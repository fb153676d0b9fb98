import { InputError, inWords } from "../../base/errors.ts";
import type { TensorGraph } from "../../model/tensor-graph/graph.ts";
import { type Assembly, freshAxes, newAssembly, placeholder, sizesOf, type Value } from "./assembly.ts";
import { finished } from "./finish.ts";
import type { OnnxCall } from "./onnx-call.ts";
import { type OnnxGraph, type OnnxInfo, type OnnxNode, type OnnxTensor, readOnnxFile } from "./onnx-file.ts";
import { workedOut } from "./onnx-known.ts";
import { ONNX_OPERATORS } from "./onnx-operators.ts";
import { asTensor, type Given, isKnown, type Known } from "./operators.ts";

/** [TensorProto.DataType] bytes of an element; 0 where there is no such, or its elements are no numbers. */
const BYTES = [0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1];
/** Types of what may be trained: float, half, double, bfloat16. */
const FLOATING: ReadonlySet<number> = new Set([1, 10, 11, 16]);
const OWN_DOMAINS: ReadonlySet<string> = new Set(["", "ai.onnx", "com.microsoft"]);
const MOST_SIZE = 2 ** 40;
const MOST_RANK = 14;

/** Sizes of symbolic dimensions, by their names. */
export type SymbolSizes = Readonly<Record<string, number>>;

function bytesOf(type: number, place: string): number {
  const bytes = BYTES[type] ?? 0;
  if (bytes > 0) return bytes;
  throw new InputError(place, "a tensor of numbers", inWords(`elements of type ${type}`));
}

function checkSizes(sizes: readonly number[], place: string): readonly number[] {
  const isThere = sizes.every((size) => Number.isSafeInteger(size) && size >= 1);
  if (!isThere || sizes.length > MOST_RANK || sizes.reduce((a, b) => a * b, 1) > MOST_SIZE)
    throw new InputError(place, `at most ${MOST_RANK} dimensions of 1 or more, and 2^40 elements`, sizes).as(
      "out-of-range",
    );
  return sizes;
}

function sizesOfInput({ name, sizes }: OnnxInfo, fileName: string, symbols: SymbolSizes): readonly number[] {
  const place = `${fileName}: input ${name}`;
  if (sizes === null) throw new InputError(place, "of known sizes", inWords("of none"));
  const known = sizes.map((size, i) => {
    if (typeof size === "number") return size;
    const given = Object.hasOwn(symbols, size) ? symbols[size] : undefined;
    if (given !== undefined) return given;
    const called = size === "" ? "without a name" : `"${size}"`;
    throw new InputError(place, "of known sizes", inWords(`dimension ${i} ${called}`)).saying(
      `${place}: dimension ${i} (${called}) has no size; say it: --dims ${size === "" ? "NAME" : size}=8`,
    );
  });
  return checkSizes(known, place);
}

/** Which nodes are the last of x / 2 * (1 + erf(x / sqrt 2)), and the x of each: the gelu of exporters before version 20 of operators. */
function gelusOf({ nodes, initializers }: OnnxGraph): ReadonlyMap<OnnxNode, string> {
  const numbers = new Map<string, number>();
  const note = (name: string, tensor: OnnxTensor | null | undefined): void => {
    if (tensor?.numbers?.length === 1) numbers.set(name, tensor.numbers[0] as number);
  };
  for (const tensor of initializers) note(tensor.name, tensor);
  const makers = new Map<string, OnnxNode>();
  for (const node of nodes) {
    for (const output of node.outputs) makers.set(output, node);
    const { tensor, number } = node.attributes.get("value") ?? node.attributes.get("value_float") ?? {};
    if (node.operator !== "Constant") continue;
    note(node.outputs[0] ?? "", tensor);
    if (typeof number === "number") numbers.set(node.outputs[0] ?? "", number);
  }
  /** The other input of a node whose one is a number like this. */
  const beside = (node: OnnxNode | undefined, operator: string, number: number): string | null => {
    if (node?.operator !== operator) return null;
    const at = node.inputs.findIndex((name) => Math.abs((numbers.get(name) ?? Number.NaN) - number) < 1e-3);
    return at < 0 || (operator === "Div" && at === 0) ? null : (node.inputs[1 - at] ?? null);
  };
  /** The x of 1 + erf(x / sqrt 2). */
  const inErf = (name: string): string | null => {
    const inner = beside(makers.get(name), "Add", 1);
    const erf = inner === null ? undefined : makers.get(inner);
    const scaled = erf?.operator === "Erf" ? makers.get(erf.inputs[0] ?? "") : undefined;
    return beside(scaled, "Div", Math.SQRT2) ?? beside(scaled, "Mul", Math.SQRT1_2);
  };
  const halves = (name: string): string | null => beside(makers.get(name), "Mul", 0.5);
  const found = new Map<OnnxNode, string>();
  for (const node of nodes) {
    if (node.operator !== "Mul") continue;
    const whole = beside(node, "Mul", 0.5);
    const factors =
      whole === null ? node.inputs : makers.get(whole)?.operator === "Mul" ? makers.get(whole)?.inputs : [];
    for (const [one, other] of [factors ?? [], [...(factors ?? [])].reverse()] as string[][]) {
      const x = other === undefined ? null : inErf(other);
      if (x === null || one === undefined) continue;
      if ((whole === null ? halves(one) : one) === x) found.set(node, x);
    }
  }
  return found;
}

/** A reading of a graph. */
interface Reading {
  readonly assembly: Assembly;
  readonly given: Map<string, Given>;
  /** By names of tensors: TensorProto.DataType. */
  readonly types: Map<string, number>;
  readonly graph: OnnxGraph;
}

const isValue = (one: Given | null | undefined): one is Value =>
  typeof one === "object" && one !== null && !isKnown(one);

/** Returns the type of a node's first result. */
function typeOf({ types }: Reading, { operator, inputs, attributes }: OnnxNode): number {
  if (operator === "Cast") return attributes.get("to")?.number ?? 0;
  if (operator === "Shape") return 7;
  if (operator === "Constant" || operator === "ConstantOfShape")
    return (
      attributes.get("value")?.tensor?.type ??
      (attributes.has("value_float") || attributes.has("value_floats") ? 1 : operator === "Constant" ? 7 : 1)
    );
  return types.get(inputs[operator === "Where" ? 1 : 0] ?? "") ?? 1;
}

function read(reading: Reading, node: OnnxNode, gelus: ReadonlyMap<OnnxNode, string>): void {
  const { assembly, given, types, graph } = reading;
  const output = node.outputs[0] ?? "";
  const { place } = assembly;
  const gelu = gelus.get(node);
  const names = gelu === undefined ? node.inputs : [gelu];
  const operator = gelu === undefined ? node.operator : "Gelu";
  const inputs = names.map((name) => {
    if (name === "") return null;
    const found = given.get(name);
    if (found === undefined) throw new InputError(place, "of tensors that are made before it", name);
    return found;
  });
  const type = typeOf(reading, node);
  const bytes = bytesOf(type, place);
  const made = { name: output, bytes };
  const call: OnnxCall = {
    assembly,
    made,
    operator,
    inputs,
    outputCount: node.outputs.length,
    attributes: gelu === undefined ? node.attributes : new Map(),
    bytes,
    type: types.get(names[0] ?? "") ?? type,
    version: graph.version,
  };
  const rule = OWN_DOMAINS.has(node.domain) ? ONNX_OPERATORS.get(operator) : undefined;
  const known = inputs.some(isValue) ? null : workedOut(call);
  const isUnknown = rule === undefined || (known === null && !inputs.some(isValue) && operator !== "Shape");
  if (known === null && isUnknown)
    throw new InputError(place, "an operator that there is a rule for", node.operator).as("unknown-name");
  const results = known ?? (rule as (call: OnnxCall) => Given | readonly Given[])(call);
  const all = Array.isArray(results) ? (results as readonly Given[]) : [results as Given];
  node.outputs.forEach((name, i) => {
    const one = all[i];
    if (one === undefined || name === "") return;
    given.set(name, one);
    types.set(name, type);
    if (isValue(one)) checkSizes(sizesOf(assembly, one), place);
    else if (typeof one === "object")
      checkSizes(
        one.shape.filter((size) => size !== 0),
        place,
      );
  });
}

const isTrained = ({ type, sizes }: OnnxTensor): boolean =>
  FLOATING.has(type) && sizes.reduce((all, size) => all * size, 1) > 1;

/**
 * Returns the graph of an ONNX model (ONNX 1.x, operators of the default domain): its initializers of numbers are parameters, whose
 * data is not read, others constants; views are no nodes, and what becomes of tables, slices, norms is what `readTorchGraph` says.
 * Symbolic dimensions get their sizes from `symbols`. Throws InputError with the byte of a damaged file, or with the node for an
 * operator without a rule and sizes that do not go together. O(bytes + nodes x dimensions).
 */
export function readOnnx(bytes: Uint8Array, fileName: string, symbols: SymbolSizes = {}): TensorGraph {
  const graph = readOnnxFile(fileName, bytes);
  const assembly = newAssembly(fileName);
  const reading: Reading = { assembly, given: new Map(), types: new Map(), graph };
  const { given, types } = reading;
  const shown: Value[] = [];
  const initialized = new Set(graph.initializers.map(({ name }) => name));
  for (const info of graph.inputs) {
    if (initialized.has(info.name)) continue;
    const place = `${fileName}: input ${info.name}`;
    const axes = freshAxes(assembly.atoms, sizesOfInput(info, fileName, symbols));
    const value = placeholder(assembly, { name: info.name, bytes: bytesOf(info.type, place) }, "input", axes);
    given.set(info.name, value);
    types.set(info.name, info.type);
    shown.push(value);
  }
  for (const tensor of graph.initializers) {
    const place = `${fileName}: initializer ${tensor.name}`;
    types.set(tensor.name, tensor.type);
    const bytesEach = bytesOf(tensor.type, place);
    if (!isTrained(tensor)) {
      const known: Known = { shape: tensor.sizes, bytes: bytesEach, numbers: tensor.numbers };
      given.set(tensor.name, known);
      continue;
    }
    const axes = freshAxes(assembly.atoms, checkSizes(tensor.sizes, place));
    const value = placeholder(assembly, { name: tensor.name, bytes: bytesEach }, "parameter", axes);
    given.set(tensor.name, value);
    shown.push(value);
  }
  const gelus = gelusOf(graph);
  // what only a gelu in parts has is passed over
  const passed = passedOver(graph, gelus);
  for (const node of graph.nodes) {
    if (passed.has(node)) continue;
    const called = node.name || node.outputs[0] || node.operator;
    assembly.place = `${fileName}: node ${called}`;
    read(reading, node, gelus);
    const made = given.get(node.outputs[0] ?? "");
    if (isValue(made)) shown.push(made);
  }
  const outputs = graph.outputs.map(({ name }) => {
    assembly.place = `${fileName}: output ${name}`;
    const found = given.get(name);
    if (found === undefined) throw new InputError(assembly.place, "a tensor that some node makes", name);
    return asTensor(assembly, { name, bytes: 4 }, found);
  });
  const name = graph.name === "" ? fileName : graph.name;
  return finished(assembly, { name, outputs, gradients: [], shown: shown.flatMap(({ axes }) => axes) });
}

/** Returns the nodes whose results only gelus in parts took. */
function passedOver({ nodes, outputs }: OnnxGraph, gelus: ReadonlyMap<OnnxNode, string>): ReadonlySet<OnnxNode> {
  const wanted = new Set(outputs.map(({ name }) => name));
  const passed = new Set<OnnxNode>();
  for (const node of [...nodes].reverse()) {
    if (!node.outputs.some((name) => wanted.has(name))) {
      passed.add(node);
      continue;
    }
    for (const name of gelus.has(node) ? [gelus.get(node) as string] : node.inputs) wanted.add(name);
  }
  return passed;
}
