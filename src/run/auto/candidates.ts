import { InfeasibleError, InputError, InternalError } from "../../base/errors.ts";
import { type OptionName, optionName } from "../../base/option-names.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import { leastTransfers, meanHops } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { LeftOut } from "../../report/result.ts";
import { refuseUntakenByAll } from "../../request/maker-options.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { hasNothingToSend, problemOf } from "../../request/problem.ts";
import { applicableTo, refusalOf } from "../../synthesize/applicable.ts";
import { ALGORITHMS, type Algorithm, algorithmNamed } from "../../synthesize/catalog.ts";

/** Which algorithms a request can be given to, and what each is asked. */

export type { Algorithm };

/** Returns the collective of a request in one chunk per NPU, on its network. Throws as problemOf. */
export const wholeProblem = (topology: Topology, options: Omit<SynthesizeOptions, "algorithm">) =>
  problemOf(topology, { ...options, chunks: 1 });

/** Baselines that list more transfers than this are tried only where they are named: seconds each, and gigabytes. */
const MOST_LISTED = 4e6;

/** Nor where chunks go through links so many times in all: a minute for the judge alone. */
const MOST_HOPS = 2e7;

/** Whether an algorithm lists every transfer, however many. */
const listsTransfers = (algorithm: Algorithm): boolean => algorithm.makes === "steps" && algorithm.makesLogs !== true;

/** Part of the time left that solvers are given: they end by themselves, with the best they have, before it is over. */
export const SOLVERS_SHARE = 0.8;

/** Returns why an algorithm is left out unless it is named; null where it is not. `hops`: of chunks that go all the way. */
function whyOnlyNamed(
  algorithm: Algorithm,
  kind: CollectiveKind,
  transfers: number,
  hops: number,
  { sketch, timeLimitMs }: Pick<SynthesizeOptions, "sketch" | "timeLimitMs">,
): string | null {
  const { goesAllTheWay, solves, endsInTime } = algorithm.traits ?? {};
  if (transfers > MOST_LISTED && (listsTransfers(algorithm) || (algorithm.makes === "steps" && kind === "alltoall")))
    return `it would list ${transfers.toExponential(1)} transfers`;
  if (goesAllTheWay === true && hops > MOST_HOPS) return `chunks would go through links ${hops.toExponential(1)} times`;
  if (solves !== true) return null;
  if (endsInTime !== true) return "it solves integer programs";
  const isAsked = sketch !== undefined || timeLimitMs !== undefined;
  return isAsked ? null : `it solves integer programs, and there is no ${optionName("sketch")}`;
}

/** Algorithms that can be used, and the others. */
export interface Candidates {
  readonly candidates: readonly Algorithm[];
  readonly leftOut: readonly LeftOut[];
}

/** As `candidatesOrNone`. Throws InputError where none can be used. */
export function candidatesFor(
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
  names?: readonly string[],
): Candidates {
  const found = candidatesOrNone(topology, options, names);
  if (found.candidates.length > 0) return found;
  const first = found.leftOut[0];
  if (first === undefined) throw new InputError(optionName("algorithms"), "at least one algorithm");
  const problem = wholeProblem(topology, options);
  const algorithm = algorithmNamed(first.algorithm, [], optionName("algorithms"));
  const needed = refusalOf(algorithm, problem.topology, problem.collective) ?? "fewer NPUs";
  const place = names === undefined ? optionName("algorithm") : optionName("algorithms");
  throw inapplicable(place, algorithm.name, needed, problem);
}

/**
 * Returns the algorithms that can be used, of those named or of all that make the collective, and the others.
 * `options.timeLimitMs`: of each algorithm.
 */
export function candidatesOrNone(
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
  names?: readonly string[],
): Candidates {
  const kind = typeof options.collective === "string" ? options.collective : options.collective.kind;
  const named =
    (names && [...new Set(names)])?.map((name) => algorithmNamed(name, [], optionName("algorithms"))) ??
    ALGORITHMS.filter(({ collectives }) => collectives.includes(kind));
  const problem = wholeProblem(topology, options);
  const candidates: Algorithm[] = [];
  const leftOut: LeftOut[] = [];
  const { chunks, collective } = options;
  const cut = typeof chunks === "number" && typeof collective === "string" ? chunks : 1;
  const transfers = cut * leastTransfers(problem.collective);
  const hops =
    names === undefined && named.some(({ traits }) => traits?.goesAllTheWay)
      ? transfers * meanHops(problem.topology)
      : 0;
  for (const algorithm of named) {
    const reason =
      names === undefined ? whyOnlyNamed(algorithm, problem.collective.kind, transfers, hops, options) : null;
    if (reason !== null) {
      leftOut.push({ algorithm: algorithm.name, reason: `tried only where it is named: ${reason}` });
      continue;
    }
    const needed = refusalOf(algorithm, problem.topology, problem.collective);
    if (needed === null) candidates.push(algorithm);
    else leftOut.push({ algorithm: algorithm.name, reason: `needs ${needed}` });
  }
  refuseUntakenByAll(candidates, options);
  return { candidates, leftOut };
}

/** From this many transfers on baselines that list them take longer than searches and trees do. */
const MANY_TRANSFERS = 1e5;
export const isMany = (transfers: number): boolean => transfers >= MANY_TRANSFERS;

/** Baselines that know nothing of the network win least often. */
const AFTER_ALL_OTHERS = 1e3;

/** Whether an algorithm hardly ever wins: it goes by ranks alone, or lists very many transfers. */
export const seldomWins = (algorithm: Algorithm, transfers: number): boolean =>
  algorithm.traits?.library === "in rank order" || (isMany(transfers) && listsTransfers(algorithm));

/** Returns the order of trial: cheap and promising first, what goes by ranks alone and what solves programs last. */
export function trialOrder(candidates: readonly Algorithm[], transfers: number): Algorithm[] {
  const rank = (algorithm: Algorithm): number => {
    const { promising, searches = 0, library, solves } = algorithm.traits ?? {};
    if (solves === true) return Number.POSITIVE_INFINITY;
    if (promising !== undefined) return promising - Number.MAX_SAFE_INTEGER;
    if (library === "in rank order") return AFTER_ALL_OTHERS;
    if (!isMany(transfers)) return searches;
    return searches > 0 ? 1 - 1 / searches : listsTransfers(algorithm) ? 2 : 1;
  };
  return [...candidates].sort((a, b) => rank(a) - rank(b));
}

/** Throws InputError for an algorithm that cannot be used: what it needs, and which algorithms can be. */
export function refuseInapplicable(
  algorithm: Algorithm,
  topology: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
): void {
  if (algorithm.refuses === undefined) return;
  const problem = wholeProblem(topology, options);
  if (algorithm.makes === "steps" && hasNothingToSend(problem)) return;
  const needed = refusalOf(algorithm, problem.topology, problem.collective);
  if (needed !== null) throw inapplicable(optionName("algorithm"), algorithm.name, needed, problem);
}

const MOST_NAME = 60;

/** Returns the error for an algorithm that cannot be used. */
function inapplicable(
  place: OptionName,
  name: string,
  needed: string,
  { topology, collective }: Pick<ReturnType<typeof wholeProblem>, "topology" | "collective">,
): InputError {
  const network = topology.name.length > MOST_NAME ? "this network" : topology.name || "this network";
  const others = applicableTo(topology, collective).join(", ");
  const instead = others === "" ? "" : "; `banyan list algorithms --topology ...` lists those that can be used there";
  return new InputError(place, `one that ${network} can have (${others}; ${name} needs ${needed})`, name)
    .as("not-applicable")
    .saying(`${place} ${name} needs ${needed}; ${network} does not give it${instead}`);
}

/** Returns whether an error says that one algorithm could not do what was asked, so that others may be used in its place. */
export const isOwnFailure = (error: unknown): error is Error =>
  error instanceof InputError || error instanceof InfeasibleError || error instanceof InternalError;
