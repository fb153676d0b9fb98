/**
 * Returns for every link from source to target, [links], one that runs the other way and is equal in each of the columns
 * ([links] each), every link once; null when some link has none. The k-th of equal links from a to b gets the k-th from b to
 * a. O(links log links).
 */
export function oppositeLinks(
  source: Int32Array,
  target: Int32Array,
  columns: readonly Float64Array[],
): Int32Array | null {
  const sorted = (tail: Int32Array, head: Int32Array): Int32Array =>
    Int32Array.from(tail.keys()).sort(
      (a, b) =>
        tail[a] - tail[b] || head[a] - head[b] || columns.reduce((order, c) => order || c[a] - c[b], 0) || a - b,
    );
  const forward = sorted(source, target);
  const backward = sorted(target, source);
  const opposite = new Int32Array(source.length);
  for (let i = 0; i < forward.length; i++) {
    const [e, f] = [forward[i], backward[i]];
    if (source[e] !== target[f] || target[e] !== source[f] || columns.some((c) => c[e] !== c[f])) return null;
    opposite[e] = f;
  }
  return opposite;
}
