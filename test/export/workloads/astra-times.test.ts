import { describe, expect, it } from "vitest";
import { chakraTraces } from "../../../src/export/workloads/chakra.ts";
import { readAstraText } from "../../../src/import/workloads/astra-text.ts";
import { readChakra } from "../../../src/import/workloads/chakra.ts";
import { type PlacedTasks, placedStep } from "../../../src/model/workload/placed-tasks.ts";
import { timesOf } from "../../support/placed-costs.ts";
import { type SmallStep, smallStep } from "../../support/small-steps.ts";

/**
 * What ASTRA-sim (commit 518bd51, its congestion-aware analytical back end, ring collectives in one chunk, 50 GiB/s and 500 ns a
 * link, 1 TFLOP/s with times told as operations) printed for the traces of these steps, and for each communication alone.
 */

/** An NPU of ASTRA-sim has one communication under way at a time, whatever its communicator. */
function oneAtATime(placed: PlacedTasks): PlacedTasks {
  const { tasks } = placed;
  const lanes = tasks.actors.flatMap((_, actor) => [
    { actor, name: "compute", computes: true, inOrder: true },
    { actor, name: "communicate", computes: false, inOrder: false },
  ]);
  const lane = tasks.lane.map((own) => 2 * tasks.lanes[own].actor + (tasks.lanes[own].computes ? 0 : 1));
  return { ...placed, tasks: { ...tasks, lanes, lane } };
}

const SMALL: SmallStep = {
  mesh: {},
  microBatches: 1,
  layersOfStage: 3,
  forwardNs: 5000,
  backwardNs: 9000,
  updateNs: 2000,
  tensorBytes: 0,
  gradientBytes: 0,
  boundaryBytes: 100_000,
};

const text = (first: string, modelNpus: number | null = null): PlacedTasks => {
  const rows = Array.from({ length: 6 }, (_, i) => {
    const exchange = first.startsWith("HYBRID_DLRM") && i === 0;
    const [forward, input] = exchange
      ? ["ALLTOALL 100000", "ALLTOALL 100000"]
      : ["ALLREDUCE 100000", "ALLREDUCE 150000"];
    const weights = `ALLREDUCE ${200_000 + i * 1000}`;
    return `l${i} -1 ${5000 + i * 700} ${forward} ${4000 + i * 300} ${input} ${3000 + 500 * i} ${weights} 0`;
  });
  return placedStep(readAstraText([first, "6", ...rows].join("\n"), "w.txt", { npus: 4, modelNpus }));
};

/** Nanoseconds of communications alone, by kind, bytes and NPUs. */
const OF_TWO = {
  "send 100000 2": 2362,
  "allreduce 100000 2": 2892,
  "allreduce 150000 2": 3822,
  "allreduce 200000 2": 4757,
  "allreduce 201000 2": 4775,
  "allreduce 202000 2": 4795,
  "allreduce 203000 2": 4813,
  "allreduce 204000 2": 4831,
  "allreduce 205000 2": 4851,
  "allreduce 300000 2": 6619,
};
const OF_FOUR = {
  "allreduce 100000 4": 5790,
  "allreduce 150000 4": 7188,
  "allreduce 200000 4": 8586,
  "allreduce 201000 4": 8610,
  "allreduce 202000 4": 8640,
  "allreduce 203000 4": 8670,
  "allreduce 204000 4": 8694,
  "allreduce 205000 4": 8724,
  "alltoall 100000 4": 5790,
};
/** On rings. */
const OF_RINGS = { "allreduce 400000 4": 14_181, "allreduce 4000000 8": 137_487 };
const ALONE: Readonly<Record<string, number>> = { ...OF_TWO, ...OF_FOUR, ...OF_RINGS };

const cost = (bytes: number, size: number, collective: string): number =>
  (ALONE[`${collective} ${bytes} ${size}`] as number) * 1000;

const small = (sizes: Partial<SmallStep>): PlacedTasks => placedStep(smallStep({ ...SMALL, ...sizes }));

const STEPS: readonly [name: string, placed: PlacedTasks, astraNs: number][] = [
  ["4 copies", small({ mesh: { data: 4 }, layersOfStage: 6, gradientBytes: 400_000 }), 136_086],
  [
    "8 copies that wait for gradients",
    small({ mesh: { data: 8 }, layersOfStage: 6, gradientBytes: 4_000_000 }),
    875_922,
  ],
  ["2 stages", small({ mesh: { pipeline: 2 }, microBatches: 4 }), 225_448],
  ["2 stages of 2", small({ mesh: { tensor: 2, pipeline: 2 }, microBatches: 4, tensorBytes: 200_000 }), 360_763],
  ["4 stages of 2", small({ mesh: { tensor: 2, pipeline: 4 }, microBatches: 8, tensorBytes: 200_000 }), 812_359],
  [
    "2 copies of 2 stages of 2",
    small({ mesh: { tensor: 2, data: 2, pipeline: 2 }, microBatches: 4, tensorBytes: 200_000, gradientBytes: 300_000 }),
    367_382,
  ],
  ["a text, DATA", text("DATA"), 100_936],
  ["a text, MODEL", text("MODEL"), 142_680],
  ["a text, HYBRID_TRANSFORMER", text("HYBRID_TRANSFORMER model_parallel_NPU_group: 2"), 119_058],
  ["a text, HYBRID_MODEL_DATA", text("HYBRID_MODEL_DATA", 2), 117_461],
  ["a text, HYBRID_DLRM", text("HYBRID_DLRM 2"), 106_496],
];

describe("steps as ASTRA-sim runs their traces", () => {
  it.each(STEPS)("take as long to the nanosecond, one communication at a time: %s", (_, placed, astraNs) => {
    expect(timesOf(oneAtATime(placed), cost).ps).toBe(astraNs * 1000);
  });

  it.each(STEPS)(
    "are up to 2 %% faster where communicators have streams of their own, and once read back: %s",
    (_, placed, astraNs) => {
      const { ps } = timesOf(placed, cost);
      expect(ps / (astraNs * 1000)).toBeGreaterThan(0.98);
      expect(ps).toBeLessThanOrEqual(astraNs * 1000);
      const files = [...chakraTraces(placed, "w", { asOperations: true })];
      const groups = files.find(({ name }) => name.endsWith(".json"));
      const file = groups === undefined ? null : { name: groups.name, text: new TextDecoder().decode(groups.bytes) };
      expect(
        timesOf(
          readChakra(
            files.filter((one) => one !== groups),
            { groups: file },
          ),
          cost,
        ).ps,
      ).toBe(ps);
    },
  );
});
