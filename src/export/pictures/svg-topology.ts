import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import { groupsOf } from "../../picture/cells.ts";
import { isDrawable, type Layout, layoutOf } from "../../picture/scene/layout.ts";
import {
  type BandwidthClass,
  bandwidthClasses,
  sizeText,
  type Wire,
  widthOf,
  wiresOf,
  wireText,
} from "../../picture/scene/wires.ts";
import { bandOf, bendOf, inkOpacity, switchHeight, wireScale } from "../../picture/shapes.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";

/** The border that proves a bound: links from the marked side to the other, or the reverse, are drawn strong. */
interface Cut {
  readonly nodes: readonly number[];
  readonly direction: "in" | "out";
}

/** Reports list this many nodes of a cut, and no more. */
const MOST_SHOWN = 4096;

/** Returns the cut that proves a bound as node numbers; null where something else proves it. */
export function cutOf(topology: Topology, { nodes, direction }: Readonly<Record<string, unknown>> = {}): Cut | null {
  if (!Array.isArray(nodes) || nodes.length >= MOST_SHOWN || (direction !== "in" && direction !== "out")) return null;
  const nodeOf = new Map(topology.nodeNames.map((name, node) => [name, node]));
  const found = nodes.map((name) => nodeOf.get(String(name)));
  return found.length === 0 || found.includes(undefined) ? null : { nodes: found as number[], direction };
}

interface TopologyPictureOptions {
  /** Draws what proves a bound: its nodes are marked, and links across its border stand out. */
  readonly cut?: Cut;
}

/**
 * Yields the parts of an SVG of the network: nodes in a grid, in tiers under their switches, on a circle or by springs; a line
 * for all links between two nodes, wider and stronger with more bandwidth; a legend. No scripts, nothing loaded, light and dark.
 * Above 5,000 nodes or 20,000 pairs of linked nodes a circle stands for each group, which the picture says. Throws InputError where
 * there are no groups, or too many.
 */
export const topologySvg = (
  topology: Topology,
  options: TopologyPictureOptions & PictureOptions = {},
): Generator<string> => framed(topologyPicture(topology, options), options);

/** Returns that picture without its frame. */
export function topologyPicture(topology: Topology, options: TopologyPictureOptions = {}): Picture {
  const wires = wiresOf(topology);
  if (isDrawable(topology, wires)) return pictureOf(topology, wires, options.cut);
  const groups = groupsOf(topology);
  if (groups === null) return pictureOf(topology, wires, options.cut);
  const sentence = `${sizeText(topology)}. Each circle stands for a group; links inside groups are left out.`;
  return { ...pictureOf(groups, wiresOf(groups), undefined), sentence };
}

function pictureOf(topology: Topology, wires: readonly Wire[], cut: Cut | undefined): Picture {
  const layout = layoutOf(topology, wires);
  const classes = bandwidthClasses(wires);
  const inside = cut === undefined ? null : marked(topology, cut);
  const marks = (node: number): string => (inside?.[node] === 1 ? " chosen" : "");
  const width = Math.max(layout.width, 180);
  const perRow = Math.max(1, Math.floor(width / LEGEND_PITCH));
  const height = layout.height + 14 + 22 * Math.ceil(classes.length / perRow);
  function* parts(): Generator<string> {
    yield* drawnBoxes(layout);
    yield* drawnWires(topology, layout, wires, classes, inside);
    yield* drawnNodes(topology, layout, marks);
    yield* legend(classes, layout.radius, layout.height + 20, perRow);
  }
  const same = inside === null ? "" : " Marked: the cut, with the links that cross it.";
  return {
    title: topology.name || "Network",
    sentence: `${sizeText(topology)}.${same}`,
    width,
    height,
    parts: parts(),
  };
}

function marked(topology: Topology, cut: Cut): Uint8Array {
  const inside = new Uint8Array(nodeCount(topology));
  for (const node of cut.nodes) inside[node] = 1;
  return inside;
}

const LEGEND_PITCH = 150;

/** Yields the bandwidths that each colour and width stands for. */
function* legend(classes: readonly BandwidthClass[], radius: number, top: number, perRow: number): Generator<string> {
  for (const [i, { to, text }] of classes.entries()) {
    const { colour, width } = strokeOf(classes, to, radius);
    const [x, y] = [(i % perRow) * LEGEND_PITCH, top + 22 * Math.floor(i / perRow)];
    yield `<path d="M${x} ${y}h26" class="wire ${colour}" stroke-width="${width}"/>${label(x + 33, y + 4, text, "label", "start")}`;
  }
}

/** Most nodes whose names are written beside or in them; the others tell theirs when pointed at. */
const MOST_NAMES = 400;

/** Returns a curve from node a to node b, and the middle of it. */
export function curve({ x, y, bend }: Layout, a: number, b: number): { d: string; x: number; y: number } {
  const off = bend(a, b);
  const { middleX, middleY, controlX, controlY } = bendOf(x[a], y[a], x[b], y[b], off);
  const towards = off === 0 ? "L" : `Q${at(controlX)} ${at(controlY)} `;
  return { d: `M${at(x[a])} ${at(y[a])}${towards}${at(x[b])} ${at(y[b])}`, x: middleX, y: middleY };
}

/** Returns an arrowhead of a given size at a point, in a direction. */
export function arrowhead(dx: number, dy: number, atX: number, atY: number, size: number): string {
  const angle = Math.round((Math.atan2(dy, dx) * 180) / Math.PI);
  return `<path d="M${-size} ${-0.7 * size}L${size} 0L${-size} ${0.7 * size}z" transform="translate(${at(atX)} ${at(atY)}) rotate(${angle})"`;
}

/** How each class is drawn: its colour, from pale to strong, and its width. */
function strokeOf(
  classes: readonly BandwidthClass[],
  bandwidth: number,
  radius: number,
): { colour: string; width: number } {
  const { step, width } = bandOf(
    classes.findIndex(({ to }) => bandwidth <= to),
    classes.length,
  );
  return { colour: `b${step}`, width: Math.round(10 * wireScale(radius) * width) / 10 };
}

/** Wires whose length times width is more than this share of the picture are drawn through each other. */
const MOST_INK = 0.35;

/** Returns how opaque wires are drawn, so that where many cross there is still something to see. */
function opacityOf(
  { x, y, width, height, radius }: Layout,
  wires: readonly Wire[],
  classes: readonly BandwidthClass[],
): number {
  const length = ({ a, b }: Wire): number => Math.hypot(x[a] - x[b], y[a] - y[b]);
  const ink = wires.reduce((sum, wire) => sum + length(wire) * strokeOf(classes, widthOf(wire), radius).width, 0);
  return inkOpacity(ink, width * height, MOST_INK, 0.06);
}

/** Yields the wires of a network, wide ones on top; where there is a cut those that do not cross it are faded. */
function* drawnWires(
  topology: Topology,
  layout: Layout,
  wires: readonly Wire[],
  classes: readonly BandwidthClass[],
  inside: Uint8Array | null,
): Generator<string> {
  const { nodeNames } = topology;
  yield `<g stroke-opacity="${opacityOf(layout, wires, classes).toFixed(2)}">`;
  for (const wire of wires.toSorted((a, b) => widthOf(a) - widthOf(b))) {
    const { a, b } = wire;
    const { colour, width } = strokeOf(classes, widthOf(wire), layout.radius);
    const crosses = inside === null ? "" : inside[a] === inside[b] ? " faded" : " crosses";
    const { d, x, y } = curve(layout, a, b);
    const title = `${escaped(`${nodeNames[a]} – ${nodeNames[b]}: ${wireText(wire)}`)}`;
    yield `<path d="${d}" class="wire ${colour}${crosses}" stroke-width="${width}"><title>${title}</title></path>`;
    if (wire.forwardLinks > 0 && wire.backwardLinks > 0) continue;
    const [from, to] = wire.forwardLinks > 0 ? [a, b] : [b, a];
    const [dx, dy] = [layout.x[to] - layout.x[from], layout.y[to] - layout.y[from]];
    yield `${arrowhead(dx, dy, x, y, Math.max(3, layout.radius * 0.4))} style="fill:var(--${colour})"/>`;
  }
  yield "</g>";
}

/** Yields nodes with their names; marked ones with a strong edge, roots filled. */
function* drawnNodes(
  topology: Topology,
  layout: Layout,
  marks: (node: number) => string = () => "",
): Generator<string> {
  const { nodeNames, npuCount } = topology;
  const { x, y, radius } = layout;
  const named = nodeNames.length <= MOST_NAMES;
  for (let node = 0; node < nodeNames.length; node++) {
    const mark = marks(node);
    const name = nodeNames[node];
    const title = `<title>${escaped(`${node < npuCount ? "NPU" : "switch"} ${name}`)}</title>`;
    if (node < npuCount) {
      yield `<circle cx="${at(x[node])}" cy="${at(y[node])}" r="${at(radius)}" class="npu${mark}">${title}</circle>`;
      const size = Math.min(radius * 0.95, (3 * radius) / Math.max(2.4, short(name, 5).length));
      if (named && size >= 4.5) yield nodeName(x[node], y[node], short(name, 5), size, mark);
      continue;
    }
    const height = switchHeight(radius);
    const size = Math.max(5, Math.min(12, height * 0.5));
    const room = layout.room?.[node] ?? Number.POSITIVE_INFINITY;
    const letters = Math.min(12, Math.floor((room - 8) / (0.62 * size)));
    const text = named && (letters >= 4 || letters >= name.length) ? short(name, letters) : "";
    const width = Math.min(room, Math.max(1.4 * height, text.length * size * 0.62 + 12));
    yield `<rect x="${at(x[node] - width / 2)}" y="${at(y[node] - height / 2)}" width="${at(width)}" height="${at(height)}" rx="${at(height / 4)}" class="switch${mark}">${title}</rect>`;
    if (text !== "") yield nodeName(x[node], y[node], text, size, mark);
  }
}

function nodeName(x: number, y: number, text: string, size: number, mark: string): string {
  const on = mark.includes("root") ? ' class="on"' : "";
  return `<text x="${at(x)}" y="${at(y + size * 0.35)}" text-anchor="middle" style="font-size:${at(size)}px;pointer-events:none"${on}>${escaped(text)}</text>`;
}

/** Yields the boxes around groups, with their names. */
function* drawnBoxes({ boxes }: Layout): Generator<string> {
  const named = boxes.length <= 40;
  for (const { x, y, width, height, name } of boxes) {
    yield `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="8" class="group"><title>${escaped(name)}</title></rect>`;
    const text = short(name, Math.max(3, Math.floor(width / 7)));
    if (named)
      yield `<text x="${at(x + width / 2)}" y="${at(y + height + 16)}" class="soft" text-anchor="middle">${escaped(text)}</text>`;
  }
}
