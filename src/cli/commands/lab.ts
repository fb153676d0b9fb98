import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { ALGORITHMS_COMMAND, type LibraryAlgorithm, mpichAlgorithms, openMpiAlgorithms } from "../../lab/algorithms.ts";
import { endedEarly, type JobResult, runJob, withoutMeaningless } from "../../lab/job.ts";
import { endLaboratory, type Laboratory, openLaboratory, runningLaboratories } from "../../lab/laboratory.ts";
import { type Launch, launchCommand } from "../../lab/launch.ts";
import { type LabNetwork, labNetwork, TIMED_LINKS, TIMED_NPUS } from "../../lab/network.ts";
import { type Forwarding, forwardingOf } from "../../lab/paths.ts";
import { buildScript } from "../../lab/script.ts";
import { hasAllFigures, hopFlows, predictedTopology, startUpFigures, startUpList } from "../../lab/start-up.ts";
import { readTimings } from "../../lab/timings.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { MPI_COLLECTIVES } from "../../model/program/mpi-plan.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { builtMpi, MPI_FLAVOURS, type MpiToolchain, mpiToolchain } from "../../mpi/toolchain.ts";
import { optionValue, wordOf } from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import { type Context, noteTaken, outJson, outLines, outRows } from "../context.ts";
import { outputFolder } from "../files/export-world.ts";
import { keptFiles, type Planned, simulatedPaths, sizesAsked, writePlans } from "../laboratory/plans.ts";
import { networkOf } from "../network.ts";
import { type LabReport, type LibraryTimes, labLines, labReport } from "../reports/lab-report.ts";

/** Jobs are ended after so long. */
const MOST_JOB_SECONDS = 180;
/** Calls before those that are timed: connections are made then. */
const WARM_UP = 1;
const USUAL_REPEATS = 5;
const LIBRARY = ["all", "own", "none"] as const;

/** `banyan lab TOPO`: a small copy of a network on this machine, and what runs in it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options } = context;
  if (options["clean"] === true) return clean(context);
  const [name, ...program] = args;
  if (name === undefined)
    throw new InputError("TOPO", "a network", name).as("missing").saying("the network is missing: banyan lab ring:4");
  const topology = await networkOf(name, options);
  noteTaken(context, topology);
  const rate = optionValue(options, "rate");
  const network = labNetwork(topology, rate === undefined ? null : rate * 8);
  const toolchain = mpiToolchain(wordOf(options, "mpi", MPI_FLAVOURS));
  const asked = {
    topology,
    network,
    toolchain,
    forwarding: forwardingOf(network.topology, simulatedPaths(network.topology)),
  };
  return program.length === 0 ? measure(context, asked) : runProgram(context, asked, program);
}

/** Ends laboratories whose starters are gone or stopped. */
function clean(context: Context): number {
  const found = runningLaboratories();
  const left = found.filter(({ orphaned }) => orphaned !== null);
  for (const one of left) endLaboratory(one);
  const inUse = found.filter(({ orphaned }) => orphaned === null);
  if (context.json) {
    const said = ({ network, starter, orphaned }: (typeof found)[number]) => ({
      ...{ topology: network, startedBy: starter, starterIs: orphaned ?? "at work" },
    });
    outJson(context, { schema: "banyan/lab-clean@1", ended: left.map(said), inUse: inUse.map(said) });
    return 0;
  }
  outRows(context, [
    ...left.map(
      ({ network, starter, orphaned }) =>
        `ended the laboratory of ${network}: process ${starter}, which started it, ${orphaned === "stopped" ? "is stopped" : "is no more"}`,
    ),
    ...inUse.map(({ network, starter }) => `left the laboratory of ${network}: process ${starter} is at work in it`),
    ...(found.length === 0 ? ["no laboratory runs; there is nothing to end"] : []),
  ]);
  return 0;
}

interface Asked {
  /** As it was asked for. */
  readonly topology: Topology;
  readonly network: LabNetwork;
  readonly toolchain: MpiToolchain;
  readonly forwarding: Forwarding;
}

/** Does some work in the laboratory of a network, and ends it. */
async function within<T>(
  context: Context,
  { topology, network, forwarding }: Asked,
  work: (laboratory: Laboratory) => Promise<T>,
): Promise<T> {
  context.progress({ what: "building the laboratory" });
  const laboratory = await openLaboratory(topology.name, buildScript(network, forwarding), context.signal);
  try {
    if (!network.isTimed)
      context.note(
        `${topology.npuCount} NPUs, ${linkCount(network.topology)} links: what runs here is right, but above ${TIMED_NPUS} NPUs or ${TIMED_LINKS} links its times say nothing`,
      );
    return await work(laboratory);
  } finally {
    await laboratory.close();
  }
}

/** Runs a program, one process per NPU; returns its exit code. */
const runProgram = (context: Context, asked: Asked, program: readonly string[]): Promise<number> =>
  within(context, asked, async (laboratory) => {
    const { topology, toolchain } = asked;
    const { command, env } = launchCommand({ toolchain, npuCount: topology.npuCount, program });
    const child = laboratory.start(command, { npu: 0, env, stdio: "inherit" });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => process.stderr.write(withoutMeaningless(text)));
    const code = await new Promise<number>((done) => {
      child.on("close", (status) => done(status ?? 1)).on("error", () => done(1));
    });
    context.signal.throwIfAborted();
    if (code !== 0 && (await laboratory.hasEnded())) throw endedEarly();
    return code;
  });

/** Measures a collective by schedules of ours and by the library, beside what was predicted. */
async function measure(context: Context, asked: Asked): Promise<number> {
  const { options } = context;
  const { network, toolchain, topology } = asked;
  const collective = namedCollective(optionValue(options, "collective") ?? "allgather", optionName("collective"));
  if (!(MPI_COLLECTIVES as readonly string[]).includes(collective))
    throw new InputError(optionName("collective"), `one that MPI has (${MPI_COLLECTIVES.join(", ")})`, collective).as(
      "not-applicable",
    );
  const library = wordOf(options, "library", LIBRARY) ?? "own";
  const sizesBytes = sizesAsked(options);
  const calls = {
    collective,
    sizesBytes,
    repeats: optionValue(options, "repeats") ?? USUAL_REPEATS,
    program: await builtMpi(toolchain, "time-calls"),
  };
  const [probe, runtime] = [await builtMpi(toolchain, "probe"), await builtMpi(toolchain, "runtime")];
  const hasAll = (out: string): boolean => readTimings(out).length === sizesBytes.length;
  const folder = mkdtempSync(join(tmpdir(), "banyan-lab-"));
  context.temporary.add(folder);
  const path = optionValue(options, "output");
  if (path !== undefined && library === "none")
    throw new InputError(optionName("output"), `${optionName("library")} own or all beside it`, "none")
      .as("not-together")
      .saying(
        `${optionName("output")} leaves the library what it does faster, which is not measured with ${optionName("library", " none")}`,
      );
  const kept = path === undefined ? null : outputFolder(context, path, optionName("output"));
  const report = await within(context, asked, async (laboratory): Promise<LabReport> => {
    const job = async (
      what: string,
      program: readonly string[],
      isDone: (out: string) => boolean,
      more: Partial<Launch> = {},
    ): Promise<JobResult> => {
      context.progress({ what });
      const launch = { toolchain: toolchain, npuCount: topology.npuCount, program, ...more };
      return runJob(laboratory, launch, { seconds: MOST_JOB_SECONDS, signal: context.signal, isDone });
    };
    const flows = hopFlows(network.topology, asked.forwarding);
    const list = join(folder, "list");
    writeFileSync(list, startUpList(flows, network.fastestBitsPerSecond));
    const measured = await job("measuring messages between neighbours", [probe, list], hasAllFigures);
    const delaySeconds = delayOf(laboratory, network);
    const figures = startUpFigures(measured, flows, network, delaySeconds);
    const working = predictedTopology(network.topology, figures, delaySeconds);
    const plans = join(folder, "plans");
    const made = await writePlans(context, working, collective, { sizesBytes, folder: plans });
    const { planned } = made;
    const own = await job("running the plans", timed(calls, planned), hasAll, {
      env: { LD_PRELOAD: runtime, BANYAN_PLANS: plans },
    });
    const times: LibraryTimes[] = [];
    const algorithms =
      library === "none"
        ? []
        : [OWN_CHOICE, ...(library === "all" ? await algorithmsOf(laboratory, asked, collective) : [])];
    for (const { name, settings } of algorithms) {
      const of = toolchain.flavour === "openmpi" ? { parameters: settings } : { env: settings };
      const result = await job(`running the library: ${name}`, timed(calls, planned), hasAll, of);
      times.push({
        name,
        isOwnChoice: name === OWN_CHOICE.name,
        failure: result.failure,
        timed: readTimings(result.out),
      });
    }
    const report = labReport({
      ...{ ...asked, figures, collective, planned, repeats: calls.repeats, library: times },
      ...{ hasDelays: laboratory.hasDelays, buildSeconds: laboratory.seconds },
      own: { failure: own.failure, timed: readTimings(own.out) },
    });
    kept?.write(keptFiles(made, (bytes) => isLeftToLibrary(report, bytes)));
    return report;
  }).finally(() => {
    rmSync(folder, { recursive: true, force: true });
    context.temporary.remove(folder);
  });
  const ok = report.sizes.every(({ measured }) => measured?.right === true);
  if (context.json) outJson(context, report, ok);
  else outLines(context, labLines(report, context.style));
  return ok ? 0 : 1;
}

/** Returns whether the library was faster at a size, or the plan not right. */
function isLeftToLibrary({ sizes }: LabReport, bytes: number): boolean {
  const one = sizes.find(({ sizeBytes }) => sizeBytes === bytes);
  return one?.measured?.right !== true || (one.overChoice ?? 1) < 1;
}

const OWN_CHOICE: LibraryAlgorithm = { name: "own choice", settings: {} };

interface Calls {
  readonly program: string;
  readonly collective: string;
  readonly sizesBytes: readonly number[];
  readonly repeats: number;
}

const timed = ({ program, collective, sizesBytes, repeats }: Calls, [first]: readonly Planned[]): string[] => [
  ...[program, "--collective", collective, "--root", `${first?.rootRank ?? 0}`, "--check"],
  ...sizesBytes.flatMap((bytes) => ["--bytes", `${bytes}`]),
  ...["--warmup", `${WARM_UP}`, "--repeats", `${repeats}`],
];

/** Returns the seconds that each link delays what it carries. */
const delayOf =
  ({ hasDelays }: Laboratory, { topology, factor }: LabNetwork) =>
  (link: number): number =>
    hasDelays ? (topology.linkLatencyPs[link] * factor) / PS_PER_SECOND : 0;

/** Returns the algorithms that the library can be told to use. */
async function algorithmsOf(
  laboratory: Laboratory,
  { toolchain, topology }: Asked,
  collective: string,
): Promise<LibraryAlgorithm[]> {
  const command = ALGORITHMS_COMMAND[toolchain.flavour];
  if (command === null) return mpichAlgorithms(collective);
  const child = laboratory.start(command);
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await new Promise((done) => child.on("close", done).on("error", done));
  return openMpiAlgorithms(text, collective, topology.npuCount);
}
