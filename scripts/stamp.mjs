// Content hashes that say whether a build step is up to date.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { at, paths, root } from "./paths.mjs";

function* filesUnder(path) {
  if (!existsSync(path)) return;
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  const names = readdirSync(path).sort();
  for (const name of names) {
    if (name === "build" || name.startsWith("build-") || name === "node_modules") continue;
    yield* filesUnder(join(path, name));
  }
}

/** Returns a hash of the files under `inputs` (paths from the root) and of the words in `also`. */
export function hashOf(inputs, also = []) {
  const hash = createHash("sha256");
  for (const word of also) hash.update(`${word}\0`);
  for (const input of inputs) {
    for (const file of filesUnder(at(input))) {
      hash.update(`${relative(root, file)}\0`);
      hash.update(readFileSync(file));
    }
  }
  return hash.digest("hex");
}

/** Returns what was stamped for a step: { hash, ok }, or undefined. */
export function readStamp(step) {
  try {
    const [hash, outcome] = readFileSync(join(paths.state, `${step}.stamp`), "utf8")
      .trim()
      .split(" ");
    return { hash, ok: outcome === "ok" };
  } catch {
    return undefined;
  }
}

export function writeStamp(step, hash, ok) {
  mkdirSync(paths.state, { recursive: true });
  const file = join(paths.state, `${step}.stamp`);
  writeFileSync(`${file}.new`, `${hash} ${ok ? "ok" : "failed"}\n`);
  renameSync(`${file}.new`, file);
}

/** What each step is built from. */
export const stepHash = {
  native: () =>
    hashOf(
      [
        "CMakeLists.txt",
        "native/abi.h",
        "native/abi.cpp",
        "native/judge",
        "native/kernels",
        "native/node",
        "scripts/build-native.mjs",
      ],
      [process.platform, process.arch, process.env.CXX ?? ""],
    ),
  wasm: () =>
    hashOf([
      "CMakeLists.txt",
      "native/abi.h",
      "native/abi.cpp",
      "native/judge",
      "native/kernels",
      "wasm/entry.cpp",
      "scripts/build-wasm.mjs",
    ]),
  docs: () =>
    hashOf([
      "docs",
      "examples",
      "FORMATS.md",
      "ARCHITECTURE.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "CHANGELOG.md",
      "package-lock.json",
      "LICENSE",
      "scripts/build-docs.mjs",
      "scripts/docs",
      "scripts/licences",
      "scripts/notice.mjs",
      "scripts/run-docs.mjs",
    ]),
  dist: () =>
    hashOf([
      "src",
      "tsconfig.json",
      "package-lock.json",
      "LICENSE",
      "scripts/build-ts.mjs",
      "scripts/licences",
      "scripts/notice.mjs",
    ]),
  web: () =>
    hashOf(
      [
        "src",
        "package-lock.json",
        "LICENSE",
        "scripts/build-web.mjs",
        "scripts/licences",
        "scripts/notice.mjs",
        "scripts/web-config.mjs",
      ],
      [readStamp("wasm")?.ok === true ? readStamp("wasm").hash : "no WebAssembly module"],
    ),
};
