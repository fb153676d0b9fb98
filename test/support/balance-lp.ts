import type { LpSolver } from "../../src/engine/contract/programs.ts";

/** Returns the least greatest load of the ports by LP (3.1) of Zhao 2026: shards 1 each, over their ports. */
export function leastLoadByLp(solver: LpSolver, shards: ReadonlyMap<number, readonly number[]>): number {
  const edges = [...shards].flatMap(([node, ports]) => ports.map((port) => ({ node, port })));
  const ports = [...new Set(edges.map(({ port }) => port))];
  const load = edges.length;
  const rows = [
    ...ports.map((port) => ({
      terms: termsOf(edges, (edge) => edge.port === port, [[load, -1]]),
      least: null,
      most: 0,
    })),
    ...[...shards.keys()].map((node) => ({ terms: termsOf(edges, (edge) => edge.node === node), least: 1, most: 1 })),
  ];
  const terms = rows.flatMap((row) => row.terms);
  const offset = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offset[i + 1] = offset[i] + row.terms.length;
  });
  const solution = solver.solve({
    objective: Float64Array.from({ length: load + 1 }, (_, j) => (j === load ? -1 : 0)),
    lower: new Float64Array(load + 1),
    upper: new Float64Array(load + 1).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: Float64Array.from(rows, ({ least }) => least ?? Number.NEGATIVE_INFINITY),
      upper: Float64Array.from(rows, ({ most }) => most),
      offset,
      column: Int32Array.from(terms, ([column]) => column),
      value: Float64Array.from(terms, ([, value]) => value),
    },
  });
  if (solution.status !== "optimal") throw new Error(`the linear program is ${solution.status}`);
  return -solution.objective;
}

type Edge = { readonly node: number; readonly port: number };
type Term = readonly [column: number, value: number];

const termsOf = (edges: readonly Edge[], holds: (edge: Edge) => boolean, more: readonly Term[] = []): Term[] => [
  ...edges.flatMap((edge, j): Term[] => (holds(edge) ? [[j, 1]] : [])),
  ...more,
];
