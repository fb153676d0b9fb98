import type { MatchProblem, SpreadLogs, SpreadProblem } from "../../src/engine/contract/kernels.ts";
import { brokenMatchLaws } from "./transfer-laws.ts";

/** Returns a match problem over routes without resources as one in slots. */
export function spreadOf(problem: MatchProblem, maxSlots = 500, threads = 1): SpreadProblem {
  const { network, chunkCount, heldOffset, heldChunk, wanted, choosers, policy } = problem;
  const { npuCount, routeSource, routeTarget } = network;
  const { seed, choice, window, lateLimit } = policy;
  return {
    npuCount,
    chunkCount,
    routeSource,
    routeTarget,
    heldOffset,
    heldChunk,
    wanted,
    choosers,
    policy: { seed, choice, window, lateLimit },
    threads,
    maxSlots,
    maps: null,
    folded: false,
  };
}

/** Returns what is wrong with the form of the logs, or with what they say, by the laws of transfers of length 1. */
export function brokenSpreadLaws(problem: MatchProblem, logs: SpreadLogs): string[] {
  const { network, heldOffset, heldChunk } = problem;
  const { npuCount, routeTarget } = network;
  const rows: { chunk: number; route: number; startPs: number }[] = [];
  for (let v = 0; v < npuCount; v++) {
    const ports = [...routeTarget.keys()].filter((route) => routeTarget[route] === v);
    const bytes = Math.ceil(ports.length / 8);
    const log = [...logs.chunk.slice(logs.logOffset[v], logs.logOffset[v + 1])];
    const held = [...heldChunk.slice(heldOffset[v], heldOffset[v + 1])];
    if (log.splice(0, held.length).join() !== held.join())
      return [`the log of NPU ${v} does not begin with what it holds`];
    const bits = logs.ports.subarray(logs.portOffset[v], logs.portOffset[v + 1]);
    for (let slot = 0; slot * bytes < bits.length && bytes > 0; slot++) {
      ports.forEach((route, port) => {
        if (((bits[slot * bytes + (port >> 3)] >> (port & 7)) & 1) === 0) return;
        if (slot >= logs.slots[v]) rows.push({ chunk: -1, route, startPs: slot });
        rows.push({ chunk: log.shift() ?? -1, route, startPs: slot });
      });
    }
    if (log.length > 0) return [`NPU ${v} has ${log.length} entries that came through no port`];
    if (rows.some(({ chunk }) => chunk < 0)) return [`NPU ${v} has more arrivals than entries`];
  }
  rows.sort((a, b) => a.startPs - b.startPs);
  return brokenMatchLaws(
    { ...problem, network: { ...network, slotPs: network.slotPs.map(() => 1) } },
    {
      chunk: Int32Array.from(rows, ({ chunk }) => chunk),
      route: Int32Array.from(rows, ({ route }) => route),
      startPs: Float64Array.from(rows, ({ startPs }) => startPs),
    },
  );
}
