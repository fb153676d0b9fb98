import { effect, signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";
import { isPrinting } from "./printing.ts";

/** Light, dark, or as the system has it; kept in this browser where it lets us. */

export const SCHEMES = ["auto", "light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

const NAME = "scheme";

export const scheme = signal<Scheme>(SCHEMES.find((one) => one === kept(NAME)) ?? "auto");

/** Shows the scheme on the page, now and whenever it changes, here or in the system: styles and canvases look at one place. */
export function followScheme(): void {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const isWished = signal(wish.matches);
  wish.addEventListener("change", () => {
    isWished.value = wish.matches;
  });
  effect(() => {
    const system = isWished.value ? "dark" : "light";
    const chosen = scheme.value === "auto" ? system : scheme.value;
    document.documentElement.dataset["scheme"] = isPrinting.value ? "light" : chosen;
  });
}

/** Takes a scheme and keeps it. */
export function chooseScheme(chosen: Scheme): void {
  scheme.value = chosen;
  keep(NAME, chosen === "auto" ? null : chosen);
}
