import { useEffect, useRef } from "preact/hooks";
import type { ChunkPalette } from "./chunk-colours.ts";

interface Props {
  /** [chunks] 0 .. 1 of each. */
  readonly part: Float32Array;
  readonly wanted: Uint8Array;
  readonly palette: ChunkPalette;
  readonly chosen: number | null;
  readonly label: string;
  readonly onChoose: (chunk: number) => void;
}

/** Pixels from one square to the next, and how many fit in a row. */
const WIDE = 288;
const cellOf = (count: number): number => (count <= 144 ? 24 : count <= 1296 ? 8 : 4);

/** All chunks as squares: filled by how much an NPU holds, framed where it wants them. */
export function ChunkGrid({ part, wanted, palette, chosen, label, onChoose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const cell = cellOf(part.length);
  const across = Math.floor(WIDE / cell);
  const height = Math.ceil(part.length / across) * cell;
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const ratio = window.devicePixelRatio || 1;
    element.width = WIDE * ratio;
    element.height = Math.max(1, height * ratio);
    const context = element.getContext("2d") as CanvasRenderingContext2D;
    const style = getComputedStyle(element);
    const [line, soft, strong] = ["--line", "--sunk", "--chosen"].map((name) => style.getPropertyValue(name));
    context.scale(ratio, ratio);
    const side = cell > 4 ? cell - 2 : cell - 1;
    for (let chunk = 0; chunk < part.length; chunk++) {
      const [x, y] = [(chunk % across) * cell, Math.floor(chunk / across) * cell];
      context.fillStyle = wanted[chunk] === 1 ? line : soft;
      context.fillRect(x, y, side, side);
      context.fillStyle = palette.css[palette.ofChunk(chunk)];
      const high = part[chunk] > 0 ? Math.max(1, part[chunk] * side) : 0;
      context.fillRect(x, y + side - high, side, high);
      if (chunk !== chosen) continue;
      context.strokeStyle = strong;
      context.lineWidth = 2;
      context.strokeRect(x, y, side, side);
    }
  }, [part, wanted, palette, chosen, cell, across, height]);
  return (
    <canvas
      class="chunk-grid"
      ref={canvas}
      role="img"
      aria-label={label}
      style={{ width: `${WIDE}px`, height: `${height}px` }}
      onClick={(event) => {
        const chunk = Math.floor(event.offsetY / cell) * across + Math.floor(event.offsetX / cell);
        if (event.offsetX < across * cell && chunk < part.length) onChoose(chunk);
      }}
    />
  );
}
