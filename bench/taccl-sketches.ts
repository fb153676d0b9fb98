import { InfeasibleError, InputError } from "../src/base/errors.ts";
import { openEngine } from "../src/engine/engine.ts";
import { openHighs } from "../src/engine/milp/highs.ts";
import type { Engine } from "../src/engine/types.ts";
import { readSketch } from "../src/import/sketches/taccl-sketch.ts";
import type { NamedCollective } from "../src/model/collective/collective.ts";
import { presetTopology } from "../src/model/presets/preset.ts";
import type { Sketch } from "../src/model/sketch/sketch.ts";
import type { AnySchedule } from "../src/model/steps/schedule.ts";
import { besideEngine } from "../src/run/programs/beside.ts";
import { fastestProgram } from "../src/run/programs/fastest.ts";
import { withBlockRate } from "../src/run/programs/instances.ts";
import { lowered, programUs } from "../src/run/programs/programs.ts";
import { synthesize } from "../src/run/synthesize.ts";

/** What is loaded on first use cannot be loaded once `runnerImport` has returned. */
await openHighs();

const COLLECTIVES: readonly NamedCollective[] = ["allgather", "alltoall", "allreduce"];
export const SIZES = [1024, 2 ** 20, 2 ** 30];
/** How long each schedule is solved. */
export const SOLVED_MS = 1000;
/** Baselines: of those that apply the fastest is compared with. */
const BASELINES = ["ring", "rings", "nccl-rings", "nccl-tree", "direct"];

/** A sketch of which one thing differs from the first of its network. */
interface Variant {
  readonly network: string;
  readonly what: string;
  readonly sketch: object;
  readonly chunks: number;
}

/** Returns a sketch of two DGX-2: NVSwitches by a policy, every `apart`-th GPU sends to the other box for those before it. */
function dgx2Sketch(policy: "uc-min" | "uc-max", apart: number): object {
  const gpus = Array.from({ length: 16 }, (_, gpu) => gpu);
  const senders = gpus.filter((gpu) => gpu % apart === apart - 1);
  const ofSender = (sender: number): number[] => gpus.slice(sender - apart + 1, sender + 1);
  return {
    nnodes: 2,
    intranode_sketch: { strategy: "switch", switches: [gpus], switch_hyperedge_strategy: [policy] },
    internode_sketch: {
      strategy: "relay",
      internode_conn: Object.fromEntries(senders.map((sender) => [sender, [sender - apart + 1]])),
      gpus_to_sender_rev_map: Object.fromEntries(senders.map((sender) => [sender, ofSender(sender)])),
    },
    symmetry_offsets: [
      [Math.max(2, apart), 16],
      [16, 32],
    ],
  };
}

/** Returns a sketch of two NDv2, whose NVLinks are used as they are. */
const ndv2Sketch = (connections: object | string): object => ({
  nnodes: 2,
  intranode_sketch: { strategy: "none" },
  internode_sketch: { strategy: "relay", internode_conn: connections },
  symmetry_offsets: [[8, 16]],
});

const dgx2 = (what: string, chunks: number, policy: "uc-min" | "uc-max", apart: number): Variant => ({
  ...{ network: "dgx2:2", what, chunks },
  sketch: dgx2Sketch(policy, apart),
});
const ndv2 = (what: string, chunks: number, connections: object | string): Variant => ({
  ...{ network: "ndv2:2", what, chunks },
  sketch: ndv2Sketch(connections),
});

/** Connections within and between boxes, and pieces of the data: TACCL, 7.1 and 7.2. */
const VARIANTS: readonly Variant[] = [
  dgx2("a relay for each NIC, few switch connections (uc-min), 1 chunk", 1, "uc-min", 2),
  dgx2("many switch connections (uc-max)", 1, "uc-max", 2),
  dgx2("2 chunks", 2, "uc-min", 2),
  dgx2("4 chunks", 4, "uc-min", 2),
  dgx2("4 relays of a box", 1, "uc-min", 4),
  dgx2("each GPU its own relay", 1, "uc-min", 1),
  ndv2("one relay of a box, 1 chunk", 1, { 0: [1] }),
  ndv2("2 chunks", 2, { 0: [1] }),
  ndv2("4 chunks", 4, { 0: [1] }),
  ndv2("each GPU to its like", 1, "direct-map"),
  ndv2("each GPU to all", 1, "fully-connected"),
];

/** A schedule's simulated time, null where there is none; `algorithm`: of the baseline. */
interface SketchTime {
  readonly network: string;
  readonly what: string;
  readonly collective: NamedCollective;
  readonly sizeBytes: number;
  readonly us: number | null;
  readonly algorithm?: string;
}

/** Returns a schedule with its simulated time; null where there is none. */
async function made(
  engine: Engine,
  network: string,
  request: Parameters<typeof synthesize>[2],
): Promise<{ readonly schedule: AnySchedule; readonly us: number } | null> {
  try {
    const { schedule, report } = await synthesize(engine, presetTopology(network), request, false);
    if (!report.verified) throw new Error(`${request.algorithm} on ${network}: not verified`);
    return { schedule, us: report.time.us };
  } catch (error) {
    if (error instanceof InputError || error instanceof InfeasibleError) return null;
    throw error;
  }
}

const sketchOf = ({ network, sketch }: Variant): Sketch =>
  readSketch(JSON.stringify(sketch), "sketch.json", presetTopology(network));

const byTaccl = ({ chunks }: Variant, sketch: Sketch, collective: NamedCollective, sizeBytes: number) => ({
  ...{ algorithm: "taccl", collective, sizeBytes, sketch },
  ...(collective === "alltoall" ? {} : { chunks }),
  timeLimitMs: SOLVED_MS,
});

/** Yields what every sketch takes for every collective and size, and the fastest of the libraries' ways. */
export async function* sketchTimes(): AsyncGenerator<SketchTime> {
  const engine = await openEngine();
  try {
    for (const network of new Set(VARIANTS.map((variant) => variant.network)))
      for (const collective of COLLECTIVES)
        for (const sizeBytes of SIZES) {
          const found = [];
          for (const algorithm of BASELINES) {
            const baseline = await made(engine, network, { algorithm, collective, sizeBytes });
            if (baseline !== null) found.push({ algorithm, us: baseline.us });
          }
          const [best] = found.sort((a, b) => a.us - b.us);
          yield { network, what: "baseline", collective, sizeBytes, ...(best ?? { us: null }) };
        }
    for (const variant of VARIANTS)
      for (const collective of COLLECTIVES)
        for (const sizeBytes of SIZES) {
          const { network, what, chunks } = variant;
          // an all-to-all has its chunks already
          if (collective === "alltoall" && chunks > 1) continue;
          const schedule = await made(engine, network, byTaccl(variant, sketchOf(variant), collective, sizeBytes));
          yield { network, what, collective, sizeBytes, us: schedule?.us ?? null };
        }
  } finally {
    await engine.close();
  }
}

/** Times of a schedule's programs if a thread block moves no more than NCCL counts for one, by instances. */
interface InstancesTime {
  readonly network: string;
  readonly collective: NamedCollective;
  readonly sizeBytes: number;
  /** As they are lowered without a search, in the faster protocol; null: beyond the runtime's limits. */
  readonly us: Readonly<Record<string, number | null>>;
  /** What `export` finds without and with `--instances auto`. */
  readonly usual: { readonly us: number; readonly instances: number };
  readonly auto: { readonly us: number; readonly instances: number };
}

export const INSTANCES = [1, 2, 4, 8];

/** Returns the time of a program of so many instances, null where the runtime takes none. */
function instancesUs(schedule: AnySchedule, how: ReturnType<typeof withBlockRate>, instances: number): number | null {
  try {
    const times = (["Simple", "LL128"] as const).map((protocol) =>
      programUs(lowered(schedule, { ...how, order: "simulated", instances, protocol }), schedule, how),
    );
    return Math.min(...times);
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** Yields the times of programs in several instances: TACCL, 7.2. */
export async function* instancesTimes(): AsyncGenerator<InstancesTime> {
  const engine = await openEngine();
  try {
    const cases = [
      ["dgx2:2", "taccl"],
      ["ndv2:2", "taccl"],
      ["dgx-h100:1", "rhd"],
    ] as const;
    for (const [network, algorithm] of cases)
      for (const collective of ["allgather", "allreduce"] as const)
        for (const sizeBytes of SIZES) {
          const variant = VARIANTS.find((one) => one.network === network);
          const request =
            variant === undefined
              ? { algorithm, collective, sizeBytes }
              : byTaccl(variant, sketchOf(variant), collective, sizeBytes);
          const found = await made(engine, network, request);
          if (found === null) throw new Error(`no ${collective} on ${network}`);
          const { schedule } = found;
          const how = withBlockRate({ runtime: "azure", instances: "auto" }, schedule.topology);
          const us = Object.fromEntries(INSTANCES.map((many) => [many, instancesUs(schedule, how, many)]));
          const beside = besideEngine(engine);
          const usual = await fastestProgram(schedule, { runtime: "azure" }, beside);
          const auto = await fastestProgram(schedule, { runtime: "azure", instances: "auto" }, beside);
          yield {
            ...{ network, collective, sizeBytes, us },
            usual: { us: programUs(usual.program, schedule, how), instances: usual.options.instances ?? 1 },
            auto: { us: auto.us, instances: auto.options.instances ?? 1 },
          };
        }
  } finally {
    await engine.close();
  }
}
