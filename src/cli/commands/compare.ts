import { type Comparison, type ComparisonRow, compare } from "../../compare.ts";
import { InputError } from "../../errors.ts";
import { formatSize, parseSize } from "../../model/units.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import { type Context, outJson } from "../context.ts";
import { withEngine } from "../engine.ts";
import { networkOf } from "../network.ts";
import { membershipOf } from "../request.ts";
import { progressOf, synthesisOptions, withoutAuto } from "../synthesis-options.ts";
import { networkText } from "../synthesis-report.ts";
import { table } from "../table.ts";
import { labelled, percent, significant, timeText } from "../text.ts";
import { listOf, namedCollective, oneOf, textOf } from "../values.ts";

/** `banyan compare TOPO --collective C --sizes S,...`: a row per size and algorithm. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, signal } = context;
  const format = oneOf(textOf(options, "format"), ["table", "csv", "json"] as const, "--format");
  if (json && format !== undefined && format !== "json")
    throw new InputError("--format", "json, or nothing, beside --json", format);
  const collective = namedCollective(textOf(options, "collective") as string);
  const sizes = listOf(textOf(options, "sizes") as string, "--sizes", "sizes such as 1MiB");
  const names = textOf(options, "algorithms");
  const algorithms =
    names === undefined ? undefined : listOf(names, "--algorithms", "names").map((name) => algorithmNamed(name).name);
  const request = {
    collective,
    sizesBytes: sizes.map((size) => parseSize(size, "--sizes")),
    ...(algorithms === undefined ? {} : { algorithms }),
    ...membershipOf(withoutAuto(options)),
    ...synthesisOptions(options),
  };
  const topology = await networkOf(args[0] as string, options);
  const comparison = await withEngine(context, (engine) =>
    compare(engine, topology, {
      ...request,
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  if (json || format === "json") outJson(context, comparison);
  else if (format === "csv") context.out(csv(comparison.rows));
  else context.out(`${report(comparison, context).join("\n")}\n`);
  return 0;
}

const COLUMNS = ["sizeBytes", "algorithm", "us", "algbwGBps", "busbwGBps", "ofLimit", "synthesisMs", "best"] as const;

function csv(rows: readonly ComparisonRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((column) => row[column] ?? "").join(","));
  return `${[COLUMNS.join(","), ...lines].join("\n")}\n`;
}

function report({ topology, collective, rows, limits, leftOut }: Comparison, { style }: Context): string[] {
  const gbps = (value: number | null): string => (value === null ? "-" : significant(value));
  const cells = rows.map((row, i) => {
    const first = rows[i - 1]?.sizeBytes !== row.sizeBytes;
    const line = [
      first ? formatSize(row.sizeBytes) : "",
      `${row.best ? "*" : " "} ${row.algorithm}`,
      timeText(row.us),
      gbps(row.algbwGBps),
      gbps(row.busbwGBps),
      percent(row.ofLimit),
      timeText(row.synthesisMs * 1000),
    ];
    return row.best ? line.map((cell) => (cell === "" ? cell : style.bold(cell))) : line;
  });
  const head = ["size", "  algorithm", "time", "algbw GB/s", "busbw GB/s", "of limit", "synthesis"];
  const lines = table(head.map(style.dim), cells, ["left", "left", "right", "right", "right", "right", "right"]);
  const why = new Set(
    limits.map(({ sizeBytes, limit }) => `${formatSize(sizeBytes)}: ${timeText(limit.us)}, ${limit.because}`),
  );
  return [
    "",
    labelled("topology", networkText(topology)),
    labelled("collective", `${collective}; simulated times, * the fastest of its size`),
    "",
    ...lines,
    "",
    ...[...why].map((line, i) => labelled(i === 0 ? "limit" : "", line)),
    ...leftOut.map(({ algorithm, reason }, i) => labelled(i === 0 ? "left out" : "", `${algorithm}: ${reason}`)),
  ].map((line) => `  ${line}`.trimEnd());
}
