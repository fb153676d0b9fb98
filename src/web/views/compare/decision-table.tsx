import { useMemo } from "preact/hooks";
import { percent, roundedSize, timeText } from "../../../report/amounts.ts";
import type { Comparison, ComparisonRow } from "../../../report/comparison.ts";
import { ColumnHeads } from "../../parts/column-heads.tsx";
import type { Measure } from "../../state/choices.ts";
import { type Cell, decisionLines, warmthOf } from "./decision.ts";
import { sizesIn, textOf, valueBy } from "./series.ts";

interface DecisionProps {
  readonly comparison: Comparison;
  readonly measure: Measure;
  readonly onMake: (row: ComparisonRow) => void;
  readonly isBusy: boolean;
}

/** Algorithms over sizes: what each takes, and how it stands to the fastest; the best lines first. */
export function DecisionTable({ comparison, measure, onMake, isBusy }: DecisionProps) {
  const sizes = useMemo(() => sizesIn(comparison), [comparison]);
  const lines = useMemo(() => decisionLines(comparison), [comparison]);
  return (
    <div class="sideways">
      <table class="compare-table decision">
        <caption class="unseen">What each algorithm takes at each size, beside the fastest</caption>
        <ColumnHeads names={["Algorithm", ...sizes.map(roundedSize)]} />
        <tbody>
          {lines.map(({ algorithm, library, cells }) => (
            <tr key={algorithm}>
              <th scope="row">
                {algorithm}
                {library !== undefined && (
                  <span class="soft decision-library" title={library}>
                    library
                  </span>
                )}
              </th>
              {cells.map((cell, place) => (
                <DecisionCell
                  key={sizes[place]}
                  cell={cell}
                  shown={cell === null ? "" : shownText(comparison, cell, measure)}
                  onMake={onMake}
                  isBusy={isBusy}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function shownText(comparison: Comparison, { row }: Cell, measure: Measure): string {
  const value = valueBy(comparison, row, measure);
  return value === null ? "-" : textOf[measure](value);
}

interface DecisionCellProps extends Pick<DecisionProps, "onMake" | "isBusy"> {
  readonly cell: Cell | null;
  /** By the measure that is chosen. */
  readonly shown: string;
}

function DecisionCell({ cell, shown, onMake, isBusy }: DecisionCellProps) {
  if (cell === null) return <td class="n soft">-</td>;
  const { row, text, us } = cell;
  const title = `Synthesize ${row.algorithm} at ${roundedSize(row.sizeBytes)}: ${timeText(us)}, ${percent(row.ofLimit)} of the limit as a schedule`;
  return (
    <td
      class="n decision-cell"
      data-best={text === "best" || text === "tie"}
      style={{ "--warmth": warmthOf(cell).toFixed(3) }}
    >
      <button type="button" class="compare-make" disabled={isBusy} title={title} onClick={() => onMake(row)}>
        {shown}
      </button>
      <small>{text}</small>
    </td>
  );
}
