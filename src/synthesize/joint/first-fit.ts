import { groupedBy } from "../../model/graph.ts";
import { draw, shuffle } from "../../random.ts";
import { type CellTable, cellsOfRoutes, deliver, firstCell, headOf, tailOf } from "./cell-table.ts";

/** Returns about how many array cells a first fit reads. */
export function firstFitCost({ cells, network, errands }: CellTable): number {
  const spreading = errands.filter(({ wanted }) => wanted.length > 1).length;
  return cells * (network.routes.source.length * (1 + spreading / 2) + cellsOfRoutes(network));
}

/**
 * Fills a table greedily, both ends of time at once: cell row s from the front with the errands that run forwards, row s
 * from the back with the reversed ones. Each free route into an NPU takes, of the errands that its tail has and its head
 * wants and lacks, the one that the fewest NPUs have (rarest first, with `noise` NPUs of random: one source with many
 * chunks needs the choice over all of them). This is TACOS's matching (TACOS 2024, Algorithm 1) on a table that others
 * share; what finds no cell in time stays missing. NPUs that do not want an errand are not used, and
 * errands that one NPU wants are left out: only relays bring them far.
 * O(cells x routes x errands).
 */
export function firstFit(table: CellTable, seed: number, noise: number, forwardFirst: boolean): void {
  const { network, errands, cells, owner, arrival, wants } = table;
  const { npus, links, routes, lengths } = network;
  const holders = Int32Array.from(errands, ({ sources }) => sources.length);
  const sides = [false, true].map((reversed) => ({
    reversed,
    errands: errands.flatMap((errand, e) => (errand.reversed === reversed && errand.wanted.length > 1 ? [e] : [])),
    entering: groupedBy(reversed ? routes.source : routes.target, npus),
  }));
  const order = Int32Array.from({ length: npus }, (_, v) => v);
  const spread = Math.max(1, Math.round(256 * noise));
  let x = draw(seed, 1, 0);

  const isFree = (route: number, first: number, length: number): boolean => {
    for (let row = first; row < first + length; row++) {
      for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
        if (owner[row * links + routes.links[i]] >= 0) return false;
      }
    }
    return true;
  };

  for (let now = 0; now < cells; now++) {
    for (const side of forwardFirst ? sides : sides.slice().reverse()) {
      if (side.errands.length === 0) continue;
      shuffle(order, 0, npus, seed, 2 * now + (side.reversed ? 3 : 2));
      for (const head of order) {
        const ways = side.entering.items.slice(side.entering.offset[head], side.entering.offset[head + 1]);
        shuffle(ways, 0, ways.length, seed + 1, now * npus + head);
        for (const route of ways) {
          const tail = tailOf(routes, side.reversed, route);
          let best = -1;
          let least = Number.POSITIVE_INFINITY;
          for (const e of side.errands) {
            const there = arrival[e * npus + tail];
            const place = e * npus + head;
            if (there < 0 || there > now || wants[place] === 0 || arrival[place] >= 0) continue;
            x = (Math.imul(0x9e3779b1, x) + 0x7f4a7c15) >>> 0;
            const score = 256 * holders[e] + Math.floor((x * spread) / 4294967296);
            if (score >= least) continue;
            const length = lengths[errands[e].sizeClass][route];
            if (now + length > cells) continue;
            if (!isFree(route, firstCell(cells, side.reversed, now + length, length), length)) continue;
            least = score;
            best = e;
          }
          if (best < 0) continue;
          holders[best]++;
          const length = lengths[errands[best].sizeClass][route];
          deliver(table, best * npus + headOf(routes, side.reversed, route), route, now + length);
        }
      }
    }
  }
}
