import { InputError } from "../../base/errors.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import type { Moves } from "../moves.ts";
import { type Levels, levelsOf, type Problem, turnsOf } from "./layout.ts";
import type { SlicedOps } from "./slices.ts";

/** Moves between ranks of boxes, of which plans are made, with what depends on nothing else. */
export interface Given extends Pick<Problem, "moves" | "via" | "turn"> {
  /** [ranks] number of the box; ranks of one box reach each other's memory. */
  readonly boxes: Int32Array;
  readonly levels: Levels;
}

/** Returns moves as plans are made of them. O(chunks of all moves). */
export function givenOf(moves: Moves, nodeOf: (rank: number) => unknown): Given {
  const numbers = new Map<unknown, number>();
  const boxes = Int32Array.from({ length: moves.rankCount }, (_, rank) => {
    const box = nodeOf(rank);
    numbers.set(box, numbers.get(box) ?? numbers.size);
    return numbers.get(box) as number;
  });
  return {
    moves,
    boxes,
    levels: levelsOf(moves),
    via: (rank, peer) => (boxes[rank] === boxes[peer] ? "memory" : "port"),
    turn: turnsOf(moves.rankCount, (rank) => boxes[rank]),
  };
}

/** A deal of moves to slices. */
export interface Deal {
  readonly problem: Problem;
  readonly sliceOfMove: Int32Array;
  readonly slices: number;
  /** What is made of it: much, so only who looked for the deal is told. */
  readonly made?: SlicedOps;
}

/** What was found of moves, or why nothing is, by all options that count. */
export interface KnownPlan {
  readonly given: Given;
  readonly deals: Map<string, Deal | InputError>;
  readonly programs: Map<string, Program | InputError>;
}

/** Returns that nothing is known of moves. */
export const unknownPlan = (given: Given): KnownPlan => ({ given, deals: new Map(), programs: new Map() });

/** Returns what was found under this key, or throws what was thrown; else finds it, and keeps what `kept` says of it. */
export function once<T>(
  known: Map<string, T | InputError>,
  key: string,
  find: () => T,
  kept: (found: T) => T | null = (found) => found,
): T {
  const before = known.get(key);
  if (before instanceof InputError) throw before;
  if (before !== undefined) return before;
  try {
    const found = find();
    const keep = kept(found);
    if (keep !== null) known.set(key, keep);
    return found;
  } catch (error) {
    if (error instanceof InputError) known.set(key, error);
    throw error;
  }
}

/** Moves and instructions that are kept, at most. */
const MOST_KEPT = 4e6;

/** Plans that were made on one network: schedules of other sizes and algorithms often move the same. */
export class KnownPlans {
  private readonly known: KnownPlan[] = [];
  private last: { readonly schedule: object; readonly known: KnownPlan } | null = null;
  private room = MOST_KEPT;

  /** Returns what is known of the moves of a schedule, which are made where it is not the last one. */
  of(schedule: object, movesOf: () => Given): KnownPlan {
    if (this.last?.schedule !== schedule) this.last = { schedule, known: this.alike(movesOf()) };
    return this.last.known;
  }

  /** Returns a program, or null where there is no room to keep it. */
  readonly kept = (program: Program): Program | null => (this.takes(instructionCount(program)) ? program : null);

  private alike(given: Given): KnownPlan {
    const before = this.known.find((one) => areAlike(one.given, given));
    if (before !== undefined) return before;
    const added = unknownPlan(given);
    if (this.takes(given.moves.source.length)) this.known.push(added);
    return added;
  }

  private takes(many: number): boolean {
    if (many > this.room) return false;
    this.room -= many;
    return true;
  }
}

const FIGURES = ["rankCount", "rootRank", "chunksPerBlock", "chunkCount"] as const;
const COLUMNS = ["source", "target", "chunk", "chunks", "reduces", "departsAt", "arrivesAt"] as const;

/** Returns whether all plans of both are the same; those of tables are not compared. O(moves). */
const areAlike = ({ moves: one, boxes }: Given, { moves: other, boxes: others }: Given): boolean =>
  one.collective.kind === other.collective.kind &&
  one.blocks === undefined &&
  other.blocks === undefined &&
  FIGURES.every((name) => one[name] === other[name]) &&
  areEqual(boxes, others) &&
  COLUMNS.every((name) => areEqual(one[name], other[name]));

function areEqual(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  if (one.length !== other.length) return false;
  for (let k = 0; k < one.length; k++) if (one[k] !== other[k]) return false;
  return true;
}
