import { InputError, inWords } from "../../base/errors.ts";
import { demandExactPs, formatSize, PS_PER_SECOND } from "../../model/numbers/units.ts";
import { blockOfInstructions, type Program, placeOfInstruction, rankOfBlocks } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type ProgramTimeline, type Setup, timelineDraft } from "./machine.ts";
import { allBut, type Mechanism } from "./mechanisms.ts";
import { runMsccl } from "./msccl.ts";
import { runMscclpp } from "./mscclpp.ts";
import { programNetwork } from "./network.ts";
import { type PlannedMessages, planOf } from "./plan.ts";
import { programRoutes } from "./routes.ts";
import { type Cutting, type Sizes, sizesOf } from "./sizes.ts";

export interface ProgramSimulationOptions extends Partial<Cutting> {
  /** As nccl-tests count it. */
  readonly sizeBytes: number;
  /** [ranks] NPU of each rank; default: rank r is NPU r. */
  readonly rankToNpu?: ArrayLike<number>;
  /** Bytes per second that a thread block sends, receives, copies or adds; default: that takes no time of its own. */
  readonly localBytesPerSecond?: number;
  /** What of a runtime's ways is left away; default: nothing. */
  readonly without?: readonly Mechanism[];
  /** The schedule whose messages it sends: without "order" links serve them as planned, without "routes" over its routes. */
  readonly planned?: PlannedMessages;
  /** Keep when every message was sent and arrived. */
  readonly timeline?: boolean;
  /** Called now and then with the instructions carried out. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What a program does in the congestion-aware network. Times are exact integers in picoseconds. */
export interface ProgramSimulation {
  /** When the last block has ended and the last byte has arrived. */
  readonly ps: number;
  /** What is modelled, in words. */
  readonly model: string;
  /** [links] how long the link was held. */
  readonly linkBusyPs: Float64Array;
  /** Carried out, over all passes. */
  readonly instructions: number;
  readonly messages: number;
  /** [blocks] */
  readonly blockEndPs: Float64Array;
  /** [ranks] */
  readonly npuOfRank: Int32Array;
  /** How messages were cut; `grown`: slices had to be larger than the runtime's, for there would be too many messages. */
  readonly cutting: Cutting & { readonly grown: boolean };
  /** Pairs of ranks that reach each other only through other NPUs, which then forward like switches. */
  readonly relayedPairs: number;
  readonly timeline?: ProgramTimeline;
}

/**
 * Returns the program carried out on a network. Messages between ranks take the widest way through switches, of these the
 * nearest, through other NPUs only where there is no other; connections of a pair are spread over equal ways. Links serve
 * messages first come first served with cut-through (see ProgramNetwork); a msccl program is carried out slice by slice with
 * connections of few slots, as runtimes do.
 *
 * Throws InputError where the network has too few NPUs or a switch cannot do what the program wants of it, for sizes that are no
 * positive integers, times that leave 2^53 ps, and where the program comes to a stop before its end; InfeasibleError where a rank cannot reach another. O(log messages) per message and link.
 */
export function simulateProgram(
  program: Program,
  topology: Topology,
  options: ProgramSimulationOptions,
): ProgramSimulation {
  const {
    sizeBytes,
    localBytesPerSecond,
    without,
    planned,
    timeline = false,
    onProgress = () => {},
    ...rest
  } = options;
  const adds = allBut(without);
  const npuOfRank = npusOf(program, topology, options.rankToNpu);
  if (localBytesPerSecond !== undefined && !(localBytesPerSecond > 0))
    throw new InputError("localBytesPerSecond", "a positive number", localBytesPerSecond);
  const { sliceBytes, cuts, slots } = rest;
  const asked = {
    ...(sliceBytes === undefined ? {} : { sliceBytes }),
    ...(cuts === undefined ? {} : { cuts }),
    ...(slots === undefined ? {} : { slots }),
  };
  const sizes = sizesOf(program, sizeBytes, asked, adds);
  const isKept = planned !== undefined && !(adds.order && adds.routes);
  const network = programNetwork(topology, isKept ? planOf(planned) : null, adds.order);
  const routes = programRoutes(topology);
  const draft = timelineDraft(timeline);
  const localPsPerByte = localBytesPerSecond === undefined || !adds.copying ? 0 : PS_PER_SECOND / localBytesPerSecond;
  const setup: Setup = {
    program,
    topology,
    npuOfRank,
    adds,
    sizes,
    network,
    routes,
    timeline: draft,
    localPsPerByte,
    onProgress,
  };
  const { blockEndPs, instructions, stuck } = program.machine === "msccl" ? runMsccl(setup) : runMscclpp(setup);
  if (stuck.length > 0) throw stopped(program, sizes, sizeBytes, stuck);
  const ps = blockEndPs.reduce((last, end) => Math.max(last, end), network.lastArrivalPs);
  demandExactPs(ps, "the simulated time");
  const columns = draft.columns();
  const relayedPairs = routes.relayedPairs();
  return {
    ps,
    model: wordsOf(program, sizes, relayedPairs),
    linkBusyPs: network.linkBusyPs,
    instructions,
    messages: network.sent,
    blockEndPs,
    npuOfRank,
    cutting: { sliceBytes: sizes.sliceBytes, cuts: sizes.cuts, slots: sizes.slots, grown: sizes.grown },
    relayedPairs,
    ...(columns === undefined ? {} : { timeline: columns }),
  };
}

/** Returns [ranks] their NPUs. */
function npusOf({ rankCount }: Program, { name, npuCount }: Topology, asked?: ArrayLike<number>): Int32Array {
  if (asked === undefined) {
    if (rankCount > npuCount)
      throw new InputError(`the network ${name}`, `at least ${rankCount} NPUs, one for each rank`, npuCount)
        .as("out-of-range")
        .saying(`${name} has ${npuCount} NPU${npuCount === 1 ? "" : "s"}; the program needs ${rankCount}`);
    return Int32Array.from({ length: rankCount }, (_, rank) => rank);
  }
  if (asked.length !== rankCount) throw new InputError("rankToNpu", `${rankCount} NPUs`, asked.length);
  const seen = new Set<number>();
  for (let rank = 0; rank < rankCount; rank++) {
    const npu = asked[rank];
    if (!Number.isInteger(npu) || npu < 0 || npu >= npuCount || seen.has(npu))
      throw new InputError(`rankToNpu[${rank}]`, `an NPU in 0 .. ${npuCount - 1} of its own`, npu);
    seen.add(npu);
  }
  return Int32Array.from(asked);
}

function stopped(program: Program, { slots }: Sizes, sizeBytes: number, stuck: readonly number[]): InputError {
  const i = stuck.find((one) => program.sends[one] + program.receives[one] > 0) ?? stuck[0];
  const block = blockOfInstructions(program)[i];
  const where = placeOfInstruction(program, i, block, rankOfBlocks(program)[block]);
  const room = program.machine === "msccl" ? ` with ${slots} messages in a connection` : "";
  return new InputError(
    `${program.name} at ${formatSize(sizeBytes)}`,
    `a program that comes to its end${room}`,
    inWords(`${where} that waits for ever, of ${stuck.length} such`),
  );
}

const FLAGS = { Simple: "", LL: " (a flag beside every 4 bytes)", LL128: " (a flag beside every 120 bytes)" } as const;

function wordsOf({ machine, protocol, mpi }: Program, sizes: Sizes, relayedPairs: number): string {
  const { sliceBytes, cuts, slots, grown } = sizes;
  const links = "links serve messages first come first served, cut-through";
  const most = `${formatSize(sliceBytes)}${grown ? " (grown to bound the number of messages)" : ""}`;
  const relayed = relayedPairs > 0 ? `; pairs of ranks with no way but through other NPUs: ${relayedPairs}` : "";
  if (machine === "mscclpp") return `program/mscclpp: ${links}, in turns of at most ${most}${relayed}`;
  if (mpi !== undefined)
    return `program/mpi: ${links}; messages in pieces of at most ${most}, ${slots} under way on a connection${relayed}`;
  const parts = cuts > 1 ? ` in ${cuts} parts` : "";
  const cut = `messages of at most ${most}${parts}, ${slots} in a connection`;
  return `program/msccl ${protocol}${FLAGS[protocol]}: ${links}; ${cut}${relayed}`;
}
