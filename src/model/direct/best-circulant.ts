import { InputError } from "../../base/errors.ts";

/**
 * Returns the two offsets of a circulant of degree 4 whose diameter is least among all with two offsets: m and m + 1 for the
 * least m that can reach n nodes, 2m(m+1) + 1 >= n (Zhao 2026, theorem 22, in integers); 1 and 2 for 5 and 6 nodes. Throws
 * InputError below 5 nodes. Parallel links (MultiC) keep the diameter at any even degree; with more offsets it can be less.
 */
export function bestCirculant(nodes: number): readonly [number, number] {
  if (!(Number.isInteger(nodes) && nodes >= 5))
    throw new InputError("a circulant of degree 4", "5 nodes or more", nodes);
  if (nodes <= 6) return [1, 2];
  let m = Math.max(1, Math.floor((Math.sqrt(2 * nodes - 1) - 1) / 2) - 1);
  while (2 * m * (m + 1) + 1 < nodes) m++;
  return [m, m + 1];
}
