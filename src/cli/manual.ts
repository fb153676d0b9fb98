import { EXAMPLES, NOTES } from "./help.ts";
import { DESCRIPTION, type OptionUsage, optionsOfCommand, USAGES, writtenOption } from "./program.ts";
import type { CommandName } from "./protocol.ts";
import { wrapped } from "./reports/text.ts";
import { version } from "./version.ts";

/** Columns of a line of source: longer ones are no mistake, but hard to read. */
const WIDTH = 72;

/** Returns a line as roff: it is no request, dashes stay dashes. */
const escapes = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");

/** Returns a text as lines of roff. */
const roff = (text: string): string => wrapped(text.replaceAll("\n", " "), WIDTH).map(escapes).join("\n");

const bold = (text: string): string => `\\fB${escapes(text)}\\fR`;

/** Returns a written option with its flags bold and its value italic. */
const optionLine = (option: OptionUsage): string =>
  writtenOption(option)
    .split(" ")
    .map((word) => (word.startsWith("<") ? `\\fI${roff(word.slice(1, -1))}\\fR` : bold(word)))
    .join(" ");

const optionLines = (options: readonly OptionUsage[]): string[] =>
  options.flatMap((option) => [
    ".TP",
    optionLine(option),
    roff(`${option.help}${option.isRequired ? " (required)" : ""}`),
  ]);

/** Returns a line of literal text that keeps its spaces. */
const literal = (lines: readonly string[]): string[] => [".nf", ...lines.map(escapes), ".fi"];

function commandLines(name: CommandName): string[] {
  const { args, summary } = USAGES[name];
  const form = args.map(([text]) => `\\fI${roff(text.replace(/[<>]/g, ""))}\\fR`).join(" ");
  const notes = NOTES[name];
  return [
    `.SS ${bold(`banyan ${name}`)} ${form} [options]`,
    roff(`${summary}.`),
    ...args.flatMap(([text, meaning]) => [".TP", `\\fI${roff(text.replace(/[<>]/g, ""))}\\fR`, roff(meaning)]),
    ...optionLines(optionsOfCommand(name)),
    ...(notes === undefined
      ? []
      : notes
          .trimEnd()
          .split("\n\n")
          .flatMap((text) => [".PP", roff(text)])),
    ".PP",
    "Examples:",
    ".PP",
    ...literal(EXAMPLES[name].map((line) => `  ${line}`)),
  ];
}

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ["BANYAN_BACKEND", "kernels to use where --backend does not say: native, wasm or js"],
  ["BANYAN_CACHE_DIR, XDG_CACHE_HOME", "where `banyan search` keeps what it found"],
  ["BANYAN_APP", "folder of the built app that `banyan serve` hands out"],
  ["BANYAN_REDIS_PASSWORD, BANYAN_REDIS_PASSWORD_FILE", "password of a Redis server, or the file that has it"],
  ["NO_COLOR", "reports without colours"],
];
const STATUSES: readonly (readonly [status: string, meaning: string])[] = [
  ["0", "done"],
  ["1", "a check failed: a schedule or program is wrong"],
  ["2", "bad input, or output that cannot be written"],
  ["3", "no schedule exists"],
  ["130", "interrupted"],
];

/** Returns banyan(1) in roff with the man macros, from the table of options. */
export function manualPage(): string {
  const entries = (rows: typeof STATUSES): string[] =>
    rows.flatMap(([term, meaning]) => [".TP", bold(term), roff(meaning)]);
  return `${[
    `.TH BANYAN 1 "" "banyan ${roff(version)}" "Banyan"`,
    ".SH NAME",
    "banyan \\- collective\\-communication schedules for any network",
    ".SH SYNOPSIS",
    "\\fBbanyan\\fR \\fIcommand\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]",
    ".SH DESCRIPTION",
    roff(DESCRIPTION),
    ".SH COMMANDS",
    ...(Object.keys(USAGES) as CommandName[]).flatMap(commandLines),
    ".SH OPTIONS OF EVERY COMMAND",
    ...optionLines(optionsOfCommand()),
    ".SH EXIT STATUS",
    ...entries(STATUSES),
    ".SH ENVIRONMENT",
    ...entries(VARIABLES),
  ].join("\n")}\n`;
}
