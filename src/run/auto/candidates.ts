import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { LeftOut } from "../../report/result.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { hasNothingToSend, problemOf } from "../../request/problem.ts";
import { applicableTo, refusalOf } from "../../synthesize/applicable.ts";
import { ALGORITHMS, type Algorithm, algorithmNamed, isPhaseMaker, isTreeMaker } from "../../synthesize/catalog.ts";

/** Which algorithms a request can be given to, and what each is asked. */

export type { Algorithm };

/** Returns what an algorithm is asked: options of steps, trees and phases do not mix, and chunks are not pieces. */
export function optionsFor(
  algorithm: Algorithm,
  options: Omit<SynthesizeOptions, "algorithm" | "timeLimitMs">,
): SynthesizeOptions {
  const { trials, switchDegree, chunks, k, eulerian, offload, nvls, ...both } = options;
  const ofTrees = {
    ...(k !== undefined && { k }),
    ...(eulerian !== undefined && { eulerian }),
    ...(nvls !== undefined && { nvls }),
  };
  const heeded = "heeds" in algorithm ? (algorithm.heeds ?? []) : [];
  const ofSteps = {
    ...(trials !== undefined && heeded.includes("trials") && { trials }),
    ...(switchDegree !== undefined && heeded.includes("switchDegree") && { switchDegree }),
    ...(chunks !== undefined && { chunks }),
  };
  const ofPhases = { ...(chunks !== undefined && { chunks }), ...(offload !== undefined && { offload }) };
  const own = isTreeMaker(algorithm) ? ofTrees : isPhaseMaker(algorithm) ? ofPhases : ofSteps;
  return { ...both, ...own, algorithm: algorithm.name, simulate: true };
}

/** Returns the collective of a request in one chunk per NPU, on its network. Throws as problemOf. */
export const wholeProblem = (topology: Topology, options: Omit<SynthesizeOptions, "algorithm">) =>
  problemOf(topology, { ...options, chunks: 1 });

/** Baselines that list more transfers than this are tried only where they are named: seconds each, and gigabytes. */
const MOST_LISTED = 4e6;

/** Whether an algorithm lists every transfer, however many. */
const listsTransfers = (algorithm: Algorithm): boolean =>
  !isTreeMaker(algorithm) && !isPhaseMaker(algorithm) && algorithm.makesLogs !== true;

/**
 * Returns the algorithms that can be used, of those named or of all that make the collective, and the others. Throws InputError
 * where none can.
 */
export function candidatesFor(
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
  names?: readonly string[],
): { readonly candidates: readonly Algorithm[]; readonly leftOut: readonly LeftOut[] } {
  const kind = typeof options.collective === "string" ? options.collective : options.collective.kind;
  const named =
    (names && [...new Set(names)])?.map((name) => algorithmNamed(name, [], "--algorithms")) ??
    ALGORITHMS.filter(({ collectives }) => collectives.includes(kind));
  const problem = wholeProblem(topology, options);
  const candidates: Algorithm[] = [];
  const leftOut: LeftOut[] = [];
  const { chunks, collective } = options;
  const cut = typeof chunks === "number" && typeof collective === "string" ? chunks : 1;
  const transfers = cut * leastTransfers(problem.collective);
  for (const algorithm of named) {
    if (names === undefined && transfers > MOST_LISTED && listsTransfers(algorithm)) {
      const reason = `tried only where it is named: it would list ${transfers.toExponential(1)} transfers`;
      leftOut.push({ algorithm: algorithm.name, reason });
      continue;
    }
    if (names === undefined && "solves" in algorithm) {
      leftOut.push({ algorithm: algorithm.name, reason: "tried only where it is named: it solves integer programs" });
      continue;
    }
    const needed = refusalOf(algorithm, problem.topology, problem.collective);
    if (needed === null) candidates.push(algorithm);
    else leftOut.push({ algorithm: algorithm.name, reason: `needs ${needed}` });
  }
  if (candidates.length === 0) {
    const [first] = named;
    if (first === undefined) throw new InputError("--algorithms", "at least one algorithm");
    const needed = refusalOf(first, problem.topology, problem.collective) ?? "fewer NPUs";
    throw inapplicable(names === undefined ? "--algorithm" : "--algorithms", first.name, needed, problem);
  }
  refuseUnheededByAll(candidates, options);
  return { candidates, leftOut };
}

/** Throws InputError for an option that none of the algorithms is asked with. */
function refuseUnheededByAll(
  candidates: readonly Algorithm[],
  options: Omit<SynthesizeOptions, "algorithm" | "timeLimitMs">,
): void {
  const flags = {
    trials: "trials",
    switchDegree: "switch-degree",
    k: "k",
    eulerian: "eulerian",
    offload: "offload",
  } as const;
  for (const [option, flag] of Object.entries(flags) as [keyof typeof flags, string][]) {
    const value = options[option];
    if (value === undefined || candidates.some((one) => optionsFor(one, options)[option] !== undefined)) continue;
    throw new InputError(`--${flag}`, `an algorithm that heeds it among those tried (${namesOf(candidates)})`, value);
  }
}

const namesOf = (algorithms: readonly Algorithm[]): string => algorithms.map(({ name }) => name).join(", ");

/** Throws InputError for an algorithm that cannot be used: what it needs, and which algorithms can be. */
export function refuseInapplicable(
  algorithm: Algorithm,
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
): void {
  if (algorithm.refuses === undefined) return;
  const problem = wholeProblem(topology, options);
  const makesSteps = !isTreeMaker(algorithm) && !isPhaseMaker(algorithm);
  if (makesSteps && hasNothingToSend(problem)) return;
  const needed = refusalOf(algorithm, problem.topology, problem.collective);
  if (needed !== null) throw inapplicable("--algorithm", algorithm.name, needed, problem);
}

const MOST_NAME = 60;

/** Returns the error for an algorithm that cannot be used. */
function inapplicable(
  place: "--algorithm" | "--algorithms",
  name: string,
  needed: string,
  { topology, collective }: Pick<ReturnType<typeof wholeProblem>, "topology" | "collective">,
): InputError {
  const network = topology.name.length > MOST_NAME ? "this network" : topology.name || "this network";
  const others = applicableTo(topology, collective).join(", ");
  return new InputError(place, `one that ${network} can have (${others}; ${name} needs ${needed})`, name);
}

/** Returns whether an error says that one algorithm could not do what was asked, so that others may be used in its place. */
export const isOwnFailure = (error: unknown): error is Error =>
  error instanceof InputError || error instanceof InfeasibleError || error instanceof InternalError;
