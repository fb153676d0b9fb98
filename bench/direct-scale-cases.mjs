// The sizes of direct-connect networks that are measured, with the most seconds asked of the native backend.

import { random } from "../dist/base/random.js";
import { graphOf } from "../dist/model/direct/construction.js";
import { digraph } from "../dist/model/direct/digraph.js";
import { parseConstruction } from "../dist/model/direct/parse.js";

const SEED = 7;

/** Returns a digraph of the union of `degree` permutations that move every node, no arc twice. */
function randomRegular(nodes, degree) {
  const { below } = random(SEED);
  const targets = Array.from({ length: nodes }, () => []);
  const isTaken = (v, w) => v === w || targets[v].includes(w);
  for (let k = 0; k < degree; k++) {
    const image = Int32Array.from({ length: nodes }, (_, v) => v);
    const swap = (i, j) => {
      [image[i], image[j]] = [image[j], image[i]];
    };
    for (let i = nodes - 1; i > 0; i--) swap(i, below(i + 1));
    for (let v = 0; v < nodes; v++) {
      while (isTaken(v, image[v])) {
        const other = below(nodes);
        swap(v, other);
        if (isTaken(v, image[v]) || isTaken(other, image[other])) swap(v, other);
      }
    }
    for (let v = 0; v < nodes; v++) targets[v].push(image[v]);
  }
  return digraph(nodes, (v) => targets[v]);
}

const named = (name) => () => graphOf(parseConstruction(name));
/** Every node is computed, though one would stand for all. */
const allOf = (name) => () => ({ ...graphOf(parseConstruction(name)), translations: null });

const HYPERCUBE = { name: "Q(10)", graph: allOf("Q(10)"), isLeast: true, peers: ["wasm", "js"] };
const TORUS = { name: "Torus(50,50)", graph: allOf("Torus(50,50)"), isLeast: true, peers: ["wasm", "js"] };
const TWISTED = {
  name: "TwistedTorus(142,71)",
  graph: allOf("TwistedTorus(142,71)"),
  isLeast: true,
  peers: ["wasm", "js"],
};
const RANDOM = { name: "random, 4 regular, N = 10,000", graph: () => randomRegular(10_000, 4), peers: ["wasm", "js"] };
const CIRCULANT = "C(100000,{316,317})";

/**
 * Breadth-first broadcasts. `isLeast`: T_B is (N - 1) / N. `schedule`: the rows too, with the parts that loads ask for. `runs`
 * of each backend; `peers`: backends beside the native one.
 */
export const BROADCASTS = [
  { ...HYPERCUBE, runs: 5, asked: 0.1 },
  { ...TORUS, runs: 5, asked: 0.1 },
  { ...HYPERCUBE, schedule: true, runs: 3, asked: 0.5 },
  { ...TORUS, schedule: true, runs: 3, asked: 0.5 },
  { ...TWISTED, runs: 1, asked: 10 },
  { ...RANDOM, runs: 1, asked: 10 },
  // the only one where a node stands for all
  { name: CIRCULANT, graph: named(CIRCULANT), isLeast: true, peers: ["wasm", "js"], runs: 5, asked: 1 },
];

/** All-to-alls, certified within 1 %. */
export const ALL_TO_ALLS = [
  { name: "Pi(4,1024)", graph: named("Pi(4,1024)"), runs: 3, asked: 10 },
  { name: "C(16384,{90,91})", graph: named("C(16384,{90,91})"), runs: 3, asked: 2 },
  { name: "random, 4 regular, N = 512", graph: () => randomRegular(512, 4), runs: 1, asked: 60 },
];

/** The finder: one size, and all sizes up to `most` of these degrees. */
export const ONE_SIZE = { nodes: 1024, degree: 4, runs: 3, asked: 2, allreduceUs: 291 };
export const ALL_SIZES = { degrees: [2, 4, 8, 16], most: 2000, runs: 1, asked: 60 };
