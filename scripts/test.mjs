// npm test: sets everything up, runs what a contributor waits for (arguments behind `npm test --` go to vitest), and closes with
// one line of counts. npm run test:all, or a file of tests by name: all, with all cases.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { closingLine } from "./closing-line.mjs";
import { at, paths, root } from "./paths.mjs";
import { setup } from "./setup.mjs";

if (!(await setup({ forTests: true }))) process.exit(1);
rmSync(paths.report, { force: true });
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${paths.report}`];
const given = process.argv.slice(2).filter((arg) => arg !== "--all");
const all = process.argv.includes("--all") || given.some((arg) => arg.startsWith("test/"));
const env = { ...process.env, ...(all ? { BANYAN_TESTS: "all" } : {}) };
const args = [at("node_modules/vitest/vitest.mjs"), "run", ...reporters, ...given];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
console.log(closingLine(status === 0 ? 0 : 1));
process.exit(status ?? 130);
