import { draw, shuffle } from "../../base/random.ts";
import { boundOf } from "../../model/bounds/bounds.ts";
import { type Collective, membersOf, sizeClasses } from "../../model/collective/collective.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { type JointSchedule, type Tenant, tenantSchedule } from "../../model/joint/joint-schedule.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import { indexColumn, OP_COPY, OP_REDUCE } from "../../model/steps/step-schedule.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { allTimes } from "../tacos/demand.ts";
import { type Phase, phasesOf } from "../tacos/network.ts";
import {
  type CellNetwork,
  type CellTable,
  cellsOfRoutes,
  cellTable,
  deliver,
  type Errand,
  firstCell,
  headOf,
  negotiate,
  repairCost,
  tailOf,
} from "./negotiate.ts";

/** Attempts (seeds) at the bound, and at every other number of cells. */
const ATTEMPTS = { bound: 12, other: 4 };
/** Array cells that count for each place and each cell of a table, to make and fill it. */
const TABLE_COST = 3;
/** Array cells that the repairs of one attempt may read: about a second. */
const MOST_REPAIR_STEPS = 1.5e8;
/** The same for filling the table once, before any repair. */
const MOST_FILLING = 3e8;
/** Repairs of one attempt: this many, and more for each place that is wanted. */
const FEWEST_REPAIRS = 1000;
const REPAIRS_EACH = 4;
/** Larger tables are not tried. */
const MOST_PLACES = 4e6;
const MOST_DISTANCES = 16e6;
const MOST_CELLS = 4e6;
/** A transfer of the shortest slot is at most this many cells long. */
const FINEST = 12;

/** What the table is filled with: a chunk of a tenant in one phase. */
interface Piece {
  readonly tenant: number;
  readonly phase: Phase;
  readonly chunk: number;
}

/**
 * A network cut into cells of `unitPs`, and the tenants' chunks on it. Slots are rounded up to whole cells: exactly where
 * all are equal, else with the least waste that the fineness allows.
 */
export interface TableProblem {
  readonly topology: Topology;
  readonly network: CellNetwork;
  readonly collectives: readonly Collective[];
  readonly unitPs: number;
  /** Every slot is a whole number of cells. */
  readonly exact: boolean;
  readonly slots: readonly Float64Array[];
  /** [classes][npus * npus] cells from one NPU to another. */
  readonly distance: readonly Float64Array[];
  readonly classOf: readonly number[];
}

/** Returns the table's network, or null where routes share links (which cells do not express) or it is too large. */
export function tableProblem(
  topology: Topology,
  routes: RouteSet,
  collectives: readonly Collective[],
  longestPs: number,
): TableProblem | null {
  if (routes.shareNum.some((num, i) => num !== routes.shareDen[i])) return null;
  const { classes, of } = sizeClasses(collectives);
  const slots = classes.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes).slotPs);
  const distinct = [...new Set(slots.flatMap((column) => [...column]))];
  const shortest = distinct.reduce((least, slot) => Math.min(least, slot));
  const phases = collectives.reduce((sum, { chunkCount, reduces }) => sum + chunkCount * (reduces ? 2 : 1), 0);
  const links = linkCount(topology);
  if (phases * topology.npuCount > MOST_PLACES) return null;
  if (classes.length * topology.npuCount ** 2 > MOST_DISTANCES) return null;
  let unitPs = 0;
  let leastWaste = Number.POSITIVE_INFINITY;
  for (let fine = 1; fine <= FINEST; fine++) {
    const unit = Math.ceil(shortest / fine);
    const cells = Math.ceil(longestPs / unit);
    if (cells * Math.max(links, topology.npuCount) > MOST_CELLS) break;
    const waste = distinct.reduce((most, slot) => Math.max(most, (Math.ceil(slot / unit) * unit) / slot), 0);
    // a finer table must be worth its size
    if (waste >= leastWaste - 0.01) continue;
    leastWaste = waste;
    unitPs = unit;
  }
  if (unitPs === 0) return null;
  const lengths = slots.map((column) => Int32Array.from(column, (slot) => Math.ceil(slot / unitPs)));
  const network: CellNetwork = { npus: topology.npuCount, links, routes, lengths };
  const exact = distinct.every((slot) => slot % unitPs === 0);
  const distance = lengths.map((column) => allTimes(routes, Float64Array.from(column), topology.npuCount).timePs);
  return { topology, network, collectives, unitPs, exact, slots, distance, classOf: of };
}

/**
 * Returns the pieces and errands for a table of this many cells; null where some chunk has no time to go round. A chunk of an
 * all-reduce is two errands that meet in one NPU, reduced until then and spread from then on: the owner that TACOS gives it
 * where that leaves time enough, else any NPU that does, members or not. The meetings are spread evenly over the time left,
 * in an order drawn from the seed.
 */
function errandsOf(problem: TableProblem, cells: number, seed: number) {
  const { collectives, network, classOf, distance } = problem;
  const { npus } = network;
  const pieces: Piece[] = [];
  const errands: Errand[] = [];
  const add = (tenant: number, phase: Phase, chunk: number, sources: Int32Array, release: number): void => {
    pieces.push({ tenant, phase, chunk });
    const wanted = membersOf(phase.collective, phase.collective.post, chunk);
    errands.push({ reversed: phase.reversed, sizeClass: classOf[tenant] as number, sources, wanted, release });
  };
  for (const [tenant, collective] of collectives.entries()) {
    const [first, second] = phasesOf(collective) as [Phase, Phase | undefined];
    const far = distance[classOf[tenant]] as Float64Array;
    const order = Int32Array.from({ length: collective.chunkCount }, (_, chunk) => chunk);
    shuffle(order, 0, order.length, seed, 1000 + tenant);
    for (let i = 0; i < order.length; i++) {
      const chunk = order[i];
      const sources = membersOf(first.collective, first.collective.pre, chunk);
      if (second === undefined) {
        add(tenant, first, chunk, sources, 0);
        continue;
      }
      const from = membersOf(first.collective, first.collective.post, chunk);
      const to = membersOf(second.collective, second.collective.post, chunk);
      const reduced = (npu: number): number => from.reduce((most, v) => Math.max(most, far[v * npus + npu]), 0);
      const spread = (npu: number): number => to.reduce((most, v) => Math.max(most, far[npu * npus + v]), 0);
      const inTime = (npu: number): boolean => reduced(npu) + spread(npu) <= cells;
      let owner = sources[0];
      if (!inTime(owner)) {
        const others = Array.from({ length: npus }, (_, npu) => npu).filter(inTime);
        if (others.length === 0) return null;
        owner = others[Math.floor((draw(seed, 2000 + tenant, chunk) * others.length) / 4294967296)] as number;
      }
      const earliest = reduced(owner);
      const spare = cells - spread(owner) - earliest;
      const meet = earliest + Math.floor((spare * (i + 0.5)) / order.length);
      add(tenant, first, chunk, Int32Array.of(owner), cells - meet);
      add(tenant, second, chunk, Int32Array.of(owner), meet);
    }
  }
  return { pieces, errands };
}

/** Returns the transfers of a full table. */
function scheduleOf(problem: TableProblem, table: CellTable, pieces: readonly Piece[]): JointSchedule {
  const { topology, collectives, network, unitPs, slots, classOf } = problem;
  const { cells, via, arrival } = table;
  const { npus, routes } = network;
  const rows = collectives.map(() => ({
    chunk: [] as number[],
    route: [] as number[],
    start: [] as number[],
    op: [] as number[],
  }));
  pieces.forEach(({ tenant, phase, chunk }, e) => {
    const into = rows[tenant];
    for (let v = 0; v < npus; v++) {
      const route = via[e * npus + v];
      if (route < 0) continue;
      const end = arrival[e * npus + v];
      const length = (network.lengths[classOf[tenant] as number] as Int32Array)[route];
      into.chunk.push(chunk);
      into.route.push(route);
      into.start.push((phase.reversed ? cells - end : end - length) * unitPs);
      into.op.push(phase.reduces ? OP_REDUCE : OP_COPY);
    }
  });
  const tenants = rows.map((own, t): Tenant => {
    const collective = collectives[t] as Collective;
    const start = Float64Array.from(own.start);
    const order = orderByTime(start);
    const chunk = indexColumn(order.length, collective.chunkCount);
    const route = indexColumn(order.length, routeCount(routes));
    order.forEach((from, row) => {
      chunk[row] = own.chunk[from];
      route[row] = own.route[from];
    });
    const startPs = Float64Array.from(order, (from) => start[from]);
    const slotPs = slots[classOf[t] as number] as Float64Array;
    return {
      collective,
      chunk,
      route,
      startPs,
      endPs: startPs.map((at, row) => at + slotPs[route[row]]),
      op: Uint8Array.from(order, (from) => own.op[from]),
    };
  });
  return { topology, routes, tenants };
}

/** Array cells that a search may still read. */
interface Allowance {
  left: number;
}

/** Returns the schedule of one attempt at this many cells; null where it fails. */
function attempt(problem: TableProblem, cells: number, k: number, seed: number, allowance: Allowance) {
  const own = draw(seed, cells, k);
  const found = errandsOf(problem, cells, own);
  if (found === null) return null;
  const { pieces, errands } = found;
  const table = cellTable(problem.network, errands, cells);
  const filling = firstFitCost(table) + TABLE_COST * (table.arrival.length + table.owner.length);
  allowance.left -= filling;
  if (filling > MOST_FILLING) return null;
  firstFit(table, own, k % 4 < 2 ? 0.5 : 3, k % 2 === 0);
  const cost = repairCost(table);
  const wanted = errands.reduce((sum, errand) => sum + errand.wanted.length, 0);
  const most = Math.floor(
    Math.min(FEWEST_REPAIRS + REPAIRS_EACH * wanted, MOST_REPAIR_STEPS / cost, allowance.left / cost),
  );
  if (table.missing.length > most) return null;
  const { full, repairs } = negotiate(table, own, most);
  allowance.left -= repairs * cost;
  return full ? scheduleOf(problem, table, pieces) : null;
}

/**
 * Returns a schedule in the fewest cells found, at least `low` and below `high`: `low` first, then by halving between the
 * two, while `steps` array cells to read last. Null where nothing was found. Deterministic in the seed.
 */
export async function searchTable(
  problem: TableProblem,
  range: { readonly low: number; readonly high: number },
  seed: number,
  steps: number,
  pause: (tries: number) => Promise<void>,
): Promise<{ readonly joint: JointSchedule | null; readonly cells: number; readonly tries: number }> {
  const { low, high } = range;
  const allowance: Allowance = { left: steps };
  let joint: JointSchedule | null = null;
  let best = high;
  let tries = 0;
  const tryAt = async (cells: number, attempts: number): Promise<boolean> => {
    for (let k = 0; k < attempts && allowance.left > 0; k++) {
      await pause(tries);
      tries++;
      const found = attempt(problem, cells, k, seed, allowance);
      if (found === null) continue;
      joint = found;
      best = cells;
      return true;
    }
    return false;
  };
  if (low < high && !(await tryAt(low, ATTEMPTS.bound))) {
    for (let from = low + 1; from < best && allowance.left > 0; ) {
      const middle = from + Math.floor((best - 1 - from) / 2);
      if (!(await tryAt(middle, ATTEMPTS.other))) from = middle + 1;
    }
  }
  return { joint, cells: best, tries };
}

/** Returns about how many array cells a first fit reads. */
function firstFitCost({ cells, network, errands }: CellTable): number {
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
function firstFit(table: CellTable, seed: number, noise: number, forwardFirst: boolean): void {
  const { network, errands, cells, owner, arrival } = table;
  const { npus, links, routes, lengths } = network;
  const holders = Int32Array.from(errands, ({ sources }) => sources.length);
  const sides = sidesOf(table);
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

/** Returns what each side of time fills in: its errands that spread, and what NPUs have and lack of them. */
function sidesOf({ network, errands, arrival, wants }: CellTable) {
  const { npus, routes } = network;
  return [false, true].map((reversed) => {
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
}

/** Array cells that repairs may read: less than a second; in proportion where the caller asks for other trials. */
const MOST_STEPS = 5e7;
const USUAL_TRIALS = 64;
/** Longer schedules are left as they are. */
const MOST_TRANSFERS = 1e5;

/** Returns how many array cells the repairs of tables may read, for this many trials. */
export const stepsFor = (most: number, trials: number | null): number =>
  Math.floor(most * Math.min(1, (trials ?? USUAL_TRIALS) / USUAL_TRIALS));

/**
 * Returns a shorter schedule than the one found where that misses its bound, all slots are equal and a table of cells is
 * small enough to be negotiated (`negotiate.ts`); the one found otherwise. What gains: groups whose chunks pass outsiders,
 * all-to-all, all-reduce where few chunks go far, tori of odd sizes.
 */
export async function refined(
  found: Synthesis,
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<Synthesis> {
  const { topology, collective, trials, seed } = request;
  const { routes } = found.schedule;
  if (request.policy !== null || transfersOf(found.schedule) > MOST_TRANSFERS) return found;
  const endPs = makespanOf(found.schedule);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const boundPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  if (endPs <= boundPs) return found;
  const problem = tableProblem(topology, routes, [collective], endPs);
  if (problem === null || !problem.exact) return found;
  const range = { low: Math.ceil(boundPs / problem.unitPs), high: Math.ceil(endPs / problem.unitPs) };
  const { joint, cells, tries } = await searchTable(problem, range, seed, stepsFor(MOST_STEPS, trials), async (done) =>
    context.onProgress?.({ phase: "negotiating", done, total: done + 1 }),
  );
  if (joint === null) return { ...found, trials: found.trials + tries };
  return { schedule: tenantSchedule(joint, 0), policy: `negotiated in ${cells} slots`, trials: found.trials + tries };
}
