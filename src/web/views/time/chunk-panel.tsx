import { formatSize, formatTime } from "../../../model/numbers/units.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import { begunAt, type Holdings, heldAt } from "./holdings.ts";

interface Props {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  readonly time: number;
  readonly chunk: number;
  readonly onNpu: (npu: number) => void;
}

const MOST_ROWS = 200;

/** Who holds one chunk: from whom each got it, and when. */
export function ChunkPanel({ network, holdings, palette, time, chunk, onNpu }: Props) {
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
          {formatSize(Math.round(hops.chunkBytes))}, {begins}
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

/** A chunk that came to an NPU, or is on its way. */
interface Arrival {
  readonly hop: number;
  readonly npu: number;
  readonly from: number;
  readonly at: number;
  readonly isMoving: boolean;
  /** Contributions that the NPU holds from then on. */
  readonly amount: number;
}

/** Returns how many NPUs hold all of a chunk at a time, and how it came there, the latest first. O(NPUs + hops of the chunk). */
export function arrivalsOf(holdings: Holdings, chunk: number, time: number): { holders: number; rows: Arrival[] } {
  const { hops, whole, amount, ofChunk } = holdings;
  const holders = heldAt(holdings, chunk, time).reduce((sum, has) => sum + (has >= whole[chunk] ? 1 : 0), 0);
  const rows = Array.from(begunAt(holdings, ofChunk, chunk, time), (hop) => ({
    hop,
    npu: hops.target[hop],
    from: hops.source[hop],
    at: hops.endPs[hop],
    isMoving: hops.endPs[hop] > time,
    amount: amount[hop],
  }));
  return { holders, rows: rows.reverse() };
}
