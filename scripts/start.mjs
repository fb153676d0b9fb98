// npm start: sets everything up, then runs the main job, or what stands behind `npm start --`.
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { at } from "./paths.mjs";
import { setup } from "./setup.mjs";

export const MAIN_JOB = "synth dgx-a100:2 --collective allreduce --size 256MiB --chunks 4 -o schedule.json";

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.length > 2 ? process.argv.slice(2) : MAIN_JOB.split(" ");
  const isAnswered = ["--help", "-h", "--version"].some((option) => args.includes(option));
  const forApp = !isAnswered && (args[0] === "serve" || args.includes("html"));
  if (!(await setup({ forApp }))) process.exit(1);
  console.log(`banyan ${args.join(" ")}\n`);
  const { status } = spawnSync(process.execPath, [at("dist/cli/main.js"), ...args], { stdio: "inherit" });
  process.exit(status ?? 130);
}
