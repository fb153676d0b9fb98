import { InfeasibleError, InputError } from "../src/base/errors.ts";
import { openEngine } from "../src/engine/engine.ts";
import { openHighs } from "../src/engine/milp/highs.ts";
import type { Engine } from "../src/engine/types.ts";
import type { NamedCollective } from "../src/model/collective/collective.ts";
import { presetTopology } from "../src/model/presets/preset.ts";
import type { RuntimeName } from "../src/model/program/runtime-names.ts";
import { synthesizeForRuntime } from "../src/run/programs/programs-by-size.ts";
import { synthesize } from "../src/run/synthesize.ts";
import { algorithmNamed } from "../src/synthesize/catalog.ts";

/** What is loaded on first use cannot be loaded once `runnerImport` has returned. */
await openHighs();

/** A schedule's time, and that of the program that a runtime makes of it. */
export interface ProgramTime {
  readonly topology: string;
  readonly collective: NamedCollective;
  readonly algorithm: string;
  readonly target: RuntimeName;
  readonly sizeBytes: number;
  readonly scheduleUs: number;
  /** null: refused. */
  readonly programUs: number | null;
  /** How it was lowered, or why it was refused. */
  readonly how: string;
}

export interface TimeCases {
  readonly topologies: readonly string[];
  readonly collectives: readonly NamedCollective[];
  readonly algorithms: readonly string[];
  readonly sizes: readonly number[];
  readonly targets: readonly RuntimeName[];
}

const MIB = 2 ** 20;
const ALL_SIZES = [1024, 65_536, MIB, 64 * MIB, 1024 * MIB, 4096 * MIB];
const SUMS: readonly NamedCollective[] = ["allgather", "reducescatter", "allreduce"];
const ALL: readonly NamedCollective[] = [...SUMS, "alltoall"];

/** Boxes of GPUs, direct-connect networks, many boxes. */
export const CASES: readonly TimeCases[] = [
  {
    topologies: ["dgx-a100:1", "dgx-h100:1", "dgx-a100:2"],
    collectives: ALL,
    algorithms: ["tacos", "forestcoll", "ring", "direct", "rhd", "themis"],
    sizes: ALL_SIZES,
    targets: ["azure"],
  },
  {
    topologies: ["K(4,4)@25Gbps,13.33us", "Torus(3,3,2)@25Gbps,13.33us", "C(12,{2,3})@25Gbps,13.33us"],
    collectives: ALL,
    algorithms: ["tacos", "forestcoll", "bfb"],
    sizes: ALL_SIZES,
    targets: ["azure"],
  },
  {
    topologies: ["mi250:2", "dgx-a100:4", "dgx-h100:4"],
    collectives: SUMS,
    algorithms: ["forestcoll", "rhd"],
    sizes: [1024, MIB, 1024 * MIB],
    targets: ["azure"],
  },
  {
    topologies: ["dgx-a100:16"],
    collectives: SUMS,
    algorithms: ["forestcoll", "rhd"],
    sizes: [MIB, 1024 * MIB],
    targets: ["azure"],
  },
  {
    topologies: ["dgx-a100:128", "dgx-h100:128"],
    collectives: ["allgather", "reducescatter"],
    algorithms: ["forestcoll"],
    sizes: [1024 * MIB],
    targets: ["azure"],
  },
  {
    topologies: ["dgx-a100:128", "dgx-h100:128"],
    collectives: ["allreduce"],
    algorithms: ["tacos"],
    sizes: [1024 * MIB],
    targets: ["azure"],
  },
  {
    topologies: ["dgx-a100:1", "dgx-h100:1", "dgx-a100:2"],
    collectives: SUMS,
    algorithms: ["forestcoll", "direct", "rhd"],
    sizes: [1024, 65_536, MIB, 64 * MIB, 1024 * MIB],
    targets: ["mscclpp"],
  },
];

/** Yields the time of every schedule that can be made, and of its fastest program, as `export` looks for it. */
export async function* programTimes(cases: TimeCases): AsyncGenerator<ProgramTime> {
  const engine = await openEngine();
  try {
    for (const topology of cases.topologies)
      for (const collective of cases.collectives)
        for (const algorithm of cases.algorithms)
          for (const sizeBytes of cases.sizes)
            for (const target of cases.targets) {
              const found = await timeOf(engine, { topology, collective, algorithm, sizeBytes, target });
              if (found !== null) yield found;
            }
  } finally {
    await engine.close();
  }
}

async function timeOf(
  engine: Engine,
  what: Omit<ProgramTime, "scheduleUs" | "programUs" | "how">,
): Promise<ProgramTime | null> {
  const { topology, collective, algorithm, sizeBytes, target } = what;
  const { options = [] } = algorithmNamed(algorithm);
  const trials = options.includes("trials") ? { trials: 1 } : {};
  const network = presetTopology(topology);
  const request = { collective, algorithm, sizeBytes, ...trials };
  let scheduleUs: number | null = null;
  try {
    scheduleUs = (await synthesize(engine, network, request, false)).report.time.us;
    const { us, how } = await synthesizeForRuntime(engine, network, request, { runtime: target });
    return { ...what, scheduleUs, programUs: us, how: JSON.stringify({ ...how, runtime: undefined }) };
  } catch (error) {
    if (!(error instanceof InputError || error instanceof InfeasibleError)) throw error;
    return scheduleUs === null ? null : { ...what, scheduleUs, programUs: null, how: error.message };
  }
}
