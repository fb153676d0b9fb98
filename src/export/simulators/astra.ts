import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { type Dimension, type DimensionKind, productTopology } from "../../model/presets/product.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { inLinks, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import { carrierOf, chakraFiles, chakraWorkload, type OutputFile } from "./chakra.ts";

const KINDS: Readonly<Record<string, string>> = { ring: "Ring", fc: "FullyConnected", switch: "Switch" };
const BYTES_PER_GIB = 2 ** 30;
const PS_PER_NS = 1000;

/**
 * Returns the text of an ASTRA-sim analytical network file for a product of rings, full meshes and switches: bandwidths in
 * its "GB/s", which are GiB/s, latencies in ns, both a link's. Throws InputError with the reason for other networks.
 */
export function astraNetwork(topology: Topology): string {
  const dimensions = productDimensions(topology);
  if (typeof dimensions === "string") {
    throw new InputError(
      "the network of ASTRA-sim's analytical back end",
      "a product of rings, full meshes and switches (ns-3 files take any network)",
      `${topology.name}: ${dimensions}`,
    );
  }
  const row = (key: string, values: readonly (string | number)[], unit = ""): string =>
    `${key}: [ ${values.join(", ")} ]${unit}\n`;
  return (
    row(
      "topology",
      dimensions.map(({ kind }) => KINDS[kind]),
    ) +
    row(
      "npus_count",
      dimensions.map(({ size }) => size),
    ) +
    row(
      "bandwidth",
      dimensions.map(({ bytesPerSecond }) => bytesPerSecond / BYTES_PER_GIB),
      "  # GiB/s a link",
    ) +
    row(
      "latency",
      dimensions.map(({ latencyPs }) => latencyPs / PS_PER_NS),
      "  # ns a link",
    )
  );
}

/**
 * Yields what ASTRA-sim's analytical back end needs to run a schedule: the traces `name.<npu>.et` of the custom collective,
 * the workload `name-workload.<npu>.et` that starts it, `name-network.yml`, `name-system.json`, `name-memory.json`, and the
 * command in `name-run.txt`, to be run in the folder of the files. Throws InputError as `astraNetwork` does.
 */
export function* astraFiles(schedule: StepSchedule, name: string): Generator<OutputFile> {
  const text = (suffix: string, body: string): OutputFile => ({
    name: `${name}-${suffix}`,
    bytes: new TextEncoder().encode(body),
  });
  const [key] = carrierOf(schedule);
  yield text("network.yml", astraNetwork(schedule.topology));
  const system = {
    "scheduling-policy": "FIFO",
    "preferred-dataset-splits": 1,
    [`${key}-implementation-custom`]: [name],
    "local-mem-bw": 50,
  };
  yield text("system.json", `${jsonText(system, 2)}\n`);
  yield text("memory.json", `${jsonText({ "memory-type": "NO_MEMORY_EXPANSION" })}\n`);
  yield text(
    "run.txt",
    `${[
      "AstraSim_Analytical_Congestion_Aware",
      `  --workload-configuration=${name}-workload`,
      `  --system-configuration=${name}-system.json`,
      `  --network-configuration=${name}-network.yml`,
      `  --remote-memory-configuration=${name}-memory.json`,
    ].join(" \\\n")}\n`,
  );
  yield* chakraWorkload(schedule, `${name}-workload`);
  yield* chakraFiles(schedule, name);
}

/** A dimension as seen from NPU 0: its neighbours there, and the links to them. */
interface Seen {
  readonly steps: number[];
  switched: boolean;
  link: number;
}

/**
 * Returns the dimensions (ring, fc, switch; none of size 1) whose product the network is, its switches in any order, or a
 * sentence that says why there are none. The sizes are those of `shape`, else one dimension of all NPUs. What NPU 0 sees is
 * taken for every NPU, and the product that this gives is compared with the network, link by link. O(links log links).
 */
function productDimensions(topology: Topology): Dimension[] | string {
  const sizes = topology.shape.length > 0 ? topology.shape : [topology.npuCount];
  const seen = sizes.map((): Seen => ({ steps: [], switched: false, link: -1 }));
  const from = outLinks(topology);
  for (let i = from.offset[0]; i < from.offset[1]; i++) {
    const link = from.links[i];
    const next = topology.linkTarget[link];
    const switched = next >= topology.npuCount;
    const other = switched ? lowestOther(topology, next) : next;
    const found = stepTo(other, sizes);
    if (found === null) return `${nameOf(topology, 0)} has a link to ${nameOf(topology, next)}, along no dimension`;
    const dimension = seen[found.dimension];
    if (dimension.link >= 0 && (switched || dimension.switched)) {
      return `${nameOf(topology, 0)} has a switch and further links in dimension ${found.dimension}`;
    }
    dimension.switched = switched;
    dimension.link = link;
    dimension.steps.push(found.step);
  }
  const dimensions: Dimension[] = [];
  for (const [d, size] of sizes.entries()) {
    if (size === 1) continue;
    const kind = kindOf(seen[d], size);
    if (kind === null) return `dimension ${d} is no ring, full mesh or switch`;
    const { link } = seen[d];
    const bytesPerSecond = topology.linkBytesPerSecond[link];
    dimensions.push({ kind, size, bytesPerSecond, latencyPs: topology.linkLatencyPs[link] });
  }
  if (dimensions.length === 0) return "there is one NPU";
  return sameLinks(topology, productTopology(topology.name, dimensions, [])) ?? dimensions;
}

const nameOf = ({ nodeNames }: Topology, node: number): string => nodeNames[node];

/** Returns the lowest NPU but NPU 0 that a switch reaches, or 0. */
function lowestOther(topology: Topology, node: number): number {
  const { offset, links } = outLinks(topology);
  let lowest = 0;
  for (let i = offset[node]; i < offset[node + 1]; i++) {
    const npu = topology.linkTarget[links[i]];
    if (npu > 0 && npu < topology.npuCount && (lowest === 0 || npu < lowest)) lowest = npu;
  }
  return lowest;
}

/** Returns the dimension along which an NPU lies from NPU 0, and how far; null where there is none. */
function stepTo(npu: number, sizes: readonly number[]): { dimension: number; step: number } | null {
  let rest = npu;
  let found: { dimension: number; step: number } | null = null;
  for (const [dimension, size] of sizes.entries()) {
    const step = rest % size;
    rest = (rest - step) / size;
    if (step === 0) continue;
    if (found !== null) return null;
    found = { dimension, step };
  }
  return found;
}

function kindOf({ steps, switched, link }: Seen, size: number): DimensionKind | null {
  if (link < 0) return null;
  if (switched) return "switch";
  const different = new Set(steps);
  if (different.size !== steps.length) return null;
  if (steps.length === Math.min(2, size - 1) && different.has(1) && different.has(size - 1)) return "ring";
  return steps.length === size - 1 ? "fc" : null;
}

/** Returns null where both networks have the same links between the same NPUs and switches, else what differs. */
function sameLinks(topology: Topology, product: Topology): string | null {
  if (nodeCount(topology) !== nodeCount(product)) {
    return `it has ${nodeCount(topology)} nodes, and such a product ${nodeCount(product)}`;
  }
  const differ = "its links are not the same for all NPUs";
  const twins = switchTwins(topology, product);
  if (twins === null || topology.linkSource.length !== product.linkSource.length) return differ;
  const [own, other] = [sortedLinks(topology, twins), sortedLinks(product, null)];
  const same = own.every((column, c) => column.every((value, i) => value === other[c][i]));
  return same ? null : differ;
}

/** Returns for each node of the network that of the product: the same NPU, or the switch over the same lowest two NPUs. */
function switchTwins(topology: Topology, product: Topology): Int32Array | null {
  const keys = (network: Topology): string[] => {
    const { offset, links } = inLinks(network);
    return Array.from({ length: nodeCount(network) - network.npuCount }, (_, i) => {
      const node = network.npuCount + i;
      const npus = Array.from(links.subarray(offset[node], offset[node + 1]), (link) => network.linkSource[link]);
      return npus
        .sort((a, b) => a - b)
        .slice(0, 2)
        .join();
    });
  };
  const byKey = new Map(keys(product).map((key, i) => [key, product.npuCount + i]));
  const twins = Int32Array.from({ length: nodeCount(topology) }, (_, node) => node);
  for (const [i, key] of keys(topology).entries()) {
    const twin = byKey.get(key);
    if (twin === undefined) return null;
    byKey.delete(key);
    twins[topology.npuCount + i] = twin;
  }
  return twins;
}

/** Returns source, target, bandwidth and latency of all links, in ascending order of these. */
function sortedLinks(topology: Topology, twins: Int32Array | null): Float64Array[] {
  const renamed = (nodes: Int32Array): Float64Array => Float64Array.from(nodes, (node) => twins?.[node] ?? node);
  const columns = [
    renamed(topology.linkSource),
    renamed(topology.linkTarget),
    topology.linkBytesPerSecond,
    topology.linkLatencyPs,
  ];
  const order = Int32Array.from(columns[0].keys()).sort((a, b) =>
    columns.reduce((difference, column) => difference || column[a] - column[b], 0),
  );
  return columns.map((column) => Float64Array.from(order, (link) => column[link]));
}
