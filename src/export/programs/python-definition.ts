import type { CollectiveKind } from "../../model/collective/collective.ts";

/** How the buffers of a collective are said to the user; `count` is the elements of a block. */
export interface Buffers {
  readonly input: string;
  readonly output: string;
}

/** Returns what a rank passes in and gets back, in elements. */
export function buffersOf(kind: CollectiveKind): Buffers {
  const each = (what: string): string => `RANKS x count elements: ${what}`;
  const buffers: Record<CollectiveKind, Buffers> = {
    allgather: { input: "count elements", output: each("those of each rank") },
    reducescatter: { input: each("a block for each rank"), output: "the sum of the ranks' blocks for this rank" },
    allreduce: { input: "count elements", output: "the sum of all ranks' elements" },
    broadcast: { input: "count elements at the root", output: "those of the root" },
    reduce: { input: "count elements", output: "their sum over ranks at the root" },
    gather: { input: "count elements", output: each("those of each rank, at the root") },
    scatter: { input: each("a block for each rank, at the root"), output: "this rank's block" },
    alltoall: { input: each("a block for each rank"), output: each("what each rank has for this one") },
    custom: { input: "count elements for each chunk of INPUT[rank]", output: "as many for each of OUTPUT[rank]" },
  };
  return buffers[kind];
}

/**
 * Returns the lines of a Python function's body that returns what every rank must have at the end, by the collective's
 * definition, from the list `inputs` of flat arrays of all ranks; `library` is numpy or torch, `join` its concatenation.
 */
export function definitionLines(kind: CollectiveKind, library: "np" | "torch"): readonly string[] {
  const join = library === "np" ? "np.concatenate" : "torch.cat";
  const only = (value: string): string =>
    `return [${value} if rank == ROOT else inputs[rank][:0] for rank in range(RANKS)]`;
  const definitions: Record<CollectiveKind, readonly string[]> = {
    allgather: [`return [${join}(inputs)] * RANKS`],
    reducescatter: ["return list(sum(inputs).reshape(RANKS, -1))"],
    allreduce: ["return [sum(inputs)] * RANKS"],
    broadcast: ["return [inputs[ROOT]] * RANKS"],
    reduce: [only("sum(inputs)")],
    gather: [only(`${join}(inputs)`)],
    scatter: ["return list(inputs[ROOT].reshape(RANKS, -1))"],
    alltoall: [
      "parts = [x.reshape(RANKS, -1) for x in inputs]",
      `return [${join}([part[rank] for part in parts]) for rank in range(RANKS)]`,
    ],
    custom: [
      "whole = {}",
      "for x, chunks in zip(inputs, INPUT):",
      "    for k, chunk in enumerate(chunks):",
      "        part = x.reshape(len(chunks), -1)[k]",
      "        whole[chunk] = whole[chunk] + part if REDUCES and chunk in whole else part",
      `return [${join}([inputs[0][:0]] + [whole[chunk] for chunk in chunks]) for chunks in OUTPUT]`,
    ],
  };
  return definitions[kind];
}
