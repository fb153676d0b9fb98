import { InputError } from "../../../base/errors.ts";
import { type Digraph, digraph } from "../digraph.ts";
import { cayley, checkParameters, type Family, type GraphSize, range, UNDIRECTED } from "./family.ts";
import { fieldOf, primePower } from "./finite-field.ts";
import {
  affinePlaneLessClass,
  complementary,
  type Geometry,
  generalizedHexagon,
  generalizedQuadrangle,
  incidenceGraph,
  projectivePlane,
} from "./geometries.ts";
import { CROWN, CUBE, HAMMING } from "./products.ts";
import { CIRCULANT } from "./rings.ts";
import { binomial, doubledOdd, johnson, odd } from "./subsets.ts";

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

/** A graph without parameters. */
const single = (name: string, nodes: number, description: string, build: () => Digraph): Family => ({
  ...UNDIRECTED,
  name,
  form: name,
  description: `${description}, ${nodes} nodes of degree 4`,
  size: (parameters) => {
    checkParameters(name, parameters, []);
    return { nodes, degree: 4 };
  },
  build,
});

const SINGLES: readonly Family[] = [
  single("Octahedron", 6, "octahedron J(4,2)", () => CIRCULANT.build([6, 1, 2])),
  single("HeawoodDistance3", 14, "distance-3 graph of the Heawood graph", () =>
    incidenceGraph(complementary(projectivePlane(2))),
  ),
  single("LinePetersen", 15, "line graph of the Petersen graph", () => undirectedLineGraph(odd(3))),
  single("LineHeawood", 21, "line graph of the Heawood graph", () =>
    undirectedLineGraph(incidenceGraph(projectivePlane(2))),
  ),
  single("LineTutte8", 45, "line graph of Tutte's 8-cage", () =>
    undirectedLineGraph(incidenceGraph(generalizedQuadrangle(2))),
  ),
  single("LineTutte12", 189, "line graph of Tutte's 12-cage", () =>
    undirectedLineGraph(incidenceGraph(generalizedHexagon(2))),
  ),
];

/** Returns the incidence graphs of a geometry for each field of `least` to `most` elements. */
function incidence(
  name: string,
  form: string,
  description: string,
  [least, most]: readonly [number, number],
  geometry: (q: number) => Geometry,
  size: (q: number) => GraphSize,
): Family {
  const first = form.startsWith(`${name}(2,`) ? 2 : null;
  return {
    ...UNDIRECTED,
    name,
    form,
    description,
    size: (parameters) => {
      checkParameters(form, parameters, [2, 2]);
      const [a, q] = parameters;
      if (a !== (first ?? q)) throw new InputError(form, first === null ? "two equal orders" : "a plane, 2", a);
      if (q < least || q > most || primePower(q) === null) {
        throw new InputError(`q of ${form}`, `a prime power, ${least} to ${most}`, q);
      }
      return size(q);
    },
    build: ([, q]) => incidenceGraph(geometry(q)),
  };
}

const INCIDENCE: readonly Family[] = [
  incidence("PG", "PG(2,q)", "incidence graph of the projective plane over GF(q)", [2, 64], projectivePlane, (q) => ({
    nodes: 2 * (q * q + q + 1),
    degree: q + 1,
  })),
  incidence(
    "AG",
    "AG(2,q)",
    "incidence graph of the affine plane over GF(q) minus a parallel class",
    [2, 64],
    affinePlaneLessClass,
    (q) => ({ nodes: 2 * q * q, degree: q }),
  ),
  incidence(
    "GQ",
    "GQ(q,q)",
    "incidence graph of the generalized quadrangle W(q)",
    [2, 9],
    generalizedQuadrangle,
    (q) => ({ nodes: 2 * (q + 1) * (q * q + 1), degree: q + 1 }),
  ),
  incidence("GH", "GH(q,q)", "incidence graph of the split Cayley hexagon H(q)", [2, 4], generalizedHexagon, (q) => ({
    nodes: 2 * (q + 1) * (q ** 4 + q * q + 1),
    degree: q + 1,
  })),
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

const named = (name: string): Family => [...SINGLES, ...INCIDENCE].find((family) => family.name === name) as Family;

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
  ...INCIDENCE,
  ...SINGLES,
];
