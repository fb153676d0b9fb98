// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of shells
/** Scripts that complete command lines in shells. */

/** What can stand at a place: words, and names of files. */
export interface Values {
  readonly words: readonly string[];
  readonly files: boolean;
  /** Several may be joined by commas. */
  readonly list?: boolean;
}

export interface Completed {
  readonly flags: readonly string[];
  readonly help: string;
  /** Null: it has no value. */
  readonly values: Values | null;
}

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Completed[];
  /** The last one repeats. */
  readonly args: readonly Values[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const joined = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

/** Returns what sets the replies of bash to some values. */
const bashReplies = ({ words, files }: Values): string =>
  [
    ...(words.length === 0 ? [] : [`_banyan_words ${quoted(words.join(" "))}`]),
    ...(files ? ["_banyan_files"] : []),
  ].join("; ") || ":";

/** Returns the script for bash 4 and later; words are those between blanks, so that "dgx-a100:2" is one. */
export function BASH(commands: readonly CompletedCommand[]): string {
  const values = new Map<string, Set<string>>();
  for (const { name, options } of commands)
    for (const { flags, values: own } of options)
      if (own !== null) {
        const reply = bashReplies(own);
        for (const flag of flags) values.set(reply, (values.get(reply) ?? new Set()).add(`${name}:${flag}`));
      }
  return joined([
    "# completion of banyan for bash: source <(banyan completion bash)",
    "_banyan_words() {",
    '  local head=""',
    '  case "$cur" in *[:=,]*) head="${cur%"${cur##*[:=,]}"}" ;; esac',
    "  local word; for word in $1; do",
    '    case "$cur" in',
    '      *,*) [[ "$head$word" == "$cur"* ]] && COMPREPLY+=("$head$word") ;;',
    '      *) [[ "$word" == "$cur"* ]] && COMPREPLY+=("$word") ;;',
    "    esac",
    "  done",
    "}",
    '_banyan_files() { local file; while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; }',
    "_banyan() {",
    '  local line cur prev command="" word i',
    "  local -a words",
    '  line="${COMP_LINE:0:COMP_POINT}"',
    '  read -ra words <<< "$line"',
    '  case "$line" in *[[:space:]]) words+=("") ;; esac',
    '  cur="${words[${#words[@]}-1]}"; prev="${words[${#words[@]}-2]}"',
    "  COMPREPLY=()",
    "  for ((i = 1; i < ${#words[@]} - 1; i++)); do",
    '    case "${words[i]}" in',
    `      ${commands.map(({ name }) => name).join("|")}) command="\${words[i]}"; break ;;`,
    "    esac",
    "  done",
    '  if [[ -z "$command" ]]; then',
    `    _banyan_words ${quoted([...commands.map(({ name }) => name), "--help", "--version"].join(" "))}`,
    "  else",
    '    case "$command:$prev" in',
    ...[...values].map(([reply, flags]) => `      ${[...flags].join("|")}) ${reply}; _banyan_trim; return ;;`),
    "    esac",
    '    case "$command:$cur" in',
    ...commands.map(
      ({ name, options }) =>
        `      ${name}:-*) _banyan_words ${quoted(options.flatMap(({ flags }) => flags).join(" "))} ;;`,
    ),
    ...commands
      .filter(({ args }) => args.length > 0)
      .map(({ name, args }) => `      ${name}:*) ${bashReplies(mergedValues(args))} ;;`),
    "    esac",
    "  fi",
    "  _banyan_trim",
    "}",
    "# bash breaks words at : and =, and replaces only what follows them",
    "_banyan_trim() {",
    '  local head="" i',
    '  case "$cur" in *[:=]*) head="${cur%"${cur##*[:=]}"}" ;; esac',
    '  [[ "$COMP_WORDBREAKS" == *:* ]] || head=""',
    '  for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="${COMPREPLY[i]#"$head"}"; done',
    '  [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *: ]] && compopt -o nospace 2>/dev/null',
    "  return 0",
    "}",
    "complete -F _banyan banyan",
  ]);
}

const mergedValues = (args: readonly Values[]): Values => ({
  words: args.flatMap(({ words }) => words),
  files: args.some(({ files }) => files),
});

/** Returns a text within a specification of zsh's _arguments. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, "\\$&");

/** Returns the action of zsh's _arguments for values. */
function zshAction({ words, files, list }: Values): string {
  if (words.length === 0) return files ? "_files" : " ";
  if (list === true) return `_values -s , value ${words.map(zshText).join(" ")}`;
  // -Q: a colon stays as it is
  if (files) return `{ compadd -Q -S "" -- ${words.join(" ")}; _files }`;
  return words.some((word) => word.includes(":")) ? `{ compadd -Q -- ${words.join(" ")} }` : `(${words.join(" ")})`;
}

/** Returns the script for zsh. */
export function ZSH(commands: readonly CompletedCommand[]): string {
  const option = ({ flags, help, values }: Completed): string => {
    const [first] = flags as [string];
    const apart = flags.length > 1 ? `'(${flags.join(" ")})'{${flags.join(",")}}` : first;
    return `${apart}${quoted(`[${zshText(help)}]${values === null ? "" : `:value:${zshAction(values)}`}`)}`;
  };
  return joined([
    "#compdef banyan",
    "# completion of banyan for zsh: banyan completion zsh > ~/.zfunc/_banyan, a folder of $fpath",
    "_banyan() {",
    '  local curcontext="$curcontext" state line',
    "  typeset -A opt_args",
    "  local -a commands",
    "  commands=(",
    ...commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`),
    "  )",
    "  _arguments -C '(-h --help)'{-h,--help}'[print the help]' '(-V --version)'{-V,--version}'[print the version]' '1: :->command' '*:: :->args'",
    "  case $state in",
    "    command) _describe command commands ;;",
    "    args)",
    "      case $line[1] in",
    ...commands.flatMap(({ name, options, args }) => [
      `        ${name}) _arguments \\`,
      ...options.map((one) => `            ${option(one)} \\`),
      `            ${args.length === 0 ? "" : args.map((values, i) => quoted(`${i === args.length - 1 && i > 0 ? "*" : i + 1}:argument:${zshAction(values)}`)).join(" ")} ;;`,
    ]),
    "      esac ;;",
    "  esac",
    "}",
    'if [[ "$funcstack[1]" == _banyan ]]; then _banyan "$@"; else compdef _banyan banyan; fi',
  ]);
}

/** Returns the script for fish. */
export function FISH(commands: readonly CompletedCommand[]): string {
  const fish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const from = (name: string): string => `-n ${fish(`__fish_seen_subcommand_from ${name}`)}`;
  const values = ({ words, files }: Values): string =>
    `${files ? " -r -F" : " -x"}${words.length === 0 ? "" : ` -a ${fish(words.join(" "))}`}`;
  const names = commands.map(({ name }) => name).join(" ");
  return joined([
    "# completion of banyan for fish: banyan completion fish > ~/.config/fish/completions/banyan.fish",
    "complete -c banyan -f",
    ...commands.flatMap(({ name, summary, options, args }) => [
      `complete -c banyan -n ${fish(`not __fish_seen_subcommand_from ${names}`)} -a ${name} -d ${fish(summary)}`,
      ...options.map(({ flags, help, values: own }) => {
        const written = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        return `complete -c banyan ${from(name)} ${written.join(" ")} -d ${fish(help)}${own === null ? "" : values(own)}`;
      }),
      ...(args.length === 0
        ? []
        : [
            `complete -c banyan ${from(name)}${values(mergedValues(args)).replace(" -r -F", " -F").replace(" -x", " -f")}`,
          ]),
    ]),
  ]);
}
