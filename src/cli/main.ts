#!/usr/bin/env node
/**
 * The `banyan` command. The work is done by a second thread, so that this one stays free for Ctrl-C and the progress line;
 * it is started first, and loads its code while the command line is read here.
 */
import { COMMANDS, type CommandName } from "./protocol.ts";
import { answer, startWork, supervise } from "./supervise.ts";

const argv = process.argv.slice(2);
const informative = argv.some((arg) => ["--help", "-h", "--version", "-V"].includes(arg));
const likely = informative ? undefined : argv.find((arg): arg is CommandName => Object.hasOwn(COMMANDS, arg));
const early = likely === undefined ? undefined : startWork(likely);

const { readCommandLine } = await import("./program.ts");
const read = readCommandLine(argv);
if ("code" in read) process.exit(await answer(read));
const work = early?.command === read.command ? early : startWork(read.command);
process.exit(await supervise(work, read));
