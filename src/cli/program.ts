import { Command, CommanderError, Option } from "commander";
import { flagOf, type OptionId, type Options, optionsOf, ROWS, TABLE } from "../request/option-table.ts";
import { EXAMPLES, NOTES } from "./help.ts";
import type { CommandName } from "./protocol.ts";
import { version } from "./version.ts";

const TOPO = "preset (mesh:4x4, dgx-a100:2), construction ('L(K(4,4))') or topology file";
const COLLECTIVE = "allgather, allreduce, ... (`banyan list collectives`)";
const COLLECTIVE_OR_CUSTOM = `${COLLECTIVE}, or custom:FILE`;
const FILE =
  'schedule file, JSON or .bys, list of sends as CSV or JSON, or program: MSCCL XML or MSCCL++ JSON; "-" reads standard input';

/** An option of a command: with its help in the table, or with words of the command's own; "!" after its name: it must be given. */
type Taken = OptionId | readonly [id: OptionId | `${OptionId}!`, help: string];

export interface Usage {
  /** Its arguments, with what they are. */
  readonly args: readonly (readonly [form: string, meaning: string])[];
  readonly summary: string;
  readonly options: readonly Taken[];
}

const GLOBAL: readonly OptionId[] = ["json", "quiet", "backend", "threads", "debug"];
const NETWORK: readonly OptionId[] = [...optionsOf("network"), ...optionsOf("reading")];
const MEMBERS: readonly OptionId[] = ["chunks", "root", "group", "outsiders"];
/** What a list of sends leaves open. */
const COLLECTIVE_OF_SENDS = "of a list of sends, which does not say it: allgather, allreduce, ...";
/** What else lists of sends leave open. */
const CUT_OF_SENDS: readonly Taken[] = [
  ["size", "of a list of sends: nccl-tests size, default 1GiB"],
  ["chunks", "of a list of sends: chunks per NPU; default: as many as its greatest chunk needs"],
  "root",
  "group",
];
const MAKING: readonly OptionId[] = optionsOf("making");
/** What `export` takes of them: neither what only a maker that is named takes, nor what is about the synthesis itself. */
const MAKING_FOR_EXPORT = MAKING.filter(
  (id) => ROWS[id].own !== "named only" && !["timeLimit", "sketch", "simulate", "switching"].includes(id),
);
const AS_JSON_TOPOLOGY = "as a banyan-topology JSON file";

export const DESCRIPTION =
  "Synthesizes collective-communication schedules for any network: verified, simulated, compared with a proved bound.";

/** Every command: its arguments and the options that it takes, as they stand in its help. */
export const USAGES: Readonly<Record<CommandName, Usage>> = {
  topology: {
    args: [["<TOPO>", TOPO]],
    summary: "show a network, its wiring and where its figures come from",
    options: [...NETWORK, ["output", `write it ${AS_JSON_TOPOLOGY}; NAME.csv: its cables as an edge list`]],
  },
  bound: {
    args: [["<TOPO>", TOPO]],
    summary: "prove how fast a collective can be at best, and say what limits it",
    options: [
      ["collective", COLLECTIVE_OR_CUSTOM],
      "size",
      ...MEMBERS,
      ["switchDegree", "routes through switches for the limit of whole chunks: ports, or degree of unwinding"],
      "withoutEach",
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
      "withoutEach",
      ...MAKING,
      ["output", "write the schedule: NAME.bys for large ones, else as a banyan-schedule JSON file"],
      "details",
    ],
  },
  verify: {
    args: [["<FILE>", FILE]],
    summary: "judge a schedule or a program: exit code 1 and every violation where it is wrong",
    options: [
      ["topology", `refuse a schedule for another network; lists of sends: the network: ${TOPO}`],
      ["collective", `fail unless the file makes it; ${COLLECTIVE_OF_SENDS}`],
      ...CUT_OF_SENDS,
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
      ["topology", `refuse a schedule for another network; programs, lists of sends: where they run: ${TOPO}`],
      ["collective", COLLECTIVE_OF_SENDS],
      ["size", "programs, lists of sends: nccl-tests size, default 1GiB"],
      ["group", "programs: the NPUs of ranks 0, 1, 2 ...; default the first ones; lists of sends: who takes part"],
      "root",
      "switching",
      "reference",
      ["chunks", "trees: pieces of what each carries; default: what is fastest; lists of sends: chunks per NPU"],
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
      [
        "collective",
        "of a network: synthesize this first, with the options of `synth`; of a list of sends: what it makes",
      ],
      "size",
      "view",
      "dialect",
      "placement",
      "instances",
      "parts",
      "threadBlocks",
      "hosts",
      "protocol",
      "minBytes",
      "maxBytes",
      [
        "sizes",
        "msccl-xml, mscclpp-json, mpi: a folder with the best program for each of these sizes, and up to where that of the next one is no slower",
      ],
      ...MEMBERS,
      ...NETWORK,
      ...MAKING_FOR_EXPORT,
    ],
  },
  run: {
    args: [["<FILE>", FILE.replace(/^.*or program/, "program")]],
    summary: "execute a program on real buffers in this process and check what it computes",
    options: [
      ["dtype", "i32 (default; compared bit for bit) or f32"],
      ["size", "nccl-tests size; default: the least that every chunk divides, about 1MiB"],
      ["placement", "in or out; default: all that the program is for"],
      ["seed", "seed of the order in which thread blocks run, default 1"],
    ],
  },
  probe: {
    args: [],
    summary: "measure what messages between processes take, alone and at once, and infer the network between them",
    options: [
      "np",
      "launch",
      "over",
      ["mpi", "openmpi or mpich; default: whose mpirun comes first"],
      "lab",
      [
        "size",
        "of the flows that bandwidths are measured with; default: as many bytes as take 64 latencies, 128KiB or more",
      ],
      ["repeats", "of an experiment at most; default: up to 41 of small messages, up to 15 of large ones"],
      "quick",
      "from",
      "raw",
      ["to", "what -o is: json, a banyan-topology (the default), or taccl, a TACCL profile"],
      ["output", `write the network ${AS_JSON_TOPOLOGY}`],
      ["collective", "with --lab: run it there by plans for the network as found, and as built"],
      ["algorithm", "of these; default auto"],
      ["sizes", "of these, default 1MiB,4MiB,16MiB"],
      "rate",
    ],
  },
  lab: {
    args: [
      ["[TOPO]", TOPO],
      ["[COMMAND...]", "behind --: a program that is run instead, one process per NPU"],
    ],
    summary:
      "build a small copy of a network on this machine, run schedules and the MPI library in it, beside what was predicted",
    options: [
      ["collective", COLLECTIVE],
      ["algorithm", "default auto (`banyan list algorithms`)"],
      ["sizes", "default 1MiB,4MiB,16MiB"],
      "root",
      "library",
      "mpi",
      "repeats",
      "rate",
      ["output", "a new folder for the plans; sizes at which the library was faster are left to it"],
      "clean",
      ...NETWORK,
    ],
  },
  explain: {
    args: [["<FILE>", FILE]],
    summary: "say in words what a schedule or program does, what limits it, and whether a runtime would use it",
    options: [
      ...NETWORK,
      ["collective", COLLECTIVE_OF_SENDS],
      ["size", "programs: would a runtime select it for this size? lists of sends: their size"],
      ["chunks", "of a list of sends: chunks per NPU; default: as many as its greatest chunk needs"],
      "root",
      "group",
      "dtype",
      ["target", "msccl, azure, rccl or mscclpp; default: all that read such files"],
      "log",
      ["topology", `programs: the network to find the limiting link in; lists of sends: their network: ${TOPO}`],
    ],
  },
  compare: {
    args: [["<TOPO>", TOPO]],
    summary: "compare algorithms by size: time, bandwidth, percentage of the limit",
    options: [
      ["collective", COLLECTIVE],
      "sizes",
      "algorithms",
      "with",
      "programs",
      [
        "target",
        "rank by what runs there, as programs: msccl, azure, rccl, mscclpp, mpi, or nccl, which runs its own alone",
      ],
      ["timeLimit", "for each line: what is not done by then is left out; solvers end with the best they have"],
      ["sketch", "taccl: what its lines may use, a TACCL sketch"],
      ...MEMBERS,
      "seed",
      ["trials", "most trials per phase"],
      ["switchDegree", "through switches: ports or a degree of unwinding; default: what is best"],
      "switching",
      ["k", "trees: copies per root, or auto"],
      "format",
      "output",
      ["details", "also why algorithms were left out"],
      ...NETWORK,
    ],
  },
  train: {
    args: [
      [
        "<MODEL>",
        "model (`banyan list models`), Hugging Face config.json, ASTRA-sim workload text, or folder of Chakra traces (.et)",
      ],
      ["<TOPO>", TOPO],
    ],
    summary: "what a training step takes, and what better collectives gain",
    options: [
      ...optionsOf("training"),
      ["algorithms", "who makes the collectives, a row each: library, best, ideal, or names; default these three"],
      ["trace", "write a Chrome/Perfetto trace of the step (ui.perfetto.dev)"],
      ["svg", "write a plot of where the time goes"],
      "output",
      ["details", "also every distinct communication, and the stages"],
      ...NETWORK,
    ],
  },
  plan: {
    args: [
      [
        "<MODEL>",
        "model (`banyan list models`), Hugging Face config.json, ONNX file, torch graph, or tensor graph as JSON",
      ],
      ["<TOPO>", TOPO],
    ],
    summary: "how the tensors of a training step lie on a network so that it is fastest",
    options: [
      ["batch", "samples of a step; not of graphs that are read, which have their own"],
      "seq",
      ["memory", "of an NPU: 80GiB; default: the accelerator's, less 6 % for runtimes"],
      ...optionsOf("planning"),
      "precision",
      "optimizer",
      "accelerator",
      ["algorithms", "who makes the collectives: library (default), best, ideal, or a name"],
      ["timeLimit", "of the searches, all together; default 60s"],
      ["trace", "write a Chrome/Perfetto trace of the step (ui.perfetto.dev)"],
      "chakra",
      "output",
      ["details", "also where every tensor lies, and every distinct collective"],
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
        "what ran: ring (default), tree or nvls as NCCL runs them, recursive-doubling, rabenseifner and others as MPI libraries do, or any of `banyan list algorithms`, whose schedules are then simulated",
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
  sweep: {
    args: [["<FILE>", "the sweep: axes, whose products are its tasks, in YAML"]],
    summary: "do thousands of tasks: networks, failures, collectives, sizes, options; goes on where it was",
    options: [
      ["output", "the sweep's folder; default: NAME.sweep"],
      "dryRun",
      "engine",
      "jobs",
      "memory",
      "retry",
      "status",
      "cancel",
      "store",
      "db",
    ],
  },
  worker: {
    args: [["<PLACE>", "redis://host:port, rediss:// for TLS; with --share the folder of a sweep's shares"]],
    summary: "do tasks of sweeps, anywhere: of a Redis server's queue, or one share of a folder; until Ctrl-C",
    options: ["concurrency", "memory", "grace", "share", "script"],
  },
  results: {
    args: [
      ["<PLACE>", "a sweep's folder, also of one that is going on, or its rows as .jsonl, .csv, .parquet or .duckdb"],
    ],
    summary: "query, pivot and plot what a sweep found, and name the task behind any cell",
    options: [
      "where",
      "columns",
      "sort",
      "limit",
      ["group", "a row for each combination of these columns, with --value of its rows"],
      "value",
      "pivot",
      "cell",
      "sql",
      "plot",
      "x",
      "y",
      "colour",
      ["output", "write them: NAME.csv, .json, .jsonl, .parquet, .duckdb, or a plot as .svg"],
    ],
  },
  atlas: {
    args: [
      ["<TOPO|lookup>", `${TOPO}; lookup: ask an atlas that is there`],
      ["[DIR]", "lookup: the folder of the atlas"],
    ],
    summary: "every failure planned ahead: what each costs, and a schedule ready for it; lookup finds it",
    options: [
      ["collective", "names with commas between: allgather,reducescatter,allreduce (`banyan list collectives`)"],
      "failures",
      "on",
      ["output", "the folder of the atlas, which is made or added to; lookup: write the schedule to this file"],
      "failed",
      "size",
      [
        "algorithm",
        "default forestcoll, whose trees are kept where a failure does not hit them (`banyan list algorithms`); or auto",
      ],
      ...MEMBERS,
      ...NETWORK,
      ...MAKING.filter((id) => !["algorithm", "sketch", "repair", "nvls"].includes(id)),
      "engine",
      "jobs",
      "memory",
      ["details", "also the failures that do least harm"],
    ],
  },
  serve: {
    args: [
      [
        "[FILE|TOPO]",
        'what the app opens: network, schedule or program, any file it can read ("-" reads standard input), or a preset (mesh:4x4, dgx-a100:2)',
      ],
    ],
    summary: "the app, for a browser on this machine; until Ctrl-C",
    options: ["port", "host"],
  },
  help: {
    args: [["[COMMAND]", "the command that the help is of; without it all of them"]],
    summary: "print the help of a command, or the manual page",
    options: ["man"],
  },
  completion: {
    args: [["<SHELL>", "bash, zsh or fish"]],
    summary: "print what completes command lines in a shell",
    options: [],
  },
  list: {
    args: [["<WHAT>", "presets, algorithms, collectives, formats, gpus, backends, models, accelerators"]],
    summary: "list presets, algorithms, collectives, formats, models, GPUs, ...",
    options: [
      ["topology", `algorithms: which can be used on a network, and what the others need: ${TOPO}`],
      ["collective", "algorithms, with --topology: for this collective"],
    ],
  },
};

/** What stands for the value of an option of one command. */
const VALUES: Readonly<Record<string, string>> = { "search size": "<sizes>", "results group": "<names>" };

/** An option of a command as it is written. */
export interface OptionUsage {
  readonly id: OptionId;
  readonly long: string;
  readonly short: string | null;
  /** What stands for its value. */
  readonly value: string | null;
  readonly help: string;
  readonly isRequired: boolean;
}

function optionUsage(taken: Taken, command: string): OptionUsage {
  const [asked, help] = typeof taken === "string" ? [taken, ROWS[taken].help] : taken;
  const id = asked.replace("!", "") as OptionId;
  const { short, isCalledShort, value } = ROWS[id];
  return {
    id,
    long: isCalledShort ? `--${id}` : flagOf(id),
    short: short === undefined ? null : `-${short}`,
    value: VALUES[`${command} ${id}`] ?? value ?? null,
    help,
    isRequired: asked.endsWith("!"),
  };
}

/** Returns the options of a command; those of every command without one. */
export const optionsOfCommand = (command?: CommandName): OptionUsage[] =>
  (command === undefined ? GLOBAL : USAGES[command].options).map((taken) => optionUsage(taken, command ?? ""));

/** Returns how an option is written: "-o, --output <file>". */
export const writtenOption = ({ short, long, value }: OptionUsage): string =>
  `${short === null ? "" : `${short}, `}${long}${value === null ? "" : ` ${value}`}`;

/** An option that has one value has two. */
export class GivenTwice extends Error {
  readonly usage: OptionUsage;
  readonly values: readonly [string, string];
  constructor(usage: OptionUsage, values: readonly [string, string]) {
    super(`${usage.long} is given twice`);
    this.usage = usage;
    this.values = values;
  }
}

/** Options that must be given, and whose commands ask for them themselves: after what is said of the others. */
const CHECKED_LATER: ReadonlySet<OptionId> = new Set(["output"]);

/** What no value looks like: an option that stands behind one is an option whose value was forgotten. */
const FLAGS: ReadonlySet<string> = new Set(
  [undefined, ...(Object.keys(USAGES) as CommandName[])].flatMap((name) =>
    optionsOfCommand(name).flatMap(({ long, short }) => [long, ...(short === null ? [] : [short])]),
  ),
);

/** Returns an option as commander reads it. */
function optionFor(usage: OptionUsage): Option {
  const { repeats, sets } = ROWS[usage.id];
  const option = new Option(writtenOption(usage), usage.help);
  if (usage.value !== null)
    option.argParser((text: string, before: string | undefined) => {
      if (FLAGS.has(text.split("=", 1)[0] as string))
        throw new CommanderError(2, "commander.optionMissingArgument", `'${writtenOption(usage)}' before '${text}'`);
      if (before === undefined) return text;
      if (repeats !== true) throw new GivenTwice(usage, [before, text]);
      return `${before},${text}`;
    });
  return sets === false ? option : option.makeOptionMandatory(usage.isRequired && !CHECKED_LATER.has(usage.id));
}

/** Returns the command line's grammar; `chosen` gets what was read. */
export function grammar(chosen: (command: CommandName, args: string[], options: Options) => void): Command {
  const program = new Command("banyan")
    .description(DESCRIPTION)
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .usage("<command> [options]")
    .configureHelp({ showGlobalOptions: true });
  for (const usage of optionsOfCommand()) program.addOption(optionFor(usage));
  for (const [name, { args, summary }] of Object.entries(USAGES) as [CommandName, Usage][]) {
    const command = program.command(name).description(summary).helpOption("-h, --help", "print this help");
    for (const [form, meaning] of args) command.argument(form, meaning);
    for (const usage of optionsOfCommand(name)) command.addOption(optionFor(usage));
    command.addHelpText(
      "after",
      () => `\n${NOTES[name] ?? ""}Examples:\n${EXAMPLES[name].map((line) => `  ${line}\n`).join("")}`,
    );
    command.action(() => chosen(name, command.args, command.optsWithGlobals()));
  }
  program.addHelpText("after", `\n${EXAMPLES.banyan.map((line) => `${line}\n`).join("")}`);
  return program;
}
