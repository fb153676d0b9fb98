import { effect, signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

/** Whether fields say their names on the command line. */

const NAME = "flags";

export const areFlagsShown = signal(kept(NAME) !== null);

/** Shows the names or hides them, now and whenever that changes: styles look at one place. */
export function followFlags(): void {
  effect(() => {
    document.documentElement.toggleAttribute("data-flags", areFlagsShown.value);
  });
}

/** Shows the names or hides them, and keeps that. */
export function showFlags(shown: boolean): void {
  areFlagsShown.value = shown;
  keep(NAME, shown ? "shown" : null);
}
