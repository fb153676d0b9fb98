import { formatSize } from "../../../model/numbers/units.ts";
import { timeText } from "../../../report/amounts.ts";
import type { ComparisonRow } from "../../../report/comparison.ts";
import { gainsOf } from "../../../report/gains.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";

/** What the fastest gains over what libraries have, size by size; nothing where nothing can be said. */
export function GainTable({ rows }: { readonly rows: readonly ComparisonRow[] }) {
  const gains = gainsOf(rows);
  if (gains.length === 0) return null;
  return (
    <div class="sideways">
      <table class="compare-table compare-gains">
        <caption>Gain over the fastest of libraries, simulated</caption>
        <ColumnHeads names={["Size", "Gain", "Fastest", "Time", "Of libraries", "Library's time"]} />
        <tbody>
          {gains.map(({ best, library, text }) => (
            <tr key={best.sizeBytes}>
              <th scope="row">{formatSize(best.sizeBytes)}</th>
              <td class="n">{text}</td>
              <td class="n">{best.algorithm}</td>
              <td class="n">{timeText(best.us)}</td>
              <td class="n">{library.algorithm}</td>
              <td class="n">{timeText(library.us)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
