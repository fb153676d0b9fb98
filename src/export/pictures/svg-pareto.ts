import { InputError } from "../../base/errors.ts";
import { at, escaped, framed, label, type Picture, type PictureOptions, short } from "./svg.ts";
import { axisOf, gridOf, type Measured } from "./svg-axes.ts";

/** What is weighed against each other: networks by price and time, say. */
export interface ParetoPlot {
  readonly title: string;
  readonly x: Measured & { readonly lessIsBetter: boolean };
  readonly y: Measured & { readonly lessIsBetter: boolean };
  readonly points: readonly { readonly name: string; readonly x: number; readonly y: number }[];
}

const PLANE = { left: 84, top: 18, width: 760, height: 440 };
const LINE = 14;
const LONGEST = 34;
/** More names than this are no help. */
const MOST_NAMED = 18;
/** How far a name may stand from its point, in lines. */
const FARTHEST = 6;

/** Returns which points no other beats in both, in order of x from the best; of equal ones the first. O(n log n). */
export function frontOf({ x, y, points }: Pick<ParetoPlot, "x" | "y" | "points">): number[] {
  const worth = (value: number, { lessIsBetter }: { readonly lessIsBetter: boolean }): number =>
    lessIsBetter ? value : -value;
  const order = points.map((_, i) => i);
  const [xs, ys] = [points.map((point) => worth(point.x, x)), points.map((point) => worth(point.y, y))] as [
    number[],
    number[],
  ];
  order.sort((a, b) => (xs[a] as number) - (xs[b] as number) || (ys[a] as number) - (ys[b] as number) || a - b);
  let best = Number.POSITIVE_INFINITY;
  return order.filter((i) => {
    if ((ys[i] as number) >= best) return false;
    best = ys[i] as number;
    return true;
  });
}

/**
 * Yields the parts of an SVG of points by two columns: those that no other beats in both are joined and named, the others pale. Axes are
 * logarithmic where values differ by more than 20 times. Throws InputError for none.
 */
export const paretoSvg = (plot: ParetoPlot, options: PictureOptions = {}): Generator<string> =>
  framed(paretoPicture(plot), options);

function paretoPicture({ title, x, y, points }: ParetoPlot): Picture {
  if (points.length === 0) throw new InputError("the points of a plot", "at least one");
  const across = axisOf(
    points.map((point) => point.x),
    x,
    { about: 8 },
  );
  const upward = axisOf(
    points.map((point) => point.y),
    y,
    { about: 8 },
  );
  const { left, top, width, height } = PLANE;
  const places = points.map((point) => ({
    x: left + width * across.place(point.x),
    y: top + height * (1 - upward.place(point.y)),
  }));
  const front = frontOf({ x, y, points });
  const isFront = new Set(front);
  const names = namesAt(
    front.map((i) => ({ name: points[i]?.name ?? "", ...(places[i] as { x: number; y: number }) })),
  );
  function* parts(): Generator<string> {
    yield* gridOf(PLANE, across, upward);
    const others = places.filter((_, i) => !isFront.has(i)).map((place) => `M${at(place.x)} ${at(place.y)}h0`);
    if (others.length > 0)
      yield `<path d="${[...new Set(others)].join("")}" class="wire" stroke-width="5.5" style="stroke:var(--soft)" stroke-opacity=".38"/>`;
    const corners = front.map((i) => places[i] as { x: number; y: number });
    const stairs = corners.map((corner, i) =>
      i === 0 ? `M${at(corner.x)} ${at(corner.y)}` : `H${at(corner.x)}V${at(corner.y)}`,
    );
    yield `<path d="${stairs.join("")}" class="wire k0" stroke-width="1.6" stroke-opacity=".55"/>`;
    for (const i of front) {
      const [point, place] = [points[i] as (typeof points)[number], places[i] as { x: number; y: number }];
      const said = escaped(`${point.name}: ${x.name} ${x.text(point.x)}, ${y.name} ${y.text(point.y)}`);
      yield `<circle cx="${at(place.x)}" cy="${at(place.y)}" r="4.6" class="fk0"><title>${said}</title></circle>`;
    }
    yield* names;
  }
  const better = ({ name, lessIsBetter }: ParetoPlot["x"]): string => `${lessIsBetter ? "less" : "more"} ${name}`;
  const unnamed = front.length - names.length;
  const sentence = `${front.length} of ${points.length} that no other beats in both ${better(x)} and ${better(y)}; the others pale.${unnamed === 0 ? "" : ` ${unnamed} without a name.`}`;
  return { title, sentence, width: left + width + 40, height: top + height + 48, parts: parts() };
}

/** Letters stand out on points and lines below them. */
const HALO = "paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round";

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const meet = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Returns names beside their points where they cover neither points nor each other, farther ones with a line; those without a place have none. */
function namesAt(points: readonly { readonly name: string; readonly x: number; readonly y: number }[]): string[] {
  const { left, top, width, height } = PLANE;
  const named: string[] = [];
  const taken: Box[] = points.map(({ x, y }) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  // evenly along the front, its ends among them
  const count = Math.min(points.length, MOST_NAMED);
  const chosen = Array.from(
    { length: count },
    (_, i) => points[count === 1 ? 0 : Math.round((i * (points.length - 1)) / (count - 1))],
  );
  for (const point of chosen) {
    if (point === undefined) continue;
    const text = short(point.name, LONGEST);
    const wide = 6.4 * text.length + 4;
    let found: { readonly box: Box; readonly far: number } | null = null;
    for (let ring = 0; ring < FARTHEST && found === null; ring++) {
      for (const [side, turn] of [
        [1, -1],
        [1, 1],
        [-1, -1],
        [-1, 1],
      ] as const) {
        const middle = point.y + turn * (ring === 0 ? 8 : 8 + ring * LINE);
        const from = side > 0 ? point.x + 9 : point.x - 9 - wide;
        const box = { left: from, right: from + wide, top: middle - LINE / 2, bottom: middle + LINE / 2 };
        const isInside =
          box.left >= left && box.right <= left + width + 36 && box.top >= top - 4 && box.bottom <= top + height;
        if (!isInside || taken.some((other) => meet(box, other))) continue;
        found = { box, far: ring };
        break;
      }
    }
    if (found === null) continue;
    const { box, far } = found;
    taken.push(box);
    const near = box.left > point.x ? box.left : box.right;
    const line =
      far === 0
        ? ""
        : `<path d="M${at(point.x)} ${at(point.y)}L${at(near)} ${at((box.top + box.bottom) / 2)}" class="axis" style="stroke:var(--soft)" stroke-opacity=".6"/>`;
    named.push(
      line + label(box.left + 2, box.bottom - 3, text, "label", "start").replace("<text ", `<text style="${HALO}" `),
    );
  }
  return named;
}
