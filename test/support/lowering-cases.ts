import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { COLLECTIVE_KINDS, type CollectiveKind, type NamedCollective } from "../../src/model/collective/collective.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import type { TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { loweredOf } from "../../src/run/programs/programs.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { topology } from "../../src/run/verbs.ts";
import { quick } from "./runs.ts";

/** What is synthesized to be lowered. */
export interface LoweringCase {
  readonly network: string;
  readonly collective: NamedCollective;
  readonly algorithm: string;
  readonly chunks?: number;
  readonly policy?: string;
}

/** Small networks of 2, 3, 4, 5, 8 and 16 NPUs on which every synthesizer of steps works. */
export const STEP_NETWORKS = ["ring:2", "ring:3", "mesh:2x2", "switch:5", "hypercube:3", "torus:4x4"] as const;
export const STEP_ALGORITHMS = ["tacos", "ring", "direct"] as const;
const TREE_NETWORKS = ["ring:5", "switch:8", "dgx-a100:2", "dgx-h100:4", "mi250:1"] as const;
const LARGE_TREE_NETWORKS: readonly string[] = ["dgx-h100:4", "mi250:1"];
const TREE_COLLECTIVES = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"] as const;

/** Collectives that an algorithm knows. */
export const collectivesOf = (algorithm: string): readonly NamedCollective[] =>
  algorithm === "ring" ? ["allgather", "reducescatter", "allreduce"] : COLLECTIVE_KINDS;

export const STEP_CASES: readonly LoweringCase[] = STEP_ALGORITHMS.flatMap((algorithm) =>
  STEP_NETWORKS.flatMap((network, i) =>
    collectivesOf(algorithm).map((collective) => ({ network, collective, algorithm, chunks: 1 + (i % 3) })),
  ),
);

/** Of the large networks `npm test` takes one collective each. */
export const TREE_CASES: readonly LoweringCase[] = quick(
  TREE_NETWORKS.flatMap((network) =>
    TREE_COLLECTIVES.map((collective) => ({ network, collective, algorithm: "forestcoll" })),
  ),
  ({ network, collective }) => !LARGE_TREE_NETWORKS.includes(network) || collective === "broadcast",
);

export const titleOf = ({ network, collective, algorithm }: LoweringCase): string =>
  `${algorithm} ${collective} on ${network}`;

/** Returns an engine without threads. */
export const plainEngine = (): Promise<Engine> => openEngine({ threads: 0 });

const made = new Map<string, Promise<Schedule | TreeFlow>>();

/** Returns the schedule of a case, made once in a process for all tests. */
export function scheduleOf(engine: Engine, what: LoweringCase): Promise<Schedule | TreeFlow> {
  const key = JSON.stringify([what.network, what.algorithm, what.collective, what.chunks ?? 1, what.policy ?? null]);
  const found = made.get(key) ?? make(engine, what);
  made.set(key, found);
  return found;
}

async function make(engine: Engine, what: LoweringCase): Promise<Schedule | TreeFlow> {
  const { network, algorithm, collective, chunks = 1, policy } = what;
  const kind = { collective, algorithm, sizeBytes: 2 ** 20, ...(policy === undefined ? {} : { policy }) };
  const search = algorithm === "tacos" ? { trials: 1 } : {};
  const options = algorithm === "forestcoll" ? kind : { ...kind, chunks, ...search };
  const { schedule } = await synthesize(engine, topology(network), options);
  return loweredOf(schedule) as Schedule | TreeFlow;
}

/** Returns whether a rank has a part in a chunk at the start, or wants it at the end. */
export function holds(
  kind: CollectiveKind,
  when: "start" | "end",
  rank: number,
  block: number,
  n: number,
  root: number,
) {
  const start = when === "start";
  switch (kind) {
    case "allgather":
      return !start || block === rank;
    case "reducescatter":
      return start || block === rank;
    case "allreduce":
      return true;
    case "broadcast":
      return !start || rank === root;
    case "reduce":
      return start || rank === root;
    case "gather":
      return start ? block === rank : rank === root;
    case "scatter":
      return start ? rank === root : block === rank;
    case "alltoall":
      return start ? Math.floor(block / n) === rank : block % n === rank;
    default:
      throw new Error(kind);
  }
}
