/** Returns whether a window lies over the page, which then has the keys. */
export const isCovered = (): boolean => document.querySelector("dialog[open]") !== null;
