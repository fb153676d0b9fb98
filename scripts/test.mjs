// npm test: sets everything up, runs all tests (arguments behind `npm test --` go to vitest), and closes with one line of
// counts.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { closingLine } from "./closing-line.mjs";
import { at, paths, root } from "./paths.mjs";
import { setup } from "./setup.mjs";

if (!(await setup({ forTests: true }))) process.exit(1);
rmSync(paths.report, { force: true });
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${paths.report}`];
const args = [at("node_modules/vitest/vitest.mjs"), "run", ...reporters, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
console.log(closingLine(status === 0 ? 0 : 1));
process.exit(status ?? 130);
