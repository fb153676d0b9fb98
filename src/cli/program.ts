import { Command, CommanderError, Option } from "commander";
import type { Options } from "../request/option-texts.ts";
import { refusedCommandLine } from "./failure.ts";
import { EXAMPLES, NOTES } from "./help.ts";
import type { CommandName, Failure, Job } from "./protocol.ts";
import { showsColors } from "./reports/style.ts";
import { version } from "./version.ts";

/** Joins the values of an option that is given several times. */
const joined = (value: string, before: string | undefined): string =>
  before === undefined ? value : `${before},${value}`;

const TOPO = "preset (mesh:4x4, dgx-a100:2), construction ('L(K(4,4))') or topology file";

/** Adds the options of every command that takes a network. */
function networkOptions(command: Command): Command {
  return command
    .option("--without <ids>", "leave out NPUs, switches and links: 7,sw0,3>4,5-6", joined)
    .option(
      "--degrade <factors>",
      "slow links down: a-b=0.5 keeps half of its bandwidth; a node stands for its links",
      joined,
    )
    .option("--gpu <name>", "model of the GPUs where a file does not tell it: a100, h100, mi250, ...")
    .option(
      "--assume <figures>",
      "figures that a file lacks: nvlink=25GB/s, xgmi, pcie, socket, nic, leaf, spine, latency=1us",
      joined,
    )
    .option("--nodes <n>", "number of boxes of a TACCL topology or of an nvidia-smi matrix")
    .option(
      "--profile-size <size>",
      "size that the costs of a TACCL file are for (its KB and MB are 2^10 and 2^20 bytes)",
    )
    .option("--profile-scale <n>", "the costs of a TACCL file are in 1/n us");
}

/** Adds the options that say how it is synthesized. */
function synthesisOptionsOf(command: Command): Command {
  return command
    .option(
      "--algorithm <name>",
      "tacos (default), forestcoll, themis, ring, ... (`banyan list algorithms`), or auto: the fastest of those that apply",
    )
    .option("--seed <n>", "seed of the random choices, default 1")
    .option(
      "--trials <n>",
      "most trials per phase (an all-reduce has two, and 32 tries a trial to overlap them); default min(64, 1e7 / transfers); ends early at the bound",
    )
    .option("--policy <name>", "only this policy of the algorithm; expand: expansion or bfb")
    .option(
      "--switch-degree <d>",
      "through switches: ports (matched slot by slot) or a degree of unwinding; default: what is best",
    )
    .option(
      "--k <n>",
      "trees: copies per root; default: as many as the optimum needs; auto: what is fastest at this size",
    )
    .option("--offload", "phases (themis, blueconnect): switches that can sum and duplicate do so")
    .option("--no-nvls", "leave switches that duplicate and reduce out: of what trees report, and of MSCCL++ plans")
    .option(
      "--eulerian <what>",
      "trees where a node has more bandwidth in than out: trim (use less, so that all are balanced) or switches (only they need be)",
    );
}

/** Adds the options that say what is communicated. */
function collectiveOptions(command: Command): Command {
  return command
    .option(
      "--chunks <n>",
      "chunks per NPU (of the whole buffer for broadcast and reduce), default 1; trees: pieces of what each carries, default auto; synth and compare: auto tries 1, 2, 4, ...",
    )
    .option("--root <npu>", "root of broadcast, reduce, gather and scatter, default the first of the group")
    .option("--group <ids>", "only these NPUs take part, in this order; several groups: a,b;c,d")
    .option("--outsiders <what>", "NPUs outside the groups relay chunks (relay, the default) or are left out (none)");
}

const SWITCHING = "cut-through or store-and-forward, default: by the schedule's routes";
const COLLECTIVE = "allgather, allreduce, ... (`banyan list collectives`)";

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
    .configureHelp({ showGlobalOptions: true })
    .option("--json", "print one JSON object on standard output")
    .option("--quiet", "no progress, no notes, and no report where a file is written")
    .option("--backend <name>", "native, wasm or js; default: the first that loads (BANYAN_BACKEND)")
    .option("--threads <n>", "worker threads for large work, default: every core; results do not depend on it")
    .option("--debug", "show where an error came from");

  const add = (name: CommandName, usage: string, summary: string): Command => {
    const command = program
      .command(`${name} ${usage}`)
      .description(summary)
      .helpOption("-h, --help", "print this help");
    command.addHelpText(
      "after",
      () => `\n${NOTES[name] ?? ""}Examples:\n${EXAMPLES[name].map((line) => `  ${line}\n`).join("")}`,
    );
    command.action(() => chosen(name, command.args, command.optsWithGlobals()));
    return command;
  };

  networkOptions(add("topology", "<TOPO>", "show a network, its wiring and where its figures come from")).option(
    "-o, --output <file>",
    "write it as a banyan-topology JSON file",
  );

  networkOptions(
    collectiveOptions(
      add("bound", "<TOPO>", "prove how fast a collective can be at best, and say what limits it")
        .requiredOption("--collective <name>", `${COLLECTIVE}, or custom:FILE`)
        .option("--size <size>", "nccl-tests size: 1GiB, 64MB, 4096; default 1GiB"),
    ).option(
      "--switch-degree <d>",
      "routes through switches for the bound of whole transfers: ports, or degree of unwinding",
    ),
  );

  synthesisOptionsOf(
    networkOptions(
      collectiveOptions(
        add("synth", "<TOPO>", "make a schedule; verify, simulate and bound it")
          .option("--collective <name>", `${COLLECTIVE}, or custom:FILE`)
          .option("--collectives <file>", "several at once: a JSON list of kind, size, chunks, root, group")
          .option("--size <size>", "nccl-tests size: 1GiB, 64MB, 4096; default 1GiB"),
      ),
    ),
  )
    .option(
      "--time-limit <time>",
      "auto: try no further algorithm after it, default 10s; taccl, tacos-ilp, sccl: how long they solve, default 60s",
    )
    .option(
      "--sketch <file>",
      "taccl: what the schedule may use, a TACCL sketch; default: several are proposed and tried",
    )
    .option("--repair <file>", "trees: keep those of this file, made before something failed, that did not use it")
    .option("--simulate", "simulate also above 1e8 transfers")
    .option("--switching <mode>", SWITCHING)
    .option("-o, --output <file>", "write the schedule: NAME.bys for large ones, else as a banyan-schedule JSON file");

  networkOptions(
    add("verify", "<FILE>", "judge a schedule or a program: exit code 1 and every violation where it is wrong")
      .option("--topology <TOPO>", `refuse a schedule for another network: ${TOPO}`)
      .option("--target <runtime>", "programs: also hold it against the limits of msccl, azure, rccl or mscclpp")
      .option("--record <file>", "where it is correct, write down what was verified: kind, bytes, hashes, time, limit")
      .option("--record-of <file>", "is it still what this record says? exit code 1 and every difference where not"),
  );

  networkOptions(
    add("simulate", "<FILE>", "replay a schedule, or run a program, in the congestion-aware network")
      .option("--topology <TOPO>", `refuse a schedule for another network; programs: where they run: ${TOPO}`)
      .option("--size <size>", "programs: nccl-tests size, default 1GiB")
      .option("--group <ids>", "programs: the NPUs of ranks 0, 1, 2 ...; default the first ones")
      .option("--switching <mode>", SWITCHING)
      .option(
        "--reference",
        "the published analytical model: store-and-forward in whole nanoseconds, no planned order on links",
      )
      .option("--chunks <n>", "trees: pieces of what each carries; default: what is fastest")
      .option("--trace <file>", "write a Chrome/Perfetto trace (ui.perfetto.dev)"),
  );

  synthesisOptionsOf(
    networkOptions(
      collectiveOptions(
        add("export", "<FILE|TOPO>", "write a schedule, program or network in another format")
          .requiredOption(
            "--to <format>",
            "json, bys, msccl-xml, mscclpp-json, html, report, svg, ...: `banyan list formats`",
          )
          .requiredOption("-o, --output <file>", "the file, or for formats of several files the folder, to write")
          .option("--topology <TOPO>", `refuse a schedule for another network: ${TOPO}`)
          .option("--collective <name>", "of a network: synthesize this first, with the options of `synth`")
          .option("--size <size>", "nccl-tests size: 1GiB, 64MB, 4096; default 1GiB")
          .option("--view <name>", "svg: topology, trees, links (how busy) or time")
          .option("--dialect <name>", "msccl-xml: msccl, azure (default) or rccl")
          .option("--placement <what>", "programs: in place (in), out of place (out), or fit for either (both)")
          .option("--instances <n>", "programs: cut every chunk in n, each with its own thread blocks and channels")
          .option(
            "--parts <n>",
            "msccl-xml of trees: parts into which each tree's data is cut, 1 to 64; default: what is fastest",
          )
          .option(
            "--thread-blocks <n>",
            "msccl-xml of trees: blocks on a GPU before trees share them, default 100 (an H100: 132)",
          )
          .option("--protocol <name>", "programs: Simple (default), LL or LL128")
          .option("--min-bytes <size>", "programs: smallest size that the runtime may use it for")
          .option("--max-bytes <size>", "programs: greatest size that the runtime may use it for")
          .option(
            "--sizes <list>",
            "msccl-xml, tuner: the best algorithm for each of these sizes and those up to the next",
          ),
      ),
    ),
  );

  add("run", "<FILE>", "execute a program on real buffers in this process and check what it computes")
    .option("--dtype <type>", "i32 (default; compared bit for bit) or f32")
    .option("--size <size>", "nccl-tests size; default: the least that every chunk divides, about 1MiB")
    .option("--placement <what>", "in or out; default: all that the program is for")
    .option("--seed <n>", "seed of the order in which thread blocks run, default 1");

  networkOptions(
    add(
      "explain",
      "<FILE>",
      "say in words what a schedule or program does, what limits it, and whether a runtime would use it",
    ),
  )
    .option("--size <size>", "would a runtime select it for this size?")
    .option("--dtype <type>", "type of the elements: f16, bf16, f32 (default), i32, ...")
    .option("--target <runtime>", "msccl, azure, rccl or mscclpp; default: all that read such files")
    .option("--log <file>", "a debug log of NCCL or RCCL: was the program selected, and if not, why?")
    .option("--topology <TOPO>", `programs: the network to find the limiting link in: ${TOPO}`);

  networkOptions(
    collectiveOptions(
      add("compare", "<TOPO>", "compare algorithms by size: time, bandwidth, percentage of the limit")
        .requiredOption("--collective <name>", COLLECTIVE)
        .requiredOption("--sizes <list>", "nccl-tests sizes: 1KiB,1MiB,1GiB")
        .option("--algorithms <list>", "default: all that make the collective and apply to the network"),
    )
      .option("--seed <n>", "seed of the random choices, default 1")
      .option("--trials <n>", "most trials per phase")
      .option("--switch-degree <d>", "through switches: ports or a degree of unwinding; default: what is best")
      .option("--switching <mode>", SWITCHING)
      .option("--k <n>", "trees: copies per root, or auto")
      .option("--eulerian <what>", "trees where a node has more bandwidth in than out: trim or switches")
      .addOption(
        new Option(
          "--format <name>",
          "table (default), csv, json, nccl-tests (its columns), nccl-tests-json (its -J), tuner (NCCL's plugin), svg (a plot)",
        ),
      )
      .option("-o, --output <file>", "write it to a file"),
  );

  networkOptions(
    add("calibrate", "<TOPO> <LOG...>", "fit latencies and bandwidths of a network's links to output of nccl-tests")
      .option("--collective <name>", "only logs of this one; needed where they do not tell theirs")
      .option("--algorithm <name>", "what the library ran: ring (default), tree or nvls")
      .option("--platform <name>", "rows of this platform, of a table of measured points")
      .option("--regimes <n>", "also split the sizes into so many ranges with a line of their own, default 1")
      .option("--size <size>", "with --regimes: the figures of the range that this size is in")
      .option("-o, --output <file>", "write the network with the fitted figures as a banyan-topology JSON file"),
  );

  add("search", "", "find the best networks of so many nodes and ports: graphs, their expansions and schedules")
    .option("--nodes <n>", "nodes of the network, 2 to 10000")
    .option("--degree <d>", "links that leave each node, and as many enter it, 1 to 128")
    .option("--bidirectional", "only networks whose links come in opposite pairs")
    .option("--alpha <time>", "latency of a comm step, default 10us")
    .option("--bandwidth <rate>", "of all links of a node together, default 100Gbps")
    .option("--size <sizes>", "nccl-tests size, or sizes with weights: 1MiB:3,64MiB:1; default 1MiB")
    .option("--collective <name>", "the best network for allreduce (default), allgather, reducescatter or alltoall")
    .option("--verify", "make and judge the schedule of every network, and compare it with what was predicted")
    .option("--alltoall", "also find how fast an all-to-all can be on every network")
    .option("--all", "the networks of all sizes up to --max-nodes for all --degrees, kept for later searches")
    .option("--max-nodes <n>", "with --all, default 2000")
    .option("--degrees <list>", "with --all, default 2,4,8,16")
    .option("--no-cache", "neither use nor keep what searches found (BANYAN_CACHE_DIR, XDG_CACHE_HOME)")
    .option("--svg <file>", "write a plot of the networks")
    .option("-o, --output <file>", "write the report as JSON; NAME.svg: the plot");

  add("serve", "[FILE]", "the app, for a browser on this machine; until Ctrl-C")
    .option("--port <n>", "port, 0 for any that is free; default: 8420, or the next that is free")
    .option("--host <address>", "address to listen on, default 127.0.0.1: this machine only");

  add("list", "<WHAT>", "list presets, algorithms, collectives, formats, gpus or backends")
    .option("--topology <TOPO>", `algorithms: which can be used on a network, and what the others need: ${TOPO}`)
    .option("--collective <name>", "algorithms, with --topology: for this collective");

  for (const command of program.commands) {
    const [first] = command.registeredArguments;
    if (first?.name() === "TOPO") first.description = TOPO;
    if (command.name() === "serve")
      (first as NonNullable<typeof first>).description =
        'network, schedule or program that the app opens, any file it can read; "-" reads standard input';
    else if (first?.name() === "FILE")
      first.description = `${command.name() === "run" ? "" : "schedule file, JSON or .bys, or "}program: MSCCL XML or MSCCL++ JSON; "-" reads standard input`;
    if (first?.name() === "FILE|TOPO") first.description = `file of a schedule or program, or ${TOPO}`;
    if (command.name() === "calibrate")
      (command.registeredArguments[1] as NonNullable<typeof first>).description =
        'output of nccl-tests or rccl-tests, text or JSON (-J), or a table of points; "-" reads standard input';
    if (first?.name() === "WHAT") first.description = "presets, algorithms, collectives, formats, gpus, backends";
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
