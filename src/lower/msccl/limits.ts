import { InputError } from "../../base/errors.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { Code } from "./code.ts";
import type { Numbering } from "./program-of-code.ts";

/** A limit of a runtime that a program does not meet. */
export interface Excess {
  readonly limit: string;
  readonly most: number;
  /** How many, or "more". */
  readonly needed: number | "more";
  readonly help: string;
}

/** Elements of a file that are neither thread blocks nor steps: <algo> and the <gpu> itself. */
const NODES_AROUND = 2;

/** Returns the first limit that code does not meet, null for none. O(blocks + ranks). */
export function excessOf(code: Code, { blocks, awaitedBlocks }: Numbering, runtime: MscclRuntime): Excess | null {
  const most = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => Math.max(a, b), 0);
  const nodes = blocks.map((own) => own.reduce((sum, b) => sum + 1 + code.steps[b], NODES_AROUND));
  const steps = { most: runtime.stepsPerBlock, needed: most(code.steps) };
  const found: readonly Excess[] = [
    { limit: "steps per thread block", ...steps, help: "fewer chunks" },
    {
      limit: "thread blocks per GPU",
      most: runtime.blocksPerGpu,
      needed: most(blocks.map((own) => own.length)),
      help: "fewer instances, a smaller --k",
    },
    {
      limit: "thread blocks per GPU that others wait for",
      most: runtime.awaitedBlock + 1,
      needed: most(awaitedBlocks),
      help: "fewer instances, a smaller --k",
    },
    {
      limit: "chunks in a scratch buffer",
      most: runtime.chunkIndex + 1,
      needed: most(code.scratch.chunks),
      help: "fewer chunks, a smaller --k",
    },
    {
      limit: "thread blocks and steps per GPU in a file",
      most: runtime.nodesPerRank,
      needed: most(nodes),
      help: "fewer chunks, a smaller --k",
    },
  ];
  return found.find(({ most: allowed, needed }) => typeof needed === "number" && needed > allowed) ?? null;
}

/** Returns the sentence that says which limit of a runtime a schedule cannot meet, and what would help. */
export function limitError({ title }: MscclRuntime, { limit, most, needed, help }: Excess): InputError {
  return new InputError(
    `the schedule as a program for ${title}`,
    `at most ${most} ${limit} (${help} or another runtime would help)`,
    needed,
  );
}
