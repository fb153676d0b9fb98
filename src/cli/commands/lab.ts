import { InputError } from "../../base/errors.ts";
import { endLaboratory, type Laboratory, openLaboratory, runningLaboratories } from "../../lab/laboratory.ts";
import { launchCommand } from "../../lab/launch.ts";
import { type LabNetwork, labNetwork, TIMED_LINKS, TIMED_NPUS } from "../../lab/network.ts";
import { type Forwarding, forwardingOf } from "../../lab/paths.ts";
import { buildScript } from "../../lab/script.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { MPI_FLAVOURS, type MpiToolchain, mpiToolchain } from "../../mpi/toolchain.ts";
import { optionValue, wordOf } from "../../request/option-table.ts";
import { type Context, noteTaken, outJson, outRows } from "../context.ts";
import { networkOf } from "../network.ts";

/** What Open MPI says of its launcher on machines of few cores; it means nothing. */
const MEANINGLESS = /plm:rsh: Warning: setpgid/;

/** `banyan lab TOPO`: a small copy of a network on this machine, and what runs in it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options } = context;
  if (options["clean"] === true) return clean(context);
  const [name, ...program] = args;
  if (name === undefined)
    throw new InputError("TOPO", "a network", name).as("missing").saying("the network is missing: banyan lab ring:4");
  const toolchain = mpiToolchain(wordOf(options, "mpi", MPI_FLAVOURS));
  const topology = await networkOf(name, options);
  noteTaken(context, topology);
  const rate = optionValue(options, "rate");
  const network = labNetwork(topology, rate === undefined ? null : rate * 8);
  return runProgram(context, { topology, network, toolchain }, program);
}

/** Ends laboratories whose starters are gone or stopped. */
function clean(context: Context): number {
  const found = runningLaboratories();
  const left = found.filter(({ orphaned }) => orphaned !== null);
  for (const one of left) endLaboratory(one);
  const inUse = found.filter(({ orphaned }) => orphaned === null);
  if (context.json) {
    const said = ({ network, starter, orphaned }: (typeof found)[number]) => ({
      network,
      starter,
      starterIs: orphaned,
    });
    outJson(context, { schema: "banyan/lab-clean@1", ended: left.map(said), inUse: inUse.map(said) });
    return 0;
  }
  outRows(context, [
    ...left.map(
      ({ network, starter, orphaned }) =>
        `ended the laboratory of ${network}: process ${starter}, which started it, is ${orphaned === "stopped" ? "stopped" : "no more"}`,
    ),
    ...inUse.map(({ network, starter }) => `left the laboratory of ${network}: process ${starter} uses it`),
    ...(found.length === 0 ? ["no laboratory runs, so there is nothing to end"] : []),
  ]);
  return 0;
}

interface Asked {
  readonly topology: Topology;
  readonly network: LabNetwork;
  readonly toolchain: MpiToolchain;
}

/** Returns the laboratory of a network, and says what it is. */
async function opened(context: Context, { topology, network }: Asked, forwarding: Forwarding): Promise<Laboratory> {
  context.progress({ what: "building the laboratory" });
  const laboratory = await openLaboratory(topology.name, buildScript(network, forwarding), context.signal);
  if (!network.isTimed)
    context.note(
      `${topology.npuCount} NPUs and ${linkCount(network.topology)} links: with more than ${TIMED_NPUS} NPUs or ${TIMED_LINKS} links what runs here is right, but its times say nothing`,
    );
  return laboratory;
}

/** Runs a program, one process per NPU; returns its exit code. */
async function runProgram(context: Context, asked: Asked, program: readonly string[]): Promise<number> {
  const { topology, network, toolchain } = asked;
  const laboratory = await opened(context, asked, forwardingOf(network.topology, []));
  try {
    const { command, env } = launchCommand({ toolchain, npuCount: topology.npuCount, program });
    const child = laboratory.start(command, { npu: 0, env, stdio: "inherit" });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const lines = text.split(/(?<=\n)/).filter((line) => !MEANINGLESS.test(line));
      process.stderr.write(lines.join(""));
    });
    const code = await new Promise<number>((done) =>
      child.on("close", (status) => done(status ?? 1)).on("error", () => done(1)),
    );
    context.signal.throwIfAborted();
    return code;
  } finally {
    await laboratory.close();
  }
}
