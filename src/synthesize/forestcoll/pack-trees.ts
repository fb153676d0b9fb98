import type { PackedTrees, PackOutcome } from "../../engine/kernels/kernels.ts";
import type { TreeKernels } from "../tree-maker.ts";
import { heightOf, leastHeight, meanHeight } from "./heights.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** How paths are chosen while trees grow: what an edge costs for each edge above it, and a full link. */
interface Setting {
  readonly name: string;
  readonly depthPrice: number;
  readonly loadPrice: number;
  readonly scheduled: boolean;
}

/** Shallow trees wherever links have room to spare; trees that spread load evenly where they have not. */
const SETTINGS: readonly Setting[] = [
  { name: "shallow", depthPrice: 10, loadPrice: 2, scheduled: false },
  { name: "even", depthPrice: 10, loadPrice: 40, scheduled: true },
];
export const PACK_POLICIES: readonly string[] = SETTINGS.map(({ name }) => name);

/** Work of all repairs of one packing: an attempt costs about NPUs x NPUs. */
const REPAIR_WORK = 4e6;
const MOST_REPAIRS = 20_000;

export interface Packed {
  readonly trees: PackedTrees;
  readonly policy: string;
  readonly trials: number;
}

/** A packing, a cut of the network that has less capacity than copies start in it, or null where the search got stuck. */
export type Outcome = Packed | { readonly cut: Uint8Array } | null;

export interface PackOptions {
  readonly seed: number;
  /** One of PACK_POLICIES; null: all in turn until trees are as low as can be. */
  readonly policy: string | null;
  /** Trees that are too high are not packed anew. */
  readonly hasty?: boolean;
}

/** Returns the lowest forest that the settings give; of equally low ones the one of least mean height, then the first. */
export async function packTrees(
  network: PackingNetwork,
  capacity: Float64Array,
  copies: Float64Array,
  kernels: TreeKernels,
  { seed, policy, hasty = false }: PackOptions,
): Promise<Outcome> {
  const least = leastHeight(network, copies);
  const repairs = hasty ? 0 : Math.min(MOST_REPAIRS, Math.floor(REPAIR_WORK / network.npuCount ** 2));
  let best: { trees: PackedTrees; policy: string; height: number; mean: number } | null = null;
  let trials = 0;
  for (const setting of SETTINGS) {
    if (policy !== null && setting.name !== policy) continue;
    const outcome = await packOnce(network, capacity, copies, kernels, setting, seed, repairs, least);
    trials++;
    if (outcome.kind === "violated") return { cut: outcome.cut };
    if (outcome.kind === "stuck") continue;
    const { trees } = outcome;
    const height = heightOf(network, trees);
    const mean = meanHeight(network, trees);
    if (best === null || height < best.height || (height === best.height && mean < best.mean)) {
      best = { trees, policy: setting.name, height, mean };
    }
    if (best.height <= least || hasty) break;
  }
  return best === null ? null : { trees: best.trees, policy: best.policy, trials };
}

/** Calls the kernel with more room until all trees find place. */
async function packOnce(
  { nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork,
  capacity: Float64Array,
  copies: Float64Array,
  kernels: TreeKernels,
  { depthPrice, loadPrice, scheduled }: Setting,
  seed: number,
  repairs: number,
  enoughHeight: number,
): Promise<PackOutcome> {
  const all = copies.reduce((sum, count) => sum + count, 0);
  const roots = copies.reduce((count, c) => count + (c > 0 ? 1 : 0), 0);
  const perEdge = nodeCount > npuCount ? 3 : 1;
  let maxTrees = Math.min(all, 2 * roots + npuCount + linkSource.length);
  let maxLinks = Math.min(maxTrees, 2 * roots) * (npuCount - 1) * perEdge;
  for (;;) {
    const outcome = await kernels.pack({
      nodeCount,
      npuCount,
      linkSource,
      linkTarget,
      capacity,
      copies,
      depthPrice,
      loadPrice,
      scheduled,
      seed,
      repairs,
      enoughHeight,
      maxTrees,
      maxLinks,
    });
    if (outcome !== null) return outcome;
    maxTrees = Math.min(all, 2 * maxTrees);
    maxLinks *= 2;
  }
}
