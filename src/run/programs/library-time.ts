import { InfeasibleError, InputError } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type CompareTarget, LIBRARY_OF, type SetLibrary } from "../../report/comparison.ts";
import type { WantedProgram } from "../../request/from-texts.ts";
import { askedOf, openRequest } from "../../request/maker-options.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import type { Problem } from "../../request/problem.ts";
import type { Algorithm } from "../../synthesize/catalog.ts";
import { candidatesFor, wholeProblem } from "../auto/candidates.ts";
import { synthesize } from "../synthesize.ts";
import { besideEngine } from "./beside.ts";
import { fastestWithin } from "./fastest.ts";
import { KnownPrograms } from "./known-programs.ts";
import { kernelsOf, librariesOf } from "./libraries.ts";
import { fastestOfMpi, mpiSettings } from "./mpi-settings.ts";
import { unheard } from "./programs.ts";
import { kernelsUs, type NcclKernels, ncclKernels } from "./settings.ts";

/** What an algorithm of a library takes as the library runs it. */
export interface LibraryTime {
  readonly algorithm: string;
  /** Which of the libraries behind the target, where there are several: "Open MPI". */
  readonly library?: SetLibrary;
  readonly us: number;
}

/** A schedule that takes this many times the fastest program so far becomes no faster one: programs took at least 0.54 of theirs. */
export const HOPELESS = 2;

export const isRefusal = (error: unknown): error is Error =>
  error instanceof InputError || error instanceof InfeasibleError;

interface Sought {
  /** What it takes as a program that the target loads, where that is known. */
  readonly loadedUs?: number;
  readonly instances?: WantedProgram["instances"];
  /** What takes longer is not looked at closer. */
  readonly worthUs?: number;
  readonly known?: KnownPrograms;
}

/**
 * Returns what a schedule of an algorithm that a target's library has takes as the library runs it: as a program of its own kernels,
 * or of those of the target where that is faster; Infinity where there is none.
 */
export async function usInLibrary(
  engine: Engine,
  schedule: AnySchedule,
  target: CompareTarget,
  { loadedUs, instances, worthUs = Number.POSITIVE_INFINITY, known = new KnownPrograms() }: Sought,
): Promise<number> {
  const runtimes = new Set([kernelsOf(target, schedule), ...(target === "nccl" ? [] : [target])]);
  if (loadedUs !== undefined && target !== "nccl") runtimes.delete(target);
  let least = loadedUs ?? Number.POSITIVE_INFINITY;
  for (const runtime of runtimes) {
    try {
      const how = { runtime, ...(instances === "auto" && { instances }) };
      const worth = Math.min(worthUs, least);
      const own = await fastestWithin(worth, schedule, how, known, besideEngine(engine), unheard);
      least = Math.min(least, "slowerUs" in own ? own.slowerUs : own.us);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  return least;
}

type Call = Pick<SynthesizeOptions, "collective" | "group"> & { readonly sizeBytes: number };

const isAmongAll = ({ collective, group }: Call): boolean => typeof collective === "string" && group === undefined;

/** Returns what NCCL's kernels take, where NCCL stands behind a target; null for groups, and where nothing is modelled. */
export const ncclKernelsOf = (
  { topology, collective: { kind, rootRank } }: Problem,
  call: Call,
  target: CompareTarget | undefined,
): NcclKernels | null =>
  target !== undefined && LIBRARY_OF[target] === "NCCL" && isAmongAll(call)
    ? ncclKernels(topology, kind, rootRank, call.sizeBytes)
    : null;

/** Returns what MPI libraries can be told, where they stand behind a target; null for groups, and where nothing is modelled. */
export const mpiSettingsOf = (
  { topology, collective: { kind, rootRank } }: Problem,
  call: Call,
  target: CompareTarget | undefined,
): ReturnType<typeof mpiSettings> =>
  target === "mpi" && isAmongAll(call) && kind !== "custom"
    ? mpiSettings(topology, { collective: kind, rootRank, sizeBytes: call.sizeBytes })
    : null;

/** Among more ranks a program takes a minute each. */
const MOST_RANKS_LOOKED_AT = 64;

/**
 * Returns the fastest of what the library behind a target has by itself; null where it has nothing here. Among more than 64 ranks of
 * NCCL's kernels and of what is `seen` alone: what algorithms took as programs of the target.
 */
export async function libraryTime(
  engine: Engine,
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm"> & { readonly sizeBytes: number },
  target: CompareTarget,
  { seen, ...sought }: Pick<Sought, "instances" | "known"> & { readonly seen?: ReadonlyMap<string, number> } = {},
): Promise<LibraryTime | null> {
  const problem = wholeProblem(topology, options);
  const ofMpi = mpiSettingsOf(problem, options, target);
  const fastest = ofMpi === null ? null : fastestOfMpi(ofMpi);
  if (fastest !== null) return { algorithm: fastest.algorithm, library: fastest.library, us: fastest.us };
  const isLibrary = librariesOf(problem, target);
  let least: LibraryTime | null = null;
  const leastUs = (): number => least?.us ?? Number.POSITIVE_INFINITY;
  const { onProgress: _, ...open } = openRequest(options);
  const candidates = candidatesFor(topology, open).candidates.filter(({ name }) => isLibrary(name));
  const kernels = ncclKernelsOf(problem, options, target);
  const meet = (algorithm: string, us: number): void => {
    if (us < leastUs()) least = { algorithm, us };
  };
  const others: Algorithm[] = [];
  for (const algorithm of candidates) {
    const us = kernels === null ? null : kernelsUs(kernels, algorithm.name);
    if (us === null) others.push(algorithm);
    else meet(algorithm.name, us);
  }
  if (problem.collective.groupSize > MOST_RANKS_LOOKED_AT) {
    for (const { name } of others) meet(name, seen?.get(name) ?? Number.POSITIVE_INFINITY);
    return least;
  }
  for (const algorithm of others) {
    try {
      const { schedule, report } = await synthesize(engine, topology, askedOf(algorithm, open), false);
      if (report.time.us > HOPELESS * leastUs()) continue;
      meet(algorithm.name, await usInLibrary(engine, schedule, target, { ...sought, worthUs: leastUs() }));
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  return least;
}
