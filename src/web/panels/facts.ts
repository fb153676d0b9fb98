import { formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { grouped, roundedSize, treeCounts } from "../../report/amounts.ts";
import type { AnyReport } from "../protocol.ts";

const counted = (number: number, one: string): string => `${grouped(number)} ${number === 1 ? one : `${one}s`}`;
const threadsText = (used: number, lent: number): string =>
  used < lent ? `${used} of ${lent} threads` : counted(used, "thread");

/**
 * Returns how a schedule was made, as names and values. `ms`: what the worker took for all of it, 0 for a file; `lent`: threads
 * that it could have used.
 */
export function factsOf(report: AnyReport, ms: number, lent = 1): [string, string][] {
  const { algorithm, schedule, collective, synthesis, topology, time } = report;
  const { kind, transfers, phases, trees = 0, rounds } = schedule;
  return [
    ["Algorithm", algorithm],
    ["Time", `by the model ${time.model}`],
    ["Schedule", kind === "trees" ? treeCounts(report) : kind],
    ...(transfers === null ? [] : [["Transfers", grouped(transfers)] as [string, string]]),
    ...(rounds === undefined
      ? []
      : [["Rounds", `${grouped(rounds)} of ${counted(trees, "tree")}`] as [string, string]]),
    ...(phases === undefined ? [] : [["Phases", grouped(phases)] as [string, string]]),
    ["Size", `${roundedSize(collective.sizeBytes)}, ${counted(collective.chunksPerNpu, "chunk")} per NPU`],
    ["Network", `${topology.name || "unnamed"}, ${counted(topology.npus, "NPU")}, ${counted(topology.links, "link")}`],
    ...(synthesis === null
      ? []
      : ([
          ["Policy", synthesis.policy],
          ["Seed, trials", `${synthesis.seed}, ${grouped(synthesis.trials)}`],
          ["Kernels", `${synthesis.backend}, ${threadsText(synthesis.threads, lent)}`],
          ["Synthesis", formatTime(synthesis.ms * 1000 * PS_PER_US)],
        ] as [string, string][])),
    ...(ms === 0 ? [] : [["All work", formatTime(ms * 1000 * PS_PER_US)] as [string, string]]),
  ];
}
