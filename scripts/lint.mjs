// npm run lint: Biome for TypeScript and JSON, clang-format and clang-tidy for C++. --fix writes what can be written.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { globCpp } from "./cpp-files.mjs";
import { at } from "./paths.mjs";
import { allSucceed, nodeSucceeds } from "./run.mjs";
import { findCommand } from "./toolchain.mjs";

const fix = process.argv.includes("--fix");
const cpp = globCpp();
const results = [];

const biome = fix ? ["check", "--write"] : ["ci"];
results.push(
  nodeSucceeds([at("node_modules/@biomejs/biome/bin/biome"), ...biome, "--max-diagnostics=50", "--colors=off"]),
);
const format = fix ? ["-i"] : ["--dry-run", "-Werror"];
results.push(nodeSucceeds([at("node_modules/clang-format/index.js"), ...format, ...cpp]));

const tidy = ["clang-tidy-14", "clang-tidy"].map((name) => findCommand(name, process.env)).find(Boolean);
const commands = "native/build";
if (fix) {
  // clang-tidy's fixes are left to people.
} else if (tidy && existsSync(at(commands, "compile_commands.json"))) {
  const compiled = cpp.filter((file) => file.endsWith(".cpp") && /^native\/(abi|kernels|node)/.test(file));
  // a process for each core; large files stand together in the list, so they are dealt out in turn
  const cores = Math.min(availableParallelism(), compiled.length);
  const shares = Array.from({ length: cores }, (_, core) => compiled.filter((_file, i) => i % cores === core));
  const asked = shares.map((files) => ["-p", commands, "--quiet", ...files]);
  results.push(await allSucceed(tidy, asked));
} else {
  console.log(`lint: clang-tidy was not run (${tidy ? "the native add-on is not built" : "it is not installed"})`);
}
process.exit(results.every(Boolean) ? 0 : 1);
