import { InputError } from "../../base/errors.ts";
import { formatShare, formatTime } from "../../model/numbers/units.ts";
import { linkCount, linkNames, type Topology } from "../../model/topology/topology.ts";
import { roundTicks } from "../../picture/scales.ts";
import { busyOverTime, type Timeline } from "../../picture/scene/timeline.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";

const MOST_ROWS = 64;
const MOST_SLICES = 4000;
const MOST_LANES = 4;
const PLOT = 900;
const ROW = 17;
/** Of bars beside each other on a link. */
const LANE = 12;
const BINS = 240;
const CHART = 240;

/**
 * Yields the parts of an SVG of a schedule over time: a row for each link and a bar for each transfer on it where that can be
 * read (64 links, 4,000 bars, four side by side on a link), otherwise how many of the links are busy at a time. Throws
 * InputError where a slice names no link of the network.
 */
export const timelineSvg = (topology: Topology, timeline: Timeline, options: PictureOptions = {}): Generator<string> =>
  framed(timelinePicture(topology, timeline), options);

/** Returns that picture without its frame. */
export function timelinePicture(topology: Topology, timeline: Timeline): Picture {
  const { link } = timeline;
  const links = linkCount(topology);
  const stray = link.find((l) => l < 0 || l >= links);
  if (stray !== undefined) throw new InputError("timeline.link", `a link in 0 .. ${links - 1}`, stray);
  const totalPs = timeline.arrivedPs;
  const lanes = link.length <= MOST_SLICES && new Set(link).size <= MOST_ROWS ? lanesOf(timeline, links) : null;
  if (lanes === null || lanes.most > MOST_LANES) return busyChart(timeline, links, totalPs);
  return bars(topology, timeline, totalPs, lanes.lane, lanes.most);
}

/** Returns for each slice the first lane of its link that is free, and the most that a link has. */
function lanesOf({ link, startPs, lastsPs }: Timeline, links: number): { lane: Int32Array; most: number } {
  const order = Array.from(link.keys()).sort((a, b) => startPs[a] - startPs[b] || a - b);
  const freeAt: number[][] = Array.from({ length: links }, () => []);
  const lane = new Int32Array(link.length);
  let most = 1;
  for (const slice of order) {
    const free = freeAt[link[slice]];
    const found = free.findIndex((until) => until <= startPs[slice]);
    lane[slice] = found < 0 ? free.length : found;
    free[lane[slice]] = startPs[slice] + lastsPs[slice];
    most = Math.max(most, free.length);
  }
  return { lane, most };
}

function bars(
  topology: Topology,
  { link, startPs, lastsPs, chunk, reduces }: Timeline,
  totalPs: number,
  lane: Int32Array,
  lanes: number,
): Picture {
  const used = [...new Set(link)].sort((a, b) => a - b);
  const rowOf = new Map(used.map((l, row) => [l, row]));
  const names = linkNames(topology);
  const left = 16 + 6.4 * used.reduce((most, l) => Math.max(most, Math.min(16, names[l].length)), 4);
  const thick = lanes === 1 ? ROW - 3 : LANE;
  const between = thick * lanes + 3;
  const height = between * used.length;
  const x = (ps: number): number => left + (totalPs > 0 ? (ps / totalPs) * PLOT : 0);
  const hasRoom = (i: number): boolean => (lastsPs[i] / Math.max(1, totalPs)) * PLOT > 7 * String(chunk[i]).length + 3;
  function* parts(): Generator<string> {
    yield* timeAxis(totalPs, left, height);
    for (const [row, l] of used.entries())
      yield label(left - 8, (row + 0.5) * between + 3.5, short(names[l].replace(">", " → "), 16), "small", "end");
    for (let i = 0; i < link.length; i++) {
      const [start, wide] = [x(startPs[i]), (lastsPs[i] / Math.max(1, totalPs)) * PLOT];
      const y = (rowOf.get(link[i]) as number) * between + 1 + lane[i] * thick;
      const kind = reduces[i] === 1 ? "reduce" : "copy";
      const title = escaped(
        `${names[link[i]]}: chunk ${chunk[i]}, ${kind}, ${formatTime(startPs[i])} to ${formatTime(startPs[i] + lastsPs[i])}`,
      );
      yield `<rect x="${at(start)}" y="${at(y)}" width="${at(Math.max(0.6, wide - 0.8))}" height="${at(lanes === 1 ? thick : thick - 1)}" rx="1.5" class="${kind}"><title>${title}</title></rect>`;
      if (hasRoom(i))
        yield `<text x="${at(start + wide / 2)}" y="${at(y + thick / 2 + 3.5)}" class="small on" text-anchor="middle" style="pointer-events:none">${chunk[i]}</text>`;
    }
    yield* kindLegend(reduces, left, height + 40);
  }
  const numbered = link.filter((_, i) => hasRoom(i)).length;
  const numbers =
    numbered === 0
      ? ""
      : ` with the number of its chunk${numbered === link.length ? "" : " where there is room for it"}`;
  const sentence = `A row for each link, a bar for each transfer${numbers}; ${formatTime(totalPs)} in all.`;
  return { title: "Schedule over time", sentence, width: left + PLOT + 10, height: height + 48, parts: parts() };
}

function* kindLegend(reduces: Uint8Array, x: number, y: number): Generator<string> {
  const kinds = [...new Set(reduces)].sort();
  for (const [i, kind] of kinds.entries()) {
    yield `<rect x="${at(x + 90 * i)}" y="${at(y - 10)}" width="12" height="12" rx="2" class="${kind === 1 ? "reduce" : "copy"}"/>`;
    yield label(x + 90 * i + 18, y, kind === 1 ? "reduce" : "copy", "label", "start");
  }
}

/** Yields lines and times along the bottom. */
function* timeAxis(totalPs: number, left: number, height: number): Generator<string> {
  for (const ps of roundTicks(0, totalPs, 8)) {
    const x = at(left + (totalPs > 0 ? (ps / totalPs) * PLOT : 0));
    yield `<path d="M${x} 0V${at(height)}" class="axis"/><text x="${x}" y="${at(height + 16)}" class="small soft" text-anchor="middle">${formatTime(ps)}</text>`;
  }
}

function busyChart(timeline: Timeline, links: number, totalPs: number): Picture {
  const busy = busyOverTime(timeline, links, totalPs, BINS);
  const left = 48;
  const y = (share: number): number => CHART * (1 - Math.min(1, share));
  function* parts(): Generator<string> {
    yield* timeAxis(totalPs, left, CHART);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      yield `<path d="M${left} ${at(y(share))}h${PLOT}" class="axis"/>${label(left - 8, y(share) + 4, formatShare(share), "small", "end")}`;
    }
    const steps = [...busy].map(
      (share, bin) => `L${at(left + (bin * PLOT) / BINS)} ${at(y(share))}h${at(PLOT / BINS)}`,
    );
    yield `<path d="M${left} ${CHART}${steps.join("")}V${CHART}z" class="copy" fill-opacity="0.85"/>`;
  }
  const mean = busy.reduce((sum, share) => sum + share, 0) / BINS;
  const sentence = `Share of all links that is busy at a time, ${formatShare(mean)} on average; ${formatTime(totalPs)} in all.`;
  return { title: "Links busy over time", sentence, width: left + PLOT + 10, height: CHART + 22, parts: parts() };
}
