import { ringProgram, treeProgram } from "../../lower/nccl/kernels.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import { doubleBinaryTree } from "../../model/graph/double-binary-tree.ts";
import type { NcclAlgorithm } from "../../model/nccl/figures.ts";
import { type NcclEstimate, type NcclKind, ncclEstimates } from "../../model/nccl/model.ts";
import { threadBlockBytesPerSecond } from "../../model/nccl/network.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { toUs } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import { boxesWithRings, channelRings, channelTrees } from "../../model/routes/rings.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { ComparisonRow, LibrarySetting, SizeSettings } from "../../report/comparison.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { LIKE_NCCLS } from "./libraries.ts";

/** What NCCL can be told by its environment, each simulated as its kernels would run it. */

/** What NCCL's own model takes for so many times slower than its choice is not simulated. */
const HOPELESS = 3;
/** Parts of the channels that NCCL would use. */
const SHARES = [1, 2, 4];
/** Messages of a simulation at most. */
const MOST_MESSAGES = 2e6;
/** Others have to be faster by more than times tell to be called better than the default. */
const WORTH_IT = 1.01;

/**
 * Returns [channels] the ranks in ring order, as NCCL lays rings: through a switch of a box all the same way; between boxes from Hopper
 * on as here, by pairs of cards in turns. Up to Ampere NCCL leaves a box by the card by which it came, from a GPU that shares its PCIe
 * switch; our GPUs have a card each, so the next one's is taken.
 */
function ordersOf(topology: Topology, channels: number): Int32Array[] {
  const boxes = boxesWithRings(topology);
  const rings = boxes === null ? [indicesBelow(topology.npuCount)] : channelRings(boxes);
  const laid = boxes?.switched === true && boxes.npus.length === 1 ? rings.slice(0, 1) : rings;
  return Array.from({ length: channels }, (_, c) => laid[c % laid.length] as Int32Array);
}

/** Returns [channels] parents of the ranks: of all exits of a box the first tree of boxes, then the second. */
function parentsOf(topology: Topology, channels: number): Int32Array[] {
  const boxes = boxesWithRings(topology);
  if (boxes === null) {
    const chain = Int32Array.from({ length: topology.npuCount }, (_, rank) => rank - 1);
    return Array.from({ length: channels }, () => chain);
  }
  const pair = doubleBinaryTree(boxes.npus.length);
  const trees = channelTrees(boxes, pair);
  const exits = trees.length / pair.length;
  const treeAt = (c: number): number => (c % exits) * pair.length + (Math.floor(c / exits) % pair.length);
  return Array.from({ length: channels }, (_, c) => trees[treeAt(c)] as Int32Array);
}

/** Returns about how many messages a call has. */
function messagesOf(
  { algorithm, chunkBytes, slices }: NcclEstimate,
  ranks: number,
  channels: number,
  sizeBytes: number,
): number {
  const parts = algorithm === "Ring" ? ranks : 1;
  const passes = Math.ceil(sizeBytes / channels / parts / chunkBytes);
  return 2 * ranks * parts * channels * passes * slices;
}

/** Returns what a ring or a tree takes on so many channels, us; null where that would be too long a simulation. */
function kernelUs(
  topology: Topology,
  collective: NcclKind,
  rootRank: number,
  estimate: NcclEstimate,
  channels: number,
  sizeBytes: number,
): number | null {
  const { algorithm, protocol, chunkBytes, slices, slots } = estimate;
  if (messagesOf(estimate, topology.npuCount, channels, sizeBytes) > MOST_MESSAGES) return null;
  const program: Program =
    algorithm === "Ring"
      ? ringProgram({ collective, rootRank, protocol }, ordersOf(topology, channels))
      : treeProgram(protocol, parentsOf(topology, channels));
  const rate = threadBlockBytesPerSecond(topology);
  const how = { sizeBytes, sliceBytes: chunkBytes, cuts: slices, slots };
  return toUs(simulateProgram(program, topology, rate === null ? how : { ...how, localBytesPerSecond: rate }).ps);
}

/** Returns what to set for NCCL to run so; channels are said where they are fewer than it would take. */
function environmentOf({ algorithm, protocol, channels: most }: NcclEstimate, channels: number): string {
  const fewer = channels < most ? ` NCCL_MAX_NCHANNELS=${channels}` : "";
  return `NCCL_ALGO=${algorithm} NCCL_PROTO=${protocol}${fewer}`;
}

/** Times on a network of the collective that `ncclEstimates` is asked for, by NCCL's kernels. */
export interface NcclKernels {
  readonly estimates: readonly NcclEstimate[];
  /** Of rings and trees, as `estimates` are in order. */
  readonly settings: readonly LibrarySetting[];
}

/**
 * Returns what a collective among all NPUs takes by NCCL's rings and trees at each setting of protocol and channels, simulated as
 * NCCL's kernels with NCCL's chunks, slices and connections; null where NCCL has no model (see `ncclEstimates`). O(settings x messages).
 */
export function ncclKernels(
  topology: Topology,
  kind: CollectiveKind,
  rootRank: number,
  sizeBytes: number,
): NcclKernels | null {
  const estimates = ncclEstimates(topology, kind, sizeBytes);
  if (estimates === null) return null;
  const usual = (estimates[0] as NcclEstimate).us;
  const settings = estimates
    .filter(({ algorithm, us }) => (algorithm === "Ring" || algorithm === "Tree") && us <= HOPELESS * usual)
    .flatMap((estimate) => {
      const counts = new Set(SHARES.map((share) => Math.max(1, Math.floor(estimate.channels / share))));
      return [...counts].flatMap((channels) => {
        const us = kernelUs(topology, kind as NcclKind, rootRank, estimate, channels, sizeBytes);
        return us === null ? [] : [settingOf(estimate, channels, us)];
      });
    });
  return { estimates, settings };
}

const settingOf = (estimate: NcclEstimate, channels: number, us: number): LibrarySetting => ({
  library: "NCCL",
  algorithm: estimate.algorithm,
  protocol: estimate.protocol,
  channels,
  us,
  environment: environmentOf(estimate, channels),
});

/** Returns what the algorithm that is most like one of NCCL's takes by its kernels at the best setting; null for others. */
export function kernelsUs({ settings }: NcclKernels, algorithm: string): number | null {
  const own = settings.filter((one) => LIKE_NCCLS[one.algorithm as NcclAlgorithm][0] === algorithm);
  return own.length === 0 ? null : Math.min(...own.map(({ us }) => us));
}

/**
 * Returns what an algorithm of ours takes at least where it stands for NCCL's NVLS: no more than NCCL counts of what its thread blocks
 * load and store through switches (nvlsEfficiency of src/graph/tuning.cc), us; 0 for others.
 */
export function leastNvlsUs({ estimates }: NcclKernels, algorithm: string): number {
  const nvls = estimates.find((one) => one.algorithm === "NVLS" || one.algorithm === "NVLSTree");
  return nvls !== undefined && LIKE_NCCLS[nvls.algorithm].includes(algorithm) ? nvls.us - nvls.latencyUs : 0;
}

/**
 * Returns what NCCL takes by default, as its own cost model has it, and at the best of its settings, all simulated. NVLS and PAT are
 * as their lines in `rows`, on all their channels. Null where the default could not be simulated. Where nothing is faster by more than
 * times tell, the default is the best.
 */
export function ncclSettings(
  { estimates, settings: ofKernels }: NcclKernels,
  sizeBytes: number,
  rows: readonly ComparisonRow[],
): SizeSettings | null {
  const others = estimates.flatMap((estimate) => {
    if (estimate.algorithm === "Ring" || estimate.algorithm === "Tree") return [];
    const like = LIKE_NCCLS[estimate.algorithm];
    const us = rows.find((one) => one.sizeBytes === sizeBytes && like.includes(one.algorithm))?.libraryUs;
    return us === undefined ? [] : [settingOf(estimate, estimate.channels, us)];
  });
  const settings = [...ofKernels, ...others];
  const [first] = estimates;
  const chosen = settings.find(
    ({ algorithm, protocol, channels }) =>
      algorithm === first?.algorithm && protocol === first.protocol && channels === first.channels,
  );
  if (chosen === undefined) return null;
  return { library: "NCCL", ...settingsOf(sizeBytes, chosen, settings) };
}

/** Returns the best of a library's settings beside its default; where nothing is faster by more than times tell, that is the best. */
export function settingsOf(
  sizeBytes: number,
  chosen: LibrarySetting,
  settings: readonly LibrarySetting[],
): Omit<SizeSettings, "library"> {
  const least = settings.reduce((best, one) => (one.us < best.us ? one : best), chosen);
  return { sizeBytes, chosen, best: chosen.us < WORTH_IT * least.us ? chosen : least, settings };
}
