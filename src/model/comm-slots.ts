import type { Collective } from "./collective.ts";
import type { CommRun } from "./comm-steps.ts";
import { stepLoads } from "./comm-times.ts";
import { canBeSlots, leastTransfers } from "./estimate.ts";
import { groupedBy } from "./graph.ts";
import { routeTimes } from "./routes.ts";
import { routesOf } from "./routing.ts";
import { type ArrivalLog, portBytes, portsOf, type SlotPass, type SlotSchedule } from "./slot-schedule.ts";
import { indexColumn } from "./step-schedule.ts";
import type { Topology } from "./topology.ts";
import { translatedSchedule } from "./translated-rows.ts";

/** From so many transfers on a schedule is kept as arrival logs. */
const FROM_TRANSFERS = 4e6;

/** Returns whether a collective among all NPUs, in order of id, is large and its links alike, so that arrival logs are to hold it. */
export const suitsSlots = (topology: Topology, collective: Collective): boolean =>
  leastTransfers(collective) >= FROM_TRANSFERS &&
  collective.groupMembers.every((npu, rank) => npu === rank) &&
  canBeSlots(topology, collective);

/** All-gather: forwards; reduce-scatter: backwards over the mirrors of its routes; all-reduce: one after the other. */
function passesOf(kind: Collective["kind"]): readonly SlotPass[] {
  const forward = { reversed: false, reduces: false };
  const backward = { reversed: true, reduces: true };
  return kind === "allgather" ? [forward] : kind === "reducescatter" ? [backward] : [backward, forward];
}

/**
 * Returns a large collective (suitsSlots) as the arrival logs of one all-gather: a comm step takes as many slots as its busiest
 * arc carries parts. Of a symmetric schedule only the log of node 0 is made. O(chunks) a log, when it is asked for.
 */
export function commSlots(
  topology: Topology,
  collective: Collective,
  { schedule, linkOfArc }: Omit<CommRun, "backward">,
): SlotSchedule {
  const routes = routesOf(topology, 1);
  const { graph, parts, symmetry } = schedule;
  const loads = stepLoads(schedule);
  const time = {
    slotPs: routeTimes(topology, routes, collective.chunkBytes).slotPs[0],
    slots: loads.reduce((sum, load) => sum + load, 0),
    passes: passesOf(collective.kind),
  };
  const logOf = logs({ schedule, linkOfArc }, loads, portsOf(routes, graph.nodes).offset, routes.target);
  if (symmetry !== null) {
    const rows = { topology, routes, sizes: symmetry, chunksPerNpu: parts, row: logOf(0) };
    return translatedSchedule(rows, collective, time);
  }
  const origin = Int32Array.from({ length: graph.nodes * parts }, (_, chunk) => Math.floor(chunk / parts));
  return { kind: "slots", topology, collective, routes, ...time, origin, symmetry: null, row: logOf };
}

/** Returns the function that makes the log of a node from the rows over arcs that enter it. */
function logs(
  { schedule, linkOfArc }: Omit<CommRun, "backward">,
  loads: Float64Array,
  portOffset: Int32Array,
  routeTarget: Int32Array,
): (node: number) => ArrivalLog {
  const { graph, parts, step, source, arc, from, to } = schedule;
  const portOfRoute = new Int32Array(routeTarget.length);
  const next = new Int32Array(graph.nodes);
  for (let route = 0; route < routeTarget.length; route++) portOfRoute[route] = next[routeTarget[route]]++;
  const into = groupedBy(
    Int32Array.from(arc, (over) => graph.target[over]),
    graph.nodes,
  );
  const chunks = graph.nodes * parts;
  const slots = loads.reduce((sum, load) => sum + load, 0);

  return (node) => {
    const ports = portOffset[node + 1] - portOffset[node];
    const bytes = portBytes(ports);
    const chunk = indexColumn(chunks, chunks);
    let filled = 0;
    for (; filled < parts; filled++) chunk[filled] = node * parts + filled;
    const bits = new Uint8Array(slots * bytes);
    let used = 0;
    const rows = into.items.subarray(into.offset[node], into.offset[node + 1]);
    let slot = 0;
    for (let i = 0, now = 0; now < loads.length; slot += loads[now++]) {
      const queues: number[][] = Array.from({ length: ports }, () => []);
      for (; i < rows.length && step[rows[i]] === now; i++) {
        const queue = queues[portOfRoute[linkOfArc[arc[rows[i]]]]] as number[];
        for (let part = from[rows[i]]; part < to[rows[i]]; part++) queue.push(source[rows[i]] * parts + part);
      }
      const longest = queues.reduce((most, queue) => Math.max(most, queue.length), 0);
      for (let k = 0; k < longest; k++) {
        for (let port = 0; port < ports; port++) {
          const queue = queues[port] as number[];
          if (k >= queue.length) continue;
          chunk[filled++] = queue[k] as number;
          bits[(slot + k) * bytes + (port >> 3)] |= 1 << (port & 7);
        }
      }
      if (longest > 0) used = slot + longest;
    }
    return { chunk, ports: bits.slice(0, used * bytes) };
  };
}
