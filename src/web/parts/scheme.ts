import { effect, signal } from "@preact/signals";

/** Light, dark, or as the system has it; kept in this browser where it lets us. */

export const SCHEMES = ["auto", "light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

const KEY = "banyan.scheme";

function kept(): Scheme {
  try {
    const value = localStorage.getItem(KEY);
    return SCHEMES.find((scheme) => scheme === value) ?? "auto";
  } catch {
    return "auto";
  }
}

export const scheme = signal<Scheme>(kept());

/** Shows the scheme on the page, now and whenever it changes, here or in the system: styles and canvases look at one place. */
export function followScheme(): void {
  const wish = matchMedia("(prefers-color-scheme: dark)");
  const isWished = signal(wish.matches);
  wish.addEventListener("change", () => {
    isWished.value = wish.matches;
  });
  effect(() => {
    const system = isWished.value ? "dark" : "light";
    document.documentElement.dataset["scheme"] = scheme.value === "auto" ? system : scheme.value;
  });
}

/** Takes a scheme and keeps it. */
export function chooseScheme(chosen: Scheme): void {
  scheme.value = chosen;
  try {
    if (chosen === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // a browser that keeps nothing shows it for now
  }
}
