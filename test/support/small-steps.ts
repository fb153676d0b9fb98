import {
  type Communication,
  type Computation,
  INPUT,
  type LayerWork,
  NOTHING,
  type Part,
} from "../../src/model/workload/layer-work.ts";
import { ALONE, type GroupName, type Parallelism } from "../../src/model/workload/parallelism.ts";
import type { TrainingStep } from "../../src/model/workload/training-step.ts";

/** Sizes of a small step. Times in ns, sizes in bytes; 0 leaves a communication out. */
export interface SmallStep {
  readonly mesh: Partial<Parallelism>;
  readonly microBatches: number;
  readonly layersOfStage: number;
  readonly forwardNs: number;
  readonly backwardNs: number;
  readonly updateNs: number;
  readonly tensorBytes: number;
  readonly gradientBytes: number;
  readonly boundaryBytes: number;
}

const compute = (name: string, ns: number): Computation => ({
  name,
  kind: "matmul",
  flops: ns * 1000,
  bytes: ns,
  givenPs: ns * 1000,
});

const sum = (name: string, group: GroupName, bytes: number): Communication => ({
  name,
  collective: "allreduce",
  group,
  bytes,
});

/** Returns a step of equal layers: products split over `tensor` and summed, gradients summed over the copies, an update. */
export function smallStep(sizes: SmallStep): TrainingStep {
  const parallelism: Parallelism = { ...ALONE, ...sizes.mesh };
  const pass = (name: string, ns: number): { parts: Part[]; outputs: number[] } => {
    const parts: Part[] = [{ after: [INPUT], computation: compute(name, ns) }];
    if (sizes.tensorBytes > 0)
      parts.push({ after: [0], communication: sum(`sum of ${name}`, "tensor", sizes.tensorBytes) });
    return { parts, outputs: [parts.length - 1] };
  };
  const layer = (i: number): LayerWork => ({
    name: `layer ${i}`,
    forward: pass("forward", sizes.forwardNs),
    backward: pass("backward", sizes.backwardNs),
    gradients:
      sizes.gradientBytes === 0
        ? NOTHING
        : { parts: [{ after: [INPUT], communication: sum("gradients", "data", sizes.gradientBytes) }], outputs: [] },
    update:
      sizes.updateNs === 0
        ? NOTHING
        : { parts: [{ after: [INPUT], computation: compute("update", sizes.updateNs) }], outputs: [0] },
    memory: { parameters: 0, gradients: 0, optimizer: 0, activations: 0, working: 0 },
  });
  const stages = parallelism.pipeline * parallelism.interleaved;
  return {
    name: "small",
    parallelism,
    microBatches: sizes.microBatches,
    order: "1f1b",
    overlapped: false,
    trains: true,
    stages: Array.from({ length: stages }, (_, s) =>
      Array.from({ length: sizes.layersOfStage }, (_, i) => ({ layer: layer(s * sizes.layersOfStage + i), count: 1 })),
    ),
    boundaryBytes: sizes.boundaryBytes,
    samples: 1,
    tokens: 1,
    modelFlops: 1,
  };
}
