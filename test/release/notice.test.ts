import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { componentsOf, LICENCES, noticeHere, noticeOf, recorder } from "../../scripts/notice.mjs";
import { at, paths } from "../../scripts/paths.mjs";
import { sbomHere, sbomOf } from "../../scripts/sbom.mjs";
import { readStamp, stepHash } from "../../scripts/stamp.mjs";

const NOTICE = readFileSync(at("NOTICE"), "utf8");
const inModules = (...parts: string[]): string => at("node_modules", ...parts);
const names = (modules: readonly string[]): string[] =>
  componentsOf(modules).map(({ name }) => name.split(" ")[0] ?? "");

describe("NOTICE", () => {
  const isBuilt = existsSync(join(paths.web, LICENCES)) && readStamp("web")?.hash === stepHash.web();
  it.skipIf(!isBuilt)("begins with what the bundler put into the app that is built from these sources", () => {
    const ofApp = readFileSync(join(paths.web, LICENCES), "utf8");
    expect(NOTICE.startsWith(ofApp.trimEnd())).toBe(true);
    const page = readFileSync(join(paths.web, "banyan.html"), "utf8");
    expect(page).toContain(`<script type="text/plain" id="banyan-licences">${ofApp}</script>`);
  });
  const hasDocs = existsSync(join(paths.docs, LICENCES)) && readStamp("docs")?.hash === stepHash.docs();
  const hasCommand = readStamp("dist")?.hash === stepHash.dist();
  it.skipIf(!isBuilt || !hasDocs || !hasCommand)(
    "goes on with what is in the documentation and the command line besides, each package once",
    () => {
      expect(noticeHere()).toBe(NOTICE);
      for (const name of ["minisearch", "commander", "cli-table3", "emoji-regex", "yaml", "d3-force", "rolldown"])
        expect(NOTICE.match(new RegExp(`^${name} \\d`, "gm"))).toHaveLength(1);
    },
  );
  it("has a package and its whole licence for every module, also scoped and nested ones", () => {
    const modules = [inModules("preact/dist/preact.mjs"), inModules("@preact/signals-core/dist/signals-core.mjs")];
    expect(names(modules)).toEqual(["@preact/signals-core", "preact"]);
    expect(noticeOf(modules)).toContain(readFileSync(inModules("preact/LICENSE"), "utf8").trim());
  });
  it("misses a package that is bundled and not in it: the comparison would fail", () => {
    const more = noticeOf([inModules("axe-core/axe.js")]);
    expect(more).toMatch(/^axe-core \d/m);
    expect(NOTICE).not.toMatch(/^axe-core \d/m);
  });
  it("leaves our own modules out, and names those who add code of their own to a bundle", () => {
    expect(names([at("src/base/errors.ts"), "\0rolldown/runtime.js", "\0vite/preload-helper.js"])).toEqual([
      "rolldown",
      "vite",
    ]);
  });
  it("names the runtime inside of WebAssembly, and refuses a module whose parts nobody listed", () => {
    expect(noticeOf([at("wasm/build/banyan.wasm")])).toMatch(/libc\+\+, libc\+\+abi and compiler-rt of LLVM/);
    expect(() => noticeOf([at("other.wasm")])).toThrow("other.wasm is bundled, but");
  });
  it("cannot be made of a package without a licence", () => {
    const home = join(mkdtempSync(join(tmpdir(), "banyan-notice-")), "node_modules/none");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify({ name: "none", version: "1.0.0" }));
    expect(() => noticeOf([join(home, "index.js")])).toThrow("none 1.0.0 is bundled, but has no file with its licence");
  });
  it("holds every package that the sources of the app import by name", () => {
    for (const name of [
      "preact",
      "@preact/signals",
      "uplot",
      "fflate",
      "idb-keyval",
      "highs",
      "yaml",
      "saxes",
      "d3-zoom",
    ])
      expect(NOTICE).toMatch(new RegExp(`^${name} \\d`, "m"));
  });
});

describe("the recorder of a bundle", () => {
  it("takes modules that are not empty, and the files of assets", () => {
    const modules = new Set<string>();
    recorder(modules).generateBundle(null, {
      "a.js": { type: "chunk", modules: { "/x/one.js": { renderedLength: 3 }, "/x/gone.js": { renderedLength: 0 } } },
      "b.wasm": { type: "asset", originalFileNames: ["b.wasm"] },
    });
    expect([...modules]).toEqual(["/x/one.js", at("src/web/b.wasm")]);
  });
});

describe("the bill of materials", () => {
  const lock = JSON.parse(readFileSync(at("package-lock.json"), "utf8"));
  const { components, dependencies, metadata } = JSON.parse(sbomHere());
  it("is the one of this lock and this NOTICE, and the same each time", () => {
    expect(readFileSync(at("sbom.cdx.json"), "utf8")).toBe(sbomHere());
  });
  it("lists what is installed and what is bundled, with versions, hashes and licences, and nothing else", () => {
    const installed = Object.entries<{ dev?: boolean; version: string }>(lock.packages)
      .filter(([path, { dev }]) => path !== "" && dev !== true)
      .map(([path]) => path.slice(path.lastIndexOf("node_modules/") + 13));
    const found: string[] = components.map(({ name }: { name: string }) => name);
    for (const name of installed) expect(found).toContain(name);
    for (const name of ["vitest", "typescript", "playwright-core"]) expect(found).not.toContain(name);
    for (const one of components) expect(one.licenses).toHaveLength(1);
    expect(components.find(({ name }: { name: string }) => name === "highs")).toMatchObject({
      version: lock.packages["node_modules/highs"].version,
      purl: `pkg:npm/highs@${lock.packages["node_modules/highs"].version}`,
      hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
      properties: [
        { name: "banyan:installed", value: "true" },
        { name: "banyan:bundled", value: "true" },
      ],
    });
    expect(found).toContain("dlmalloc");
  });
  it("depends on nothing that it does not list", () => {
    const refs = new Set([metadata.component, ...components].map((one) => one["bom-ref"]));
    for (const { ref, dependsOn } of dependencies) for (const one of [ref, ...dependsOn]) expect(refs).toContain(one);
  });
  it("follows a package to the nearest of several versions", () => {
    const packages = {
      "": { name: "own", version: "1.0.0", dependencies: { a: "1", b: "1" } },
      "node_modules/a": { version: "1.0.0", dependencies: { b: "2" }, license: "MIT" },
      "node_modules/a/node_modules/b": { version: "2.0.0", license: "MIT" },
      "node_modules/b": { version: "1.0.0", license: "MIT" },
    };
    const own = JSON.parse(sbomOf({ name: "own", version: "1.0.0", packages }, ""));
    expect(own.dependencies.slice(0, 2)).toEqual([
      { ref: "pkg:npm/own@1.0.0", dependsOn: ["pkg:npm/a@1.0.0#node_modules/a", "pkg:npm/b@1.0.0#node_modules/b"] },
      { ref: "pkg:npm/a@1.0.0#node_modules/a", dependsOn: ["pkg:npm/b@2.0.0#node_modules/a/node_modules/b"] },
    ]);
  });
  it("has no time, no serial number and no address of a registry", () => {
    expect(sbomHere()).not.toMatch(/timestamp|serialNumber|https?:\/\/(?!cyclonedx\.org)/);
  });
});
