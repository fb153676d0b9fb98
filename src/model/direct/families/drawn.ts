import { InputError } from "../../../errors.ts";
import { diamond, modifiedDeBruijn } from "../base-graphs.ts";
import type { Digraph } from "../digraph.ts";
import { always, checkParameters, type Family, never } from "./family.ts";

/** The graphs that Zhao 2026 gives as drawings, with schedules that BFB does not find (table A.3, figures A.8 and A.9). */

const DRAWN = {
  selfLoops: never,
  multiEdges: never,
  reverseSymmetric: false,
  bfb: false,
  bandwidthOptimal: always,
} as const;

export const DIAMOND: Family = {
  ...DRAWN,
  name: "Diamond",
  form: "Diamond",
  description: "the Diamond: 8 nodes of degree 2, Moore and bandwidth optimal",
  size: (parameters) => {
    checkParameters("Diamond", parameters, []);
    return { nodes: 8, degree: 2 };
  },
  build: diamond,
};

/** The parameters of table A.3. */
const DRAWN_DE_BRUIJN = [
  [2, 3],
  [2, 4],
  [3, 2],
  [4, 2],
] as const;

export const MODIFIED_DE_BRUIJN: Family = {
  ...DRAWN,
  name: "DBJMod",
  form: "DBJMod(d,n)",
  description: "de Bruijn digraph, loops and 2-cycles made one cycle: (2,3), (2,4), (3,2), (4,2)",
  size: (parameters) => {
    checkParameters("DBJMod(d,n)", parameters, [2, 1]);
    const [d, n] = parameters;
    if (!DRAWN_DE_BRUIJN.some(([a, b]) => a === d && b === n)) {
      const expected = `parameters of table A.3: ${DRAWN_DE_BRUIJN.map(([a, b]) => `(${a},${b})`).join(", ")}`;
      throw new InputError(`DBJMod(${d},${n})`, expected, [d, n]);
    }
    return { nodes: d ** n, degree: d };
  },
  build: ([d, n]) => modifiedDeBruijn(d, n) as Digraph,
};
