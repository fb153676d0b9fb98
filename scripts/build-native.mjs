// Builds the native add-on with cmake-js into native/build/Release/banyan.node. Extra arguments go to cmake-js.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { removeForeignCache } from "./foreign-cache.mjs";
import { at, root } from "./paths.mjs";
import { stepHash, writeStamp } from "./stamp.mjs";

const cmakeJs = createRequire(import.meta.url).resolve("cmake-js/bin/cmake-js");
const extra = process.argv.slice(2);
const out = extra.includes("-O") ? [] : ["-O", at("native/build")];
const warnings = process.env.CI ? ["--CDBANYAN_WERROR=ON"] : ["--CDBANYAN_WERROR=OFF"];
if (extra.length === 0) removeForeignCache(at("native/build"));
const hash = stepHash.native();
const build = spawnSync(process.execPath, [cmakeJs, "compile", "-d", root, ...out, ...warnings, ...extra], {
  stdio: "inherit",
  cwd: root,
});
if (extra.length === 0) writeStamp("native", hash, build.status === 0);
process.exit(build.status ?? 1);
