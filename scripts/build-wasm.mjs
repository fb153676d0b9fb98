// Builds wasm/build/banyan.wasm: with emscripten (emcc, through CMakeLists.txt) or, where it is missing, with
// @yowasp/clang, LLVM compiled to WebAssembly, from the source lists in CMakeLists.txt.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeForeignCache } from "./foreign-cache.mjs";
import { at, paths, root, YOWASP } from "./paths.mjs";
import { stepHash, writeStamp } from "./stamp.mjs";
import { findTools, wasmCompiler } from "./toolchain.mjs";

/** Returns the files of a `set(NAME ...)` list in CMakeLists.txt. */
function sourceList(name) {
  const found = new RegExp(`set\\(${name}\\s([^)]*)\\)`).exec(readFileSync(at("CMakeLists.txt"), "utf8"));
  if (found === null) throw new Error(`CMakeLists.txt has no set(${name} ...)`);
  return found[1].trim().split(/\s+/);
}

function withEmscripten() {
  // Debian's emcc needs a package that lies where only Debian's own node looks.
  const env = { ...process.env, NODE_PATH: [process.env.NODE_PATH, "/usr/share/nodejs"].filter(Boolean).join(":") };
  const run = (command, args) => {
    const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit", env });
    if (status !== 0) process.exit(status ?? 1);
  };
  const werror = `-DBANYAN_WERROR=${process.env.CI ? "ON" : "OFF"}`;
  removeForeignCache(at("wasm/build/emscripten"));
  run("emcmake", ["cmake", "-S", ".", "-B", "wasm/build/emscripten", "-DCMAKE_BUILD_TYPE=Release", werror]);
  run("cmake", ["--build", "wasm/build/emscripten", "--parallel", "2"]);
  copyFileSync(at("wasm/build/emscripten/banyan.wasm"), `${paths.wasm}.new`);
}

/** Returns a folder's files as the nested object that the compiler takes for its file system. */
function tree(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.name.startsWith("build"));
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      return [entry.name, entry.isDirectory() ? tree(path) : readFileSync(path)];
    }),
  );
}

async function withYowasp() {
  let entry;
  try {
    entry = createRequire(join(paths.yowasp, "package.json")).resolve(YOWASP.name);
  } catch {
    console.error(`neither emcc nor ${YOWASP.name} is here: \`npm run setup\` fetches the latter`);
    process.exit(1);
  }
  const { runClang } = await import(pathToFileURL(entry).href);
  const target = ["--target=wasm32-wasip1", "-mexec-model=reactor", "-msimd128"];
  const language = ["-std=c++20", "-O3", "-fno-exceptions", "-fno-rtti", "-Inative"];
  const linker = ["--max-memory=4294967296", "--strip-debug", "-z,stack-size=1048576", "--stack-first"];
  const sources = [...sourceList("BANYAN_SOURCES"), ...sourceList("BANYAN_WASM_SOURCES")];
  const files = await runClang(
    ["clang++", ...target, ...language, ...sources, ...linker.map((option) => `-Wl,${option}`), "-o", "banyan.wasm"],
    { native: tree(at("native")), wasm: tree(at("wasm")) },
    { fetchProgress: () => {} },
  );
  writeFileSync(`${paths.wasm}.new`, files["banyan.wasm"]);
}

const hash = stepHash.wasm();
const compiler = wasmCompiler(findTools(process.env), process.env);
mkdirSync(dirname(paths.wasm), { recursive: true });
if (compiler === "emcc") withEmscripten();
else await withYowasp();
renameSync(`${paths.wasm}.new`, paths.wasm);
writeStamp("wasm", hash, true);
