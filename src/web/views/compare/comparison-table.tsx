import { formatSize } from "../../../model/numbers/units.ts";
import { gbpsText, percent, timeText } from "../../../report/amounts.ts";
import type { Comparison, ComparisonRow } from "../../../report/comparison.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";

interface ComparisonTableProps {
  readonly comparison: Comparison;
  readonly onMake: (row: ComparisonRow) => void;
  readonly isBusy: boolean;
}

/** All rows, by size and time, the best of each size marked; the limit and models of others between them. */
export function ComparisonTable({ comparison: { rows, references, limits }, onMake, isBusy }: ComparisonTableProps) {
  return (
    <div class="sideways">
      <table class="compare-table">
        <caption class="unseen">Time, bandwidth and share of the limit by size and algorithm</caption>
        <ColumnHeads
          names={["Algorithm", "Time", "Alg. bandwidth", "Bus bandwidth", "Of the limit", "Chunks", "Synthesis"]}
        />
        {limits.map(({ sizeBytes, limit }) => (
          <tbody key={sizeBytes}>
            <tr class="compare-size">
              <th scope="rowgroup" colSpan={7}>
                {formatSize(sizeBytes)}
              </th>
            </tr>
            {rows
              .filter((row) => row.sizeBytes === sizeBytes)
              .sort((a, b) => a.us - b.us)
              .map((row) => (
                <tr key={row.algorithm} data-best={row.best}>
                  <th scope="row">
                    <button
                      type="button"
                      class="compare-make"
                      disabled={isBusy}
                      title={`Synthesize ${row.algorithm} at ${formatSize(sizeBytes)}`}
                      onClick={() => onMake(row)}
                    >
                      {row.algorithm}
                    </button>
                    {row.best && <span class="compare-best">best</span>}
                  </th>
                  <td class="n">{timeText(row.us)}</td>
                  <td class="n">{gbpsText(row.algbwGBps)}</td>
                  <td class="n">{gbpsText(row.busbwGBps)}</td>
                  <td class="n">{percent(row.ofLimit)}</td>
                  <td class="n">{row.chunks}</td>
                  <td class="n">{timeText(row.synthesisMs * 1000)}</td>
                </tr>
              ))}
            {references
              .filter((row) => row.sizeBytes === sizeBytes)
              .map((row) => (
                <tr key={row.name} class="compare-other">
                  <th scope="row" title={row.choice}>{`${row.name}: ${row.choice}`}</th>
                  <td class="n">{timeText(row.us)}</td>
                  <td class="n">{gbpsText(row.algbwGBps)}</td>
                  <td class="n">{gbpsText(row.busbwGBps)}</td>
                  <td class="n">{percent(row.ofLimit)}</td>
                  <td colSpan={2} />
                </tr>
              ))}
            <tr class="compare-other">
              <th scope="row">limit</th>
              <td class="n">{timeText(limit.us)}</td>
              <td class="n">{gbpsText(limit.algbwGBps)}</td>
              <td colSpan={4} class="compare-because">
                {limit.because}
              </td>
            </tr>
          </tbody>
        ))}
      </table>
    </div>
  );
}
