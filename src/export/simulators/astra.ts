import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { productDimensions } from "./astra-product.ts";
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
