import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { formatBandwidth, formatShare, formatTime } from "../../model/numbers/units.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import type { ReportData, ReportFigures } from "./html-data.ts";
import { boundText, madeOf } from "./html-figures.ts";
import type { Cut } from "./network.ts";
import { escaped, escapedLines, framed, type Picture } from "./svg.ts";
import { heatMapPicture } from "./svg-heat-map.ts";
import { topologyPicture } from "./svg-topology.ts";

const MOST_LISTED = 10;
/** Reports list so many nodes of a cut, and no more. */
const MOST_SHOWN = 4096;

/** Yields a section of the page. */
export function* section(heading: string, text: string, body: () => Iterable<string>): Generator<string> {
  yield `<section><h2>${escaped(heading)}</h2>\n${text === "" ? "" : `<p>${escaped(text)}</p>\n`}`;
  yield* body();
  yield "</section>\n";
}

/** Yields a picture with what it shows in words; of one that cannot be drawn, why not. */
export function* drawn(pictureOf: () => Picture): Generator<string> {
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

/** Yields the network, and the limit (or else the bound) with its cut drawn on it. */
export function* networkSections(topology: Topology, report: ReportFigures): Generator<string> {
  yield* section("The network", "", () => drawn(() => topologyPicture(topology)));
  const cut = cutOf(topology, report.limit.witness) ?? cutOf(topology, report.bound.witness);
  yield* section("How fast it can be", boundText(report), () =>
    cut === null ? [] : drawn(() => topologyPicture(topology, { cut })),
  );
}

/** Returns the cut that proves a bound as node numbers; null where something else proves it. */
export function cutOf(topology: Topology, { nodes, direction }: Readonly<Record<string, unknown>>): Cut | null {
  if (!Array.isArray(nodes) || nodes.length >= MOST_SHOWN || (direction !== "in" && direction !== "out")) return null;
  const nodeOf = new Map(topology.nodeNames.map((name, node) => [name, node]));
  const found = nodes.map((name) => nodeOf.get(String(name)));
  return found.length === 0 || found.includes(undefined) ? null : { nodes: found as number[], direction };
}

/** Yields how busy links are: the map, and the most and least busy ones. */
export function* utilisationSection(topology: Topology, linkBusyPs: Float64Array, totalPs: number): Generator<string> {
  const names = linkNames(topology);
  const order = [...linkBusyPs.keys()].sort((a, b) => linkBusyPs[b] - linkBusyPs[a] || a - b);
  const least = order.slice(Math.max(MOST_LISTED, order.length - MOST_LISTED)).reverse();
  const text = "Rows are where links start, columns where they end; the brighter, the busier.";
  yield* section("How busy the links are", text, function* () {
    yield* drawn(() => heatMapPicture(topology, linkBusyPs, totalPs));
    yield '<div class="tables">\n';
    yield* linkTable("Busiest links", order.slice(0, MOST_LISTED));
    if (least.length > 0) yield* linkTable("Least busy links", least);
    yield "</div>\n";
  });
  function* linkTable(heading: string, links: readonly number[]): Generator<string> {
    yield `<table><caption>${heading}</caption><thead><tr><th>link</th><th class="n">bandwidth</th><th class="n">busy</th><th class="n">share</th></tr></thead><tbody>\n`;
    for (const link of links) {
      const share = totalPs > 0 ? linkBusyPs[link] / totalPs : 0;
      yield `<tr><td>${escaped(names[link].replace(">", " → "))}</td><td class="n">${formatBandwidth(topology.linkBytesPerSecond[link])}</td>`;
      yield `<td class="n">${formatTime(Math.round(linkBusyPs[link]))}</td><td class="n bar" style="--share:${formatShare(share).replace("<", "")}">${escaped(formatShare(share))}</td></tr>\n`;
    }
    yield "</tbody></table>\n";
  }
}

/** Yields how the result was made. */
export function* madeSection({ report, version, command, topology }: ReportData): Generator<string> {
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
export function* dataSection(report: ReportFigures, title: string): Generator<string> {
  const json = jsonText(report, 2);
  const file = `${title.replace(/[^A-Za-z0-9.]+/g, "-")}.json`;
  yield '<section class="data"><h2>Data</h2>\n';
  yield `<p><a download="${file}" href="data:application/json;base64,${base64(json)}">Download the result as JSON</a></p>\n`;
  yield `<details><summary>Show it</summary><pre><code>${escapedLines(json)}</code></pre></details></section>\n`;
}
