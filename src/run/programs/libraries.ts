import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import type { NcclEstimate } from "../../model/nccl/model.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { boxesOf } from "../../model/routes/rings.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { type CompareTarget, LIBRARY_OF } from "../../report/comparison.ts";
import type { Problem } from "../../request/problem.ts";
import { refusalOf } from "../../synthesize/applicable.ts";
import { ALGORITHMS, algorithmNamed } from "../../synthesize/catalog.ts";

/** What libraries run by themselves, and how. */

/**
 * Returns which algorithms libraries run on a network: what they have within a box not over several of them, where one that they
 * have applies that is laid over these, compared or not. With a target those that its library has.
 */
export function librariesOf({ topology, collective }: Problem, target?: CompareTarget): (algorithm: string) => boolean {
  const has = (algorithm: string): boolean => target === undefined || isOfLibrary(algorithm, target, collective.kind);
  const isOver = ALGORITHMS.some(
    (algorithm) =>
      algorithm.traits?.library === "over boxes" &&
      has(algorithm.name) &&
      refusalOf(algorithm, topology, collective) === null,
  );
  const inner = isOver && (boxesOf(topology)?.length ?? 1) > 1;
  return (algorithm) => {
    const { library } = algorithmNamed(algorithm).traits ?? {};
    return library !== undefined && has(algorithm) && !(inner && library === "within a box");
  };
}

/** The algorithms of ours that do as NCCL's, the most like it first. */
export const LIKE_NCCLS: Readonly<Record<NcclEstimate["algorithm"], readonly string[]>> = {
  Ring: ["nccl-rings", "rings", "ring"],
  Tree: ["nccl-tree", "dbt"],
  NVLS: ["nvls"],
  NVLSTree: ["nvls"],
  PAT: ["pat"],
};

/** The algorithms of Open MPI and of MPICH that do as ours of that name, in rank order. */
export const LIKE_MPIS: Readonly<Record<CollectiveKind, Readonly<Record<string, readonly string[]>>>> = {
  allreduce: { ring: ["ring"], rhd: ["rabenseifner", "reduce_scatter_allgather"] },
  allgather: { ring: ["ring"], rhd: ["recursive_doubling"], bruck: ["bruck", "brucks"] },
  reducescatter: { rhd: ["recursive_halving"], direct: ["pairwise"] },
  alltoall: {
    direct: ["linear", "linear_sync", "scattered", "pairwise", "two_proc"],
    bruck: ["modified_bruck", "brucks"],
  },
  broadcast: { ring: ["pipeline"], direct: ["basic_linear"] },
  reduce: { ring: ["pipeline"], direct: ["linear"] },
  gather: { direct: ["basic_linear"] },
  scatter: { direct: ["basic_linear", "linear_nb"] },
  custom: {},
};

/** Returns whether the library that stands behind a target has an algorithm for a collective. */
const isOfLibrary = (algorithm: string, target: CompareTarget, collective: CollectiveKind): boolean =>
  target === "mpi"
    ? LIKE_MPIS[collective][algorithm] !== undefined
    : algorithmNamed(algorithm).traits?.librariesOf?.includes(LIBRARY_OF[target]) === true;

/** Returns whether switches sum or duplicate what a schedule moves. */
export const isInNetwork = (schedule: AnySchedule): boolean => isTreeFlow(schedule) && goesThroughSwitch(schedule);

/**
 * Returns the machine whose programs run as a library's own kernels do: NCCL's and RCCL's move data through connections, as MSCCL's,
 * but where switches sum; there NCCL loads and stores through them, as MSCCL++.
 */
export function kernelsOf(target: CompareTarget, schedule: AnySchedule): RuntimeName {
  if (target === "mpi" || target === "rccl") return target;
  return isInNetwork(schedule) ? "mscclpp" : "azure";
}
