import { InputError } from "../../base/errors.ts";
import { formatShare, formatTime } from "../../model/numbers/units.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { coarseView, type Cells as Nodes } from "../../picture/cells.ts";
import { shareColour } from "../../picture/scales.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";

const MOST_CELLS = 1000;
const MOST_PAIRS = 40_000;
/** Up to this many nodes every cell says its figure when pointed at. */
const MOST_POINTED = 72;
const MOST_NAMES = 40;
/** Colours that cells of large maps share. */
const SHADES = 64;

/** Shares of time, one for each two cells with links from the first to the second. */
interface Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly share: Float64Array;
}

function cellsOf(
  { linkSource, linkTarget }: Topology,
  { cellOf, names }: Nodes,
  busyPs: Float64Array,
  totalPs: number,
): Cells {
  const sums = new Map<number, { busy: number; links: number }>();
  for (let link = 0; link < linkSource.length; link++) {
    const key = cellOf[linkSource[link]] * names.length + cellOf[linkTarget[link]];
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { busy: busyPs[link], links: 1 });
    else {
      sum.busy += busyPs[link];
      sum.links++;
    }
  }
  const keys = [...sums.keys()];
  return {
    from: Int32Array.from(keys, (key) => Math.floor(key / names.length)),
    to: Int32Array.from(keys, (key) => key % names.length),
    share: Float64Array.from(sums.values(), ({ busy, links }) => (totalPs > 0 ? busy / links / totalPs : 0)),
  };
}

/**
 * Yields the parts of an SVG of how busy the links were: a cell for each source (row) and destination (column), NPUs first, then
 * switches, coloured by the mean share of `totalPs` that the links between them were busy (`linkBusyPs` [links]). Above 1,000
 * nodes or 40,000 linked pairs cells stand for groups, or for nodes that follow one another, which the picture says. Throws
 * InputError where there is not a time for each link.
 */
export const heatMapSvg = (
  topology: Topology,
  linkBusyPs: Float64Array,
  totalPs: number,
  options: PictureOptions = {},
): Generator<string> => framed(heatMapPicture(topology, linkBusyPs, totalPs), options);

/** Returns that picture without its frame. */
export function heatMapPicture(topology: Topology, linkBusyPs: Float64Array, totalPs: number): Picture {
  const links = linkCount(topology);
  if (linkBusyPs.length !== links)
    throw new InputError("linkBusyPs", `a time for each of ${links} links`, linkBusyPs.length);
  const view = coarseView(topology, MOST_CELLS, MOST_PAIRS);
  const cells = cellsOf(topology, view, linkBusyPs, totalPs);
  const count = view.names.length;
  const size = Math.max(0.8, Math.min(30, 720 / count));
  const side = size * count;
  const every = Math.max(1, Math.ceil(count / MOST_NAMES));
  const names = view.names.map((name) => short(name, 10));
  const margin = 14 + 6.2 * names.reduce((most, name) => Math.max(most, name.length), 1);
  const mean = totalPs > 0 && links > 0 ? linkBusyPs.reduce((sum, ps) => sum + ps, 0) / links / totalPs : 0;
  const most = totalPs > 0 ? linkBusyPs.reduce((high, ps) => Math.max(high, ps), 0) / totalPs : 0;
  function* parts(): Generator<string> {
    yield `<rect x="${at(margin)}" y="${at(margin)}" width="${at(side)}" height="${at(side)}" class="panel"/>`;
    yield* count <= MOST_POINTED ? pointedCells(view, cells, size, margin) : shadedCells(cells, size, margin);
    for (let cell = 0; cell < count; cell += every) {
      const middle = margin + (cell + 0.5) * size;
      yield label(margin - 6, middle + 4, names[cell], "small", "end");
      yield `<text class="small" transform="translate(${at(middle + 4)} ${at(margin - 6)}) rotate(-90)">${escaped(names[cell])}</text>`;
    }
    if (view.npuCells < count) {
      const border = margin + view.npuCells * size;
      yield `<path d="M${at(margin)} ${at(border)}h${at(side)}M${at(border)} ${at(margin)}v${at(side)}" class="axis" style="stroke:var(--soft)" stroke-dasharray="3 3"/>`;
    }
    yield* scale(margin + side + 24, margin, Math.min(side, 220));
    yield label(margin + side / 2, margin + side + 20, "destination", "label soft");
    yield `<text class="soft" text-anchor="middle" transform="translate(-6 ${at(margin + side / 2)}) rotate(-90)">source</text>`;
  }
  const note = view.note === null ? "" : ` ${view.note}`;
  const sentence = `Links are busy ${formatShare(mean)} of ${formatTime(totalPs)} on average, the busiest ${formatShare(most)}.${note}`;
  const title = "Link utilisation";
  return { title, sentence, width: margin + side + 90, height: margin + side + 24, parts: parts() };
}

function* pointedCells({ names }: Nodes, { from, to, share }: Cells, size: number, margin: number): Generator<string> {
  const gap = size > 8 ? 1 : 0;
  for (let i = 0; i < share.length; i++) {
    const [x, y] = [margin + to[i] * size, margin + from[i] * size];
    const title = escaped(`${names[from[i]]} to ${names[to[i]]}: ${formatShare(share[i])}`);
    yield `<rect x="${at(x)}" y="${at(y)}" width="${at(size - gap)}" height="${at(size - gap)}" fill="${shareColour(share[i])}"><title>${title}</title></rect>`;
  }
}

/** Yields one path for all cells of a shade. */
function* shadedCells({ from, to, share }: Cells, size: number, margin: number): Generator<string> {
  const paths: string[][] = Array.from({ length: SHADES }, () => []);
  const cell = `h${size.toFixed(2)}v${size.toFixed(2)}h-${size.toFixed(2)}z`;
  for (let i = 0; i < share.length; i++) {
    const shade = Math.round(Math.max(0, Math.min(1, share[i])) * (SHADES - 1));
    paths[shade].push(`M${(margin + to[i] * size).toFixed(2)} ${(margin + from[i] * size).toFixed(2)}${cell}`);
  }
  for (const [shade, path] of paths.entries()) {
    if (path.length > 0) yield `<path fill="${shareColour(shade / (SHADES - 1))}" d="${path.join("")}"/>`;
  }
}

/** Yields the bar that says which colour is which share. */
function* scale(x: number, y: number, height: number): Generator<string> {
  const steps = 40;
  for (let i = 0; i < steps; i++) {
    const top = y + (height * (steps - 1 - i)) / steps;
    yield `<rect x="${at(x)}" y="${at(top)}" width="14" height="${at(height / steps + 0.5)}" fill="${shareColour(i / (steps - 1))}"/>`;
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1])
    yield label(x + 20, y + height * (1 - share) + 4, formatShare(share), "small", "start");
}
