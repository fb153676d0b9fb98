import { type ReadonlySignal, signal } from "@preact/signals";

/** Returns whether a media query holds, as it changes. */
function watched(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const holds = signal(list.matches);
  list.addEventListener("change", ({ matches }) => {
    holds.value = matches;
  });
  return holds;
}

/** The page is one column; style/page.css has the same width. */
export const isNarrow = watched("(max-width: 820px)");
/** The page is higher than wide, and so narrow that a wide picture would be too small to be read. */
export const isPhone = watched("(max-width: 560px) and (orientation: portrait)");
/** What moves by itself disturbs. */
export const movesLess = watched("(prefers-reduced-motion: reduce)");
