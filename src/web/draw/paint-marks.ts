import type { NetworkView } from "../protocol.ts";
import { arrow, direction } from "./arrows.ts";
import type { Dot, NetworkMarks, WireMark } from "./marks.ts";
import type { Palette } from "./palette.ts";
import { pointOn } from "./shapes.ts";
import { bandsOf, trace } from "./wire-paths.ts";

const LEAST_WIDTH = 1.6;
/** More wires than this are a pixel wide while NPUs are smaller (pixels, radius). */
const MOST_WIDE = 1200;
const LEAST_ROOMY = 8;
/** More dots than this are squares. */
const MOST_ROUND = 600;

/** Paints the wires that are marked, in their order; neighbours in it that look alike at once. The context is in the network's units. */
export function paintWireMarks(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  marks: readonly WireMark[],
  k: number,
  palette: Palette,
): void {
  const bands = bandsOf(network);
  const { bandwidthClass } = network.wires;
  // many lines a pixel wide are painted several times as fast as wider ones
  const isCrowded = marks.length > MOST_WIDE && network.placement.radius * k < LEAST_ROOMY;
  const widthOf = ({ wire, width }: WireMark): number =>
    isCrowded ? 1 / k : Math.max(LEAST_WIDTH, width ?? Math.min(6, bands[bandwidthClass[wire]].width * k + 1)) / k;
  for (let from = 0; from < marks.length; ) {
    const { colour, dashed = false } = marks[from];
    const width = widthOf(marks[from]);
    let to = from;
    context.beginPath();
    do trace(context, network, marks[to++].wire);
    while (
      to < marks.length &&
      marks[to].colour === colour &&
      (marks[to].dashed ?? false) === dashed &&
      widthOf(marks[to]) === width
    );
    context.strokeStyle = palette(colour);
    context.lineWidth = width;
    context.setLineDash(dashed ? [6 / k, 4 / k] : []);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    for (let i = from; i < to; i++) {
      const { wire, forward } = marks[i];
      if (forward !== null) arrow(context, network, wire, forward, arrowSize(network, width, k), 0.6);
    }
    context.fill();
    from = to;
  }
}

/** Arrows grow with their line, and are never so small that they cannot be seen. */
const arrowSize = ({ placement }: NetworkView, width: number, k: number): number =>
  Math.max(6 / k, Math.min(3.4 * width, Math.max(0.9 * placement.radius, 8 / k)));

/** Paints things on their way, each on the right-hand side of its wire. */
export function paintDots(
  context: CanvasRenderingContext2D,
  network: NetworkView,
  dots: readonly Dot[],
  k: number,
  palette: Palette,
): void {
  const size = Math.max(2.6, Math.min(5.5, 0.3 * network.placement.radius * k)) / k;
  const byColour = new Map<string, Dot[]>();
  for (const dot of dots) {
    const alike = byColour.get(dot.colour);
    if (alike === undefined) byColour.set(dot.colour, [dot]);
    else alike.push(dot);
  }
  for (const [colour, alike] of byColour) {
    context.fillStyle = palette(colour);
    context.beginPath();
    // squares are painted several times as fast
    const isSquare = dots.length > MOST_ROUND;
    for (const { wire, forward, at } of alike) {
      const rim = rimOf(network, wire);
      const way = rim + at * (1 - 2 * rim);
      const along = forward ? way : 1 - way;
      const { x, y } = pointOn(network, wire, along);
      const [dx, dy] = direction(network, wire, along, forward);
      const [centreX, centreY] = [x - dy * size * 0.7, y + dx * size * 0.7];
      if (isSquare) {
        context.fillRect(centreX - size, centreY - size, 2 * size, 2 * size);
        continue;
      }
      context.moveTo(centreX + size, centreY);
      context.arc(centreX, centreY, size, 0, 2 * Math.PI);
    }
    if (!isSquare) context.fill();
  }
}

/** Returns the share of a wire that lies under the node at each of its ends, so that nothing covers a node's name. */
function rimOf({ placement: { x, y, radius }, wires: { a, b } }: NetworkView, wire: number): number {
  const length = Math.hypot(x[a[wire]] - x[b[wire]], y[a[wire]] - y[b[wire]]);
  return length > 0 ? Math.min(0.3, radius / length) : 0;
}

/** Returns whether marks change what lies under them. */
export const sameBase = (one: NetworkMarks | undefined, other: NetworkMarks | undefined): boolean =>
  one?.heat === other?.heat && (one?.fadeOthers ?? false) === (other?.fadeOthers ?? false);
