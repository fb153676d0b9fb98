import type { MscclRuntime } from "../../model/program/runtimes.ts";
import { type Blocks, blocksOf } from "./blocks.ts";
import { type Buffers, buffersOf, type CallPlacement } from "./buffers.ts";
import type { Code } from "./code.ts";
import { type Excess, excessOf } from "./limits.ts";
import type { Parts } from "./parts.ts";
import { type Numbering, numberingOf } from "./program-of-code.ts";
import { type Versions, versionsOf } from "./versions.ts";
import type { Wires } from "./wires.ts";
import { writeCode } from "./write-code.ts";

/** Parts, where they are, and what becomes of them. */
export interface Layout {
  readonly parts: Parts;
  readonly buffers: Buffers;
  readonly versions: Versions;
}

/** Code for a layout over some wires, and what keeps it from being a program. */
export interface Attempt {
  readonly layout: Layout;
  readonly code: Code;
  readonly numbering: Numbering;
  readonly channelCount: number;
  /** Of the rank that has the most. */
  readonly blocks: number;
  readonly excess: Excess | null;
}

/** Returns the layout of parts; throws InputError for what buffersOf and versionsOf refuse. */
export function layoutOf(parts: Parts, placement: CallPlacement): Layout {
  const buffers = buffersOf(parts, placement);
  return { parts, buffers, versions: versionsOf(parts, buffers) };
}

/** Returns the code over these wires; where a rank has more than `enough` blocks, some are joined. */
export function attemptWith(layout: Layout, wires: Wires, runtime: MscclRuntime, enough: number): Attempt | Excess {
  const { parts, buffers, versions } = layout;
  const blocks = blocksOf(parts, wires, enough);
  const needed = leastSteps(parts, wires, blocks, runtime);
  if (needed > runtime.stepsPerBlock)
    return { limit: "steps per thread block", most: runtime.stepsPerBlock, needed, help: "fewer chunks" };
  const code = writeCode(parts, versions, wires, blocks, buffers, runtime);
  const numbering = numberingOf(code, parts.moves.rankCount);
  const most = numbering.blocks.reduce((many, own) => Math.max(many, own.length), 0);
  return {
    layout,
    code,
    numbering,
    channelCount: wires.channelCount,
    blocks: most,
    excess: excessOf(code, numbering, runtime),
  };
}

export const isAttempt = (result: Attempt | Excess): result is Attempt => "code" in result;

/** Returns the most steps that a block has for its hops alone, without waits. O(hops). */
function leastSteps(
  { source, reduces }: Parts,
  { fused }: Wires,
  { rank, sender, receiver }: Blocks,
  { ops }: MscclRuntime,
): number {
  const steps = new Int32Array(rank.length);
  const separate = ops.has("rrcs") ? 0 : 1;
  for (let hop = 0; hop < source.length; hop++) {
    steps[sender[hop]]++;
    steps[receiver[hop]] += 1 + reduces[hop] * separate;
    if (fused[hop] >= 0 && separate === 0) steps[receiver[hop]]--;
  }
  return steps.reduce((most, many) => Math.max(most, many), 0);
}
