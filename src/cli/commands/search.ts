import { jsonText } from "../../base/visible.ts";
import { frontierSvg } from "../../export/pictures/svg-frontier.ts";
import { placeOf, textOf } from "../../request/option-table.ts";
import { searchOptions, sweepOptions } from "../../run/search/from-texts.ts";
import { type SearchReport, search } from "../../run/search/search.ts";
import { type SweepRow, sweep } from "../../run/search/search-sweep.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { withEngine } from "../engine.ts";
import { outputFile } from "../files/output-file.ts";
import { openSearchCache } from "../files/search-cache.ts";
import { searchReport } from "../reports/search-report.ts";
import { table } from "../reports/table.ts";
import { labelled } from "../reports/text.ts";

/** `banyan search --nodes N --degree D`: the best networks of that size. `--all`: of all sizes, kept for later searches. */
export const run = (context: Context): Promise<number> =>
  context.options["all"] === true ? runSweep(context) : runSearch(context);

async function runSearch(context: Context): Promise<number> {
  const { options, json, quiet, signal } = context;
  const wanted = searchOptions(options);
  const outputs = (["svg", "output"] as const).flatMap((option) => {
    const path = textOf(options, option);
    const isPlot = option === "svg" || path?.endsWith(".svg") === true;
    return path === undefined ? [] : [{ isPlot, file: outputFile(context, path, placeOf(option)) }];
  });
  const cache = openSearchCache(context);
  const onProgress = (what: string, done?: number, total?: number): void =>
    context.progress({ what, ...(done === undefined || total === undefined ? {} : { done, total, unit: "networks" }) });
  const report = await withEngine(context, (engine) =>
    search(engine, wanted, { known: cache.evaluations, signal, onProgress }),
  );
  cache.save();
  for (const { isPlot, file } of outputs)
    file.write(isPlot ? frontierSvg(plotOf(report), {}) : [`${jsonText(report, 2)}\n`]);
  const isWorse = report.rows.some(({ verdict }) => verdict?.outcome === "worse");
  if (json) outJson(context, report, !isWorse);
  else if (!quiet || outputs.length === 0) outRows(context, searchReport(report, context));
  return isWorse ? 1 : 0;
}

/** Returns what the plot shows of a report. */
const plotOf = ({ nodes, degree, rows, bound }: SearchReport) => ({
  title: `Networks of ${nodes} nodes of degree ${degree}`,
  points: rows
    .filter(({ efficient }) => efficient)
    .map(({ topology, steps, bandwidthValue }) => ({ name: topology, steps, bandwidth: bandwidthValue })),
  bound: { steps: bound.steps, bandwidth: bound.bandwidthValue },
});

async function runSweep(context: Context): Promise<number> {
  const { options, json, quiet, signal } = context;
  const { degrees, maxNodes, bidirectional } = sweepOptions(options);
  const path = textOf(options, "output");
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const cache = openSearchCache(context);
  const rows: SweepRow[] = [];
  await withEngine(context, async (engine) => {
    const onProgress = (what: string, done?: number, total?: number): void =>
      context.progress({ what, ...(done === undefined || total === undefined ? {} : { done, total, unit: "sizes" }) });
    const hooks = { known: cache.evaluations, signal, onProgress };
    for await (const row of sweep(engine, degrees, maxNodes, bidirectional, hooks)) rows.push(row);
  }).finally(cache.save); // an interrupted sweep goes on where it was
  const report = { schema: "banyan/networks@1", degrees, maxNodes, bidirectional, rows };
  if (output !== undefined) output.write([`${jsonText(report)}\n`]);
  if (json) outJson(context, report);
  else if (!quiet || output === undefined) outRows(context, sweepReport(degrees, maxNodes, rows));
  return 0;
}

/** A line per degree: sizes, networks, and how often the outermost expansion or the family is efficient. */
function sweepReport(degrees: readonly number[], maxNodes: number, rows: readonly SweepRow[]): string[] {
  const cells = degrees.map((degree) => {
    const own = rows.filter((row) => row.degree === degree);
    const kinds = new Map<string, number>();
    for (const { topology } of own) kinds.set(kindOf(topology), (kinds.get(kindOf(topology)) ?? 0) + 1);
    const often = [...kinds].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1)).slice(0, 8);
    const sizes = new Set(own.map(({ nodes }) => nodes)).size;
    return [String(degree), String(sizes), String(own.length), often.map(([kind, n]) => `${kind} ${n}`).join(", ")];
  });
  return [
    "",
    labelled("networks", `of up to ${maxNodes} nodes that no other found one beats in T_L and T_B`),
    "",
    ...table(["degree", "sizes", "networks", "kinds"], cells, ["right", "right", "right", "left"]),
  ].map((line) => `  ${line}`.trimEnd());
}

/** Returns the head of a construction: "L", "Pi", "power", "product". */
function kindOf(topology: string): string {
  if (/ x /.test(topology)) return "product";
  if (/\^\d+$/.test(topology)) return "power";
  if (/\*\d+$/.test(topology)) return "degree";
  return (/^L\d*\(/.test(topology) ? "L" : /^[A-Za-z]+/.exec(topology)?.[0]) ?? topology;
}
