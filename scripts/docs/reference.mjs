// docs/reference/: a page for each command and one of all options, made of the command line's own grammar and table of options.
//   node scripts/docs/reference.mjs   writes it, from dist/
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { EXAMPLES, NOTES } from "../../dist/cli/help.js";
import { grammar } from "../../dist/cli/program.js";
import { flagOf, propertyOf, ROWS } from "../../dist/request/option-table.js";
import { at } from "../paths.mjs";

const FOLDER = "docs/reference";

/** Headings over options, by what the table says an option is of; of all others the command's own. */
const PARTS = [
  ["collective", "What is communicated"],
  ["making", "How the schedule is made"],
  ["program", "How a program is made of it"],
  ["network", "What of the network is used"],
  ["reading", "What a network's file leaves open"],
];

/**
 * What has to be there before the examples of a command run: its files, by the names that they have in help. Commands of several
 * pages come first and in the same order: what they do is done once.
 */
const SYNTH = "banyan synth dgx-a100:2 --collective allreduce --size 16MiB -o schedule.json --quiet";
const TREES = "banyan synth dgx-h100:128 --collective allgather --algorithm forestcoll -o trees.json --quiet";
const SMALL_TREES =
  "banyan synth dgx-a100:1 --collective allreduce --size 1MiB --algorithm forestcoll -o trees.json --quiet";
const PROGRAM =
  "banyan export dgx-a100:1 --collective allreduce --size 1MiB --algorithm forestcoll --to msccl-xml -o allreduce.xml --quiet";
const PLAN =
  "banyan export dgx-a100:1 --collective allreduce --size 1MiB --algorithm forestcoll --to mscclpp-json -o plan.json --quiet";
const BIG = "banyan synth mesh:10x10 --collective allgather -o big.bys --quiet";
const BEFORE = {
  topology: ["cp examples/profile.json ndv2.json"],
  synth: [
    TREES,
    "cp examples/fabric.csv cluster.csv",
    "cp examples/halo.json examples/tenants.json .",
    "for i in $(seq 16); do for j in $(seq 16); do printf '%s ' $((i == j ? 0 : 4096 * (1 + (i + j) % 3))); done; echo; done > bytes.csv",
    "cp examples/profile.json topo-ndv2-1MB.json && cp examples/sketch.json sk1-ndv2-n2.json",
  ],
  verify: [PROGRAM, PLAN, SYNTH, BIG],
  simulate: [PROGRAM, SYNTH],
  export: [PROGRAM, "mv allreduce.xml old.xml", BIG, SYNTH, SMALL_TREES],
  calibrate: [
    "cp examples/all_reduce_1node.log all_reduce_perf.log",
    "cp examples/all_reduce_1node.log one-box.log",
    "cp examples/all_reduce_4nodes.log four-boxes.log",
    "cp examples/measured.tsv measured.tsv",
    "banyan compare torus:4x4@20GB/s,2us --collective allreduce --sizes 1KiB,64KiB,4MiB,256MiB --algorithms tacos --format nccl-tests -o all_reduce.log --quiet",
  ],
  plan: ["cp examples/perceptron.json ."],
  sweep: ["sed '/every/d; s/each: links/each: nics/' examples/failures.yaml > failures.yaml"],
  probe: ["cp examples/measured.json ."],
  results: ["banyan sweep examples/failures.yaml"],
  completion: ["mkdir -p ~/.zfunc ~/.config/fish/completions"],
  run: [PROGRAM, PLAN],
  explain: [PROGRAM, SMALL_TREES, "cp examples/nccl-debug.log nccl-debug.log"],
};

/** What a guide says of a command. */
const GUIDES = {
  completion:
    "To keep it, put `source <(banyan completion bash)` into `~/.bashrc`. For zsh, `~/.zshrc` needs `fpath+=~/.zfunc` before `compinit`; fish loads its file by itself. [Tab completion and the man page](../guide/start.md#tab-completion-and-the-man-page) has the lines to paste.",
  export: "[What programs are for, and how a cluster loads them](../guide/programs.md#load-it).",
  lab: "[What a laboratory is, and what its figures mean](../guide/lab.md).",
  help: "[Install the man page](../guide/start.md#tab-completion-and-the-man-page).",
};

/** Examples that no test runs, and why. */
const NOT_RUN = [
  [/^banyan serve|\| banyan serve/, "serves until Ctrl-C"],
  [/rediss?:/, "needs a server"],
  [/^banyan probe (?!--from)/, "needs an MPI library or PyTorch, and machines that do nothing else"],
  [/^banyan lab /, "needs Linux, root or user namespaces, and an MPI library"],
  [/mesh:100x100|--all |--nodes 1024|-o algorithms$|--nodes 256/, "takes minutes"],
];

/** Returns a text in which nothing is Markdown but what stands between backquotes. */
const plain = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replace(/[\\*_<>[\]]/g, "\\$&")))
    .join("");
const cell = (text) => plain(text).replaceAll("|", "\\|");
const code = (text) => `\`${text.replaceAll("|", "\\|")}\``;

/** Returns rows as a Markdown table. */
const table = (heads, rows) =>
  [
    `| ${heads.join(" | ")} |`,
    `|${heads.map(() => "---|").join("")}`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");

/** Returns the option's row of a table: how it is written, what it does. */
const optionRow = (option) => [
  code(option.flags),
  `${cell(option.description)}${option.mandatory ? " (required)" : ""}`,
];

const idOf = (option) => option.attributeName();
const optionTable = (options) => table(["option", "what it does"], options.map(optionRow));

/** Returns the examples as blocks: those that tests run, and the others with the reason. */
function exampleBlocks(lines) {
  const whyNot = (line) => NOT_RUN.find(([pattern]) => pattern.test(line))?.[1];
  const groups = new Map();
  for (const line of lines) groups.set(whyNot(line), [...(groups.get(whyNot(line)) ?? []), line]);
  return [...groups]
    .map(([why, of]) => `\`\`\`sh${why === undefined ? "" : ` not-run: ${why}`}\n${of.join("\n")}\n\`\`\``)
    .join("\n\n");
}

/** Returns the page of a command. */
function commandPage(command) {
  const name = command.name();
  const partOf = (option) => ROWS[idOf(option)]?.part ?? "command";
  const own = command.options.filter(
    (option) => !PARTS.some(([part]) => part === partOf(option)) && idOf(option) !== "help",
  );
  const notes = (NOTES[name] ?? "").split(/\n{2,}/).filter((text) => text.trim() !== "");
  const sections = [
    ...(own.length > 0 ? [["Options", own]] : []),
    ...PARTS.map(([part, heading]) => [heading, command.options.filter((option) => partOf(option) === part)]),
  ].filter(([, options]) => options.length > 0);
  return [
    `# banyan ${name}`,
    MADE,
    ...(BEFORE[name] ?? []).map((line) => `<!-- run: ${line} -->`),
    `${plain(command.description()).replace(/^./, (first) => first.toUpperCase())}.`,
    `\`\`\`\nbanyan ${name} ${command.usage().replace(/^\[options\] ?/, "")} [options]\n\`\`\``.replace(/ {2,}/g, " "),
    ...(command.registeredArguments.length > 0
      ? [
          table(
            ["argument", "what it is"],
            command.registeredArguments.map((argument) => [code(argument.name()), cell(argument.description)]),
          ),
        ]
      : []),
    "## Examples",
    exampleBlocks(EXAMPLES[name]),
    ...(GUIDES[name] === undefined ? [] : [GUIDES[name]]),
    ...sections.flatMap(([heading, options]) => [`## ${heading}`, optionTable(options)]),
    ...(notes.length > 0 ? ["## More", ...notes.map((text) => plain(text.replaceAll("\n", " ").trim()))] : []),
    `Options that every command takes are [here](README.md#options-of-every-command).`,
  ].join("\n\n");
}

const MADE =
  "<!-- Made by scripts/docs/reference.mjs from the table of options: change src/request/option-table.ts or src/cli/. -->";

function indexPage(root) {
  return [
    "# Commands",
    MADE,
    `${plain(root.description())}`,
    table(
      ["command", "what it does"],
      root.commands.map((command) => [
        `[\`banyan ${command.name()}\`](${command.name()}.md)`,
        cell(command.description()),
      ]),
    ),
    `\`banyan COMMAND --help\` prints the same. All options by name: [options](options.md).`,
    "## Options of every command",
    optionTable(root.options.filter((option) => !["version", "help"].includes(idOf(option)))),
    "## Exit codes",
    table(
      ["code", "meaning"],
      [
        ["0", "done"],
        ["1", "a check failed: a schedule, a program or a claim is wrong"],
        ["2", "bad input, or output that cannot be written"],
        ["3", "no schedule exists: some NPU cannot be reached"],
        ["130", "interrupted"],
      ],
    ),
    "## Environment",
    table(
      ["variable", "meaning"],
      [
        ["`BANYAN_BACKEND`", "native, wasm or js, as `--backend`"],
        ["`BANYAN_CACHE_DIR`", "where `search` keeps what it evaluated; else the platform's cache folder"],
        ["`BANYAN_APP`", "another folder with the built app for `serve`"],
      ],
    ),
  ].join("\n\n");
}

function optionsPage(root) {
  const takers = new Map();
  for (const command of root.commands)
    for (const option of command.options)
      takers.set(idOf(option), [...(takers.get(idOf(option)) ?? []), command.name()]);
  const ids = Object.keys(ROWS).sort((a, b) => (longOf(a) < longOf(b) ? -1 : 1));
  return [
    "# Options",
    MADE,
    "Every option, the property that it is in the [API](../api.md), and the commands that take it. A command's page may say more of it.",
    table(
      ["option", "what it does", "in the API", "commands"],
      ids.map((id) => [
        code(`${longOf(id)}${ROWS[id].value === undefined ? "" : ` ${ROWS[id].value}`}`),
        cell(ROWS[id].help),
        ["network", "collective", "making", "program"].includes(ROWS[id].part) ? code(propertyOf(id)) : "",
        (takers.get(id) ?? ["all"]).map((name) => (name === "all" ? "all" : `[${name}](${name}.md)`)).join(", "),
      ]),
    ),
  ].join("\n\n");
}

const longOf = (id) => (ROWS[id].short === undefined ? flagOf(id) : `--${id}`);

/** Returns the pages by their path from the root. */
export function referencePages() {
  const root = grammar(() => {});
  const pages = [
    ["README", indexPage(root)],
    ["options", optionsPage(root)],
    ...root.commands
      .filter((command) => EXAMPLES[command.name()] !== undefined)
      .map((command) => [command.name(), commandPage(command)]),
  ];
  return new Map(pages.map(([name, text]) => [`${FOLDER}/${name}.md`, `${text}\n`]));
}

/** Writes the pages; what else stands there goes. */
export function writeReference() {
  const pages = referencePages();
  mkdirSync(at(FOLDER), { recursive: true });
  for (const file of readdirSync(at(FOLDER))) if (!pages.has(`${FOLDER}/${file}`)) rmSync(at(FOLDER, file));
  for (const [path, text] of pages) writeFileSync(at(path), text);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeReference();
