// Sets up a fresh clone with only Node and npm at hand: dependencies, native add-on, WebAssembly module, dist/.
// Each step runs once, is skipped while its inputs are unchanged, and says what it does. Node's own modules only.
//   node scripts/setup.mjs [--for-tests]   the tests, and the app, want the WebAssembly module even where the add-on works
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { addonIsCurrent, addonLoads, firstError } from "./addon.mjs";
import { withLock } from "./lock.mjs";
import { at, paths, root, YOWASP } from "./paths.mjs";
import { readStamp, stepHash, writeStamp } from "./stamp.mjs";
import { backendLine, findTools, needsWasm, wasmCompiler, whyNoNative } from "./toolchain.mjs";

/** A step without which nothing runs has failed; its output has been shown. */
class SetupError extends Error {}

const say = (line) => console.log(`setup: ${line}`);

function npm(args, env) {
  const cli = process.env.npm_execpath;
  const [command, first] = cli?.endsWith(".js") ? [process.execPath, [cli]] : ["npm", []];
  return spawnSync(command, [...first, ...args], { cwd: root, encoding: "utf8", env: { ...process.env, ...env } });
}

function script(name) {
  return spawnSync(process.execPath, [at("scripts", name)], { cwd: root, encoding: "utf8" });
}

/** Keeps a failed step's whole output and returns where. */
function keepLog(step, { stdout, stderr }) {
  writeFileSync(join(paths.state, `${step}.log`), `${stdout}\n${stderr}`);
  return `.setup/${step}.log`;
}

/** Returns whether node_modules holds what package-lock.json asks for. */
function dependenciesAreCurrent() {
  try {
    const wanted = JSON.parse(readFileSync(at("package-lock.json"), "utf8")).packages;
    const found = JSON.parse(readFileSync(at("node_modules/.package-lock.json"), "utf8")).packages;
    return Object.entries(wanted).every(
      ([path, { version, optional }]) => path === "" || optional || found[path]?.version === version,
    );
  } catch {
    return false;
  }
}

function dependencies() {
  if (dependenciesAreCurrent()) return false;
  say("installing the dependencies (npm ci)");
  // The add-on is a step of its own below.
  const result = npm(["ci", "--include=dev", "--no-audit", "--no-fund"], {
    BANYAN_SKIP_NATIVE: "1",
    BANYAN_REQUIRE_NATIVE: "0",
  });
  if (result.status !== 0) {
    throw new SetupError(`npm ci failed:\n${result.stderr ?? result.error}`);
  }
  return true;
}

/** Returns { ready, why, worked }: whether the add-on can be used, why not, and whether anything was built. */
function nativeAddon(tools, env) {
  const why = whyNoNative(tools, env);
  if (env.BANYAN_SKIP_NATIVE === "1") return { ready: false, why, worked: false };
  if (addonIsCurrent()) return { ready: true, worked: false };
  if (why) return { ready: false, why, worked: false };
  const stamp = readStamp("native");
  const failed = "the native add-on did not build, see .setup/native.log";
  if (stamp && !stamp.ok && stamp.hash === stepHash.native() && env.BANYAN_REQUIRE_NATIVE !== "1") {
    return { ready: false, why: failed, worked: false };
  }
  say(`building the native add-on (${tools.cxx}, cmake)`);
  const build = script("build-native.mjs");
  if (build.status === 0 && addonLoads()) return { ready: true, worked: true };
  writeStamp("native", stepHash.native(), false);
  say(`the native add-on did not build: ${firstError(build)} (all of it: ${keepLog("native", build)})`);
  return { ready: false, why: failed, worked: true };
}

/** Fetches the npm-only compiler into a folder of its own. Returns why it cannot be had, or undefined. */
function fetchYowasp() {
  if (existsSync(join(paths.yowasp, "node_modules", YOWASP.name, "package.json"))) return undefined;
  const wanted = `${YOWASP.name}@${YOWASP.version}`;
  const probe = npm(["view", wanted, "version", "--fetch-retries=0", "--fetch-timeout=15000"]);
  if (probe.status !== 0) return "emcc is missing and the npm registry does not answer";
  say(`fetching ${wanted}, a compiler to WebAssembly (about 100 MB, once): no emcc found`);
  mkdirSync(paths.yowasp, { recursive: true });
  writeFileSync(join(paths.yowasp, "package.json"), '{ "private": true }\n');
  const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", paths.yowasp];
  const result = npm(["install", ...options, wanted]);
  return result.status === 0 ? undefined : `emcc is missing and ${YOWASP.name} could not be fetched`;
}

/** Returns { ready, why, worked } as above, for the WebAssembly module. */
function wasmModule(tools, env) {
  const stamp = readStamp("wasm");
  const hash = stepHash.wasm();
  if (stamp?.hash === hash && existsSync(paths.wasm)) return { ready: true, worked: false };
  const compiler = wasmCompiler(tools, env);
  const why = compiler === "yowasp" ? fetchYowasp() : undefined;
  if (why) return { ready: false, why, worked: false };
  say(`building the WebAssembly module (${compiler === "emcc" ? "emcc" : YOWASP.name})`);
  const build = script("build-wasm.mjs");
  if (build.status === 0) return { ready: true, worked: true };
  say(`the WebAssembly module did not build: ${firstError(build)} (all of it: ${keepLog("wasm", build)})`);
  return { ready: false, why: "the WebAssembly module did not build, see .setup/wasm.log", worked: true };
}

function dist() {
  if (readStamp("dist")?.hash === stepHash.dist() && existsSync(paths.dist)) return false;
  say("compiling src/ to dist/ (tsc)");
  const build = script("build-ts.mjs");
  if (build.status !== 0) throw new SetupError(`tsc failed:\n${build.stdout}${build.stderr}`);
  return true;
}

/** Builds the browser app; without the WebAssembly module it runs on JavaScript. Returns whether anything was built. */
function web() {
  if (readStamp("web")?.hash === stepHash.web() && existsSync(paths.web)) return false;
  say("building the browser app (vite)");
  const build = script("build-web.mjs");
  if (build.status !== 0)
    say(`the browser app did not build: ${firstError(build)} (all of it: ${keepLog("web", build)})`);
  return true;
}

/** Builds the pages of the documentation, which `serve` shows beside the app. Returns whether anything was built. */
function docs() {
  if (readStamp("docs")?.hash === stepHash.docs() && existsSync(paths.docs)) return false;
  say("building the documentation");
  const build = script("build-docs.mjs");
  if (build.status !== 0)
    say(`the documentation did not build: ${firstError(build)} (all of it: ${keepLog("docs", build)})`);
  return true;
}

/** Runs the steps that are due and prints which backend will run. Returns false when nothing can run. */
export async function setup({ forTests = false, forApp = false, env = process.env } = {}) {
  try {
    await withLock(() => steps(forTests, forTests || forApp, env));
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`setup: ${error.message}`);
    return false;
  }
}

function steps(forTests, withApp, env) {
  const tools = findTools(env);
  const installed = dependencies();
  const native = nativeAddon(tools, env);
  if (!native.ready && env.BANYAN_REQUIRE_NATIVE === "1") throw new SetupError(native.why);
  const wasm = needsWasm({ wanted: withApp, nativeReady: native.ready, env })
    ? wasmModule(tools, env)
    : { ready: false, why: "not needed", worked: false };
  const compiled = dist();
  const packed = withApp && web();
  const written = withApp && docs();
  if (!(installed || native.worked || wasm.worked || compiled || packed || written)) say("everything is up to date");
  if (forTests && !wasm.ready) say(`no WebAssembly module (${wasm.why}): its tests will be skipped`);
  const [whyNotNative, whyNotWasm] = [native.why, wasm.why];
  console.log(backendLine({ nativeReady: native.ready, wasmReady: wasm.ready, whyNotNative, whyNotWasm, env }));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const done = await setup({ forTests: process.argv.includes("--for-tests") });
  process.exitCode = done ? 0 : 1;
}
