import type { MilpProgress } from "../contract/programs.ts";

/**
 * Shared memory between the thread that solves and the one that waits: what the solver has found survives it, however it
 * ends. Over ordinary memory where there is no shared one and both are the same thread.
 */
export interface Board {
  /** [4]: cancelled, started, times that progress was reported, 1 + the place of the latest point. */
  readonly control: Int32Array;
  /** [4]: the latest progress. */
  readonly progress: Float64Array;
  /** Two places, written in turn, so that one is always whole. */
  readonly points: readonly [Float64Array, Float64Array];
}

const CANCELLED = 0;
const STARTED = 1;
const TOLD = 2;
const LATEST = 3;

/** Returns a board for points of this many numbers. */
export function newBoard(length: number): Board {
  const bytes = (count: number) =>
    typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(count) : new SharedArrayBuffer(count);
  return {
    control: new Int32Array(bytes(16)),
    progress: new Float64Array(bytes(32)),
    points: [new Float64Array(bytes(8 * length)), new Float64Array(bytes(8 * length))],
  };
}

export const postCancel = ({ control }: Board): number => Atomics.store(control, CANCELLED, 1);
export const isCancelled = ({ control }: Board): boolean => Atomics.load(control, CANCELLED) === 1;
export const postStarted = ({ control }: Board): number => Atomics.store(control, STARTED, 1);
export const isStarted = ({ control }: Board): boolean => Atomics.load(control, STARTED) === 1;

export function postProgress({ control, progress }: Board, { ms, nodes, objective, bound }: MilpProgress): void {
  progress.set([ms, nodes, objective, bound]);
  Atomics.add(control, TOLD, 1);
}

/** Returns the latest progress, with how often there was any; undefined where there was none. */
export function latestProgress({ control, progress }: Board): { times: number; progress: MilpProgress } | undefined {
  const times = Atomics.load(control, TOLD);
  if (times === 0) return undefined;
  const [ms, nodes, objective, bound] = progress as unknown as [number, number, number, number];
  return { times, progress: { ms, nodes, objective, bound } };
}

export function postPoint({ control, points }: Board, point: Float64Array): void {
  const place = Atomics.load(control, LATEST) === 1 ? 1 : 0;
  points[place].set(point);
  Atomics.store(control, LATEST, place + 1);
}

/** Returns a copy of the latest point; undefined where there was none. */
export function latestPoint({ control, points }: Board): Float64Array | undefined {
  const place = Atomics.load(control, LATEST) - 1;
  return place < 0 ? undefined : Float64Array.from(points[place as 0 | 1]);
}
