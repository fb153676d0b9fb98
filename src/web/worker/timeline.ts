import { orderByTime } from "../../model/numbers/ordering.ts";
import type { Refusal, TimelineView } from "../protocol.ts";
import type { Moves } from "./moves.ts";

/** Slices of links beyond this are more than a page should hold. */
const MOST_SLICES = 8e6;

/** When links are held, in the order of the moves: each link of each move. */
export interface Slices {
  readonly link: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  readonly share: Float32Array;
  /** The move that a slice is of. */
  readonly move: Int32Array;
}

/** Returns how many links all moves take. */
function sliceCount({ way, ways: { linkOffset } }: Moves): number {
  let slices = 0;
  for (let i = 0; i < way.length; i++) slices += linkOffset[way[i] + 1] - linkOffset[way[i]];
  return slices;
}

/** Returns when links are held; null where that is too much. O(slices). */
export function slicesOf(moves: Moves): Slices | null {
  const { way, startPs, endPs, ways, latencyPs, heldPs, hops } = moves;
  const { linkOffset, links, shareNum, shareDen } = ways;
  const count = sliceCount(moves);
  if (count > MOST_SLICES) return null;
  const slices = {
    link: new Int32Array(count),
    startPs: new Float64Array(count),
    lastsPs: new Float64Array(count),
    share: new Float32Array(count),
    move: new Int32Array(count),
  };
  let slice = 0;
  for (let i = 0; i < way.length; i++) {
    const lasts = endPs[i] - latencyPs[way[i]] - startPs[i];
    const part = heldPs === null || lasts <= 0 ? 1 : Math.min(1, heldPs[i] / lasts);
    for (let p = linkOffset[way[i]]; p < linkOffset[way[i] + 1]; p++, slice++) {
      slices.link[slice] = links[p];
      slices.move[slice] = i;
      // what is stored takes one link after the other, each as a whole
      slices.startPs[slice] = hops === null ? startPs[i] : hops.startPs[slice];
      slices.lastsPs[slice] = hops === null ? lasts : hops.serialPs[links[p]];
      slices.share[slice] = hops === null ? (part * shareNum[p]) / shareDen[p] : 1;
    }
  }
  return slices;
}

/** Returns when links are held, for the page. */
export function timelineView(moves: Moves): TimelineView | Refusal {
  const slices = slicesOf(moves);
  if (slices === null)
    return {
      refusal: `The transfers take ${sliceCount(moves).toLocaleString("en")} links in all, too many to be shown.`,
    };
  const { link, startPs, lastsPs, share, move } = slices;
  const { chunk, reduces, totalPs, note } = moves;
  const order = orderByTime(startPs);
  const count = order.length;
  const view = {
    link: new Int32Array(count),
    startPs: new Float64Array(count),
    lastsPs: new Float64Array(count),
    share: new Float32Array(count),
    chunk: new Int32Array(count),
    reduces: new Uint8Array(count),
    totalPs,
    planned: false,
    note,
  };
  for (let i = 0; i < count; i++) {
    const slice = order[i];
    view.link[i] = link[slice];
    view.startPs[i] = startPs[slice];
    view.lastsPs[i] = lastsPs[slice];
    view.share[i] = share[slice];
    view.chunk[i] = chunk[move[slice]];
    view.reduces[i] = reduces[move[slice]];
  }
  return view;
}
