import { compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { blockOfInstructions, instructionCount, type Program, rankOfBlocks, VIA } from "../../model/program/program.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Switching } from "../simulation.ts";

/** The transfers of a schedule, in planned order, whose messages a program keeps; each has its links to itself. */
export interface PlannedMessages extends Pick<StepSchedule, "topology" | "routes" | "route"> {
  readonly chunkBytes: Rational;
  /** How its replay takes the links of a route. */
  readonly switching: Switching;
}

/** The order that a schedule plans on links, while a program's messages come. */
export interface Plan {
  readonly switching: Switching;
  /** Returns the row of the next message from an NPU to another, -1 where the schedule has no more. */
  readonly nextRow: (source: number, target: number) => number;
  readonly routeOf: (row: number) => Int32Array;
  /**
   * Takes the message of a row that is ready now; `start` hears of all that may begin, in order: nothing planned before them on
   * their links is to come.
   */
  readonly ready: (row: number, message: number, start: (message: number) => void) => void;
  /** Gives the plan up where all that came waits for what never does; false where nothing waits. */
  readonly release: (start: (message: number) => void) => boolean;
}

/**
 * Returns the plan of a schedule's transfers: the k-th message from an NPU to another is its k-th transfer between them. In
 * store-and-forward the first link of a route keeps the planned order, as the replay does. O(transfers x links of a route).
 */
export function planOf({ topology, routes, route, switching }: PlannedMessages): Plan {
  const { source, target, links, linkOffset } = routes;
  const rows = route.length;
  const npus = topology.npuCount;
  const routeOf = (row: number): Int32Array => links.subarray(linkOffset[route[row]], linkOffset[route[row] + 1]);
  const ordered = (row: number): Int32Array =>
    switching === "cut-through" ? routeOf(row) : routeOf(row).subarray(0, 1);
  const ofPair = new Map<number, { readonly rows: number[]; taken: number }>();
  const onLink = new Map<number, { readonly rows: number[]; begun: number }>();
  for (let row = 0; row < rows; row++) {
    const pair = source[route[row]] * npus + target[route[row]];
    const known = ofPair.get(pair) ?? { rows: [], taken: 0 };
    ofPair.set(pair, known);
    known.rows.push(row);
    for (const link of ordered(row)) {
      const list = onLink.get(link) ?? { rows: [], begun: 0 };
      onLink.set(link, list);
      list.rows.push(row);
    }
  }
  /** [rows] message that is ready; -1: none, or begun. */
  const waiting = new Int32Array(rows).fill(-1);
  let given = false;
  const isFirst = (row: number): boolean =>
    ordered(row).every((link) => {
      const list = onLink.get(link);
      return list?.rows[list.begun] === row;
    });
  return {
    switching,
    nextRow: (from, to) => {
      const pair = ofPair.get(from * npus + to);
      return pair === undefined || pair.taken === pair.rows.length ? -1 : (pair.rows[pair.taken++] as number);
    },
    routeOf,
    ready(first, message, start) {
      if (given) {
        start(message);
        return;
      }
      waiting[first] = message;
      for (const next = [first]; next.length > 0; ) {
        const row = next.pop() as number;
        if (waiting[row] < 0 || !isFirst(row)) continue;
        const now = waiting[row];
        waiting[row] = -1;
        start(now);
        for (const link of ordered(row)) {
          const list = onLink.get(link);
          if (list !== undefined && ++list.begun < list.rows.length) next.push(list.rows[list.begun] as number);
        }
      }
    },
    release(start) {
      const all = [...waiting].filter((message) => message >= 0);
      waiting.fill(-1);
      given = true;
      for (const message of all) start(message);
      return all.length > 0;
    },
  };
}

/**
 * Returns whether a program sends the messages of a schedule and no others: as many chunks of the same size from each NPU to each
 * other one, none through switches that sum or duplicate, over links that nothing shares. O(transfers + operands).
 */
export function keepsMessages(
  program: Program,
  npuOfRank: ArrayLike<number>,
  sizeBytes: number,
  { topology, routes, route, chunkBytes }: PlannedMessages,
): boolean {
  if (compare(multiply(chunkBytes, rational(program.loopChunks)), rational(sizeBytes)) !== 0) return false;
  if (!routes.shareNum.every((num, p) => num === routes.shareDen[p])) return false;
  const left = new Map<number, number>();
  const count = (from: number, to: number, chunks: number): void => {
    const pair = from * topology.npuCount + to;
    left.set(pair, (left.get(pair) ?? 0) + chunks);
  };
  for (const r of route) count(routes.source[r], routes.target[r], 1);
  const rankOfBlock = rankOfBlocks(program);
  const blockOf = blockOfInstructions(program);
  for (let i = 0; i < instructionCount(program); i++) {
    const rank = rankOfBlock[blockOf[i]];
    const chunks = -program.chunks[i];
    if (program.sends[i] === 1) count(npuOfRank[rank], npuOfRank[program.sendPeer[blockOf[i]]], chunks);
    if (program.machine === "msccl" || chunks === 0) continue;
    if (program.via[i] === SWITCH) return false;
    for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++) {
      const other = program.operandRank[o];
      if (other === rank) continue;
      const isSource = o < program.operandOffset[i] + program.sourceCount[i];
      if (isSource) count(npuOfRank[other], npuOfRank[rank], chunks);
      else count(npuOfRank[rank], npuOfRank[other], chunks);
    }
  }
  return [...left.values()].every((chunks) => chunks === 0);
}

const SWITCH = VIA.indexOf("switch");
