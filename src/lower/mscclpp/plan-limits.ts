import { InputError } from "../../base/errors.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { bufferOf, place } from "./plan-layout.ts";
import type { PlanOp } from "./plan-ops.ts";
import type { SliceOps } from "./plan-program.ts";

/** A limit of MSCCL++'s executor that a plan does not keep. */
export interface Excess {
  readonly limit: number;
  readonly what: string;
  readonly need: number;
  readonly rank: number;
}

/** Returns by what a plan exceeds most, in proportion; null where it keeps all limits. O(operations). */
export function excessOf(slices: readonly SliceOps[], rankCount: number): Excess | null {
  let worst: Excess | null = null;
  const check = (what: string, limit: number, need: number, rank: number): void => {
    if (need > limit && (worst === null || need / limit > worst.need / worst.limit))
      worst = { limit, what, need, rank };
  };
  const { opsPerBlock, channelsPerBlock, blocksPerGpu, barriersPerGpu } = MSCCLPP_RUNTIME;
  const blocks = new Int32Array(rankCount);
  const barriers = new Int32Array(rankCount);
  for (const slice of slices) {
    for (const [rank, own] of slice) {
      blocks[rank] += own.length;
      if (own.length > 1) barriers[rank]++;
      for (const ops of own) {
        check("operations in a thread block", opsPerBlock, ops.length, rank);
        for (const via of ["memory", "port"] as const) {
          check(`${via} channels in a thread block`, channelsPerBlock, peersOf(ops, via), rank);
          check(`remote buffers by ${via} in a thread block`, channelsPerBlock, remotesOf(ops, via), rank);
        }
      }
    }
  }
  for (const [rank, need] of barriers.entries()) check("barriers of a GPU", barriersPerGpu, need, rank);
  for (const [rank, need] of blocks.entries()) check("thread blocks of a GPU", blocksPerGpu, need, rank);
  return worst;
}

function peersOf(ops: readonly PlanOp[], via: "memory" | "port"): number {
  const peers = new Set<number>();
  for (const op of ops) {
    for (const channel of op.channels) if (channel.via === via) peers.add(channel.peer);
    if (op.op !== "pws" || via !== "port") continue;
    for (const { peer } of op.parts) if (peer !== null) peers.add(peer);
  }
  return peers.size;
}

/** Returns the buffers of peers that operations reach: a number for each peer and buffer. O(operands). */
function remotesOf(ops: readonly PlanOp[], via: "memory" | "port"): number {
  const buffers = new Set<number>();
  for (const op of ops) {
    if (op.via !== via) continue;
    for (const { peer, to, remote } of op.parts) {
      if (peer !== null) buffers.add(place(bufferOf(to), peer));
      for (const read of remote) buffers.add(place(bufferOf(read.at), read.peer));
    }
  }
  return buffers.size;
}

/** Returns the error that says by what a plan exceeds a limit and what would help. */
export function excessError({ limit, what, need, rank }: Excess): InputError {
  const help = "fewer instances or chunks, a smaller --k, another algorithm or MSCCL XML may fit";
  return new InputError(
    "an MSCCL++ plan of this schedule",
    `at most ${limit} ${what}`,
    `${need} at gpu ${rank}: ${help}`,
  );
}
