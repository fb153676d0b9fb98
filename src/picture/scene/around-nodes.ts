import { bendOf, switchHalfWidth, switchHeight } from "../shapes.ts";
import type { Wire } from "./wires.ts";

/** What wires must not seem to end in: a node with room around it. */
interface Obstacle {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  /** Half its sides; a circle has none, but a radius. */
  readonly half: number;
  readonly radius: number;
}

/** Where nodes stand, and how wires between them are bent. */
interface Standing {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly radius: number;
  readonly room?: Float64Array;
  readonly bend: Bend;
}

/** How far the middle of the line from a to b stands off the straight one, to its left. */
type Bend = (a: number, b: number) => number;

/** Larger pictures are not looked at so closely that it would matter, and would take long. */
const MOST_NODES = 256;
const MOST_WIRES = 4000;
/** A curve is looked at in so many straight pieces. */
const PIECES = 24;
/** Bends that are tried to either side, in radii of NPUs from the one that was meant: nearer ones in smaller steps. */
const TRIED = Array.from({ length: 30 }, (_, i) => 0.2 * (i + 1) * (1 + i / 20));
/** Room that is left around nodes, in radii of NPUs, and how far off the bend that was meant: less room before longer ways. */
const TRIES = [
  { margin: 0.3, most: 5 },
  { margin: 0.12, most: 5 },
  { margin: 0.03, most: 5 },
  { margin: 0.03, most: Number.POSITIVE_INFINITY },
];
const LEAST_MARGIN = 0.03;

/**
 * Returns bends with which wires pass around nodes that they do not touch: each that would meet such a node takes the least bend
 * with which it meets none, or the fewest. Switches count as squares as wide as they are, for a narrow page turns the picture.
 * Pictures of more than 256 nodes or 4,000 wires keep their bends. O(wires x nodes) else.
 */
export function aroundNodes(
  names: readonly string[],
  npuCount: number,
  wires: readonly Wire[],
  { x, y, radius, room, bend }: Standing,
): Bend {
  if (names.length > MOST_NODES || wires.length > MOST_WIRES) return bend;
  const obstacles = names.map((name, node): Obstacle => {
    const isNpu = node < npuCount;
    const wide = isNpu ? 0 : switchHalfWidth(name.length, radius, room?.[node] ?? Number.POSITIVE_INFINITY);
    const half = isNpu ? 0 : Math.max(wide, switchHeight(radius) / 2);
    return { node, x: x[node], y: y[node], half, radius: isNpu ? radius : 0 };
  });
  const bent = new Map<number, number>();
  for (const { a, b } of wires) {
    const off = bend(a, b);
    const better = leastBend(obstacles, a, b, off, radius);
    if (better !== off) bent.set(a * names.length + b, better);
  }
  return bent.size === 0 ? bend : (a, b) => bent.get(a * names.length + b) ?? bend(a, b);
}

/** Returns the bend of the wire from a to b that meets the fewest nodes, of those the nearest to `off`. */
function leastBend(obstacles: readonly Obstacle[], a: number, b: number, off: number, radius: number): number {
  const [from, to] = [obstacles[a], obstacles[b]];
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const most = Math.min(TRIED[TRIED.length - 1] * radius, 0.6 * length) + Math.abs(off);
  const near = within(obstacles, from, to, most + 2 * radius);
  const isClear = (bend: number, margin: number): boolean => met(near, from, to, bend, margin * radius, 1) === 0;
  if (isClear(off, LEAST_MARGIN)) return off;
  const steps = TRIED.flatMap((step) => [step * radius, -step * radius]);
  const tried = [...steps.map((step) => off + step), 0, ...(off === 0 ? [] : steps)];
  const allowed = tried
    .filter((bend) => Math.abs(bend) <= most)
    .sort((one, other) => Math.abs(one - off) - Math.abs(other - off) || one - other);
  for (const { margin, most: farthest } of TRIES) {
    const clear = allowed.find((bend) => Math.abs(bend - off) <= farthest * radius && isClear(bend, margin));
    if (clear !== undefined) return clear;
  }
  const counts = allowed.map((bend) => met(near, from, to, bend, LEAST_MARGIN * radius));
  return allowed[counts.indexOf(Math.min(...counts))];
}

/** Returns the obstacles but for both ends that a curve between them, so far off at most, can meet. */
function within(obstacles: readonly Obstacle[], from: Obstacle, to: Obstacle, off: number): Obstacle[] {
  return obstacles.filter(({ node, x, y, half }) => {
    if (node === from.node || node === to.node) return false;
    return offPiece(from.x - x, from.y - y, to.x - x, to.y - y) <= off + 1.5 * half;
  });
}

/** Returns how many of the obstacles, counted up to `most`, a curve meets or comes nearer to than a margin. */
function met(
  obstacles: readonly Obstacle[],
  from: Obstacle,
  to: Obstacle,
  off: number,
  margin: number,
  most = Number.POSITIVE_INFINITY,
): number {
  const { controlX, controlY } = bendOf(from.x, from.y, to.x, to.y, off);
  const pieces = off === 0 ? 1 : PIECES;
  const xs = new Float64Array(pieces + 1);
  const ys = new Float64Array(pieces + 1);
  for (let i = 0; i <= pieces; i++) {
    const share = i / pieces;
    const [first, middle, last] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
    xs[i] = first * from.x + middle * controlX + last * to.x;
    ys[i] = first * from.y + middle * controlY + last * to.y;
  }
  let count = 0;
  for (const { x, y, half, radius } of obstacles) {
    for (let i = 0; i < pieces; i++) {
      const isMet =
        half > 0
          ? crosses(xs[i] - x, ys[i] - y, xs[i + 1] - x, ys[i + 1] - y, half + margin)
          : offPiece(xs[i] - x, ys[i] - y, xs[i + 1] - x, ys[i + 1] - y) < radius + margin;
      if (!isMet) continue;
      count++;
      break;
    }
    if (count >= most) break;
  }
  return count;
}

/** Returns how far a straight piece stays from the origin. */
function offPiece(x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const share = Math.max(0, Math.min(1, -(x0 * dx + y0 * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x0 + share * dx, y0 + share * dy);
}

/** Returns whether a straight piece meets the square around the origin. */
function crosses(x0: number, y0: number, x1: number, y1: number, half: number): boolean {
  let [first, last] = [0, 1];
  for (const [start, step] of [
    [x0, x1 - x0],
    [y0, y1 - y0],
  ]) {
    if (Math.abs(step) < 1e-12) {
      if (Math.abs(start) > half) return false;
      continue;
    }
    const [one, other] = [(-half - start) / step, (half - start) / step];
    first = Math.max(first, Math.min(one, other));
    last = Math.min(last, Math.max(one, other));
  }
  return first <= last;
}
