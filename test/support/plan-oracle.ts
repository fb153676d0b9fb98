import type { Tasks } from "../../src/synthesize/taccl/scheduling.ts";

/** Shortest ends by trying everything, with a clock of its own: links are looked at one by one, shares are not. */

type Messages = readonly (readonly number[])[];

const needsOf = ({ before }: Tasks, task: number): readonly number[] => [
  ...before.items.slice(before.offset[task], before.offset[task + 1]),
];

/** Returns when the messages end, sent in this order, each as early as it can; Infinity where one lacks its data. */
export function endInOrder(tasks: Tasks, order: Messages): number {
  const { routes, route, times } = tasks;
  const arrived = new Map<number, number>();
  const free = new Map<number, number>();
  let last = 0;
  for (const message of order) {
    const over = route[message[0]];
    const links = routes.links.slice(routes.linkOffset[over], routes.linkOffset[over + 1]);
    let start = 0;
    for (const task of message) {
      for (const need of needsOf(tasks, task)) start = Math.max(start, arrived.get(need) ?? Number.POSITIVE_INFINITY);
    }
    if (start === Number.POSITIVE_INFINITY) return start;
    for (const link of links) start = Math.max(start, free.get(link) ?? 0);
    const end = start + times.latencyPs[over] + message.length * times.serialPs[over];
    for (const link of links) free.set(link, end);
    for (const task of message) arrived.set(task, end);
    last = Math.max(last, end);
  }
  return last;
}

/** Yields every way to part the items into groups. */
export function* partitions(items: readonly number[]): Generator<number[][]> {
  const [first, ...rest] = items;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const parts of partitions(rest)) {
    yield [[first], ...parts];
    for (let i = 0; i < parts.length; i++) yield parts.map((part, k) => (k === i ? [first, ...part] : part));
  }
}

/** Yields every order of the items. */
function* orders<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield [];
  for (let i = 0; i < items.length; i++) {
    for (const rest of orders([...items.slice(0, i), ...items.slice(i + 1)])) yield [items[i] as T, ...rest];
  }
}

/** Returns the shortest end over all orders and all ways to merge; exponential, for up to seven tasks. */
export function shortestEnd(tasks: Tasks): number {
  const all = Array.from({ length: tasks.count }, (_, task) => task);
  let best = Number.POSITIVE_INFINITY;
  for (const parts of partitions(all)) {
    if (parts.some((part) => part.some((task) => tasks.route[task] !== tasks.route[part[0] as number]))) continue;
    for (const order of orders(parts)) best = Math.min(best, endInOrder(tasks, order));
  }
  return best;
}
