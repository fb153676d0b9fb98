import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { AnyReport } from "../protocol.ts";

/** A schedule with its report. */
export interface KnownSchedule {
  readonly schedule: AnySchedule;
  readonly report: AnyReport;
}

/** So many schedules are kept, those asked for last. */
const MOST_KEPT = 3;

/** Different in every worker, so that an id of one that was ended finds nothing here. */
const own = Math.random().toString(36).slice(2, 8);
const shelf = new Map<string, KnownSchedule>();
let made = 0;

/** Keeps a schedule and returns its id. */
export function keep(kept: KnownSchedule): string {
  const id = `${own}-${made++}`;
  put(id, kept);
  return id;
}

/** Keeps a schedule under an id. */
export function put(id: string, kept: KnownSchedule): void {
  shelf.delete(id);
  shelf.set(id, kept);
  for (const old of shelf.keys()) if (shelf.size > MOST_KEPT) shelf.delete(old);
}

/** Returns the schedule of an id; undefined where it was put away. */
export function find(id: string): KnownSchedule | undefined {
  const kept = shelf.get(id);
  if (kept !== undefined) put(id, kept);
  return kept;
}
