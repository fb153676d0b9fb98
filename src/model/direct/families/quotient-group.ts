/** A finite abelian group as translations (`model/symmetry/translation.ts`), and the nodes that unit steps lead to from node 0. */
export interface QuotientGroup {
  /** Orders of its cyclic factors, none of them 1 unless the group is trivial. */
  readonly sizes: readonly number[];
  /** [dimension] */
  readonly unit: readonly number[];
}

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/**
 * Returns Z^n modulo the rows of an n x n matrix of full rank: row and column operations make it diagonal, and the product of the
 * column operations takes unit vectors to coordinates. Integers of any size, so nothing overflows.
 */
export function quotientGroup(rows: readonly (readonly number[])[]): QuotientGroup {
  const n = rows.length;
  const matrix = rows.map((row) => row.map(BigInt));
  const columns = rows.map((_, i) => rows.map((_, j) => (i === j ? 1n : 0n)));
  const swapColumns = (a: number, b: number): void => {
    for (const row of [...matrix, ...columns]) [row[a], row[b]] = [row[b], row[a]];
  };
  for (let t = 0; t < n; ) {
    const [pivotRow, pivotColumn] = smallest(matrix, t);
    [matrix[t], matrix[pivotRow]] = [matrix[pivotRow], matrix[t]];
    swapColumns(t, pivotColumn);
    const pivot = matrix[t][t];
    for (let i = t + 1; i < n; i++) {
      const times = matrix[i][t] / pivot;
      if (times !== 0n) matrix[i] = matrix[i].map((value, j) => value - times * matrix[t][j]);
    }
    for (let j = t + 1; j < n; j++) {
      const times = matrix[t][j] / pivot;
      if (times !== 0n) for (const row of [...matrix, ...columns]) row[j] -= times * row[t];
    }
    let done = true;
    for (let i = t + 1; i < n; i++) if (matrix[i][t] !== 0n || matrix[t][i] !== 0n) done = false;
    if (done) t++;
  }
  const kept = matrix.map((row, i) => ({ i, size: Number(absolute(row[i])) })).filter(({ size }) => size > 1);
  const unit = columns.map((row) => {
    let node = 0;
    let stride = 1;
    for (const { i, size } of kept) {
      const order = BigInt(size);
      node += Number(((row[i] % order) + order) % order) * stride;
      stride *= size;
    }
    return node;
  });
  return { sizes: kept.length === 0 ? [1] : kept.map(({ size }) => size), unit };
}

/** Returns row and column of the entry nearest to 0, but not 0, among rows and columns from `start` on. */
function smallest(matrix: readonly (readonly bigint[])[], start: number): [row: number, column: number] {
  let best: [number, number] = [start, start];
  let least = 0n;
  for (let i = start; i < matrix.length; i++) {
    for (let j = start; j < matrix.length; j++) {
      const size = absolute(matrix[i][j]);
      if (size !== 0n && (least === 0n || size < least)) {
        least = size;
        best = [i, j];
      }
    }
  }
  return best;
}
