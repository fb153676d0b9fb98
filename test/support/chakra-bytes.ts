import { type Attribute, type ChakraNode, SCHEMA, traceBytes } from "../../src/export/workloads/chakra-trace.ts";
import type { TraceFile } from "../../src/import/workloads/chakra.ts";
import { NODE_TYPE } from "../../src/model/files/chakra-format.ts";

/** A node of a trace by hand; numbers of attributes are int64. */
export interface HandNode {
  readonly id: number;
  readonly type: keyof typeof NODE_TYPE;
  readonly name?: string;
  readonly deps?: readonly number[];
  readonly micros?: number;
  readonly [attribute: string]: unknown;
}

const OWN = new Set(["id", "type", "name", "deps", "micros"]);

function nodeOf(node: HandNode): ChakraNode {
  const attributes = Object.entries(node).flatMap(([name, value]): Attribute[] => {
    if (OWN.has(name)) return [];
    if (typeof value === "number") return [[name, "int64", value]];
    return [typeof value === "boolean" ? [name, "bool", value] : [name, "string", String(value)]];
  });
  return {
    id: node.id,
    name: node.name ?? `node ${node.id}`,
    type: NODE_TYPE[node.type],
    dataDeps: node.deps ?? [],
    durationMicros: node.micros ?? 0,
    attributes,
  };
}

/** Returns the traces of NPUs 0, 1 ... */
export const tracesOf = (...npus: readonly (readonly HandNode[])[]): TraceFile[] =>
  npus.map((nodes, npu) => ({ name: `t.${npu}.et`, bytes: traceBytes([SCHEMA], nodes.map(nodeOf)) }));

export const comp = (id: number, micros: number, deps: readonly number[] = []): HandNode => ({
  id,
  type: "computation",
  micros,
  deps,
});

/** A collective of `type`, as in et_def.proto, and bytes. */
export const coll = (id: number, type: number, size: number, deps: readonly number[] = [], group = ""): HandNode => ({
  id,
  type: "collective",
  deps,
  comm_type: type,
  comm_size: size,
  ...(group === "" ? {} : { pg_name: group }),
});

export const send = (id: number, to: number, size: number, deps: readonly number[] = [], tag = 0): HandNode => ({
  id,
  type: "send",
  deps,
  comm_dst: to,
  comm_size: size,
  comm_tag: tag,
});

export const receive = (id: number, from: number, size: number, deps: readonly number[] = [], tag = 0): HandNode => ({
  id,
  type: "receive",
  deps,
  comm_src: from,
  comm_size: size,
  comm_tag: tag,
});
