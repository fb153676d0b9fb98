import { InputError } from "../../base/errors.ts";
import { recordJsonParts } from "../../export/measurements/record-json.ts";
import { topologyToTaccl } from "../../export/networks/taccl-topology.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { readProbeRecord } from "../../import/measurements/record-json.ts";
import { findingsOf } from "../../infer/findings.ts";
import { inferNetwork } from "../../infer/infer.ts";
import { parseSize } from "../../model/numbers/units.ts";
import type { Measurement, Prober } from "../../model/probe/measurements.ts";
import type { ProbeRecord } from "../../model/probe/record.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { MPI_FLAVOURS, mpiToolchain } from "../../mpi/toolchain.ts";
import type { ProberOptions } from "../../probe/job-prober.ts";
import { openMpiProber } from "../../probe/mpi-prober.ts";
import { recording, replaying } from "../../probe/recorded.ts";
import { openTorchProber, TORCH_BACKENDS } from "../../probe/torch-prober.ts";
import { type Options, optionValue, placeOf, refuseOptions, textOf, wordOf } from "../../request/option-table.ts";
import { refuseEnding } from "../../run/export/endings.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { nameOf, readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { type LabProbe, openLabProbe } from "../laboratory/lab-probe.ts";
import { probeLines, probeReport } from "../reports/probe-report.ts";
import { labelled } from "../reports/text.ts";

/** --quick: repeats of an experiment at most, and random mixes that the network is held against. */
const QUICK_REPEATS = 5;
const QUICK_MIXES = 8;
const QUICK_BYTES = 2 ** 20;
/** How long a launcher may take to end its processes after Ctrl-C, ms. */
const GRACE_MS = 7_000;
/** Late repeats of which this part is said to be many. */
const MANY_LATE = 0.1;
const OVER = ["mpi", ...TORCH_BACKENDS] as const;

/** What measures, how it is called, and what is to be done at last. */
interface Source {
  readonly prober: Prober;
  readonly by: string;
  /** What was asked for when it was measured; absent where it is measured now. */
  readonly asked?: ProbeRecord["asked"];
  readonly lab?: LabProbe;
  close(): void | Promise<void>;
}

/** `banyan probe`: measures flows between processes, and infers the network between them; -o writes it. */
export async function run(context: Context): Promise<number> {
  const { options, json, quiet } = context;
  const format = wordOf(options, "to", ["json", "taccl"]) ?? "json";
  const paths = { output: textOf(options, "output"), raw: textOf(options, "raw") };
  for (const path of Object.values(paths)) if (path !== undefined) refuseEnding(path, [".json"]);
  const output = paths.output === undefined ? undefined : outputFile(context, paths.output, placeOf("output"));
  const raw = paths.raw === undefined ? undefined : outputFile(context, paths.raw, placeOf("raw"));
  const count = { late: 0, repeats: 0 };
  const source = await sourceOf(context, (late, repeats) => {
    count.late += late;
    count.repeats += repeats;
  });
  const kept: Measurement[] = [];
  try {
    const { prober, by } = source;
    const quickly = options["quick"] === true;
    const repeats = optionValue(options, "repeats") ?? (quickly ? QUICK_REPEATS : undefined);
    const asked = source.asked ?? askedOf(options);
    const { endpoints, resolutionS } = prober;
    const found = await inferNetwork(recording(prober, kept, repeats), {
      ...(asked.bytes !== null && { bytes: asked.bytes }),
      ...(asked.mixes !== null && { mixes: asked.mixes }),
      name: textOf(options, "lab") === undefined ? "probed" : `probed ${textOf(options, "lab")}`,
    }).finally(() => {
      // measurements take long: they are kept also where nothing can be made of them
      if (kept.length > 0) raw?.write(recordJsonParts({ by, asked, resolutionS, endpoints, measurements: kept }));
    });
    output?.write(partsOf(found.topology, format));
    const { late, repeats: all } = count;
    if (late > all * MANY_LATE)
      context.note(`${late} of ${all} repeats began late on some process: machines are busy, and errors greater`);
    const probed = { by, endpoints, resolutionS, topology: found.topology, findings: findingsOf(found) };
    const loop = await source.lab?.compare(found);
    const files = [output, raw].flatMap((file, i) =>
      file === undefined ? [] : [labelled(i === 0 ? "file" : "raw", file.path)],
    );
    if (json) outJson(context, { ...probeReport(probed), ...(loop !== undefined && { loop: loop.report }) });
    else if (!(quiet && output !== undefined))
      outLines(
        context,
        [
          ...probeLines(probed),
          ...(loop === undefined ? [] : ["", ...loop.lines]),
          ...(files.length === 0 ? [] : ["", ...files]),
        ].map((line) => `  ${line}`),
      );
    return 0;
  } finally {
    await source.close();
  }
}

/** Returns what the options ask for. */
function askedOf(options: Options): ProbeRecord["asked"] {
  const size = textOf(options, "size");
  const quickly = options["quick"] === true;
  return {
    bytes: size === undefined ? (quickly ? QUICK_BYTES : null) : parseSize(size, placeOf("size")),
    mixes: quickly ? QUICK_MIXES : null,
  };
}

function* partsOf(topology: Topology, format: "json" | "taccl"): Generator<string> {
  if (format === "taccl") {
    yield topologyToTaccl(topology);
    return;
  }
  yield* topologyJsonParts(topology);
  yield "\n";
}

/** Opens what measures: a file, a laboratory, or processes. Throws InputError. */
async function sourceOf(context: Context, onLate: NonNullable<ProberOptions["onLate"]>): Promise<Source> {
  const { options, signal } = context;
  const from = textOf(options, "from");
  if (from !== undefined) {
    refuseOptions(
      options,
      ["np", "launch", "over", "lab", "mpi", "raw", "size", "repeats", "quick"],
      "nothing, beside --from, which measures nothing",
    );
    const record = readProbeRecord(readText(from, placeOf("from")), nameOf(from));
    return { prober: replaying(record, nameOf(from)), by: record.by, asked: record.asked, close: () => undefined };
  }
  context.grace(GRACE_MS);
  const asked: ProberOptions = {
    signal,
    onProgress: ({ done, total }) => context.progress({ what: "measuring", done, total, unit: "repeats" }),
    onLate,
  };
  const launch = textOf(options, "launch");
  const processes = optionValue(options, "np");
  const lab = textOf(options, "lab");
  const over = wordOf(options, "over", OVER) ?? "mpi";
  if ([launch, processes, lab].filter((one) => one !== undefined).length > 1)
    throw new InputError(
      placeOf(lab === undefined ? "launch" : "lab"),
      "one of --np, --launch and --lab",
      lab ?? launch,
    ).as("not-together");
  const flavour = wordOf(options, "mpi", MPI_FLAVOURS);
  if (lab !== undefined) {
    refuseOptions(options, ["over"], "nothing, beside --lab, in which messages go over MPI");
    const opened = await openLabProbe(context, lab, asked);
    return { prober: opened.prober, by: opened.by, lab: opened, close: opened.close };
  }
  refuseOptions(options, ["rate", "collective", "sizes", "algorithm"], "given with --lab", "not-alone");
  if (launch === undefined && processes === undefined)
    throw new InputError(placeOf("launch"), "--launch COMMAND, which starts the processes, or --np N on this machine")
      .as("missing")
      .saying(
        "nothing says where the processes are: --launch 'mpirun -np 8 --hostfile hosts' starts them anywhere, --np 4 on this machine, and --from FILE infers from measurements",
      );
  const places = { ...(launch !== undefined && { launch }), ...(processes !== undefined && { processes }) };
  if (over === "mpi") {
    const { version, launcher } = mpiToolchain(flavour);
    const prober = await openMpiProber({ ...places, ...(flavour !== undefined && { flavour }) }, asked);
    return { prober, by: `${version}: ${launch ?? `${launcher} -np ${processes}`}`, close: () => undefined };
  }
  refuseOptions(options, ["mpi"], "nothing, beside --over gloo or nccl");
  const { prober, close } = await openTorchProber({ backend: over, ...places }, asked);
  return { prober, by: `torch.distributed over ${over}: ${launch ?? `${processes} processes here`}`, close };
}
