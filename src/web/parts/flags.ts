import { effect, signal } from "@preact/signals";

/** Whether fields say their names on the command line; kept by the browser. */

const KEY = "banyan.flags";

function kept(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export const areFlagsShown = signal(kept());

/** Shows the names or hides them, now and whenever that changes: styles look at one place. */
export function followFlags(): void {
  effect(() => {
    document.documentElement.toggleAttribute("data-flags", areFlagsShown.value);
  });
}

/** Shows the names or hides them, and keeps that. */
export function showFlags(shown: boolean): void {
  areFlagsShown.value = shown;
  try {
    if (shown) localStorage.setItem(KEY, "shown");
    else localStorage.removeItem(KEY);
  } catch {
    // a browser that keeps nothing shows them for now
  }
}
