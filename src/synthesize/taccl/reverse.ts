import { reversedRoutes } from "../../model/routes/routes.ts";
import type { InternodeSketch } from "../../model/sketch/sketch.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import { reversed } from "../../model/topology/topology.ts";

/**
 * Returns the logical topology with every route turned around: copies on it, run backwards in time, are what reductions may do
 * on the network itself. Route ids, links, shares, hyperedges and rotations stay. The paper inverts an all-gather's sends
 * (section 5.3), which then leave boxes by the sketch's receivers; here they keep its senders, so that one sketch holds for
 * both halves of an all-reduce. O(route links).
 */
export function reversedNetwork(network: SketchNetwork): SketchNetwork {
  const { topology, sketch, routes } = network;
  const internode = sketch.internode === null ? null : reversedInternode(sketch.internode);
  return {
    ...network,
    topology: reversed(topology),
    sketch: { ...sketch, internode },
    routes: reversedRoutes(routes),
  };
}

/** Returns the connections turned around; a chunk enters its owner's box by those that its relays send to. */
function reversedInternode(internode: InternodeSketch): InternodeSketch {
  const { connections, relays } = internode;
  // the order of owners is one in which chunks leave a box as a whole, not in which parts of sums do
  const rest = { ...internode, enforceOrdering: false, betaSplit: new Map() };
  if (connections === "direct-map") return rest;
  if (connections === "fully-connected") return { ...rest, relays: null };
  const turned = new Map<number, number[]>();
  for (const [sender, receivers] of connections) {
    for (const receiver of receivers) turned.set(receiver, [...(turned.get(receiver) ?? []), sender]);
  }
  const receiversOf = (senders: readonly number[]): number[] => [
    ...new Set(senders.flatMap((sender) => connections.get(sender) ?? [])),
  ];
  return {
    ...rest,
    connections: turned,
    relays: relays === null ? null : new Map([...relays].map(([owner, senders]) => [owner, receiversOf(senders)])),
  };
}
