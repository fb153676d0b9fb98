import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { mirrorRoutes } from "../../model/slots/slot-schedule.ts";
import type { PhaseTransfers } from "./assemble.ts";
import type { Phase } from "./network.ts";

/**
 * Returns whether the second phase undoes the first: it is the same collective on the network turned around (all-reduce).
 * Then the transfers of one are those of the other, over the mirrors of their routes, where the network equals its reverse.
 */
export function mirrorsPhase(first: Phase, second: Phase): boolean {
  const [a, b] = [first.collective, second.collective];
  const everyoneGets = a.post.kind === "group" && b.post.kind === "group";
  return first.reversed && !second.reversed && everyoneGets && a.pre === b.pre && !first.unicast && !second.unicast;
}

/**
 * Returns whether turning every route into its mirror turns the routes of each link into those of one other link, with the
 * same shares: then transfers fit side by side on the mirrors where they do on the routes. O(route links).
 */
function mirrorsLinks({ linkOffset, links, shareNum, shareDen }: RouteSet, mirror: Int32Array): boolean {
  const twin = new Map<number, number>();
  for (let route = 0; route < mirror.length; route++) {
    const [from, to] = [linkOffset[route], linkOffset[route + 1]];
    const behind = linkOffset[mirror[route] + 1] - 1;
    if (to - from !== behind + 1 - linkOffset[mirror[route]]) return false;
    for (let i = from; i < to; i++) {
      const j = behind - (i - from);
      if (shareNum[i] !== shareNum[j] || shareDen[i] !== shareDen[j]) return false;
      if ((twin.get(links[i]) ?? links[j]) !== links[j]) return false;
      twin.set(links[i], links[j]);
    }
  }
  return true;
}

/**
 * Returns the transfers of a phase that was synthesized on the reversed network as those of the same phase on the network
 * itself, or null where the two networks differ. O(transfers).
 */
export function mirrored(transfers: PhaseTransfers): PhaseTransfers | null {
  const { routes, slotPs } = transfers;
  const npus = routes.source.reduce((most, v, r) => Math.max(most, v, routes.target[r]), -1) + 1;
  const mirror = mirrorRoutes(routes, npus);
  if (mirror === null || !mirrorsLinks(routes, mirror)) return null;
  for (let route = 0; route < routeCount(routes); route++) {
    if (slotPs[mirror[route]] !== slotPs[route]) return null;
  }
  const route = new Int32Array(transfers.route.length);
  for (let i = 0; i < route.length; i++) route[i] = mirror[transfers.route[i]];
  return { ...transfers, route, reversed: false, reduces: false };
}
