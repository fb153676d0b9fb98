import type { Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { MSCCL_RUNTIMES, type MscclRuntime, RUNTIMES } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/words.ts";

/** A program with the name of its file. */
export interface NamedProgram {
  readonly name: string;
  readonly program: Program;
}

/** Sizes that a file is for, both ends included, and its turn among all. */
interface Claim {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly turn: number;
}

/** How a runtime chooses among files. */
type Loading = Pick<MscclRuntime, "title" | "files" | "needsRange" | "maxBytesIncluded"> & {
  readonly name: RuntimeName;
};

/** Plans are made known one by one, each with its range. */
const PLANS: Loading = {
  name: "mscclpp",
  title: RUNTIMES.mscclpp.title,
  files: Number.POSITIVE_INFINITY,
  needsRange: true,
  maxBytesIncluded: true,
};

/** Of a folder's files the first by name that fits a call is used. */
const MPI_PLANS: Loading = { ...PLANS, name: "mpi", title: RUNTIMES.mpi.title };

/** What microsoft/msccl takes for maxBytes where a file has none. */
const DEFAULT_MAX_BYTES = 134_217_728;

/**
 * Returns what is odd about files that a runtime loads together: more than it loads, and, among those for the same collective, ranks
 * and kind of call, sizes that two claim, with the one that is taken (microsoft/msccl: the first given; others: the first by name),
 * and sizes between two that none claims. All but the number are warnings. O(files log files).
 */
export function sizeRangeViolations(
  files: readonly NamedProgram[],
  runtimeName: RuntimeName,
): readonly ProgramViolation[] {
  const runtime: Loading =
    runtimeName === "mscclpp" ? PLANS : runtimeName === "mpi" ? MPI_PLANS : MSCCL_RUNTIMES[runtimeName];
  const found: ProgramViolation[] = [];
  if (files.length > runtime.files) {
    const message = `there are ${files.length} files, but ${runtime.title} loads at most ${runtime.files}`;
    found.push({ kind: "files", severity: "error", message });
  }
  const turns =
    runtime.name === "msccl" ? files : [...files].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  const groups = new Map<string, Claim[]>();
  for (const [turn, { name, program }] of turns.entries()) {
    const range = rangeOf(program, runtime);
    if (range.least > range.most) continue;
    for (const call of callsOf(program, runtime)) {
      const key = `${program.collective} among ${program.rankCount} gpus, ${call}`;
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push({ name, turn, ...range });
    }
  }
  for (const [key, claims] of groups) found.push(...oddities(key, claims, runtime));
  return found;
}

function callsOf(program: Program, runtime: Loading): readonly string[] {
  const outOfPlace = runtime.needsRange ? program.outOfPlace : !program.inPlace;
  return [...(program.inPlace ? ["in place"] : []), ...(outOfPlace ? ["out of place"] : [])];
}

function rangeOf({ minBytes, maxBytes }: Program, runtime: Loading): { readonly least: number; readonly most: number } {
  const least = minBytes ?? 0;
  if (!runtime.maxBytesIncluded) return { least, most: (maxBytes ?? DEFAULT_MAX_BYTES) - 1 };
  return { least, most: maxBytes === null || maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes };
}

/** Walks through the claims by size, next to the one that reaches furthest so far. */
function* oddities(key: string, claims: readonly Claim[], runtime: Loading): Generator<ProgramViolation> {
  const [first, ...others] = [...claims].sort((a, b) => a.least - b.least || a.turn - b.turn);
  let furthest = first as Claim;
  for (const claim of others) {
    if (claim.least > furthest.most + 1) {
      const gap = `from ${furthest.most + 1} to ${claim.least - 1} bytes`;
      const message = `no file is for sizes ${gap} (${key}), between ${furthest.name} and ${claim.name}`;
      yield { kind: "size-gap", severity: "warning", message };
    } else if (claim.least <= furthest.most) {
      const most = Math.min(claim.most, furthest.most);
      const sizes =
        most === Number.POSITIVE_INFINITY ? `from ${claim.least} bytes on` : `from ${claim.least} to ${most} bytes`;
      const taken = claim.turn < furthest.turn ? claim : furthest;
      const message = `${furthest.name} and ${claim.name} are both for sizes ${sizes} (${key}): ${runtime.title} takes ${taken.name}`;
      yield { kind: "size-overlap", severity: "warning", message };
    }
    if (claim.most > furthest.most) furthest = claim;
  }
}
