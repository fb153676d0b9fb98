/**
 * Rounds in which every port sends and receives one message at a time: an edge colouring of the bipartite multigraph of
 * messages between sending and receiving ports with as many colours as the busiest port has messages (Koenig 1916). An edge
 * takes a colour that is free at one end; where it is not free at the other, the path of two alternating colours from there
 * swaps them.
 */

/** Places of the table of edges by port and colour. */
const MOST_PLACES = 5e7;
const NONE = -1;

/**
 * Returns the round of every message, 0 .. (messages of the busiest port) - 1; null where that would take too much memory.
 * `from` and `to` [messages] are ports below `ports`, the senders' different from the receivers'. O(messages * (rounds + ports)).
 */
export function portRounds(from: Int32Array, to: Int32Array, ports: number): Int32Array | null {
  const degree = new Int32Array(ports);
  for (let e = 0; e < from.length; e++) {
    degree[from[e]]++;
    degree[to[e]]++;
  }
  const rounds = degree.reduce((most, count) => Math.max(most, count), 0);
  if (ports * rounds > MOST_PLACES) return null;
  const at = new Int32Array(ports * rounds).fill(NONE);
  const round = new Int32Array(from.length);
  const firstFree = (port: number): number => {
    let free = port * rounds;
    while (at[free] !== NONE) free++;
    return free - port * rounds;
  };
  const put = (edge: number, color: number): void => {
    round[edge] = color;
    at[from[edge] * rounds + color] = edge;
    at[to[edge] * rounds + color] = edge;
  };
  for (let e = 0; e < from.length; e++) {
    const a = firstFree(from[e]);
    if (at[to[e] * rounds + a] !== NONE) swapAlong(to[e], a, firstFree(to[e]));
    put(e, a);
  }
  return round;

  /** Frees colour `a` at `port`, where `b` is free. */
  function swapAlong(port: number, a: number, b: number): void {
    const path: number[] = [];
    let color = a;
    for (let node = port, edge = at[node * rounds + color]; edge !== NONE; edge = at[node * rounds + color]) {
      path.push(edge);
      node = from[edge] === node ? to[edge] : from[edge];
      color = color === a ? b : a;
    }
    for (const edge of path) {
      at[from[edge] * rounds + round[edge]] = NONE;
      at[to[edge] * rounds + round[edge]] = NONE;
    }
    for (const edge of path) put(edge, round[edge] === a ? b : a);
  }
}
