import { at } from "./svg.ts";

/** Colours of a series, and shapes of its points: together they tell 36 lines apart. */
export const COLOURS = 6;
const RADIUS = 4;

/** Returns the way round a polygon whose corners are given in units of the radius. */
const polygon =
  (...corners: readonly (readonly [x: number, y: number])[]) =>
  (x: number, y: number): string =>
    `${corners.map(([dx, dy], i) => `${i === 0 ? "M" : "L"}${at(x + RADIUS * dx)} ${at(y + RADIUS * dy)}`).join("")}Z`;

const SHAPES = [
  null,
  polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]),
  polygon([0, -1.2], [1.1, 0.8], [-1.1, 0.8]),
  polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]),
  polygon([0, 1.2], [1.1, -0.8], [-1.1, -0.8]),
  polygon([-1.2, -0.4], [-0.4, -1.2], [1.2, 0.4], [0.4, 1.2]),
];

export const colourOf = (index: number): number => index % COLOURS;

/** Neighbours differ in colour and shape; the shapes move on by one when the colours are used up. */
const shapeOf = (index: number): number => (index + Math.floor(index / COLOURS)) % SHAPES.length;

/** Returns the point of the index-th series, with what it says where the reader asks; `title` is escaped already. */
export function marker(index: number, x: number, y: number, title = ""): string {
  const way = SHAPES[shapeOf(index)];
  const inside = title === "" ? "" : `<title>${title}</title>`;
  const colour = `class="fk${colourOf(index)}"`;
  return way === null || way === undefined
    ? `<circle cx="${at(x)}" cy="${at(y)}" r="${RADIUS - 0.2}" ${colour}>${inside}</circle>`
    : `<path d="${way(x, y)}" ${colour}>${inside}</path>`;
}
