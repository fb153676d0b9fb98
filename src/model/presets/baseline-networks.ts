import { InputError } from "../../base/errors.ts";
import { doubleBinaryTree } from "../graph/double-binary-tree.ts";
import { gcd } from "../numbers/integers.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import { circulant } from "./circulant.ts";
import {
  count,
  DEFAULT_BYTES_PER_SECOND,
  DEFAULT_LATENCY_PS,
  type Expression,
  perDimension,
  refuseHuge,
} from "./expression.ts";

/** Networks wired for one algorithm, which direct-connect networks are compared with (Zhao 2026, 3.8.2). */

function npusOf({ factors, text }: Expression, least: number): number {
  const npus = count(factors[0].args, "the number of NPUs", text);
  if (npus < least) throw new InputError(text, `${least} NPUs or more`, npus);
  return npus;
}

/**
 * Returns `shifted-ring:N`: two rings, both ways, over the steps 1 and the least one above it that is prime to N and is not its
 * opposite: the circulant C(N, {1, a}).
 */
export function shiftedRing(expression: Expression): Topology {
  const { text, factors } = expression;
  const npus = npusOf(expression, 5);
  let shift = 2;
  while (2 * shift < npus && gcd(shift, npus) !== 1) shift++;
  if (2 * shift >= npus) throw new InputError(text, "a number of NPUs that has two rings (not 6)", npus);
  const topology = circulant({ ...expression, factors: [{ ...factors[0], args: `${npus},1,${shift}` }] });
  return { ...topology, sources: [`rings of steps 1 and ${shift}, both ways, as in TopoOpt's data-parallel networks`] };
}

/** Returns `dbt:N`: the edges of two binary trees, both ways, at most 4 links a NPU each way; an edge of both is there twice. */
export function doubleBinaryTreeNetwork(expression: Expression): Topology {
  const { text } = expression;
  const npus = npusOf(expression, 2);
  refuseHuge(4 * npus, text);
  const [bandwidth] = perDimension(expression.bandwidths, 1, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [latency] = perDimension(expression.latencies, 1, DEFAULT_LATENCY_PS, "latency", text);
  const builder = topologyBuilder(text, 4 * npus);
  builder.addNumberedNpus(npus);
  for (const parent of doubleBinaryTree(npus)) {
    parent.forEach((up, npu) => {
      if (up >= 0) builder.addDuplex(npu, up, bandwidth, latency);
    });
  }
  return builder.build({ shape: [], sources: ["the links of a double binary tree (Sanders, Speck and Traeff, 2009)"] });
}
