/** How networks and lines are drawn, in files and in the page: widths, bends and outlines as plain numbers. */

/** Returns how much thinner wires are between small nodes, 1 at most. */
export const wireScale = (radius: number): number => Math.max(0.35, Math.min(1, radius / 13));

/** Returns the step of the colours of bandwidth (0 pale .. 5 strong) and the width of one of this many classes, before `wireScale`. */
export function bandOf(index: number, classes: number): { readonly step: number; readonly width: number } {
  const step = classes === 1 ? 2 : Math.round((5 * index) / (classes - 1));
  return { step, width: classes === 1 ? 2 : 1.3 + 0.75 * step };
}

/**
 * Returns how opaque wires are drawn, so that where many cross there is still something to see: through each other where their
 * ink (length times width) is more than the share `most` of the picture, and never less than `least`.
 */
export const inkOpacity = (ink: number, area: number, most: number, least: number): number =>
  Math.max(least, Math.min(1, (most * area) / Math.max(1, ink)));

/** The middle of a bent line, and the point that its quadratic curve is drawn towards. */
interface Bend {
  readonly middleX: number;
  readonly middleY: number;
  readonly controlX: number;
  readonly controlY: number;
}

/** Returns the bend of a line whose middle stands `off` the straight one, to the left of its way. */
export function bendOf(x0: number, y0: number, x1: number, y1: number, off: number): Bend {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = Math.hypot(dx, dy) || 1;
  const [middleX, middleY] = [(x0 + x1) / 2 + (dy / length) * off, (y0 + y1) / 2 - (dx / length) * off];
  return { middleX, middleY, controlX: 2 * middleX - (x0 + x1) / 2, controlY: 2 * middleY - (y0 + y1) / 2 };
}

/** Returns how high switches are drawn beside NPUs of a radius. */
export const switchHeight = (radius: number): number => Math.max(6, Math.min(24, 1.7 * radius));

/** Returns half the width of a switch whose name has so many letters; `room`: how wide it may be. */
export function switchHalfWidth(letters: number, radius: number, room: number): number {
  const half = switchHeight(radius) / 2;
  return Math.max(1, Math.min(room / 2, Math.max(1.4 * half, Math.min(12, letters) * half * 0.31 + 6)));
}

/** A marker of a line's points: its corners, x and y in turns, in units of its radius; none of a circle. */
export type Marker = readonly number[];

const CIRCLE: Marker = [];
const SQUARE: Marker = [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9];
const DIAMOND: Marker = [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0];

/** Markers in the order in which lines take them, in files and in the page. */
export const FILE_MARKERS: readonly Marker[] = [
  CIRCLE,
  SQUARE,
  [0, -1.2, 1.1, 0.8, -1.1, 0.8],
  DIAMOND,
  [0, 1.2, 1.1, -0.8, -1.1, -0.8],
  [-1.2, -0.4, -0.4, -1.2, 1.2, 0.4, 0.4, 1.2],
];
export const PAGE_MARKERS: readonly Marker[] = [
  CIRCLE,
  SQUARE,
  DIAMOND,
  [0, -1.2, 1.15, 0.85, -1.15, 0.85],
  [0, 1.2, 1.15, -0.85, -1.15, -0.85],
  [0, -1.25, 1.2, -0.35, 0.75, 1, -0.75, 1, -1.2, -0.35],
];

/** So many colours lines have, in files and in the page: the colour-blind can tell them apart, and each is 3 : 1 on its ground. */
export const LINE_COLOURS = 6;

/** Returns the look of a line: its colour, how often the colours were used up before it, and its marker. Neighbours differ in both; 36 lines do. */
export function lookOf(line: number): { readonly colour: number; readonly round: number; readonly marker: number } {
  const round = Math.floor(line / LINE_COLOURS);
  return { colour: line % LINE_COLOURS, round, marker: (line + round) % FILE_MARKERS.length };
}

/** Returns where the corners of a marker are. */
export const cornersAt = (marker: Marker, x: number, y: number, radius: number): (readonly [number, number])[] =>
  Array.from({ length: marker.length / 2 }, (_, i) => [x + marker[2 * i] * radius, y + marker[2 * i + 1] * radius]);

/** Returns the way round a marker with corners as the path of an SVG; `text` writes a coordinate. */
export const markerOutline = (
  marker: Marker,
  x: number,
  y: number,
  radius: number,
  text: (value: number) => string = String,
): string =>
  `M${cornersAt(marker, x, y, radius)
    .map((corner) => corner.map(text).join(" "))
    .join("L")}Z`;

/**
 * Returns places, ascending, moved to be `gap` apart between `low` and `high` and near where they were; closer where the room is too
 * small for that. O(places).
 */
export function apartBy(places: readonly number[], gap: number, low: number, high: number): number[] {
  const step = places.length > 1 ? Math.min(gap, (high - low) / (places.length - 1)) : gap;
  const found: number[] = [];
  for (const [i, place] of places.entries()) {
    const least = i === 0 ? low : (found[i - 1] as number) + step;
    found.push(Math.max(least, place));
  }
  // what was pushed out below comes back, and pushes those above it
  for (let i = found.length - 1, most = high; i >= 0; i--, most -= step) {
    if ((found[i] as number) <= most) most = found[i] as number;
    found[i] = most;
  }
  return found;
}
