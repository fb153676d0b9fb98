import { InputError, InternalError } from "../../../base/errors.ts";
import { type Digraph, digraph } from "../digraph.ts";
import { cayley, checkParameters, type Family, type GraphSize, range, UNDIRECTED } from "./family.ts";
import { CROWN, CUBE, HAMMING } from "./products.ts";
import { CIRCULANT } from "./rings.ts";

/** Point-line geometries over finite fields, and the graphs that join each line to its points. */

/** Lines as lists of points, points numbered from 0. */
interface Geometry {
  readonly points: number;
  readonly lines: readonly (readonly number[])[];
}

/** Returns the incidence graph: points first, then lines. O(incidences). */
function incidenceGraph({ points, lines }: Geometry): Digraph {
  const through: number[][] = Array.from({ length: points }, () => []);
  lines.forEach((line, i) => {
    for (const point of line) through[point].push(points + i);
  });
  return digraph(points + lines.length, (v) => (v < points ? through[v] : lines[v - points]));
}

/** Returns the graph of points that share a line; no two share two lines. O(lines * points of one^2). */
function pointGraph({ points, lines }: Geometry): Digraph {
  const others: number[][] = Array.from({ length: points }, () => []);
  for (const line of lines) for (const a of line) others[a].push(...line.filter((b) => b !== a));
  return digraph(points, (point) => others[point]);
}

/** Returns the geometry whose lines have the points that the lines of another lack. */
const complementary = ({ points, lines }: Geometry): Geometry => ({
  points,
  lines: lines.map((line) => range(0, points - 1).filter((point) => !line.includes(point))),
});

/** Returns the vectors of this many coordinates whose first coordinate above 0 is 1: the points of a projective space. */
function projectivePoints(q: number, coordinates: number): number[][] {
  const points: number[][] = [];
  for (let zeros = coordinates - 1; zeros >= 0; zeros--) {
    const free = coordinates - 1 - zeros;
    for (let code = 0; code < q ** free; code++) {
      const tail = Array.from({ length: free }, (_, i) => Math.floor(code / q ** i) % q);
      points.push([...new Array<number>(zeros).fill(0), 1, ...tail]);
    }
  }
  return points;
}

/** Returns PG(2, q): lines are the points whose vectors are orthogonal to one. */
function projectivePlane(q: number): Geometry {
  const { add, multiply } = fieldOf(q);
  const points = projectivePoints(q, 3);
  const lines = points.map(([a, b, c]) => {
    const line: number[] = [];
    points.forEach(([x, y, z], point) => {
      if (add(add(multiply(a, x), multiply(b, y)), multiply(c, z)) === 0) line.push(point);
    });
    return line;
  });
  return { points: points.length, lines };
}

/** Returns AG(2, q) without the lines x = constant: point (x, y) is x + q y, line y = m x + b is m + q b. */
function affinePlaneLessClass(q: number): Geometry {
  const { add, multiply } = fieldOf(q);
  const lines = Array.from({ length: q * q }, (_, line) => {
    const [m, b] = [line % q, Math.floor(line / q)];
    return Array.from({ length: q }, (_, x) => x + q * add(multiply(m, x), b));
  });
  return { points: q * q, lines };
}

/** Returns the lines of a projective space through two of the points that the predicate joins. O(points^2). */
function linesAmong(
  { q, add, multiply, inverse }: FiniteField,
  points: readonly (readonly number[])[],
  joined: (u: readonly number[], v: readonly number[]) => boolean,
): Geometry {
  const code = (vector: readonly number[]): number => vector.reduceRight((sum, x) => sum * q + x, 0);
  const index = new Map(points.map((point, i) => [code(point), i]));
  const lines: number[][] = [];
  for (let i = 0; i < points.length; i++) {
    for (let j = i + 1; j < points.length; j++) {
      if (!joined(points[i], points[j])) continue;
      const line = [i];
      for (let factor = 0; factor < q; factor++) {
        const sum = points[j].map((x, k) => add(x, multiply(factor, points[i][k])));
        const scale = inverse[sum.find((x) => x !== 0) as number];
        line.push(index.get(code(sum.map((x) => multiply(scale, x)))) as number);
      }
      line.sort((a, b) => a - b);
      if (line[0] === i && line[1] === j) lines.push(line);
    }
  }
  return { points: points.length, lines };
}

/** Returns u[i] v[j] - u[j] v[i]. */
const minorIn =
  ({ subtract, multiply }: FiniteField) =>
  (u: readonly number[], v: readonly number[], i: number, j: number): number =>
    subtract(multiply(u[i], v[j]), multiply(u[j], v[i]));

/** Returns W(q), a generalized quadrangle of order (q, q): the lines of PG(3, q) that a symplectic form vanishes on. */
function generalizedQuadrangle(q: number): Geometry {
  const gf = fieldOf(q);
  const { add } = gf;
  const minor = minorIn(gf);
  return linesAmong(gf, projectivePoints(q, 4), (u, v) => add(minor(u, v, 0, 1), minor(u, v, 2, 3)) === 0);
}

/** Pairs of Grassmann coordinates that are equal on the lines of H(q) (Tits 1959). */
const HEXAGON_LINES = [
  [1, 2, 3, 4],
  [5, 4, 3, 2],
  [2, 0, 3, 5],
  [6, 5, 3, 0],
  [0, 1, 3, 6],
  [4, 6, 3, 1],
] as const;

/**
 * Returns the split Cayley hexagon H(q), a generalized hexagon of order (q, q): the points of the quadric
 * x0 x4 + x1 x5 + x2 x6 = x3^2 of PG(6, q), and those of its lines whose Grassmann coordinates meet Tits's equations.
 */
function generalizedHexagon(q: number): Geometry {
  const gf = fieldOf(q);
  const { add, multiply } = gf;
  const form = (u: readonly number[], v: readonly number[]): number =>
    [0, 1, 2].reduce((sum, i) => add(sum, multiply(u[i], v[i + 4])), 0);
  const points = projectivePoints(q, 7).filter((u) => form(u, u) === multiply(u[3], u[3]));
  const minor = minorIn(gf);
  const joined = (u: readonly number[], v: readonly number[]): boolean => {
    for (const [i, j, k, l] of HEXAGON_LINES) if (minor(u, v, i, j) !== minor(u, v, k, l)) return false;
    const middle = multiply(u[3], v[3]);
    return add(form(u, v), form(v, u)) === add(middle, middle);
  };
  return linesAmong(gf, points, joined);
}

/** Distance-regular graphs (Zhao 2026, definition 17, table A.2), each from its construction. */

/** Returns the line graph of an undirected graph: nodes are edges a < b by (a, b), linked where they share an end. O(arcs). */
function undirectedLineGraph({ nodes, offset, target }: Digraph): Digraph {
  const edgesAt: number[][] = Array.from({ length: nodes }, () => []);
  const ends: (readonly [number, number])[] = [];
  for (let a = 0; a < nodes; a++) {
    for (let arc = offset[a]; arc < offset[a + 1]; arc++) {
      const b = target[arc];
      if (b < a) continue;
      edgesAt[a].push(ends.length);
      edgesAt[b].push(ends.length);
      ends.push([a, b]);
    }
  }
  return digraph(ends.length, (edge) => ends[edge].flatMap((end) => edgesAt[end].filter((other) => other !== edge)));
}

/** Returns rings of m nodes joined like the vertices of a tree; a ring of step s links nodes s apart, one of step 0 none. */
const joinedRings = (m: number, steps: readonly number[], tree: readonly (readonly [number, number])[]): Digraph =>
  digraph(m * steps.length, (v) => {
    const [ring, place] = [Math.floor(v / m), v % m];
    const along = steps[ring] === 0 ? [] : [steps[ring], m - steps[ring]];
    const across = tree.flatMap(([a, b]) => (a === ring ? [b] : b === ring ? [a] : []));
    return [...along.map((step) => ring * m + ((place + step) % m)), ...across.map((other) => other * m + place)];
  });

/** Returns a cycle with a chord at every node, their lengths repeated (Lederberg, Coxeter and Frucht's notation). */
const cycleWithChords = (nodes: number, chords: readonly number[]): Digraph =>
  digraph(nodes, (v) => [1, nodes - 1, nodes + chords[v % chords.length]].map((step) => (v + step) % nodes));

/** Returns Robertson's pentagons and pentagrams: 5 h + j is j of pentagon h, 25 + 5 i + j that of pentagram i. */
const hoffmanSingleton = (): Digraph =>
  digraph(50, (v) => {
    const [which, j] = [Math.floor(v / 5), v % 5];
    const star = which >= 5;
    const along = (star ? [2, 3] : [1, 4]).map((step) => 5 * which + ((j + step) % 5));
    const across = range(0, 4).map((other) =>
      star ? 5 * other + ((j + 5 * 5 - other * (which - 5)) % 5) : 25 + 5 * other + ((other * which + j) % 5),
    );
    return [...along, ...across];
  });

/** Returns Perkel's graph: j of three classes of 19, linked to those of the next class that are a cube root of 7^class away. */
function perkel(): Digraph {
  const away = [1, 7, 11].map((cube) => range(1, 18).filter((x) => x ** 3 % 19 === cube));
  return digraph(57, (v) => {
    const [part, j] = [Math.floor(v / 19), v % 19];
    const [next, last] = [(part + 1) % 3, (part + 2) % 3];
    const ahead = away[part].map((x) => next * 19 + ((j + x) % 19));
    return [...ahead, ...away[last].map((x) => last * 19 + ((j + 19 - x) % 19))];
  });
}

/** Returns Gewirtz's graph: hyperovals of PG(2, 4) that share an even number of points, linked where they share none. */
function gewirtz(): Digraph {
  const { points, lines } = projectivePlane(4);
  const ovals: number[][] = [];
  const extend = (oval: readonly number[]): void => {
    if (oval.length === 6) ovals.push([...oval]);
    else
      for (let point = (oval.at(-1) ?? -1) + 1; point < points; point++) {
        const longer = [...oval, point];
        if (lines.every((line) => line.filter((x) => longer.includes(x)).length < 3)) extend(longer);
      }
  };
  extend([]);
  const shared = (a: readonly number[], b: readonly number[]): number => a.filter((x) => b.includes(x)).length;
  const even = ovals.filter((oval) => shared(oval, ovals[0]) % 2 === 0);
  return digraph(even.length, (v) => [...even.keys()].filter((w) => shared(even[v], even[w]) === 0));
}

/** A family of distance-regular graphs that have no or one parameter, and which of them are built. */
interface Listed {
  readonly family: Family;
  readonly graphs: readonly { readonly parameters: readonly number[]; readonly diameter: number }[];
}

/** A graph without parameters. */
function single(
  name: string,
  { nodes, degree, diameter }: GraphSize & { readonly diameter: number },
  description: string,
  build: () => Digraph,
): Listed {
  const family: Family = {
    ...UNDIRECTED,
    name,
    form: name,
    description: `${description}, ${nodes} nodes of degree ${degree}`,
    size: (parameters) => {
      checkParameters(name, parameters, []);
      return { nodes, degree };
    },
    build,
  };
  return { family, graphs: [{ parameters: [], diameter }] };
}

/** Graphs of table A.2, and others that are no members of a family (Brouwer, Cohen and Neumaier 1989, chapters 11 to 13). */
const SINGLES: readonly Listed[] = [
  single("Octahedron", { nodes: 6, degree: 4, diameter: 2 }, "octahedron J(4,2)", () => CIRCULANT.build([6, 1, 2])),
  single("HeawoodDistance3", { nodes: 14, degree: 4, diameter: 3 }, "distance-3 graph of the Heawood graph", () =>
    incidenceGraph(complementary(projectivePlane(2))),
  ),
  single("LinePetersen", { nodes: 15, degree: 4, diameter: 3 }, "line graph of the Petersen graph", () =>
    undirectedLineGraph(odd(3)),
  ),
  single("LineHeawood", { nodes: 21, degree: 4, diameter: 3 }, "line graph of the Heawood graph", () =>
    undirectedLineGraph(incidenceGraph(projectivePlane(2))),
  ),
  single("LineTutte8", { nodes: 45, degree: 4, diameter: 4 }, "line graph of Tutte's 8-cage", () =>
    undirectedLineGraph(incidenceGraph(generalizedQuadrangle(2))),
  ),
  single("LineTutte12", { nodes: 189, degree: 4, diameter: 6 }, "line graph of Tutte's 12-cage", () =>
    undirectedLineGraph(incidenceGraph(generalizedHexagon(2))),
  ),
  single("Dodecahedron", { nodes: 20, degree: 3, diameter: 5 }, "dodecahedron", () =>
    joinedRings(10, [1, 2], [[0, 1]]),
  ),
  single("Coxeter", { nodes: 28, degree: 3, diameter: 4 }, "Coxeter graph", () =>
    joinedRings(
      7,
      [0, 1, 2, 4],
      [
        [0, 1],
        [0, 2],
        [0, 3],
      ],
    ),
  ),
  single("Foster", { nodes: 90, degree: 3, diameter: 8 }, "Foster graph", () =>
    cycleWithChords(90, [17, -9, 37, -37, 9, -17]),
  ),
  single("BiggsSmith", { nodes: 102, degree: 3, diameter: 7 }, "Biggs-Smith graph", () =>
    joinedRings(
      17,
      [0, 0, 1, 4, 2, 8],
      [
        [0, 1],
        [0, 2],
        [0, 3],
        [1, 4],
        [1, 5],
      ],
    ),
  ),
  single("HoffmanSingleton", { nodes: 50, degree: 7, diameter: 2 }, "Hoffman-Singleton graph", hoffmanSingleton),
  single("Perkel", { nodes: 57, degree: 6, diameter: 3 }, "Perkel graph", perkel),
  single("Gewirtz", { nodes: 56, degree: 10, diameter: 2 }, "Gewirtz graph", gewirtz),
];

/** Returns the graphs that are built over each field from the least order to the most. */
function overFields(
  form: string,
  description: string,
  [least, most]: readonly [number, number],
  diameter: number,
  size: (q: number) => GraphSize,
  build: (q: number) => Digraph,
): Listed {
  const name = form.slice(0, form.indexOf("("));
  const isPlane = form.includes("(2,");
  const family: Family = {
    ...UNDIRECTED,
    name,
    form,
    description,
    size: (parameters) => {
      checkParameters(form, parameters, [2, 2]);
      const [a, q] = parameters;
      if (a !== (isPlane ? 2 : q)) throw new InputError(form, isPlane ? "a plane, 2" : "two equal orders", a);
      if (q < least || q > most || primePower(q) === null) {
        throw new InputError(`q of ${form}`, `a prime power, ${least} to ${most}`, q);
      }
      return size(q);
    },
    build: ([, q]) => build(q),
  };
  const orders = range(least, most).filter((q) => primePower(q) !== null);
  return { family, graphs: orders.map((q) => ({ parameters: [isPlane ? 2 : q, q], diameter })) };
}

const GEOMETRIES: readonly Listed[] = [
  overFields(
    "PG(2,q)",
    "incidence graph of the projective plane over GF(q)",
    [2, 67],
    3,
    (q) => ({ nodes: 2 * (q * q + q + 1), degree: q + 1 }),
    (q) => incidenceGraph(projectivePlane(q)),
  ),
  overFields(
    "AG(2,q)",
    "incidence graph of the affine plane over GF(q) minus a parallel class",
    [2, 67],
    4,
    (q) => ({ nodes: 2 * q * q, degree: q }),
    (q) => incidenceGraph(affinePlaneLessClass(q)),
  ),
  overFields(
    "GQ(q,q)",
    "incidence graph of the generalized quadrangle W(q)",
    [2, 16],
    4,
    (q) => ({ nodes: 2 * (q + 1) * (q * q + 1), degree: q + 1 }),
    (q) => incidenceGraph(generalizedQuadrangle(q)),
  ),
  overFields(
    "GH(q,q)",
    "incidence graph of the split Cayley hexagon H(q)",
    [2, 5],
    6,
    (q) => ({ nodes: 2 * (q + 1) * (q ** 4 + q * q + 1), degree: q + 1 }),
    (q) => incidenceGraph(generalizedHexagon(q)),
  ),
  overFields(
    "LinePG(2,q)",
    "line graph of PG(2,q): a point on a line, linked to those that share either",
    [2, 19],
    3,
    (q) => ({ nodes: (q + 1) * (q * q + q + 1), degree: 2 * q }),
    (q) => undirectedLineGraph(incidenceGraph(projectivePlane(q))),
  ),
  overFields(
    "LineGQ(q,q)",
    "line graph of GQ(q,q)",
    [2, 9],
    4,
    (q) => ({ nodes: (q + 1) ** 2 * (q * q + 1), degree: 2 * q }),
    (q) => undirectedLineGraph(incidenceGraph(generalizedQuadrangle(q))),
  ),
  overFields(
    "LineGH(q,q)",
    "line graph of GH(q,q)",
    [2, 4],
    6,
    (q) => ({ nodes: (q + 1) ** 2 * (q ** 4 + q * q + 1), degree: 2 * q }),
    (q) => undirectedLineGraph(incidenceGraph(generalizedHexagon(q))),
  ),
  overFields(
    "PointGH(q,q)",
    "points of the split Cayley hexagon H(q), linked where they share a line",
    [2, 5],
    3,
    (q) => ({ nodes: (q + 1) * (q ** 4 + q * q + 1), degree: q * (q + 1) }),
    (q) => pointGraph(generalizedHexagon(q)),
  ),
];

const JOHNSON: Family = {
  ...UNDIRECTED,
  name: "J",
  aliases: ["Johnson"],
  form: "J(n,k)",
  description: "Johnson graph: the k-subsets of n, linked where they differ in one element",
  size: (parameters) => {
    checkParameters("J(n,k)", parameters, [2, 1]);
    const [n, k] = parameters;
    if (k >= n) throw new InputError(`k of J(${n},${k})`, `less than ${n}`, k);
    return { nodes: binomial(n, k), degree: k * (n - k) };
  },
  build: ([n, k]) => johnson(n, k),
};

/** O_k on the (k - 1)-subsets of 2k - 1; O_3 is the Petersen graph. */
const ODD: Family = {
  ...UNDIRECTED,
  name: "Odd",
  form: "Odd(k)",
  description: "odd graph: the (k-1)-subsets of 2k-1, linked where they are disjoint",
  size: (parameters) => {
    checkParameters("Odd(k)", parameters, [2]);
    const [k] = parameters;
    return { nodes: binomial(2 * k - 1, k - 1), degree: k };
  },
  build: ([k]) => odd(k),
};

const DOUBLED_ODD: Family = {
  ...UNDIRECTED,
  name: "DoubledOdd",
  form: "DoubledOdd(k)",
  description: "doubled odd graph: the (k-1)- and k-subsets of 2k-1, linked where one contains the other",
  size: (parameters) => {
    checkParameters("DoubledOdd(k)", parameters, [2]);
    const [k] = parameters;
    return { nodes: 2 * binomial(2 * k - 1, k - 1), degree: k };
  },
  build: ([k]) => doubledOdd(k),
};

const MOST_PALEY = 1000;

const PALEY: Family = {
  ...UNDIRECTED,
  name: "Paley",
  form: "Paley(q)",
  description: "Paley graph: the elements of GF(q), linked where they differ by a square",
  size: (parameters) => {
    checkParameters("Paley(q)", parameters, [5]);
    const [q] = parameters;
    if (q > MOST_PALEY || q % 4 !== 1 || primePower(q) === null) {
      throw new InputError("q of Paley(q)", `a prime power 4n + 1, 5 to ${MOST_PALEY}`, q);
    }
    return { nodes: q, degree: (q - 1) / 2 };
  },
  build: ([q]) => {
    const { multiply } = fieldOf(q);
    const squares = new Set(range(1, q - 1).map((x) => multiply(x, x)));
    const { prime, exponent } = primePower(q) ?? { prime: q, exponent: 1 };
    return cayley(
      new Array<number>(exponent).fill(prime),
      [...squares].sort((a, b) => a - b),
    );
  },
};

const LISTED: readonly Listed[] = [...GEOMETRIES, ...SINGLES];

const named = (name: string): Family => LISTED.map(({ family }) => family).find((one) => one.name === name) as Family;

/** Table A.2: by nodes, at degree 4. */
const TABLE_A2: ReadonlyMap<number, readonly [family: Family, parameters: readonly number[]]> = new Map([
  [6, [named("Octahedron"), []]],
  [9, [HAMMING, [2, 3]]],
  [10, [CROWN, [5]]],
  [14, [named("HeawoodDistance3"), []]],
  [15, [named("LinePetersen"), []]],
  [16, [CUBE, [4]]],
  [21, [named("LineHeawood"), []]],
  [26, [named("PG"), [2, 3]]],
  [32, [named("AG"), [2, 4]]],
  [35, [ODD, [4]]],
  [45, [named("LineTutte8"), []]],
  [70, [DOUBLED_ODD, [4]]],
  [80, [named("GQ"), [3, 3]]],
  [189, [named("LineTutte12"), []]],
  [728, [named("GH"), [3, 3]]],
]);

/** Numbers of nodes for which DistReg(4, m) has a graph, ascending. */
export const DISTANCE_REGULAR_SIZES: readonly number[] = [...TABLE_A2.keys()];

const DIST_REG: Family = {
  ...UNDIRECTED,
  name: "DistReg",
  form: "DistReg(4,m)",
  description: `distance-regular graph: m = ${DISTANCE_REGULAR_SIZES.join(", ")}`,
  size: (parameters) => {
    checkParameters("DistReg(4,m)", parameters, [1, 1]);
    const [degree, nodes] = parameters;
    if (degree !== 4) throw new InputError(`DistReg(${degree},${nodes})`, "degree 4 (others are not listed)", degree);
    if (!TABLE_A2.has(nodes)) {
      throw new InputError(`DistReg(4,${nodes})`, `m among ${DISTANCE_REGULAR_SIZES.join(", ")}`, nodes);
    }
    return { nodes, degree };
  },
  build: ([, nodes]) => {
    const [family, parameters] = TABLE_A2.get(nodes) as readonly [Family, readonly number[]];
    return family.build(parameters);
  },
};

export const DISTANCE_REGULAR: readonly Family[] = [
  DIST_REG,
  PALEY,
  JOHNSON,
  ODD,
  DOUBLED_ODD,
  ...LISTED.map(({ family }) => family),
];

/** A distance-regular graph by its family. */
export interface DistanceRegular {
  readonly family: string;
  readonly parameters: readonly number[];
  readonly diameter: number;
}

const sizeKey = (nodes: number, degree: number): number => nodes * 2 ** 20 + degree;

/** By size. */
const LISTED_OF: ReadonlyMap<number, DistanceRegular[]> = LISTED.reduce((all, { family, graphs }) => {
  for (const { parameters, diameter } of graphs) {
    const { nodes, degree } = family.size(parameters);
    const alike = all.get(sizeKey(nodes, degree)) ?? [];
    all.set(sizeKey(nodes, degree), [...alike, { family: family.name, parameters, diameter }]);
  }
  return all;
}, new Map<number, DistanceRegular[]>());

/**
 * Returns the distance-regular graphs of a size and degree that families have, but for complete graphs, their powers and products,
 * which are found otherwise; nothing is built. O(sqrt(nodes) + degree).
 */
export function distanceRegularOf(nodes: number, degree: number): DistanceRegular[] {
  const found = [...(LISTED_OF.get(sizeKey(nodes, degree)) ?? [])];
  const put = (own: number, family: string, parameters: readonly number[], diameter: number): void => {
    if (own === nodes) found.push({ family, parameters, diameter });
  };
  if (degree > 1) {
    put(binomial(2 * degree - 1, degree - 1), "Odd", [degree], degree - 1);
    put(2 * binomial(2 * degree - 1, degree - 1), "DoubledOdd", [degree], 2 * degree - 1);
    put(2 * (degree + 1), "Crown", [degree + 1], 3);
  }
  const isPaley = nodes >= 5 && nodes <= MOST_PALEY && nodes % 4 === 1 && 2 * degree + 1 === nodes;
  if (isPaley && primePower(nodes) !== null) put(nodes, "Paley", [nodes], 2);
  for (let k = 2; k * k <= degree; k++)
    if (degree % k === 0) put(binomial(degree / k + k, k), "J", [degree / k + k, k], k);
  return found;
}

/** Graphs on the subsets of a small set. A subset a < b < c ... has number C(a, 1) + C(b, 2) + C(c, 3) ... among those of its size. */

/** Returns n over k as a double: exact where it is below 2^53. */
function binomial(n: number, k: number): number {
  const fewer = Math.min(k, n - k);
  let ways = fewer < 0 ? 0 : 1;
  for (let i = 1; i <= fewer && ways < Infinity; i++) ways = (ways * (n - fewer + i)) / i;
  return ways;
}

/** The k-subsets of n elements: their number, each one ascending, and the number of one. */
interface Subsets {
  readonly count: number;
  readonly at: (index: number) => number[];
  readonly indexOf: (ascending: readonly number[]) => number;
}

function subsets(n: number, k: number): Subsets {
  /** [size][element] */
  const ways = Array.from({ length: k + 1 }, (_, size) =>
    Float64Array.from({ length: n + 1 }, (_, x) => binomial(x, size)),
  );
  return {
    count: binomial(n, k),
    at: (index) => {
      const chosen = new Array<number>(k);
      let rest = index;
      for (let size = k, x = n - 1; size > 0; size--) {
        while (ways[size][x] > rest) x--;
        rest -= ways[size][x];
        chosen[size - 1] = x;
      }
      return chosen;
    },
    indexOf: (ascending) => ascending.reduce((sum, x, i) => sum + ways[i + 1][x], 0),
  };
}

const outside = (n: number, set: readonly number[]): number[] => range(0, n - 1).filter((x) => !set.includes(x));
const without = (set: readonly number[], x: number): number[] => set.filter((y) => y !== x);

/** Returns an ascending set with another element in its place. */
function added(set: readonly number[], x: number): number[] {
  const place = set.findIndex((y) => y > x);
  return place < 0 ? [...set, x] : [...set.slice(0, place), x, ...set.slice(place)];
}

/** Returns J(n, k): k-subsets that differ in one element are neighbours. */
function johnson(n: number, k: number): Digraph {
  const { count, at, indexOf } = subsets(n, k);
  return digraph(count, (v) => {
    const set = at(v);
    const others = outside(n, set);
    return set.flatMap((gone) => {
      const rest = without(set, gone);
      return others.map((x) => indexOf(added(rest, x)));
    });
  });
}

/** Returns O_k: disjoint (k - 1)-subsets of 2k - 1 elements are neighbours. */
function odd(k: number): Digraph {
  const { count, at, indexOf } = subsets(2 * k - 1, k - 1);
  return digraph(count, (v) => {
    const rest = outside(2 * k - 1, at(v));
    return rest.map((left) => indexOf(without(rest, left)));
  });
}

/** Returns the doubled odd graph: (k - 1)-, then k-subsets of 2k - 1 elements; a set and one that contains it are neighbours. */
function doubledOdd(k: number): Digraph {
  const n = 2 * k - 1;
  const small = subsets(n, k - 1);
  const large = subsets(n, k);
  return digraph(2 * small.count, (v) => {
    if (v < small.count) {
      const set = small.at(v);
      return outside(n, set).map((x) => small.count + large.indexOf(added(set, x)));
    }
    const set = large.at(v - small.count);
    return set.map((x) => small.indexOf(without(set, x)));
  });
}

/** GF(q): elements are 0 .. q - 1, the digits to the base p being coefficients of a polynomial; 0 and 1 are themselves. */
interface FiniteField {
  readonly q: number;
  readonly add: (a: number, b: number) => number;
  readonly subtract: (a: number, b: number) => number;
  readonly multiply: (a: number, b: number) => number;
  /** [q] [0] is 0. */
  readonly inverse: Int32Array;
}

/** Returns the prime p and k of q = p^k, or null where q is no prime power. O(sqrt(q)). */
export function primePower(q: number): { readonly prime: number; readonly exponent: number } | null {
  if (q < 2) return null;
  let prime = 2;
  while (q % prime !== 0) prime = prime * prime > q ? q : prime + 1;
  let exponent = 0;
  let rest = q;
  for (; rest % prime === 0; rest /= prime) exponent++;
  return rest === 1 ? { prime, exponent } : null;
}

/** Returns GF(q). Throws InternalError unless q is a prime power: parameters are checked before. */
function fieldOf(q: number): FiniteField {
  const found = finiteField(q);
  if (found === null) throw new InternalError(`no field of ${q} elements`);
  return found;
}

/** Returns GF(q) for a prime power q, or null for other numbers. O(q^2) at most, O(q) in memory. */
export function finiteField(q: number): FiniteField | null {
  const power = primePower(q);
  if (power === null) return null;
  const { prime, exponent } = power;
  const top = prime ** (exponent - 1);
  /** Returns a + times * b, digit by digit. */
  const combined = (a: number, b: number, times: number): number => {
    let sum = 0;
    for (let place = 1; place < q; place *= prime) {
      sum += ((Math.floor(a / place) + times * Math.floor(b / place)) % prime) * place;
    }
    return sum;
  };
  // the powers of x, where x^k = -lowest, for the first lowest that makes them all elements but 0
  const powers = new Int32Array(q - 1);
  const logarithm = new Int32Array(q);
  for (let lowest = 1; lowest < q; lowest++) {
    let element = 1;
    let order = 0;
    do {
      powers[order] = element;
      logarithm[element] = order++;
      const carry = Math.floor(element / top);
      element = combined((element % top) * prime, lowest, carry * (prime - 1));
    } while (element !== 1 && order < q - 1 && element !== 0);
    if (order < q - 1 || element !== 1) continue;
    const inverse = Int32Array.from({ length: q }, (_, a) => (a === 0 ? 0 : powers[(q - 1 - logarithm[a]) % (q - 1)]));
    return {
      q,
      add: exponent === 1 ? (a, b) => (a + b) % q : (a, b) => combined(a, b, 1),
      subtract: exponent === 1 ? (a, b) => (a - b + q) % q : (a, b) => combined(a, b, prime - 1),
      multiply: (a, b) => (a === 0 || b === 0 ? 0 : powers[(logarithm[a] + logarithm[b]) % (q - 1)]),
      inverse,
    };
  }
  return null;
}
