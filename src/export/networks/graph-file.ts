import { InputError } from "../../base/errors.ts";
import { toGBps } from "../../model/numbers/units.ts";
import type { RingDecomposition } from "../../model/routes/rings.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { escaped } from "../pictures/svg.ts";

export interface GraphFileOptions {
  /** [NPUs] CUDA device of each; its number without it. */
  readonly devices?: readonly number[];
  /** How NCCL calls the links: NVL (default); RCCL says XGMI, machines without either PIX, PHB or SYS. */
  readonly links?: "NVL" | "XGMI" | "PIX" | "PHB" | "SYS";
}

/** Up to 2.20 NCCL reads devices as C does (`a` is 0 then, `10` ten), from 2.21 on as hexadecimal (`10` is 16): 0x suits both. */
const deviceNumber = (device: number): string => (device < 10 ? `${device}` : `0x${device.toString(16)}`);

const RING_PATTERN = 4;
const MOST_CHANNELS = 64;

/**
 * Returns a file for NCCL_GRAPH_FILE that has NCCL use these rings on a box: a ring graph (id 0, pattern 4) with a channel for each
 * ring, devices so that every version reads them, speeds in GB/s (NCCL's src/graph/xml.cc). Trees and others are left to NCCL's own search. Throws
 * InputError for rings that do not go through every NPU once, more than 64 of them, and devices that are not one for each NPU.
 */
export function ringGraphXml(
  topology: Topology,
  { rings, bytesPerSecond }: Pick<RingDecomposition, "rings" | "bytesPerSecond">,
  { devices, links = "NVL" }: GraphFileOptions = {},
): string {
  const { npuCount } = topology;
  if (rings.length < 1 || rings.length > MOST_CHANNELS)
    throw new InputError("the rings of a graph file", `1 to ${MOST_CHANNELS}`, rings.length);
  const deviceOf = devices ?? Array.from({ length: npuCount }, (_, npu) => npu);
  const proper = deviceOf.every((device) => Number.isSafeInteger(device) && device >= 0);
  if (deviceOf.length !== npuCount || new Set(deviceOf).size !== npuCount || !proper)
    throw new InputError("the devices of a graph file", `a different number for each of ${npuCount} NPUs`, deviceOf);
  const speed = Number(toGBps(bytesPerSecond).toPrecision(6));
  const name = escaped(topology.name).replace(/-(?=-)/g, "- ");
  let text = `<!-- ${rings.length} rings of ${speed} GB/s on ${name} -->\n<graphs version="1">\n`;
  text += `  <graph id="0" pattern="${RING_PATTERN}" crossnic="0" nchannels="${rings.length}" speedintra="${speed}" speedinter="${speed}" latencyinter="0" typeintra="${links}" typeinter="PIX" samechannels="0">\n`;
  for (const ring of rings) {
    if (
      ring.length !== npuCount ||
      new Set(ring).size !== npuCount ||
      ring.some((npu) => !(npu >= 0 && npu < npuCount))
    )
      throw new InputError("a ring of a graph file", `each of ${npuCount} NPUs once`, [...ring]);
    text += "    <channel>\n";
    for (const npu of ring) text += `      <gpu dev="${deviceNumber(deviceOf[npu])}"/>\n`;
    text += "    </channel>\n";
  }
  return `${text}  </graph>\n</graphs>\n`;
}
