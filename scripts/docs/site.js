// What a page of the documentation does by itself: search, menu on narrow screens, colours, copying of commands.
import MiniSearch from "minisearch";
import { SEARCH_OPTIONS } from "./search-options.mjs";

const root = document.documentElement;
const MOST_FOUND = 12;
/** Letters around the first word found. */
const AROUND = 60;

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Returns the words of a section around the first term, with terms marked: whole words or their beginnings, longest first. */
function excerpt(text, terms) {
  const any = [...terms]
    .sort((a, b) => b.length - a.length)
    .map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${any})`, "giu");
  const first = Math.max(0, text.search(pattern) - AROUND);
  const from = first === 0 ? 0 : text.indexOf(" ", first) + 1;
  const part = text.slice(from, from + 3 * AROUND);
  const marked = part
    .split(pattern)
    .map((piece, index) => (index % 2 === 1 ? `<mark>${escaped(piece)}</mark>` : escaped(piece)))
    .join("");
  return `${from > 0 ? "... " : ""}${marked}${from + 3 * AROUND < text.length ? " ..." : ""}`;
}

function search() {
  const input = document.querySelector(".search input");
  const list = document.querySelector(".found");
  const up = root.dataset.up;
  let index;
  let [found, chosen] = [[], 0];
  const load = () => {
    index ??= MiniSearch.loadJS(globalThis.BANYAN_INDEX, SEARCH_OPTIONS);
    return index;
  };
  const show = () => {
    const query = input.value.trim();
    list.hidden = query === "";
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (list.hidden) return;
    found = load().search(query, { prefix: true, fuzzy: 0.15, combineWith: "AND", boost: { heading: 4, page: 2 } });
    if (found.length === 0) found = load().search(query, { prefix: true, fuzzy: 0.2, boost: { heading: 4, page: 2 } });
    found = found.slice(0, MOST_FOUND);
    chosen = 0;
    list.innerHTML =
      found.length === 0
        ? '<li class="none" role="option" aria-disabled="true" aria-selected="false">Nothing found</li>'
        : found
            .map(
              ({ page, heading, text, terms }, place) =>
                `<li role="option" id="found-${place}" aria-selected="${place === 0}"><b>${escaped(heading === page ? page : `${page}: ${heading}`)}</b><small>${excerpt(text, terms)}</small></li>`,
            )
            .join("");
    mark();
  };
  const mark = () => {
    for (const [place, item] of [...list.children].entries())
      item.setAttribute("aria-selected", String(place === chosen && found.length > 0));
    if (found.length > 0) {
      input.setAttribute("aria-activedescendant", `found-${chosen}`);
      list.children[chosen].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const go = (place) => {
    if (found[place] === undefined) return;
    location.href = up + found[place].id;
    close();
    input.value = "";
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (found.length === 0) return;
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      mark();
    } else if (event.key === "Enter") go(chosen);
    else if (event.key === "Escape") {
      close();
      input.blur();
    }
  });
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const item = event.target.closest("li");
    if (item !== null) go([...list.children].indexOf(item));
  });
  input.addEventListener("blur", close);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(?:INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    input.focus();
  });
}

function menu() {
  const button = document.querySelector(".open-menu");
  const area = document.querySelector(".menu");
  button.addEventListener("click", () => {
    button.setAttribute("aria-expanded", String(area.classList.toggle("open")));
  });
  const pages = area.querySelector("nav");
  const { offsetTop } = area.querySelector("[aria-current]");
  if (offsetTop > pages.clientHeight) pages.scrollTop = offsetTop - pages.clientHeight / 2;
}

function scheme() {
  const button = document.querySelector(".scheme");
  const isDark = () =>
    getComputedStyle(root).colorScheme === "dark" ||
    (root.dataset.scheme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("banyan-docs-scheme", root.dataset.scheme);
    } catch {
      // for this page only
    }
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
}

function copying() {
  for (const block of document.querySelectorAll(".code[data-copy]")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not possible here";
      }
      setTimeout(() => {
        button.textContent = "Copy";
      }, 1500);
    });
    block.append(button);
  }
}

menu();
scheme();
copying();
search();
