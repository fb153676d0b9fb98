/** Who waits for what: lists of waiters by resource; everyone waits for one resource at a time. */
export interface Waiting {
  /** [resources] -1: nobody. */
  readonly first: Int32Array;
  /** [waiters] */
  readonly next: Int32Array;
}

export const waiting = (resources: number, waiters: number): Waiting => ({
  first: new Int32Array(resources).fill(-1),
  next: new Int32Array(waiters).fill(-1),
});

/** Adds a waiter. */
export function waitOn({ first, next }: Waiting, resource: number, waiter: number): void {
  next[waiter] = first[resource];
  first[resource] = waiter;
}

/** Takes the waiter that came last out and hands it on, where there is one. */
export function wakeOne({ first, next }: Waiting, resource: number, wake: (waiter: number) => void): void {
  const waiter = first[resource];
  if (waiter < 0) return;
  first[resource] = next[waiter];
  wake(waiter);
}

/** Takes all waiters of a resource out, last come first, and hands them on. */
export function wakeAll({ first, next }: Waiting, resource: number, wake: (waiter: number) => void): void {
  let waiter = first[resource];
  first[resource] = -1;
  while (waiter >= 0) {
    const after = next[waiter];
    wake(waiter);
    waiter = after;
  }
}
