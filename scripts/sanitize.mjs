// npm run sanitize: the native tests and the kernels' contract suite with AddressSanitizer and UBSan, and the native tests
// with ThreadSanitizer.
import { at } from "./paths.mjs";
import { nodeSucceeds, succeeds } from "./run.mjs";
import { FOLDER, SANITIZE, sanitizedAddon } from "./sanitized-addon.mjs";

const TESTS = "native/build-sanitize";
const THREAD_TESTS = "native/build-sanitize-threads";

/** Builds the native tests with a sanitizer in a folder and runs them; returns whether they passed. */
function nativeTests(folder, sanitizer) {
  const options = ["-DBANYAN_ADDON=OFF", "-DBANYAN_TESTS=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"];
  return (
    succeeds("cmake", ["-S", ".", "-B", folder, ...options, `-DBANYAN_SANITIZE=${sanitizer}`]) &&
    succeeds("cmake", ["--build", folder, "--parallel", "2"]) &&
    succeeds(at(folder, "banyan_native_test"), [])
  );
}

const addon = ["-O", at(FOLDER), "--config", "RelWithDebInfo", `--CDBANYAN_SANITIZE=${SANITIZE}`];
const vitest = [
  at("node_modules/vitest/vitest.mjs"),
  "run",
  "test/engine/native.test.ts",
  "test/engine/addon.test.ts",
  ...process.argv.slice(2),
];

const ok =
  nativeTests(TESTS, SANITIZE) &&
  nativeTests(THREAD_TESTS, "thread") &&
  nodeSucceeds([at("scripts/build-native.mjs"), ...addon]) &&
  nodeSucceeds(vitest, sanitizedAddon());
process.exit(ok ? 0 : 1);
