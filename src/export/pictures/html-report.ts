import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { formatBandwidth, formatShare, formatTime } from "../../model/numbers/units.ts";
import { optimismOf } from "../../model/steps/schedule.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import { listedTrees, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Timeline } from "../../picture/scene/timeline.ts";
import { answerOf, boundSentences, figuresOf, madeOf, type ReportFigures, titleOf } from "./html-figures.ts";
import { COLOURS, escaped, escapedLines, framed, PICTURE_STYLE, type Picture } from "./svg.ts";
import { type ComparedRow, comparisonPicture } from "./svg-comparison.ts";
import { heatMapPicture } from "./svg-heat-map.ts";
import { timelinePicture } from "./svg-timeline.ts";
import { cutOf, topologyPicture } from "./svg-topology.ts";
import { treesPicture } from "./svg-trees.ts";

/** What a page about one result is made of. */
export interface ReportData {
  readonly topology: Topology;
  /** Embedded in the page as it is, all of its fields, for download. */
  readonly report: ReportFigures;
  /** [links] of the simulation, and its end; null where there was none. */
  readonly busy: { readonly linkBusyPs: Float64Array; readonly totalPs: number } | null;
  readonly trees: TreeFlow | null;
  /** See timelineOf; null where the schedule is too large for it. */
  readonly timeline: Timeline | null;
  /** Other algorithms beside it, for a plot over sizes; none without it. */
  readonly comparison?: readonly ComparedRow[];
  readonly version: string;
  /** What to type to get this result again. */
  readonly command: string | null;
}

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
  yield `<p class="answer">${escaped(answerOf(report)).replaceAll(" %", "\u00a0%")}</p>\n`;
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

/** Returns a remark as a sentence. */
const sentence = (remark: string): string => escaped(`${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`);

const MOST_LISTED = 10;

/** Yields a section of the page. */
function* section(heading: string, text: string, body: () => Iterable<string>): Generator<string> {
  yield `<section><h2>${escaped(heading)}</h2>\n${text === "" ? "" : `<p>${escaped(text)}</p>\n`}`;
  yield* body();
  yield "</section>\n";
}

/** Yields a picture with what it shows in words; of one that cannot be drawn, why not. */
function* drawn(pictureOf: () => Picture): Generator<string> {
  let picture: Picture;
  try {
    picture = pictureOf();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    yield `<p class="caption">No picture: ${escaped(error.message)}.</p>\n`;
    return;
  }
  yield '<figure class="picture">';
  yield* framed(picture, { embedded: true });
  yield `<figcaption>${escaped(picture.sentence)}</figcaption></figure>\n`;
}

/** Yields the network, and the limit (or else that of its class) with its cut drawn on it. */
function* networkSections(topology: Topology, report: ReportFigures): Generator<string> {
  yield* section("The network", "", () => drawn(() => topologyPicture(topology)));
  const cut = cutOf(topology, report.limit.witness) ?? cutOf(topology, report.classLimit?.witness);
  yield* section("How fast it can be", boundSentences(report).join(" "), () =>
    cut === null ? [] : drawn(() => topologyPicture(topology, { cut })),
  );
}

/** Yields how busy links are: the map, and the most and least busy ones. */
function* utilisationSection(topology: Topology, linkBusyPs: Float64Array, totalPs: number): Generator<string> {
  const names = linkNames(topology);
  const order = [...linkBusyPs.keys()].sort((a, b) => linkBusyPs[b] - linkBusyPs[a] || a - b);
  const least = order.slice(Math.max(MOST_LISTED, order.length - MOST_LISTED)).reverse();
  const text = "Rows are where links start, columns where they end; the brighter, the busier.";
  yield* section("How busy the links are", text, function* () {
    yield* drawn(() => heatMapPicture(topology, linkBusyPs, totalPs));
    yield '<div class="tables">\n';
    yield* linkList("Busiest links", order.slice(0, MOST_LISTED));
    if (least.length > 0 && alike(order[0]) < order.length) yield* linkList("Least busy links", least);
    yield "</div>\n";
  });
  function shareOf(link: number): string {
    return formatShare(totalPs > 0 ? linkBusyPs[link] / totalPs : 0);
  }
  function alike(link: number): number {
    return order.filter((other) => shareOf(other) === shareOf(link)).length;
  }
  /** Yields links as a table; those that all have the same share in a sentence. */
  function* linkList(heading: string, links: readonly number[]): Generator<string> {
    const [first] = links;
    if (links.length < 2 || links.some((link) => shareOf(link) !== shareOf(first)))
      return yield* linkTable(heading, links);
    const count = alike(first);
    const which = count === order.length ? `All ${count} links` : `${heading}: ${count} of ${order.length}`;
    yield `<p>${which}, ${escaped(shareOf(first))}${count === order.length ? "" : " each"}</p>\n`;
  }
  function* linkTable(heading: string, links: readonly number[]): Generator<string> {
    yield `<table><caption>${heading}</caption><thead><tr><th>link</th><th class="n">bandwidth</th><th class="n">busy</th><th class="n">share</th></tr></thead><tbody>\n`;
    for (const link of links) {
      yield `<tr><td>${escaped(names[link].replace(">", " → "))}</td><td class="n">${formatBandwidth(topology.linkBytesPerSecond[link])}</td>`;
      yield `<td class="n">${formatTime(Math.round(linkBusyPs[link]))}</td><td class="n bar" style="--share:${shareOf(link).replace("<", "")}">${escaped(shareOf(link))}</td></tr>\n`;
    }
    yield "</tbody></table>\n";
  }
}

/** Yields how the result was made. */
function* madeSection({ report, version, command, topology }: ReportData): Generator<string> {
  yield '<section><h2>How it was made</h2>\n<dl class="made">\n';
  for (const [name, value] of madeOf(report, version))
    yield `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>\n`;
  yield "</dl>\n";
  if (command !== null) yield `<pre><code>${escaped(command)}</code></pre>\n`;
  if (topology.sources.length > 0) {
    yield `<p>Figures of the network: ${topology.sources.map(escaped).join("; ")}.</p>\n`;
  }
  yield "</section>\n";
}

/** Returns a text as base64 of its UTF-8. */
function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Yields the result as JSON, to be stored and to be read. */
function* dataSection(report: ReportFigures, title: string): Generator<string> {
  const json = jsonText(report, 2);
  const file = `${title.replace(/[^A-Za-z0-9.]+/g, "-")}.json`;
  yield '<section class="data"><h2>Data</h2>\n';
  yield `<p><a download="${file}" href="data:application/json;base64,${base64(json)}">Download the result as JSON</a></p>\n`;
  yield `<details><summary>Show it</summary><pre><code>${escapedLines(json)}</code></pre></details></section>\n`;
}

/** The style of the report: pictures' own, and the page's. */
export const HTML_STYLE = [
  `:root${COLOURS.replace("ROOT", ":root")}`,
  PICTURE_STYLE,
  "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
  "main{max-width:1120px;margin:0 auto;padding:28px 24px 64px}",
  ".brand{margin:0;color:var(--soft);font-size:14px;letter-spacing:.08em;text-transform:uppercase}",
  "h1{margin:2px 0 10px;font-size:30px;line-height:1.2;font-weight:650;overflow-wrap:anywhere}h2{margin:0 0 6px;font-size:20px;font-weight:650}",
  ".answer{font-size:18px;max-width:62em;margin:0 0 22px}header .remark{max-width:62em;margin:0 0 22px}",
  ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:1px;margin:0;border:1px solid var(--rule);border-radius:10px;overflow:hidden}",
  ".figures>div{box-shadow:0 0 0 1px var(--rule);padding:12px}dt{color:var(--soft);font-size:13px}dd{margin:0;font-size:20px;white-space:nowrap;font-weight:600;font-variant-numeric:tabular-nums}",
  ".figures .note,.made dd{white-space:normal}.figures .note{font-size:12px;font-weight:400;color:var(--soft)}.remark{border-left:3px solid var(--accent);padding:2px 12px;margin:16px 0}",
  "section{margin-top:40px;padding-top:22px;border-top:1px solid var(--rule)}section>p{max-width:62em;margin:0 0 12px;overflow-wrap:anywhere}",
  ".picture{margin:12px 0;overflow-x:auto}.picture svg{display:block;margin:0 auto}figcaption{text-align:center;margin-top:6px}.tables{margin-top:24px}.caption,figcaption{color:var(--soft);font-size:14px}",
  ".tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr));gap:28px;overflow-x:auto}.tables>p{margin:0;font-size:14px}table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}",
  "caption{text-align:left;font-weight:600;padding-bottom:6px}th{font-weight:500;color:var(--soft);text-align:left}th,td{padding:4px 8px;border-bottom:1px solid var(--rule);white-space:nowrap}th:first-child,td:first-child{padding-left:0}.n{text-align:right}",
  ".bar{background:linear-gradient(to right,color-mix(in srgb,var(--copy) 28%,transparent) var(--share),transparent var(--share))}",
  ".made{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:12px 24px;margin:0 0 14px}.made dd{font-size:16px;font-weight:500;overflow-wrap:anywhere}",
  "pre{background:var(--panel);padding:12px 14px;border-radius:8px;overflow-x:auto;font-size:13px}a{color:var(--npu-edge)}summary{cursor:pointer}",
  "@media(max-width:1000px){.figures{grid-template-columns:repeat(3,1fr)}}",
  "@media(max-width:600px){main{padding:18px 14px 40px}h1{font-size:24px}.answer{font-size:16px}.figures{grid-template-columns:1fr 1fr}.figures>div:last-child:nth-child(odd){grid-column:1/-1}.picture svg{min-width:calc(.7*var(--wide))}.picture{background:linear-gradient(to left,var(--paper) 30%,transparent) right/48px 100% no-repeat local,linear-gradient(to left,color-mix(in srgb,var(--ink) 30%,transparent),transparent) right/14px 100% no-repeat}}",
  "@media print{main{max-width:none;padding:0}section{break-inside:avoid;margin-top:20px}.data{display:none}.picture{overflow:visible}body{font-size:12px}}",
].join("\n");
