import { at } from "./svg.ts";

/** Lines of a plot that run over each other, drawn so that every one is seen: in dashes that take turns. */

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A stretch of a line: its corners, and its turn among those that run there. */
export interface Stretch {
  readonly corners: readonly Place[];
  readonly turn: number;
  readonly turns: number;
}

/** Lines nearer than this cannot be told apart, pixels. */
const NEAR = 2;
const DASH = 9;

interface Segment {
  readonly line: number;
  readonly from: Place;
  readonly to: Place;
}

/** Returns each segment's turn and how many take turns: those between the same two abscissas, near each other at both. */
function turnsOf(segments: readonly Segment[]): Map<Segment, { turn: number; turns: number }> {
  const between = new Map<string, Segment[]>();
  for (const segment of segments) {
    const key = `${segment.from.x} ${segment.to.x}`;
    between.set(key, [...(between.get(key) ?? []), segment]);
  }
  const found = new Map<Segment, { turn: number; turns: number }>();
  for (const all of between.values()) {
    let left = [...all].sort((a, b) => a.from.y - b.from.y || a.line - b.line);
    while (left.length > 0) {
      const [first] = left as [Segment];
      const isNear = ({ from, to }: Segment): boolean =>
        Math.abs(from.y - first.from.y) < NEAR && Math.abs(to.y - first.to.y) < NEAR;
      const near = left.filter(isNear).sort((a, b) => a.line - b.line);
      left = left.filter((segment) => !isNear(segment));
      for (const [turn, segment] of near.entries()) found.set(segment, { turn, turns: near.length });
    }
  }
  return found;
}

/** Returns the stretches of each line, given by its points from left to right. O(L^2 P) for L lines of P points. */
export function stretches(lines: readonly (readonly Place[])[]): Stretch[][] {
  const segments = lines.map((points, line) =>
    points.slice(1).map((to, i) => ({ line, from: points[i] as Place, to })),
  );
  const turns = turnsOf(segments.flat());
  return segments.map((ofLine) => {
    const found: { corners: Place[]; turn: number; turns: number }[] = [];
    for (const segment of ofLine) {
      const own = turns.get(segment) as { turn: number; turns: number };
      const last = found[found.length - 1];
      if (last !== undefined && last.turn === own.turn && last.turns === own.turns) last.corners.push(segment.to);
      else found.push({ ...own, corners: [segment.from, segment.to] });
    }
    return found;
  });
}

/** Returns the way along corners. */
export const wayOf = (corners: readonly Place[]): string =>
  corners.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join("");

/** Returns the attributes that leave the other lines their turns; none for a line by itself. */
export const dashesOf = ({ corners, turn, turns }: Stretch): string =>
  turns === 1
    ? ""
    : ` style="stroke-linecap:butt" stroke-dasharray="${DASH} ${DASH * (turns - 1)}" stroke-dashoffset="${at((corners[0]?.x ?? 0) - DASH * turn)}"`;

/** Returns how far each point moves sideways, so that points of one abscissa that are near stand side by side within `room`. */
export function sidewaysOf(
  lines: readonly (readonly Place[])[],
  { near, apart, room }: { readonly near: number; readonly apart: number; readonly room: number },
): number[][] {
  const all = lines.flatMap((points, line) => points.map((place, i) => ({ place, line, i })));
  all.sort((a, b) => a.place.x - b.place.x || a.place.y - b.place.y || a.line - b.line);
  const moved = lines.map((points) => points.map(() => 0));
  for (let from = 0; from < all.length; ) {
    const first = (all[from] as (typeof all)[number]).place;
    let to = from + 1;
    while (to < all.length) {
      const { x, y } = (all[to] as (typeof all)[number]).place;
      if (x !== first.x || y - first.y >= near) break;
      to++;
    }
    const group = all.slice(from, to).sort((a, b) => a.line - b.line);
    const step = Math.min(apart, room / group.length);
    for (const [k, { line, i }] of group.entries()) (moved[line] as number[])[i] = step * (k - (group.length - 1) / 2);
    from = to;
  }
  return moved;
}
