import { formatTime } from "../../../model/numbers/units.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import { ChunkGrid } from "./chunk-grid.tsx";
import { type Holdings, heldBy } from "./holdings.ts";
import { rangesText } from "./ranges.ts";

interface Props {
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
export function NpuPanel({ network, holdings, palette, active, time, npu, chunk, onChunk, onNpu }: Props) {
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
        ? `It holds all ${wishes.length.toLocaleString("en")} chunks that it is to end up with.`
        : `It holds ${has.toLocaleString("en")} of the ${wishes.length.toLocaleString("en")} chunks that it is to end up with.`;
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
