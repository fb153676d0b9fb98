/** Small choices that this browser keeps where it lets us; they are the page's own, and forgotten with all it keeps. */

const keyOf = (name: string): string => `banyan.${name}`;

/** Returns what is kept under a name; null: nothing, or the browser does not tell. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(keyOf(name));
  } catch {
    return null;
  }
}

/** Keeps a value under a name; null forgets it. A browser that keeps nothing shows the choice for now. */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(keyOf(name));
    else localStorage.setItem(keyOf(name), value);
  } catch {
    // it is shown all the same
  }
}
