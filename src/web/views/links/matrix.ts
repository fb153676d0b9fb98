import type { NetworkView } from "../../protocol.ts";
import { type Cells, cellsFor, nodesIn, single } from "./cells.ts";

/** How busy links were by where they begin (rows) and end (columns). Entries are there for pairs with links only. */
export interface Matrix {
  readonly rows: Cells;
  readonly columns: Cells;
  /** [entries] by row, then column. */
  readonly row: Int32Array;
  readonly column: Int32Array;
  /** [entries] mean over its links, 0 .. 1. */
  readonly share: Float32Array;
  readonly links: Int32Array;
  /** [entries] the first of its links. */
  readonly link: Int32Array;
  /** Entry of row * columns + column. */
  readonly entryOf: ReadonlyMap<number, number>;
}

type Links = Pick<NetworkView, "linkSource" | "linkTarget">;

/** Returns the matrix of links from the nodes of `rows` to those of `columns`. O(links + entries log entries). */
export function matrixOf({ linkSource, linkTarget }: Links, rows: Cells, columns: Cells, shares: Float64Array): Matrix {
  const width = columns.names.length;
  const found = new Map<number, { sum: number; links: number; link: number }>();
  for (let link = 0; link < linkSource.length; link++) {
    const [row, column] = [rows.cellOf[linkSource[link]], columns.cellOf[linkTarget[link]]];
    if (row < 0 || column < 0) continue;
    const key = row * width + column;
    const entry = found.get(key);
    if (entry === undefined) found.set(key, { sum: shares[link], links: 1, link });
    else {
      entry.sum += shares[link];
      entry.links++;
    }
  }
  const keys = Float64Array.from(found.keys()).sort();
  const entries = Array.from(keys, (key) => found.get(key) as { sum: number; links: number; link: number });
  return {
    rows,
    columns,
    row: Int32Array.from(keys, (key) => Math.floor(key / width)),
    column: Int32Array.from(keys, (key) => key % width),
    share: Float32Array.from(entries, ({ sum, links }) => sum / links),
    links: Int32Array.from(entries, ({ links }) => links),
    link: Int32Array.from(entries, ({ link }) => link),
    entryOf: new Map(Array.from(keys, (key, entry) => [key, entry])),
  };
}

/** Returns the matrix of all links, coarse where nodes are many. */
export function wholeMatrix(network: NetworkView, shares: Float64Array): Matrix {
  const cells = cellsFor(network);
  return matrixOf(network, cells, cells, shares);
}

/** Returns what is inside an entry of a coarse matrix. */
export function insideOf(
  network: NetworkView,
  { rows, columns }: Matrix,
  row: number,
  column: number,
  shares: Float64Array,
): Matrix {
  return matrixOf(network, single(network, nodesIn(rows, row)), single(network, nodesIn(columns, column)), shares);
}

/** Returns the entry at a row and column; -1 where there is no link. */
export const entryAt = ({ columns, entryOf }: Matrix, row: number, column: number): number =>
  entryOf.get(row * columns.names.length + column) ?? -1;

/** Returns the next entry after a place (1) or the one before it (-1), row by row; -1 where there is none. O(entries). */
export function entryBeside(
  { columns, row, column }: Matrix,
  from: { readonly row: number; readonly column: number } | null,
  by: 1 | -1,
): number {
  const width = columns.names.length;
  const keyOf = (entry: number): number => (row[entry] as number) * width + (column[entry] as number);
  if (from === null) return by === 1 ? Math.min(0, row.length - 1) : row.length - 1;
  const key = from.row * width + from.column;
  const after = [...row.keys()].findIndex((entry) => (by === 1 ? keyOf(entry) > key : keyOf(entry) >= key));
  if (by === 1) return after;
  return after < 0 ? row.length - 1 : after - 1;
}
