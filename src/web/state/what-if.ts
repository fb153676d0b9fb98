import { batch, computed, signal } from "@preact/signals";
import type { Options } from "../../request/option-table.ts";
import { cancel, changeOptions, synthesize } from "./actions.ts";
import { ask, failureOf } from "./client.ts";
import { before, busy, made, words } from "./store.ts";
import { type Change, changesOf, optionsOf, withDegraded, withFailed, withoutChange } from "./what-if-changes.ts";
import { makeWish, networkWish, sameNetwork, sameWish, type Words, withOptions } from "./words.ts";

/** What fails, is degraded or left out of the group; after each change the schedule follows by itself. */

/** While something is dragged the network follows after so long, and the schedule with it. */
const PAUSE_MS = 400;

/** What was changed in the network of the words. */
export const changes = computed<readonly Change[]>(() => changesOf(words.value.options));

/** Whether a schedule follows each change: there was one, or the user waits for one. */
const follows = (): boolean => made.value !== null || busy.value?.what === "make";

/** Whether a schedule is to follow when the network was read, of this change or of one that comes before that. */
let willFollow = false;

/** The words without what was changed. */
const unchanged = (given: Words): Words =>
  withOptions(given, { without: undefined, degrade: undefined, group: undefined, outsiders: undefined });

/** Returns whether two words ask for the same but for what was changed. */
export const sameButChanges = (one: Words, other: Words): boolean =>
  sameWish(makeWish(unchanged(one)), makeWish(unchanged(other)));

/** Whether anything was changed in the words: a failure, a bandwidth, the group. */
export const isChanged = (given: Words): boolean =>
  ["without", "degrade", "group"].some((name) => given.options[name] !== undefined);

/** Changes options of what-if; the schedule of the unchanged network is kept, and a new one follows. */
async function change(options: Options): Promise<void> {
  clearTimeout(pause);
  const last = made.value;
  // a schedule that was opened may be of other words: its file does not tell all of them
  if (last !== null && last.schedule.ref.wish !== null && !isChanged(last.words)) before.value = last;
  willFollow ||= follows();
  // what is being made is of no use any more
  if (busy.value?.what === "make") cancel();
  const wasRead = await changeOptions(options);
  if (!isChanged(words.value)) before.value = null;
  if (!wasRead || !willFollow) return;
  willFollow = false;
  await synthesize();
}

let pause: ReturnType<typeof setTimeout> | undefined;

/** Fails NPUs, switches or links, by name. */
export const fail = (names: readonly string[]): Promise<void> => change(optionsOf(withFailed(changes.value, names)));

/** Sets the share of their bandwidth that links have left; 1 restores them. Follows after a pause, unless `atOnce`. */
export function degrade(names: readonly string[], factor: number, atOnce = false): void {
  clearTimeout(pause);
  const go = (): void => void change(optionsOf(withDegraded(changes.value, names, factor)));
  if (atOnce) go();
  else {
    const meant = networkWish(words.value);
    pause = setTimeout(() => sameNetwork(meant, networkWish(words.value)) && go(), PAUSE_MS);
  }
}

/** Takes one change back. */
export const restore = (given: Change): Promise<void> => change(optionsOf(withoutChange(changes.value, given)));

/** Takes all failures and degradations back. */
export const restoreAll = (): Promise<void> => change(optionsOf([]));

/** Sets the process group: NPUs by name in the order of their ranks; all NPUs where the list is empty. */
export const setGroup = (names: readonly string[]): Promise<void> =>
  change(names.length === 0 ? { group: undefined, outsiders: undefined } : { group: names.join(",") });

/** Sets whether NPUs outside the group may pass data on. */
export const setOutsiders = (mayRelay: boolean): Promise<void> => change({ outsiders: mayRelay ? undefined : "none" });

/** Whether the unchanged network's schedule is being made, and why it could not be. */
export const comparing = signal<{ readonly isBusy: boolean; readonly trouble: string }>({ isBusy: false, trouble: "" });

/** Makes the schedule of the unchanged network, to compare with; what is shown stays. */
export async function makeBefore(): Promise<void> {
  const asked = unchanged(words.value);
  comparing.value = { isBusy: true, trouble: "" };
  try {
    const wish = makeWish(asked);
    const network = await ask("network", { wish: wish.network });
    const schedule = await ask("make", { wish });
    batch(() => {
      before.value = { schedule, network, words: asked };
      comparing.value = { isBusy: false, trouble: "" };
    });
  } catch (error) {
    const text = failureOf(error).message;
    comparing.value = { isBusy: false, trouble: text };
  }
}
