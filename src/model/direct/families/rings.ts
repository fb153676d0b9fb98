import { InputError } from "../../../base/errors.ts";
import { gcd } from "../../numbers/integers.ts";
import { always, cayley, checkParameters, type Family, never, range } from "./family.ts";

/** Rings with parallel arcs, circulants and directed circulants: all are mapped to themselves by every rotation. */

const ROTATIONS = { selfLoops: never, multiEdges: never, reverseSymmetric: true, bfb: true } as const;

export const UNI_RING: Family = {
  ...ROTATIONS,
  name: "UniRing",
  form: "UniRing(d,m)",
  description: "ring of m nodes one way, d parallel links from each to the next",
  size: (parameters) => {
    checkParameters("UniRing(d,m)", parameters, [1, 2]);
    return { nodes: parameters[1], degree: parameters[0] };
  },
  build: ([d, m]) => cayley([m], new Array<number>(d).fill(1)),
  multiEdges: ([d]) => d > 1,
  bandwidthOptimal: always,
};

export const BI_RING: Family = {
  ...ROTATIONS,
  name: "BiRing",
  form: "BiRing(d,m)",
  description: "ring of m nodes both ways, d/2 parallel links each way (even d)",
  size: (parameters) => {
    checkParameters("BiRing(d,m)", parameters, [1, 2]);
    const [d, m] = parameters;
    const place = `BiRing(${d},${m})`;
    if (d % 2 !== 0) {
      throw new InputError(place, `an even degree, half of it each way (UniRing(${d},${m}) goes one way)`, d);
    }
    if (m < 3) throw new InputError(place, `3 nodes or more (2 nodes are UniRing(${d},2))`, m);
    return { nodes: m, degree: d };
  },
  build: ([d, m]) => cayley([m], [...new Array<number>(d / 2).fill(1), ...new Array<number>(d / 2).fill(m - 1)]),
  multiEdges: ([d]) => d > 2,
  bandwidthOptimal: always,
};

/** Throws InputError for a repeated offset and where a rotation by the offsets does not reach every node. */
function checkOffsets(place: string, nodes: number, offsets: readonly number[], greatest: number): void {
  offsets.forEach((offset, i) => {
    if (offset < 1 || offset > greatest) {
      throw new InputError(`an offset of ${place}`, `a whole number, 1 to ${greatest}`, offset).as("out-of-range");
    }
    if (offsets.indexOf(offset) < i)
      throw new InputError(`the offsets of ${place}`, "each offset once", offset).saying(
        `${offset} is twice among the offsets of ${place}`,
      );
  });
  const divisor = offsets.reduce(gcd, nodes);
  if (divisor === 1) return;
  const expected = `offsets that connect all nodes (their greatest common divisor with ${nodes} is ${divisor}, not 1)`;
  throw new InputError(place, expected, offsets);
}

/** Offsets are checked one by one against the others, so their number is bounded. */
const MOST_OFFSETS = 1000;
const offsetsText = (offsets: readonly number[]): string => `{${offsets.join(",")}}`;

/** Returns each offset and its opposite; an offset of half the nodes is its own opposite and counts once. */
const bothWays = (nodes: number, offsets: readonly number[]): number[] =>
  offsets.flatMap((offset) => (2 * offset === nodes ? [offset] : [offset, nodes - offset]));

const halfTurn = (nodes: number, offsets: readonly number[]): boolean => offsets.includes(nodes / 2);

/** Definition 18. Proved optimal for two offsets (section A.6.4); conjecture 1 says the same of any number. */
export const CIRCULANT: Family = {
  ...ROTATIONS,
  name: "C",
  aliases: ["Circulant"],
  form: "C(m,{a,b,...})",
  description: "circulant graph: m nodes, each linked to those a, b ... before and after",
  beforeBraces: () => 1,
  size: (parameters) => {
    checkParameters("C(m,{a,b,...})", parameters, [3, 1], MOST_OFFSETS + 1);
    const [m, ...offsets] = parameters;
    checkOffsets(`C(${m},${offsetsText(offsets)})`, m, offsets, Math.floor(m / 2));
    return { nodes: m, degree: bothWays(m, offsets).length };
  },
  build: ([m, ...offsets]) => cayley([m], bothWays(m, offsets)),
  bandwidthOptimal: ([m, ...offsets]) => offsets.length <= 2 && !halfTurn(m, offsets),
};

/** Section A.6.4: parallel links make a circulant of any even degree out of one of few offsets. */
export const MULTI_CIRCULANT: Family = {
  ...ROTATIONS,
  name: "MultiC",
  form: "MultiC(n,m,{a,b,...})",
  description: "circulant graph of m nodes with n parallel links for each one",
  beforeBraces: () => 2,
  size: (parameters) => {
    checkParameters("MultiC(n,m,{a,b,...})", parameters, [1, 3, 1], MOST_OFFSETS + 2);
    const [n, ...rest] = parameters;
    const { nodes, degree } = CIRCULANT.size(rest);
    return { nodes, degree: n * degree };
  },
  build: ([n, m, ...offsets]) =>
    cayley(
      [m],
      bothWays(m, offsets).flatMap((offset) => new Array<number>(n).fill(offset)),
    ),
  multiEdges: ([n]) => n > 1,
  bandwidthOptimal: ([, ...rest]) => CIRCULANT.bandwidthOptimal(rest),
};

/** Table A.3 has DC(d + 2, {1, ..., d}), which is Moore and bandwidth optimal; other offsets are allowed. */
export const DIRECTED_CIRCULANT: Family = {
  ...ROTATIONS,
  name: "DC",
  aliases: ["DirectedCirculant"],
  form: "DC(m,{a,b,...})",
  description: "directed circulant: m nodes, each with a link to those a, b ... after it",
  beforeBraces: () => 1,
  size: (parameters) => {
    checkParameters("DC(m,{a,b,...})", parameters, [2, 1], MOST_OFFSETS + 1);
    const [m, ...offsets] = parameters;
    checkOffsets(`DC(${m},${offsetsText(offsets)})`, m, offsets, m - 1);
    return { nodes: m, degree: offsets.length };
  },
  build: ([m, ...offsets]) => cayley([m], offsets),
  bandwidthOptimal: ([m, ...offsets]) =>
    m - 2 <= offsets.length && range(1, m - 2).every((offset) => offsets.includes(offset)),
};

/**
 * Returns the two offsets of a circulant of degree 4 whose diameter is least among all with two offsets: m and m + 1 for the
 * least m that can reach n nodes, 2m(m+1) + 1 >= n (Zhao 2026, theorem 22, in integers); 1 and 2 for 5 and 6 nodes. Throws
 * InputError below 5 nodes. Parallel links (MultiC) keep the diameter at any even degree; with more offsets it can be less.
 */
export function bestCirculant(nodes: number): readonly [number, number] {
  if (!(Number.isInteger(nodes) && nodes >= 5))
    throw new InputError("a circulant of degree 4", "5 nodes or more", nodes);
  if (nodes <= 6) return [1, 2];
  let m = Math.max(1, Math.floor((Math.sqrt(2 * nodes - 1) - 1) / 2) - 1);
  while (2 * m * (m + 1) + 1 < nodes) m++;
  return [m, m + 1];
}
