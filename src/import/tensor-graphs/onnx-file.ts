import { InputError, inWords } from "../../base/errors.ts";
import { WIRE } from "../../model/files/protobuf.ts";
import { afterVarint, at, damaged, demand, fieldsOf, type Source, text, unsigned, varint } from "../text/protobuf.ts";

/** A tensor that a file has. */
export interface OnnxTensor {
  readonly name: string;
  readonly sizes: readonly number[];
  /** A number of TensorProto.DataType. */
  readonly type: number;
  /** Of small tensors; null of others, whose data is skipped. */
  readonly numbers: readonly number[] | null;
}

export interface OnnxAttribute {
  readonly number: number | null;
  readonly text: string | null;
  readonly numbers: readonly number[];
  readonly tensor: OnnxTensor | null;
}

export interface OnnxNode {
  readonly name: string;
  readonly operator: string;
  readonly domain: string;
  /** "": one that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** What is said of a tensor: its sizes, or symbols for them ("" for none); null where its rank is not said. */
export interface OnnxInfo {
  readonly name: string;
  readonly type: number;
  readonly sizes: readonly (number | string)[] | null;
}

export interface OnnxGraph {
  readonly name: string;
  /** Of the default operators. */
  readonly version: number;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxInfo[];
  readonly outputs: readonly OnnxInfo[];
}

/** Numbers of a tensor that are read. */
const MOST_NUMBERS = 64;

/** Numbers of onnx.proto (ONNX 1.x). */
const MODEL = { graph: 7, opsets: 8 } as const;
const OPSET = { domain: 1, version: 2 } as const;
const GRAPH = { node: 1, name: 2, initializer: 5, input: 11, output: 12 } as const;
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5, domain: 7 } as const;
const ATTRIBUTE = { name: 1, float: 2, int: 3, text: 4, tensor: 5, floats: 7, ints: 8 } as const;
const TENSOR = { sizes: 1, type: 2, floats: 4, int32s: 5, int64s: 7, name: 8, raw: 9, doubles: 10, place: 14 } as const;
const INFO = { name: 1, type: 2 } as const;
const TYPE = { tensor: 1 } as const;
const TENSOR_TYPE = { type: 1, shape: 2 } as const;
const SHAPE = { dimension: 1 } as const;
const DIMENSION = { value: 1, symbol: 2 } as const;

/** How a number of a type is written in raw data. */
const RAW: ReadonlyMap<number, { readonly bytes: number; read(view: DataView, at: number): number }> = new Map([
  [1, { bytes: 4, read: (view, place) => view.getFloat32(place, true) }],
  [2, { bytes: 1, read: (view, place) => view.getUint8(place) }],
  [3, { bytes: 1, read: (view, place) => view.getInt8(place) }],
  [6, { bytes: 4, read: (view, place) => view.getInt32(place, true) }],
  [7, { bytes: 8, read: (view, place) => Number(view.getBigInt64(place, true)) }],
  [9, { bytes: 1, read: (view, place) => view.getUint8(place) }],
  [11, { bytes: 8, read: (view, place) => view.getFloat64(place, true) }],
]);

/** Returns a varint as a number with a sign; beyond 2^53 the nearest that there is. */
function signed(source: Source, from: number): number {
  afterVarint(source, from, source.bytes.length);
  const { high, low } = varint(source, from);
  return (high | 0) * 2 ** 32 + low;
}

/** Adds numbers of a list to others, packed or one by one: whole ones, or of 4 or 8 bytes. */
function addNumbers(source: Source, wire: number, start: number, end: number, single: number, into: number[]): void {
  const isPacked = wire === WIRE.bytes;
  if (!isPacked) demand(source, wire, single, start);
  for (let next = start; next < end; ) {
    if (single === WIRE.varint) {
      into.push(signed(source, next));
      next = afterVarint(source, next, end);
      continue;
    }
    const bytes = single === WIRE.four ? 4 : 8;
    if (next + bytes > end) throw damaged(source, next, "a number is cut");
    into.push(bytes === 4 ? source.view.getFloat32(next, true) : source.view.getFloat64(next, true));
    next += bytes;
  }
}

function tensorOf(source: Source, from: number, to: number): OnnxTensor {
  const tensor = { name: "", type: 0, isElsewhere: false };
  const sizes: number[] = [];
  const lists: { field: number; wire: number; start: number; end: number }[] = [];
  fieldsOf(source, from, to, (field, wire, start, end) => {
    if (field === TENSOR.sizes) addNumbers(source, wire, start, end, WIRE.varint, sizes);
    else if (field === TENSOR.type) tensor.type = unsigned(source, demand(source, wire, WIRE.varint, start));
    else if (field === TENSOR.name) tensor.name = text(source, demand(source, wire, WIRE.bytes, start), end);
    else if (field === TENSOR.place)
      tensor.isElsewhere = unsigned(source, demand(source, wire, WIRE.varint, start)) !== 0;
    else lists.push({ field, wire, start, end });
  });
  const { name, type, isElsewhere } = tensor;
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 0))
    throw new InputError(at(source, from), "sizes of 0 or more", inWords(sizes.join(" x ")));
  const count = sizes.reduce((all, size) => all * size, 1);
  if (isElsewhere || count > MOST_NUMBERS) return { name, type, sizes, numbers: null };
  const numbers: number[] = [];
  for (const { field, wire, start, end } of lists) {
    if (field === TENSOR.floats) addNumbers(source, wire, start, end, WIRE.four, numbers);
    else if (field === TENSOR.doubles) addNumbers(source, wire, start, end, WIRE.eight, numbers);
    else if (field === TENSOR.int32s || field === TENSOR.int64s)
      addNumbers(source, wire, start, end, WIRE.varint, numbers);
    else if (field === TENSOR.raw) {
      const written = RAW.get(type);
      demand(source, wire, WIRE.bytes, start);
      for (let next = start; written && next + written.bytes <= end; next += written.bytes)
        numbers.push(written.read(source.view, next));
    }
  }
  return { name, type, sizes, numbers: numbers.length === count ? numbers : null };
}

function attributeOf(source: Source, from: number, to: number): readonly [string, OnnxAttribute] {
  let name = "";
  const found = { number: null as number | null, text: null as string | null, tensor: null as OnnxTensor | null };
  const numbers: number[] = [];
  fieldsOf(source, from, to, (field, wire, start, end) => {
    if (field === ATTRIBUTE.name) name = text(source, demand(source, wire, WIRE.bytes, start), end);
    else if (field === ATTRIBUTE.float)
      found.number = source.view.getFloat32(demand(source, wire, WIRE.four, start), true);
    else if (field === ATTRIBUTE.int) found.number = signed(source, demand(source, wire, WIRE.varint, start));
    else if (field === ATTRIBUTE.text) found.text = text(source, demand(source, wire, WIRE.bytes, start), end);
    else if (field === ATTRIBUTE.tensor) found.tensor = tensorOf(source, demand(source, wire, WIRE.bytes, start), end);
    else if (field === ATTRIBUTE.floats) addNumbers(source, wire, start, end, WIRE.four, numbers);
    else if (field === ATTRIBUTE.ints) addNumbers(source, wire, start, end, WIRE.varint, numbers);
  });
  return [name, { ...found, numbers }];
}

function nodeOf(source: Source, from: number, to: number): OnnxNode {
  const node = { name: "", operator: "", domain: "" };
  const inputs: string[] = [];
  const outputs: string[] = [];
  const attributes = new Map<string, OnnxAttribute>();
  fieldsOf(source, from, to, (field, wire, start, end) => {
    const word = (): string => text(source, demand(source, wire, WIRE.bytes, start), end);
    if (field === NODE.input) inputs.push(word());
    else if (field === NODE.output) outputs.push(word());
    else if (field === NODE.name) node.name = word();
    else if (field === NODE.operator) node.operator = word();
    else if (field === NODE.domain) node.domain = word();
    else if (field === NODE.attribute)
      attributes.set(...attributeOf(source, demand(source, wire, WIRE.bytes, start), end));
  });
  return { ...node, inputs, outputs, attributes };
}

function infoOf(source: Source, from: number, to: number): OnnxInfo {
  let name = "";
  let type = 0;
  let sizes: (number | string)[] | null = null;
  const inside = (wire: number, start: number, end: number, visit: Parameters<typeof fieldsOf>[3]): void =>
    fieldsOf(source, demand(source, wire, WIRE.bytes, start), end, visit);
  fieldsOf(source, from, to, (field, wire, start, end) => {
    if (field === INFO.name) name = text(source, demand(source, wire, WIRE.bytes, start), end);
    if (field !== INFO.type) return;
    inside(wire, start, end, (kind, kindWire, s, e) => {
      if (kind !== TYPE.tensor) return;
      inside(kindWire, s, e, (part, partWire, s2, e2) => {
        if (part === TENSOR_TYPE.type) type = unsigned(source, demand(source, partWire, WIRE.varint, s2));
        if (part !== TENSOR_TYPE.shape) return;
        const found: (number | string)[] = [];
        inside(partWire, s2, e2, (entry, entryWire, s3, e3) => {
          if (entry !== SHAPE.dimension) return;
          let size: number | string = "";
          inside(entryWire, s3, e3, (one, oneWire, s4, e4) => {
            if (one === DIMENSION.value) size = signed(source, demand(source, oneWire, WIRE.varint, s4));
            if (one === DIMENSION.symbol) size = text(source, demand(source, oneWire, WIRE.bytes, s4), e4);
          });
          found.push(size);
        });
        sizes = found;
      });
    });
  });
  return { name, type, sizes };
}

/** Returns whether bytes seem to be of an ONNX model: they begin with its version of the format, and go on with a field of a model. */
export const looksLikeOnnx = (bytes: Uint8Array): boolean =>
  bytes.length > 2 &&
  bytes[0] === 0x08 &&
  (bytes[1] as number) < 0x80 &&
  [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42].includes(bytes[2] as number);

/**
 * Returns the graph of an ONNX model: nodes, inputs and outputs, and of initializers sizes and types; data of more than 64 numbers is
 * skipped. Throws InputError with the byte where the file is cut or is none. O(bytes).
 */
export function readOnnxFile(name: string, bytes: Uint8Array): OnnxGraph {
  const source: Source = { name, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  let version = 0;
  let graph = { name: "", isThere: false };
  const nodes: OnnxNode[] = [];
  const initializers: OnnxTensor[] = [];
  const inputs: OnnxInfo[] = [];
  const outputs: OnnxInfo[] = [];
  fieldsOf(source, 0, bytes.length, (field, wire, start, end) => {
    if (field === MODEL.opsets) {
      let domain = "";
      let number = 0;
      fieldsOf(source, demand(source, wire, WIRE.bytes, start), end, (part, partWire, s, e) => {
        if (part === OPSET.domain) domain = text(source, demand(source, partWire, WIRE.bytes, s), e);
        if (part === OPSET.version) number = signed(source, demand(source, partWire, WIRE.varint, s));
      });
      if (domain === "") version = number;
    }
    if (field !== MODEL.graph) return;
    graph = { ...graph, isThere: true };
    fieldsOf(source, demand(source, wire, WIRE.bytes, start), end, (part, partWire, s, e) => {
      const message = (): number => demand(source, partWire, WIRE.bytes, s);
      if (part === GRAPH.node) nodes.push(nodeOf(source, message(), e));
      else if (part === GRAPH.name) graph = { ...graph, name: text(source, message(), e) };
      else if (part === GRAPH.initializer) initializers.push(tensorOf(source, message(), e));
      else if (part === GRAPH.input) inputs.push(infoOf(source, message(), e));
      else if (part === GRAPH.output) outputs.push(infoOf(source, message(), e));
    });
  });
  if (!graph.isThere) throw new InputError(name, "an ONNX model with a graph", inWords("a file without"));
  return { name: graph.name, version, nodes, initializers, inputs, outputs };
}
