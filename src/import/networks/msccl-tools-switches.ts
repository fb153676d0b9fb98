import { InputError } from "../../base/errors.ts";
import type { TopologyBuilder } from "../../model/topology/topology-builder.ts";
import { asInteger, asList } from "../text/json-value.ts";

/** Ranks under one switch, and the chunks a round that each may send into it and receive from it. */
export interface PortLimit {
  readonly ranks: ReadonlySet<number>;
  readonly out: Map<number, number>;
  readonly in: Map<number, number>;
}

/**
 * Returns the switches in msccl-tools's `switches`, a list of (sources, destinations, chunks a round, name), each a limit on
 * what the sources together send to the destinations. Limits of one source or one destination are ports; those of the same
 * ranks make a switch, which must have a port each way for each of its ranks. Throws InputError for other limits.
 */
export function portLimits(value: unknown, place: string, ranks: number): PortLimit[] {
  const limits = new Map<string, PortLimit>();
  const list = value === undefined || value === null ? [] : asList(value, place);
  list.forEach((entry, i) => {
    const at = `${place}[${i}]`;
    const [sources, destinations, count] = asList(entry, at, "sources, destinations, chunks a round and a name");
    const from = ranksOf(sources, `${at}[0]`, ranks);
    const to = ranksOf(destinations, `${at}[1]`, ranks);
    const rate = asInteger(count, `${at}[2]`, 1, 1e6);
    const members = [...new Set([...from, ...to])].sort((a, b) => a - b);
    const key = members.join();
    const limit = limits.get(key) ?? { ranks: new Set(members), out: new Map(), in: new Map() };
    limits.set(key, limit);
    const whole = members.length === from.length + to.length;
    if (!whole || (from.length !== 1 && to.length !== 1)) {
      throw new InputError(
        at,
        "the port of one rank (one source or one destination)",
        `${from.length} to ${to.length}`,
      );
    }
    if (from.length === 1) limit.out.set(from[0] as number, rate);
    if (to.length === 1) limit.in.set(to[0] as number, rate);
  });
  for (const { ranks: members, out, in: into } of limits.values()) {
    if (out.size !== members.size || into.size !== members.size) {
      throw new InputError(
        place,
        `a port out and in for each of ${members.size} ranks`,
        `${out.size} out, ${into.size} in`,
      );
    }
  }
  return [...limits.values()];
}

function ranksOf(value: unknown, place: string, ranks: number): number[] {
  const list = asList(value, place, "a list of ranks").map((rank, i) =>
    asInteger(rank, `${place}[${i}]`, 0, ranks - 1),
  );
  if (list.length === 0 || new Set(list).size !== list.length) throw new InputError(place, "different ranks", list);
  return list;
}

/** Adds the switches with their ports; returns the ranks under each. */
export function addPorts(
  builder: TopologyBuilder,
  limits: readonly PortLimit[],
  unit: number,
  latencyPs: number,
): ReadonlySet<number>[] {
  return limits.map(({ ranks, out, in: into }, i) => {
    const hub = builder.addSwitch(`sw${i}`);
    const up = Math.floor(latencyPs / 2);
    for (const rank of ranks) {
      builder.addLink(rank, hub, (out.get(rank) as number) * unit, up);
      builder.addLink(hub, rank, (into.get(rank) as number) * unit, latencyPs - up);
    }
    return ranks;
  });
}
