import { optionName } from "../../base/option-names.ts";
import { percent, timeText } from "../../report/amounts.ts";
import type { AutoReport, Report } from "../../report/result.ts";
import type { Style } from "./style.ts";
import { aligned, labelled, leftOutLines } from "./text.ts";

/** Returns the lines that say how the algorithm of a report was chosen; none where it was named. */
export function autoLines(
  { algorithm, auto, deterministic }: Pick<Report, "algorithm" | "auto" | "deterministic">,
  style: Style,
): string[] {
  if (auto === undefined) return [];
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const clock = `the time limit decided what was tried: another run may choose another algorithm, and a longer ${optionName("timeLimitMs")} tries more`;
  return [
    "",
    label("chosen", `${algorithm}: ${auto.because}`),
    ...triedLines(auto, algorithm, style),
    ...leftOutLines(auto.leftOut).map((line) => `  ${line}`),
    ...(deterministic ? [] : [label("note", clock)]),
  ];
}

function triedLines({ tried }: AutoReport, best: string, style: Style): string[] {
  const cells = tried.map(({ algorithm, us, ofLimit, synthesisMs }) => [
    `${algorithm === best ? "*" : " "} ${algorithm}`,
    timeText(us),
    percent(ofLimit),
    timeText(synthesisMs * 1000),
  ]);
  const [head, ...rows] = aligned(
    [["  algorithm", "time", "of limit", "synthesis"], ...cells],
    ["left", "right", "right", "right"],
  );
  return [`  ${labelled("tried", style.dim(head as string))}`, ...rows.map((row) => `  ${labelled("", row)}`)];
}
