import { candidates } from "../../engine/kernels/load.ts";
import { InputError } from "../../errors.ts";
import { didYouMean } from "../../model/closest.ts";
import { PRESETS } from "../../model/presets/preset.ts";
import { ALGORITHMS } from "../../synthesize/catalog.ts";
import { type Context, outJson } from "../context.ts";
import { table } from "../table.ts";

type Row = Readonly<Record<string, unknown>>;

interface Listing {
  /** Columns of the table; --json has all fields. */
  readonly columns: readonly string[];
  rows(): Promise<readonly Row[]> | readonly Row[];
}

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
  { name: "custom:FILE", size: "as the file says", description: "any chunks from any NPUs to any NPUs" },
];

const FORMATS: readonly Row[] = [
  { name: "banyan-topology", read: "yes", write: "yes", description: "a network, JSON; `topology -o`" },
  { name: "edge list", read: "yes", write: "no", description: "a network, CSV with a header; TACOS result files too" },
  {
    name: "TACCL topology",
    read: "yes",
    write: "no",
    description: "a network, JSON with alpha and betas; --nodes, --profile-size",
  },
  {
    name: "banyan-collective",
    read: "yes",
    write: "no",
    description: "a collective of one's own, JSON; --collective custom:FILE",
  },
  {
    name: "banyan-collectives",
    read: "yes",
    write: "no",
    description: "several collectives at once, JSON; --collectives FILE",
  },
  { name: "banyan-schedule", read: "yes", write: "yes", description: "a schedule with its network, JSON; `synth -o`" },
  {
    name: "trees",
    read: "yes",
    write: "yes",
    description:
      "a banyan-schedule of trees with its certificate; `synth --algorithm forestcoll -o`, `export --to steps`",
  },
  {
    name: "bys",
    read: "yes",
    write: "yes",
    description: "a large schedule with its network, blocks with checksums; `synth -o NAME.bys`",
  },
  {
    name: "Perfetto trace",
    read: "no",
    write: "yes",
    description: "a timeline for ui.perfetto.dev; `simulate --trace`, `export --to perfetto`",
  },
];

const LISTINGS: Readonly<Record<string, Listing>> = {
  presets: { columns: ["form", "description"], rows: () => PRESETS.map((preset) => ({ ...preset })) },
  algorithms: {
    columns: ["name", "description", "policies"],
    rows: () =>
      ALGORITHMS.map(({ name, description, collectives, policies }) => ({
        name,
        description,
        collectives,
        policies,
      })),
  },
  collectives: { columns: ["name", "description", "size"], rows: () => COLLECTIVES },
  formats: { columns: ["name", "read", "write", "description"], rows: () => FORMATS },
  backends: { columns: ["name", "loads", "note"], rows: backends },
};

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

/** `banyan list WHAT`. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const what = args[0] as string;
  const names = Object.keys(LISTINGS);
  if (!Object.hasOwn(LISTINGS, what)) {
    throw new InputError("what to list", `one of ${names.join(", ")}${didYouMean(what, names)}`, what);
  }
  const { columns, rows } = LISTINGS[what] as Listing;
  const found = await rows();
  if (context.json) {
    outJson(context, { schema: "banyan/list@1", what, items: found });
    return 0;
  }
  const text = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value));
  const lines = table(
    columns.map((column) => context.style.dim(column)),
    found.map((row) => columns.map((column) => text(row[column]))),
    columns.map(() => "left" as const),
  );
  context.out(`${lines.map((line) => `  ${line}`.trimEnd()).join("\n")}\n`);
  return 0;
}
