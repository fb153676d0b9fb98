import { useSignal } from "@preact/signals";
import { formatTime } from "../../../model/numbers/units.ts";
import type { NetworkView } from "../../protocol.ts";
import type { ChunkPalette } from "./chunk-colours.ts";
import { type Column, type Holdings, sortedHops } from "./holdings.ts";
import "./transfers-table.css";

interface Props {
  readonly network: NetworkView;
  readonly holdings: Holdings;
  readonly palette: ChunkPalette;
  readonly hops: readonly number[];
  readonly caption: string;
  readonly chunk: number | null;
  readonly onChoose: (chunk: number) => void;
}

const PAGE = 50;
const COLUMNS: readonly (readonly [Column, string])[] = [
  ["chunk", "Chunk"],
  ["source", "From"],
  ["target", "To"],
  ["start", "Starts"],
  ["end", "Ends"],
];

/** Transfers as a table: sorted by its heads, walked by arrow keys, a chunk chosen by its button. */
export function TransfersTable({ network, holdings, palette, hops, caption, chunk, onChoose }: Props) {
  const column = useSignal<Column>("end");
  const isDown = useSignal(false);
  const page = useSignal(0);
  const view = holdings.hops;
  const sorted = sortedHops(view, hops, column.value, isDown.value);
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE));
  const current = Math.min(page.value, pages - 1);
  const shown = sorted.slice(current * PAGE, (current + 1) * PAGE);
  const sortBy = (name: Column): void => {
    isDown.value = column.value === name && !isDown.value;
    column.value = name;
    page.value = 0;
  };
  const walk = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    const buttons = [...(event.currentTarget as Element).querySelectorAll<HTMLButtonElement>("button")];
    const next = buttons[buttons.indexOf(event.target as HTMLButtonElement) + step];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div class="transfers">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name, title]) => (
              <th
                key={name}
                scope="col"
                aria-sort={column.value !== name ? "none" : isDown.value ? "descending" : "ascending"}
              >
                <button type="button" class="quiet" onClick={() => sortBy(name)}>
                  {title}
                  <span aria-hidden="true">{column.value === name ? (isDown.value ? " \u2193" : " \u2191") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={walk}>
          {shown.map((hop) => (
            <tr key={hop}>
              <td>
                <button
                  type="button"
                  class="quiet transfers-chunk"
                  aria-pressed={chunk === view.chunk[hop]}
                  onClick={() => onChoose(view.chunk[hop])}
                >
                  <span class="swatch" style={{ background: palette.css[palette.ofChunk(view.chunk[hop])] }} />
                  {view.chunk[hop]}
                  {view.reduces[hop] === 1 ? " (sum)" : ""}
                </button>
              </td>
              <td>{network.nodeNames[view.source[hop]]}</td>
              <td>{network.nodeNames[view.target[hop]]}</td>
              <td>{formatTime(view.startPs[hop])}</td>
              <td>{formatTime(view.endPs[hop])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pages > 1 && (
        <p class="transfers-pages">
          <button type="button" disabled={current === 0} onClick={() => (page.value = current - 1)}>
            Previous
          </button>
          Page {current + 1} of {pages}
          <button type="button" disabled={current === pages - 1} onClick={() => (page.value = current + 1)}>
            Next
          </button>
        </p>
      )}
    </div>
  );
}
