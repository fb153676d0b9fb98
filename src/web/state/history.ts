import { effect, signal } from "@preact/signals";
import { type Address, choiceName, readAddress, writeAddress } from "./address.ts";
import { isOnlyMentioned, packFile } from "./address-file.ts";
import { CHOICES } from "./choices.ts";
import { keepAddress, keepFile } from "./keep.ts";
import { isStale, type Made, made, program, words } from "./store.ts";
import { FIRST_WORDS, type ViewName } from "./words.ts";

/**
 * Writes the state into the page's address and keeps it, as it changes. Back returns to the view before, and to the words of the
 * schedule before: an entry with a schedule is never written over by other words.
 */

/** Changes that follow each other within this many milliseconds are written once. */
const PAUSE_MS = 250;
/** So many schedules are at hand when Back returns to them. */
const MOST_RECALLED = 4;

let timer: ReturnType<typeof setTimeout> | undefined;
let keptBlob: Blob | null = null;
let turns = 0;
let holds = 0;
/** The address as it stands in the bar, or would if the browser let it. */
let written = "";
/** It was read from there, and may be written in other words. */
let isNoted = false;
const recalled = new Map<string, Made>();

const OF_VIEWS = new RegExp(`&(view|${CHOICES.map(choiceName).join("|")})=[^&]*`, "g");

/** Returns a fragment's words, whatever the view and what is chosen there, and whether there is a schedule. */
const withoutView = (fragment: string): string => fragment.replace(OF_VIEWS, "").replace(/&run=1$/, "");

const viewOf = ({ view }: Address): ViewName => view ?? FIRST_WORDS.view;

/**
 * How an entry follows another: "push" where Back should return to the one before, null where they are the same. `inOtherWords`:
 * the one before was not written here, and may say the same in other words.
 */
export function followUp(before: string, next: string, inOtherWords = false): "push" | "replace" | null {
  if (before === next) return null;
  const [old, fresh] = [readAddress(before), readAddress(next)];
  if (before !== "" && viewOf(old) !== viewOf(fresh)) return "push";
  return old.run && !inOtherWords && withoutView(before) !== withoutView(next) ? "push" : "replace";
}

/** Whether the schedule that is shown was made here, from the words as they stand. */
export const hasSchedule = (): boolean =>
  made.value !== null && made.value.schedule.ref.wish !== null && !isStale.value;

/** Returns the fragment that says all that is shown. */
export async function presentAddress(): Promise<string> {
  const [said, run] = [words.value, hasSchedule()];
  const file = program.value?.file ?? said.file;
  return writeAddress(said, file === null ? null : await packFile(file), run);
}

/** The address of the table of kernels, which lies over what is shown; the address of that is written again when it is gone. */
const BENCH = "#bench";

export const isBenchShown = signal(false);

/** Shows the table of kernels where the bar says so, and only there. Returns whether it does. */
export function hearBench(): boolean {
  isBenchShown.value = location.hash === BENCH;
  return isBenchShown.value;
}

/** Takes the table of kernels away, and its address out of the bar. */
export function closeBench(): void {
  isBenchShown.value = false;
  enter("replace", written);
}

/** Returns the schedule that was shown under an address, where it is at hand. */
export const recall = (fragment: string): Made | undefined => recalled.get(withoutView(fragment));

/** Takes a fragment for the one in the bar: it was read from there. */
export function noteAddress(fragment: string): void {
  written = fragment;
  isNoted = true;
}

/** The fragment that was written or noted last. */
export const lastAddress = (): string => written;

/** Lets the address stand while the state is between two; returns what ends that. */
export function holdAddress(): () => void {
  holds++;
  return () => {
    holds--;
    soon();
  };
}

function soon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void write(), PAUSE_MS);
}

async function write(): Promise<void> {
  const turn = ++turns;
  const file = program.value?.file ?? words.value.file;
  const last = made.value;
  const next = await presentAddress();
  if (turn !== turns || holds > 0 || isBenchShown.value) return;
  // what a first visit shows was noted, and stands nowhere yet
  const how = location.hash === "" ? "replace" : followUp(written, next, isNoted);
  if (how !== null) enter(how, next);
  isNoted = false;
  if (last !== null && last === made.value && hasSchedule()) remember(next, last);
  keepAddress(next);
  if (file !== null && file.content !== keptBlob && isOnlyMentioned(next)) {
    keptBlob = file.content;
    void keepFile(file);
  }
}

function enter(how: "push" | "replace", next: string): void {
  written = next;
  try {
    if (how === "push") history.pushState(null, "", next);
    else history.replaceState(null, "", next);
  } catch {
    // browsers refuse addresses that are long or change often; the state is kept all the same
  }
}

function remember(fragment: string, schedule: Made): void {
  const key = withoutView(fragment);
  recalled.delete(key);
  recalled.set(key, schedule);
  for (const old of recalled.keys()) if (recalled.size > MOST_RECALLED) recalled.delete(old);
}

/** Writes the address from now on, whenever what it says has changed. Returns what ends that. */
export function followWords(): () => void {
  return effect(() => {
    void [words.value, made.value, program.value, isStale.value, isBenchShown.value];
    soon();
  });
}
