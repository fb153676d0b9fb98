import * as fc from "fast-check";
import { type Collective, collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import type { PhaseRequest } from "../../src/synthesize/phase-maker.ts";
import { type PhaseProblem, phaseProblem } from "../../src/synthesize/themis/orders.ts";
import { everyone } from "./everyone.ts";

export const PHASE_COLLECTIVES = ["allreduce", "reducescatter", "allgather"] as const;

/** Returns the collective of all NPUs in order. */
export const amongAll = (
  topology: Topology,
  kind: NamedCollective,
  sizeBytes: number,
  chunksPerNpu: number,
): Collective => collective({ kind, groups: [everyone(topology.npuCount)], sizeBytes, chunksPerNpu, rootRank: 0 });

export const phaseRequest = (
  preset: string,
  kind: NamedCollective,
  sizeBytes: number,
  chunks: number,
  more: Partial<PhaseRequest> = {},
): PhaseRequest => {
  const topology = presetTopology(preset);
  return { topology, collective: amongAll(topology, kind, sizeBytes, chunks), policy: null, offload: false, ...more };
};

export const problemFor = (preset: string, kind: NamedCollective, sizeBytes: number, chunks: number): PhaseProblem =>
  phaseProblem(phaseRequest(preset, kind, sizeBytes, chunks), "themis");

/** Products of one to three small dimensions of any kind, with any bandwidths and latencies, and a collective in chunks. */
export const anyPhaseRequest: fc.Arbitrary<PhaseRequest> = fc
  .record({
    dimensions: fc.array(
      fc.record({
        kind: fc.constantFrom("ring", "line", "fc", "switch"),
        size: fc.integer({ min: 2, max: 5 }),
        gbps: fc.constantFrom(10, 25, 100, 300),
        us: fc.constantFrom(0, 0.02, 0.5, 5),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    kind: fc.constantFrom(...PHASE_COLLECTIVES),
    sizeBytes: fc.oneof(fc.integer({ min: 1, max: 1e5 }), fc.integer({ min: 1e5, max: 1e9 })),
    chunks: fc.integer({ min: 1, max: 9 }),
    policy: fc.constantFrom("scf", "fifo"),
  })
  .map(({ dimensions, kind, sizeBytes, chunks, policy }) => {
    const kept = dimensions.reduce((n, { size }) => n * size, 1) > 40 ? dimensions.slice(0, 2) : dimensions;
    const factors = kept.map((one) => `${one.kind}:${one.size}`).join("*");
    const figures = `${kept.map(({ gbps }) => gbps).join(",")}GB/s,${kept.map(({ us }) => us).join(",")}us`;
    return phaseRequest(`${factors}@${figures}`, kind, sizeBytes, chunks, { policy });
  });
