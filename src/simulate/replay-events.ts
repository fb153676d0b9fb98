import { InternalError } from "../errors.ts";
import { MessageNetwork, type Ways } from "./message-network.ts";
import { neverThere, type Plan, planOf } from "./plan.ts";
import type { Rows } from "./rows.ts";

/** Times in the unit of the ways. */
export interface EventReplay {
  readonly last: number;
  /** [links] */
  readonly linkBusy: Float64Array;
  /** [transfers] */
  readonly start: Float64Array;
  /** [transfers] */
  readonly end: Float64Array;
  /** Start per transfer and link of its route, in row order, where asked for. */
  readonly hopStart: Float64Array | undefined;
}

/** When a transfer's chunk is at its source as planned; keeps count while transfers arrive. */
interface Holdings {
  isReady(row: number): boolean;
  arrive(row: number): void;
}

/**
 * Returns the holdings of a plan. A departure with n planned arrivals before it at its place is ready, in a reduction,
 * when those n have arrived (arrivals planned for later are set aside, so the payload is the planned one), else when any of
 * them has. Throws InputError for a transfer whose chunk is never at its source.
 */
function holdingsOf(rows: Rows, { sourcePlace, targetPlace, initial, byArrival }: Plan): Holdings {
  const { startPs, endPs, collectives, tenant } = rows;
  const count = startPs.length;
  const places = initial.length;
  /** [transfers] arrivals planned at the source by the departure, and the turn of the transfer's own arrival. */
  const needed = new Int32Array(count);
  const turn = new Int32Array(count);
  const arrivals = new Int32Array(places);
  let next = 0;
  const takeTurn = (row: number): void => {
    turn[row] = arrivals[targetPlace[row]]++;
    next++;
  };
  for (let i = 0; i < count; i++) {
    while (next < count && endPs[byArrival[next]] <= startPs[i]) takeTurn(byArrival[next]);
    needed[i] = arrivals[sourcePlace[i]];
    if (needed[i] === 0 && initial[sourcePlace[i]] === 0) throw neverThere(rows, i);
  }
  while (next < count) takeTurn(byArrival[next]);
  /** First of the planned arrivals to have come, of each place; for reductions how many have come without a gap. */
  const copies = collectives.some((collective) => !collective.reduces);
  const sums = collectives.some((collective) => collective.reduces);
  const earliest = new Int32Array(copies ? places : 0).fill(count);
  const offset = new Int32Array(sums ? places + 1 : 0);
  for (let place = 0; place < offset.length - 1; place++) offset[place + 1] = offset[place] + arrivals[place];
  const arrived = new Uint8Array(sums ? count : 0);
  const complete = new Int32Array(sums ? places : 0);
  const reduces = (row: number): boolean => collectives[tenant === null ? 0 : tenant[row]].reduces;
  return {
    isReady: (row) => {
      const place = sourcePlace[row];
      if (reduces(row)) return complete[place] >= needed[row];
      return initial[place] === 1 || earliest[place] < needed[row];
    },
    arrive: (row) => {
      const place = targetPlace[row];
      if (!reduces(row)) {
        if (turn[row] < earliest[place]) earliest[place] = turn[row];
        return;
      }
      arrived[offset[place] + turn[row]] = 1;
      while (complete[place] < arrivals[place] && arrived[offset[place] + complete[place]] === 1) complete[place]++;
    },
  };
}

/** Returns for each row the next row that starts with the same link, or -1; and which rows are the first. */
function byFirstLink({ route, routes, topology }: Rows): { follower: Int32Array; atHead: Uint8Array } {
  const last = new Int32Array(topology.linkSource.length).fill(-1);
  const follower = new Int32Array(route.length).fill(-1);
  const atHead = new Uint8Array(route.length);
  for (let i = 0; i < route.length; i++) {
    const link = routes.links[routes.linkOffset[route[i]]];
    if (last[link] < 0) atHead[i] = 1;
    else follower[last[link]] = i;
    last[link] = i;
  }
  return { follower, atHead };
}

/**
 * Returns the schedule replayed as messages in a store-and-forward network. A transfer is handed to the first link of its
 * way (way k * routes + r for route r of collective k) when its chunk is at the source and, with `keepOrder`, when those planned before it on that link have been handed
 * over; from then on links are first come, first served. What becomes ready at the same event goes in planned order.
 * Throws InputError for a schedule that is not valid. O(transfers x links of a route x log events in flight).
 */
export function replayEvents(rows: Rows, ways: Ways, keepOrder: boolean, hops: boolean): EventReplay {
  const plan = planOf(rows);
  const { sourcePlace, targetPlace, initial } = plan;
  const { topology, collectives, tenant } = rows;
  const count = rows.route.length;
  const routes = rows.routes.source.length;
  const route = tenant === null ? rows.route : rows.route.map((r, i) => tenant[i] * routes + r);
  const reduces = (row: number): boolean => collectives[tenant === null ? 0 : tenant[row]].reduces;
  const holdings = holdingsOf(rows, plan);
  const hopOffset = hops ? new Float64Array(count) : undefined;
  let hopTotal = 0;
  if (hopOffset !== undefined) {
    for (let i = 0; i < count; i++) {
      hopOffset[i] = hopTotal;
      hopTotal += ways.offset[route[i] + 1] - ways.offset[route[i]];
    }
  }
  const network = new MessageNetwork(topology.linkSource.length, ways, route, hopOffset, hopTotal);
  const { follower, atHead } = keepOrder
    ? byFirstLink(rows)
    : { follower: new Int32Array(count).fill(-1), atHead: new Uint8Array(count).fill(1) };

  /** [places] rows that wait for the place, ascending, as linked lists. */
  const firstWaiting = new Int32Array(initial.length).fill(-1);
  const lastWaiting = new Int32Array(initial.length).fill(-1);
  const nextWaiting = new Int32Array(count).fill(-1);
  const park = (row: number): void => {
    const place = sourcePlace[row];
    const last = lastWaiting[place];
    let before = last >= 0 && last < row ? last : -1;
    let after = before >= 0 ? -1 : firstWaiting[place];
    while (after >= 0 && after < row) [before, after] = [after, nextWaiting[after]];
    nextWaiting[row] = after;
    if (before < 0) firstWaiting[place] = row;
    else nextWaiting[before] = row;
    if (after < 0) lastWaiting[place] = row;
  };
  /** Hands over a row that is at the head of its link's order, and those behind it that are ready. */
  const handOver = (head: number): void => {
    for (let row = head; row >= 0; row = follower[row]) {
      if (!holdings.isReady(row)) {
        park(row);
        return;
      }
      network.send(row);
    }
  };
  /** Looks again at the rows that wait for a place. Rows need no fewer contributions than rows before them. */
  const wake = (place: number): void => {
    let row = firstWaiting[place];
    if (row < 0 || (reduces(row) && !holdings.isReady(row))) return;
    firstWaiting[place] = -1;
    lastWaiting[place] = -1;
    while (row >= 0) {
      const next = nextWaiting[row];
      nextWaiting[row] = -1;
      handOver(row);
      row = next;
    }
  };

  // at time 0 in planned order over all links: a row's turn comes when it is at the head of its link's order
  for (let row = 0; row < count; row++) {
    if (atHead[row] === 0) continue;
    if (!holdings.isReady(row)) {
      park(row);
      continue;
    }
    network.send(row);
    if (follower[row] >= 0) atHead[follower[row]] = 1;
  }

  const end = new Float64Array(count);
  let arrived = 0;
  let last = 0;
  network.run((transfer, time) => {
    end[transfer] = time;
    last = time;
    arrived++;
    holdings.arrive(transfer);
    wake(targetPlace[transfer]);
  });
  if (arrived < count) throw new InternalError(`${count - arrived} transfers of a replay never arrived`);
  return { last, linkBusy: network.linkBusy, start: network.start, end, hopStart: network.hopStart };
}
