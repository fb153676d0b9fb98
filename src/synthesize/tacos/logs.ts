import type { SpreadProblem, TenNetwork, Transfers } from "../../engine/contract/kernels.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { type ArrivalLog, portBytes } from "../../model/slots/slot-schedule.ts";
import type { KernelRunner } from "../synthesizer.ts";

/** The arrival logs of all NPUs; `slots` until the last arrival. */
export interface Logs {
  readonly row: (npu: number) => ArrivalLog;
  readonly slots: number;
}

/** Returns whether time moves in slots: all routes are equally long and none shares a resource. */
export const isSlotted = ({ slotPs, useResource }: TenNetwork): boolean =>
  slotPs.length > 0 && useResource.length === 0 && slotPs.every((slot) => slot === slotPs[0]);

/** Returns the arrival logs that the kernel finds, with room for as many slots as it turns out to need. */
export async function spreadLogs(
  runner: KernelRunner,
  problem: Omit<SpreadProblem, "threads" | "maxSlots">,
): Promise<Logs> {
  const { npuCount, chunkCount } = problem;
  const { offset } = groupedBy(problem.routeTarget, npuCount);
  let work = 0;
  for (let v = 0; v < npuCount; v++) {
    const held = problem.heldOffset[v + 1] - problem.heldOffset[v];
    work = Math.max(work, (chunkCount - held) / Math.max(1, offset[v + 1] - offset[v]));
  }
  let maxSlots = Math.ceil(work * 1.02) + 64;
  let logs = await runner.spread({ ...problem, maxSlots });
  while (logs === null) {
    maxSlots *= 2;
    logs = await runner.spread({ ...problem, maxSlots });
  }
  const { logOffset, chunk, portOffset, ports, slots } = logs;
  return {
    row: (npu) => {
      const from = portOffset[npu];
      const bytes = slots[npu] * portBytes(offset[npu + 1] - offset[npu]);
      return { chunk: chunk.subarray(logOffset[npu], logOffset[npu + 1]), ports: ports.subarray(from, from + bytes) };
    },
    slots: slots.reduce((most, count) => Math.max(most, count), 0),
  };
}

/**
 * Returns the arrivals as transfers, in order of slot and NPU. `heldOffset` as in SpreadProblem: the first entries of each
 * log did not arrive. O(arrivals + routes + slots x NPUs).
 */
export function transfersOfLogs(
  { row, slots }: Logs,
  { routeTarget }: Pick<TenNetwork, "routeTarget">,
  heldOffset: Int32Array,
  slotPs: number,
): Transfers {
  const npuCount = heldOffset.length - 1;
  const { offset, items } = groupedBy(routeTarget, npuCount);
  const logs = Array.from({ length: npuCount }, (_, npu) => row(npu));
  const next = new Int32Array(slots + 1);
  const arrivalsOf = (npu: number, visit: (port: number, slot: number) => void): void => {
    const bytes = portBytes(offset[npu + 1] - offset[npu]);
    const { ports } = logs[npu] as ArrivalLog;
    for (let byte = 0; byte < ports.length; byte++) {
      if (ports[byte] === 0) continue;
      const slot = Math.floor(byte / bytes);
      for (let bits = ports[byte]; bits !== 0; bits &= bits - 1) {
        visit((byte % bytes) * 8 + 31 - Math.clz32(bits & -bits), slot);
      }
    }
  };
  for (let npu = 0; npu < npuCount; npu++) arrivalsOf(npu, (_, slot) => next[slot + 1]++);
  for (let slot = 0; slot < slots; slot++) next[slot + 1] += next[slot];
  const count = next[slots];
  const transfers = { chunk: new Int32Array(count), route: new Int32Array(count), startPs: new Float64Array(count) };
  for (let npu = 0; npu < npuCount; npu++) {
    const { chunk } = logs[npu] as ArrivalLog;
    let entry = heldOffset[npu + 1] - heldOffset[npu];
    arrivalsOf(npu, (port, slot) => {
      const at = next[slot]++;
      transfers.chunk[at] = chunk[entry++];
      transfers.route[at] = items[offset[npu] + port];
      transfers.startPs[at] = slot * slotPs;
    });
  }
  return transfers;
}
