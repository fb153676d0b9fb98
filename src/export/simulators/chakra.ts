import { groupedBy } from "../../model/graph/graph.ts";
import { ceil } from "../../model/numbers/rational.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { type Attribute, COLL_NODE, traceBytes } from "./chakra-messages.ts";
import { messageTags, nodesOf } from "./chakra-nodes.ts";

/** A file to write. */
export interface OutputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The collectives for which ASTRA-sim has a custom implementation: its key's start, Chakra's number. */
const COLLECTIVES: Readonly<Record<string, readonly [key: string, type: number]>> = {
  allreduce: ["all-reduce", 0],
  allgather: ["all-gather", 2],
  alltoall: ["all-to-all", 6],
  reducescatter: ["reduce-scatter", 7],
};

/**
 * Returns how ASTRA-sim calls the collective that carries the schedule: the start of its key, and Chakra's number. Kinds
 * without a custom implementation of their own run in the place of an all-reduce.
 */
export const carrierOf = ({ collective }: Pick<StepSchedule, "collective">): readonly [key: string, type: number] =>
  COLLECTIVES[collective.kind] ?? (COLLECTIVES["allreduce"] as readonly [string, number]);

const SCHEMA: Attribute = ["schema", "string", "1.0.2-chakra.0.0.4"];

/**
 * Yields a Chakra execution trace for each NPU, `name.<npu>.et`, with a SEND and a RECV for each transfer and a COMP for each
 * addition, as `nodesOf` lists them; ASTRA-sim runs them as a custom collective. Messages are whole bytes: the bytes of a
 * chunk rounded up. Additions take no time (the simulator counts 1 ns). Nodes stand for NPUs by index. O(transfers log).
 */
export function* chakraFiles(schedule: StepSchedule, name: string): Generator<OutputFile> {
  const { topology, collective, routes, route } = schedule;
  const messages = { bytes: Number(ceil(collective.chunkBytes)), tag: messageTags(schedule) };
  const bySource = groupedBy(
    Int32Array.from(route, (r) => routes.source[r]),
    topology.npuCount,
  );
  const byTarget = groupedBy(
    Int32Array.from(route, (r) => routes.target[r]),
    topology.npuCount,
  );
  const metadata: Attribute[] = [SCHEMA, ["collective", "string", collective.kind]];
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const sends = bySource.items.subarray(bySource.offset[npu], bySource.offset[npu + 1]);
    const receives = byTarget.items.subarray(byTarget.offset[npu], byTarget.offset[npu + 1]);
    yield { name: `${name}.${npu}.et`, bytes: traceBytes(metadata, nodesOf(schedule, messages, sends, receives)) };
  }
}

/** Yields the workload that starts the collective once, one COLL node for each NPU: `name.<npu>.et`. */
export function* chakraWorkload(schedule: StepSchedule, name: string): Generator<OutputFile> {
  const { kind, sizeBytes, groupSize } = schedule.collective;
  const [key, type] = carrierOf(schedule);
  // an all-gather's size is that of a rank's own part
  const size = kind === "allgather" ? Math.ceil(sizeBytes / groupSize) : sizeBytes;
  const attributes: Attribute[] = [
    ["is_cpu_op", "bool", false],
    ["comm_type", "int64", type],
    ["comm_size", "int64", size],
  ];
  const node = { id: 0, name: `COMM_COLL_NODE_${key}`, type: COLL_NODE, dataDeps: [], attributes } as const;
  const bytes = traceBytes([SCHEMA], [node]);
  for (let npu = 0; npu < schedule.topology.npuCount; npu++) yield { name: `${name}.${npu}.et`, bytes };
}
