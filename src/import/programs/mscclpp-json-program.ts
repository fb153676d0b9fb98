import { InputError } from "../../base/errors.ts";
import { type Via, WAIT_BARRIER, WAIT_EVENT } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder, type Wait } from "../../model/program/program-builder.ts";
import { type Cut, firstChunk, iterationsOf, rangeOf } from "./mscclpp-json-cut.ts";
import type { PlanOperand } from "./mscclpp-json-operands.ts";
import type { PlanOperation, PlanPipeline } from "./mscclpp-json-operations.ts";
import type { GpuTables, PlanChannel } from "./mscclpp-json-tables.ts";

/** A thread block of a plan. */
export interface PlanBlock {
  readonly id: number;
  readonly line: number;
  readonly items: readonly (PlanOperation | PlanPipeline)[];
}

/** A gpu of a plan. */
export interface PlanGpu {
  readonly tables: GpuTables;
  readonly blocks: readonly PlanBlock[];
}

/** Events by what they are, and barriers of the current rank. */
interface Synchronisation {
  readonly semaphore: (rank: number, id: number) => number;
  /** The event on which `rank` waits and which `peer` posts. */
  readonly event: (rank: number, peer: number, id: number, via: Via) => number;
  readonly barrier: (rank: number, id: number, blocks: number, place: string) => number;
  /** Returns 1 + the greatest number of a channel. */
  readonly channelCount: () => number;
}

/**
 * Returns a builder with all ranks, blocks and instructions of a plan, and the channels between two ranks at most. Pipelines
 * are unrolled, what blocks share is split, parallel operands become instructions of one step. Throws InputError where one
 * barrier counts different numbers of blocks. O(size of the result).
 */
export function builtPlan(gpus: readonly PlanGpu[], cut: Cut): { builder: ProgramBuilder; channelCount: number } {
  const builder = programBuilder();
  const sync = synchronisation(builder, gpus);
  for (const { tables, blocks } of gpus) {
    builder.addRank();
    for (const { id, line, items } of blocks) {
      builder.addBlock({ id, line });
      for (const item of items) {
        if (item.name !== "pipeline") addOperation(builder, sync, tables.rank, item, cut, null, 0);
        else addPipeline(builder, sync, tables.rank, item, cut);
      }
    }
  }
  return { builder, channelCount: sync.channelCount() };
}

/** Each channel of a rank is an event on which it waits; what it posts is the peer's, added here if the peer lists none. */
function synchronisation(builder: ProgramBuilder, gpus: readonly PlanGpu[]): Synchronisation {
  const events = new Map<string, number>();
  const semaphores: number[][] = [];
  const barriers = new Map<string, { readonly index: number; readonly blocks: number }>();
  let channels = 0;
  const event = (rank: number, peer: number, id: number, via: Via): number => {
    const key = `${rank} ${peer} ${id} ${via}`;
    const known = events.get(key);
    if (known !== undefined) return known;
    const index = builder.addEvent({ rank, peer, id, via });
    events.set(key, index);
    channels = Math.max(channels, id + 1);
    return index;
  };
  for (const { tables } of gpus) {
    const { rank } = tables;
    for (const via of ["memory", "port"] as const)
      for (const { peer, id } of tables.channels[via]) event(rank, peer, id, via);
    semaphores.push(
      tables.semaphores.map((initial, id) => builder.addEvent({ initial, rank, peer: rank, id, via: "local" })),
    );
  }
  return {
    event,
    semaphore: (rank, id) => semaphores[rank][id],
    barrier: (rank, id, blocks, place) => {
      const key = `${rank} ${id}`;
      const known = barriers.get(key);
      if (known !== undefined && known.blocks !== blocks)
        throw new InputError(
          place,
          `${known.blocks} thread blocks, as earlier at barrier ${id} of gpu ${rank},`,
          blocks,
        );
      if (known !== undefined) return known.index;
      const index = builder.addBarrier({ rank, id, blocks });
      barriers.set(key, { index, blocks });
      return index;
    },
    channelCount: () => channels,
  };
}

function addPipeline(
  builder: ProgramBuilder,
  sync: Synchronisation,
  rank: number,
  pipeline: PlanPipeline,
  cut: Cut,
): void {
  const iterations = iterationsOf(pipeline, cut.chunkBytes);
  for (let i = 0; i < iterations; i++)
    for (const inner of pipeline.operations) addOperation(builder, sync, rank, inner, cut, pipeline, i);
}

function addOperation(
  builder: ProgramBuilder,
  sync: Synchronisation,
  rank: number,
  operation: PlanOperation,
  cut: Cut,
  pipeline: PlanPipeline | null,
  i: number,
): void {
  const { name: op, step, line, via, moves, channels, semaphores, barrier, place } = operation;
  for (const move of moves) {
    const range = rangeOf(operation, move, cut, pipeline, i);
    const cutOperand = ({ rank: of, buffer, index, packet }: PlanOperand): Operand => {
      return { rank: of, buffer, index: firstChunk(buffer, index, cut, range), packet };
    };
    const { posts: channel } = move;
    builder.add({
      ...{ op, step, line, via, chunks: range.chunks },
      sources: range.chunks > 0 ? move.sources.map(cutOperand) : [],
      destinations: range.chunks > 0 ? move.destinations.map(cutOperand) : [],
      posts: channel === null ? [] : [sync.event(channel.peer, rank, channel.id, via)],
    });
  }
  if (moves.length > 0) return;
  const own = ({ peer, id }: PlanChannel): number => sync.event(rank, peer, id, via);
  const peers = ({ peer, id }: PlanChannel): number => sync.event(peer, rank, id, via);
  const waits = (events: readonly number[]): Wait[] => events.map((on) => ({ kind: WAIT_EVENT, on }));
  const counts = semaphores.map((id) => sync.semaphore(rank, id));
  switch (op) {
    case "signal":
    case "rlxsignal":
      builder.add({ op, step, line, via, posts: channels.map(peers) });
      break;
    case "wait":
    case "rlxwait":
      builder.add({ op, step, line, via, waits: waits(channels.map(own)) });
      break;
    case "sem_acquire":
      builder.add({ op, step, line, waits: waits(counts) });
      break;
    case "sem_release":
      builder.add({ op, step, line, posts: counts });
      break;
    default: {
      const meets = barrier === null ? [] : [sync.barrier(rank, barrier.id, barrier.blocks, place)];
      builder.add({ op, step, line, via, waits: meets.map((on) => ({ kind: WAIT_BARRIER, on })) });
    }
  }
}
