import { draw } from "../../base/random.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import {
  type CellTable,
  cellsOfRoutes,
  deliver,
  type Errand,
  firstCell,
  headOf,
  tailOf,
  takeBack,
} from "./cell-table.ts";

/**
 * Negotiated repair of a table that is too full (PathFinder: McMurchie and Ebeling 1995, there for wires of an FPGA).
 *
 * A missing place is brought in along a cheapest way in time and space from the NPUs that have its errand. Cells that
 * others occupy may be taken, at a price: the delivery that loses them becomes missing itself, and every theft makes the
 * cell dearer, so that errands that have other ways learn to avoid it. What hangs on a lost delivery stays and waits for
 * it to come back in time; branches that would leave too early are taken back. Ends when nothing is missing.
 *
 * Prices are integers: a way over few cells first, then the theft of a leaf, then of an inner node.
 */
const PRICE = { cell: 6, relay: 8, theft: 64, branch: 32, lateBranch: 32, grudge: 16 };
const NOWHERE = 2 ** 52;
/** A table with so many more missing places than at its best (and twice that) does not recover. */
const HOPELESS = 60;

/** Returns about how many array cells one repair reads: at every time every NPU, every route and half of the routes' cells. */
export function repairCost({ cells, network }: CellTable): number {
  return cells * (network.npus + network.routes.source.length + cellsOfRoutes(network) / 2);
}

/** Makes at most `most` repairs; returns whether nothing is missing, and how many they were. O(most x repairCost). */
export function negotiate(table: CellTable, seed: number, most: number): { full: boolean; repairs: number } {
  const { network, errands, cells, owner, arrival, via, branches, wants, missing } = table;
  const { npus, links, routes, lengths } = network;
  const leaving = [groupedBy(routes.source, npus), groupedBy(routes.target, npus)] as const;
  const grudge = new Int32Array(owner.length);
  /** [cells + 1][npus] least price of being there by then, and the route by which (-1: waited, or had it). */
  const price = new Float64Array((cells + 1) * npus);
  const by = new Int32Array((cells + 1) * npus);
  /** [npus] of the errand at hand: 1 has it, 0 has it but hangs on a missing place, -1 has it not. */
  const state = new Int8Array(npus);
  let x = draw(seed, 0, 0);

  const lookAt = (e: number): void => {
    const { reversed } = errands[e] as Errand;
    const base = e * npus;
    for (let v = 0; v < npus; v++) state[v] = arrival[base + v] < 0 ? -1 : via[base + v] < 0 ? 1 : 2;
    for (let v = 0; v < npus; v++) {
      let up = v;
      while (state[up] === 2) up = tailOf(routes, reversed, via[base + up]);
      const known = state[up] === 1 ? 1 : 0;
      for (up = v; state[up] === 2; up = tailOf(routes, reversed, via[base + up])) state[up] = known;
    }
  };

  /** Returns what the cells of a transfer cost now; Infinity where the errand itself holds one. */
  const fee = (e: number, route: number, first: number, length: number): number => {
    let sum = 0;
    let before = -1;
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      for (let row = first; row < first + length; row++) {
        const cell = row * links + routes.links[i];
        const held = owner[cell];
        sum += grudge[cell];
        if (held < 0 || held === before) continue;
        before = held;
        if (held >= e * npus && held < (e + 1) * npus) return NOWHERE;
        sum += PRICE.theft + PRICE.branch * branches[held];
      }
    }
    return sum;
  };

  /** Fills `price` and `by`; returns when to arrive at `goal` at the least price, or -1. */
  const search = (e: number, goal: number): number => {
    const { reversed, sizeClass, release } = errands[e] as Errand;
    const length = lengths[sizeClass] as Int32Array;
    const base = e * npus;
    const out = reversed ? leaving[1] : leaving[0];
    price.fill(NOWHERE);
    by.fill(-1);
    for (let v = 0; v < npus; v++) if (state[v] === 1) price[arrival[base + v] * npus + v] = 0;
    const late = lateBranches(e, goal);
    let best = -1;
    let least = NOWHERE;
    for (let now = release; now <= cells; now++) {
      const row = now * npus;
      const there = price[row + goal];
      if (there < NOWHERE && there + late[now] < least) {
        least = there + late[now];
        best = now;
      }
      for (let v = 0; v < npus && now < cells; v++) {
        const paid = price[row + v];
        if (paid >= least || v === goal) continue;
        if (paid < price[row + npus + v]) {
          price[row + npus + v] = paid;
          by[row + npus + v] = -1;
        }
        for (let i = out.offset[v]; i < out.offset[v + 1]; i++) {
          const route = out.items[i];
          const head = headOf(routes, reversed, route);
          if (state[head] >= 0) continue;
          const lasts = length[route];
          const end = now + lasts;
          if (end > cells) continue;
          const place = base + head;
          x = (Math.imul(0x9e3779b1, x) + 0x7f4a7c15) >>> 0;
          const relay = wants[place] === 1 || branches[place] > 0 ? 0 : PRICE.relay;
          const fare = paid + PRICE.cell * lasts + relay + (x >>> 30);
          const at = end * npus + head;
          if (fare >= price[at]) continue;
          const total = fare + fee(e, route, firstCell(cells, reversed, end, lasts), lasts);
          if (total >= price[at]) continue;
          price[at] = total;
          by[at] = route;
        }
      }
    }
    return best;
  };

  /** Returns [cells + 1] what an arrival at that time costs in branches of the place that leave before. */
  const lateBranches = (e: number, goal: number): Float64Array => {
    const cost = new Float64Array(cells + 2);
    eachBranch(e, goal, (place, departure) => {
      cost[departure + 1] += PRICE.lateBranch * (1 + branches[place]);
    });
    for (let s = 1; s <= cells; s++) cost[s] += cost[s - 1];
    return cost;
  };

  const eachBranch = (e: number, npu: number, visit: (place: number, departure: number) => void): void => {
    const { reversed, sizeClass } = errands[e] as Errand;
    let left = branches[e * npus + npu];
    for (let v = 0; v < npus && left > 0; v++) {
      const route = via[e * npus + v];
      if (route < 0 || tailOf(routes, reversed, route) !== npu) continue;
      left--;
      visit(e * npus + v, arrival[e * npus + v] - (lengths[sizeClass] as Int32Array)[route]);
    }
  };

  /** Takes the way that `search` found to (goal, arrival). */
  const walk = (e: number, goal: number, end: number): void => {
    const { reversed, sizeClass } = errands[e] as Errand;
    const steps: { head: number; route: number; end: number }[] = [];
    for (let v = goal, now = end; ; ) {
      if (state[v] === 1 && now === arrival[e * npus + v]) break;
      const route = by[now * npus + v];
      if (route < 0) {
        now--;
        continue;
      }
      steps.push({ head: v, route, end: now });
      now -= (lengths[sizeClass] as Int32Array)[route];
      v = tailOf(routes, reversed, route);
    }
    for (const step of steps.reverse()) {
      const lasts = (lengths[sizeClass] as Int32Array)[step.route];
      const first = firstCell(cells, reversed, step.end, lasts);
      for (let row = first; row < first + lasts; row++) {
        for (let i = routes.linkOffset[step.route]; i < routes.linkOffset[step.route + 1]; i++) {
          const cell = row * links + routes.links[i];
          if (owner[cell] < 0) continue;
          grudge[cell] += PRICE.grudge;
          takeBack(table, owner[cell]);
        }
      }
      deliver(table, e * npus + step.head, step.route, step.end);
    }
    // only now: a relay that loses its last branch is taken back itself
    for (const { head, end: since } of steps) {
      eachBranch(e, head, (place, departure) => {
        if (departure < since) takeBack(table, place);
      });
    }
  };

  /**
   * Makes room where no way leads to an NPU in time, whatever is paid: takes back the branches of the errand that hang in
   * the air, else what brings it too late to the NPU's neighbours, else to anyone. Returns whether there was any.
   */
  const clear = (e: number, npu: number): boolean => {
    const base = e * npus;
    let cleared = 0;
    const clearPlace = (v: number): void => {
      if (via[base + v] < 0) return;
      takeBack(table, base + v);
      cleared++;
    };
    for (let v = 0; v < npus; v++) if (state[v] === 0) clearPlace(v);
    if (cleared > 0) return true;
    const { reversed } = errands[e] as Errand;
    const entering = reversed ? leaving[0] : leaving[1];
    for (let i = entering.offset[npu]; i < entering.offset[npu + 1]; i++) {
      clearPlace(tailOf(routes, reversed, entering.items[i]));
    }
    if (cleared === 0) for (let v = 0; v < npus; v++) clearPlace(v);
    return cleared > 0;
  };

  let least = missing.length;
  let repairs = 0;
  for (; missing.length > 0 && repairs < most; repairs++) {
    least = Math.min(least, missing.length);
    if (missing.length > 2 * least + HOPELESS) break;
    const place = missing[Math.floor((draw(seed, 1, repairs) * missing.length) / 4294967296)] as number;
    const e = Math.floor(place / npus);
    lookAt(e);
    const end = search(e, place - e * npus);
    if (end >= 0) walk(e, place - e * npus, end);
    else if (!clear(e, place - e * npus)) break;
  }
  return { full: missing.length === 0, repairs };
}
