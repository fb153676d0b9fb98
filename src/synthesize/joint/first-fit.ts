import { draw, shuffle } from "../../base/random.ts";
import { groupedBy } from "../../model/graph/graph.ts";
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
 * O(cells x routes x errands), 32 errands at a time where the tail has nothing for the head.
 */
export function firstFit(table: CellTable, seed: number, noise: number, forwardFirst: boolean): void {
  const { network, errands, cells, owner, arrival, wants } = table;
  const { npus, links, routes, lengths } = network;
  const holders = Int32Array.from(errands, ({ sources }) => sources.length);
  const sides = [false, true].map((reversed) => {
    const own = errands.flatMap((errand, e) => (errand.reversed === reversed && errand.wanted.length > 1 ? [e] : []));
    const entering = groupedBy(reversed ? routes.source : routes.target, npus);
    const words = Math.ceil(own.length / 32);
    // [npus][words] errands that the NPU has or will have, and those that it wants and lacks
    const [has, lacks] = [new Int32Array(npus * words), new Int32Array(npus * words)];
    own.forEach((e, i) => {
      for (let v = 0; v < npus; v++) {
        const there = arrival[e * npus + v] >= 0;
        if (there) has[v * words + (i >> 5)] |= 1 << (i & 31);
        else if (wants[e * npus + v] === 1) lacks[v * words + (i >> 5)] |= 1 << (i & 31);
      }
    });
    return { reversed, errands: own, entering, words, has, lacks };
  });
  const shortest = Int32Array.from(routes.source, (_, r) => Math.min(...lengths.map((length) => length[r])));
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
      const { words, has, lacks } = side;
      if (words === 0) continue;
      shuffle(order, 0, npus, seed, 2 * now + (side.reversed ? 3 : 2));
      for (const head of order) {
        const ways = side.entering.items.slice(side.entering.offset[head], side.entering.offset[head + 1]);
        shuffle(ways, 0, ways.length, seed + 1, now * npus + head);
        for (const route of ways) {
          // a transfer that is longer needs the same cells and more
          let freeFor = 0;
          let takenFor = cells - now + 1;
          const fits = (length: number): boolean => {
            if (length <= freeFor) return true;
            if (length >= takenFor) return false;
            const free = isFree(route, firstCell(cells, side.reversed, now + length, length), length);
            if (free) freeFor = length;
            else takenFor = length;
            return free;
          };
          if (!fits(shortest[route])) continue;
          const tail = tailOf(routes, side.reversed, route);
          let best = -1;
          let bestAt = 0;
          let least = Number.POSITIVE_INFINITY;
          for (let word = 0; word < words; word++) {
            for (let bits = has[tail * words + word] & lacks[head * words + word]; bits !== 0; bits &= bits - 1) {
              const at = 32 * word + 31 - Math.clz32(bits & -bits);
              const e = side.errands[at];
              if (arrival[e * npus + tail] > now) continue;
              x = (Math.imul(0x9e3779b1, x) + 0x7f4a7c15) >>> 0;
              const score = 256 * holders[e] + Math.floor((x * spread) / 4294967296);
              if (score >= least) continue;
              const length = lengths[errands[e].sizeClass][route];
              if (!fits(length)) continue;
              least = score;
              best = e;
              bestAt = at;
            }
          }
          if (best < 0) continue;
          holders[best]++;
          has[head * words + (bestAt >> 5)] |= 1 << (bestAt & 31);
          lacks[head * words + (bestAt >> 5)] &= ~(1 << (bestAt & 31));
          const length = lengths[errands[best].sizeClass][route];
          deliver(table, best * npus + headOf(routes, side.reversed, route), route, now + length);
        }
      }
    }
  }
}
