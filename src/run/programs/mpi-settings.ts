import {
  type LibraryRequest,
  libraryMessages,
  type MpiLibrary,
  takesSegments,
} from "../../lower/mpi/library-algorithms.ts";
import { libraryProgram } from "../../lower/mpi/library-program.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { mpichAlgorithms, mpichChoice, mpichEnvironment } from "../../model/mpi/mpich.ts";
import { openMpiAlgorithms, openMpiChoice, openMpiEnvironment } from "../../model/mpi/open-mpi.ts";
import { toUs } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { LibrarySetting, NotModelled, SizeSettings } from "../../report/comparison.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { LIKE_MPIS } from "./libraries.ts";
import { settingsOf } from "./settings.ts";

/** What Open MPI and MPICH can be told, each simulated as the messages that their algorithms send. */

/** Among more ranks it would take too long. */
const MOST_RANKS = 256;
/** Segments that Open MPI's trees and chains are tried with, beside whole messages. */
const SEGMENTS = [2 ** 14, 2 ** 17, 2 ** 20];
/** Chains of Open MPI's chain: where it is told to take it, and where it chooses. */
const CHAINS_IF_TOLD = 4;

const LIBRARIES: readonly MpiLibrary[] = ["Open MPI", "MPICH"];
const CHOICES: Readonly<Record<MpiLibrary, typeof openMpiChoice>> = { "Open MPI": openMpiChoice, MPICH: mpichChoice };
const ALGORITHMS: Readonly<Record<MpiLibrary, typeof openMpiAlgorithms>> = {
  "Open MPI": openMpiAlgorithms,
  MPICH: mpichAlgorithms,
};
const ENVIRONMENTS: Readonly<Record<MpiLibrary, typeof openMpiEnvironment>> = {
  "Open MPI": openMpiEnvironment,
  MPICH: mpichEnvironment,
};

/** Times of a call among all NPUs, by MPI libraries' own algorithms. */
export interface MpiSettings {
  /** Of each library whose choice is modelled. */
  readonly sizes: readonly SizeSettings[];
  /** All that were simulated. */
  readonly settings: readonly LibrarySetting[];
  readonly notModelled: readonly NotModelled[];
}

export interface MpiCall {
  readonly collective: NamedCollective;
  readonly rootRank: number;
  readonly sizeBytes: number;
}

/** Returns what an algorithm takes, us; null where there is no model of it. */
function usOf(
  topology: Topology,
  library: MpiLibrary,
  { collective, rootRank, sizeBytes }: MpiCall,
  algorithm: string,
  how: Pick<LibraryRequest, "segmentBytes" | "chains">,
): number | null {
  const ranks = topology.npuCount;
  const messages = libraryMessages(library, collective, algorithm, { ranks, rootRank, sizeBytes, ...how });
  if (messages === null) return null;
  const { run, fromRoot } = messages;
  const program = libraryProgram({ name: `${algorithm} of ${library}`, collective, ranks, rootRank, fromRoot }, run);
  return toUs(simulateProgram(program, topology, { sizeBytes }).ps);
}

/** Returns the fastest of some settings, if there are any. */
const bestOf = ([first, ...others]: readonly LibrarySetting[]): { readonly best?: LibrarySetting } =>
  first === undefined ? {} : { best: others.reduce((best, one) => (one.us < best.us ? one : best), first) };

/** Returns what a library takes by default and as it can be told. */
function settingsFor(topology: Topology, library: MpiLibrary, call: MpiCall) {
  const { collective, sizeBytes } = call;
  const ranks = topology.npuCount;
  const settingOf = (algorithm: string, segmentBytes: number, chains: number): LibrarySetting[] => {
    const us = usOf(topology, library, call, algorithm, { segmentBytes, chains });
    const environment = ENVIRONMENTS[library](collective, algorithm, segmentBytes);
    return us === null ? [] : [{ library, algorithm, ...(segmentBytes > 0 && { segmentBytes }), us, environment }];
  };
  const name = CHOICES[library](collective, ranks, sizeBytes);
  const [chosen] = settingOf(name, 0, 1);
  const told = ALGORITHMS[library](collective, ranks).flatMap((algorithm) => {
    const isCut = library === "Open MPI" && takesSegments(collective, algorithm);
    const segments = [0, ...(isCut ? SEGMENTS.filter((bytes) => bytes < sizeBytes) : [])];
    return segments.flatMap((bytes) => settingOf(algorithm, bytes, CHAINS_IF_TOLD));
  });
  return { name, chosen, told };
}

/**
 * Returns what a collective among all NPUs takes by default in Open MPI (coll/tuned of 4.1 and 5.0) and in MPICH (4 and 5), and by each
 * algorithm that they can be told to take; each rank is a process, in order. What has no model is named. Null among more than 256
 * ranks. O(settings x messages).
 */
export function mpiSettings(topology: Topology, call: MpiCall): MpiSettings | null {
  if (topology.npuCount > MOST_RANKS || topology.npuCount < 2) return null;
  const { sizeBytes } = call;
  const all = LIBRARIES.map((library) => ({ library, ...settingsFor(topology, library, call) }));
  return {
    sizes: all.flatMap(({ library, chosen, told }) =>
      chosen === undefined ? [] : [{ library, ...settingsOf(sizeBytes, chosen, told) }],
    ),
    settings: all.flatMap(({ chosen, told }) => (chosen === undefined ? told : [chosen, ...told])),
    notModelled: all.flatMap(({ library, name, chosen, told }) =>
      chosen === undefined ? [{ sizeBytes, library, algorithm: name, ...bestOf(told) }] : [],
    ),
  };
}

/** Returns the fastest of what MPI libraries have for a call, as they would be set; null where nothing is modelled. */
export function fastestOfMpi({ sizes, notModelled }: MpiSettings): LibrarySetting | null {
  const { best = null } = bestOf([...sizes, ...notModelled].flatMap((one) => one.best ?? []));
  return best;
}

/** Returns what those of MPI libraries take that do as an algorithm of ours; null where none does. */
export function likeOursUs({ settings }: MpiSettings, collective: NamedCollective, algorithm: string): number | null {
  const like = LIKE_MPIS[collective][algorithm] ?? [];
  const own = settings.filter((one) => like.includes(one.algorithm));
  return own.length === 0 ? null : Math.min(...own.map(({ us }) => us));
}
