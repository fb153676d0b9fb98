import { formatSize, formatTime } from "../../../model/numbers/units.ts";
import type { NetworkView } from "../../protocol.ts";
import { type Arrival, arrivalsOf } from "./arrivals.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import type { Holdings } from "./holdings.ts";

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
