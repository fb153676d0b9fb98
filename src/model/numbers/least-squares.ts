/** Least squares over a few unknowns by orthogonal columns; only + - * / and sqrt, so the same everywhere. */

/** A column shorter than this part of itself after the others are taken out says nothing of its own. */
const DEPENDENT = 1e-9;

const dot = (a: Float64Array, b: Float64Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};

/** Takes out of `column` what lies along the unit vectors, twice, for rounding. */
function project(column: Float64Array, units: readonly Float64Array[]): void {
  for (let pass = 0; pass < 2; pass++) {
    for (const unit of units) {
      const along = dot(column, unit);
      for (let i = 0; i < column.length; i++) column[i] -= along * unit[i];
    }
  }
}

/**
 * Returns the x that minimizes |A x - b| for the columns of A: [rows] each (modified Gram-Schmidt). The unknown of a column that
 * depends on earlier ones is 0. O(rows columns^2).
 */
export function leastSquares(columns: readonly Float64Array[], b: Float64Array): Float64Array {
  const units: Float64Array[] = [];
  const upper: number[][] = [];
  const kept: number[] = [];
  columns.forEach((column, j) => {
    const rest = column.slice();
    project(rest, units);
    const length = Math.sqrt(dot(rest, rest));
    if (!(length > DEPENDENT * Math.sqrt(dot(column, column)))) return;
    upper.push([...units.map((unit) => dot(column, unit)), length]);
    units.push(rest.map((value) => value / length));
    kept.push(j);
  });
  const solution = new Float64Array(columns.length);
  const known: number[] = new Array(kept.length).fill(0);
  for (let j = kept.length - 1; j >= 0; j--) {
    let value = dot(b, units[j]);
    for (let k = j + 1; k < kept.length; k++) value -= (upper[k] as number[])[j] * known[k];
    known[j] = value / (upper[j] as number[])[j];
    solution[kept[j] as number] = known[j];
  }
  return solution;
}

/** Returns b - A x. */
export function residual(columns: readonly Float64Array[], b: Float64Array, x: Float64Array): Float64Array {
  const rest = b.slice();
  columns.forEach((column, j) => {
    for (let i = 0; i < rest.length; i++) rest[i] -= column[i] * x[j];
  });
  return rest;
}

/** Returns the sum of squares. */
export const squares = (vector: Float64Array): number => dot(vector, vector);

/**
 * Returns the x without negative parts that minimizes |A x - b| (Lawson and Hanson's active set). At most 3 x columns rounds;
 * ties go to the lower column.
 */
export function nonNegativeLeastSquares(columns: readonly Float64Array[], b: Float64Array): Float64Array {
  let x = new Float64Array(columns.length);
  const free = new Set<number>();
  const solveFree = (): Float64Array => {
    const order = [...free].sort((p, q) => p - q);
    const part = leastSquares(
      order.map((j) => columns[j] as Float64Array),
      b,
    );
    const full = new Float64Array(columns.length);
    order.forEach((j, i) => {
      full[j] = part[i];
    });
    return full;
  };
  const scale = Math.sqrt(squares(b));
  for (let round = 0; round < 3 * columns.length; round++) {
    const rest = residual(columns, b, x);
    let enter = -1;
    let steepest = DEPENDENT * scale;
    columns.forEach((column, j) => {
      if (free.has(j)) return;
      const slope = dot(column, rest) / Math.max(Math.sqrt(squares(column)), Number.MIN_VALUE);
      if (slope > steepest) [steepest, enter] = [slope, j];
    });
    if (enter < 0) break;
    free.add(enter);
    let wanted = solveFree();
    for (let inner = 0; inner <= columns.length && [...free].some((j) => wanted[j] <= 0); inner++) {
      let step = 1;
      for (const j of free) if (wanted[j] <= 0 && x[j] > wanted[j]) step = Math.min(step, x[j] / (x[j] - wanted[j]));
      const moved = x.map((value, j) => value + step * (wanted[j] - value));
      for (const j of [...free]) {
        if (moved[j] > 0 && !(wanted[j] <= 0 && x[j] <= 0)) continue;
        moved[j] = 0;
        free.delete(j);
      }
      x = moved;
      wanted = solveFree();
    }
    x = wanted.map((value) => Math.max(0, value));
  }
  return x;
}

/** Returns how long a column is once the others are taken out: what it alone can tell. O(rows columns^2). */
export function ownLength(columns: readonly Float64Array[], column: number): number {
  const units: Float64Array[] = [];
  columns.forEach((other, j) => {
    if (j === column) return;
    const rest = other.slice();
    project(rest, units);
    const length = Math.sqrt(dot(rest, rest));
    if (length > DEPENDENT * Math.sqrt(dot(other, other))) units.push(rest.map((value) => value / length));
  });
  const rest = (columns[column] as Float64Array).slice();
  const before = Math.sqrt(dot(rest, rest));
  project(rest, units);
  const own = Math.sqrt(dot(rest, rest));
  return own > DEPENDENT * before ? own : 0;
}
