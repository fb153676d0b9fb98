import type { Dot, NetworkMarks, NodeMark, WireMark } from "../../draw/marks.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import { begunAt, type Holdings, heldAt } from "./holdings.ts";

/** What the network shows at a time: `active` are the hops under way, `shares` [npus] what each has of what it wants. */
export interface Moment {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  readonly time: number;
  readonly active: readonly number[];
  readonly shares: Float64Array;
  /** Chosen chunk and NPU; null: none. */
  readonly chunk: number | null;
  readonly npu: number | null;
}

/** More things on their way than this are shown by their wires only. */
const MOST_DOTS = 5000;
/** And the arrows of more are left out: at that size they hide what they stand on. */
const MOST_ARROWS = 1200;
const CHOSEN_WIDTH = 3.5;

/** Calls back for each wire of a hop from its source on: whether it is passed from a to b, and its place among `count`. */
export function alongHop(
  { wires: { a, b } }: Pick<NetworkView, "wires">,
  { hops: { source, wireOffset, wires } }: Pick<Holdings, "hops">,
  hop: number,
  visit: (wire: number, forward: boolean, index: number, count: number) => void,
): void {
  const count = wireOffset[hop + 1] - wireOffset[hop];
  let node = source[hop];
  for (let index = 0; index < count; index++) {
    const wire = wires[wireOffset[hop] + index];
    const forward = a[wire] === node;
    visit(wire, forward, index, count);
    node = forward ? b[wire] : a[wire];
  }
}

/** Returns where a hop is at a time, as a dot on one of its wires. */
function dotOf({ network, holdings, palette, time }: Moment, hop: number): Dot | null {
  const { startPs, endPs, chunk } = holdings.hops;
  const part = Math.min(1, Math.max(0, (time - startPs[hop]) / Math.max(1, endPs[hop] - startPs[hop])));
  let dot: Dot | null = null;
  alongHop(network, holdings, hop, (wire, forward, index, count) => {
    const at = part * count - index;
    if (at >= 0 && (at < 1 || index === count - 1)) {
      dot = { wire, forward, at: Math.min(1, at), colour: palette.css[palette.ofChunk(chunk[hop])] };
    }
  });
  return dot;
}

/** Returns what the network shows at a time. O(nodes + hops under way x wires of each + hops of the chosen chunk). */
export function marksAt(moment: Moment): NetworkMarks {
  const { network, holdings, shares, chunk, npu, active } = moment;
  const fill = new Float32Array(network.nodeNames.length);
  for (let i = 0; i < shares.length; i++) fill[i] = Math.min(1, shares[i]);
  if (chunk !== null) return { ...ofChunk(moment, chunk), fill: held(holdings, chunk, moment.time, fill) };
  const { source, target } = holdings.hops;
  const shown = npu === null ? active : active.filter((hop) => source[hop] === npu || target[hop] === npu);
  const wires = wiresOf(moment, shown, npu === null ? undefined : CHOSEN_WIDTH);
  const nodes = new Map<number, NodeMark>(npu === null ? [] : [[npu, { colour: "--chosen", ring: true }]]);
  return { fill, wires, dots: dotsOf(moment, shown), nodes, fadeOthers: npu !== null };
}

/** Fills each NPU by its part of a chunk. */
function held(holdings: Holdings, chunk: number, time: number, fill: Float32Array): Float32Array {
  const amounts = heldAt(holdings, chunk, time);
  fill.fill(0);
  for (let npu = 0; npu < amounts.length; npu++) fill[npu] = Math.min(1, amounts[npu] / holdings.whole[chunk]);
  return fill;
}

function dotsOf(moment: Moment, hops: readonly number[]): Dot[] {
  if (hops.length > MOST_DOTS) return [];
  return hops.map((hop) => dotOf(moment, hop)).filter((dot) => dot !== null);
}

/** Returns the wires of hops in the colours of their chunks, those alike together; sums are dashed. */
function wiresOf(moment: Moment, hops: readonly number[], width?: number): WireMark[] {
  if (hops.length > MOST_DOTS) return topmostOf(moment, hops, width);
  const { network, holdings, palette } = moment;
  const { chunk, reduces } = holdings.hops;
  const byColour = new Map<number, WireMark[]>();
  const hasArrows = hops.length <= MOST_ARROWS;
  for (const hop of hops) {
    const index = palette.ofChunk(chunk[hop]);
    const key = 2 * index + reduces[hop];
    const alike = byColour.get(key) ?? [];
    byColour.set(key, alike);
    const colour = palette.css[index];
    alongHop(network, holdings, hop, (wire, forward) => {
      alike.push({
        wire,
        forward: hasArrows ? forward : null,
        colour,
        dashed: reduces[hop] === 1,
        ...(width === undefined ? {} : { width }),
      });
    });
  }
  return [...byColour.keys()].sort((x, y) => x - y).flatMap((key) => byColour.get(key) as WireMark[]);
}

/** The wires of the hops that were shown last: many hops under way are often the same for many frames. */
let lastTop: { readonly hops: readonly number[]; readonly palette: ChunkPalette; readonly marks: WireMark[] } | null =
  null;

/** Returns each wire once, as the hop that would be painted last shows it: more hops than there are wires hide each other. */
function topmostOf({ network, holdings, palette }: Moment, hops: readonly number[], width?: number): WireMark[] {
  if (lastTop?.hops === hops && lastTop.palette === palette) return lastTop.marks;
  const { chunk, reduces, wires, wireOffset } = holdings.hops;
  const top = new Int32Array(network.wires.a.length).fill(-1);
  for (const hop of hops) {
    const key = 2 * palette.ofChunk(chunk[hop]) + reduces[hop];
    for (let i = wireOffset[hop]; i < wireOffset[hop + 1]; i++) if (top[wires[i]] < key) top[wires[i]] = key;
  }
  const used = Array.from(top.keys()).filter((wire) => top[wire] >= 0);
  const marks = used
    .sort((x, y) => top[x] - top[y])
    .map((wire) => ({
      wire,
      forward: null,
      colour: palette.css[top[wire] >> 1],
      dashed: (top[wire] & 1) === 1,
      ...(width === undefined ? {} : { width }),
    }));
  lastTop = { hops, palette, marks };
  return marks;
}

/** The way of a chunk so far, what is under way of it, and where it began (or is summed). */
function ofChunk(moment: Moment, chunk: number): NetworkMarks {
  const { holdings, time, palette, npu } = moment;
  const { hops } = holdings;
  const begun = Array.from(begunAt(holdings, holdings.ofChunk, chunk, time));
  const moving = begun.filter((hop) => hops.endPs[hop] > time);
  const arrived = begun.filter((hop) => hops.endPs[hop] <= time);
  const colour = palette.css[palette.ofChunk(chunk)];
  const nodes = new Map<number, NodeMark>();
  if (npu !== null) nodes.set(npu, { colour: "--chosen", ring: true });
  const origin = hops.chunkOrigin[chunk];
  if (origin >= 0)
    nodes.set(origin, { colour, ring: true, text: begun.some((hop) => hops.reduces[hop] === 1) ? "sum" : "start" });
  const wires = [...wiresOf(moment, arrived), ...wiresOf(moment, moving, CHOSEN_WIDTH)];
  return { wires, dots: dotsOf(moment, moving), nodes, fadeOthers: true };
}
