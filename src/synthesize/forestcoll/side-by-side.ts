import { InputError } from "../../base/errors.ts";
import { add, compare, divide, type Rational, rational } from "../../model/numbers/rational.ts";
import { copiesOf, type Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth, rateOfForest } from "../../model/trees/tree-loads.ts";

/** The two forests of an all-reduce: first "in", then "out". */
export interface InAndOut {
  readonly forests: readonly [Forest, Forest];
  /** They run side by side. */
  readonly concurrent: boolean;
}

/**
 * Returns a reduction and a broadcast as one all-reduce, the faster way of two, exactly: one after the other, each at its full
 * rate, or side by side, sharing links. The latter is never slower in the limit, for half of each fits beside half of the other,
 * and faster where they load different links; of equal rates the phases are taken, whose pieces pass links sooner. Forests
 * without symmetry that span `members` NPUs, the copies at each root in the same proportion. O(links of all edges).
 */
export function reduceAndBroadcast(into: Forest, out: Forest, members: number, usable: Float64Array): InAndOut {
  const forests = withEqualCopies(into, out);
  const inPhases = harmonic(rateOfForest(forests[0]), rateOfForest(forests[1]));
  const [a, b] = forests.map((forest) => copiesOnLinks(forest, members - 1, usable.length));
  const y = fittingBandwidth(
    a.map((load, link) => load + b[link]),
    usable,
  );
  if (y === null) return { forests, concurrent: false };
  const together = forests.map((forest) => ({ ...forest, copyBytesPerSecond: y })) as [Forest, Forest];
  if (compare(rateOfForest(together[0]), inPhases) <= 0) return { forests, concurrent: false };
  return { forests: together, concurrent: true };
}

/** Returns the rate of two phases, one after the other. */
const harmonic = (a: Rational, b: Rational): Rational =>
  divide(rational(1), add(divide(rational(1), a), divide(rational(1), b)));

/** Returns the forests with copies cut up until both have as many: c copies of bandwidth y are c f of bandwidth y / f. */
function withEqualCopies(into: Forest, out: Forest): [Forest, Forest] {
  const { num, den } = rational(copiesOf(into, null), copiesOf(out, null));
  return [cutUp(into, den), cutUp(out, num)];
}

function cutUp(forest: Forest, factor: bigint): Forest {
  if (factor === 1n) return forest;
  const copies = forest.copies.map((count) => count * Number(factor));
  if (!copies.every((count) => count <= Number.MAX_SAFE_INTEGER)) {
    throw new InputError("--k", "a number of copies that both forests can have below 2^53", copies[0]);
  }
  return { ...forest, copies, copyBytesPerSecond: divide(forest.copyBytesPerSecond, rational(factor)) };
}
