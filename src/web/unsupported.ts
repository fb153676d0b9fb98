/** What a browser must have for the page, and what is said where it lacks some. Nothing of the page runs before this was asked. */

interface Need {
  readonly name: string;
  readonly isThere: () => boolean;
}

const NEEDS: readonly Need[] = [
  { name: "WebAssembly", isThere: () => typeof WebAssembly === "object" },
  { name: "integers of any size (BigInt)", isThere: () => typeof BigInt === "function" },
  { name: "workers", isThere: () => typeof Worker === "function" },
  { name: "copies of structured values (structuredClone)", isThere: () => typeof structuredClone === "function" },
  // every browser had workers of modules before these
  { name: "signals that end work (AbortSignal.any)", isThere: () => typeof AbortSignal.any === "function" },
  { name: "windows over the page (dialog)", isThere: () => typeof HTMLDialogElement === "function" },
  { name: "drawing (canvas, Path2D)", isThere: () => typeof Path2D === "function" },
  { name: "observers of sizes (ResizeObserver)", isThere: () => typeof ResizeObserver === "function" },
];

/** Returns what the browser lacks, for people; empty where it lacks nothing. */
export const missingParts = (): string[] => NEEDS.filter(({ isThere }) => !isThere()).map(({ name }) => name);

/** Says what is missing in place of the page. */
export function sayMissing(missing: readonly string[], place: HTMLElement): void {
  const heading = document.createElement("h1");
  heading.textContent = "Banyan needs a newer browser";
  const text = document.createElement("p");
  text.textContent = "Chrome or Edge 116, Firefox 124, Safari 17.4 and later have what it needs. This one lacks:";
  const list = document.createElement("ul");
  for (const name of missing) list.append(Object.assign(document.createElement("li"), { textContent: name }));
  const page = document.createElement("main");
  page.className = "unsupported";
  page.append(heading, text, list);
  place.replaceChildren(page);
}
