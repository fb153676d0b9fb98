import type { RouteSet } from "../../model/routes/routes.ts";
import { groupRows } from "../steps/order.ts";

/**
 * Returns for each route the one that carries what a reversed pass sends against it: of the k-th route from a to b the k-th
 * from b to a. Where some route has none: the first such route in order of its ends. O(routes + NPUs).
 *
 * Sorted by (source, target, id) and by (target, source, id), routes that mirror each other stand at the same place.
 */
export function mirrors({ source, target }: RouteSet, npus: number): Int32Array | { readonly without: number } {
  const sorted = (first: Int32Array, second: Int32Array): Int32Array => {
    const rows = groupRows(second, npus).rows;
    return groupRows(
      rows.map((route) => first[route]),
      npus,
    ).rows.map((i) => rows[i]);
  };
  const there = sorted(source, target);
  const back = sorted(target, source);
  const mirror = new Int32Array(source.length);
  for (let i = 0; i < mirror.length; i++) {
    const a = there[i];
    const b = back[i];
    const order = source[a] - target[b] || target[a] - source[b];
    if (order !== 0) return { without: order < 0 ? a : b };
    mirror[a] = b;
  }
  return mirror;
}
