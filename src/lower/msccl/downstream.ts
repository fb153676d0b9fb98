/**
 * Returns a function that puts moves which arrive at the same time in order: where it can be had, those that come to a rank
 * after those that leave it, so that what the rank passes on finds its connection free. Where moves run in circles, one of the
 * circle comes too early. Deterministic: a depth-first search through ranks in ascending order. O(moves log moves).
 */
export function downstreamFirst(source: Int32Array, target: Int32Array): (moves: Uint32Array) => Uint32Array {
  const ranks = source.reduce((most, rank, i) => Math.max(most, rank + 1, target[i] + 1), 0);
  const firstFrom = new Int32Array(ranks).fill(-1);
  const cursor = new Int32Array(ranks);
  const place = new Int32Array(ranks);
  return (moves) => {
    if (moves.length < 2) return moves;
    const bySource = moves.slice().sort((a, b) => source[a] - source[b] || target[a] - target[b] || a - b);
    bySource.forEach((move, i) => {
      if (i === 0 || source[bySource[i - 1]] !== source[move]) firstFrom[source[move]] = i;
    });
    let placed = 0;
    const seen: number[] = [];
    const visit = (rank: number): void => {
      cursor[rank] = firstFrom[rank] < 0 ? moves.length : firstFrom[rank];
      place[rank] = -1;
      seen.push(rank);
    };
    for (const move of moves) {
      place[source[move]] = -2;
      place[target[move]] = -2;
    }
    for (const move of bySource) {
      if (place[source[move]] !== -2) continue;
      const stack = [source[move]];
      visit(source[move]);
      while (stack.length > 0) {
        const rank = stack[stack.length - 1];
        const next = bySource[cursor[rank]];
        if (cursor[rank] < moves.length && source[next] === rank) {
          cursor[rank]++;
          if (place[target[next]] !== -2) continue;
          stack.push(target[next]);
          visit(target[next]);
        } else {
          place[rank] = placed++;
          stack.pop();
        }
      }
    }
    for (const rank of seen) firstFrom[rank] = -1;
    return moves.slice().sort((a, b) => place[target[a]] - place[target[b]] || a - b);
  };
}
