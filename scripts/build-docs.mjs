// Builds the pages of docs/, FORMATS.md and the project's own texts into dist-docs/: static, searchable, from any server or as
// files, with nothing loaded from elsewhere. Beside the old ones first, then swapped in.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { Marked } from "marked";
import MiniSearch from "minisearch";
import { build } from "vite";
import { MENU, SITE_PAGES, slugOf, textOfPage } from "./docs/pages.mjs";
import { SEARCH_OPTIONS } from "./docs/search-options.mjs";
import { LICENCES, noticeOf, recorder } from "./notice.mjs";
import { at, paths } from "./paths.mjs";
import { commandsOf } from "./run-docs.mjs";
import { stepHash, writeStamp } from "./stamp.mjs";

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Returns the address of a page within the site. */
export const addressOf = (page) =>
  page
    .replace(/^docs\//, "")
    .replace(/(^|\/)README\.md$/, "$1index.html")
    .replace(/\.md$/, ".html")
    .toLowerCase();

/** Returns what leads from a page's folder to the site's: "" or "../". */
const upFrom = (page) => "../".repeat(addressOf(page).split("/").length - 1);

const titleOf = (text) => /^# (.+)$/m.exec(text)[1].replaceAll("`", "");

/** Names in the menu that are shorter than the page's own. */
const SHORT = {
  "docs/README.md": "Overview",
  "docs/science/README.md": "Overview",
  "docs/reference/README.md": "All commands",
  "docs/reference/options.md": "All options",
  "docs/guide/compare.md": "Compare",
  "docs/guide/train.md": "Train",
  "docs/guide/calibrate.md": "Calibrate",
  "docs/guide/optimum.md": "Small networks",
  "FORMATS.md": "File formats",
  "docs/science/limits.md": "Limits",
  "docs/science/tacos.md": "TACOS",
  "docs/science/forestcoll.md": "ForestColl",
  "docs/science/direct.md": "Direct networks",
  "docs/science/themis.md": "Themis",
};

/** Returns the id of an option's row. */
const rowId = (option) => /[a-z][a-z-]*/.exec(option)[0];

/** Code of so many letters stays on one line. */
const LONGEST_SHORT = 24;

/**
 * Returns where a link of a page leads: { href } in the site, with `file` where a file has to be copied for it; null for what the
 * site has not. Throws for what is nowhere.
 */
function targetOf(page, link) {
  if (/^[a-z]+:/.test(link)) return { href: link };
  const [path, fragment] = link.split("#");
  const target = path === "" ? page : posix.normalize(posix.join(posix.dirname(page), path));
  if (!existsSync(at(target))) throw new Error(`${page} links to ${link}, which is not there`);
  const hash = fragment === undefined ? "" : `#${fragment}`;
  const up = upFrom(page);
  if (SITE_PAGES.includes(target))
    return { href: path === "" ? hash : `${up}${addressOf(target)}${hash}`, page: target, fragment };
  if (target === "README.md") return { href: `${up}index.html` };
  if (target === "examples/README.md" || !/^(?:examples|docs\/images)\//.test(target)) return null;
  const file = target.replace(/^docs\//, "");
  return { href: `${up}${file}`, file, from: target };
}

const TOKENS = {
  ts: /(?<note>\/\/[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"|`[^`]*`)|(?<word>\b(?:import|from|const|let|await|async|new|for|of|try|catch|finally|if|throw|return|typeof|instanceof)\b)/g,
  json: /(?<note>\/\/[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*")|(?<word>\b(?:true|false|null)\b)/g,
};

/** Returns code as HTML: strings, words and comments of TypeScript and JSON; prompts, commands and output of a shell. */
function coloured(text, lang) {
  if (lang === "sh" || lang === "console") {
    return text
      .split("\n")
      .map((line) => {
        if (lang === "console" && !line.startsWith("$ ")) return `<span class="said">${escaped(line)}</span>`;
        const [, prompt, command, note] = /^(\$ )?(.*?)(\s+# .*|^#.*)?$/.exec(line);
        return `${prompt === undefined ? "" : `<span class="prompt">${prompt}</span>`}${escaped(command)}${note === undefined ? "" : `<span class="note">${escaped(note)}</span>`}`;
      })
      .join("\n");
  }
  const tokens = TOKENS[lang];
  if (tokens === undefined) return escaped(text);
  let [html, end] = ["", 0];
  for (const match of text.matchAll(tokens)) {
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    html += `${escaped(text.slice(end, match.index))}<span class="${kind}">${escaped(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escaped(text.slice(end));
}

/** Returns what "Copy" takes of a block: of a shell's the commands alone. */
const copyOf = (text, lang) =>
  lang === "sh" || lang === "console"
    ? commandsOf({ lang, lines: text.split("\n") })
        .map(({ command }) => command)
        .join("\n")
    : text;

/** Returns { html, headings, sections, links } of a page. */
function rendered(page) {
  const text = textOfPage(page).replace(/^<!--.*-->$/gm, "");
  const title = titleOf(text);
  const taken = new Map();
  const [headings, sections, links] = [[], [], []];
  let section = { id: addressOf(page), page: title, heading: title, text: "" };
  sections.push(section);
  const add = (said) => {
    section.text += ` ${said}`;
  };
  const marked = new Marked({ gfm: true });
  marked.use({
    walkTokens(token) {
      if (token.type === "heading" && token.depth > 1) {
        token.id = slugOf(token.text, taken);
        section = { id: `${addressOf(page)}#${token.id}`, page: title, heading: plainOf(token.tokens), text: "" };
        sections.push(section);
        if (token.depth <= 3) headings.push({ id: token.id, text: section.heading, depth: token.depth });
      } else if (token.type === "table" && page === "docs/reference/options.md") {
        for (const [option, ...others] of token.rows) {
          const heading = plainOf(option.tokens);
          sections.push({
            id: `${addressOf(page)}#${rowId(heading)}`,
            page: title,
            heading,
            text: others.map((cell) => plainOf(cell.tokens)).join(" "),
          });
        }
      } else if (["text", "codespan", "code"].includes(token.type) && token.tokens === undefined) add(token.text);
    },
    renderer: {
      heading({ tokens, depth, id }) {
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        return `<h${depth} id="${id}">${inner}<a href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(page, href);
        if (target === null) return inner;
        links.push(target);
        return `<a href="${escaped(target.href)}">${inner}</a>`;
      },
      codespan({ text: code }) {
        return `<code${code.length <= LONGEST_SHORT ? ' class="short"' : ""}>${escaped(code)}</code>`;
      },
      image({ href, text: alt }) {
        const target = targetOf(page, href);
        links.push(target);
        const [width, height] = sizeOfPng(at(target.from));
        return `<img src="${escaped(target.href)}" alt="${escaped(alt)}" width="${width}" height="${height}" loading="lazy">`;
      },
      code({ text: code, lang: info = "" }) {
        const lang = info.split(" ", 1)[0];
        const copy = copyOf(code, lang);
        const data = copy === "" || lang === "text" ? "" : ` data-copy="${escaped(copy)}"`;
        return `<div class="code"${data}><pre tabindex="0"${lang === "sh" ? ' class="sh"' : ""}><code>${coloured(code, lang)}</code></pre></div>\n`;
      },
      table(token) {
        const idOf = ([{ text: first }]) => (page === "docs/reference/options.md" ? ` id="${rowId(first)}"` : "");
        // a heading that says nothing is none
        const cell = (tag, { text: said, tokens, align }) => {
          const name = said === "" ? "td" : tag;
          return `<${name}${align === null ? "" : ` align="${align}"`}>${this.parser.parseInline(tokens)}</${name}>`;
        };
        const row = (cells, tag) =>
          `<tr${tag === "td" ? idOf(cells) : ""}>${cells.map((one) => cell(tag, one)).join("")}</tr>`;
        const head = token.header.some(({ text: said }) => said !== "")
          ? `<thead>${row(token.header, "th")}</thead>`
          : "";
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${token.rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(text);
  return {
    title,
    html,
    headings,
    links,
    sections: sections.map((one) => ({ ...one, text: one.text.replace(/\s+/g, " ").trim() })),
  };
}

const plainOf = (tokens) =>
  tokens.map((token) => (token.tokens === undefined ? token.text : plainOf(token.tokens))).join("");

/** Returns width and height of a PNG at twice the density of the page, so that it is as large as its letters. */
function sizeOfPng(file) {
  const bytes = readFileSync(file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** Returns a page as a whole document. */
function documentOf(page, { title, html, headings }, titles) {
  const up = upFrom(page);
  const link = (other) => `${up}${addressOf(other)}`;
  const place = SITE_PAGES.indexOf(page);
  const neighbour = (other, word) =>
    other === undefined
      ? "<span></span>"
      : `<a href="${link(other)}" rel="${word}">${word === "prev" ? "Before: " : "Next: "}${escaped(titles.get(other))}</a>`;
  const menu = MENU.map(
    ([group, pages]) =>
      `<h2>${group}</h2><ul>${pages
        .map(
          (other) =>
            `<li><a href="${link(other)}"${other === page ? ' aria-current="page"' : ""}>${escaped(SHORT[other] ?? titles.get(other))}</a></li>`,
        )
        .join("")}</ul>`,
  ).join("");
  const toc =
    headings.length < 2
      ? ""
      : `<nav aria-label="On this page"><h2>On this page</h2><ul>${headings
          .map(
            ({ id, text, depth }) =>
              `<li${depth === 3 ? ' class="sub"' : ""}><a href="#${id}">${escaped(text)}</a></li>`,
          )
          .join("")}</ul></nav>`;
  return `<!doctype html>
<html lang="en" data-up="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title === "Documentation" ? "Banyan documentation" : `${title} · Banyan`)}</title>
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}docs.css">
<script src="${up}scheme.js"></script>
<script src="${up}index.js" defer></script>
<script src="${up}docs.js" defer></script>
</head>
<body>
<a class="skip" href="#page">To the page</a>
<header class="bar">
<button class="open-menu" type="button" aria-expanded="false" aria-controls="menu">Menu</button>
<a class="home" href="${up}index.html">Banyan <span>documentation</span></a>
<div class="search" role="search"><input type="search" placeholder="Search" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false"><ul class="found" id="found" role="listbox" aria-label="Found" hidden></ul></div>
<button class="scheme" type="button" title="Change colours">Dark</button>
</header>
<div class="frame">
<div class="menu" id="menu"><nav aria-label="Pages">${menu}</nav></div>
<main id="page"><div class="text">
${html}</div>
<nav class="next" aria-label="Pages before and after">${neighbour(SITE_PAGES[place - 1], "prev")}${neighbour(SITE_PAGES[place + 1], "next")}</nav>
</main>
<div class="toc">${toc}</div>
</div>
</body>
</html>
`;
}

/** Throws where a link leads to a heading that its page has not. */
function checkFragments(pages) {
  const ids = new Map(
    [...pages].map(([page, { html }]) => [page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  for (const [page, { links }] of pages)
    for (const { page: target, fragment } of links)
      if (fragment !== undefined && !ids.get(target)?.has(fragment))
        throw new Error(`${page} links to #${fragment} of ${target}, which is not there`);
}

/** Builds everything into a folder. */
export async function buildDocs(folder) {
  const write = (file, text) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const pages = new Map(SITE_PAGES.map((page) => [page, rendered(page)]));
  checkFragments(pages);
  const titles = new Map([...pages].map(([page, { title }]) => [page, title]));
  for (const [page, made] of pages) write(addressOf(page), documentOf(page, made, titles));
  for (const { file, from } of [...pages.values()].flatMap(({ links }) => links)) {
    if (file === undefined || statSync(at(from)).isDirectory()) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(at(from), join(folder, file));
  }
  const index = new MiniSearch(SEARCH_OPTIONS);
  index.addAll([...pages.values()].flatMap(({ sections }) => sections));
  write("index.js", `globalThis.BANYAN_INDEX = ${JSON.stringify(index)};\n`);
  for (const [from, file] of [
    ["scripts/docs/site.css", "docs.css"],
    ["scripts/docs/scheme.js", "scheme.js"],
    ["src/web/public/icon.svg", "icon.svg"],
  ])
    copyFileSync(at(from), join(folder, file));
  const modules = new Set();
  await build({
    configFile: false,
    root: at("scripts/docs"),
    logLevel: "error",
    publicDir: false,
    plugins: [recorder(modules)],
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: "es2022",
      reportCompressedSize: false,
      rolldownOptions: {
        input: at("scripts/docs/site.js"),
        output: { format: "iife", entryFileNames: "docs.js", codeSplitting: false },
      },
    },
  });
  write(LICENCES, noticeOf(modules));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const hash = stepHash.docs();
  const fresh = at(`dist-docs-${process.pid}`);
  try {
    mkdirSync(fresh);
    await buildDocs(fresh);
    rmSync(paths.docs, { recursive: true, force: true });
    renameSync(fresh, paths.docs);
    writeStamp("docs", hash, true);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
