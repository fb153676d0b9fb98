import { InputError, inWords } from "../../../base/errors.ts";
import { checkParameters, type Family, never, refuseLarge, regularGraph } from "./family.ts";

/** Cayley digraphs of groups that turn and shift: fewer steps than circulants of as many nodes and arcs have. */

/** Returns r^0 .. r^(n - 1) modulo m. O(n). */
function powersOf(r: number, n: number, m: number): number[] {
  const powers = [1 % m];
  for (let i = 1; i < n; i++) powers.push((powers[i - 1] * r) % m);
  return powers;
}

/** Products of two numbers of this size are exact. */
const MOST_ELEMENTS = 1e6;
const MOST_STEPS = 1000;
const FORM = "Cayley(m,n,r,{a,b,...})";

/**
 * Returns the product of elements x + m y, 0 <= x < m and 0 <= y < n, of the group in which (x, y) (x', y') is
 * (x + r^y x', y + y'). O(n) for the function, O(1) for a product.
 */
export function metacyclicProduct(m: number, n: number, r: number): (left: number, right: number) => number {
  const powers = powersOf(r, n, m);
  return (left, right) => {
    const [x, y] = [left % m, Math.floor(left / m)];
    return ((x + powers[y] * (right % m)) % m) + m * ((y + Math.floor(right / m)) % n);
  };
}

/** Returns the inverse of elements of that group. O(n) for the function, O(1) for an inverse. */
export function metacyclicInverse(m: number, n: number, r: number): (element: number) => number {
  const powers = powersOf(r, n, m);
  return (element) => {
    const y = (n - Math.floor(element / m)) % n;
    return ((m - ((powers[y] * (element % m)) % m)) % m) + m * y;
  };
}

/** Every node v leads to v a, v b, ...: all nodes are alike. With r = m - 1 and n = 2 the group is a dihedral one. */
export const METACYCLIC: Family = {
  name: "Cayley",
  form: FORM,
  description: "Cayley digraph of Z_m : Z_n, (x,y)(x',y') = (x + r^y x', y + y'); element x + m y leads on by a, b ...",
  beforeBraces: () => 3,
  size: (parameters) => {
    checkParameters(FORM, parameters, [1, 1, 1, 1], MOST_STEPS + 3);
    const [m, n, r, ...steps] = parameters;
    const place = `Cayley(${m},${n},${r},{${steps.join(",")}})`;
    if (m > MOST_ELEMENTS || n > MOST_ELEMENTS)
      throw new InputError(`m or n of ${place}`, `at most ${MOST_ELEMENTS}`, Math.max(m, n)).as("out-of-range");
    refuseLarge({ nodes: m * n, degree: steps.length }, place);
    if (r >= m && m > 1) throw new InputError(`r of ${place}`, `below m = ${m}`, r).as("out-of-range");
    if ((powersOf(r, n, m)[n - 1] * r) % m !== 1 % m)
      throw new InputError(`r of ${place}`, `a number whose power n = ${n} is 1 modulo m = ${m}`, r);
    steps.forEach((step, i) => {
      if (step >= m * n)
        throw new InputError(`an element of ${place}`, `a whole number, 1 to ${m * n - 1}`, step).as("out-of-range");
      if (steps.indexOf(step) < i)
        throw new InputError(`the elements of ${place}`, "each element once", step).saying(
          `${step} is twice among the elements of ${place}`,
        );
    });
    const reached = reachedBy(m, n, r, steps);
    if (reached < m * n)
      throw new InputError(
        place,
        `elements that connect all ${m * n} nodes`,
        inWords(`those of a group of ${reached}`),
      ).saying(`the elements of ${place} connect ${reached} of its ${m * n} nodes; they must connect all`);
    return { nodes: m * n, degree: steps.length };
  },
  build: ([m, n, r, ...steps]) => {
    const product = metacyclicProduct(m, n, r);
    return regularGraph(m * n, steps.length, (v, k) => product(v, steps[k]));
  },
  selfLoops: never,
  multiEdges: never,
  reverseSymmetric: false,
  bfb: true,
  bandwidthOptimal: never,
};

/** Returns how many elements are products of the steps. O(nodes * steps). */
function reachedBy(m: number, n: number, r: number, steps: readonly number[]): number {
  const product = metacyclicProduct(m, n, r);
  const seen = new Uint8Array(m * n);
  const queue = new Int32Array(m * n);
  seen[0] = 1;
  let end = 1;
  for (let next = 0; next < end; next++) {
    for (const step of steps) {
      const to = product(queue[next], step);
      if (seen[to] === 1) continue;
      seen[to] = 1;
      queue[end++] = to;
    }
  }
  return end;
}
