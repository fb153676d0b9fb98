import { type AxisSet, groupSize, type Mesh, type MeshAxis } from "./mesh.ts";

/**
 * How a tensor lies on a mesh (Zhao 2026, 5.2.1): on each axis every NPU has all of it (REPLICATED), a summand of it (PARTIAL), or
 * a part along one of its dimensions (shardAlong). A number of four bits an axis, the first axis lowest. Which elements a part is
 * does not depend on other axes: an index along a dimension has a digit for each axis, by which that axis deals it; so gathering
 * along one axis, or dealing along it, is the same whatever lies along the others.
 */
export type Pattern = number;

/** What a pattern says of one axis. */
export type AxisState = number;
export const REPLICATED: AxisState = 0;
export const PARTIAL: AxisState = 1;
/** No tensor has more dimensions. */
export const MOST_DIMENSIONS = 13;
/** Of a pattern that is asked for: replicated, and no parts are taken of it, so that only it will do. In no tensor's own pattern. */
const WHOLE: AxisState = 15;

/** Returns the state of an axis along which a tensor is dealt by its dimension number `at`. */
export const shardAlong = (at: number): AxisState => 2 + at;
/** Returns the number of the dimension along which a state deals; negative where it does not. */
export const shardedAt = (state: AxisState): number => state - 2;

export const ALL_REPLICATED: Pattern = 0;

/** Returns what a pattern says of axis j. */
export const stateOn = (pattern: Pattern, j: number): AxisState => (pattern >>> (4 * j)) & 15;

/** Returns the pattern with another state on axis j. */
export const withState = (pattern: Pattern, j: number, state: AxisState): Pattern =>
  ((pattern & ~(15 << (4 * j))) | (state << (4 * j))) >>> 0;

/** Returns the pattern of states, one an axis. */
export const patternOf = (states: readonly AxisState[]): Pattern =>
  states.reduce((pattern, state, j) => withState(pattern, j, state), ALL_REPLICATED);

/** Returns the axes along which a pattern has a state for which `is` holds. */
export function axesWhere({ axes }: Mesh, pattern: Pattern, is: (state: AxisState) => boolean): AxisSet {
  let set = 0;
  for (let j = 0; j < axes.length; j++) if (is(stateOn(pattern, j))) set |= 1 << j;
  return set;
}

/** Returns a pattern as one that is asked for and of which no parts are taken; and what it is without that. */
export const exactly = ({ axes }: Mesh, pattern: Pattern): Pattern => renamed(axes.length, pattern, REPLICATED, WHOLE);
export const plainly = ({ axes }: Mesh, pattern: Pattern): Pattern => renamed(axes.length, pattern, WHOLE, REPLICATED);

function renamed(axisCount: number, pattern: Pattern, from: AxisState, to: AxisState): Pattern {
  let result = pattern;
  for (let j = 0; j < axisCount; j++) if (stateOn(pattern, j) === from) result = withState(result, j, to);
  return result;
}

/** Returns into how many parts a pattern deals a tensor. */
export const shardCount = (mesh: Mesh, pattern: Pattern): number =>
  groupSize(
    mesh,
    axesWhere(mesh, pattern, (state) => shardedAt(state) >= 0),
  );

/**
 * Returns all patterns of a tensor whose dimensions have these sizes: those that deal each dimension evenly. With `partial` those
 * that mean a sum as well. In order of their numbers; at most (rank + 2) ** axes.
 */
export function patternsOf({ axes }: Mesh, sizes: readonly number[], partial: boolean): Pattern[] {
  let found: { pattern: Pattern; left: readonly number[] }[] = [{ pattern: ALL_REPLICATED, left: sizes }];
  for (let j = axes.length - 1; j >= 0; j--) {
    const { size } = axes[j] as MeshAxis;
    const states = [REPLICATED, ...(partial ? [PARTIAL] : []), ...sizes.map((_, at) => shardAlong(at))];
    // an axis of one NPU has one state
    found = found.flatMap(({ pattern, left }) =>
      (size === 1 ? [REPLICATED] : states).flatMap((state) => {
        const at = shardedAt(state);
        if (at < 0) return [{ pattern: withState(pattern, j, state), left }];
        const one = left[at] as number;
        if (one % size !== 0) return [];
        return [{ pattern: withState(pattern, j, state), left: left.with(at, one / size) }];
      }),
    );
  }
  return found.map(({ pattern }) => pattern).sort((a, b) => a - b);
}

/** What NPUs send each other so that a tensor lies otherwise. */
export const MOVE_KINDS = ["reducescatter", "alltoall", "allreduce", "allgather"] as const;
export type MoveKind = (typeof MOVE_KINDS)[number];

/** A collective, by all groups of a set of axes at once. */
export interface Move {
  readonly kind: MoveKind;
  readonly axes: AxisSet;
  /** The buffer of an NPU is the tensor's bytes over this: before it, of an all-gather behind it. */
  readonly parts: number;
  /** What the tensor lies like behind it, parts that are taken before it included. */
  readonly to: Pattern;
}

/** Returns whether a pattern deals each dimension evenly. */
export function isEven({ axes }: Mesh, sizes: readonly number[], pattern: Pattern): boolean {
  const left = [...sizes];
  for (let j = 0; j < axes.length; j++) {
    const at = shardedAt(stateOn(pattern, j));
    if (at < 0) continue;
    const { size } = axes[j] as MeshAxis;
    if ((left[at] as number) % size !== 0) return false;
    left[at] = (left[at] as number) / size;
  }
  return true;
}

/**
 * Returns the collectives that take a tensor of dimensions of these sizes from one pattern to another, or null where none do
 * (nothing becomes partial). First what makes it less: parts are taken of what is replicated (free), sums are dealt
 * (reduce-scatter); then all-to-alls, sums of what stays whole (all-reduce), and all-gathers; those of one kind are one collective
 * over all of their axes together. What would deal a dimension unevenly meanwhile waits for the others.
 */
export function movesBetween(mesh: Mesh, sizes: readonly number[], from: Pattern, to: Pattern): readonly Move[] | null {
  const sets: Record<"slice" | MoveKind, AxisSet> = {
    slice: 0,
    reducescatter: 0,
    alltoall: 0,
    allreduce: 0,
    allgather: 0,
  };
  for (let j = 0; j < mesh.axes.length; j++) {
    const [before, after] = [stateOn(from, j), stateOn(to, j)];
    if (before === after) continue;
    if (after === PARTIAL) return null;
    const dealt = shardedAt(after) >= 0;
    const kind =
      before === REPLICATED
        ? "slice"
        : before === PARTIAL
          ? dealt
            ? "reducescatter"
            : "allreduce"
          : dealt
            ? "alltoall"
            : "allgather";
    sets[kind] |= 1 << j;
  }
  const waiting = (["slice", ...MOVE_KINDS] as const).filter((kind) => sets[kind] !== 0);
  const moves: Move[] = [];
  let now = from;
  while (waiting.length > 0) {
    const even = waiting.findIndex((kind) => isEven(mesh, sizes, withStatesOf(mesh, now, to, sets[kind])));
    const [kind] = waiting.splice(Math.max(0, even), 1) as [(typeof waiting)[number]];
    const before = shardCount(mesh, now);
    now = withStatesOf(mesh, now, to, sets[kind]);
    if (kind === "slice") continue;
    moves.push({ kind, axes: sets[kind], parts: kind === "allgather" ? shardCount(mesh, now) : before, to: now });
  }
  return moves;
}

/** Returns a pattern with the states of another on some axes. */
export function withStatesOf({ axes }: Mesh, pattern: Pattern, other: Pattern, set: AxisSet): Pattern {
  let result = pattern;
  for (let j = 0; j < axes.length; j++) if ((set >> j) & 1) result = withState(result, j, stateOn(other, j));
  return result;
}
