import { InputError } from "../../base/errors.ts";
import type { Grouped } from "../../model/graph/graph.ts";
import { portBytes, type SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type IndexColumn, indexColumn } from "../../model/steps/step-schedule.ts";

/** What arrives at an NPU, in the order of its log. */
export interface Arrivals {
  /** [held + count] what the NPU has from the start, then the arrivals. */
  readonly chunk: IndexColumn;
  readonly held: number;
  readonly count: number;
  /** [count or more] port of each arrival; overwritten by the next call. */
  readonly port: IndexColumn;
}

/**
 * Returns a function that gives the arrivals at an NPU. It asks for the row at each call; O(chunks + slots x bytes per slot).
 * It throws InputError for a log that is not well-formed: a chunk that does not exist or comes twice or never, chunks from the
 * start among others, a port that does not exist, arrivals that do not match the ports.
 */
export function arrivalReader(schedule: SlotSchedule, ports: Grouped): (npu: number) => Arrivals {
  const { origin, topology, collective } = schedule;
  const { npuCount, nodeNames } = topology;
  const chunks = collective.chunkCount;
  const held = new Int32Array(npuCount);
  for (const npu of origin) held[npu]++;
  let mostPorts = 0;
  for (let v = 0; v < npuCount; v++) mostPorts = Math.max(mostPorts, ports.offset[v + 1] - ports.offset[v]);
  const port = indexColumn(chunks, mostPorts);
  const seen = new Int32Array(chunks);
  let turn = 0;
  return (v) => {
    const { chunk, ports: bits } = schedule.row(v);
    const degree = ports.offset[v + 1] - ports.offset[v];
    const fail = (expected: string, received: number): InputError =>
      new InputError(`the arrivals at NPU ${nodeNames[v]} (simulate needs a valid schedule)`, expected, received);
    if (chunk.length !== chunks) throw fail(`${chunks} chunks`, chunk.length);
    const count = chunks - held[v];
    const found = readPorts(bits, degree, port);
    if (found !== count) throw fail(`${count} arrivals through ports below ${degree}`, found);
    turn++;
    for (let i = 0; i < chunks; i++) {
      const c = chunk[i];
      if (!(c < chunks) || seen[c] === turn) throw fail(`every chunk below ${chunks} once`, c);
      if ((origin[c] === v) !== i < held[v]) throw fail("what is there from the start before all else", c);
      seen[c] = turn;
    }
    return { chunk, held: held[v], count, port };
  };
}

/** Writes the ports of the arrivals to `port`, as many as fit; returns how many arrivals there are, Infinity for a bad port. */
function readPorts(bits: Uint8Array, degree: number, port: IndexColumn): number {
  const step = 8 * portBytes(degree);
  let found = 0;
  for (let byte = 0, base = 0; byte < bits.length; byte++) {
    for (let rest = bits[byte]; rest !== 0; rest &= rest - 1) {
      const p = base + 31 - Math.clz32(rest & -rest);
      if (p >= degree) return Number.POSITIVE_INFINITY;
      if (found < port.length) port[found] = p;
      found++;
    }
    base += 8;
    if (base === step) base = 0;
  }
  return found;
}
