// Where things lie; every script takes its paths from here.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const at = (...parts) => join(root, ...parts);

export const paths = {
  addon: at("native/build/Release/banyan.node"),
  wasm: at("wasm/build/banyan.wasm"),
  dist: at("dist"),
  web: at("dist-web"),
  docs: at("dist-docs"),
  state: at(".setup"),
  yowasp: at(".setup/yowasp"),
  report: at(".setup/test-report.json"),
};

/** The npm-only compiler to WebAssembly: LLVM compiled to WebAssembly, about 100 MB, fetched only where emcc is missing. */
export const YOWASP = { name: "@yowasp/clang", version: "22.0.0-git20542-10" };
