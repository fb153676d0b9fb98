import { useEffect, useRef } from "preact/hooks";
import { formatTime } from "../../../model/numbers/units.ts";
import { roundedSize } from "../../../report/amounts.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import { type Arrival, arrivalsOf, type Holdings, heldBy, rangesText } from "./holdings.ts";

interface ChunkPanelProps {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  readonly time: number;
  readonly chunk: number;
  readonly onNpu: (npu: number) => void;
}

const MOST_ROWS = 200;

/** Who holds one chunk: from whom each got it, and when. */
export function ChunkPanel({ network, holdings, palette, time, chunk, onNpu }: ChunkPanelProps) {
  const { hops, whole, starters, wanters } = holdings;
  const arrivals = arrivalsOf(holdings, chunk, time);
  const isSum = whole[chunk] > 1;
  const complete = arrivals.holders;
  const wanting = wanters.offset[chunk + 1] - wanters.offset[chunk];
  const origin = hops.chunkOrigin[chunk];
  const name = (npu: number): string => network.nodeNames[npu];
  const begins =
    origin >= 0
      ? isSum
        ? `summed at ${name(origin)}`
        : `from ${name(origin)}`
      : isSum
        ? `summed from ${whole[chunk]} NPUs`
        : `from ${starters.offset[chunk + 1] - starters.offset[chunk]} NPUs`;
  const amount = ({ amount: has }: Arrival): string => (isSum ? ` (${has} of ${whole[chunk]} parts)` : "");
  return (
    <section class="holdings-part" aria-label={`Chunk ${chunk}`}>
      <h3>
        <span class="swatch" style={{ background: palette.css[palette.ofChunk(chunk)] }} />
        Chunk {chunk}
        <span class="soft">
          {" "}
          {roundedSize(Math.round(hops.chunkBytes))}, {begins}
        </span>
      </h3>
      <p>
        {complete.toLocaleString("en")} {complete === 1 ? "NPU holds" : "NPUs hold"} {isSum ? "the whole sum" : "it"} at{" "}
        {formatTime(Math.round(time))}; {wanting.toLocaleString("en")} {wanting === 1 ? "is" : "are"} to have it in the
        end.
      </p>
      {arrivals.rows.length > 0 && (
        <table>
          <caption class="unseen">Who got chunk {chunk}, from whom and when</caption>
          <thead>
            <tr>
              <th scope="col">NPU</th>
              <th scope="col">from</th>
              <th scope="col">at</th>
            </tr>
          </thead>
          <tbody>
            {arrivals.rows.slice(0, MOST_ROWS).map((arrival) => (
              <tr key={arrival.hop} class={arrival.isMoving ? "is-moving" : ""}>
                <td>
                  <button type="button" class="quiet" onClick={() => onNpu(arrival.npu)}>
                    {name(arrival.npu)}
                  </button>
                </td>
                <td>{name(arrival.from)}</td>
                <td>
                  {formatTime(arrival.at)}
                  {arrival.isMoving ? ", on its way" : amount(arrival)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {arrivals.rows.length > MOST_ROWS && (
        <p class="soft">and {(arrivals.rows.length - MOST_ROWS).toLocaleString("en")} before these</p>
      )}
    </section>
  );
}

interface NpuPanelProps {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  readonly active: readonly number[];
  readonly time: number;
  readonly npu: number;
  readonly chunk: number | null;
  readonly onChunk: (chunk: number) => void;
  readonly onNpu: (npu: number) => void;
}

const MOST_MOVES = 24;

/** What one NPU holds and misses, sends and receives. */
export function NpuPanel({ network, holdings, palette, active, time, npu, chunk, onChunk, onNpu }: NpuPanelProps) {
  const { hops, whole } = holdings;
  const held = heldBy(holdings, npu, time);
  const part = Float32Array.from(held, (amount, c) => Math.min(1, amount / whole[c]));
  const wanted = new Uint8Array(hops.chunkCount);
  const wishes = hops.wanted.subarray(hops.wantedOffset[npu], hops.wantedOffset[npu + 1]);
  for (const c of wishes) wanted[c] = 1;
  const missing = wishes.filter((c) => part[c] < 1);
  const has = wishes.length - missing.length;
  const sentence =
    wishes.length === 0
      ? "It is to end up with nothing; it only sends and passes on."
      : missing.length === 0
        ? `It holds all ${wishes.length.toLocaleString("en")} chunks that it needs in the end.`
        : `It holds ${has.toLocaleString("en")} of the ${wishes.length.toLocaleString("en")} chunks that it needs in the end.`;
  const sends = active.filter((hop) => hops.source[hop] === npu);
  const receives = active.filter((hop) => hops.target[hop] === npu);
  const moves = (list: readonly number[], other: Int32Array) => (
    <ul class="holdings-moves">
      {list.slice(0, MOST_MOVES).map((hop) => (
        <li key={hop}>
          <button type="button" class="quiet" onClick={() => onChunk(hops.chunk[hop])}>
            <span class="swatch" style={{ background: palette.css[palette.ofChunk(hops.chunk[hop])] }} />
            chunk {hops.chunk[hop]}
          </button>
          <button type="button" class="quiet" onClick={() => onNpu(other[hop])}>
            {network.nodeNames[other[hop]]}
          </button>
          <span class="soft">until {formatTime(hops.endPs[hop])}</span>
        </li>
      ))}
      {list.length > MOST_MOVES && <li class="soft">and {list.length - MOST_MOVES} more</li>}
    </ul>
  );
  return (
    <section class="holdings-part" aria-label={`Chunks of ${network.nodeNames[npu]}`}>
      <h3>NPU {network.nodeNames[npu]}</h3>
      <p>
        {sentence}
        {missing.length > 0 && ` It misses ${missing.length === 1 ? "chunk" : "chunks"} ${rangesText(missing)}.`}
      </p>
      <ChunkGrid part={part} wanted={wanted} palette={palette} chosen={chunk} label={sentence} onChoose={onChunk} />
      <h4>Sends now: {sends.length}</h4>
      {moves(sends, hops.target)}
      <h4>Receives now: {receives.length}</h4>
      {moves(receives, hops.source)}
    </section>
  );
}

interface ChunkGridProps {
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
function ChunkGrid({ part, wanted, palette, chosen, label, onChoose }: ChunkGridProps) {
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
