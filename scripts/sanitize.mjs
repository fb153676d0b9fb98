// npm run sanitize: the native tests and the kernels' contract suite with AddressSanitizer and UBSan, and the native tests
// with ThreadSanitizer.
import { execFileSync } from "node:child_process";
import { at } from "./paths.mjs";
import { nodeSucceeds, succeeds } from "./run.mjs";

const SANITIZE = "address,undefined";
const TESTS = "native/build-sanitize";
const THREAD_TESTS = "native/build-sanitize-threads";
const ADDON = "native/build-sanitize-addon";

/** Builds the native tests with a sanitizer in a folder and runs them; returns whether they passed. */
function nativeTests(folder, sanitizer) {
  const options = ["-DBANYAN_ADDON=OFF", "-DBANYAN_TESTS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"];
  return (
    succeeds("cmake", ["-S", ".", "-B", folder, ...options, `-DBANYAN_SANITIZE=${sanitizer}`]) &&
    succeeds("cmake", ["--build", folder, "--parallel", "2"]) &&
    succeeds(at(folder, "banyan_native_test"), [])
  );
}

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
  nativeTests(TESTS, SANITIZE) &&
  nativeTests(THREAD_TESTS, "thread") &&
  nodeSucceeds([at("scripts/build-native.mjs"), ...addon]) &&
  nodeSucceeds(vitest, env);
process.exit(ok ? 0 : 1);
