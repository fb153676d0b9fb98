import { type Digraph, digraph } from "../digraph.ts";
import { range } from "./family.ts";
import { type FiniteField, fieldOf } from "./finite-field.ts";

/** Point-line geometries over finite fields, and the graphs that join each line to its points. */

/** Lines as lists of points, points numbered from 0. */
export interface Geometry {
  readonly points: number;
  readonly lines: readonly (readonly number[])[];
}

/** Returns the incidence graph: points first, then lines. O(incidences). */
export function incidenceGraph({ points, lines }: Geometry): Digraph {
  const through: number[][] = Array.from({ length: points }, () => []);
  lines.forEach((line, i) => {
    for (const point of line) through[point].push(points + i);
  });
  return digraph(points + lines.length, (v) => (v < points ? through[v] : lines[v - points]));
}

/** Returns the geometry whose lines have the points that the lines of another lack. */
export const complementary = ({ points, lines }: Geometry): Geometry => ({
  points,
  lines: lines.map((line) => range(0, points - 1).filter((point) => !line.includes(point))),
});

/** Returns the vectors of so many coordinates whose first coordinate above 0 is 1: the points of a projective space. */
function projectivePoints(q: number, coordinates: number): number[][] {
  const points: number[][] = [];
  for (let zeros = coordinates - 1; zeros >= 0; zeros--) {
    const free = coordinates - 1 - zeros;
    for (let code = 0; code < q ** free; code++) {
      const tail = Array.from({ length: free }, (_, i) => Math.floor(code / q ** i) % q);
      points.push([...new Array<number>(zeros).fill(0), 1, ...tail]);
    }
  }
  return points;
}

/** Returns PG(2, q): lines are the points whose vectors are orthogonal to one. */
export function projectivePlane(q: number): Geometry {
  const { add, multiply } = fieldOf(q);
  const points = projectivePoints(q, 3);
  const lines = points.map(([a, b, c]) => {
    const line: number[] = [];
    points.forEach(([x, y, z], point) => {
      if (add(add(multiply(a, x), multiply(b, y)), multiply(c, z)) === 0) line.push(point);
    });
    return line;
  });
  return { points: points.length, lines };
}

/** Returns AG(2, q) without the lines x = constant: point (x, y) is x + q y, line y = m x + b is m + q b. */
export function affinePlaneLessClass(q: number): Geometry {
  const { add, multiply } = fieldOf(q);
  const lines = Array.from({ length: q * q }, (_, line) => {
    const [m, b] = [line % q, Math.floor(line / q)];
    return Array.from({ length: q }, (_, x) => x + q * add(multiply(m, x), b));
  });
  return { points: q * q, lines };
}

/** Returns the lines of a projective space through two of the points that the predicate joins. O(points^2). */
function linesAmong(
  { q, add, multiply, inverse }: FiniteField,
  points: readonly (readonly number[])[],
  joined: (u: readonly number[], v: readonly number[]) => boolean,
): Geometry {
  const code = (vector: readonly number[]): number => vector.reduceRight((sum, x) => sum * q + x, 0);
  const index = new Map(points.map((point, i) => [code(point), i]));
  const lines: number[][] = [];
  for (let i = 0; i < points.length; i++) {
    for (let j = i + 1; j < points.length; j++) {
      if (!joined(points[i], points[j])) continue;
      const line = [i];
      for (let factor = 0; factor < q; factor++) {
        const sum = points[j].map((x, k) => add(x, multiply(factor, points[i][k])));
        const scale = inverse[sum.find((x) => x !== 0) as number];
        line.push(index.get(code(sum.map((x) => multiply(scale, x)))) as number);
      }
      line.sort((a, b) => a - b);
      if (line[0] === i && line[1] === j) lines.push(line);
    }
  }
  return { points: points.length, lines };
}

/** Returns u[i] v[j] - u[j] v[i]. */
const minorIn =
  ({ subtract, multiply }: FiniteField) =>
  (u: readonly number[], v: readonly number[], i: number, j: number): number =>
    subtract(multiply(u[i], v[j]), multiply(u[j], v[i]));

/** Returns W(q), a generalized quadrangle of order (q, q): the lines of PG(3, q) that a symplectic form vanishes on. */
export function generalizedQuadrangle(q: number): Geometry {
  const gf = fieldOf(q);
  const { add } = gf;
  const minor = minorIn(gf);
  return linesAmong(gf, projectivePoints(q, 4), (u, v) => add(minor(u, v, 0, 1), minor(u, v, 2, 3)) === 0);
}

/** Pairs of Grassmann coordinates that are equal on the lines of H(q) (Tits 1959). */
const HEXAGON_LINES = [
  [1, 2, 3, 4],
  [5, 4, 3, 2],
  [2, 0, 3, 5],
  [6, 5, 3, 0],
  [0, 1, 3, 6],
  [4, 6, 3, 1],
] as const;

/**
 * Returns the split Cayley hexagon H(q), a generalized hexagon of order (q, q): the points of the quadric
 * x0 x4 + x1 x5 + x2 x6 = x3^2 of PG(6, q), and those of its lines whose Grassmann coordinates meet Tits's equations.
 */
export function generalizedHexagon(q: number): Geometry {
  const gf = fieldOf(q);
  const { add, multiply } = gf;
  const form = (u: readonly number[], v: readonly number[]): number =>
    [0, 1, 2].reduce((sum, i) => add(sum, multiply(u[i], v[i + 4])), 0);
  const points = projectivePoints(q, 7).filter((u) => form(u, u) === multiply(u[3], u[3]));
  const minor = minorIn(gf);
  const joined = (u: readonly number[], v: readonly number[]): boolean => {
    for (const [i, j, k, l] of HEXAGON_LINES) if (minor(u, v, i, j) !== minor(u, v, k, l)) return false;
    const middle = multiply(u[3], v[3]);
    return add(form(u, v), form(v, u)) === add(middle, middle);
  };
  return linesAmong(gf, points, joined);
}
