import { InternalError } from "../../base/errors.ts";
import type { DimensionWiring } from "../dimensions/dimensions-of.ts";
import { type RouteSet, wholeRoutes } from "../routes/routes.ts";
import { outLinks, type Topology } from "../topology/topology.ts";

/** Routes between NPUs of a line over the links of its dimension, numbered as they are first asked for. */
export interface LineRoutes {
  /** Returns the route's number. */
  of(dimension: number, from: number, to: number): number;
  all(): RouteSet;
}

export function lineRoutes(topology: Topology, wiring: readonly DimensionWiring[]): LineRoutes {
  const out = outLinks(topology);
  const numbers = new Map<number, number>();
  const source: number[] = [];
  const target: number[] = [];
  const linkOffset = [0];
  const links: number[] = [];
  const direct = (from: number, to: number): number => {
    for (let k = out.offset[from]; k < out.offset[from + 1]; k++) {
      if (topology.linkTarget[out.links[k]] === to) return out.links[k];
    }
    throw new InternalError(`no link from NPU ${from} to ${to}, neighbours of a line`);
  };
  return {
    of(dimension, from, to) {
      const key = from * topology.npuCount + to;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      const { kind, upLink, downLink } = wiring[dimension];
      if (kind === "switch") links.push(upLink[from], downLink[to]);
      else links.push(direct(from, to));
      source.push(from);
      target.push(to);
      linkOffset.push(links.length);
      numbers.set(key, numbers.size);
      return numbers.size - 1;
    },
    all: () => wholeRoutes(source, target, linkOffset, links),
  };
}
