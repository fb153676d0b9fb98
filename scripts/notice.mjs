// NOTICE: the licences of everything that the built app, documentation and command line hold, from what the bundler really put
// into them.
//   node scripts/notice.mjs   writes NOTICE from those that were built last (their licences.txt)
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { at, paths } from "./paths.mjs";

/** The file of the built app that holds the text of NOTICE. */
export const LICENCES = "licences.txt";

const text = (name) => readFileSync(at("scripts/licences", name), "utf8").trim();
const llvm = () => `${readFileSync(at("LICENSE"), "utf8").trim()}\n\n${text("llvm-exceptions.txt")}`;

/** What compilers link into every WebAssembly module: Emscripten's libraries, or those of a plain LLVM (wasi-libc). */
const RUNTIME = [
  { name: "Emscripten system libraries", license: "MIT", text: () => text("emscripten.txt") },
  { name: "musl, also as a part of wasi-libc", license: "MIT", text: () => text("musl.txt") },
  { name: "dlmalloc", license: "CC0-1.0", text: () => text("dlmalloc.txt") },
  { name: "libc++, libc++abi and compiler-rt of LLVM", license: "Apache-2.0 WITH LLVM-exception", text: llvm },
];

/** What is inside of WebAssembly modules beside the source that they are named for. */
const INSIDE = {
  "banyan.wasm": RUNTIME,
  "highs.wasm": [...RUNTIME, { name: "pdqsort (in HiGHS)", license: "Zlib", text: () => text("pdqsort.txt") }],
};

/** Returns a plugin that adds what ends up in a bundle to a set: modules that are not empty, and the files of assets. */
export function recorder(modules) {
  return {
    name: "banyan-recorder",
    generateBundle(_options, bundle) {
      for (const item of Object.values(bundle)) {
        if (item.type === "asset") for (const name of item.originalFileNames) modules.add(resolve(at("src/web"), name));
        else
          for (const [id, { renderedLength }] of Object.entries(item.modules)) if (renderedLength > 0) modules.add(id);
      }
    },
  };
}

/** Returns the package that a module comes from; undefined for our own. */
function packageOf(id) {
  const names = [...id.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)];
  if (names.length > 0) return id.slice(0, names.at(-1).index) + names.at(-1)[0].slice(0, -1);
  // what the bundler adds of its own
  if (/^\0?(?:vite|__vite)/.test(id)) return "node_modules/vite";
  return /^\0?rolldown/.test(id) ? "node_modules/rolldown" : undefined;
}

const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:-mit)?(?:\.(?:md|txt))?$/i;
/** Licences of what their own bundles hold, which is not in ours. */
const OF_BUNDLED = /^# Licenses of bundled dependencies$/m;
/** Packages without a file of their licence: its text, from where they are made. */
const ELSEWHERE = { saxes: "saxes.txt" };

/** Returns name, version and the licence of an installed package. Throws where there is no text of it. */
function componentOf(folder) {
  const home = resolve(at("."), folder);
  const { name, version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const file = readdirSync(home).find((file) => LICENCE_FILE.test(file));
  if (file === undefined && ELSEWHERE[name] === undefined)
    throw new Error(`${name} ${version} is bundled, but has no file with its licence`);
  const whole = () => (file === undefined ? text(ELSEWHERE[name]) : readFileSync(join(home, file), "utf8"));
  return { name: `${name} ${version}`, license, text: () => whole().split(OF_BUNDLED, 1)[0].trim() };
}

/** Returns what a bundle of these modules holds of others, sorted by name. Throws for WebAssembly whose parts are not known. */
export function componentsOf(modules) {
  const ids = [...modules].map((id) => id.replaceAll("\\", "/"));
  const folders = new Set(ids.map(packageOf).filter((folder) => folder !== undefined));
  const parts = ids
    .map((id) => basename(id.replace(/\?.*$/, "")))
    .filter((file) => file.endsWith(".wasm"))
    .flatMap((file) => {
      if (INSIDE[file] === undefined)
        throw new Error(`${file} is bundled, but scripts/notice.mjs does not say what is in it`);
      return INSIDE[file];
    });
  const found = new Map([...[...folders].map(componentOf), ...parts].map((one) => [one.name, one]));
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const HEAD = `Banyan
Licensed under the Apache License, Version 2.0 (see LICENSE).

The built app (dist-web/ and the page in one file, banyan.html), the pages of the
documentation (dist-docs/), the command line (dist/command/) and the WebAssembly
modules hold the following software of others, each with its licence.`;

/** Returns the text of NOTICE for a bundle of these modules; parts with the same text stand together. */
export function noticeOf(modules) {
  const byText = new Map();
  for (const { name, license, text } of componentsOf(modules)) {
    const body = text();
    byText.set(body, [...(byText.get(body) ?? []), `${name} (${license})`]);
  }
  const rule = "=".repeat(80);
  const sections = [...byText].map(([body, names]) => `${rule}\n${names.join("\n")}\n${rule}\n\n${body}`);
  return `${[HEAD, ...sections]
    .join("\n\n")
    .replaceAll("\r\n", "\n")
    .replace(/[ \t]+$/gm, "")}\n`;
}

/** Returns the text of NOTICE: what the app, the documentation and the command line that were built last say of themselves. */
export function noticeHere() {
  const folders = [paths.web, paths.docs, join(paths.dist, "command")];
  const [app, ...others] = folders.map((folder) => readFileSync(join(folder, LICENCES), "utf8").trimEnd());
  let notice = app;
  for (const section of others.flatMap((text) => text.split(/\n\n(?=={80}\n)(?!={80}\n\n)/).slice(1))) {
    const names = section.split(/\n?={80}\n/, 2)[1].split("\n");
    if (names.some((name) => !notice.includes(`\n${name}\n`))) notice += `\n\n${section}`;
  }
  return `${notice}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(at("NOTICE"), noticeHere());
