import type { Collective } from "../model/collective/collective.ts";
import type { Topology } from "../model/topology/topology.ts";
import { ALGORITHMS } from "./catalog.ts";
import type { Maker } from "./maker.ts";

/**
 * Returns what an algorithm needs for a collective on a network and does not find, a noun phrase ("a number of NPUs that is a
 * power of two"); null where it can be used.
 */
export function refusalOf(
  maker: Pick<Maker, "name" | "collectives" | "refuses">,
  topology: Topology,
  collective: Collective,
): string | null {
  const { name, collectives } = maker;
  if (!collectives.includes(collective.kind)) return `a collective that it makes (${collectives.join(", ")})`;
  const needed = maker.refuses?.(topology, collective) ?? null;
  if (needed === null) return null;
  const own = ` for ${name}`;
  return (needed.endsWith(own) ? needed.slice(0, -own.length) : needed).replace(/,$/, "");
}

/** Returns the names of the algorithms that make a collective on a network without further options, in the catalogue's order. */
export function applicableTo(topology: Topology, collective: Collective): string[] {
  return ALGORITHMS.filter((maker) => refusalOf(maker, topology, collective) === null).map(({ name }) => name);
}
