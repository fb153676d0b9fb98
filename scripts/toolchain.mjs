// Which compilers this machine has, and what follows from that. Pure functions of an environment, so that tests can
// hide the compilers.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const WINDOWS = process.platform === "win32";

/** Returns the full path of an executable on env.PATH, or undefined. */
export function findCommand(name, env) {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    if (folder === "") continue;
    for (const suffix of WINDOWS ? [".exe", ".cmd", ".bat"] : [""]) {
      const file = join(folder, name + suffix);
      if (isExecutable(file)) return file;
    }
  }
  return undefined;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function firstOf(names, env) {
  for (const name of names) {
    const found = name && findCommand(name, env);
    if (found) return found;
  }
  return undefined;
}

/** Returns the paths of the build tools; undefined for one that is missing. */
export function findTools(env) {
  return {
    // cmake finds Visual Studio by itself.
    cxx: firstOf([env.CXX, "c++", "g++", "clang++"], env) ?? (WINDOWS ? findCommand("cmake", env) : undefined),
    cmake: findCommand("cmake", env),
    make: firstOf(["ninja", "make", "gmake"], env) ?? (WINDOWS ? findCommand("cmake", env) : undefined),
    emcc: findCommand("emcc", env),
  };
}

/** Returns why the native add-on cannot be built here, or undefined when it can. */
export function whyNoNative(tools, env) {
  if (env.BANYAN_SKIP_NATIVE === "1") return "BANYAN_SKIP_NATIVE=1";
  if (!tools.cxx) return "no C++ compiler found";
  if (!tools.cmake) return "a C++ compiler but no cmake found";
  if (!tools.make) return "cmake but neither ninja nor make found";
  return undefined;
}

/**
 * Returns how to build the WebAssembly module: "emcc" or "yowasp" (the npm-only compiler, fetched once).
 * BANYAN_WASM=emcc or yowasp forces one.
 */
export function wasmCompiler(tools, env) {
  if (env.BANYAN_WASM === "emcc" || env.BANYAN_WASM === "yowasp") return env.BANYAN_WASM;
  return tools.emcc && tools.cmake && tools.make ? "emcc" : "yowasp";
}

/** Returns whether setup has to make the WebAssembly module: for all tests, else only where it will be run. */
export function needsWasm({ wanted, nativeReady, env }) {
  if (wanted || env.BANYAN_BACKEND === "wasm") return true;
  return !nativeReady && env.BANYAN_BACKEND !== "js" && env.BANYAN_BACKEND !== "native";
}

/** Returns the closing line of setup: the backend that will run, and why not a faster one. */
export function backendLine({ nativeReady, wasmReady, whyNotNative, whyNotWasm, env }) {
  if (env.BANYAN_BACKEND) return `backend: ${env.BANYAN_BACKEND} (BANYAN_BACKEND)`;
  if (nativeReady) return "backend: native";
  if (wasmReady) return `backend: wasm (${whyNotNative})`;
  return `backend: js (${whyNotNative}; ${whyNotWasm})`;
}
