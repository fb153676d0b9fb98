import { recordJsonParts } from "../../src/export/measurements/record-json.ts";
import { type Inferred, inferNetwork } from "../../src/infer/infer.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Measurement } from "../../src/model/probe/measurements.ts";
import { recording } from "../../src/probe/recorded.ts";
import { hiddenLaboratory, hiddenProber } from "./hidden-network.ts";

/** Returns what a probe of a hidden network measures, as its file has it, and what was inferred. */
export async function probeRecord(
  network: string,
  seed: number,
  mostRepeats?: number,
): Promise<{ readonly text: string; readonly inferred: Inferred; readonly kept: readonly Measurement[] }> {
  const prober = hiddenProber(hiddenLaboratory(presetTopology(network), { seed }), seed);
  const kept: Measurement[] = [];
  const inferred = await inferNetwork(recording(prober, kept, mostRepeats), { mixes: 4 });
  const { endpoints, resolutionS } = prober;
  return {
    text: [
      ...recordJsonParts({
        by: "a simulation",
        asked: { bytes: null, mixes: 4 },
        resolutionS,
        endpoints,
        measurements: kept,
      }),
    ].join(""),
    inferred,
    kept,
  };
}
