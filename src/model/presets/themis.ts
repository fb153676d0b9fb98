import { InputError } from "../../base/errors.ts";
import { didYouMean } from "../topology/closest.ts";
import type { Topology } from "../topology/topology.ts";
import type { Expression } from "./expression.ts";
import { type Dimension, type DimensionKind, productTopology } from "./product.ts";

/** One dimension of table 2: kind, size, Gb/s of a link, links per NPU, ns from NPU to NPU. */
type Row = readonly [kind: DimensionKind, size: number, linkGbps: number, links: number, ns: number];

/** Table 2 of Themis (Rashidi et al., ISCA 2022). */
export const THEMIS: Readonly<Record<string, readonly Row[]>> = {
  "2d-sw-sw": [
    ["switch", 16, 200, 6, 700],
    ["switch", 64, 800, 1, 1700],
  ],
  "3d-sw-sw-sw-homo": [
    ["switch", 16, 200, 4, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 800, 1, 1700],
  ],
  "3d-sw-sw-sw-hetero": [
    ["switch", 16, 200, 8, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "3d-fc-ring-sw": [
    ["fc", 8, 200, 7, 700],
    ["ring", 16, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "4d-ring-sw-sw-sw": [
    ["ring", 4, 1000, 2, 20],
    ["switch", 4, 200, 8, 700],
    ["switch", 8, 200, 4, 700],
    ["switch", 8, 400, 1, 1700],
  ],
  "4d-ring-fc-ring-sw": [
    ["ring", 4, 1500, 2, 20],
    ["fc", 8, 200, 7, 700],
    ["ring", 4, 200, 6, 700],
    ["switch", 8, 800, 1, 1700],
  ],
};

/**
 * Returns `themis:NAME`. The links of an NPU in one dimension are shared evenly by its neighbours there (two on a ring, one
 * switch); the table's latency is from NPU to NPU, so each of a switch's two links has half of it.
 */
export function themisTopology(expression: Expression): Topology {
  const { text } = expression;
  const variant = expression.factors[0].args;
  const rows = Object.hasOwn(THEMIS, variant) ? THEMIS[variant] : undefined;
  if (rows === undefined) {
    const names = Object.keys(THEMIS);
    throw new InputError(text, `themis:${names.join("|")}${didYouMean(variant, names)}`, variant);
  }
  const dimensions = rows.map(([kind, size, linkGbps, links, ns]): Dimension => {
    const neighbours = kind === "fc" ? size - 1 : kind === "ring" ? 2 : 1;
    const bytesPerSecond = (linkGbps * links * 1e9) / (8 * neighbours);
    return { kind, size, bytesPerSecond, latencyPs: (kind === "switch" ? ns / 2 : ns) * 1000 };
  });
  return productTopology(text, dimensions, [
    "Themis (ISCA 2022), table 2: links per NPU x link bandwidth, shared by the neighbours of a dimension",
    "NPU-to-NPU latency of the table, half of it on each link of a switch",
  ]);
}
