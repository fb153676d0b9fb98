// npm's "install" script: builds the native add-on where that is possible and says in one line what happened.
// It fails only with BANYAN_REQUIRE_NATIVE=1; without the add-on Banyan runs on WebAssembly.
import { spawnSync } from "node:child_process";
import { addonIsCurrent, addonLoads, firstError } from "./addon.mjs";
import { at } from "./paths.mjs";
import { findTools, whyNoNative } from "./toolchain.mjs";

/** Returns the sentence that says what happened, and whether there is an add-on now. */
function install(env) {
  const fromSource = env.BANYAN_BUILD_FROM_SOURCE === "1" || env.npm_config_build_from_source !== undefined;
  const why = whyNoNative(findTools(env), env);
  if (env.BANYAN_SKIP_NATIVE !== "1" && !fromSource && addonIsCurrent() && addonLoads()) {
    return { ready: true, sentence: "native add-on is up to date" };
  }
  if (why) return { ready: false, sentence: `native add-on not built (${why}); WebAssembly will be used` };
  const build = spawnSync(process.execPath, [at("scripts/build-native.mjs")], { encoding: "utf8" });
  if (build.status === 0 && addonLoads()) return { ready: true, sentence: "native add-on built" };
  return { ready: false, sentence: `native add-on not built (${firstError(build)}); WebAssembly will be used` };
}

const { ready, sentence } = install(process.env);
console.log(`banyan: ${sentence}`);
process.exitCode = !ready && process.env.BANYAN_REQUIRE_NATIVE === "1" ? 1 : 0;
