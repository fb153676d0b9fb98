import { completed, holdersAfter } from "./completion.ts";
import { mostDeliveries } from "./deliveries.ts";
import { type Move, neededMoves } from "./found-rows.ts";
import { type Flow, type FlowProblem, pairTimes, resourcesOf } from "./problem.ts";
import { earliest } from "./retime.ts";
import { inSlots, slotTicks } from "./slots.ts";
import { sizeOf } from "./solve-program.ts";
import type { Stages } from "./stages.ts";
import { columnsOf } from "./windows.ts";

/** Transfers of the longest duration that follow each other within one window. */
const HOPS = 2;
/** A relay that does not want a chunk is worth less than any delivery. */
const RELAY = 0.5;

/**
 * Returns a schedule of copies by time clustering (TACOS 2023, section V-C): programs over short windows one after the other,
 * each for the most that can be delivered, from what the one before has brought where. Chunks that must pass NPUs which do
 * not want them are worth the way that they come nearer. Ways that no window took are added behind; the whole is timed
 * exactly in the end. Null where not even the first window has room.
 */
export async function clustered(
  problem: FlowProblem,
  slotPs: number,
  windowsExpected: number,
  stages: Stages,
): Promise<Move[] | null> {
  const { routes, flows, npuCount } = problem;
  const { resources } = resourcesOf(routes);
  const durations = inSlots(problem.durations, slotPs, true);
  const times = pairTimes({ ...problem, durations });
  const length = HOPS * durations.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), 1);
  const ticks = slotTicks(length);
  const everyone = Int32Array.from({ length: npuCount }, (_, v) => v);
  const moves: Move[] = [];
  for (let window = 0; ; window++) {
    const holders = holdersAfter(problem, moves);
    /** [flows][npus] way to the nearest NPU that still waits. */
    const ahead = flows.map(({ to, size }, f) => {
      const waiting = [...to].filter((v) => !holders[f].has(v));
      return everyone.map((v) => Math.min(...waiting.map((w) => times[size][v * npuCount + w])));
    });
    const open = flows.map((_, f) => f).filter((f) => flows[f].to.some((v) => !holders[f].has(v)));
    if (open.length === 0) break;
    const current: FlowProblem = {
      ...problem,
      durations,
      flows: open.map((f): Flow => {
        const { to } = flows[f];
        return { ...flows[f], from: Int32Array.from(holders[f]), to: to.length === 1 ? to : everyone };
      }),
    };
    const columns = columnsOf(current, ticks, length, true);
    const name = `window ${window + 1}`;
    if (!(await stages.inTime(name, columns.count)) || !stages.fits(name, sizeOf(current, resources, columns)))
      return window === 0 ? null : finished();
    const wants = open.map((f) => new Set(flows[f].to));
    const worth = (at: number, route: number, arrival: number): number => {
      const f = open[at];
      const [u, v] = [routes.source[route], routes.target[route]];
      const soon = 1 + (length - arrival) / (4 * length);
      if (wants[at].has(v)) return soon;
      const nearer = (ahead[f][u] - ahead[f][v]) / (ahead[f][u] + 1);
      return nearer > 0 ? RELAY * soon * nearer : -RELAY;
    };
    const share = 1 / Math.max(1, windowsExpected - window);
    const found = await mostDeliveries(current, resources, columns, worth, stages, name, share);
    if (found === null || found.length === 0) break;
    for (const move of found) {
      moves.push({ ...move, flow: open[move.flow], start: (move.start + window * length) * slotPs });
    }
  }
  return finished();

  function finished(): Move[] {
    const end = moves.reduce((last, { start }) => Math.max(last, start), 0) + length * slotPs;
    const all = completed(problem, moves, end);
    return earliest(problem, resources, neededMoves(problem, all));
  }
}
