import type { SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { scheduleOfRows } from "./schedule-rows.ts";
import { into } from "./slot-cases.ts";

/** What brute force makes of a slot schedule: whether its logs are as they should be, and its transfers. */
export interface Expansion {
  /** What is wrong with the form of logs, in short; empty when it is right. */
  readonly faults: readonly string[];
  /** The transfers, as far as logs can be read; null where a route has no mirror. */
  readonly steps: StepSchedule | null;
}

/** Returns the expansion, whatever the logs hold. The network, the routes and the collective must be well-formed. */
export function expansionOf(schedule: SlotSchedule): Expansion {
  const { topology, collective, routes, slots, slotPs, passes, origin } = schedule;
  const faults: string[] = [];
  const seen: { readonly chunk: number; readonly route: number; readonly slot: number }[] = [];
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const ports = into(routes, npu);
    const bytes = Math.ceil(ports.length / 8);
    const log = schedule.row(npu);
    const own = [...origin.keys()].filter((c) => origin[c] === npu);
    const chunks = [...log.chunk];
    if (own.join() !== chunks.slice(0, own.length).join()) faults.push("origins");
    if (chunks.length !== collective.chunkCount) faults.push("length");
    if (new Set(chunks).size !== chunks.length) faults.push("twice");
    if (chunks.some((c) => c < 0 || c >= collective.chunkCount)) faults.push("range");
    if (bytes === 0 ? log.ports.length > 0 : log.ports.length % bytes > 0) faults.push("bytes");
    if (log.ports.length > slots * bytes) faults.push("slots");
    if (log.ports.length > 0 && log.ports.slice(-bytes).every((byte) => byte === 0)) faults.push("end");
    let at = own.length;
    for (let bit = 0; bit < log.ports.length * 8; bit++) {
      if (((log.ports[bit >> 3] >> (bit & 7)) & 1) === 0) continue;
      const port = bit % (bytes * 8);
      const chunk = chunks[at++];
      if (port >= ports.length) faults.push("port");
      else if (chunk !== undefined) seen.push({ chunk, route: ports[port], slot: Math.floor(bit / (bytes * 8)) });
    }
    if (at !== chunks.length) faults.push("bits");
  }
  const mirror = (route: number): number => {
    const alike = (r: number, from: number, to: number) => routes.source[r] === from && routes.target[r] === to;
    const [from, to] = [routes.source[route], routes.target[route]];
    const all = [...routes.source.keys()];
    return all.filter((r) => alike(r, to, from))[all.filter((r) => alike(r, from, to)).indexOf(route)] ?? -1;
  };
  const mirrors = Array.from(routes.source, (_, route) => mirror(route));
  if (passes.some(({ reversed }) => reversed) && mirrors.includes(-1)) return { faults, steps: null };
  const rows = passes.flatMap(({ reversed, reduces }, pass) =>
    seen.map(({ chunk, route, slot }) => {
      const start = (pass * slots + (reversed ? slots - 1 - slot : slot)) * slotPs;
      const op = reduces ? OP_REDUCE : OP_COPY;
      return { chunk, route: reversed ? mirrors[route] : route, start, end: start + slotPs, op };
    }),
  );
  return { faults, steps: scheduleOfRows(topology, collective, routes, rows) };
}
