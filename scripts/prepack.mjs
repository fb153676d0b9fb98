// npm's "prepack" script: builds what the package holds, from the same sources the same bytes; refuses where NOTICE or the bill of
// materials do not say what is in it.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { noticeHere } from "./notice.mjs";
import { at } from "./paths.mjs";
import { SBOM, sbomHere } from "./sbom.mjs";
import { filesBelow } from "./web-sizes.mjs";

for (const step of ["build-ts.mjs", "build-wasm.mjs", "build-web.mjs", "build-docs.mjs"]) {
  const { status } = spawnSync(process.execPath, [at("scripts", step)], { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
}

const stale = [
  ["NOTICE", noticeHere(), "npm run notice"],
  [SBOM, sbomHere(), "npm run sbom"],
].filter(([file, text]) => !existsSync(at(file)) || readFileSync(at(file), "utf8") !== text);
for (const [file, , command] of stale)
  console.error(`prepack: ${file} is not what the package holds; \`${command}\` writes it`);
if (stale.length > 0) process.exit(1);

// npm takes modes as they are, and they are as the umask was when the files were written
const { bin, files } = JSON.parse(readFileSync(at("package.json"), "utf8"));
for (const entry of [...files, "package.json", "README.md", "LICENSE"]) {
  const isFolder = statSync(at(entry)).isDirectory();
  for (const file of isFolder ? filesBelow(at(entry)).map((name) => join(entry, name)) : [entry])
    chmodSync(at(file), `./${file}` === bin.banyan ? 0o755 : 0o644);
}
