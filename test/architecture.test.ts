import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** The rules of ARCHITECTURE.md, held against every import of src/. */
const ROOT = fileURLToPath(new URL("../src", import.meta.url));
const LEAVES = ["base/errors.ts", "base/random.ts", "base/visible.ts"];
const COMPOSERS = [
  "all-to-all",
  "api",
  "calibrate",
  "auto",
  "best",
  "candidates",
  "chunk-trials",
  "compare",
  "exporters",
  "index",
  "index.browser",
  "joint",
  "joint-result",
  "milp-runner",
  "options",
  "phases",
  "phases-result",
  "pipeline",
  "problem",
  "programs",
  "programs-by-size",
  "rank-worker",
  "report-file",
  "result",
  "run",
  "runner",
  "search",
  "search-rows",
  "search-sweep",
  "solver-options",
  "tree-runner",
  "trees",
  "trees-result",
  "verbs",
  "words",
  "worker",
];
const MOST_LINES = 400;

/** What each room may import from outside itself; a trailing slash stands for all of a folder. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  model: LEAVES,
  // the columns of a replay, which simulators are handed a kernel for
  engine: [...LEAVES, "model/replay/"],
  import: [...LEAVES, "model/"],
  export: [...LEAVES, "model/"],
  verify: [...LEAVES, "model/"],
  simulate: [...LEAVES, "model/"],
  lower: [...LEAVES, "model/"],
  execute: [...LEAVES, "model/"],
  explain: [...LEAVES, "model/"],
  synthesize: [...LEAVES, "model/", "engine/contract/kernels.ts", "engine/contract/lp.ts", "engine/contract/milp.ts"],
};

interface Import {
  readonly file: string;
  readonly target: string;
  /** The import is erased: `import type`. */
  readonly erased: boolean;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(path: string): Import[] {
  const text = readFileSync(path, "utf8");
  const found = text.matchAll(/(?:\b(?:import|export)(\s+type)?\b[^;"]*?\bfrom\s*|\bimport\s*\(?\s*)"([^"]+)"/g);
  const file = relative(ROOT, path);
  return [...found].map(([, type, specifier]) => {
    const target = specifier as string;
    const resolved = target.startsWith(".") ? relative(ROOT, join(dirname(path), target)) : target;
    return { file, target: resolved, erased: type !== undefined };
  });
}

const files = filesBelow(ROOT);
const imports = files.flatMap(importsOf);
const roomOf = (file: string): string =>
  file.includes("/") ? (file.split("/")[0] as string) : file.replace(/\.ts$/, "");
const isSource = (target: string): boolean => /\.tsx?$/.test(target);

describe("architecture", () => {
  it("sees the sources", () => {
    expect(files.length).toBeGreaterThan(60);
    expect(imports.length).toBeGreaterThan(200);
  });

  it.each(Object.keys(MAY_IMPORT))("%s/ imports only itself and what its rule allows", (room) => {
    const allowed = MAY_IMPORT[room] as readonly string[];
    const own = imports.filter(({ file, target }) => roomOf(file) === room && isSource(target));
    expect(own.length).toBeGreaterThan(0);
    const broken = own.filter(
      ({ target }) =>
        roomOf(target) !== room &&
        !allowed.some((rule) => target === rule || (rule.endsWith("/") && target.startsWith(rule))),
    );
    expect(broken).toEqual([]);
  });

  it("keeps Node out of everything but the engine, the worker and the command line", () => {
    const platform = imports.filter(({ target }) => target.startsWith("node:") || target === "piscina");
    const rooms = new Set(platform.map(({ file }) => roomOf(file)));
    expect([...rooms].filter((room) => !["engine", "worker", "rank-worker", "cli"].includes(room))).toEqual([]);
  });

  it.each(["index.browser.ts", "run/export/in-memory.ts", "web/main.tsx", "web/worker/main.ts"])(
    "keeps Node and the command line out of what %s reaches",
    (entry) => {
      const reached = new Set<string>();
      const queue = [entry];
      for (const file of queue) {
        if (reached.has(file)) continue;
        reached.add(file);
        queue.push(...imports.filter((i) => i.file === file && isSource(i.target)).map((i) => i.target));
      }
      expect(reached.size).toBeGreaterThan(20);
      const platform = imports.filter(
        ({ file, target }) => reached.has(file) && (target.startsWith("node:") || target === "piscina"),
      );
      expect(platform).toEqual([]);
      expect([...reached].filter((file) => file.startsWith("cli/"))).toEqual([]);
    },
  );

  it.each(["exporters", "words"])("keeps Node and the command line out of %s/", (room) => {
    const own = imports.filter(({ file }) => roomOf(file) === room);
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter(({ target }) => target.startsWith("node:") || target.startsWith("cli/"))).toEqual([]);
  });

  it("lets only the composers and the command line string verbs together", () => {
    const verbs = ["import", "export", "synthesize", "lower", "verify", "simulate", "execute", "explain"];
    const rooms = new Set(
      imports
        .filter(({ file, target }) => verbs.includes(roomOf(target)) && !file.startsWith("web/worker/"))
        .filter(({ file, erased }) => !(erased && roomOf(file) === "web"))
        .map(({ file }) => roomOf(file)),
    );
    expect([...rooms].filter((room) => ![...verbs, ...COMPOSERS, "cli"].includes(room))).toEqual([]);
  });

  it("keeps what computes out of the page, so that it is there at once", () => {
    const page = imports.filter(
      ({ file, target, erased }) =>
        file.startsWith("web/") && !file.startsWith("web/worker/") && isSource(target) && !erased,
    );
    expect(page.length).toBeGreaterThan(20);
    const light = ["base/errors.ts", "base/visible.ts", "model/numbers/units.ts"];
    const outside = page.filter(
      ({ target }) => roomOf(target) !== "web" && roomOf(target) !== "words" && !light.includes(target),
    );
    expect(outside).toEqual([]);
    expect(page.filter(({ target }) => target.startsWith("web/worker/"))).toEqual([]);
  });

  it("has no cycle of files that run", () => {
    const next = new Map<string, string[]>();
    for (const { file, target, erased } of imports)
      if (isSource(target) && !erased) next.set(file, [...(next.get(file) ?? []), target]);
    const state = new Map<string, "open" | "done">();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === "done") return;
      if (state.get(file) === "open") {
        cycles.push([...path.slice(path.indexOf(file)), file].join(" > "));
        return;
      }
      state.set(file, "open");
      for (const target of next.get(file) ?? []) visit(target, [...path, file]);
      state.set(file, "done");
    };
    for (const file of next.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it(`keeps every file within ${MOST_LINES} lines`, () => {
    const long = files.filter((path) => readFileSync(path, "utf8").split("\n").length > MOST_LINES);
    expect(long.map((path) => relative(ROOT, path))).toEqual([]);
  });

  it("has one place for conversions of units", () => {
    const factors = /\b(1_?000_?000_?000_?000|1e12)\b/;
    const outside = files.filter((path) => !path.endsWith("units.ts") && factors.test(readFileSync(path, "utf8")));
    expect(outside.map((path) => relative(ROOT, path))).toEqual([]);
  });
});
