import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { ALGORITHMS_COMMAND, type LibraryAlgorithm, mpichAlgorithms, openMpiAlgorithms } from "../../lab/algorithms.ts";
import { endedEarly, withoutMeaningless } from "../../lab/job.ts";
import { endLaboratory, type Laboratory, runningLaboratories } from "../../lab/laboratory.ts";
import { launchCommand } from "../../lab/launch.ts";
import { TIMED_LINKS, TIMED_NPUS } from "../../lab/network.ts";
import { readTimings } from "../../lab/timings.ts";
import { linkCount } from "../../model/topology/topology.ts";
import { optionValue, wordOf } from "../../request/option-table.ts";
import { type Context, outJson, outLines, outRows } from "../context.ts";
import { outputFolder } from "../files/export-world.ts";
import { type AskedLaboratory, askedLaboratory, built, mpiCollective } from "../laboratory/asked.ts";
import { type PacedLaboratory, pacedLaboratory } from "../laboratory/paced.ts";
import { keptFiles, sizesAsked, writePlans } from "../laboratory/plans.ts";
import { byPlans, timeCalls, USUAL_REPEATS } from "../laboratory/timed-calls.ts";
import { type LabReport, type LibraryTimes, labLines, labReport } from "../reports/lab-report.ts";

const LIBRARY = ["all", "own", "none"] as const;

/** `banyan lab TOPO`: a small copy of a network on this machine, and what runs in it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options } = context;
  if (options["clean"] === true) return clean(context);
  const [name, ...program] = args;
  if (name === undefined)
    throw new InputError("TOPO", "a network", name).as("missing").saying("the network is missing: banyan lab ring:4");
  const asked = await askedLaboratory(context, name);
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

/** Does some work in a laboratory, and ends it. */
async function within<T>(
  context: Context,
  { network, topology }: AskedLaboratory,
  laboratory: Laboratory,
  work: () => Promise<T>,
): Promise<T> {
  try {
    if (!network.isTimed)
      context.note(
        `${topology.npuCount} NPUs, ${linkCount(network.topology)} links: what runs here is right, but above ${TIMED_NPUS} NPUs or ${TIMED_LINKS} links its times say nothing`,
      );
    return await work();
  } finally {
    await laboratory.close();
  }
}

/** Runs a program, one process per NPU; returns its exit code. */
async function runProgram(context: Context, asked: AskedLaboratory, program: readonly string[]): Promise<number> {
  const laboratory = await built(context, asked);
  return within(context, asked, laboratory, async () => {
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
}

/** Measures a collective by schedules of ours and by the library, beside what was predicted. */
async function measure(context: Context, first: AskedLaboratory): Promise<number> {
  const { options, signal } = context;
  const collective = mpiCollective(options) ?? "allgather";
  const library = wordOf(options, "library", LIBRARY) ?? "own";
  const sizesBytes = sizesAsked(options);
  const repeats = optionValue(options, "repeats") ?? USUAL_REPEATS;
  const path = optionValue(options, "output");
  if (path !== undefined && library === "none")
    throw new InputError(optionName("output"), `${optionName("library")} own or all beside it`, "none")
      .as("not-together")
      .saying(
        `${optionName("output")} leaves the library what it does faster, which is not measured with ${optionName("library", " none")}`,
      );
  const kept = path === undefined ? null : outputFolder(context, path, optionName("output"));
  const folder = mkdtempSync(join(tmpdir(), "banyan-lab-"));
  context.temporary.add(folder);
  const inside = async ({ asked, laboratory, figures, working }: PacedLaboratory): Promise<LabReport> => {
    const { toolchain, topology } = asked;
    const { npuCount } = topology;
    const plans = join(folder, "plans");
    const made = await writePlans(context, working, collective, { sizesBytes, folder: plans });
    const { planned } = made;
    const calls = { toolchain, npuCount, collective, planned, repeats, signal };
    context.progress({ what: "running the plans" });
    const own = await timeCalls(laboratory, calls, await byPlans(toolchain, plans));
    const times: LibraryTimes[] = [];
    const algorithms =
      library === "none"
        ? []
        : [OWN_CHOICE, ...(library === "all" ? await algorithmsOf(laboratory, asked, collective) : [])];
    for (const { name, settings } of algorithms) {
      const of = toolchain.flavour === "openmpi" ? { parameters: settings } : { env: settings };
      context.progress({ what: `running the library: ${name}` });
      const result = await timeCalls(laboratory, calls, of);
      times.push({
        name,
        isOwnChoice: name === OWN_CHOICE.name,
        failure: result.failure,
        timed: readTimings(result.out),
      });
    }
    const report = labReport({
      ...{ ...asked, figures, collective, planned, repeats, library: times },
      ...{ hasDelays: laboratory.hasDelays, buildSeconds: laboratory.seconds },
      own: { failure: own.failure, timed: readTimings(own.out) },
    });
    if (kept === null) return report;
    const files = keptFiles(made, (bytes) => isLeftToLibrary(report, bytes));
    kept.write(files);
    const leftToLibrary = sizesBytes.filter((bytes) => isLeftToLibrary(report, bytes));
    return { ...report, plans: { folder: kept.path, files: files.map(({ name }) => name), leftToLibrary } };
  };
  const work = async (): Promise<LabReport> => {
    const paced = await pacedLaboratory(context, first, folder);
    return within(context, paced.asked, paced.laboratory, () => inside(paced));
  };
  const report = await work().finally(() => {
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

/** Returns the algorithms that the library can be told to use. */
async function algorithmsOf(
  laboratory: Laboratory,
  { toolchain, topology }: AskedLaboratory,
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
