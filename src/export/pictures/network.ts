import type { Topology } from "../../model/topology/topology.ts";
import type { Layout } from "./layout-grid.ts";
import { at, escaped, short } from "./svg.ts";
import { type BandwidthClass, type Wire, widthOf, wireText } from "./wires.ts";

/** Most nodes whose names are written beside or in them; the others tell theirs when pointed at. */
const MOST_NAMES = 400;

/** Returns a curve from node a to node b, and the middle of it. */
export function curve({ x, y, bend }: Layout, a: number, b: number): { d: string; x: number; y: number } {
  const [dx, dy] = [x[b] - x[a], y[b] - y[a]];
  const length = Math.hypot(dx, dy) || 1;
  const off = bend(a, b);
  const [mx, my] = [(x[a] + x[b]) / 2 + (dy / length) * off, (y[a] + y[b]) / 2 - (dx / length) * off];
  const start = `M${at(x[a])} ${at(y[a])}`;
  if (off === 0) return { d: `${start}L${at(x[b])} ${at(y[b])}`, x: mx, y: my };
  const control = `${at(2 * mx - (x[a] + x[b]) / 2)} ${at(2 * my - (y[a] + y[b]) / 2)}`;
  return { d: `${start}Q${control} ${at(x[b])} ${at(y[b])}`, x: mx, y: my };
}

/** Returns an arrowhead of a given size at a point, in the direction from a to b. */
export function arrowhead({ x, y }: Layout, a: number, b: number, atX: number, atY: number, size = 6): string {
  const angle = Math.round((Math.atan2(y[b] - y[a], x[b] - x[a]) * 180) / Math.PI);
  return `<path d="M${-size} ${-0.7 * size}L${size} 0L${-size} ${0.7 * size}z" transform="translate(${at(atX)} ${at(atY)}) rotate(${angle})"`;
}

/** How each class is drawn: its colour, from pale to strong, and its width. */
export function strokeOf(
  classes: readonly BandwidthClass[],
  bandwidth: number,
  radius: number,
): { colour: string; width: number } {
  const index = classes.findIndex(({ to }) => bandwidth <= to);
  const step = classes.length === 1 ? 2 : Math.round((5 * index) / (classes.length - 1));
  const scale = Math.max(0.35, Math.min(1, radius / 13));
  return { colour: `b${step}`, width: Math.round(10 * scale * (classes.length === 1 ? 2 : 1.3 + 0.75 * step)) / 10 };
}

/** The border that proves a bound: links from the marked side to the other, or the reverse, are drawn strong. */
export interface Cut {
  readonly nodes: readonly number[];
  readonly direction: "in" | "out";
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
  return Math.max(0.06, Math.min(1, (MOST_INK * width * height) / Math.max(1, ink)));
}

/** Yields the wires of a network, wide ones on top; where there is a cut those that do not cross it are faded. */
export function* drawnWires(
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
    yield `${arrowhead(layout, from, to, x, y, Math.max(3, layout.radius * 0.4))} style="fill:var(--${colour})"/>`;
  }
  yield "</g>";
}

/** Yields nodes with their names; marked ones with a strong edge, roots filled. */
export function* drawnNodes(
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
    const height = Math.max(6, Math.min(24, 1.7 * radius));
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
export function* drawnBoxes({ boxes }: Layout): Generator<string> {
  const named = boxes.length <= 40;
  for (const { x, y, width, height, name } of boxes) {
    yield `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="8" class="group"><title>${escaped(name)}</title></rect>`;
    const text = short(name, Math.max(3, Math.floor(width / 7)));
    if (named)
      yield `<text x="${at(x + width / 2)}" y="${at(y + height + 16)}" class="soft" text-anchor="middle">${escaped(text)}</text>`;
  }
}
