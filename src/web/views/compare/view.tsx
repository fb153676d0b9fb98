import { useMemo } from "preact/hooks";
import "./compare.css";
import { formatSize } from "../../../model/numbers/units.ts";
import { count } from "../../../report/amounts.ts";
import type { Comparison, ComparisonRow } from "../../../report/comparison.ts";
import { comparisonCsv } from "../../../report/comparison-csv.ts";
import { changeOptions, offerFile, say, synthesize } from "../../state/actions.ts";
import { sizeWord } from "../../state/size-range.ts";
import { busy, welcome, words } from "../../state/store.ts";
import { ComparisonChart } from "./comparison-chart.tsx";
import { ComparisonTable } from "./comparison-table.tsx";
import { Controls } from "./controls.tsx";
import { GainTable } from "./gain-table.tsx";
import { comparison, isOld, running } from "./run.ts";
import { algorithmsIn, sizesIn } from "./series.ts";
import { fileStem, jsonOf } from "./table-text.ts";

/** Which algorithm is best at which size. */
export function View() {
  const found = comparison.value;
  return (
    <div class="compare">
      <Controls />
      {found === null ? (
        <p class="soft">
          {running.value === null
            ? "Every algorithm that applies makes a verified schedule at every size; times are simulated. Nothing was compared yet."
            : "The first size is on its way."}
        </p>
      ) : (
        <Found found={found} />
      )}
    </div>
  );
}

function Found({ found }: { readonly found: Comparison }) {
  const order = useMemo(() => (welcome.value?.algorithms ?? []).map(({ name }) => name), [welcome.value]);
  const collective = welcome.value?.collectives.find(({ kind }) => kind === found.collective)?.name ?? found.collective;
  const make = async ({ sizeBytes, algorithm, chunks }: ComparisonRow): Promise<void> => {
    if (isOld.value) {
      say("The network or the request was changed since: compare again first");
      return;
    }
    const makes = welcome.value?.algorithms.find(({ name }) => name === algorithm)?.makes;
    // searches were compared with the chunks that suit them
    const own = makes === "steps" && chunks > 1 && words.value.options["chunks"] === undefined;
    const changes = { size: sizeWord(sizeBytes), algorithm, ...(own ? { chunks: String(chunks) } : {}) };
    if (await changeOptions(changes)) await synthesize();
  };
  const save = (text: string, ending: string, type: string): void => {
    const name = `${fileStem(found)}.${ending}`;
    void offerFile({ name, content: new Blob([text], { type }) });
  };
  return (
    <>
      <p>
        <strong>{`${collective} on ${found.topology.name || "the network"}.`}</strong> {bestText(found)}
        {isOld.value && <span class="compare-old">made for another network or request</span>}
      </p>
      <ComparisonChart comparison={found} order={order} onMake={(row) => void make(row)} />
      <div class="compare-files">
        <button type="button" onClick={() => save(comparisonCsv(found.rows), "csv", "text/csv")}>
          Save as CSV
        </button>
        <button type="button" onClick={() => save(jsonOf(found), "json", "application/json")}>
          Save as JSON
        </button>
        <span class="soft">as `banyan compare` writes them</span>
      </div>
      <GainTable rows={found.rows} />
      <ComparisonTable comparison={found} onMake={(row) => void make(row)} isBusy={busy.value !== null} />
      {found.leftOut.length > 0 && (
        <details class="compare-left-out">
          <summary>{`${count(found.leftOut.length, "algorithm")} left out`}</summary>
          <dl>
            {found.leftOut.map(({ algorithm, reason }) => (
              <div key={algorithm}>
                <dt>{algorithm}</dt>
                <dd>{reason}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

/** Returns who is best where, in a sentence. */
function bestText(found: Comparison): string {
  const best = found.rows.filter((row) => row.best).sort((a, b) => a.sizeBytes - b.sizeBytes);
  const wins = algorithmsIn({ rows: best }).map((name) => {
    const sizes = best.filter(({ algorithm }) => algorithm === name).map(({ sizeBytes }) => formatSize(sizeBytes));
    return `${name} at ${sizes.join(", ")}`;
  });
  const all = sizesIn(found).length;
  return wins.length === 1 && all > 1
    ? `Best at all ${all} sizes: ${best[0]?.algorithm}.`
    : `Best: ${wins.join("; ")}.`;
}
