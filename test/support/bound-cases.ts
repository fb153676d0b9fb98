import { boundOf, limitOf } from "../../src/model/bounds/bounds.ts";
import type { Bound } from "../../src/model/bounds/witness.ts";
import type { Collective, NamedCollective } from "../../src/model/collective/collective.ts";
import { toNumber } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { SwitchDegree } from "../../src/model/routes/switch-degrees.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { wholeCollective } from "./synthesis.ts";

export const network = (t: Topology | string): Topology => (typeof t === "string" ? presetTopology(t) : t);

/** Returns the bound of a collective over port routes, unless said otherwise. */
export function bound(t: Topology, c: Collective, degree: SwitchDegree = "ports"): Bound {
  const routes = routesOf(t, degree);
  return boundOf(t, c, routes, routeTimes(t, routes, c.chunkBytes));
}

export const boundUs = (t: Topology | string, kind: NamedCollective, size: number, chunks = 1, root = 0): number =>
  toNumber(bound(network(t), wholeCollective(network(t), kind, size, chunks, root)).ps) / 1e6;

export const limitUs = (t: Topology | string, kind: NamedCollective, size: number, chunks = 1, root = 0): number =>
  toNumber(limitOf(network(t), wholeCollective(network(t), kind, size, chunks, root)).ps) / 1e6;
