// npm run sanitize: the native tests and the kernels' contract suite with AddressSanitizer and UBSan.
import { execFileSync } from "node:child_process";
import { at } from "./paths.mjs";
import { nodeSucceeds, succeeds } from "./run.mjs";

const SANITIZE = "address,undefined";
const TESTS = "native/build-sanitize";
const ADDON = "native/build-sanitize-addon";

const cmake = [
  "-DBANYAN_ADDON=OFF",
  "-DBANYAN_TESTS=ON",
  `-DBANYAN_SANITIZE=${SANITIZE}`,
  "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
];
const libraries = ["libasan.so", "libstdc++.so.6"].map((name) => {
  const printed = execFileSync(process.env.CXX ?? "c++", [`-print-file-name=${name}`], { encoding: "utf8" });
  return printed.trim();
});
const env = {
  ...process.env,
  // The sanitizer's runtime must come first in a node that was not built with it; node's own leaks are not ours.
  LD_PRELOAD: libraries.join(" "),
  ASAN_OPTIONS: "detect_leaks=0",
  UBSAN_OPTIONS: "print_stacktrace=1",
  BANYAN_ADDON: at(ADDON, "RelWithDebInfo/banyan.node"),
};
const addon = ["-O", at(ADDON), "--config", "RelWithDebInfo", `--CDBANYAN_SANITIZE=${SANITIZE}`];
const vitest = [at("node_modules/vitest/vitest.mjs"), "run", "test/engine/native.test.ts", ...process.argv.slice(2)];

const ok =
  succeeds("cmake", ["-S", ".", "-B", TESTS, ...cmake]) &&
  succeeds("cmake", ["--build", TESTS, "--parallel", "2"]) &&
  succeeds(at(TESTS, "banyan_native_test"), []) &&
  nodeSucceeds([at("scripts/build-native.mjs"), ...addon]) &&
  nodeSucceeds(vitest, env);
process.exit(ok ? 0 : 1);
