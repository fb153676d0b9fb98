import { useEffect } from "preact/hooks";
import { roundedSize, timeText } from "../../../report/amounts.ts";
import type { Comparison } from "../../../report/comparison.ts";
import { gainText } from "../../../report/gains.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import { before, forgetComparison, type KeptComparison, readBefore } from "./before.ts";
import { comparedText, type Least, leastAt } from "./decision.ts";
import { showBefore } from "./run.ts";
import { sizesIn } from "./series.ts";

/** What was compared before, in a line each: the fastest at the sizes of what is shown, beside it. */
export function BeforeTable({ comparison }: { readonly comparison: Comparison | null }) {
  useEffect(() => void readBefore(), []);
  const kept = before.value;
  const isOnlyShown = kept.length === 1 && kept[0]?.comparison === comparison;
  if (kept.length === 0 || isOnlyShown) return null;
  const sizes = sizesIn(comparison ?? (kept[0] as KeptComparison).comparison);
  const own = comparison === null ? null : leastAt(comparison, sizes);
  return (
    <details class="compare-before" open>
      <summary>Across networks and changes</summary>
      <div class="sideways">
        <table class="compare-table">
          <caption class="unseen">The fastest of what was compared in this browser, by size</caption>
          <ColumnHeads names={["Compared", ...sizes.map(roundedSize), ""]} />
          <tbody>
            {kept.map((one) => {
              const isShown = one.comparison === comparison;
              return (
                <tr key={one.key} aria-current={isShown ? "true" : undefined}>
                  <th scope="row">
                    {isShown ? (
                      <strong>{comparedText(one)}</strong>
                    ) : (
                      <button type="button" class="compare-make" onClick={() => void showBefore(one.words)}>
                        {comparedText(one)}
                      </button>
                    )}
                  </th>
                  {leastAt(one.comparison, sizes).map((least, place) => (
                    <LeastCell key={sizes[place]} least={least} own={isShown ? null : (own?.[place] ?? null)} />
                  ))}
                  <td>
                    <button
                      type="button"
                      class="quiet"
                      title={`Forget the comparison of ${comparedText(one)}`}
                      onClick={() => void forgetComparison(one.key)}
                    >
                      Forget
                    </button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="soft">
        Below a time: how many times it is what the fastest above takes. This browser keeps the last eight.
      </p>
    </details>
  );
}

/** The fastest of a size, and how many times it takes what the shown comparison's fastest takes. */
function LeastCell({ least, own }: { readonly least: Least | null; readonly own: Least | null }) {
  if (least === null) return <td class="n soft">-</td>;
  return (
    <td class="n" title={least.algorithm}>
      {timeText(least.us)} <span class="soft">{least.algorithm}</span>
      {own !== null && <small>{gainText(least.us, own.us)}</small>}
    </td>
  );
}
