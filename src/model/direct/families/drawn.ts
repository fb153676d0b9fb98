import { InputError } from "../../../base/errors.ts";
import { diamond, MODIFIED_DE_BRUIJN_PARAMETERS, modifiedDeBruijn } from "../base-graphs.ts";
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

const DRAWN_DE_BRUIJN = MODIFIED_DE_BRUIJN_PARAMETERS.map((pair) => `(${pair})`).join(", ");

export const MODIFIED_DE_BRUIJN: Family = {
  ...DRAWN,
  name: "DBJMod",
  form: "DBJMod(d,n)",
  description: `de Bruijn digraph, loops and 2-cycles made one cycle: ${DRAWN_DE_BRUIJN}`,
  size: (parameters) => {
    checkParameters("DBJMod(d,n)", parameters, [2, 1]);
    const [d, n] = parameters;
    if (!MODIFIED_DE_BRUIJN_PARAMETERS.includes(`${d},${n}`)) {
      throw new InputError(`DBJMod(${d},${n})`, `parameters of table A.3: ${DRAWN_DE_BRUIJN}`, [d, n]);
    }
    return { nodes: d ** n, degree: d };
  },
  build: ([d, n]) => modifiedDeBruijn(d, n) as Digraph,
};
