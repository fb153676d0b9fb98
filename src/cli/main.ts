#!/usr/bin/env node
/**
 * The `banyan` command. The work is done by a second thread, so that this one stays free for Ctrl-C and the progress line;
 * it is started first, and loads its code while the command line is read here.
 */
import { failureOf } from "./failure.ts";
import { verbIn } from "./protocol.ts";
import { answer, startWork, supervise } from "./supervise.ts";

const argv = process.argv.slice(2);
if (argv[0] === "atlas" && argv[1] === "lookup") {
  const out = (await import("./quick-lookup.ts")).quickLookup(argv);
  if (out !== null) process.exit(await answer({ out, err: "", failure: null }, "atlas", true, false));
}
// behind "--" is what a command runs
const own = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
const informative = own.some((arg) => ["--help", "-h", "--version", "-V"].includes(arg));
const likely = verbIn(argv);
const early = likely === null || informative ? undefined : startWork(likely);

const [json, debug] = ["--json", "--debug"].map((option) => own.includes(option)) as [boolean, boolean];
try {
  const { readCommandLine } = await import("./command-line.ts");
  const read = readCommandLine(argv);
  if ("out" in read) process.exit(await answer(read, likely, json, debug));
  const work = early?.command === read.command ? early : startWork(read.command);
  process.exit(await supervise(work, read));
} catch (error) {
  process.exit(await answer({ out: "", err: "", failure: failureOf(error) }, likely, json, debug));
}
