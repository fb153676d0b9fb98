import type { Random } from "../../src/base/random.ts";
import type { SlotSchedule } from "../../src/model/slots/slot-schedule.ts";
import { pick } from "./draws.ts";
import {
  built,
  copyOf,
  into,
  logOf,
  type PlainArrival,
  type PlainLog,
  type PlainSlots,
  scheduleOf,
} from "./slot-cases.ts";

/** A change to arrivals or numbers; returns false where there is nothing to change. */
type Change = (plain: PlainSlots, npu: number, draws: Random) => boolean;

/** Changes one arrival of the NPU. */
const toOne =
  (change: (arrival: PlainArrival, plain: PlainSlots, npu: number, draws: Random) => boolean): Change =>
  (plain, npu, draws) =>
    plain.arrivals[npu].length > 0 && change(pick(plain.arrivals[npu], draws), plain, npu, draws);

const isFree = (plain: PlainSlots, npu: number, slot: number, port: number): boolean =>
  !plain.arrivals[npu].some((other) => other.slot === slot && other.port === port);

const CHANGES: Readonly<Record<string, Change>> = {
  "an arrival less": (plain, npu, draws) => plain.arrivals[npu].splice(draws.below(9), 1).length > 0,
  "an arrival twice": toOne((arrival, plain, npu) => {
    if (!isFree(plain, npu, plain.slots - 1, arrival.port)) return false;
    plain.arrivals[npu].push({ ...arrival, slot: plain.slots - 1 });
    return true;
  }),
  "another chunk": toOne((arrival, plain, _, draws) => {
    arrival.chunk = draws.below(plain.origin.length);
    return true;
  }),
  earlier: toOne((arrival, plain, npu, draws) => {
    const slot = draws.below(arrival.slot + 1);
    if (!isFree(plain, npu, slot, arrival.port)) return false;
    arrival.slot = slot;
    return true;
  }),
  later: toOne((arrival, plain, npu, draws) => {
    const slot = arrival.slot + draws.below(3);
    if (!isFree(plain, npu, slot, arrival.port)) return false;
    arrival.slot = slot;
    return true;
  }),
  "through another port": toOne((arrival, plain, npu, draws) => {
    const port = draws.below(into(plain.routes, npu).length);
    if (!isFree(plain, npu, arrival.slot, port)) return false;
    arrival.port = port;
    return true;
  }),
  "two chunks swapped": toOne((arrival, plain, npu, draws) => {
    const other = pick(plain.arrivals[npu], draws);
    [arrival.chunk, other.chunk] = [other.chunk, arrival.chunk];
    return true;
  }),
  "a held chunk swapped": toOne((arrival, plain, npu, draws) => {
    if (plain.held[npu].length === 0) return false;
    const at = draws.below(plain.held[npu].length);
    [plain.held[npu][at], arrival.chunk] = [arrival.chunk, plain.held[npu][at] as number];
    return true;
  }),
  "a chunk that does not exist": toOne((arrival, plain, _, draws) => {
    arrival.chunk = draws.below(2) === 0 ? -1 : plain.origin.length;
    return true;
  }),
  "a port that does not exist": toOne((arrival, plain, npu) => {
    arrival.port = into(plain.routes, npu).length;
    return arrival.port % 8 !== 0;
  }),
  "another origin": (plain, npu, draws) => {
    plain.origin[draws.below(plain.origin.length)] = npu;
    return true;
  },
  "a slot less or more": (plain, _, draws) => {
    plain.slots += draws.below(2) === 0 ? -1 : 1;
    return plain.slots > 0;
  },
  "a picosecond less or more": (plain, _, draws) => {
    plain.slotPs += draws.below(2) === 0 ? -1 : 1;
    return true;
  },
};

/** A change to a log as it is stored. */
const LOG_CHANGES: Readonly<Record<string, (log: PlainLog, draws: Random) => void>> = {
  "a bit more or less": ({ ports }, draws) => {
    ports[draws.below(ports.length)] ^= 1 << draws.below(8);
  },
  "an entry less": ({ chunk }, draws) => {
    chunk.splice(draws.below(chunk.length), 1);
  },
  "an entry more": ({ chunk }, draws) => {
    chunk.splice(draws.below(chunk.length), 0, draws.below(chunk.length));
  },
  "an empty slot more": ({ ports }) => {
    ports.push(0);
  },
  "bytes less": ({ ports }) => {
    ports.pop();
  },
};

export interface Mutant {
  readonly name: string;
  readonly schedule: SlotSchedule;
}

/** Returns the schedule with one to three random changes. */
export function slotMutant(original: PlainSlots, draws: Random): Mutant {
  const plain = copyOf(original);
  const names: string[] = [];
  const npu = draws.below(plain.held.length);
  if (draws.below(4) === 0) {
    const [name, change] = pick(Object.entries(LOG_CHANGES), draws);
    const logs = plain.held.map((_, v) => logOf(plain, v));
    change(logs[npu] as PlainLog, draws);
    return { name, schedule: scheduleOf(plain, logs) };
  }
  for (let left = pick([1, 1, 1, 2, 3], draws); left > 0; left--) {
    const [name, change] = pick(Object.entries(CHANGES), draws);
    if (change(plain, names.length === 0 ? npu : draws.below(plain.held.length), draws)) names.push(name);
  }
  return { name: names.join(", ") || "none", schedule: built(plain) };
}
