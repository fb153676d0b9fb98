import { OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { type ChakraNode, COMP_NODE, RECV_NODE, SEND_NODE } from "./chakra-messages.ts";

/** Values of comm_type that ASTRA-sim's custom algorithms carry. */
const SEND_TYPE = 5;
const RECV_TYPE = 6;

/** What all ranks share: the size of a message, and each transfer's number among those of its source and target. */
export interface Messages {
  readonly bytes: number;
  /** [transfers] */
  readonly tag: Int32Array;
}

/** Returns tags that tell the transfers from one NPU to another apart, in the order of the schedule. O(transfers). */
export function messageTags({ topology, routes, route }: StepSchedule): Int32Array {
  const next = new Map<number, number>();
  return Int32Array.from(route, (r) => {
    const pair = routes.source[r] * topology.npuCount + routes.target[r];
    const tag = next.get(pair) ?? 0;
    next.set(pair, tag + 1);
    return tag;
  });
}

/** Sends over one port: those under way, and those that ended before the ones under way began. */
interface Port {
  running: { readonly node: number; readonly endPs: number }[];
  before: readonly number[];
}

/**
 * Yields the nodes of one NPU, in the order of the schedule: a SEND for each transfer in `sends`, a RECV for each in
 * `receives`, and a COMP behind each RECV that is added. A SEND waits for the last node that changed what it carries, and for
 * the sends that had left its port when it began; a COMP waits for its RECV and for the addition before it. An NPU without
 * transfers has one COMP, so that its trace is not empty. O(transfers of the NPU, log for the order).
 */
export function* nodesOf(
  schedule: StepSchedule,
  messages: Messages,
  sends: Int32Array,
  receives: Int32Array,
): Generator<ChakraNode> {
  const { routes, chunk, route, startPs, endPs, op } = schedule;
  const events = [
    ...Array.from(receives, (row) => ({ row, receives: true, ps: endPs[row] })),
    ...Array.from(sends, (row) => ({ row, receives: false, ps: startPs[row] })),
  ].sort((a, b) => a.ps - b.ps || Number(b.receives) - Number(a.receives) || a.row - b.row);
  const writer = new Map<number, number>();
  const ports = new Map<number, Port>();
  let id = 0;
  for (const { row, receives: incoming } of events) {
    const c = chunk[row];
    const own = writer.get(c);
    const size = ["comm_size", "int64", messages.bytes] as const;
    const tag = ["comm_tag", "int32", messages.tag[row]] as const;
    if (!incoming) {
      const peer = routes.target[route[row]];
      const port = portOf(ports, routes.links[routes.linkOffset[route[row]]]);
      settle(port, startPs[row]);
      const dataDeps = own === undefined || port.before.includes(own) ? port.before : [own, ...port.before];
      port.running.push({ node: id, endPs: endPs[row] });
      const attributes = [["comm_type", "int64", SEND_TYPE], size, ["comm_dst", "int32", peer], tag] as const;
      yield { id: id++, name: `COMM_SEND_NODE_chunk${c}_to${peer}`, type: SEND_NODE, dataDeps, attributes };
      continue;
    }
    const peer = routes.source[route[row]];
    const attributes = [["comm_type", "int64", RECV_TYPE], size, ["comm_src", "int32", peer], tag] as const;
    writer.set(c, id);
    yield { id: id++, name: `COMM_RECV_NODE_chunk${c}_from${peer}`, type: RECV_NODE, dataDeps: [], attributes };
    if (op[row] !== OP_REDUCE) continue;
    const dataDeps = own === undefined ? [id - 1] : [id - 1, own];
    writer.set(c, id);
    yield { id: id++, name: `COMP_NODE_chunk${c}_from${peer}`, type: COMP_NODE, dataDeps, attributes: [] };
  }
  if (id === 0) yield { id, name: "COMP_NODE_idle", type: COMP_NODE, dataDeps: [], attributes: [] };
}

function portOf(ports: Map<number, Port>, link: number): Port {
  const known = ports.get(link);
  if (known !== undefined) return known;
  const port: Port = { running: [], before: [] };
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
