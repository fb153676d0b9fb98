/**
 * What readers and writers of Chakra execution traces share: the numbers of et_def.proto (MLCommons Chakra 0.0.4, the same in
 * 1.0.0). A file is GlobalMetadata and then nodes, each message behind its length as a varint; one file per NPU,
 * `name.<npu>.et`.
 */

/** Fields of a node. */
export const NODE_FIELD = {
  id: 1,
  name: 2,
  type: 3,
  controlDeps: 4,
  dataDeps: 5,
  durationMicros: 7,
  inputs: 8,
  attributes: 10,
} as const;

/** Fields of GlobalMetadata. */
export const METADATA_FIELD = { version: 1, attributes: 2 } as const;

/** The text of a node's inputs within its field. */
export const INPUT_VALUES_FIELD = 1;

export const ATTRIBUTE_NAME_FIELD = 1;

/** Fields of an attribute's value by its kind. A list of a kind is a message of such values in the field behind it. */
export const VALUE_FIELD = {
  double: 3,
  float: 5,
  int32: 7,
  int64: 9,
  uint32: 11,
  uint64: 13,
  sint32: 15,
  sint64: 17,
  fixed32: 19,
  fixed64: 21,
  sfixed32: 23,
  sfixed64: 25,
  bool: 27,
  string: 29,
  bytes: 31,
} as const;
export type ValueKind = keyof typeof VALUE_FIELD;

/** Types of nodes. */
export const NODE_TYPE = {
  invalid: 0,
  metadata: 1,
  memoryLoad: 2,
  memoryStore: 3,
  computation: 4,
  send: 5,
  receive: 6,
  collective: 7,
} as const;

/** Numbers of collectives, `comm_type`. */
export const COLLECTIVE_TYPE = {
  allreduce: 0,
  reduce: 1,
  allgather: 2,
  gather: 3,
  scatter: 4,
  broadcast: 5,
  alltoall: 6,
  reducescatter: 7,
} as const;
/** A reduce-scatter whose parts are equal, which is what all of ours are. */
export const REDUCE_SCATTER_BLOCK = 8;
export const BARRIER = 9;

/**
 * Attributes that only this project writes and reads; simulators look attributes up by name and pass these over. A time in whole
 * picoseconds, for `duration_micros` knows none below 1 us; which part of the step; the layer; the micro batch; the efficiency
 * that a computation has, `JOIN` or `DELAY`.
 */
export const OWN_ATTRIBUTE = {
  ps: "banyan_ps",
  phase: "banyan_phase",
  layer: "banyan_layer",
  microBatch: "banyan_micro_batch",
  kind: "banyan_kind",
} as const;

/** The kind of a node that only waits for others. */
export const JOIN = "join";
/** The kind of a node that is a delay beside the computations of its NPU; simulators take it for one of them. */
export const DELAY = "delay";

/** The lane of what the host of an NPU computes, `is_cpu_op`. */
export const HOST_LANE = "host";
