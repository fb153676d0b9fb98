// The pages of the documentation: which there are, in which order, and what stands in them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { at } from "../paths.mjs";

/** The groups of the site's menu, each with its pages (Markdown files by their path from the root) in order. */
export const MENU = [
  ["Start", ["docs/README.md", "docs/guide/start.md", "docs/guide/first-hour.md"]],
  [
    "Guide",
    [
      "docs/guide/networks.md",
      "docs/guide/schedules.md",
      "docs/guide/programs.md",
      "docs/guide/mpi.md",
      "docs/guide/failures.md",
      "docs/guide/atlas.md",
      "docs/guide/sweeps.md",
      "docs/guide/sweeps-results.md",
      "docs/guide/sweeps-engines.md",
      "docs/guide/compare.md",
      "docs/guide/train.md",
      "docs/guide/plan.md",
      "docs/guide/calibrate.md",
      "docs/guide/probe.md",
      "docs/guide/lab.md",
      "docs/guide/optimum.md",
      "docs/guide/design.md",
      "docs/guide/own.md",
      "docs/guide/app.md",
      "docs/api.md",
    ],
  ],
  [
    "Reference",
    [
      "docs/reference/README.md",
      ...pagesIn("docs/reference").filter((page) => !/(?:README|options)\.md$/.test(page)),
      "docs/reference/options.md",
      "FORMATS.md",
    ],
  ],
  [
    "Science",
    [
      "docs/science/README.md",
      "docs/science/limits.md",
      "docs/science/tacos.md",
      "docs/science/forestcoll.md",
      "docs/science/direct.md",
      "docs/science/themis.md",
      "docs/science/programs.md",
      "docs/science/training.md",
      "docs/science/measured.md",
    ],
  ],
  ["Project", ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]],
].map(([group, pages]) => [group, pages.filter((page) => existsSync(at(page)))]);

/** Pages of the site, in the order of its menu. */
export const SITE_PAGES = MENU.flatMap(([, pages]) => pages);

/** Returns the Markdown files below a folder, by name. */
export function pagesIn(folder) {
  return readdirSync(at(folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** Everything whose commands and snippets are run. */
export const runPages = () => ["README.md", "examples/README.md", ...pagesIn("docs")];

export const textOfPage = (page) => readFileSync(at(page), "utf8");

/** Returns the id that GitHub gives a heading; `taken` counts those that the page has already. */
export function slugOf(heading, taken = new Map()) {
  const plain = heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  const before = taken.get(plain) ?? 0;
  taken.set(plain, before + 1);
  return before === 0 ? plain : `${plain}-${before}`;
}

/**
 * Returns the fenced blocks of a page: { lang, notRun, lines, line } with the number of the fence's line from 1 on. `notRun` is why
 * nobody runs it ("```sh not-run: why"), or undefined.
 */
export function blocksOf(text) {
  const blocks = [];
  let open;
  text.split("\n").forEach((content, index) => {
    const fence = /^(`{3,})\s*(\S*)\s*(.*)$/.exec(content);
    if (open === undefined && fence !== null) {
      const [, ticks, lang, rest] = fence;
      open = { lang, notRun: /^not-run: (.+)$/.exec(rest)?.[1], lines: [], line: index + 1, ticks };
    } else if (open !== undefined && content.trimEnd() === open.ticks) {
      blocks.push(open);
      open = undefined;
    } else open?.lines.push(content);
  });
  if (open !== undefined) throw new Error(`the block of line ${open.line} has no end`);
  return blocks;
}

/** Returns what has to be there before a page's commands: those of its comments "<!-- run: ... -->". */
export const preparationsOf = (text) => [...text.matchAll(/^<!-- run: (.+) -->$/gm)].map(([, command]) => command);
