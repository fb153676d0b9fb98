import { after, groupBy, notBefore } from "../../draw/columns.ts";
import type { NetworkView, TimelineView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";

export const ROW_KINDS = ["links", "sent", "received", "wires", "boxes"] as const;
/** What a row of the chart is: a link, all links out of a node, all into it, both ways of a wire, all links out of a box. */
export type RowKind = (typeof ROW_KINDS)[number];

/** Rows of bars in time, those of a row in the order of their starts. */
export interface BarRows {
  /** [rows] */
  readonly names: readonly string[];
  /** [rows + 1] */
  readonly offset: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  /** [slices] the share of its row's height that a slice has, and where it lies in it (0 .. 1 - share). */
  readonly share: Float32Array;
  readonly low: Float32Array;
  /** [rows] the longest slice, and whether too many overlap for each to have a place of its own. */
  readonly longestPs: Float64Array;
  readonly crowded: Uint8Array;
}

/** The rows of the chart: shares are of their bandwidth. Slice i of all rows is timeline slice slice[i]. */
export interface Rows extends BarRows {
  readonly kind: RowKind;
  readonly slice: Int32Array;
  /** How many rows of this kind carry nothing, and are left out. */
  readonly idle: number;
}

/** More slices at a time are not given places. */
const MOST_ABREAST = 64;
/** Rows of more links are too thin for a part for each. */
const MOST_LANES = 16;
/** Shares such as 1/3 do not add up to 1 exactly. */
const SLACK = 1e-5;

/** The part of a row's height that is one link's, and the slices on it that have not ended, by their places. */
interface Lane {
  readonly bottom: number;
  readonly height: number;
  abreast: number[];
}

/** Returns the row that each link is part of (-1: none) and the names of all rows. */
function keysOf(network: NetworkView, kind: RowKind): { key: Int32Array; names: readonly string[] } {
  const { linkSource, linkTarget, nodeNames, wires, groups, nodeGroup } = network;
  const name = (node: number): string => nodeNames[node];
  if (kind === "sent") return { key: linkSource, names: nodeNames };
  if (kind === "received") return { key: linkTarget, names: nodeNames };
  if (kind === "boxes") return { key: linkSource.map((node) => nodeGroup[node]), names: groups };
  if (kind === "wires") {
    return { key: wires.ofLink, names: Array.from(wires.a, (a, wire) => `${name(a)} - ${name(wires.b[wire])}`) };
  }
  const links = Array.from(linkSource.keys()).sort(
    (i, j) => linkSource[i] - linkSource[j] || linkTarget[i] - linkTarget[j] || i - j,
  );
  const key = new Int32Array(links.length);
  links.forEach((link, row) => {
    key[link] = row;
  });
  return { key, names: links.map((link) => `${name(linkSource[link])} > ${name(linkTarget[link])}`) };
}

/**
 * Returns the rows of a kind that carry anything; where `wanted` is given, of the links for which it is true only.
 * O(links log links + slices x slices at a time).
 */
export function rowsOf(
  network: NetworkView,
  timeline: TimelineView,
  kind: RowKind,
  wanted: (link: number) => boolean = () => true,
): Rows {
  const { linkBytesPerSecond } = network;
  const { key, names } = keysOf(network, kind);
  const capacity = new Float64Array(names.length);
  const used = new Uint8Array(names.length);
  const rowOfLink = new Int32Array(key.length).fill(-1);
  for (let link = 0; link < key.length; link++) {
    if (key[link] < 0 || !wanted(link)) continue;
    capacity[key[link]] += linkBytesPerSecond[link];
    rowOfLink[link] = key[link];
  }
  let kept = 0;
  for (const link of timeline.link) {
    if (rowOfLink[link] >= 0) used[rowOfLink[link]] = 1;
  }
  const rowOfKey = Int32Array.from(used, (is) => (is === 1 ? kept++ : -1));
  // slices of links that are left out go to a last group, which is then dropped
  const grouped = groupBy(
    timeline.link.map((link) => (rowOfLink[link] < 0 ? kept : rowOfKey[rowOfLink[link]])),
    kept + 1,
  );
  const slice = grouped.items.subarray(0, grouped.offset[kept]);
  const rows: Rows = {
    kind,
    names: names.filter((_, row) => used[row] === 1),
    offset: grouped.offset.subarray(0, kept + 1),
    slice,
    startPs: Float64Array.from(slice, (i) => timeline.startPs[i]),
    lastsPs: Float64Array.from(slice, (i) => timeline.lastsPs[i]),
    share: Float32Array.from(slice, (i) => {
      const link = timeline.link[i];
      return (timeline.share[i] * linkBytesPerSecond[link]) / capacity[rowOfLink[link]];
    }),
    low: new Float32Array(slice.length),
    longestPs: new Float64Array(kept),
    crowded: new Uint8Array(kept),
    idle: capacity.reduce((idle, bytes, row) => idle + (bytes > 0 && used[row] === 0 ? 1 : 0), 0),
  };
  const part = (link: number): number => linkBytesPerSecond[link] / capacity[rowOfLink[link]];
  for (let row = 0; row < kept; row++) place(rows, row, (i) => timeline.link[i], part);
  return rows;
}

/**
 * Gives each slice of a row the lowest place that is free when it starts, in the part of the row that is its link's.
 * O(slices x slices at a time).
 */
function place(rows: Rows, row: number, linkOf: (slice: number) => number, part: (link: number) => number): void {
  const { offset, slice, startPs, lastsPs, share, low, longestPs, crowded } = rows;
  const lanes = new Map<number, Lane>();
  const used = [...new Set(slice.subarray(offset[row], offset[row + 1]).map(linkOf))].sort((a, b) => a - b);
  if (used.length > MOST_LANES) crowded[row] = 1;
  let top = 0;
  for (const link of used) {
    lanes.set(link, { bottom: top, height: part(link), abreast: [] });
    top += part(link);
  }
  for (let i = offset[row]; i < offset[row + 1]; i++) {
    longestPs[row] = Math.max(longestPs[row], lastsPs[i]);
    if (crowded[row] === 1) continue;
    const lane = lanes.get(linkOf(slice[i])) as Lane;
    const abreast = lane.abreast.filter((other) => startPs[other] + lastsPs[other] > startPs[i]);
    let at = lane.bottom;
    let before = 0;
    while (before < abreast.length && low[abreast[before]] - at + SLACK < share[i]) {
      at = Math.max(at, low[abreast[before]] + share[abreast[before]]);
      before++;
    }
    low[i] = Math.max(lane.bottom, Math.min(at, lane.bottom + lane.height - share[i]));
    abreast.splice(before, 0, i);
    lane.abreast = abreast;
    if (abreast.length > MOST_ABREAST) crowded[row] = 1;
  }
}

/** Returns the slices [first, end) of a row among which are all that overlap from .. to. O(log slices). */
export function slicesWithin(
  { offset, startPs, longestPs }: BarRows,
  row: number,
  from: number,
  to: number,
): [number, number] {
  const first = notBefore(startPs, from - longestPs[row], offset[row], offset[row + 1]);
  return [first, after(startPs, to, first, offset[row + 1])];
}

/** Returns the slice of a row that is there at a time and height (0: bottom, 1: top); -1 where none is. */
export function sliceAt(rows: BarRows, row: number, time: number, height: number): number {
  const { startPs, lastsPs, low, share } = rows;
  const [first, end] = slicesWithin(rows, row, time, time);
  let found = -1;
  for (let i = first; i < end; i++) {
    if (startPs[i] > time || startPs[i] + lastsPs[i] <= time) continue;
    if (low[i] <= height && height < low[i] + share[i]) return i;
    if (found < 0) found = i;
  }
  return found;
}

export const COLOURINGS = ["chunk", "origin", "class", "sum"] as const;
/** What the colour of a bar says: the chunk, the NPU that the chunk is of, the bandwidth of the link, copy or sum. */
export type Colouring = (typeof COLOURINGS)[number];

/** Returns how many colours are needed. */
export function colourCount(
  colouring: Colouring,
  network: Pick<NetworkView, "npuCount" | "classes">,
  chunkCount: number,
): number {
  if (colouring === "class") return network.classes.length;
  if (colouring === "sum") return 2;
  return colouring === "chunk" ? chunkCount : network.npuCount;
}

/**
 * Returns [slices of rows] the index of each slice's colour; 0 for those that are not `isWanted`, and for chunks of no one NPU where
 * their NPU is asked for. O(slices).
 */
export function sliceColours(
  rows: Rows,
  network: NetworkView,
  timeline: TimelineView,
  chunkOrigin: Int32Array | null,
  colouring: Colouring,
  palette: ChunkPalette,
  isWanted: (chunk: number) => boolean,
): Uint8Array {
  const { chunk, link, reduces } = timeline;
  const { ofLink, bandwidthClass } = network.wires;
  const value = (slice: number): number => {
    if (colouring === "chunk") return chunk[slice];
    if (colouring === "origin") return chunkOrigin?.[chunk[slice]] ?? -1;
    return colouring === "class" ? bandwidthClass[ofLink[link[slice]]] : reduces[slice];
  };
  return Uint8Array.from(rows.slice, (slice) => {
    const found = isWanted(chunk[slice]) ? value(slice) : -1;
    return found < 0 ? 0 : palette.ofChunk(found);
  });
}
