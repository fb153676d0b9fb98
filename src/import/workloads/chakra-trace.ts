import { InputError, inWords } from "../../base/errors.ts";
import {
  ATTRIBUTE_NAME_FIELD,
  INPUT_VALUES_FIELD,
  METADATA_FIELD,
  NODE_FIELD,
  NODE_TYPE,
  OWN_ATTRIBUTE,
  VALUE_FIELD,
  type ValueKind,
} from "../../model/files/chakra-format.ts";
import { WIRE } from "../../model/files/protobuf.ts";
import {
  afterVarint,
  at,
  damaged,
  demand,
  exact,
  fieldsOf,
  numbers,
  type Source,
  text,
  unsigned,
  varint,
} from "../text/protobuf.ts";

export type AttributeValue = number | boolean | string | readonly boolean[];

/** A node of an execution trace. */
export interface TraceNode {
  readonly id: number;
  readonly name: string;
  /** One of NODE_TYPE. */
  readonly type: number;
  /** Ids that it waits for, of data and control, each once. */
  readonly deps: readonly number[];
  readonly durationMicros: number;
  /** The text of its inputs, where it is one that defines groups. */
  readonly inputs: string;
  /** Those that are read, by name; of two of a name the first. */
  readonly attributes: ReadonlyMap<string, AttributeValue>;
}

/** Nodes by hashes of their bytes: traces of many NPUs have mostly the same. */
export type KnownNodes = Map<number, { readonly bytes: Uint8Array; readonly node: TraceNode }>;

/** Attributes that are read; any others are passed over. */
const READ: ReadonlySet<string> = new Set([
  ...["is_cpu_op", "num_ops", "tensor_size", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag", "pg_name"],
  ...["involved_dim", ...Object.values(OWN_ATTRIBUTE)],
]);

const KINDS: ReadonlyMap<number, ValueKind> = new Map(
  Object.entries(VALUE_FIELD).map(([kind, field]) => [field, kind as ValueKind]),
);
const BOOL_LIST = VALUE_FIELD.bool + 1;
const MOST_TYPE = NODE_TYPE.collective;

/**
 * Returns the nodes of a Chakra execution trace in the order of the file (MLCommons Chakra 0.0.4 to 1.0.0, which are the same).
 * `known` has nodes of other traces, and gets those of this one. Throws InputError with the byte where the file is cut, is of an older format or is none. O(bytes).
 */
export function readTrace(name: string, bytes: Uint8Array, known: KnownNodes = new Map()): TraceNode[] {
  const source: Source = { name, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    throw new InputError(name, "a Chakra execution trace", inWords("compressed by gzip")).saying(
      `${name} is compressed by gzip; \`gunzip\` makes a file of it that can be read`,
    );
  }
  if (bytes.length === 0) throw new InputError(name, "a Chakra execution trace", inWords("an empty file"));
  const nodes: TraceNode[] = [];
  let isFirst = true;
  for (let from = 0; from < bytes.length; ) {
    const start = afterVarint(source, from, bytes.length);
    const length = unsigned(source, from);
    if (length > bytes.length - start) {
      throw damaged(
        source,
        from,
        `a message of ${length} bytes begins ${bytes.length - start} before the end of the file`,
      );
    }
    if (isFirst) checkMetadata(source, start, start + length);
    else nodes.push(knownNode(source, start, start + length, known));
    isFirst = false;
    from = start + length;
  }
  if (nodes.length === 0) throw new InputError(name, "a trace with nodes", inWords("metadata alone"));
  return nodes;
}

/** Throws InputError where a message is no metadata: older formats begin with a node. */
function checkMetadata(source: Source, from: number, to: number): void {
  fieldsOf(source, from, to, (field, wire, start, end) => {
    const isNode = wire !== WIRE.bytes || (field !== METADATA_FIELD.version && field !== METADATA_FIELD.attributes);
    if (isNode) {
      throw new InputError(at(source, start), "Chakra's GlobalMetadata", inWords("something else")).saying(
        `${source.name} does not begin with Chakra's GlobalMetadata: it is no Chakra execution trace, or one of the formats before 0.0.4, which ASTRA-sim 2.0 to 2.2 read`,
      );
    }
    if (field === METADATA_FIELD.attributes) fieldsOf(source, start, end, () => undefined);
  });
}

/** Returns the node of a message, the same one for the same bytes. Of two kinds of bytes of one hash the later are not kept. */
function knownNode(source: Source, from: number, to: number, known: KnownNodes): TraceNode {
  const bytes = source.bytes.subarray(from, to);
  const key = hashOf(bytes);
  const like = known.get(key);
  if (like !== undefined && isEqual(like.bytes, bytes)) return like.node;
  const node = nodeOf(source, from, to);
  if (like === undefined) known.set(key, { bytes, node });
  return node;
}

/** Returns a hash of bytes, FNV-1a. */
export function hashOf(bytes: Uint8Array): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) value = Math.imul(value ^ bytes[i], 0x01000193);
  return value;
}

/** Returns whether bytes are the same. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function nodeOf(source: Source, from: number, to: number): TraceNode {
  const node = { id: 0, name: "", type: NODE_TYPE.invalid as number, durationMicros: 0, inputs: "" };
  const deps: number[] = [];
  const attributes = new Map<string, AttributeValue>();
  fieldsOf(source, from, to, (field, wire, start, end) => {
    if (field === NODE_FIELD.id) node.id = unsigned(source, demand(source, wire, WIRE.varint, start));
    else if (field === NODE_FIELD.name) node.name = text(source, demand(source, wire, WIRE.bytes, start), end);
    else if (field === NODE_FIELD.type) node.type = unsigned(source, demand(source, wire, WIRE.varint, start));
    else if (field === NODE_FIELD.durationMicros)
      node.durationMicros = unsigned(source, demand(source, wire, WIRE.varint, start));
    else if (field === NODE_FIELD.controlDeps || field === NODE_FIELD.dataDeps) {
      for (const id of numbers(source, wire, start, end)) deps.push(id);
    } else if (field === NODE_FIELD.attributes) {
      readAttribute(source, demand(source, wire, WIRE.bytes, start), end, attributes);
    } else if (field === NODE_FIELD.inputs) {
      fieldsOf(source, demand(source, wire, WIRE.bytes, start), end, (inner, innerWire, s, e) => {
        if (inner === INPUT_VALUES_FIELD && innerWire === WIRE.bytes) node.inputs = text(source, s, e);
      });
    } else if (field === NODE_FIELD.attributes + 1 && wire === WIRE.bytes) {
      throw new InputError(at(source, start), "Chakra 0.0.4 or later", inWords("older")).saying(
        `${at(source, start)}: the node has its attributes where Chakra 0.0.2 and 0.0.3 had them; only 0.0.4 and later are read`,
      );
    }
  });
  if (node.type > MOST_TYPE) {
    throw new InputError(
      `${source.name}: node ${node.id}`,
      `of a type up to ${MOST_TYPE}`,
      inWords(`of type ${node.type}`),
    );
  }
  return {
    ...node,
    inputs: node.type === NODE_TYPE.metadata ? node.inputs : "",
    deps: deps.length > 1 ? [...new Set(deps)] : deps,
    attributes,
  };
}

function readAttribute(source: Source, from: number, to: number, attributes: Map<string, AttributeValue>): void {
  let name = "";
  const values: Written[] = [];
  fieldsOf(source, from, to, (field, wire, start, end) => {
    if (field === ATTRIBUTE_NAME_FIELD) name = text(source, demand(source, wire, WIRE.bytes, start), end);
    else if (KINDS.has(field) || field === BOOL_LIST) values.push({ field, wire, start, end });
  });
  const value = values.at(-1);
  if (READ.has(name) && value !== undefined && !attributes.has(name)) attributes.set(name, attributeOf(source, value));
}

/** A value of a message as it is written. */
interface Written {
  readonly field: number;
  readonly wire: number;
  readonly start: number;
  readonly end: number;
}

function attributeOf(source: Source, { field, wire, start, end }: Written): AttributeValue {
  if (field === BOOL_LIST) {
    const flags: boolean[] = [];
    fieldsOf(source, demand(source, wire, WIRE.bytes, start), end, (_, innerWire, s, e) => {
      for (const flag of numbers(source, innerWire, s, e)) flags.push(flag !== 0);
    });
    return flags;
  }
  const kind = KINDS.get(field) as ValueKind;
  if (kind === "string" || kind === "bytes") return text(source, demand(source, wire, WIRE.bytes, start), end);
  if (kind === "double") return source.view.getFloat64(demand(source, wire, WIRE.eight, start), true);
  if (kind === "float") return source.view.getFloat32(demand(source, wire, WIRE.four, start), true);
  if (kind === "fixed32") return source.view.getUint32(demand(source, wire, WIRE.four, start), true);
  if (kind === "sfixed32") return source.view.getInt32(demand(source, wire, WIRE.four, start), true);
  if (kind === "fixed64" || kind === "sfixed64") {
    demand(source, wire, WIRE.eight, start);
    const [low, high] = [source.view.getUint32(start, true), source.view.getUint32(start + 4, true)];
    return exact(source, start, kind === "fixed64" ? high : high | 0, low);
  }
  const { high, low } = varint(source, demand(source, wire, WIRE.varint, start));
  if (kind === "bool") return low !== 0 || high !== 0;
  if (kind === "uint32" || kind === "uint64") return exact(source, start, high, low);
  if (kind === "int32" || kind === "int64") return exact(source, start, high | 0, low);
  // zigzag: 0, -1, 1, -2 ...
  const half = exact(source, start, high >>> 1, ((high << 31) | (low >>> 1)) >>> 0);
  return low % 2 === 0 ? half : -half - 1;
}
