import type { Collective } from "../../src/model/collective/collective.ts";
import type { Rational } from "../../src/model/numbers/rational.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import type { Certificate, NetworkSymmetry, TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { forestOf } from "./tree-flows.ts";

/** Tree flows as lists of lists, for writing and changing them by hand. */
export interface PlainTree {
  root: number;
  copies: number;
  /** [members - 1] links of each edge, from the root outwards. */
  edges: number[][];
}

export interface PlainForest {
  direction: "out" | "in";
  y: Rational;
  trees: PlainTree[];
}

export interface PlainFlow {
  topology: Topology;
  collective: Collective;
  forests: PlainForest[];
  concurrent: boolean;
  symmetry: { sizes: number[]; steps: number[][] } | null;
  certificate: Certificate | null;
}

/** Returns the flow in columns. */
export const builtTrees = ({
  topology,
  collective,
  forests,
  concurrent,
  symmetry,
  certificate,
}: PlainFlow): TreeFlow => ({
  kind: "trees",
  topology,
  collective,
  forests: forests.map(({ direction, y, trees }) => forestOf(topology, direction, trees, y)),
  concurrent,
  symmetry: symmetry === null ? null : symmetryOf(symmetry),
  certificate,
});

const symmetryOf = ({ sizes, steps }: NonNullable<PlainFlow["symmetry"]>): NetworkSymmetry => ({
  sizes,
  steps: steps.map((step) => Int32Array.from(step)),
});

/** Returns a copy whose lists may be changed. */
export const copiedTrees = (flow: PlainFlow): PlainFlow => ({
  ...flow,
  forests: flow.forests.map(({ direction, y, trees }) => ({
    direction,
    y,
    trees: trees.map(({ root, copies, edges }) => ({ root, copies, edges: edges.map((edge) => [...edge]) })),
  })),
  symmetry:
    flow.symmetry === null
      ? null
      : { sizes: [...flow.symmetry.sizes], steps: flow.symmetry.steps.map((step) => [...step]) },
});
