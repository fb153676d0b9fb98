import { InputError } from "../../base/errors.ts";
import type { Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import {
  DEFAULT_BYTES_PER_SECOND,
  DEFAULT_LATENCY_PS,
  type Expression,
  perDimension,
  refuseHuge,
  sizes,
} from "./expression.ts";

/**
 * Returns `dragonfly:AxG`: G groups of A NPUs, id = a + A*g. Groups are fully connected (first bandwidth); one global link
 * joins each two groups (second bandwidth): port p of group g, p in 0 .. G-2, leads to group g + p + 1 and sits on NPU p mod A.
 * `dragonfly:4x5` has one global link per NPU; other sizes have G-1 over A of them (the arrangement turns with the groups).
 */
export function dragonfly(expression: Expression): Topology {
  const { text } = expression;
  const given = sizes(expression.factors[0], text);
  if (given.length !== 2) throw new InputError(text, "dragonfly:AxG (G groups of A NPUs)", `${given.length} sizes`);
  const [perGroup, groups] = given;
  const [local, global] = perDimension(expression.bandwidths, 2, DEFAULT_BYTES_PER_SECOND, "bandwidth", text);
  const [localPs, globalPs] = perDimension(expression.latencies, 2, DEFAULT_LATENCY_PS, "latency", text);
  const npus = perGroup * groups;
  const links = npus * (perGroup - 1) + groups * (groups - 1);
  refuseHuge(Math.max(npus, links), text);

  const builder = topologyBuilder(text, links);
  const traits = Array.from({ length: groups }, (_, group) => ({ group: `group${group}` }));
  builder.addNumberedNpus(npus, (npu) => traits[Math.floor(npu / perGroup)]);
  for (let group = 0; group < groups; group++) {
    for (let a = 0; a < perGroup; a++) {
      const npu = group * perGroup + a;
      for (let step = 1; step < perGroup; step++) {
        builder.addLink(npu, group * perGroup + ((a + step) % perGroup), local, localPs);
      }
      for (let port = a; port < groups - 1; port += perGroup) {
        const peer = (group + port + 1) % groups;
        builder.addLink(npu, peer * perGroup + ((groups - 2 - port) % perGroup), global, globalPs);
      }
    }
  }
  return builder.build({
    shape: [perGroup, groups],
    sources: ["dragonfly: groups fully connected, one global link between each two groups"],
  });
}
