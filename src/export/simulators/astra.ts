import { InputError, inWords } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { COLLECTIVE_TYPE, NODE_TYPE } from "../../model/files/chakra-format.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { PS_PER_NS } from "../../model/numbers/units.ts";
import type { Dimension } from "../../model/presets/product.ts";
import { OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Attribute, type ChakraNode, SCHEMA, traceBytes } from "../workloads/chakra-trace.ts";
import { type AstraBackend, astraBackend, productDimensions } from "./astra-backend.ts";

const KINDS: Readonly<Record<string, string>> = { ring: "Ring", fc: "FullyConnected", switch: "Switch" };
const BYTES_PER_GIB = 2 ** 30;

/**
 * Returns the text of an ASTRA-sim analytical network file for a product of rings, full meshes and switches: bandwidths in
 * its "GB/s", which are GiB/s, latencies in ns, both a link's. Throws InputError with the reason for other networks.
 */
export function astraNetwork(topology: Topology): string {
  const dimensions = productDimensions(topology);
  if (typeof dimensions !== "string") return networkText(dimensions);
  throw new InputError(
    "the network of ASTRA-sim's analytical back end",
    "a product of rings, full meshes and switches (ns-3 files take any network)",
    inWords(`${topology.name}: ${dimensions}`),
  );
}

function networkText(dimensions: readonly Dimension[]): string {
  const row = (key: string, value: (dimension: Dimension) => string | number, unit = ""): string =>
    `${key}: [ ${dimensions.map(value).join(", ")} ]${unit}\n`;
  return (
    row("topology", ({ kind }) => KINDS[kind] as string) +
    row("npus_count", ({ size }) => size) +
    row("bandwidth", ({ bytesPerSecond }) => bytesPerSecond / BYTES_PER_GIB, "  # GiB/s a link") +
    row("latency", ({ latencyPs }) => latencyPs / PS_PER_NS, "  # ns a link")
  );
}

/** Returns the back end for a schedule. Throws InputError with the reason where there is none, and what takes any network. */
export function astraBackendFor(schedule: StepSchedule): AstraBackend {
  const backend = astraBackend(schedule);
  if (typeof backend !== "string") return backend;
  throw new InputError(
    "the network of ASTRA-sim's analytical back ends",
    "one dimension, or links or dimensions in which all messages are alike (its ns-3 back end takes any network: chakra and ns3 write what it reads)",
    backend,
  ).saying(
    `ASTRA-sim's analytical back ends cannot take ${backend}; its ns-3 back end takes any network: --to chakra and --to ns3 write what it reads`,
  );
}

/**
 * Yields what ASTRA-sim's analytical back end needs to run a schedule: the traces `name.<npu>.et` of the custom collective,
 * the workload `name-workload.<npu>.et` that starts it, `name-network.yml`, `name-system.json`, `name-memory.json`, and the
 * command in `name-run.txt`, to be run in the folder of the files, with `expected`: a line on the time that it should print.
 */
export function* astraFiles(
  schedule: StepSchedule,
  name: string,
  backend: AstraBackend,
  expected: string,
): Generator<OutputFile> {
  const text = (suffix: string, body: string): OutputFile => ({
    name: `${name}-${suffix}`,
    bytes: new TextEncoder().encode(body),
  });
  const [key] = carrierOf(schedule);
  yield text("network.yml", networkText(backend.dimensions));
  const system = {
    "scheduling-policy": "FIFO",
    "preferred-dataset-splits": 1,
    [`${key}-implementation-custom`]: [name],
    "local-mem-bw": 50,
  };
  yield text("system.json", `${jsonText(system, 2)}\n`);
  yield text("memory.json", `${jsonText({ "memory-type": "NO_MEMORY_EXPANSION" })}\n`);
  const command = [
    backend.congestion === "aware" ? "AstraSim_Analytical_Congestion_Aware" : "AstraSim_Analytical_Congestion_Unaware",
    `  --workload-configuration=${name}-workload`,
    `  --system-configuration=${name}-system.json`,
    `  --network-configuration=${name}-network.yml`,
    `  --remote-memory-configuration=${name}-memory.json`,
  ].join(" \\\n");
  const told = backend.stands === null ? [expected] : [expected, backend.stands];
  yield text("run.txt", `${command}\n${told.map((line) => `# ${line}\n`).join("")}`);
  yield* chakraWorkload(schedule, `${name}-workload`);
  yield* chakraFiles(schedule, name, backend.congestion === "aware" ? "data" : "arrival");
}

/** A file to write. */
export interface OutputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The collectives for which ASTRA-sim has a custom implementation: its key's start, Chakra's number. */
const COLLECTIVES: Readonly<Record<string, readonly [key: string, type: number]>> = {
  allreduce: ["all-reduce", COLLECTIVE_TYPE.allreduce],
  allgather: ["all-gather", COLLECTIVE_TYPE.allgather],
  alltoall: ["all-to-all", COLLECTIVE_TYPE.alltoall],
  reducescatter: ["reduce-scatter", COLLECTIVE_TYPE.reducescatter],
};

/**
 * Returns how ASTRA-sim calls the collective that carries the schedule: the start of its key, and Chakra's number. Kinds
 * without a custom implementation of their own run in the place of an all-reduce.
 */
const carrierOf = ({ collective }: Pick<StepSchedule, "collective">): readonly [key: string, type: number] =>
  COLLECTIVES[collective.kind] ?? (COLLECTIVES["allreduce"] as readonly [string, number]);

/**
 * How the sends on a port keep their order. "data": each is issued once those before it could be, and queues behind them.
 * "arrival": each waits for the arrival of those before it, which simulators without queues at links need.
 */
export type SendOrder = "data" | "arrival";

/**
 * Yields a Chakra execution trace for each NPU, `name.<npu>.et`, with a SEND and a RECV for each transfer and a COMP for each
 * addition, as `nodesOf` lists them; ASTRA-sim runs them as a custom collective. Messages are whole bytes: the bytes of a
 * chunk rounded up. Additions take no time (the simulator counts 1 ns). Nodes stand for NPUs by index. O(transfers log).
 */
export function* chakraFiles(schedule: StepSchedule, name: string, order: SendOrder): Generator<OutputFile> {
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
    yield {
      name: `${name}.${npu}.et`,
      bytes: traceBytes(metadata, nodesOf(schedule, messages, order, sends, receives)),
    };
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
  const node = { id: 0, name: `COMM_COLL_NODE_${key}`, type: NODE_TYPE.collective, dataDeps: [], attributes } as const;
  const bytes = traceBytes([SCHEMA], [node]);
  for (let npu = 0; npu < schedule.topology.npuCount; npu++) yield { name: `${name}.${npu}.et`, bytes };
}

/** Values of comm_type that ASTRA-sim's custom algorithms carry. */
const SEND_TYPE = 5;
const RECV_TYPE = 6;

/** What all ranks share: the size of a message, and each transfer's number among those of its source and target. */
interface Messages {
  readonly bytes: number;
  /** [transfers] */
  readonly tag: Int32Array;
}

/** Returns tags that tell the transfers from one NPU to another apart, in the order of the schedule. O(transfers). */
function messageTags({ topology, routes, route }: StepSchedule): Int32Array {
  const next = new Map<number, number>();
  return Int32Array.from(route, (r) => {
    const pair = routes.source[r] * topology.npuCount + routes.target[r];
    const tag = next.get(pair) ?? 0;
    next.set(pair, tag + 1);
    return tag;
  });
}

/** Sends over one port. */
interface Port {
  running: { readonly node: number; readonly endPs: number }[];
  /** Those that ended before the ones under way began. */
  before: readonly number[];
  /** What the last send was issued behind; null before the first. */
  last: Behind | null;
}

/** A node behind which a send is issued. */
interface Behind {
  readonly node: number;
  /** It waits for a message from this NPU, whose messages keep their order. */
  readonly peer: number;
  /** It waits for other nodes too: it may end more than an addition behind the arrival. */
  readonly late: boolean;
}

/** Behind nothing: when the collective starts. */
const START: Behind = { node: -1, peer: -1, late: false };

/** Returns whether one node surely ends behind another: a message lasts longer than an addition. */
const isLater = (node: Behind, other: Behind): boolean =>
  other === START || (node.peer === other.peer && node.node > other.node && !other.late);

/**
 * Yields the nodes of one NPU, in the order of the schedule: a SEND for each transfer in `sends`, a RECV for each in
 * `receives`, and a COMP behind each RECV that is added. A SEND waits for the last node that changed what it carries, and, by
 * `order`, for the sends that had left its port when it began ("arrival"), or for what the sends before it waited for ("data":
 * a COMP that waits for both where it is not sure that the first comes last, for nodes that become free at once are issued
 * in any order). A COMP waits for its RECV and for the addition before it. An NPU without transfers has one COMP, so that its
 * trace is not empty. O(transfers of the NPU, log for the order).
 */
function* nodesOf(
  schedule: StepSchedule,
  messages: Messages,
  order: SendOrder,
  sends: Int32Array,
  receives: Int32Array,
): Generator<ChakraNode> {
  const { routes, chunk, route, startPs, endPs, op } = schedule;
  const events = [
    ...Array.from(receives, (row) => ({ row, receives: true, ps: endPs[row] })),
    ...Array.from(sends, (row) => ({ row, receives: false, ps: startPs[row] })),
  ].sort((a, b) => a.ps - b.ps || Number(b.receives) - Number(a.receives) || a.row - b.row);
  const writer = new Map<number, Behind>();
  const ports = new Map<number, Port>();
  let id = 0;
  for (const { row, receives: incoming } of events) {
    const c = chunk[row];
    const own = writer.get(c);
    const ownDeps = own === undefined ? [] : [own.node];
    const size = ["comm_size", "int64", messages.bytes] as const;
    const tag = ["comm_tag", "int32", messages.tag[row]] as const;
    if (!incoming) {
      const peer = routes.target[route[row]];
      const port = portOf(ports, routes.links[routes.linkOffset[route[row]]]);
      let dataDeps: readonly number[] = ownDeps;
      if (order === "arrival") {
        settle(port, startPs[row]);
        dataDeps = own === undefined || port.before.includes(own.node) ? port.before : [own.node, ...port.before];
        port.running.push({ node: id, endPs: endPs[row] });
      } else if (port.last === null || (own !== undefined && isLater(own, port.last))) {
        port.last = own ?? START;
      } else {
        const behind = port.last === START ? ownDeps : [port.last.node, ...ownDeps];
        dataDeps = [id];
        port.last = { node: id, peer: -1, late: true };
        yield {
          id: id++,
          name: `COMP_NODE_order_to${peer}`,
          type: NODE_TYPE.computation,
          dataDeps: behind,
          attributes: [],
        };
      }
      const attributes = [["comm_type", "int64", SEND_TYPE], size, ["comm_dst", "int32", peer], tag] as const;
      yield { id: id++, name: `COMM_SEND_NODE_chunk${c}_to${peer}`, type: NODE_TYPE.send, dataDeps, attributes };
      continue;
    }
    const peer = routes.source[route[row]];
    const attributes = [["comm_type", "int64", RECV_TYPE], size, ["comm_src", "int32", peer], tag] as const;
    writer.set(c, { node: id, peer, late: false });
    yield { id: id++, name: `COMM_RECV_NODE_chunk${c}_from${peer}`, type: NODE_TYPE.receive, dataDeps: [], attributes };
    if (op[row] !== OP_REDUCE) continue;
    writer.set(c, { node: id, peer, late: own !== undefined });
    const dataDeps = [id - 1, ...ownDeps];
    yield { id: id++, name: `COMP_NODE_chunk${c}_from${peer}`, type: NODE_TYPE.computation, dataDeps, attributes: [] };
  }
  if (id === 0) yield { id, name: "COMP_NODE_idle", type: NODE_TYPE.computation, dataDeps: [], attributes: [] };
}

function portOf(ports: Map<number, Port>, link: number): Port {
  const known = ports.get(link);
  if (known !== undefined) return known;
  const port: Port = { running: [], before: [], last: null };
  ports.set(link, port);
  return port;
}

/** Moves the sends that have ended by then to `before`, in place of those that ended earlier. */
function settle(port: Port, startPs: number): void {
  const ended = port.running.filter(({ endPs }) => endPs <= startPs);
  if (ended.length === 0) return;
  port.before = ended.map(({ node }) => node);
  port.running = port.running.filter(({ endPs }) => endPs > startPs);
}
