import type { Layout } from "../../export/pictures/layout.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";

const CELL = 26;
/** From the last column or row of a slab to the first of the next, in cells; names stand below. */
const GAP_ACROSS = 1.5;
const GAP_BELOW = 2.3;
/** Slabs of one dimension stand in rows where a single one would be so many times as wide as it is high. */
const WIDEST = 3.2;
/** Of pictures, width to height. */
const ASPECT = 1.6;

/**
 * Returns a grid of three or more dimensions: the first two as slabs, the others as slabs side by side, in turns to the right and
 * downwards; a single third dimension that is long goes on in the next row, back and forth, so that its neighbours stay near. Links between slabs are bent, so that they do not
 * lie on those within. O(nodes).
 */
export function slabLayout(topology: Topology): Layout {
  const { shape } = topology;
  const nodes = nodeCount(topology);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const slabWidth = shape[0] - 1 + GAP_ACROSS;
  const slabHeight = shape[1] - 1 + GAP_BELOW;
  const perRow = shape.length === 3 ? rowOf(shape[2], slabWidth, slabHeight) : shape[2];
  const [right, down] = stepsOf(shape, slabWidth, slabHeight);
  for (let node = 0; node < nodes; node++) {
    let rest = node;
    for (const [axis, size] of shape.entries()) {
      const at = rest % size;
      rest = Math.floor(rest / size);
      const row = axis === 2 ? Math.floor(at / perRow) : 0;
      const inRow = at - row * perRow;
      x[node] += (row % 2 === 0 ? inRow : perRow - 1 - inRow) * right[axis];
      y[node] += at * down[axis] + row * slabHeight;
    }
  }
  const radius = 0.3 * CELL;
  const room = CELL;
  for (let node = 0; node < nodes; node++) {
    x[node] = x[node] * CELL + room;
    y[node] = y[node] * CELL + room;
  }
  const boxes: Layout["boxes"][number][] = [];
  const inSlab = shape[0] * shape[1];
  for (let first = 0; first < nodes; first += inSlab) {
    boxes.push({
      x: x[first] - 0.55 * CELL,
      y: y[first] - 0.55 * CELL,
      width: (shape[0] + 0.1) * CELL,
      height: (shape[1] + 0.1) * CELL,
      name: `(x, y, ${coordinates(first / inSlab, shape.slice(2)).join(", ")})`,
    });
  }
  const bend = (a: number, b: number): number => {
    const apart = b - a;
    if (apart < shape[0]) return apart === 1 ? 0 : -0.36 * CELL;
    if (apart < inSlab) return apart === shape[0] ? 0 : 0.36 * CELL;
    return 0.42 * CELL;
  };
  const most = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b)) + room;
  return { x, y, radius, width: most(x), height: most(y) + 0.5 * CELL, bend, boxes };
}

/** Returns how many of the slabs stand in a row: rows of equal length first, then an even number of them, then the best proportions. */
function rowOf(slabs: number, width: number, height: number): number {
  if (slabs * width <= WIDEST * height) return slabs;
  let [best, least] = [slabs, Number.POSITIVE_INFINITY];
  for (let rows = 1; rows <= slabs; rows++) {
    const perRow = Math.ceil(slabs / rows);
    if (Math.ceil(slabs / perRow) !== rows) continue;
    const off = Math.abs(Math.log((perRow * width) / (rows * height) / ASPECT));
    const cost = off + (slabs % rows === 0 ? 0 : 0.4) + (rows === 1 || rows % 2 === 0 ? 0 : 0.25);
    if (cost < least) [best, least] = [perRow, cost];
  }
  return best;
}

/** Returns how far one step along each axis goes to the right and down, in cells. */
function stepsOf(shape: readonly number[], slabWidth: number, slabHeight: number): [number[], number[]] {
  const [right, down] = [
    [1, 0],
    [0, 1],
  ];
  let [wide, tall] = [slabWidth, slabHeight];
  for (let axis = 2; axis < shape.length; axis++) {
    const isAcross = axis % 2 === 0;
    right.push(isAcross ? wide : 0);
    down.push(isAcross ? 0 : tall);
    if (isAcross) wide = wide * shape[axis] + 0.6;
    else tall = tall * shape[axis] + 0.6;
  }
  return [right, down];
}

function coordinates(index: number, sizes: readonly number[]): number[] {
  let rest = index;
  return sizes.map((size) => {
    const at = rest % size;
    rest = Math.floor(rest / size);
    return at;
  });
}
