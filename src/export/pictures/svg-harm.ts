import type { HarmView } from "../../picture/scene/harm-views.ts";
import { inkOpacity, switchHeight, wireScale } from "../../picture/shapes.ts";
import { at, escaped, short } from "./svg.ts";
import { curve } from "./svg-topology.ts";

/** How a mark is drawn: a step of harm from 0 (none) to 6, no way, not known, or not asked for. */
export type HarmStep = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "x" | "o" | "q";

/** More nodes than these have no names in the picture. */
const MOST_NAMES = 400;
const MARGIN = 12;
/** Wires whose length times width is more than this share of the picture are drawn through each other, but never fainter than this. */
const MOST_INK = 0.3;
const LEAST_OPACITY = 0.45;

/**
 * Yields a network as SVG, each part with the place of its mark and a class for its harm: `stepOf` says it as the page is loaded.
 * What a part does is told elsewhere, so the picture is one image to a screen reader.
 */
export function* harmSvg(view: HarmView, id: string, stepOf: (mark: number) => HarmStep): Generator<string> {
  const { layout, topology, wires, nodeMark, wireMark, boxMark, heading, sentence } = view;
  const { x, y, radius, width, height } = layout;
  const [wide, tall] = [width + 2 * MARGIN, height + 2 * MARGIN];
  yield `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${[-MARGIN, -MARGIN, wide, tall].map(at).join(" ")}" role="img" aria-labelledby="${id}-title" class="banyan harm" style="--wide:${at(wide)}px;--line:${at(2 * wireScale(radius))}px"><title id="${id}-title">${escaped(`${heading}, coloured by harm. ${sentence}`)}</title>\n`;
  for (const [i, box] of layout.boxes.entries()) {
    yield `<rect x="${at(box.x)}" y="${at(box.y)}" width="${at(box.width)}" height="${at(box.height)}" rx="8" class="b h${stepOf(boxMark[i] as number)}" data-m="${boxMark[i]}"/>\n`;
    if (layout.boxes.length <= 40)
      yield `<text x="${at(box.x + box.width / 2)}" y="${at(box.y + box.height + 16)}" class="soft" text-anchor="middle">${escaped(short(box.name, Math.max(3, Math.floor(box.width / 7))))}</text>\n`;
  }
  const line = 2 * wireScale(radius);
  const length = (a: number, b: number): number => Math.hypot(x[a] - x[b], y[a] - y[b]);
  const ink = wires.reduce((sum, { a, b }) => sum + line * length(a, b), 0);
  yield `<g stroke-opacity="${inkOpacity(ink, width * height, MOST_INK, LEAST_OPACITY).toFixed(2)}">\n`;
  // what does more harm lies on top
  const order = [...wires.keys()].sort((a, b) => weight(a) - weight(b));
  for (const wire of order) {
    const { a, b } = wires[wire] as HarmView["wires"][number];
    yield `<path d="${curve(layout, a, b).d}" class="w h${stepOf(wireMark[wire] as number)}" data-m="${wireMark[wire]}"/>\n`;
  }
  yield "</g>\n";
  const named = topology.nodeNames.length <= MOST_NAMES;
  for (let node = 0; node < topology.nodeNames.length; node++) {
    const name = topology.nodeNames[node] as string;
    const mark = `class="n h${stepOf(nodeMark[node] as number)}" data-m="${nodeMark[node]}"`;
    if (node < topology.npuCount) {
      yield `<circle cx="${at(x[node])}" cy="${at(y[node])}" r="${at(radius)}" ${mark}/>`;
      const text = short(name, 6);
      const size = Math.min(radius * 0.95, (3.1 * radius) / Math.max(2.4, text.length));
      yield named && size >= 4.5 ? nodeText(x[node], y[node], text, size) : "\n";
      continue;
    }
    const high = switchHeight(radius);
    const size = Math.max(5, Math.min(12, high * 0.5));
    const room = layout.room?.[node] ?? Number.POSITIVE_INFINITY;
    const letters = Math.min(12, Math.floor((room - 8) / (0.62 * size)));
    const text = named && (letters >= 4 || letters >= name.length) ? short(name, letters) : "";
    const across = Math.min(room, Math.max(1.4 * high, text.length * size * 0.62 + 12));
    yield `<rect x="${at(x[node] - across / 2)}" y="${at(y[node] - high / 2)}" width="${at(across)}" height="${at(high)}" rx="${at(high / 4)}" ${mark}/>`;
    yield text === "" ? "\n" : nodeText(x[node], y[node], text, size);
  }
  yield "</svg>\n";

  function weight(wire: number): number {
    return "qo0123456x".indexOf(stepOf(wireMark[wire] as number));
  }
}

const nodeText = (x: number, y: number, text: string, size: number): string =>
  `<text x="${at(x)}" y="${at(y + size * 0.35)}" text-anchor="middle" style="font-size:${at(size)}px">${escaped(text)}</text>\n`;
