import { type Random, random } from "../../../src/base/random.ts";
import { pick } from "../draws.ts";
import { changedInput } from "./changed-input.ts";
import type { Outcome } from "./law.ts";

/** A search for inputs that reach what none before has reached, and for those that break the law. */

/** What inputs reach: branches, each with how often (about) it was taken. */
export interface Coverage {
  /** Forgets what was reached. */
  clear(): void;
  /** Returns what was reached since: branch x 8 + how often, as a power of two; ascending. */
  reached(): readonly number[];
  /** Returns words in the code that was reached. */
  words(): readonly string[];
}

export interface Finding {
  readonly kind: string;
  readonly what: string;
  readonly input: string;
}

export interface Search {
  readonly runs: number;
  readonly read: number;
  /** Inputs that reached something new, in order, those given first. */
  readonly corpus: readonly string[];
  /** Branches that were reached. */
  readonly branches: ReadonlySet<number>;
  /** One for each kind, as short as could be made. */
  readonly findings: readonly Finding[];
}

export interface SearchOptions {
  readonly given: readonly string[];
  readonly seed: number;
  /** Whether to go on. */
  goesOn(runs: number): boolean;
  /** Runs an input; `outcomeOf` with what else is measured. */
  run(input: string): Promise<Outcome>;
}

const branchOf = (feature: number): number => feature >> 3;

/** Returns what was found. Deterministic but for `goesOn`. */
export async function search(coverage: Coverage, { given, seed, goesOn, run }: SearchOptions): Promise<Search> {
  const corpus: string[] = [];
  const seen = new Set<number>();
  const findings = new Map<string, Finding>();
  let [runs, read] = [0, 0];
  const tried = async (input: string): Promise<void> => {
    runs++;
    coverage.clear();
    const { read: isRead, breach } = await run(input);
    if (isRead) read++;
    if (breach !== null) {
      const known = findings.get(breach.kind);
      if (known === undefined || known.input.length > input.length) findings.set(breach.kind, { ...breach, input });
      return;
    }
    const before = seen.size;
    for (const feature of coverage.reached()) seen.add(feature);
    if (seen.size > before) corpus.push(input);
  };
  for (const input of given) await tried(input);
  for (let turn = 0; goesOn(runs); turn++) {
    const draws = random(seed, turn);
    const material = { words: coverage.words(), others: corpus };
    await tried(changedInput(corpus.length === 0 ? "" : chosen(corpus, draws), draws, material));
  }
  const shortened: Finding[] = [];
  for (const finding of findings.values())
    shortened.push({
      ...finding,
      input: await shortest(finding.input, async (input) => (await run(input)).breach?.kind === finding.kind),
    });
  return { runs, read, corpus, branches: new Set([...seen].map(branchOf)), findings: shortened };
}

/** Returns an input to change, the shorter of two: every other time of the newest, which stand where something new was found. */
function chosen(corpus: readonly string[], draws: Random): string {
  const among = draws.below(2) === 0 ? corpus.slice(-Math.max(1, corpus.length >> 3)) : corpus;
  const [one, other] = [pick(among, draws), pick(among, draws)];
  return one.length <= other.length ? one : other;
}

/** Trials of leaving something out of an input: of one that breaks the law, and of one that is kept. */
const MOST_TRIALS = 400;
const MOST_TRIALS_KEPT = 80;

/** Returns a shorter input for which `holds` too, by leaving out ever smaller parts. O(most) trials. */
export async function shortest(
  input: string,
  holds: (input: string) => Promise<boolean>,
  most = MOST_TRIALS,
): Promise<string> {
  let short = input;
  let trials = 0;
  for (let part = Math.ceil(short.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
    for (let at = 0; at < short.length && trials < most; ) {
      const less = short.slice(0, at) + short.slice(at + part);
      trials++;
      if (await holds(less)) short = less;
      else at += part;
    }
  }
  return short;
}

/** Inputs that are kept are no longer than this. */
const MOST_KEPT = 6000;

/**
 * Returns few and short inputs that reach every branch that the given ones reach and keep the law: the shortest first that
 * reach something more, each then shortened.
 */
export async function fewest(
  coverage: Coverage,
  inputs: readonly string[],
  run: SearchOptions["run"],
): Promise<string[]> {
  const branchesOf = async (input: string): Promise<Set<number> | null> => {
    coverage.clear();
    const { breach } = await run(input);
    return breach === null ? new Set(coverage.reached().map(branchOf)) : null;
  };
  const sorted = [...new Set(inputs)]
    .filter(({ length }) => length <= MOST_KEPT)
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const reach = new Map<string, ReadonlySet<number>>();
  for (const input of sorted) {
    const branches = await branchesOf(input);
    if (branches !== null) reach.set(input, branches);
  }
  const open = new Set([...reach.values()].flatMap((branches) => [...branches]));
  const kept: string[] = [];
  while (open.size > 0) {
    let best = "";
    let gain = 0;
    for (const [input, branches] of reach) {
      let more = 0;
      for (const branch of branches) if (open.has(branch)) more++;
      // a branch for every hundred characters: one large input is worth many small ones
      const worth = more / (100 + input.length);
      if (worth > gain) [best, gain] = [input, worth];
    }
    const needed = [...(reach.get(best) as ReadonlySet<number>)].filter((branch) => open.delete(branch));
    kept.push(
      await shortest(
        best,
        async (input) => {
          const branches = await branchesOf(input);
          return branches !== null && needed.every((branch) => branches.has(branch));
        },
        MOST_TRIALS_KEPT,
      ),
    );
  }
  return kept;
}
