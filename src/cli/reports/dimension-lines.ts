import { gbpsText, percent, timeText } from "../../report/amounts.ts";
import type { PerDimension } from "../../report/result.ts";
import type { Style } from "./style.ts";
import { labelledTable } from "./text.ts";

/** Returns the dimensions as a table: kind, bandwidth of an NPU, how its lines work, how busy they are. */
export function dimensionLines({ us, utilisation, dimensions }: PerDimension, style: Style): string[] {
  const rows = dimensions.map(({ kind, size, algorithm, GBps, utilisation: used }, d) => [
    String(d),
    `${kind}:${size}`,
    gbpsText(GBps),
    percent(used),
    algorithm,
  ]);
  const sum = dimensions.reduce((all, { GBps }) => all + GBps, 0);
  const all = ["all", "", gbpsText(sum), percent(utilisation), `${timeText(us)} dimension by dimension`];
  const [head, ...lines] = labelledTable(
    [["dimension", "lines", "an NPU", "used", "by"], ...rows, all],
    ["left", "left", "right", "right", "left"],
  );
  return [style.dim(head as string), ...lines];
}
