import { type Cells, cellsFor, nodesIn, single } from "../../../picture/cells.ts";
import type { NetworkView } from "../../protocol.ts";

/** What there is from nodes to nodes: links, or what NPUs send each other. */
export interface Pairs {
  /** [pairs] */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [pairs] shares of a whole (0 .. 1), or amounts. */
  readonly value: Float64Array;
  /** Several between two cells have the mean of their shares, or the sum of their amounts. */
  readonly together: "mean" | "sum";
}

/** Pairs by where they begin (rows) and end (columns). Entries are there where pairs are. */
export interface Matrix {
  readonly rows: Cells;
  readonly columns: Cells;
  /** [entries] by row, then column. */
  readonly row: Int32Array;
  readonly column: Int32Array;
  /** [entries] mean or sum over its pairs. */
  readonly value: Float64Array;
  /** The value of a share of 1: 1 for means, the largest of sums. */
  readonly whole: number;
  /** [entries] value over the whole, 0 .. 1. */
  readonly share: Float32Array;
  readonly pairs: Int32Array;
  /** [entries] the first of its pairs. */
  readonly first: Int32Array;
  /** Entry of row * columns + column. */
  readonly entryOf: ReadonlyMap<number, number>;
}

/** Returns the matrix of pairs from the nodes of `rows` to those of `columns`. O(pairs + entries log entries). */
export function matrixOf({ source, target, value, together }: Pairs, rows: Cells, columns: Cells): Matrix {
  const width = columns.names.length;
  const keyOf = (pair: number): number => {
    const [row, column] = [rows.cellOf[source[pair]], columns.cellOf[target[pair]]];
    return row < 0 || column < 0 ? -1 : row * width + column;
  };
  const found = new Set<number>();
  for (let pair = 0; pair < source.length; pair++) found.add(keyOf(pair));
  found.delete(-1);
  const keys = Float64Array.from(found).sort();
  const entryOf = new Map<number, number>();
  for (let entry = 0; entry < keys.length; entry++) entryOf.set(keys[entry], entry);
  const sums = new Float64Array(keys.length);
  const pairs = new Int32Array(keys.length);
  const first = new Int32Array(keys.length);
  for (let pair = 0; pair < source.length; pair++) {
    const entry = entryOf.get(keyOf(pair));
    if (entry === undefined) continue;
    if (pairs[entry] === 0) first[entry] = pair;
    sums[entry] += value[pair];
    pairs[entry]++;
  }
  const values = together === "mean" ? sums.map((sum, entry) => sum / pairs[entry]) : sums;
  const whole = together === "mean" ? 1 : values.reduce((most, sum) => Math.max(most, sum), 0);
  return {
    rows,
    columns,
    row: Int32Array.from(keys, (key) => Math.floor(key / width)),
    column: Int32Array.from(keys, (key) => key % width),
    value: values,
    whole,
    share: Float32Array.from(values, (one) => (whole > 0 ? one / whole : 0)),
    pairs,
    first,
    entryOf,
  };
}

/** The nodes that pairs may begin and end at. */
export type Nodes = Parameters<typeof cellsFor>[0];

/** Returns the NPUs alone. */
export const npusOf = ({ nodeNames, npuCount, groups, nodeGroup }: NetworkView): Nodes => ({
  nodeNames: nodeNames.slice(0, npuCount),
  npuCount,
  groups,
  nodeGroup,
});

/** Returns the matrix of all pairs, coarse where nodes are many. */
export function wholeMatrix(nodes: Nodes, pairs: Pairs): Matrix {
  const cells = cellsFor(nodes);
  return matrixOf(pairs, cells, cells);
}

/** Returns what is inside an entry of a coarse matrix. */
export function insideOf(nodes: Nodes, pairs: Pairs, { rows, columns }: Matrix, row: number, column: number): Matrix {
  return matrixOf(pairs, single(nodes, nodesIn(rows, row)), single(nodes, nodesIn(columns, column)));
}

/** Returns the entry at a row and column; -1 where there is nothing. */
export const entryAt = ({ columns, entryOf }: Matrix, row: number, column: number): number =>
  entryOf.get(row * columns.names.length + column) ?? -1;

/** Returns the next entry after a place (1) or the one before it (-1), row by row; -1 where there is none. O(entries). */
export function entryBeside(
  { columns, row, column }: Matrix,
  from: { readonly row: number; readonly column: number } | null,
  by: 1 | -1,
): number {
  const width = columns.names.length;
  const keyOf = (entry: number): number => row[entry] * width + column[entry];
  if (from === null) return by === 1 ? Math.min(0, row.length - 1) : row.length - 1;
  const key = from.row * width + from.column;
  const after = [...row.keys()].findIndex((entry) => (by === 1 ? keyOf(entry) > key : keyOf(entry) >= key));
  if (by === 1) return after;
  return after < 0 ? row.length - 1 : after - 1;
}
