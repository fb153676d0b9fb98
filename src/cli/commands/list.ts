import { textWidth } from "../../base/visible.ts";
import { candidates } from "../../engine/kernels/load.ts";
import { CONSTRUCTION_FORMS } from "../../model/direct/parse.ts";
import { formatBandwidth, formatGigabytes, TERA } from "../../model/numbers/units.ts";
import { PRESETS } from "../../model/presets/preset.ts";
import { significant } from "../../report/amounts.ts";
import { refuseOptions, textOf } from "../../request/option-table.ts";
import { oneOf } from "../../request/values.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { networkOf } from "../network.ts";
import { ALGORITHM_LISTING } from "../reports/algorithm-listing.ts";
import type { Listing, Row } from "../reports/listing.ts";
import { table } from "../reports/table.ts";
import { reportWidth, wrapped } from "../reports/text.ts";

/** Blanks between columns. */
const GAP = 2;

const COLLECTIVES: readonly Row[] = [
  { name: "allgather", size: "all shards together (N x shard)", description: "every rank gets every rank's shard" },
  {
    name: "reducescatter",
    size: "all shards together (N x shard)",
    description: "each rank gets its shard of the sum",
  },
  { name: "allreduce", size: "the buffer", description: "every rank gets the sum of all buffers" },
  { name: "broadcast", size: "the buffer", description: "every rank gets the root's buffer" },
  { name: "reduce", size: "the buffer", description: "the root gets the sum of all buffers" },
  { name: "gather", size: "the root's whole buffer", description: "the root gets every rank's shard" },
  { name: "scatter", size: "the root's whole buffer", description: "every rank gets its shard from the root" },
  { name: "alltoall", size: "what one rank sends", description: "every rank gets a shard from every rank" },
  {
    name: "custom:FILE",
    size: "as the file says, or --size",
    description: "any chunks from any NPUs to any NPUs; a matrix of bytes",
  },
];

/** What is read, then what is written. */
async function formats(): Promise<readonly Row[]> {
  const { NETWORK_FORMATS } = await import("../../import/networks/network-formats.ts");
  const { OPTION_NAMES } = await import("../../import/networks/network-formats.ts");
  const { EXPORTERS } = await import("../../run/export/exporters.ts");
  const row = (kind: string, name: string, use: string, description: string): Row => ({ kind, name, use, description });
  return [
    ...NETWORK_FORMATS.map(({ name, description, takes }) => {
      const open = [...new Set(takes.map((option) => `${OPTION_NAMES[option]}`.split(" ", 1)[0]))].join(" ");
      return row("network", name, open === "" ? "TOPO" : `TOPO ${open}`, description);
    }),
    row("collective", "banyan-collective", "--collective custom:FILE", "a collective of one's own, JSON"),
    row(
      "collective",
      "all-to-all-v matrix",
      "--collective custom:FILE",
      "bytes from (row) to (column), or parts of --size",
    ),
    row("collectives", "banyan-collectives", "--collectives FILE", "several collectives at once, JSON"),
    row("schedule", "banyan-schedule", "FILE", "transfers, or trees with their certificate, and the network; JSON"),
    row("schedule", "bys", "FILE", "a large schedule with its network, blocks with checksums"),
    row("schedule", "SCCL algorithm", "FILE", "steps of msccl-tools or TACCL with their network, JSON"),
    row(
      "schedule",
      "list of sends",
      "FILE --topology --collective --size --chunks",
      "CSV of step,src,dst,chunk[,op], or JSON; times by replay",
    ),
    row("program", "MSCCL XML", "FILE", "of any dialect; line by line in what is said of it"),
    row("program", "MSCCL++ plan", "FILE", "JSON of version 0.8 and later"),
    row("model", "Hugging Face config.json", "train, plan MODEL", "sizes of a transformer"),
    row("model", "ONNX", "plan MODEL --dims", "a graph of tensors; data of weights is not read"),
    row("model", "banyan-torch-graph", "plan MODEL", "a graph of PyTorch that scripts/torch-graph.py writes, JSON"),
    row("model", "banyan-tensor-graph", "plan MODEL", "named dimensions, and how each tensor is made of others, JSON"),
    row("log", "NCCL or RCCL log", "explain --log FILE", "which programs were read, and which calls they ran"),
    ...EXPORTERS.map(({ name, description }) => row("written", name, `export --to ${name}`, description)),
    row("written", "Perfetto trace", "simulate --trace FILE", "the timeline as simulated"),
  ];
}

/** GPUs that --gpu names. */
async function gpus(): Promise<readonly Row[]> {
  const { GPU_MODELS } = await import("../../model/topology/gpu-models.ts");
  return [...GPU_MODELS.values()].map(({ name, link, links, linkBytesPerSecond, pcie }) => ({
    name,
    links:
      link === null
        ? "none"
        : `${links} ${link === "nvlink" ? "NVLink" : "xGMI"} of ${formatBandwidth(linkBytesPerSecond)}`,
    pcie: `${pcie}.0 x16`,
  }));
}

/** Models that `train` and `plan` take. */
async function models(): Promise<readonly Row[]> {
  const { MODEL_NAMES, modelNamed } = await import("../../model/workload/models.ts");
  const { parameterCount } = await import("../../model/workload/transformer/parameters.ts");
  return MODEL_NAMES.map((name) => {
    const { sizes, source } = modelNamed(name);
    const { kind } = sizes;
    const parameters = sizes.kind === "transformer" ? `${significant(parameterCount(sizes.config) / 1e9)} B` : "";
    return { name, kind, parameters, source };
  });
}

/** NPUs that `--accelerator` names. */
async function accelerators(): Promise<readonly Row[]> {
  const { ACCELERATOR_NAMES, acceleratorNamed } = await import("../../model/workload/accelerators.ts");
  return ACCELERATOR_NAMES.map((name) => {
    const { peak, memoryBandwidth, memoryBytes, source } = acceleratorNamed(name);
    const peaks = Object.entries(peak).map(([precision, flops]) => `${precision} ${significant(flops / TERA)}`);
    const memory = `${formatGigabytes(memoryBytes)}, ${formatBandwidth(memoryBandwidth)}`;
    return { name, "TFLOP/s": peaks.join(", "), memory, source };
  });
}

const LISTINGS: Readonly<Record<string, Listing>> = {
  presets: {
    columns: ["form", "description"],
    widths: [46],
    parts: {
      field: "kind",
      titles: {
        network:
          "Networks; figures after @, in order: mesh:4x4@100,50GB/s,0.7us. Products of the first eight: ring:2*fc:4",
        graph: "Graphs and constructions; quote them in a shell: 'L3(C(16,{3,4}))@25Gbps,10us'",
      },
    },
    rows: () =>
      PRESETS.map((preset) => ({ ...preset, kind: CONSTRUCTION_FORMS.includes(preset) ? "graph" : "network" })),
  },
  algorithms: ALGORITHM_LISTING,
  collectives: { columns: ["name", "description", "size"], rows: () => COLLECTIVES },
  formats: { columns: ["kind", "name", "use", "description"], widths: [12, 28, 27], rows: formats },
  gpus: { columns: ["name", "links", "pcie"], rows: gpus },
  backends: { columns: ["name", "loads", "note"], rows: backends },
  models: { columns: ["name", "kind", "parameters", "source"], rows: models },
  accelerators: { columns: ["name", "TFLOP/s", "memory", "source"], rows: accelerators },
};

/** What can be listed. */
export const LISTED: readonly string[] = Object.keys(LISTINGS);

/** Returns which backends load here, and why not the others. */
async function backends(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { backend, load, remedy } of candidates()) {
    try {
      await load();
      const first = rows.every((row) => row["loads"] !== "yes");
      rows.push({ name: backend, loads: "yes", note: first ? "used unless another is asked for" : "" });
    } catch (error) {
      const reason = error instanceof Error ? (error.message.split("\n", 1)[0] as string) : String(error);
      rows.push({ name: backend, loads: "no", note: `${reason}; ${remedy}` });
    }
  }
  return rows;
}

/** What else they are called. */
const ALSO_LISTED: Readonly<Record<string, (typeof LISTED)[number]>> = {
  networks: "presets",
  topologies: "presets",
  platforms: "presets",
};

/** `banyan list WHAT`. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const what = ALSO_LISTED[args[0] as string] ?? oneOf(args[0] as string, LISTED, "what to list");
  const all = LISTINGS[what] as Listing;
  const network = textOf(context.options, "topology");
  if (network === undefined) refuseOptions(context.options, ["collective"], "--topology beside it", "not-alone");
  if (all.on === undefined) refuseOptions(context.options, ["topology"], `nothing beside \`list ${what}\``);
  const listing =
    network === undefined || all.on === undefined ? all : all.on(await networkOf(network, {}), context.options);
  const found = await listing.rows();
  if (context.json) {
    outJson(context, { schema: "banyan/list@1", what, items: found });
    return 0;
  }
  outRows(context, linesOf(listing, found, context));
  return 0;
}

/** Returns the lines of a listing: a table, or one for each part under its title. */
function linesOf(listing: Listing, rows: readonly Row[], context: Context): string[] {
  const { parts } = listing;
  if (parts === undefined) return tableOf(listing, rows, context);
  return Object.entries(parts.titles).flatMap(([part, title], i) => [
    ...(i === 0 ? [] : [""]),
    `  ${context.style.bold(title)}`,
    ...tableOf(
      listing,
      rows.filter((row) => row[parts.field] === part),
      context,
    ),
  ]);
}

function tableOf({ columns, widths }: Listing, rows: readonly Row[], { style, terminal }: Context): string[] {
  const text = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value));
  const width = reportWidth(terminal);
  const most = widths?.map((one) => Math.round((one * width) / reportWidth(null)));
  const cells = rows.map((row) => columns.map((column, i) => wrappedCell(text(row[column]), most?.[i])));
  const last = columns.length - 1;
  if (widths !== undefined) {
    const before = columns.slice(0, last).map((_, i) => Math.max(...cells.flatMap((row) => lengthsOf(row[i]))) + GAP);
    const rest = width - GAP - before.reduce((a, b) => a + b, 0);
    for (const row of cells) row[last] = wrappedCell(row[last] as string, rest);
  }
  const lines = table(
    columns.map((column) => style.dim(column)),
    cells,
    columns.map(() => "left" as const),
  );
  return lines.map((line) => `  ${line}`.trimEnd());
}

const lengthsOf = (cell = ""): number[] => cell.split("\n").map(textWidth);

const wrappedCell = (text: string, width = Number.POSITIVE_INFINITY): string => wrapped(text, width).join("\n");
