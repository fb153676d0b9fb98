import { Writer } from "protobufjs/minimal.js";

/** Node types of Chakra's et_def.proto. */
export const COMP_NODE = 4;
export const SEND_NODE = 5;
export const RECV_NODE = 6;
export const COLL_NODE = 7;

/** A node of an execution trace. */
export interface ChakraNode {
  /** 0, 1 ... in the order of the file. */
  readonly id: number;
  readonly name: string;
  readonly type: typeof COMP_NODE | typeof SEND_NODE | typeof RECV_NODE | typeof COLL_NODE;
  /** Ids of nodes that must be complete. */
  readonly dataDeps: readonly number[];
  readonly attributes: readonly Attribute[];
}

/** A named value: "int32" and "int64" numbers, flags, texts. */
export type Attribute =
  | readonly [name: string, kind: "int32", value: number]
  | readonly [name: string, kind: "int64", value: number]
  | readonly [name: string, kind: "bool", value: boolean]
  | readonly [name: string, kind: "string", value: string];

// field numbers of et_def.proto
const NODE = { id: 1, name: 2, type: 3, dataDeps: 5, attributes: 10 };
const ATTRIBUTE = { name: 1, int32: 7, int64: 9, bool: 27, string: 29 };
const METADATA_ATTRIBUTES = 2;
const VARINT = 0;
const BYTES = 2;
const tag = (field: number, wire: number): number => field * 8 + wire;

/**
 * Returns the bytes of an execution trace: Chakra's GlobalMetadata with the attributes, then the nodes, each message behind
 * its length as a varint (et_def.proto of MLCommons Chakra; fields that are 0 are left out, as proto3 does).
 */
export function traceBytes(metadata: readonly Attribute[], nodes: Iterable<ChakraNode>): Uint8Array {
  const file = Writer.create();
  file.fork();
  for (const attribute of metadata) writeAttribute(file.uint32(tag(METADATA_ATTRIBUTES, BYTES)), attribute);
  file.ldelim();
  for (const node of nodes) writeNode(file, node);
  return Uint8Array.from(file.finish());
}

function writeNode(file: Writer, { id, name, type, dataDeps, attributes }: ChakraNode): void {
  file.fork();
  if (id !== 0) file.uint32(tag(NODE.id, VARINT)).uint64(id);
  file.uint32(tag(NODE.name, BYTES)).string(name);
  file.uint32(tag(NODE.type, VARINT)).int32(type);
  if (dataDeps.length > 0) {
    file.uint32(tag(NODE.dataDeps, BYTES)).fork();
    for (const dep of dataDeps) file.uint64(dep);
    file.ldelim();
  }
  for (const attribute of attributes) writeAttribute(file.uint32(tag(NODE.attributes, BYTES)), attribute);
  file.ldelim();
}

function writeAttribute(file: Writer, [name, kind, value]: Attribute): void {
  file.fork().uint32(tag(ATTRIBUTE.name, BYTES)).string(name);
  if (kind === "int32") file.uint32(tag(ATTRIBUTE.int32, VARINT)).int32(value);
  else if (kind === "int64") file.uint32(tag(ATTRIBUTE.int64, VARINT)).int64(value);
  else if (kind === "bool") file.uint32(tag(ATTRIBUTE.bool, VARINT)).bool(value);
  else file.uint32(tag(ATTRIBUTE.string, BYTES)).string(value);
  file.ldelim();
}
