import type { ChunkPalette } from "./chunk-colours.ts";

/** Chunks up to this many have a swatch each. */
const FEW = 8;

/** Which colour stands for which chunk: one each, or a scale from the first to the last. */
export function ChunkLegend({ count, palette }: { readonly count: number; readonly palette: ChunkPalette }) {
  const colourOf = (chunk: number): string => palette.css[palette.ofChunk(chunk)];
  if (count <= FEW)
    return (
      <p class="chunk-legend">
        Chunk
        {Array.from({ length: count }, (_, chunk) => (
          <span key={chunk}>
            <span class="swatch" style={{ background: colourOf(chunk) }} />
            {chunk}
          </span>
        ))}
      </p>
    );
  const stops = Array.from({ length: FEW }, (_, i) => colourOf(Math.round((i * (count - 1)) / (FEW - 1))));
  return (
    <p class="chunk-legend">
      <span>Chunk 0</span>
      <i style={{ background: `linear-gradient(90deg, ${stops.join(", ")})` }} />
      <span>{(count - 1).toLocaleString("en")}</span>
    </p>
  );
}
