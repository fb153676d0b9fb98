import { threadBlockBytesPerSecond, threadBlocksAtOnce } from "../../model/nccl/network.ts";
import { PairMap } from "../../model/numbers/pairs.ts";
import { blockOfInstructions, type Program, rankOfBlocks } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { ProgramOptions, WantedProgram } from "../../request/from-texts.ts";
import { programRoutes } from "../../simulate/program/routes.ts";

/** Instances that are tried of the best programs of one: copies of a program side by side, each of a share of every chunk. */
export const INSTANCES_TRIED = [2, 4, 8];
/** More than fill links cut finer what is passed on: they are tried until so many in a row do not pay. */
export const VAIN_INSTANCES = 2;
/** Instances that are tried one by one at most: as many as two ranks have connections. */
export const MOST_INSTANCES_TRIED = 32;

/**
 * Returns what is asked of a program whose instances are to be found: with "auto" the simulation counts what a thread block can
 * move, where that is known of the network's GPUs.
 */
export function withBlockRate({ instances, ...target }: WantedProgram, topology: Topology): ProgramOptions {
  if (instances !== "auto") return instances === undefined ? target : { ...target, instances };
  const rate = threadBlockBytesPerSecond(topology);
  return rate === null ? target : { ...target, blockBytesPerSecond: rate };
}

/**
 * Returns whether a GPU runs all thread blocks of a program at once, which must wait for each other: true where nothing is known of
 * the network's GPUs. O(ranks + nodes + links).
 */
export function runsAtOnce({ blockOffset, rankCount }: Program, topology: Topology): boolean {
  const most = threadBlocksAtOnce(topology) ?? Number.POSITIVE_INFINITY;
  for (let r = 0; r < rankCount; r++) if (blockOffset[r + 1] - blockOffset[r] > most) return false;
  return true;
}

/**
 * Returns how many instances let the thread blocks of one way carry what its narrowest link does, on the widest way of the program:
 * more saturate nothing. Source: TACCL, section 6, instances. O(thread blocks + operands), and a search from each sender.
 */
export function saturatingInstances(
  program: Program,
  topology: Topology,
  rankToNpu: ArrayLike<number>,
  blockBytesPerSecond: number,
): number {
  const routes = programRoutes(topology);
  const { sendPeer, operandOffset, operandRank, rankCount } = program;
  const rankOfBlock = rankOfBlocks(program);
  const blockOf = blockOfInstructions(program);
  const seen = new PairMap();
  let widest = 0;
  const meet = (from: number, to: number): void => {
    if (to < 0 || to >= rankCount || to === from || seen.get(from, to) >= 0) return;
    seen.set(from, to, 1);
    const route = routes.between(rankToNpu[from], rankToNpu[to], rankToNpu[to]);
    widest = Math.max(
      widest,
      route.reduce((width, link) => Math.min(width, topology.linkBytesPerSecond[link]), Number.POSITIVE_INFINITY),
    );
  };
  for (let block = 0; block < sendPeer.length; block++) meet(rankOfBlock[block], sendPeer[block]);
  for (let i = 0; i < blockOf.length; i++)
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) meet(rankOfBlock[blockOf[i]], operandRank[o]);
  return Math.max(1, Math.ceil(widest / blockBytesPerSecond));
}
