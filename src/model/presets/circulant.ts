import { InputError } from "../../base/errors.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import {
  count,
  DEFAULT_BYTES_PER_SECOND,
  DEFAULT_LATENCY_PS,
  type Expression,
  perDimension,
  refuseHuge,
} from "./expression.ts";

/**
 * Returns `circulant:N,A,B,...`: NPU i has a link to i + A, i - A, i + B, i - B ... modulo N, declared in this order; one link
 * where an offset is N / 2. The k-th bandwidth and latency belong to the k-th offset. Every translation leaves it as it is.
 */
export function circulant(expression: Expression): Topology {
  const { text, factors } = expression;
  const form = "circulant:N,A[,B...] (N NPUs, offsets below N)";
  const [size = "", ...rest] = factors[0].args.split(",").map((part) => part.trim());
  if (rest.length === 0) throw new InputError(text, form, factors[0].args);
  const npus = count(size, "the number of NPUs", text);
  const offsets = rest.map((digits) => count(digits, "an offset", text));
  const seen = new Set<number>();
  for (const offset of offsets) {
    if (offset >= npus) throw new InputError(`an offset in ${text}`, `a number below ${npus}`, offset);
    const shorter = Math.min(offset, npus - offset);
    if (seen.has(shorter)) throw new InputError(text, "offsets that lead to different NPUs", offset);
    seen.add(shorter);
  }
  const steps = offsets.map((offset) => (2 * offset === npus ? [offset] : [offset, npus - offset]));
  const links = npus * steps.reduce((sum, both) => sum + both.length, 0);
  refuseHuge(links, text);
  const bandwidth = perDimension(expression.bandwidths, offsets.length, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const latency = perDimension(expression.latencies, offsets.length, DEFAULT_LATENCY_PS, "latency", text);

  const builder = topologyBuilder(text, links);
  builder.addNumberedNpus(npus);
  for (let npu = 0; npu < npus; npu++) {
    steps.forEach((both, k) => {
      for (const step of both) builder.addLink(npu, (npu + step) % npus, bandwidth[k], latency[k]);
    });
  }
  return builder.build({ shape: [npus], sources: ["circulant graph: every NPU linked to those at the given offsets"] });
}
