import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { bufferChunks, plansTakeInPlace } from "../../model/program/mpi-places.ts";
import {
  type HostOfRank,
  MOST_LANES,
  MOST_PLAN_CHUNKS,
  MPI_COLLECTIVES,
  USUAL_SEGMENT_BYTES,
} from "../../model/program/mpi-plan.ts";
import { INPUT, OUTPUT, type Program } from "../../model/program/program.ts";
import { anyMovesOf, becomesCustom, type LoweredSchedule, ranksOf } from "../any-moves.ts";
import { joinedMoves, type MoveTimes } from "../messages.ts";
import { planPartsOf } from "./parts.ts";
import { writePlan } from "./write.ts";

export interface MpiLowering {
  /** Into how many pieces, which follow each other, runs of chunks of one course are cut at most; 1 without it. */
  readonly pieces?: number;
  /** Connections between two ranks, to which parts are dealt; 1 without it. */
  readonly lanes?: number;
  /** When transfers really depart and arrive; without it, when they are planned to. */
  readonly times?: MoveTimes;
  readonly segmentBytes?: number;
  /** [NPUs at least] where each runs; without it, NPU r is process r. */
  readonly hosts?: readonly HostOfRank[];
  readonly name?: string;
}

const MOST_PIECES = 1024;

/** Returns the members of a schedule's group; null where they are all NPUs of the network, in order. */
function groupOf(schedule: LoweredSchedule): Int32Array | null {
  const { npuCount } = schedule.topology;
  const members = ranksOf(schedule);
  const isAll = members.length === npuCount && members.every((npu, rank) => npu === rank);
  return isAll ? null : Int32Array.from(members);
}

/** Returns the hosts of a plan's processes, from those of all NPUs. Throws InputError where some NPU has none. */
export function hostsOfRanks(
  hosts: readonly HostOfRank[],
  rankCount: number,
  group: Int32Array | null,
): readonly HostOfRank[] {
  const needed = 1 + (group === null ? rankCount - 1 : group.reduce((most, npu) => Math.max(most, npu), 0));
  if (hosts.length < needed) {
    const expected = `${needed} processes or more, one for each NPU`;
    throw new InputError(optionName("hosts"), expected, inWords(`${hosts.length} in all`)).as("out-of-range");
  }
  return Array.from({ length: rankCount }, (_, r) => hosts[group === null ? r : group[r]]);
}

/** Throws InputError for what is no plan for MPI: custom collectives, several groups or collectives. */
export function refuseForMpi(schedule: LoweredSchedule): void {
  const kind = becomesCustom(schedule) ? "custom" : (schedule as { collective: { kind: string } }).collective.kind;
  if ((MPI_COLLECTIVES as readonly string[]).includes(kind)) return;
  const what = "a schedule of one of MPI's collectives in one group";
  throw new InputError(optionName("to", " mpi"), what, inWords("another")).saying(
    `${optionName("to", " mpi")} takes ${what} (${MPI_COLLECTIVES.join(", ")}); custom collectives, tables, several groups and several collectives at once are calls that MPI programs do not make`,
  );
}

/**
 * Returns the plan that carries out a schedule over MPI: a msccl program whose blocks only send to one peer, only receive from one,
 * or copy. A message is sent and received when the schedule has it arrive, one after the other; so no rank waits for ever, even
 * where a send is not over before its receive has begun. What arrives goes to its place at once, unless that is still to be
 * sent; sums are made where they must be.
 *
 * Right in place and out of place for all-gather, all-reduce, broadcast, reduce and gather, out of place for the others. Throws
 * InputError for what `refuseForMpi` and movesOf refuse. O(moves log moves) and a table of ranks x parts.
 */
export function lowerToMpi(schedule: LoweredSchedule, options: MpiLowering = {}): Program {
  const { pieces = 1, lanes = 1, times, segmentBytes = USUAL_SEGMENT_BYTES, hosts } = options;
  refuseForMpi(schedule);
  const group = groupOf(schedule);
  const places = hosts === undefined ? null : hostsOfRanks(hosts, ranksOf(schedule).length, group);
  if (!Number.isSafeInteger(pieces) || pieces < 1 || pieces > MOST_PIECES)
    throw new InputError(optionName("parts"), `an integer in 1 .. ${MOST_PIECES}`, pieces).as("out-of-range");
  if (!Number.isSafeInteger(lanes) || lanes < 1 || lanes > MOST_LANES)
    throw new InputError("lanes", `an integer in 1 .. ${MOST_LANES}`, lanes).as("out-of-range");
  const asked = anyMovesOf(schedule, { pieces: 1, mostChunks: 1 }, times === undefined ? {} : { times });
  const moves = joinedMoves(asked, "apart");
  const parts = planPartsOf(moves, pieces);
  if (parts.chunkCount > MOST_PLAN_CHUNKS)
    throw new InputError(optionName("chunks"), `at most ${MOST_PLAN_CHUNKS} chunks in all`, parts.chunkCount).as(
      "out-of-range",
    );
  const { rankCount, rootRank, collective } = moves;
  const { kind } = collective;
  const { builder, chunk, scratchChunks, laneCount } = writePlan(parts, lanes);
  const shape = {
    collective: kind as Program["collective"],
    rankCount,
    rootRank,
    loopChunks: kind === "alltoall" ? parts.chunksPerBlock * rankCount : parts.chunkCount,
  };
  const chunksOf = (buffer: number): Int32Array =>
    Int32Array.from({ length: rankCount }, (_, rank) => bufferChunks(shape, rank, buffer));
  return builder.build({
    ...shape,
    name: options.name ?? `${kind}_${rankCount}`,
    machine: "msccl",
    protocol: "Simple",
    inPlace: plansTakeInPlace(kind),
    outOfPlace: true,
    minBytes: null,
    maxBytes: null,
    finer: 1,
    inputChunks: chunksOf(INPUT),
    outputChunks: chunksOf(OUTPUT),
    scratchChunks,
    channelCount: laneCount,
    mpi: { segmentBytes, chunk, group, hosts: places, ops: null, unequal: false },
  });
}
