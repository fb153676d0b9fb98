import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** The layers of ARCHITECTURE.md, held against every import of src/, of types and of values. */
const ROOT = fileURLToPath(new URL("../src", import.meta.url));

/** What every room may import from outside itself, from the ground up: rooms, or folders of them. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  // judges schedule files by FORMATS.md alone, and runs by itself
  independent: [],
  base: [],
  model: ["base"],
  // the columns of a replay, which simulators are handed a kernel for
  engine: ["base", "model/replay", "model/symmetry"],
  picture: ["base", "model"],
  import: ["base", "model"],
  // what is drawn, which its pictures share with the page
  export: ["base", "model", "picture"],
  verify: ["base", "model"],
  simulate: ["base", "model"],
  lower: ["base", "model"],
  execute: ["base", "model"],
  explain: ["base", "model"],
  synthesize: ["base", "model", "engine/contract"],
  report: ["base", "model", "engine/contract", "simulate", "synthesize"],
  request: ["base", "model", "import", "synthesize"],
  kinds: ["base", "model", "export", "verify", "simulate", "explain", "report", "request"],
  run: [
    ...["base", "model", "picture", "engine", "import", "export", "verify", "simulate", "lower", "execute", "explain"],
    ...["synthesize", "report", "request", "kinds"],
  ],
  // tasks in processes, on servers, in folders: below the command line, which starts it
  sweep: [...["base", "model", "engine", "import", "export", "report", "request", "synthesize", "kinds", "run"]],
  // measurements to networks
  infer: ["base", "model"],
  // MPI libraries that are installed, and what is compiled for them
  mpi: ["base"],
  // networks of the kernel's own links, in which processes run
  lab: ["base", "model", "mpi"],
  // what measures: processes over MPI or torch
  probe: ["base", "model", "mpi"],
  cli: [
    "independent",
    ...["base", "model", "engine", "import", "export", "verify", "simulate", "lower", "execute", "explain"],
    ...["synthesize", "report", "request", "kinds", "run", "sweep"],
    ...["infer", "mpi", "lab", "probe"],
  ],
  web: [
    ...["base", "model", "picture", "engine", "import", "export", "verify", "simulate", "explain"],
    ...["synthesize", "report", "request", "kinds", "run"],
  ],
};

/** The only places that touch a platform: `node:*`, threads, files. */
const ON_NODE = ["independent", "engine", "run/threads", "sweep", "mpi", "lab", "probe", "cli"];
/** What the page itself, without its worker, runs of the rest, so that it is there before anything is computed. */
const IN_THE_PAGE = ["base", "report", "request", "model/numbers", "picture", "web"];
/** The worker of the page. */
const WORKER = "web/worker";
/** Of those rooms what the page gets from its worker: layouts, timelines. */
const NOT_IN_THE_PAGE = [WORKER, "picture/scene"];
const MOST_LINES = 800;

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
const roomOf = (file: string): string => file.split("/")[0] as string;
const isSource = (target: string): boolean => /\.tsx?$/.test(target);
const isIn = (file: string, places: readonly string[]): boolean => places.some((place) => file.startsWith(`${place}/`));
const isPlatform = ({ target }: Import): boolean => target.startsWith("node:") || target === "piscina";
/** The entries and what they have in common: they compose, and nothing imports them. */
const entries = files.map((path) => relative(ROOT, path)).filter((file) => !file.includes("/"));

/** Returns the files that one reaches, by imports of values. */
function reachedFrom(entry: string): Set<string> {
  const reached = new Set<string>();
  const queue = [entry];
  for (const file of queue) {
    if (reached.has(file)) continue;
    reached.add(file);
    queue.push(...imports.filter((i) => i.file === file && isSource(i.target)).map((i) => i.target));
  }
  return reached;
}

describe("architecture", () => {
  it("sees the sources", () => {
    expect(files.length).toBeGreaterThan(60);
    expect(imports.length).toBeGreaterThan(200);
  });

  it("has the rooms of the table, the entries, and no more than one file that they share", () => {
    const rooms = new Set(files.map((path) => roomOf(relative(ROOT, path))).filter((room) => !isSource(room)));
    expect([...rooms].sort()).toEqual(Object.keys(LAYERS).sort());
    expect(entries.sort()).toEqual(["api.ts", "index.browser.ts", "index.ts"]);
    expect(imports.filter(({ file, target }) => entries.includes(target) && !entries.includes(file))).toEqual([]);
  });

  it.each(Object.entries(LAYERS))(
    "%s/ imports only itself and the layers below it, types included",
    (room, allowed) => {
      const own = imports.filter(({ file, target }) => roomOf(file) === room && isSource(target));
      expect(own.length).toBeGreaterThan(0);
      expect(own.filter(({ target }) => !isIn(target, [room, ...allowed]))).toEqual([]);
    },
  );

  it("is a table from the ground up", () => {
    const rooms = Object.keys(LAYERS);
    const above = Object.entries(LAYERS).flatMap(([room, allowed]) =>
      allowed.filter((place) => rooms.indexOf(roomOf(place)) >= rooms.indexOf(room)),
    );
    expect(above).toEqual([]);
  });

  it("keeps Node out of everything but the engine, threads and the command line", () => {
    expect(imports.filter(isPlatform).filter(({ file }) => !isIn(file, ON_NODE))).toEqual([]);
  });

  it.each(["index.browser.ts", "run/export/in-memory.ts", "web/main.tsx", "web/worker/main.ts"])(
    "keeps Node and the command line out of what %s reaches",
    (entry) => {
      const reached = reachedFrom(entry);
      expect(reached.size).toBeGreaterThan(20);
      expect(imports.filter((one) => reached.has(one.file) && isPlatform(one))).toEqual([]);
      expect([...reached].filter((file) => isIn(file, ["cli"]))).toEqual([]);
    },
  );

  it("keeps what computes out of the page, so that it is there at once", () => {
    const page = imports.filter(
      ({ file, target, erased }) => isIn(file, ["web"]) && !isIn(file, [WORKER]) && isSource(target) && !erased,
    );
    expect(page.length).toBeGreaterThan(20);
    expect(page.filter(({ target }) => !isIn(target, IN_THE_PAGE) || isIn(target, NOT_IN_THE_PAGE))).toEqual([]);
  });

  it("has no circle of imports, of types neither", () => {
    const next = new Map<string, string[]>();
    for (const { file, target } of imports) if (isSource(target)) next.set(file, [...(next.get(file) ?? []), target]);
    const state = new Map<string, "open" | "done">();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === "done") return;
      if (state.get(file) === "open") {
        circles.push([...path.slice(path.indexOf(file)), file].join(" > "));
        return;
      }
      state.set(file, "open");
      for (const target of next.get(file) ?? []) visit(target, [...path, file]);
      state.set(file, "done");
    };
    for (const file of next.keys()) visit(file, []);
    expect(circles).toEqual([]);
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

  it("is drawn with files that are there", () => {
    const root = join(ROOT, "..");
    const all = readdirSync(root, { withFileTypes: true })
      .filter(
        (entry) => entry.isDirectory() && ["src", "native", "wasm", "bench", "test", "scripts"].includes(entry.name),
      )
      .flatMap(({ name }) =>
        readdirSync(join(root, name), { recursive: true, encoding: "utf8" }).map((path) => `${name}/${path}`),
      );
    const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    const named = [...text.matchAll(/`([\w./*-]+\.(?:ts|tsx|h|cpp|mjs))`/g)].map(([, path]) => path as string);
    expect(named.length).toBeGreaterThan(80);
    const missing = named.filter((path) => {
      const pattern = new RegExp(`(?:^|/)${path.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`);
      return !all.some((file) => pattern.test(file));
    });
    expect(missing).toEqual([]);
  });
});
