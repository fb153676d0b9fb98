import { type Fold, fixes } from "../../../model/symmetry/fold.ts";
import type { MatchProblem, TenNetwork } from "../../contract/kernels.ts";
import { buildFold } from "./fold.ts";
import { group, type Lists, NONE } from "./lists.ts";

/**
 * The network of a matching that is the same under maps of the network onto itself; the twin of native/kernels/match_fold.h,
 * function by function. The routes into representatives; behind the NPUs stand copies: logs that follow a representative's
 * through a map, for routes that come from its images, or, where maps leave it in place, from itself.
 */
export interface FoldedNetwork {
  readonly given: MatchProblem;
  readonly fold: Fold;
  /** The NPUs of a representative's orbit, itself included; its copies, counted from 0. */
  readonly orbit: Lists;
  readonly copies: Lists;
  /** [copies] the map through which it follows. */
  readonly copyMap: Int32Array;
  /** [routes] as given; which of the routes into its target it is, as given. */
  readonly givenRoute: Int32Array;
  readonly port: Int32Array;
  /** Routes into every NPU, as given. */
  readonly givenIn: Lists;
  /** [NPUs that maps leave in place * chunks] arrived; all images too. */
  readonly arrived: Uint8Array;
  readonly shown: Uint8Array;
  /** The routes kept, over NPUs and copies, and what these hold. */
  readonly problem: MatchProblem;
}

/** Returns the folded network of a problem with maps. Throws when they do not keep holdings or routes. */
export function foldedNetwork(given: MatchProblem, maps: Int32Array): FoldedNetwork {
  const { network, chunkCount, heldOffset, heldChunk } = given;
  const { npuCount, routeSource, routeTarget, slotPs } = network;
  const givenIn = group(routeTarget, npuCount);
  const fold = buildFold({ npuCount, chunkCount, maps, routeSource, slotPs, heldOffset, heldChunk }, givenIn);
  const fixed = fold.fixedRow.reduce((count, row) => Math.max(count, row + 1), 0);
  const { kept, port, source, copied } = keepRoutes(network, fold, givenIn);
  const followed = Int32Array.from(copied, (npu) => fold.representative[npu]);
  return {
    given,
    fold,
    orbit: group(fold.representative, npuCount),
    copies: group(followed, npuCount),
    copyMap: Int32Array.from(copied, (npu) => fold.element[npu]),
    givenRoute: kept,
    port,
    givenIn,
    arrived: new Uint8Array(fixed * chunkCount),
    shown: new Uint8Array(fixed * chunkCount),
    problem: {
      ...given,
      network: {
        npuCount: npuCount + copied.length,
        routeSource: source,
        routeTarget: kept.map((route) => routeTarget[route]),
        slotPs: Float64Array.from(kept, (route) => slotPs[route]),
        useOffset: new Int32Array(kept.length + 1),
        useResource: new Int32Array(0),
        useUnits: new Int32Array(0),
        capacity: new Int32Array(0),
      },
      ...copyHoldings(given, copied),
    },
  };
}

function keepRoutes({ npuCount, routeSource, routeTarget }: TenNetwork, fold: Fold, { offset, items }: Lists) {
  const kept: number[] = [];
  const port: number[] = [];
  const source: number[] = [];
  const copied: number[] = [];
  const copyOf = new Int32Array(npuCount).fill(NONE);
  for (let r = 0; r < routeTarget.length; r++) {
    const target = routeTarget[r];
    if (fold.representative[target] !== target) continue;
    const from = routeSource[r];
    const own = fold.representative[from] === from && fold.fixedRow[from] === NONE;
    if (!own && copyOf[from] === NONE) copyOf[from] = copied.push(from) - 1;
    kept.push(r);
    source.push(own ? from : npuCount + copyOf[from]);
    port.push(items.indexOf(r, offset[target]) - offset[target]);
  }
  return { kept: Int32Array.from(kept), port: Int32Array.from(port), source: Int32Array.from(source), copied };
}

/** A copy holds what the NPU holds that it stands for. */
function copyHoldings({ heldOffset, heldChunk }: MatchProblem, copied: readonly number[]) {
  const ends = [...heldOffset];
  const chunks = [...heldChunk];
  for (const npu of copied) {
    for (let i = heldOffset[npu]; i < heldOffset[npu + 1]; i++) chunks.push(heldChunk[i]);
    ends.push(chunks.length);
  }
  return { heldOffset: Int32Array.from(ends), heldChunk: Int32Array.from(chunks) };
}

/** Returns the given route that a kept one becomes at another NPU of its target's orbit. */
export function imageRoute({ fold, givenIn, port }: FoldedNetwork, route: number, npu: number): number {
  const begin = givenIn.offset[npu];
  return givenIn.items[begin + fold.imagePort[begin + port[route]]];
}

/** Notes that the chunk has arrived at a representative that maps leave in place. Returns whether all its images have. */
export function completes({ given, fold, arrived }: FoldedNetwork, npu: number, chunk: number): boolean {
  const row = fold.fixedRow[npu] * given.chunkCount;
  arrived[row + chunk] = 1;
  for (let g = 1; g < fold.mapCount; g++) {
    if (fixes(fold, g, npu) && arrived[row + fold.chunkMaps[g * given.chunkCount + chunk]] === 0) return false;
  }
  return true;
}

/** Returns whether the image of a complete chunk under a map that leaves the NPU in place has not been shown; then it has. */
export function shows({ given, fold, shown }: FoldedNetwork, map: number, npu: number, image: number): boolean {
  const row = fold.fixedRow[npu] * given.chunkCount;
  if (!fixes(fold, map, npu) || shown[row + image] === 1) return false;
  shown[row + image] = 1;
  return true;
}
