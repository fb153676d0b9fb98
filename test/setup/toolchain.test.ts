import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { backendLine, findTools, needsWasm, wasmCompiler, whyNoNative } from "../../scripts/toolchain.mjs";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Returns a PATH on which exactly these programs are found. */
function pathWith(...programs: string[]): { PATH: string } {
  const folder = mkdtempSync(join(tmpdir(), "banyan-path-"));
  folders.push(folder);
  for (const program of programs) {
    writeFileSync(join(folder, program), "#!/bin/sh\n");
    chmodSync(join(folder, program), 0o755);
  }
  return { PATH: folder };
}

const whyNot = (env: { PATH: string }): string | undefined => whyNoNative(findTools(env), env);

describe.skipIf(process.platform === "win32")("the choice of compilers", () => {
  it.each([
    [["c++", "cmake", "make"], undefined],
    [["clang++", "cmake", "ninja"], undefined],
    [["cmake", "make"], "no C++ compiler found"],
    [["g++", "make"], "a C++ compiler but no cmake found"],
    [["g++", "cmake"], "cmake but neither ninja nor make found"],
    [[], "no C++ compiler found"],
  ])("for the native add-on with %j on PATH: %j", (programs, why) => {
    expect(whyNot(pathWith(...programs))).toBe(why);
  });

  it("leaves the native add-on out when asked to", () => {
    expect(whyNoNative(findTools(process.env), { BANYAN_SKIP_NATIVE: "1" })).toBe("BANYAN_SKIP_NATIVE=1");
  });

  it("believes CXX", () => {
    const env = pathWith("my-compiler", "cmake", "make");
    expect(whyNot({ ...env, CXX: "my-compiler" } as { PATH: string })).toBeUndefined();
  });

  it.each([
    [["emcc", "cmake", "make"], {}, "emcc"],
    [["emcc"], {}, "yowasp"],
    [[], {}, "yowasp"],
    [["emcc", "cmake", "make"], { BANYAN_WASM: "yowasp" }, "yowasp"],
  ])("for WebAssembly with %j on PATH and %j: %s", (programs, extra, compiler) => {
    const env = { ...pathWith(...programs), ...extra };
    expect(wasmCompiler(findTools(env), env)).toBe(compiler);
  });
});

describe("the need for the WebAssembly module", () => {
  it.each([
    ["tests want all three backends", { wanted: true, nativeReady: true, env: {} }, true],
    ["the native add-on will run", { wanted: false, nativeReady: true, env: {} }, false],
    ["there is no native add-on", { wanted: false, nativeReady: false, env: {} }, true],
    ["it is asked for", { wanted: false, nativeReady: true, env: { BANYAN_BACKEND: "wasm" } }, true],
    ["js is asked for", { wanted: false, nativeReady: false, env: { BANYAN_BACKEND: "js" } }, false],
  ])("when %s", (_, situation, needed) => {
    expect(needsWasm(situation)).toBe(needed);
  });
});

describe("the line that names the backend", () => {
  const none = {
    nativeReady: false,
    wasmReady: false,
    whyNotNative: "no C++ compiler found",
    whyNotWasm: "no network",
  };
  it.each([
    [{ ...none, nativeReady: true, env: {} }, "backend: native"],
    [{ ...none, wasmReady: true, env: {} }, "backend: wasm (no C++ compiler found)"],
    [{ ...none, env: {} }, "backend: js (no C++ compiler found; no network)"],
    [{ ...none, nativeReady: true, env: { BANYAN_BACKEND: "js" } }, "backend: js (BANYAN_BACKEND)"],
  ])("%#", (situation, line) => {
    expect(backendLine(situation)).toBe(line);
  });
});
