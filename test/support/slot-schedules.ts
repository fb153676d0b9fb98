import type { Collective } from "../../src/model/collective/collective.ts";
import { type RouteSet, routeCount } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import {
  type ArrivalLog,
  portBytes,
  portsOf,
  type SlotPass,
  type SlotSchedule,
} from "../../src/model/slots/slot-schedule.ts";
import { indexColumn } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** One arrival of a pass that runs forward. */
export interface Arrival {
  readonly chunk: number;
  readonly route: number;
  readonly slot: number;
}

/** Returns the slot schedule with these arrivals (each (NPU, chunk) once, origins apart), in whatever order they come. */
export function slotScheduleOf(options: {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly origin: Int32Array;
  readonly arrivals: readonly Arrival[];
  readonly passes: readonly SlotPass[];
  readonly slotPs: number;
  readonly routes?: RouteSet;
}): SlotSchedule {
  const { topology, collective, origin, arrivals, passes, slotPs } = options;
  const routes = options.routes ?? routesOf(topology, 1);
  const ports = portsOf(routes, topology.npuCount);
  const portOfRoute = new Int32Array(routeCount(routes));
  for (let v = 0; v < topology.npuCount; v++) {
    for (let i = ports.offset[v]; i < ports.offset[v + 1]; i++) portOfRoute[ports.items[i]] = i - ports.offset[v];
  }
  const logs: ArrivalLog[] = [];
  for (let v = 0; v < topology.npuCount; v++) {
    const mine = arrivals
      .filter(({ route }) => routes.target[route] === v)
      .sort((a, b) => a.slot - b.slot || portOfRoute[a.route] - portOfRoute[b.route]);
    const held = [...origin.keys()].filter((c) => origin[c] === v);
    const chunk = indexColumn(held.length + mine.length, collective.chunkCount);
    chunk.set([...held, ...mine.map((arrival) => arrival.chunk)]);
    const bytes = portBytes(ports.offset[v + 1] - ports.offset[v]);
    const bits = new Uint8Array(mine.length === 0 ? 0 : ((mine.at(-1) as Arrival).slot + 1) * bytes);
    for (const { route, slot } of mine) {
      const port = portOfRoute[route];
      bits[slot * bytes + (port >> 3)] |= 1 << (port & 7);
    }
    logs.push({ chunk, ports: bits });
  }
  const slots = arrivals.reduce((most, { slot }) => Math.max(most, slot + 1), 0);
  const row = (npu: number): ArrivalLog => logs[npu] as ArrivalLog;
  return { kind: "slots", topology, collective, routes, slotPs, slots, passes, origin, symmetry: null, row };
}
