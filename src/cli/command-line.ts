import { existsSync, readFileSync, statSync } from "node:fs";
import { type Command, CommanderError } from "commander";
import { shown } from "../base/errors.ts";
import { listed } from "../base/listed.ts";
import { COLLECTIVE_KINDS } from "../model/collective/collective.ts";
import { closest, spelt } from "../model/topology/closest.ts";
import { propertyOf } from "../request/option-table.ts";
import { refusedCommandLine } from "./failure.ts";
import { GivenTwice, grammar, type OptionUsage, optionsOfCommand, USAGES } from "./program.ts";
import { type CommandName, type Failure, type Job, verbIn } from "./protocol.ts";
import { isTerminal, showsColors } from "./terminal.ts";

/** Reads command lines; what cannot be read is answered with what is wrong and the nearest that can. */

/** What to say where a command line asks for no work: help, the version, or (`failure`) a mistake. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly failure: Failure | null;
}

/** A command line that cannot be read. */
interface Line {
  readonly argv: readonly string[];
  /** The command that it names; null where it names none. */
  readonly command: CommandName | null;
  /** The arguments of the command that were read. */
  readonly args: readonly string[];
}

const NAMES = Object.keys(USAGES) as CommandName[];

/** Returns the options of a command, and those of every command. */
const allOptions = (command: CommandName): OptionUsage[] => [...optionsOfCommand(command), ...optionsOfCommand()];

/** Returns the option of a command that a word names ("--size", "-s", "--size=1MiB"); undefined where it names none. */
function optionIn(command: CommandName, word: string): OptionUsage | undefined {
  const name = word.split("=", 1)[0] as string;
  return allOptions(command).find(({ long, short }) => name === long || name === short);
}

/** Returns a word in quotation marks, no longer than anybody reads. */
const quoted = (word: string): string => `'${word.length > 80 ? `${word.slice(0, 80)}...` : word}'`;

const seeHelp = (command: CommandName | null): string =>
  `; see \`banyan ${command === null ? "" : `${command} `}--help\``;

/** Returns the first option of a line that its command does not have, with the word behind it; null where it has all. */
function unknownOptionIn({ argv, command }: Line): { readonly word: string; readonly next: string | undefined } | null {
  if (command === null) return null;
  for (let i = argv.indexOf(command) + 1; i < argv.length; i++) {
    const word = argv[i] as string;
    if (word === "--") return null;
    if (!/^-[^-\d]|^--./.test(word) || ["--help", "-h"].includes(word)) continue;
    const known = optionIn(command, word) ?? (/^-[^-]./.test(word) ? optionIn(command, word.slice(0, 2)) : undefined);
    if (known === undefined) return { word, next: argv[i + 1] };
    if (known.value !== null && (word === known.long || word === known.short)) i++;
  }
  return null;
}

/** What other tools, or people, call options. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  "--ports": ["--degree"],
  "--radix": ["--degree"],
  "--npus": ["--nodes"],
  "--gpus": ["--nodes"],
  "--ranks": ["--nodes"],
  "--latency": ["--alpha"],
  "--bw": ["--bandwidth"],
  "--bytes": ["--size", "--sizes"],
  "--fail": ["--without"],
  "--failed": ["--without"],
  "--remove": ["--without"],
  "--exclude": ["--without"],
  "--slow": ["--degrade"],
  "--op": ["--collective"],
  "--method": ["--algorithm", "--algorithms"],
  "--timeout": ["--time-limit"],
  "--verbose": ["--details"],
  "--file": ["--output"],
  "--save": ["--output"],
  "--format": ["--to"],
  "--runtime": ["--target"],
};

/**
 * Returns the option of a command that is most like a word: the same in other words, the shortest that begins with it, or the
 * nearest; null where none is.
 */
function nearOption(command: CommandName, word: string): string | null {
  const longs = allOptions(command).map(({ long }) => long);
  const other = OTHER_WORDS[word]?.find((long) => longs.includes(long));
  if (other !== undefined) return other;
  const begun = longs.filter((long) => word.length > 3 && long.startsWith(word)).sort((a, b) => a.length - b.length);
  return begun[0] ?? (word.startsWith("--") ? closest(word, longs, 4) : null);
}

/** What an option of a network is called where it is no option. */
const NETWORK_WORDS: ReadonlySet<string> = new Set(["--topology", "--topo", "--network", "--net", "--preset"]);

/** What people ask of `synth` that `export` writes, by the option that they try. */
const EXPORTED: Readonly<Record<string, string>> = {
  "--report": "report",
  "--html": "html",
  "--svg": "svg",
  "--xml": "msccl-xml",
};

function unknownOption(line: Line, whole: string, next: string | undefined): Failure {
  const { command } = line;
  const word = whole.split("=", 1)[0] as string;
  const fact = (message: string, expected: string): Failure =>
    refusedCommandLine(message, word, { code: "unknown-name", option: null, expected, received: shown(word) });
  if (["--help", "-h", "--version"].includes(word) && whole !== word) {
    const verb = command === null || word === "--version" ? "" : `${command} `;
    return fact(`${word} takes no value, and here is ${quoted(whole)}; did you mean \`banyan ${verb}${word}\`?`, word);
  }
  if (command === null) return fact(`unknown option ${quoted(word)}${seeHelp(null)}`, "an option of `banyan`");
  const like = NAMES.map((name) => optionsOfCommand(name).find(({ long, short }) => [long, short].includes(word)));
  const takers = NAMES.filter((_, i) => like[i] !== undefined);
  const named = like.find((one) => one !== undefined)?.long ?? word;
  const near = nearOption(command, named);
  const expected = `an option of ${command}`;
  if (USAGES[command].args[0]?.[0] === "<TOPO>" && NETWORK_WORDS.has(word))
    return fact(
      `${command} has no ${word}: the network is its argument; did you mean \`banyan ${command} ${plainWord(next) ?? "TOPO"}\`?`,
      "the network as argument",
    );
  const format = command === "synth" ? EXPORTED[word] : undefined;
  if (format !== undefined)
    return fact(
      `synth has no ${word}; \`banyan export\` with the same options and --to ${format} -o FILE writes it`,
      "export",
    );
  const kind = spelt(word.replace(/^-+/, ""), COLLECTIVE_KINDS);
  if (kind !== undefined && near === null && allOptions(command).some(({ id }) => id === "collective"))
    return fact(
      `unknown option ${quoted(word)} (did you mean --collective ${kind}?)${seeHelp(command)}`,
      "--collective",
    );
  if (takers.length === 0) {
    const meant = near === null ? "" : ` (did you mean ${near}?)`;
    return fact(`unknown option ${quoted(word)}${meant}${seeHelp(command)}`, near ?? expected);
  }
  if (near !== null && (`${named}s` === near || `${near}s` === named)) {
    const value = next === undefined || next.startsWith("-") || next.includes(",") ? "" : ` ${next}`;
    return fact(`${command} has no ${word}; did you mean ${near}${value}?`, near);
  }
  const have = takers.length === 1 ? "has" : "have";
  return fact(`${command} has no ${word}; ${listed(takers)} ${have} it${seeHelp(command)}`, expected);
}

/** Returns the command that was meant by a word that is none, with what is behind it; null where nothing is near. */
function commandMeant(word: string, behind: readonly string[]): string | null {
  const listable = (USAGES.list.args[0]?.[1] ?? "").split(", ");
  const list = spelt(word, listable) ?? spelt(`${word}s`, listable);
  if (list !== undefined) return `list ${list}`;
  const collective = spelt(word, COLLECTIVE_KINDS);
  if (collective !== undefined) return `synth ${plainWord(behind[0]) ?? "TOPO"} --collective ${collective}`;
  if (isFile(word)) return commandForFile(word);
  return /^[a-z0-9-]+[:*]\S+$/i.test(word) ? `topology ${word}` : null;
}

const plainWord = (word: string | undefined): string | null =>
  word === undefined || word.startsWith("-") ? null : word;

function isFile(path: string): boolean {
  try {
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}

/** How much of a file is looked at. */
const MOST_LOOKED_AT = 2 ** 20;

/** Returns the command that takes a file, by its name and its first lines. */
function commandForFile(file: string): string {
  if (/\.log$/i.test(file)) return `calibrate TOPO ${file}`;
  if (/\.(?:bys|xml)$/i.test(file)) return `verify ${file}`;
  const head = statSync(file).size > MOST_LOOKED_AT ? "" : readFileSync(file, "utf8").slice(0, 4096);
  return /banyan-(?:schedule|trees|phases|joint)|<algo\b|^step,/.test(head) ? `verify ${file}` : `topology ${file}`;
}

function unknownCommand({ argv }: Line, word: string): Failure {
  const meant = commandMeant(word, argv.slice(argv.indexOf(word) + 1));
  const near = closest(word, NAMES);
  const hint =
    meant !== null
      ? `; did you mean \`banyan ${meant}\`?`
      : `${near === null ? "" : ` (did you mean ${near}?)`}${seeHelp(null)}`;
  return refusedCommandLine(`unknown command ${quoted(word)}${hint}`, word, {
    code: "unknown-name",
    option: null,
    expected: `one of ${NAMES.join(", ")}`,
    received: shown(word),
  });
}

/** Returns what was meant where a command has more arguments than it takes; null where nobody can tell. */
function argumentsMeant({ argv, args }: Line, command: CommandName): string | null {
  const taken = USAGES[command].args;
  const [first = ""] = args;
  const extra = args.slice(taken.length);
  const has = (id: OptionUsage["id"]): boolean => optionsOfCommand(command).some((option) => option.id === id);
  if (command === "search" && args.every((arg) => /^\d+$/.test(arg)) && args.length === 2)
    return `--nodes ${args[0]} --degree ${args[1]}`;
  if (command === "search" && args.length === 1) return `--nodes ${/^\d+$/.test(first) ? first : "N"} --degree D`;
  if (args.length !== 2 && taken.length > 0 && !isBehindOption(argv, extra[0])) return null;
  const collective = args.find((arg) => spelt(arg, COLLECTIVE_KINDS) !== undefined);
  if (collective !== undefined && has("collective")) {
    const [other = "TOPO"] = args.filter((arg) => arg !== collective);
    return `\`banyan ${command} ${other} --collective ${spelt(collective, COLLECTIVE_KINDS)}\``;
  }
  const files = args.length === 2 ? args.filter((arg) => isFile(arg) && commandForFile(arg).startsWith("verify")) : [];
  const [file] = files;
  if (file !== undefined) {
    const network = args.find((arg) => !files.includes(arg)) ?? "TOPO";
    if (has("with")) return `\`banyan ${command} ${network} --with ${files.join(",")}\``;
    if (files.length > 1) return null;
    if (has("repair")) return `\`banyan ${command} ${network} --repair ${file}\``;
    const sends = /\.csv$/i.test(file) ? " --collective NAME" : "";
    if (has("topology")) return `\`banyan ${command} ${file} --topology ${network}${sends}\``;
  }
  const [one = ""] = extra;
  if (/^[a-z-]+$/i.test(first) && /^\d+(?:x\d+)*$/i.test(one) && args.length === 2) return `${first}:${one}`;
  const at = argv.indexOf(one);
  const [flag = "", value = ""] = [argv[at - 2], argv[at - 1]];
  const option = optionIn(command, flag);
  if (option === undefined || option.value === null) return null;
  if (/^[\d.]+$/.test(value) && /^(?:[kmgt]?i?(?:b|bytes|bps|b\/s)|[munp]?s|sec|min|h)$/i.test(one))
    return `${flag} ${value}${one}`;
  return /<(?:list|ids|sizes|files|factors)>/.test(option.value) ? `${flag} ${[value, ...extra].join(",")}` : null;
}

/** Whether a word of a line stands behind the value of an option. */
function isBehindOption(argv: readonly string[], word: string | undefined): boolean {
  const at = word === undefined ? -1 : argv.indexOf(word);
  return at > 2 && (argv[at - 2] as string).startsWith("-");
}

function tooManyArguments(line: Line, command: CommandName): Failure {
  const most = USAGES[command].args.length;
  const [extra = ""] = line.args.slice(most);
  const meant = argumentsMeant(line, command);
  const takes = `${command} takes ${most === 0 ? "no arguments" : most === 1 ? "1 argument" : `${most} arguments`}`;
  const begin = most === 0 ? takes : `${shown(extra)} is one argument too many`;
  const message = meant !== null ? `${begin}; did you mean ${meant}?` : most === 0 ? takes : `${begin}; ${takes}`;
  return refusedCommandLine(meant === null ? `${message}${seeHelp(command)}` : message, command, {
    code: "unexpected",
    option: null,
    expected: most === 1 ? "1 argument" : `${most} arguments`,
    received: shown(extra),
  });
}

/** Values that go as an example. */
const EXAMPLES: Readonly<Record<string, string>> = { to: "msccl-xml" };

/** Returns the option that commander's message quotes. */
function optionQuoted(message: string, command: CommandName | null): OptionUsage | undefined {
  const [, long = ""] = /'(?:-\w, )?(--[\w-]+)/.exec(message) ?? [];
  return command === null ? optionsOfCommand().find((option) => option.long === long) : optionIn(command, long);
}

/** Returns commander's refusal as one that begins with what is wrong and says what to do. */
function refusedLine({ code, message }: CommanderError, line: Line): Failure {
  const { command } = line;
  const [, word = ""] = /'(.*)'/s.exec(message) ?? [];
  if (code === "commander.unknownCommand") return unknownCommand(line, word);
  if (code === "commander.excessArguments" && command !== null) return tooManyArguments(line, command);
  const unknown = unknownOptionIn(line);
  if (code === "commander.unknownOption") return unknownOption(line, word, unknown?.next);
  const option = optionQuoted(message, command);
  if (option === undefined) {
    const meaning = command === null ? undefined : USAGES[command].args.find(([form]) => form.includes(word))?.[1];
    const missing = { code: "missing", option: null, expected: meaning ?? `<${word}>`, received: null };
    const [log = ""] = line.args;
    if (command === "calibrate" && isFile(log) && commandForFile(log).startsWith("calibrate"))
      return refusedCommandLine(
        `the network is missing before ${log}; did you mean \`banyan calibrate dgx-a100:1 ${log}\`?`,
        word,
        missing,
      );
    const piped = /TOPO|FILE/.test(word) ? ' ("-" reads standard input)' : "";
    return refusedCommandLine(`${word} is missing${piped}${seeHelp(command)}`, word, missing);
  }
  const missing = { code: "missing", option: propertyOf(option.id), expected: option.help, received: null };
  const { long, value } = option;
  if (code === "commander.optionMissingArgument") {
    const [, next] = / before '(.*)'$/s.exec(message) ?? [];
    const before = next === undefined ? "" : `: behind it is ${next}, an option`;
    return refusedCommandLine(`${long} is without its value ${value}${before}${seeHelp(command)}`, long, missing);
  }
  if (unknown !== null) return unknownOption(line, unknown.word, unknown.next);
  const example = EXAMPLES[option.id];
  const such = example === undefined ? "" : `, e.g. ${long} ${example}`;
  return refusedCommandLine(`${long} is missing${such}${seeHelp(command)}`, long, missing);
}

function refusedTwice({ usage: { id, long }, values }: GivenTwice): Failure {
  const [one, two] = values.map((value) => shown(value).replace(/^"(.*)"$/, "$1"));
  return refusedCommandLine(
    `${long} is given twice, ${one === two ? `both times ${one}` : `as ${one} and as ${two}`}`,
    long,
    {
      code: "unexpected",
      option: propertyOf(id),
      expected: "one value",
      received: shown(values[1]),
    },
  );
}

/** Words that ask for the version, as other tools have them. */
const VERSION_WORDS: readonly string[] = ["-v", "version"];

/** Returns the job of a command line, or what to say instead. */
export function readCommandLine(given: readonly string[]): Job | Said {
  const argv = given.length === 1 && VERSION_WORDS.includes(given[0] as string) ? ["--version"] : given;
  let job: Job | undefined;
  const program = grammar((command, args, options) => {
    const { stdout, env } = process;
    const terminal = isTerminal(stdout, env) ? { columns: stdout.columns, rows: stdout.rows } : null;
    job = { command, args, options, colors: showsColors(stdout, env), terminal };
  });
  let [out, err] = ["", ""];
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    });
  }
  try {
    program.parse(argv, { from: "user" });
  } catch (error) {
    if (error instanceof GivenTwice) return { out, err: "", failure: refusedTwice(error) };
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { out, err, failure: null };
    if (error.code !== "commander.help")
      return { out, err: "", failure: refusedLine(error, lineOf(program, argv, error.code)) };
    err += "\n";
  }
  const nothing = { code: "missing", option: null, expected: `one of ${NAMES.join(", ")}`, received: null };
  const failure = refusedCommandLine("no command is given; see `banyan --help`", "the command", nothing);
  return job ?? { out, err, failure };
}

function lineOf(program: Command, argv: readonly string[], code: string): Line {
  const command = code === "commander.unknownCommand" ? null : verbIn(argv);
  const args = program.commands.find((candidate) => candidate.name() === command)?.args ?? [];
  return { argv, command, args };
}
