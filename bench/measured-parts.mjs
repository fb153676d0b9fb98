// Measured calls as sums of parts: how many us a figure of each part makes, and which figures fit best.

const MOST_TURNS = 24;
const MOST_ROUNDS = 8;
/** Errors below count as this much, so that no point draws all weight. */
const LEAST_ERROR = 0.02;

const costOf = (way, figures) => way.reduce((sum, amount, j) => sum + amount * figures[j], 0);

/** Returns the number of the way that takes least, of equal ones the first. */
function fastestWay(ways, figures) {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  ways.forEach((way, w) => {
    const us = costOf(way, figures);
    if (us < least) [least, best] = [us, w];
  });
  return best;
}

/**
 * Returns us of a call by its fastest way. `ways`: [ways][figures] us of the call for a figure of 1, for each way in which it may have
 * run: protocols, algorithms that a library chooses from.
 */
export const partedUs = ({ ways }, figures) => costOf(ways[fastestWay(ways, figures)], figures);

/** Returns the figures that make the least sum of relative errors, each call by one given way (reweighted least squares). */
function fitWays({ nonNegativeLeastSquares, ownLength }, points, chosen, labels) {
  const columns = Array.from(labels, (_, j) => Float64Array.from(points, ({ us, ways }, i) => ways[chosen[i]][j] / us));
  const told = columns.map((column) => column.some((value) => value > 0));
  const used = [...columns.keys()].filter((j) => told[j]);
  // columns of length 1, for us and us per byte differ by many powers of ten
  const lengths = used.map((j) => Math.hypot(...columns[j]));
  const weights = new Float64Array(points.length).fill(1);
  let found = new Float64Array(used.length);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const scaled = used.map((j, k) => columns[j].map((value, i) => (value / lengths[k]) * weights[i]));
    found = nonNegativeLeastSquares(scaled, weights);
    for (let i = 0; i < points.length; i++) {
      const made = used.reduce((sum, j, k) => sum + (columns[j][i] / lengths[k]) * found[k], 0);
      weights[i] = 1 / Math.sqrt(Math.max(Math.abs(made - 1), LEAST_ERROR));
    }
  }
  const figures = labels.slice();
  used.forEach((j, k) => {
    figures[j] = found[k] / lengths[k];
  });
  return { figures, told: told.map((is, j) => is && ownLength(columns, j) > 0) };
}

/**
 * Returns the figures of a sum of parts that fit measured calls ({us, ways}) best, the least sum of relative errors, no figure below 0, and
 * which of them the points tell; of those that no point pays, the labels. Which way each call took is found in turns with the
 * figures, from the labels on; of all turns the best is kept. Points that none of whose ways costs anything are not allowed.
 * `lib` has our least squares. O(turns x points x figures^2).
 */
export function fitParts(lib, points, labels) {
  let chosen = points.map(({ ways }) => fastestWay(ways, labels));
  let best = { figures: labels, told: Array.from(labels, () => false) };
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const fit = fitWays(lib, points, chosen, labels);
    const errors = points.map((point) => Math.abs(partedUs(point, fit.figures) / point.us - 1));
    const sum = errors.reduce((a, b) => a + b, 0);
    if (sum < least) [least, best] = [sum, fit];
    const next = points.map(({ ways }) => fastestWay(ways, fit.figures));
    if (next.every((way, i) => way === chosen[i])) break;
    chosen = next;
  }
  return best;
}
