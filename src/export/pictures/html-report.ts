import { optimismOf } from "../../model/steps/optimism.ts";
import { listedTrees } from "../../model/trees/tree-flow.ts";
import type { ReportData } from "./html-data.ts";
import { answerOf, figuresOf, titleOf } from "./html-figures.ts";
import { dataSection, drawn, madeSection, networkSections, section, utilisationSection } from "./html-sections.ts";
import { COLOURS, escaped, PICTURE_STYLE } from "./svg.ts";
import { comparisonPicture } from "./svg-comparison.ts";
import { timelinePicture } from "./svg-timeline.ts";
import { treesPicture } from "./svg-trees.ts";

/** Returns a remark as a sentence. */
const sentence = (remark: string): string => escaped(`${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`);

/**
 * Yields the parts of a web page about a result: one file, nothing loaded, no scripts. The answer in a sentence, figures, the
 * bound with what proves it, the network, trees, the schedule over time, how busy links are, how it was made, and the data.
 * Pictures that cannot be drawn (above 5,000 nodes) are left out with a sentence.
 */
export function* htmlReport(data: ReportData): Generator<string> {
  const { topology, report, busy, trees, timeline } = data;
  const title = titleOf(report, topology);
  const optimism = trees === null ? null : optimismOf(trees);
  yield `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>\n`;
  yield '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Banyan">\n';
  yield `<style>${HTML_STYLE}</style></head>\n<body><main>\n<header><p class="brand">Banyan</p><h1>${escaped(title)}</h1>\n`;
  yield `<p class="answer">${escaped(answerOf(report))}</p>\n`;
  if (optimism !== null) yield `<p class="remark">${sentence(optimism)}</p>\n`;
  yield "</header>\n";
  yield '<dl class="figures">\n';
  for (const { name, value, note } of figuresOf(report)) {
    yield `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd><dd class="note">${escaped(note)}</dd></div>\n`;
  }
  yield "</dl>\n";
  for (const note of report.notes ?? []) if (note !== optimism) yield `<p class="remark">${escaped(note)}</p>\n`;
  yield* networkSections(topology, report);
  if (trees !== null && listedTrees(trees) > 0) {
    yield* section("Trees", "Every tree carries a part of the data at a constant rate, along the arrows.", () =>
      drawn(() => treesPicture(trees)),
    );
  }
  if (timeline !== null && timeline.link.length > 0) {
    yield* section("Over time", "", () => drawn(() => timelinePicture(topology, timeline)));
  }
  if (busy !== null) yield* utilisationSection(topology, busy.linkBusyPs, busy.totalPs);
  if (data.comparison !== undefined && data.comparison.length > 0) {
    const rows = data.comparison;
    yield* section("Beside other algorithms", "", () =>
      drawn(() => comparisonPicture(rows, { title: "Time over size" })),
    );
  }
  yield* madeSection(data);
  yield* dataSection(report, title);
  yield "</main></body></html>\n";
}

/** The style of the report: pictures' own, and the page's. */
const HTML_STYLE = [
  `:root${COLOURS.replace("ROOT", ":root")}`,
  PICTURE_STYLE,
  "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
  "main{max-width:1120px;margin:0 auto;padding:28px 24px 64px}",
  ".brand{margin:0;color:var(--soft);font-size:14px;letter-spacing:.08em;text-transform:uppercase}",
  "h1{margin:2px 0 10px;font-size:30px;line-height:1.2;font-weight:650;overflow-wrap:anywhere}h2{margin:0 0 6px;font-size:20px;font-weight:650}",
  ".answer{font-size:18px;max-width:62em;margin:0 0 22px}header .remark{max-width:62em;margin:0 0 22px}",
  ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:1px;margin:0;background:var(--rule);border:1px solid var(--rule);border-radius:10px;overflow:hidden}",
  ".figures>div{background:var(--paper);padding:12px}dt{color:var(--soft);font-size:13px}dd{margin:0;font-size:20px;white-space:nowrap;font-weight:600;font-variant-numeric:tabular-nums}",
  ".figures .note,.made dd{white-space:normal}.figures .note{font-size:12px;font-weight:400;color:var(--soft)}.remark{border-left:3px solid var(--accent);padding:2px 12px;margin:16px 0}",
  "section{margin-top:40px;padding-top:22px;border-top:1px solid var(--rule)}section>p{max-width:62em;margin:0 0 12px;overflow-wrap:anywhere}",
  ".picture{margin:12px 0;overflow-x:auto}.picture svg{display:block;margin:0 auto}figcaption{text-align:center;margin-top:6px}.tables{margin-top:24px}.caption,figcaption{color:var(--soft);font-size:14px}",
  ".tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:28px}table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}",
  "caption{text-align:left;font-weight:600;padding-bottom:6px}th{font-weight:500;color:var(--soft);text-align:left}th,td{padding:4px 8px;border-bottom:1px solid var(--rule)}.n{text-align:right}",
  ".bar{background:linear-gradient(to right,color-mix(in srgb,var(--copy) 28%,transparent) var(--share),transparent var(--share))}",
  ".made{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:12px 24px;margin:0 0 14px}.made dd{font-size:16px;font-weight:500;overflow-wrap:anywhere}",
  "pre{background:var(--panel);padding:12px 14px;border-radius:8px;overflow-x:auto;font-size:13px}a{color:var(--npu-edge)}summary{cursor:pointer}",
  "@media(max-width:600px){main{padding:18px 14px 40px}h1{font-size:24px}.answer{font-size:16px}.figures{grid-template-columns:1fr 1fr}.figures>div:last-child:nth-child(odd){grid-column:1/-1}.picture svg{min-width:520px}}",
  "@media print{main{max-width:none;padding:0}section{break-inside:avoid;margin-top:20px}.data{display:none}.picture{overflow:visible}body{font-size:12px}}",
].join("\n");
