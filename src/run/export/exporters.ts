import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { jsonText } from "../../base/visible.ts";
import { forestCapacity } from "../../export/networks/forest-capacity.ts";
import { ringGraphXml } from "../../export/networks/graph-file.ts";
import { infragraphParts } from "../../export/networks/infragraph.ts";
import { ns3Topology, simaiTopology } from "../../export/networks/ns3.ts";
import { sketchToJson } from "../../export/networks/taccl-sketch.ts";
import { teCclTopology } from "../../export/networks/te-ccl.ts";
import { topologyJsonParts } from "../../export/networks/topology-json.ts";
import { jaxProgram } from "../../export/programs/jax-program.ts";
import { torchProgram } from "../../export/programs/torch-program.ts";
import { forestTrees } from "../../export/schedules/forest-trees.ts";
import { perfettoTrace } from "../../export/schedules/perfetto.ts";
import { sendsCsvParts } from "../../export/schedules/sends-csv.ts";
import {
  astraBackendFor,
  astraFiles,
  astraNetwork,
  chakraFiles,
  chakraWorkload,
  type OutputFile,
} from "../../export/simulators/astra.ts";
import type { AstraBackend } from "../../export/simulators/astra-backend.ts";
import { asSteps, expanded, stepsFor } from "../../kinds/expand.ts";
import type { Kind } from "../../kinds/kind.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { formatTime, PS_PER_NS } from "../../model/numbers/units.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { ringDecomposition } from "../../model/routes/rings.ts";
import { proposedSketches } from "../../model/sketch/proposals.ts";
import { aboutBytes } from "../../model/steps/estimate.ts";
import { transfersOf, withoutPhases } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { spelt, unknownName } from "../../model/topology/closest.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { isTreeFlow, listedTrees } from "../../model/trees/tree-flow.ts";
import { count } from "../../report/amounts.ts";
import { toldOf } from "../../report/claims.ts";
import { aboutOf } from "../../report/result.ts";
import { type Exporter, lacksMessages, type Written } from "./exporter.ts";
import { PICTURE_EXPORTERS } from "./pictures.ts";
import { PROGRAM_EXPORTERS } from "./programs.ts";
import { type ScheduleFormat, writeSchedule, writeShown } from "./schedule-output.ts";
import type { ScheduleSubject } from "./subject.ts";
import type { World } from "./world.ts";

function writeFolder(world: World, path: string, files: () => Iterable<OutputFile>): Written {
  const folder = world.folder(path);
  let many = 0;
  function* counted(): Generator<{ readonly name: string; readonly parts: readonly Uint8Array[] }> {
    for (const { name, bytes } of files()) {
      many++;
      yield { name, parts: [bytes] };
    }
  }
  const bytes = folder.write(counted());
  return { bytes, what: count(many, "file"), facts: { files: many } };
}

/** A format that writes a network as one text; of a schedule, the network that it is for. */
function networkExporter(
  name: string,
  extension: string,
  description: string,
  text: (topology: Topology) => string | Iterable<string>,
): Exporter {
  const write = (world: World, topology: Topology, path: string): Written => {
    const written = text(topology);
    const bytes = world.file(path).write(typeof written === "string" ? [written] : written);
    return { bytes, what: count(linkCount(topology), "link") };
  };
  return {
    name,
    extension,
    description,
    fromNetwork: (world, { topology }, path) => write(world, topology, path),
    fromSchedule: (world, { schedule }, path) => write(world, schedule.topology, path),
  };
}

/** Returns what ASTRA-sim should print, and what that is taken from; its links store what they forward. */
function expectedOf(schedule: StepSchedule, { congestion, early }: AstraBackend): string {
  const aware = congestion === "aware";
  const kind = kindOf(schedule);
  const ps = aware ? (kind.simulate({ switching: "store-and-forward" })?.ps ?? 0) : kind.endPs();
  const by = aware ? "simulated, store-and-forward" : "as planned";
  return `expected: ${early ? "at most" : "about"} ${Math.round(ps / PS_PER_NS)} cycles of 1 ns (${formatTime(ps)}, ${by})`;
}

const SIMULATOR_EXPORTERS: readonly Exporter[] = [
  {
    name: "chakra",
    runs: true,
    extension: "",
    folder: true,
    description: "a folder of Chakra execution traces, one for each NPU, and the workload that starts them",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const steps = stepsFor(subject, "chakra");
      return writeFolder(world, path, function* () {
        yield* chakraFiles(steps, "collective", "data");
        yield* chakraWorkload(steps, "workload");
      });
    },
  },
  {
    name: "astra-sim",
    runs: true,
    extension: "",
    folder: true,
    description: "a folder of all that ASTRA-sim needs to run a schedule: traces, network, system, memory, command",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const steps = stepsFor(subject, "astra-sim");
      const backend = astraBackendFor(steps);
      return writeFolder(world, path, () => astraFiles(steps, "collective", backend, expectedOf(steps, backend)));
    },
  },
  networkExporter(
    "astra-network",
    ".yml",
    "a network for ASTRA-sim's analytical back ends: rings, full meshes, switches",
    astraNetwork,
  ),
  networkExporter("infragraph", ".json", "a network as InfraGraph, of schema 2.4", infragraphParts),
  networkExporter("ns3", ".txt", "a network for ASTRA-sim's ns-3 back end", ns3Topology),
  networkExporter("simai", ".txt", "a network for SimAI", (topology) => simaiTopology(topology)),
  networkExporter("te-ccl", ".json", "a network as TE-CCL's matrices", teCclTopology),
  networkExporter("forestcoll-json", ".json", "a network as ForestColl's graph of capacities", forestCapacity),
  {
    name: "forestcoll-xml",
    runs: true,
    extension: ".xml",
    description: "trees as ForestColl's XML",
    lacks: (schedule) => (isTreeFlow(schedule) ? null : "trees"),
    fromSchedule(world, { schedule }, path) {
      if (!isTreeFlow(schedule))
        throw new InputError(
          optionName("to", " forestcoll-xml"),
          `trees (${optionName("algorithm")} forestcoll)`,
          inWords("a schedule of transfers"),
        );
      const bytes = world.file(path).write(forestTrees(schedule));
      return { bytes, what: count(listedTrees(schedule), "tree") };
    },
  },
];

/** Bytes of a slice of a trace, and the longest trace that its viewer opens. */
const SLICE_BYTES = 200;
const MOST_TRACE = 2 ** 31;

/** Writes the file of a schedule of any kind, and says what it consists of. */
function writeKind(
  world: World,
  subject: ScheduleSubject,
  kind: Kind<unknown>,
  path: string,
  format: ScheduleFormat,
): Written {
  const { report } = subject;
  // what is claimed is claimed of what was made, not of its transfers
  const told = report === null ? {} : kind.schedule === subject.schedule ? toldOf(report) : { about: aboutOf(report) };
  const { many, one } = kind.parts;
  const bytes = writeSchedule(world, world.file(path), kind, told, format);
  return { bytes, what: count(many, one), facts: { [`${one}s`]: many } };
}

const writeAs = (world: World, subject: ScheduleSubject, path: string, to: string, format: ScheduleFormat): Written =>
  writeKind(world, subject, kindOf(asSteps(subject, to)), path, format);

const SCHEDULE_EXPORTERS: readonly Exporter[] = [
  {
    name: "json",
    extension: ".json",
    description: "a schedule, its trees, periods or phases, or a network, as Banyan's JSON",
    fromSchedule: (world, subject, path) => writeKind(world, subject, kindOf(subject.schedule), path, "json"),
    fromNetwork(world, { topology }, path) {
      const bytes = world.file(path).write(topologyJsonParts(topology));
      return { bytes, what: count(linkCount(topology), "link") };
    },
  },
  {
    name: "bys",
    extension: ".bys",
    description: "a schedule in little space, with checksums",
    lacks: lacksMessages,
    fromSchedule: (world, subject, path) =>
      isPeriodSchedule(subject.schedule)
        ? writeKind(world, subject, kindOf(subject.schedule), path, "bys")
        : writeAs(world, subject, path, "bys", "bys"),
  },
  {
    name: "steps",
    extension: ".json",
    description: "trees, periods or phases transfer by transfer, JSON",
    lacks: lacksMessages,
    fromSchedule: (world, subject, path) => writeAs(world, subject, path, "steps", "json"),
  },
  {
    name: "csv",
    extension: ".csv",
    description: "what is sent in which step, step,src,dst,chunk,op: to be changed, and read again",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const steps = stepsFor(subject, "csv");
      const bytes = world.file(path).write(sendsCsvParts(steps));
      return { bytes, what: count(steps.chunk.length, "send"), facts: { sends: steps.chunk.length } };
    },
  },
  {
    name: "perfetto",
    extension: ".json",
    description: "a trace of the plan for ui.perfetto.dev",
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const output = world.file(path);
      const schedule = asSteps(subject, "perfetto");
      const { routes } = schedule;
      const transfers = transfersOf(schedule);
      const bytes = transfers * SLICE_BYTES * (routes.links.length / Math.max(1, routes.source.length));
      if (bytes > MOST_TRACE) {
        const most = `a schedule whose trace has at most ${aboutBytes(MOST_TRACE)}`;
        throw new InputError(optionName("to"), most, inWords(`perfetto, about ${aboutBytes(bytes)}`));
      }
      output.refuseWithoutRoom(bytes);
      const steps = expanded(schedule, optionName("to", " perfetto"));
      const written = writeShown(world, output, perfettoTrace(steps, steps.startPs, steps.endPs), bytes);
      return { bytes: written, what: count(transfers, "transfer"), facts: { transfers } };
    },
  },
];

/** The app in one file, with what it shows inside. */

/** Where the built page takes what it is to open. */
const [BEFORE, EMPTY, AFTER] = ['<script type="application/json" id="banyan-inside">', "null", "</script>"] as const;
const PLACE = `${BEFORE}${EMPTY}${AFTER}`;

/** A larger text inside a page is more than browsers open. */
const MOST_INSIDE = 2 ** 28;

/** What a page opens by itself. */
interface Inside {
  readonly name: string;
  readonly kind: "schedule" | "network";
  /** About how long its JSON file is. */
  readonly bytes: number;
  /** Returns the parts of that file. */
  parts(): Iterable<string>;
}

/** Returns a text as a page may hold it between the quotes of a JSON text: no `<` that could end or open an element. */
const quoted = (text: string): string => jsonText(text).slice(1, -1).replaceAll("<", "\\u003c");

/** Yields the page with something inside; nothing of that is held but one part. */
function* filled([head, tail]: readonly [string, string], { name, kind, parts }: Inside): Generator<string> {
  yield `${head}${BEFORE}{"name":"${quoted(name)}","kind":"${kind}","text":"`;
  for (const part of parts()) yield quoted(part);
  yield `"}${AFTER}${tail}`;
}

/** Returns what stands before and behind the place of the page. Throws InputError for a page that is not the app. */
async function halvesOf(world: World): Promise<readonly [string, string]> {
  const [head = "", tail, ...more] = (await world.page()).split(PLACE);
  if (tail !== undefined && more.length === 0) return [head, tail];
  throw new InputError("the built app", `a page with ${PLACE} once`, tail === undefined ? 0 : more.length + 1);
}

/** Writes the page. Throws InputError for more inside than browsers open. */
async function write(world: World, path: string, inside: Inside): Promise<Written> {
  const output = world.file(path);
  if (inside.bytes > MOST_INSIDE) {
    const most = `a ${inside.kind} whose JSON has at most ${aboutBytes(MOST_INSIDE)}`;
    throw new InputError(optionName("to"), most, inWords(`html, about ${aboutBytes(inside.bytes)}`));
  }
  const halves = await halvesOf(world);
  const whole = inside.bytes + halves[0].length + halves[1].length;
  output.refuseWithoutRoom(whole);
  const bytes = writeShown(world, output, filled(halves, inside), whole);
  return { bytes, what: `the app with a ${inside.kind}` };
}

const APP_EXPORTER: Exporter = {
  name: "html",
  extension: ".html",
  description: "the app as one page with a schedule or network inside, for any browser, nothing loaded",
  async ready(world) {
    await halvesOf(world);
  },
  fromSchedule(world, { schedule: given, report }, path) {
    const schedule = withoutPhases(given, optionName("to", " html"));
    const { collective, topology } = schedule;
    const told = report === null ? {} : toldOf(report);
    const inside = { name: `${collective.kind} on ${topology.name}`, kind: "schedule" } as const;
    const { bytes, parts } = kindOf(schedule).forms.json;
    return write(world, path, { ...inside, bytes, parts: () => parts(told) as Iterable<string> });
  },
  fromNetwork(world, { topology }, path) {
    const parts = [...topologyJsonParts(topology)];
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    return write(world, path, { name: topology.name, kind: "network", bytes, parts: () => parts });
  },
};

/** "automatic: one relay per NIC, uc-max" as part of a file's name. */
const slug = (name: string): string =>
  name
    .replace(/^automatic: /, "")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

const SKETCH_EXPORTER: Exporter = {
  name: "taccl-sketches",
  extension: "",
  folder: true,
  description: `a folder of the sketches that taccl tries on a network, best guess first, for --sketch or to change`,
  fromNetwork(world, { topology }, path) {
    const sketches = proposedSketches(topology, "allgather");
    if (sketches.length === 0)
      throw new InputError(
        "the topology",
        "a network of fewer connections, for which sketches can be proposed,",
        topology.name,
      );
    const folder = world.folder(path);
    const files = sketches.map((sketch, i) => ({
      name: `${String(i + 1).padStart(2, "0")}-${slug(sketch.name)}.json`,
      parts: [new TextEncoder().encode(sketchToJson(sketch))],
    }));
    return {
      bytes: folder.write(files),
      what: count(files.length, "sketch", "sketches"),
      facts: { sketches: files.map(({ name }) => name) },
    };
  },
};

/** A format that writes a schedule as a Python program. */
function pythonExporter(
  name: string,
  description: string,
  program: (schedule: StepSchedule, name: string) => Iterable<string>,
): Exporter {
  return {
    name,
    description,
    extension: ".py",
    runs: true,
    lacks: lacksMessages,
    fromSchedule(world, subject, path) {
      const output = world.file(path);
      const steps = stepsFor(subject, name);
      const title = `${steps.collective.kind} on ${steps.topology.name}`;
      const transfers = transfersOf(steps);
      return {
        bytes: output.write(program(steps, title)),
        what: count(transfers, "transfer"),
        notes: [`\`python ${path}\` checks it against its definition; its first lines say how to call it`],
        facts: { transfers },
      };
    },
  };
}

const PYTHON_EXPORTERS: readonly Exporter[] = [
  pythonExporter("jax", "a Python program of jax.lax.ppermute rounds, which checks itself when run", jaxProgram),
  pythonExporter(
    "torch",
    "a Python program of torch.distributed, to be called by training scripts; it checks and measures itself when run",
    torchProgram,
  ),
];

const NCCL_GRAPH_EXPORTER: Exporter = {
  name: "nccl-graph",
  extension: ".xml",
  description: "rings through a box that share no link, for NCCL_GRAPH_FILE of unmodified NCCL",
  fromNetwork(world, { topology }, path) {
    const output = world.file(path);
    world.progress({ what: "looking for rings" });
    const found = ringDecomposition(topology);
    const rings = found.rings.length;
    return {
      bytes: output.write([ringGraphXml(topology, found)]),
      what:
        rings === found.bound
          ? `${count(rings, "ring")}, the most there can be`
          : `${count(rings, "ring")} of at most ${found.bound}`,
      facts: { rings, bound: found.bound },
    };
  },
};

/** The formats of `banyan export`. */
export const EXPORTERS: readonly Exporter[] = [
  ...SCHEDULE_EXPORTERS,
  ...PROGRAM_EXPORTERS,
  ...PICTURE_EXPORTERS,
  APP_EXPORTER,
  ...SIMULATOR_EXPORTERS,
  ...PYTHON_EXPORTERS,
  NCCL_GRAPH_EXPORTER,
  SKETCH_EXPORTER,
];

/** Formats by the names of what reads them. */
const READERS: Readonly<Record<string, string>> = {
  msccl: "msccl-xml",
  mscclpp: "mscclpp-json",
  "msccl++": "mscclpp-json",
  pytorch: "torch",
};

/** Returns the format of a name, or of what reads it. Throws InputError. */
export function exporterNamed(name: string): Exporter {
  const names = EXPORTERS.map((exporter) => exporter.name);
  const reader = spelt(name, Object.keys(READERS));
  const found = spelt(name, names) ?? (reader && READERS[reader]);
  if (found === undefined) throw unknownName(optionName("to"), name, names, { list: "formats" });
  return EXPORTERS.find((exporter) => exporter.name === found) as Exporter;
}
