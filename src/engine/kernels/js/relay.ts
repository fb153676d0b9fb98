import { CancelledError } from "../../../base/errors.ts";
import { shuffle } from "../../../base/random.ts";
import type { CancelFlag, RelayProblem, Transfers } from "../../contract/kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { group, type Lists, NONE, touch, touched } from "./lists.ts";
import { ArrivalQueue, groupUsers, LATEST, Resources, shared, slotRanks } from "./ten.ts";

/** The NPUs whose routes use each resource: they are touched when it frees. */
function buildSenders(network: RelayProblem["network"]): Lists {
  const { offset, items } = groupUsers(network);
  return { offset, items: items.map((route) => network.routeSource[route]) };
}

/** The place of each target in its row of `order`. */
function positions(order: Int32Array, npus: number): Int32Array {
  const position = new Int32Array(npus * npus);
  for (let v = 0; v < npus; v++) for (let i = 0; i < npus; i++) position[v * npus + order[v * npus + i]] = i;
  return position;
}

/**
 * The JavaScript twin of native/kernels/relay.h: the same transfers, bit by bit, in the same order.
 * Returns null when problem.maxTransfers was too small.
 */
export function relayJs(problem: RelayProblem, cancel?: CancelFlag): Transfers | null {
  const { network, chunkSource, chunkTarget, distancePs, order, seed, maxTransfers } = problem;
  const { routeSource, routeTarget, useOffset, useResource } = network;
  const npus = network.npuCount;
  const routes = network.slotPs.length;
  const words = (npus + 31) >>> 5;
  const { rank, slot } = slotRanks(network);
  const queue = new ArrivalQueue(slot.length);
  const resources = new Resources(network);
  const outRoutes = group(routeSource, npus);
  const senders = buildSenders(network);
  const position = positions(order, npus);
  const head = new Int32Array(npus * npus).fill(NONE);
  const tail = new Int32Array(npus * npus);
  const next = new Int32Array(chunkSource.length);
  const waiting = new Uint32Array(npus * words);
  const carried = new Int32Array(routes).fill(NONE);
  const start = new Float64Array(routes);
  const free = new Int32Array(routes);
  const assigned = new Int32Array(routes).fill(NONE);
  const visited = new Int32Array(routes);
  const trail = new Int32Array(routes + 1);
  const nodes = touched(npus);
  const outChunk = new Int32Array(maxTransfers);
  const outRoute = new Int32Array(maxTransfers);
  const outStart = new Float64Array(maxTransfers);
  let freeCount = 0;
  let stamp = 0;
  let serves = 0;
  let written = 0;
  let waitingChunks = 0;

  const enqueue = (npu: number, chunk: number): void => {
    const at = npu * npus + chunkTarget[chunk];
    next[chunk] = NONE;
    if (head[at] === NONE) {
      head[at] = chunk;
      waiting[npu * words + (position[at] >>> 5)] |= 1 << (position[at] & 31);
    } else {
      next[tail[at]] = chunk;
    }
    tail[at] = chunk;
  };

  const dequeue = (npu: number, target: number): number => {
    const at = npu * npus + target;
    const chunk = head[at];
    head[at] = next[chunk];
    if (head[at] === NONE) waiting[npu * words + (position[at] >>> 5)] &= ~(1 << (position[at] & 31));
    return chunk;
  };

  /**
   * Kuhn's augmenting step for one waiting chunk, without recursion: trail[0 .. depth] are places in free, each of a route
   * whose target looks for another at the next. Routes with resources are taken, never reassigned.
   */
  const assign = (npu: number, target: number): boolean => {
    let depth = 0;
    let unvisited = 0; // the first place of a route that has not been visited
    trail[0] = 0;
    for (;;) {
      if (trail[depth] === freeCount) {
        if (depth === 0) return false;
        trail[--depth]++;
        continue;
      }
      const route = free[trail[depth]];
      const seeking = depth === 0 ? target : assigned[free[trail[depth - 1]]];
      const closer = distancePs[routeTarget[route] * npus + seeking] < distancePs[npu * npus + seeking];
      if (visited[route] === stamp || !closer) {
        trail[depth]++;
        continue;
      }
      visited[route] = stamp;
      const isTaken = assigned[route] !== NONE;
      if (shared(network, route)) {
        if (isTaken || !resources.free(route)) {
          trail[depth]++;
          continue;
        }
        resources.take(route);
      } else if (isTaken) {
        while (unvisited < freeCount && visited[free[unvisited]] === stamp) unvisited++;
        trail[++depth] = unvisited;
        continue;
      }
      for (; depth > 0; depth--) assigned[free[trail[depth]]] = assigned[free[trail[depth - 1]]];
      assigned[free[trail[0]]] = target;
      return true;
    }
  };

  const collectFree = (npu: number): void => {
    freeCount = 0;
    for (let i = outRoutes.offset[npu]; i < outRoutes.offset[npu + 1]; i++) {
      const route = outRoutes.items[i];
      if (carried[route] === NONE && resources.free(route)) free[freeCount++] = route;
    }
    shuffle(free, 0, freeCount, seed, serves++);
  };

  const countOpen = (): number => {
    let open = 0;
    for (let i = 0; i < freeCount; i++) if (assigned[free[i]] === NONE && resources.free(free[i])) open++;
    return open;
  };

  const throwIfCancelled = (): void => {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  };

  const serve = (npu: number, now: number): void => {
    collectFree(npu);
    if (freeCount === 0) return;
    let unassigned = freeCount;
    for (let word = 0; word < words && unassigned > 0; word++) {
      let bits = waiting[npu * words + word];
      while (bits !== 0 && unassigned > 0) {
        const lowest = bits & -bits;
        bits &= bits - 1;
        const target = order[npu * npus + word * 32 + (31 - Math.clz32(lowest))];
        for (let c = head[npu * npus + target]; c !== NONE && unassigned > 0; c = next[c]) {
          if ((++stamp & 1023) === 0) throwIfCancelled();
          if (!assign(npu, target)) break;
          unassigned = countOpen();
        }
      }
    }
    for (let i = 0; i < freeCount; i++) {
      const route = free[i];
      const target = assigned[route];
      if (target === NONE) continue;
      assigned[route] = NONE;
      carried[route] = dequeue(npu, target);
      start[route] = now;
      queue.push(rank[route], now + slot[rank[route]], route, 0);
    }
  };

  const arrive = (route: number): void => {
    const chunk = carried[route];
    const npu = routeTarget[route];
    outChunk[written] = chunk;
    outRoute[written] = route;
    outStart[written++] = start[route];
    carried[route] = NONE;
    if (shared(network, route)) {
      resources.release(route);
      for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
        const resource = useResource[i];
        for (let j = senders.offset[resource]; j < senders.offset[resource + 1]; j++) touch(nodes, senders.items[j]);
      }
    }
    touch(nodes, routeSource[route]);
    if (chunkTarget[chunk] === npu) {
      waitingChunks--;
    } else {
      enqueue(npu, chunk);
      touch(nodes, npu);
    }
  };

  for (let c = 0; c < chunkSource.length; c++) {
    if (chunkSource[c] === chunkTarget[c]) continue;
    enqueue(chunkSource[c], c);
    waitingChunks++;
  }
  for (let v = 0; v < npus; v++) touch(nodes, v);
  let now = 0;
  for (let polls = 0; ; polls++) {
    for (let i = 0; i < nodes.count; i++) {
      nodes.marks[nodes.list[i]] = 0;
      serve(nodes.list[i], now);
    }
    nodes.count = 0;
    if ((polls & 63) === 0) throwIfCancelled();
    now = queue.nextTime();
    if (now === Number.POSITIVE_INFINITY) break;
    if (now > LATEST) throwForStatus(STATUS.timeOverflow, 0, 0);
    while (queue.pop(now)) {
      if (written >= maxTransfers) return null;
      arrive(queue.route);
    }
  }
  if (waitingChunks > 0) {
    const stuck = head.find((chunk) => chunk !== NONE) as number;
    throwForStatus(STATUS.unreachable, chunkTarget[stuck], stuck);
  }
  return {
    chunk: outChunk.subarray(0, written),
    route: outRoute.subarray(0, written),
    startPs: outStart.subarray(0, written),
  };
}
