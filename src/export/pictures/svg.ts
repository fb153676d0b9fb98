import { visible, visibleLines } from "../../base/visible.ts";

/** Text of SVG: escaping, numbers, and the frame that all pictures share. */

/** Returns a text in one line for people as SVG and HTML hold it, hidden characters as their escapes. */
export const escaped = (text: string): string => entities(visible(text));

/** Returns the same of a text of several lines. */
export const escapedLines = (text: string): string => entities(visibleLines(text));

const entities = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Returns a coordinate with at most one decimal. */
export const at = (value: number): string => String(Math.round(value * 10) / 10 || 0);

/** Returns a text of at most `most` characters, ends of longer ones cut off. */
export const short = (text: string, most: number): string =>
  text.length > most ? `${[...text].slice(0, most - 1).join("")}…` : text;

export interface PictureOptions {
  /** The picture stands in a page that has PICTURE_STYLE and a heading of its own. */
  readonly embedded?: boolean;
}

/** Returns a line of text; `anchor` says which end of it stands at x. */
export function label(
  x: number,
  y: number,
  text: string,
  className = "label",
  anchor: "start" | "middle" | "end" = "middle",
): string {
  return `<text x="${at(x)}" y="${at(y)}" class="${className}" text-anchor="${anchor}">${escaped(text)}</text>`;
}

const MARGIN = 20;

/** A picture before it is framed: drawn in 0 .. width, 0 .. height. */
export interface Picture {
  readonly title: string;
  /** What it shows, in words. */
  readonly sentence: string;
  readonly width: number;
  readonly height: number;
  readonly parts: Iterable<string>;
}

/**
 * Yields a picture as SVG: a title, the sentence below it, and the colours for light and dark. Nothing in it has an id, so several
 * may stand in one page.
 */
export function* framed(picture: Picture, { embedded = false }: PictureOptions = {}): Generator<string> {
  const { title, sentence, width, height, parts } = picture;
  const wide = (embedded ? width : Math.max(width, 10 * title.length, 6.4 * sentence.length)) + 2 * MARGIN;
  const top = embedded ? 0 : 54;
  const tall = height + top + 2 * MARGIN;
  const [x, y] = [(width - wide) / 2, -MARGIN - top];
  yield `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${[x, y, wide, tall].map(at).join(" ")}" role="img" class="banyan" `;
  yield `style="max-width:${at(wide)}px;--wide:${at(wide)}px"><title>${escaped(title)}</title><desc>${escaped(sentence)}</desc>\n`;
  if (!embedded) {
    yield `<style>${PICTURE_STYLE}</style>\n`;
    yield `<rect x="${at(x)}" y="${at(y)}" width="${at(wide)}" height="${at(tall)}" class="paper"/>\n`;
    yield label(x + MARGIN, -44, title, "title", "start");
    yield `${label(x + MARGIN, -22, sentence, "label soft", "start")}\n`;
  }
  for (const part of parts) yield `${part}\n`;
  yield "</svg>\n";
}

const LIGHT =
  "--ink:#1c2330;--soft:#5b6675;--rule:#d5dbe3;--paper:#ffffff;--panel:#f3f5f8;--accent:#c2410c;" +
  "--npu:#dfeafb;--npu-edge:#2b5fb3;--switch:#e9ebef;--switch-edge:#606b7b;--copy:#2f74c0;--reduce:#c8741a;" +
  "--b0:#7489a6;--b1:#6182b3;--b2:#3f7abf;--b3:#2064ac;--b4:#124a8c;--b5:#0a2f62;" +
  "--d0:#4b2991;--d1:#a3319f;--d2:#dc4f7c;--d3:#e8743f;--d4:#d19a1f;--d5:#8a8f1c;" +
  "--k0:#1747c4;--k1:#e65000;--k2:#009b8c;--k3:#a0007a;--k4:#b969f0;--k5:#5a0f00";
const DARK =
  "--ink:#e6eaf0;--soft:#9aa6b5;--rule:#364152;--paper:#12161d;--panel:#1a2029;--accent:#ff8a4c;" +
  "--npu:#1d3358;--npu-edge:#7fb0f5;--switch:#2a323e;--switch-edge:#9aa6b5;--copy:#5b9fe6;--reduce:#e39a4a;" +
  "--b0:#6b7c99;--b1:#5d8ac4;--b2:#62a0e0;--b3:#82bdf0;--b4:#b0dafa;--b5:#e6f5ff;" +
  "--d0:#a78bfa;--d1:#e879e0;--d2:#fb7da4;--d3:#fb9a68;--d4:#f3c453;--d5:#d7dc6a;" +
  "--k0:#4d8dff;--k1:#f59a0e;--k2:#69facd;--k3:#d1267f;--k4:#e4b5ff;--k5:#8a7a12";

/** Colours alone, light unless the reader prefers dark; what is printed is light. */
export const COLOURS = `{color-scheme:light dark;${LIGHT}}@media screen and (prefers-color-scheme:dark){ROOT{${DARK}}}`;

/** The style of every picture. */
export const PICTURE_STYLE = [
  `.banyan${COLOURS.replace("ROOT", ".banyan")}`,
  ".banyan{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;width:100%;height:auto}",
  ".banyan text{fill:var(--ink);font-size:12px}.banyan .title{font-size:18px;font-weight:600}",
  ".banyan .soft{fill:var(--soft)}.banyan .small{font-size:10px}.banyan .paper{fill:var(--paper)}",
  ".banyan .npu{fill:var(--npu);stroke:var(--npu-edge);stroke-width:1.5}",
  ".banyan .switch{fill:var(--switch);stroke:var(--switch-edge);stroke-width:1.5}",
  ".banyan .chosen{stroke:var(--accent);stroke-width:3}.banyan .root{fill:var(--accent);stroke:var(--accent)}",
  ".banyan text.on{fill:var(--paper)}.banyan .group{fill:var(--panel);stroke:var(--rule)}",
  ".banyan .wire{fill:none;stroke-linecap:round}.banyan .faded{opacity:.4}.banyan .crosses{stroke:var(--accent)!important;stroke-opacity:1}",
  ".banyan .arrow{fill:var(--accent)}.banyan .axis{stroke:var(--rule);fill:none}.banyan .panel{fill:var(--panel)}",
  ".banyan .copy{fill:var(--copy)}.banyan .reduce{fill:var(--reduce)}",
  ...["b", "d", "k"].flatMap((series) =>
    [0, 1, 2, 3, 4, 5].map((i) => `.banyan .${series}${i}{stroke:var(--${series}${i})}`),
  ),
  ...["d", "k"].flatMap((series) =>
    [0, 1, 2, 3, 4, 5].map((i) => `.banyan .f${series}${i}{fill:var(--${series}${i})}`),
  ),
].join("\n");
