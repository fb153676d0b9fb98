import { Command, CommanderError, Option } from "commander";
import { flagOf, type OptionId, type Options, optionsOf, ROWS, TABLE } from "../request/option-table.ts";
import { refusedCommandLine } from "./failure.ts";
import { EXAMPLES, NOTES } from "./help.ts";
import type { CommandName, Failure, Job } from "./protocol.ts";
import { showsColors } from "./reports/style.ts";
import { version } from "./version.ts";

const TOPO = "preset (mesh:4x4, dgx-a100:2), construction ('L(K(4,4))') or topology file";
const COLLECTIVE = "allgather, allreduce, ... (`banyan list collectives`)";
const COLLECTIVE_OR_CUSTOM = `${COLLECTIVE}, or custom:FILE`;
const FILE = 'schedule file, JSON or .bys, or program: MSCCL XML or MSCCL++ JSON; "-" reads standard input';

/** An option of a command: with its help in the table, or with words of the command's own; "!" after its name: it must be given. */
type Taken = OptionId | readonly [id: OptionId | `${OptionId}!`, help: string];

interface Usage {
  /** Its arguments, with what they are. */
  readonly args: readonly (readonly [form: string, meaning: string])[];
  readonly summary: string;
  readonly options: readonly Taken[];
}

const GLOBAL: readonly OptionId[] = ["json", "quiet", "backend", "threads", "debug"];
const NETWORK: readonly OptionId[] = [...optionsOf("network"), ...optionsOf("reading")];
const MEMBERS: readonly OptionId[] = ["chunks", "root", "group", "outsiders"];
const MAKING: readonly OptionId[] = optionsOf("making");
/** What `export` takes of them: neither what only a maker that is named takes, nor what is about the synthesis itself. */
const MAKING_FOR_EXPORT = MAKING.filter(
  (id) => ROWS[id].own !== "named only" && !["timeLimit", "simulate", "switching"].includes(id),
);
const AS_JSON_TOPOLOGY = "as a banyan-topology JSON file";

/** Every command: its arguments and the options that it takes, as they stand in its help. */
const USAGES: Readonly<Record<CommandName, Usage>> = {
  topology: {
    args: [["<TOPO>", TOPO]],
    summary: "show a network, its wiring and where its figures come from",
    options: [...NETWORK, ["output", `write it ${AS_JSON_TOPOLOGY}`]],
  },
  bound: {
    args: [["<TOPO>", TOPO]],
    summary: "prove how fast a collective can be at best, and say what limits it",
    options: [
      ["collective!", COLLECTIVE_OR_CUSTOM],
      "size",
      ...MEMBERS,
      ["switchDegree", "routes through switches for the limit of whole chunks: ports, or degree of unwinding"],
      ...NETWORK,
      "details",
    ],
  },
  synth: {
    args: [["<TOPO>", TOPO]],
    summary: "make a schedule; verify, simulate and bound it",
    options: [
      ["collective", COLLECTIVE_OR_CUSTOM],
      "collectives",
      "size",
      ...MEMBERS,
      ...NETWORK,
      ...MAKING,
      ["output", "write the schedule: NAME.bys for large ones, else as a banyan-schedule JSON file"],
      "details",
    ],
  },
  verify: {
    args: [["<FILE>", FILE]],
    summary: "judge a schedule or a program: exit code 1 and every violation where it is wrong",
    options: [
      ["topology", `refuse a schedule for another network: ${TOPO}`],
      "target",
      "record",
      "recordOf",
      "independent",
      ...NETWORK,
    ],
  },
  simulate: {
    args: [["<FILE>", FILE]],
    summary: "replay a schedule, or run a program, in the congestion-aware network",
    options: [
      ["topology", `refuse a schedule for another network; programs: where they run: ${TOPO}`],
      ["size", "programs: nccl-tests size, default 1GiB"],
      ["group", "programs: the NPUs of ranks 0, 1, 2 ...; default the first ones"],
      "switching",
      "reference",
      ["chunks", "trees: pieces of what each carries; default: what is fastest"],
      "trace",
      ...NETWORK,
      "details",
    ],
  },
  export: {
    args: [["<FILE|TOPO>", `file of a schedule or program, or ${TOPO}`]],
    summary: "write a schedule, program or network in another format",
    options: [
      ["to!", TABLE.to.help],
      ["output!", "the file, or for formats of several files the folder, to write"],
      ["topology", `refuse a schedule for another network: ${TOPO}`],
      ["collective", "of a network: synthesize this first, with the options of `synth`"],
      "size",
      "view",
      "dialect",
      "placement",
      "instances",
      "parts",
      "threadBlocks",
      "protocol",
      "minBytes",
      "maxBytes",
      ["sizes", "msccl-xml, tuner: the best algorithm for each of these sizes and those up to the next"],
      ...MEMBERS,
      ...NETWORK,
      ...MAKING_FOR_EXPORT,
    ],
  },
  run: {
    args: [["<FILE>", FILE.replace("schedule file, JSON or .bys, or ", "")]],
    summary: "execute a program on real buffers in this process and check what it computes",
    options: [
      ["dtype", "i32 (default; compared bit for bit) or f32"],
      ["size", "nccl-tests size; default: the least that every chunk divides, about 1MiB"],
      ["placement", "in or out; default: all that the program is for"],
      ["seed", "seed of the order in which thread blocks run, default 1"],
    ],
  },
  explain: {
    args: [["<FILE>", FILE]],
    summary: "say in words what a schedule or program does, what limits it, and whether a runtime would use it",
    options: [
      ...NETWORK,
      ["size", "would a runtime select it for this size?"],
      "dtype",
      ["target", "msccl, azure, rccl or mscclpp; default: all that read such files"],
      "log",
      ["topology", `programs: the network to find the limiting link in: ${TOPO}`],
    ],
  },
  compare: {
    args: [["<TOPO>", TOPO]],
    summary: "compare algorithms by size: time, bandwidth, percentage of the limit",
    options: [
      ["collective!", COLLECTIVE],
      ["sizes!", TABLE.sizes.help],
      "algorithms",
      "programs",
      ...MEMBERS,
      "seed",
      ["trials", "most trials per phase"],
      ["switchDegree", "through switches: ports or a degree of unwinding; default: what is best"],
      "switching",
      ["k", "trees: copies per root, or auto"],
      ["eulerian", "trees where a node has more bandwidth in than out: trim or switches"],
      "format",
      "output",
      ...NETWORK,
    ],
  },
  calibrate: {
    args: [
      ["<TOPO>", TOPO],
      [
        "<LOG...>",
        'output of nccl-tests or rccl-tests, text or JSON (-J), or a table of points; "-" reads standard input',
      ],
    ],
    summary: "fit latencies and bandwidths of a network's links to output of nccl-tests",
    options: [
      ["collective", "only logs of this one; needed where they do not tell theirs"],
      [
        "algorithm",
        "what ran: ring (default), tree or nvls as NCCL runs them, or any of `banyan list algorithms`, whose schedules are then simulated",
      ],
      ["chunks", "schedules of ours: chunks per NPU; trees: pieces of what each carries"],
      "policy",
      "seed",
      "switching",
      "platform",
      "regimes",
      ["size", "with --regimes: the figures of the range that this size is in"],
      ["output", `write the network with the fitted figures ${AS_JSON_TOPOLOGY}`],
      ...NETWORK,
    ],
  },
  search: {
    args: [],
    summary: "find the best networks for a number of nodes and ports: graphs, their expansions and schedules",
    options: [
      ["nodes", "nodes of the network, 2 to 10000"],
      "degree",
      "bidirectional",
      "alpha",
      "bandwidth",
      ["size", "nccl-tests size, or sizes with weights: 1MiB:3,64MiB:1; default 1MiB"],
      ["collective", "the best network for allreduce (default), allgather, reducescatter or alltoall"],
      "verify",
      "alltoall",
      "all",
      "maxNodes",
      "degrees",
      "cache",
      "svg",
      ["output", "write the report as JSON; NAME.svg: the plot"],
    ],
  },
  serve: {
    args: [
      ["[FILE]", 'network, schedule or program that the app opens, any file it can read; "-" reads standard input'],
    ],
    summary: "the app, for a browser on this machine; until Ctrl-C",
    options: ["port", "host"],
  },
  list: {
    args: [["<WHAT>", "presets, algorithms, collectives, formats, gpus, backends"]],
    summary: "list presets, algorithms, collectives, formats, gpus or backends",
    options: [
      ["topology", `algorithms: which can be used on a network, and what the others need: ${TOPO}`],
      ["collective", "algorithms, with --topology: for this collective"],
    ],
  },
};

/** What stands for the value of an option of one command. */
const VALUES: Readonly<Record<string, string>> = { "search size": "<sizes>" };

/** Returns an option as commander reads it. */
function optionFor(id: OptionId, help: string, isRequired: boolean, command = ""): Option {
  const { short, value: usual, repeats, sets } = ROWS[id];
  const long = short === undefined ? flagOf(id) : `--${id}`;
  const value = VALUES[`${command} ${id}`] ?? usual;
  const option = new Option(
    `${short === undefined ? "" : `-${short}, `}${long}${value === undefined ? "" : ` ${value}`}`,
    help,
  );
  if (repeats === true)
    option.argParser((text: string, before: string | undefined) => (before === undefined ? text : `${before},${text}`));
  return sets === false ? option : option.makeOptionMandatory(isRequired);
}

/** Returns the command line's grammar; `chosen` gets what was read. */
function grammar(chosen: (command: CommandName, args: string[], options: Options) => void): Command {
  const program = new Command("banyan")
    .description(
      "Synthesizes collective-communication schedules for any network: verified, simulated, compared with a proved bound.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .usage("<command> [options]")
    .configureHelp({ showGlobalOptions: true });
  for (const id of GLOBAL) program.addOption(optionFor(id, ROWS[id].help, false));
  for (const [name, { args, summary, options }] of Object.entries(USAGES) as [CommandName, Usage][]) {
    const command = program.command(name).description(summary).helpOption("-h, --help", "print this help");
    for (const [form, meaning] of args) command.argument(form, meaning);
    for (const taken of options) {
      const [asked, help] = typeof taken === "string" ? [taken, ROWS[taken].help] : taken;
      const id = asked.replace("!", "") as OptionId;
      command.addOption(optionFor(id, help, asked.endsWith("!"), name));
    }
    command.addHelpText(
      "after",
      () => `\n${NOTES[name] ?? ""}Examples:\n${EXAMPLES[name].map((line) => `  ${line}\n`).join("")}`,
    );
    command.action(() => chosen(name, command.args, command.optsWithGlobals()));
  }
  program.addHelpText("after", `\n${EXAMPLES.banyan.map((line) => `${line}\n`).join("")}`);
  return program;
}

/** Returns what commander's message is about: the option, argument or command that it quotes. */
const placeIn = (message: string): string =>
  /'(?:-\w, )?([^\s',]+)/.exec(message.replace(/^error: /, ""))?.[1] ?? "the command line";

/** Returns commander's message as one line that says what to do. */
function oneLine(message: string, program: Command, argv: readonly string[]): string {
  const command = program.commands.find((candidate) => argv.includes(candidate.name()));
  const text = message
    .replace(/^error: /, "")
    .replaceAll("\n", " ")
    .replace("(Did you mean", "(did you mean")
    .replace(/(Expected \d+ arguments?) but got (\d+): .*$/s, "$1 but got $2")
    .replace(/'([^']{80})[^']*'/g, "'$1...'")
    .replace(/\.$/, "");
  return `${text}; see \`banyan ${command === undefined ? "" : `${command.name()} `}--help\``;
}

/** What to say where a command line asks for no work: help, the version, or (`failure`) a mistake. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly failure: Failure | null;
}

/** Returns the job of a command line, or what to say instead. */
export function readCommandLine(argv: readonly string[]): Job | Said {
  let job: Job | undefined;
  const program = grammar((command, args, options) => {
    job = { command, args, options, colors: showsColors(process.stdout, process.env) };
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
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { out, err, failure: null };
    if (error.code !== "commander.help") {
      const failure = refusedCommandLine(oneLine(error.message, program, argv), placeIn(error.message));
      return { out, err: "", failure };
    }
    err += "\n";
  }
  return job ?? { out, err, failure: refusedCommandLine("expected a command; see `banyan --help`", "the command") };
}
