import { signal } from "@preact/signals";

/** The page is being printed: it is light then, and what is folded in it is open. */
export const isPrinting = signal(false);

/** Follows what prints: opens what is folded before, and folds it after. */
export function followPrinting(): void {
  let opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")];
    for (const one of opened) one.open = true;
    // what is drawn looks at it: there are no more frames before paper
    document.documentElement.dataset["printing"] = "";
    isPrinting.value = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    opened = [];
    delete document.documentElement.dataset["printing"];
    isPrinting.value = false;
  });
}
