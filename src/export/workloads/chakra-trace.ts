import { Writer } from "protobufjs/minimal.js";
import { ATTRIBUTE_NAME_FIELD, METADATA_FIELD, NODE_FIELD, VALUE_FIELD } from "../../model/files/chakra-format.ts";
import { WIRE } from "../../model/files/protobuf.ts";

/** A named value, of the kind that ASTRA-sim's feeders, the strict one too, look for. */
export type Attribute =
  | readonly [name: string, kind: "int32" | "int64" | "uint64", value: number]
  | readonly [name: string, kind: "bool", value: boolean]
  | readonly [name: string, kind: "string", value: string];

/** A node of an execution trace. */
export interface ChakraNode {
  /** 0, 1 ... in the order of the file. */
  readonly id: number;
  readonly name: string;
  /** One of NODE_TYPE. */
  readonly type: number;
  /** Ids of nodes that must be complete. */
  readonly dataDeps: readonly number[];
  /** Whole microseconds. */
  readonly durationMicros?: number;
  readonly attributes: readonly Attribute[];
}

/** How traces of ours say what their attributes mean. */
export const SCHEMA: Attribute = ["schema", "string", "1.0.2-chakra.0.0.4"];

const tag = (field: number, wire: number): number => field * 8 + wire;

/**
 * Returns the bytes of an execution trace: Chakra's GlobalMetadata with the attributes, then the nodes, each message behind
 * its length as a varint (et_def.proto of MLCommons Chakra; fields that are 0 are left out, as proto3 does).
 */
export function traceBytes(metadata: readonly Attribute[], nodes: Iterable<ChakraNode>): Uint8Array {
  const file = Writer.create();
  file.fork();
  for (const attribute of metadata) writeAttribute(file.uint32(tag(METADATA_FIELD.attributes, WIRE.bytes)), attribute);
  file.ldelim();
  for (const node of nodes) writeNode(file, node);
  return Uint8Array.from(file.finish());
}

function writeNode(file: Writer, node: ChakraNode): void {
  const { id, name, type, dataDeps, durationMicros = 0, attributes } = node;
  file.fork();
  if (id !== 0) file.uint32(tag(NODE_FIELD.id, WIRE.varint)).uint64(id);
  file.uint32(tag(NODE_FIELD.name, WIRE.bytes)).string(name);
  file.uint32(tag(NODE_FIELD.type, WIRE.varint)).int32(type);
  if (dataDeps.length > 0) {
    file.uint32(tag(NODE_FIELD.dataDeps, WIRE.bytes)).fork();
    for (const dep of dataDeps) file.uint64(dep);
    file.ldelim();
  }
  if (durationMicros !== 0) file.uint32(tag(NODE_FIELD.durationMicros, WIRE.varint)).uint64(durationMicros);
  for (const attribute of attributes) writeAttribute(file.uint32(tag(NODE_FIELD.attributes, WIRE.bytes)), attribute);
  file.ldelim();
}

function writeAttribute(file: Writer, [name, kind, value]: Attribute): void {
  file.fork().uint32(tag(ATTRIBUTE_NAME_FIELD, WIRE.bytes)).string(name);
  file.uint32(tag(VALUE_FIELD[kind], kind === "string" ? WIRE.bytes : WIRE.varint));
  if (kind === "string") file.string(value);
  else if (kind === "bool") file.bool(value);
  else if (kind === "int32") file.int32(value);
  else if (kind === "int64") file.int64(value);
  else file.uint64(value);
  file.ldelim();
}
