import type { NetworkView, TimelineView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import type { Rows } from "./gantt-rows.ts";

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
