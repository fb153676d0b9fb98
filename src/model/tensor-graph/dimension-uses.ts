import type { TensorGraph } from "./graph.ts";

/** Dimensions of a graph by what they are for. */
export interface DimensionUses {
  /** Of what a step is given and no parameter has: samples first, then tokens. */
  readonly data: readonly number[];
  /** Of parameters, but for the one that most have and those of experts. */
  readonly weights: readonly number[];
  /** Of parameters, along which nodes deal out what they select. */
  readonly experts: readonly number[];
}

/** Returns what the dimensions of a graph are for, by where they occur. O(nodes x rank). */
export function dimensionUses({ nodes, dimensions }: TensorGraph): DimensionUses {
  const parameters = nodes.filter((node) => node.kind === "placeholder" && node.role === "parameter");
  const having = (dim: number): number => parameters.filter(({ dims }) => dims.includes(dim)).length;
  const inParameters = dimensions.map((_, dim) => having(dim));
  const most = inParameters.indexOf(Math.max(...inParameters));
  const data = new Set(
    nodes.flatMap((node) => (node.kind === "placeholder" && node.role === "input" ? node.dims : [])),
  );
  const selected = new Set(
    nodes.flatMap((node) => (node.kind === "einsum" && node.selects && node.phase === "forward" ? node.dims : [])),
  );
  const ofParameters = dimensions.map((_, dim) => dim).filter((dim) => (inParameters[dim] as number) > 0);
  const experts = ofParameters.filter((dim) => dim !== most && selected.has(dim));
  // samples are what most placeholders have; positions have tokens only
  const order = [...data].filter((dim) => inParameters[dim] === 0);
  const isFirst = (dim: number): boolean =>
    nodes.some(({ kind, dims }) => kind === "placeholder" && dims[0] === dim && dims.length > 1);
  return {
    data: [...order.filter(isFirst), ...order.filter((dim) => !isFirst(dim))],
    weights: ofParameters.filter((dim) => dim !== most && !experts.includes(dim)),
    experts,
  };
}
