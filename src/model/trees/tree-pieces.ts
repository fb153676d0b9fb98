import { divide, multiply, rational } from "../numbers/rational.ts";
import { copiesOf, type TreeFlow } from "./tree-flow.ts";
import { dataBytesOf, reachOf } from "./tree-times.ts";

const MOST_PIECES = 4096;
/** A piece is charged this part of the latency of the longest edge. */
const OVERHEAD_PARTS = 64;
/** More pieces must gain more than this part of the time. */
const WORTHWHILE_PARTS = 128;

/**
 * Returns into how many pieces each copy's part is best cut when the collective has `sizeBytes`, by a closed form of the
 * time (treeFlowClock in simulate/trees/tree-flow.ts): 1 .. 4,096, of at least one byte each.
 *
 * With n pieces a tree takes (height + n - 1) (bytes / n / rate) + latency. In the network model more pieces always gain, the
 * last of them almost nothing; on machines every message costs its ends some time. So each piece is charged 1/64 of
 * the longest edge's latency (the copies of a tree send a piece as one message), and the fewest pieces are taken that cost
 * at most 1/128 more than the least.
 *
 * Tried are 1 .. 32 and from there on numbers a sixteenth apart, all of them: times are rounded up chunk by chunk, so they
 * are convex but for noise, in which a search that follows slopes could get stuck. At most 116 calls of the closed form.
 */
export function bestPieces(
  flow: TreeFlow,
  sizeBytes: number,
  closedForm: (pieces: number, sizeBytes: number) => number,
): number {
  const overheadPs = Math.floor(longestEdgePs(flow) / OVERHEAD_PARTS);
  const candidates = candidatesUpTo(mostPieces(flow, sizeBytes));
  const costs = candidates.map((pieces) => closedForm(pieces, sizeBytes) + pieces * overheadPs);
  const least = Math.min(...costs);
  const first = costs.findIndex((cost) => cost - least <= Math.floor(least / WORTHWHILE_PARTS));
  return candidates[first];
}

function longestEdgePs(flow: TreeFlow): number {
  return flow.forests.reduce((longest, forest) => Math.max(longest, reachOf(flow, forest).edgePs), 0);
}

/** Returns how many pieces of a byte or more a part has, within limits; 1 where a part is smaller. */
function mostPieces(flow: TreeFlow, sizeBytes: number): number {
  const bytes = multiply(dataBytesOf(flow), rational(sizeBytes, flow.collective.sizeBytes));
  const copies = flow.forests.reduce((most, forest) => {
    const here = copiesOf(forest, flow.symmetry);
    return here > most ? here : most;
  }, 1n);
  const { num, den } = divide(bytes, rational(copies));
  const whole = num / den;
  if (whole < 1n) return 1;
  return whole > BigInt(MOST_PIECES) ? MOST_PIECES : Number(whole);
}

function candidatesUpTo(most: number): number[] {
  const list: number[] = [];
  for (let pieces = 1; pieces < most; pieces += Math.max(1, Math.floor(pieces / 16))) list.push(pieces);
  list.push(most);
  return list;
}
