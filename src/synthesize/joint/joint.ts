import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { TenNetwork } from "../../engine/contract/kernels.ts";
import { jointBoundOf } from "../../model/bounds/joint.ts";
import { type Collective, repeatedCollectives, sizeClasses } from "../../model/collective/collective.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import {
  type JointSchedule,
  jointEndPs,
  jointRows,
  jointTransferCount,
  type Tenant,
  unitedRoutes,
} from "../../model/joint/joint-schedule.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { routesOf, tableDegree } from "../../model/routes/routing.ts";
import { mostDegree } from "../../model/routes/switch-degrees.ts";
import { expandSlots, isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import { indexColumn, makespanPs, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { tenNetwork } from "../tacos/network.ts";
import { type OverlapOptions, overlapped } from "../tacos/overlap.ts";
import { synthesizeByMatching } from "../tacos/tacos.ts";
import { searchTable, stepsFor, tableProblem } from "./table-search.ts";

/** Array cells that the repairs of all tables may read: five to ten seconds. */
const MOST_STEPS = 8e8;
/** Trials of each tenant by itself, and of packing them, unless the caller says. */
const TRIALS_ALONE = 16;
/** Trials of packing what a table of rounded slots gave. */
const TRIALS_SETTLING = 2;

export interface JointRequest extends Omit<SynthesisRequest, "collective"> {
  /** None of them has nothing to send. */
  readonly collectives: readonly Collective[];
}

export interface JointContext extends SynthesisContext {
  /** Lets signals and timers in between attempts; throws CancelledError. */
  readonly breathe: () => Promise<void>;
}

export interface JointSynthesis {
  readonly schedule: JointSchedule;
  readonly policy: string;
  readonly trials: number;
}

/**
 * Returns a schedule of several collectives at once (TACOS 2023, section VIII-G). First each by itself, as TACOS makes it,
 * then all transfers packed by list scheduling. Where the network and the chunks are small enough for a table of cells,
 * one is filled for all together, from the proved bound on upwards: first fit from both ends of time (reductions are
 * multicasts run backwards), and what finds no cell negotiates for one. Deterministic in the seed.
 */
export async function synthesizeJoint(request: JointRequest, context: JointContext): Promise<JointSynthesis> {
  const { topology, collectives, seed, switchDegree } = request;
  if (switchDegree !== null && mostDegree(switchDegree) > 1 && sizeClasses(collectives).classes.length > 1) {
    throw new InputError(
      optionName("switchDegree"),
      "ports or 1 for several collectives of different chunk sizes",
      switchDegree,
    );
  }
  const { runner, onProgress } = context;
  let trials = 0;
  const alone: StepSchedule[] = [];
  const { distinct, of } = repeatedCollectives(collectives);
  for (const collective of distinct) {
    const own = await synthesizeByMatching({ ...request, collective, trials: request.trials ?? TRIALS_ALONE }, context);
    trials += own.trials;
    alone.push(isSlotSchedule(own.schedule) ? expandSlots(own.schedule) : own.schedule);
  }
  const sequence = inSequence(
    topology,
    of.map((index) => alone[index] as StepSchedule),
  );
  const targetPs = Number(ceil(jointBoundOf(topology, collectives, sequence.routes).ps));
  const merged = await packed(sequence, {
    targetPs,
    seed,
    trials: request.trials ?? TRIALS_ALONE,
    runner,
    progress: (done, total) => onProgress?.({ phase: "packing", done, total }),
  });
  trials += merged.tries;
  let best: JointSynthesis = {
    schedule: merged.joint,
    policy: merged.how === null ? "one after the other" : `each by itself, then packed (${merged.how})`,
    trials,
  };
  const mergedPs = jointEndPs(merged.joint);
  if (mergedPs <= targetPs) return best;

  const routes = routesOf(topology, tableDegree(topology, switchDegree));
  const problem = tableProblem(topology, routes, collectives, mergedPs);
  if (problem === null) return best;
  const lowPs = Number(ceil(jointBoundOf(topology, collectives, routes).ps));
  const { unitPs, exact } = problem;
  // rounded slots only make the table longer than the schedule that it stands for
  const high = Math.ceil(mergedPs / unitPs) + (exact ? 0 : Math.ceil((0.1 * mergedPs) / unitPs));
  const range = { low: Math.ceil(lowPs / unitPs), high };
  const found = await searchTable(problem, range, seed, stepsFor(MOST_STEPS, request.trials), async (tries) => {
    onProgress?.({ phase: "all together", done: tries, total: tries + 1 });
    await context.breathe();
  });
  trials += found.tries;
  best = { ...best, trials };
  if (found.joint === null) return best;
  const settled = exact
    ? { joint: found.joint, tries: 0 }
    : await packed(found.joint, { targetPs: lowPs, seed, trials: TRIALS_SETTLING, runner });
  trials += settled.tries;
  if (jointEndPs(settled.joint) >= mergedPs) return { ...best, trials };
  return { schedule: settled.joint, policy: `all together, negotiated in ${found.cells} slots`, trials };
}

/** List scheduling takes no more transfers than this. */
const MOST_TRANSFERS = 5e6;

/** Returns the schedules one after the other, on the routes of all of them. */
export function inSequence(topology: Topology, schedules: readonly StepSchedule[]): JointSchedule {
  const { routes, places } = unitedRoutes(schedules.map((schedule) => schedule.routes));
  let base = 0;
  const tenants = schedules.map((schedule, t): Tenant => {
    const { collective, chunk, op } = schedule;
    const route = indexColumn(chunk.length, routeCount(routes));
    for (let i = 0; i < route.length; i++) route[i] = (places[t] as Int32Array)[schedule.route[i]];
    const shift = (time: number): number => base + time;
    const tenant = {
      collective,
      chunk,
      route,
      op,
      startPs: schedule.startPs.map(shift),
      endPs: schedule.endPs.map(shift),
    };
    base += makespanPs(schedule);
    return tenant;
  });
  return { topology, routes, tenants };
}

/** A joint schedule as one step schedule: chunks numbered over all tenants, and every route once for each chunk size. */
interface Combined {
  readonly schedule: StepSchedule;
  readonly network: TenNetwork;
  split(schedule: StepSchedule): JointSchedule;
}

function combine(joint: JointSchedule): Combined {
  const { topology, routes, tenants } = joint;
  const { classes, of } = sizeClasses(tenants.map(({ collective }) => collective));
  const copies = routeCount(routes);
  const chunkBase = [0];
  for (const { collective } of tenants) chunkBase.push((chunkBase.at(-1) as number) + collective.chunkCount);
  const all = repeated(routes, classes.length);
  const slots = classes.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes).slotPs);
  const slotPs = Float64Array.from({ length: copies * classes.length }, (_, r) => {
    return (slots[Math.floor(r / copies)] as Float64Array)[r % copies];
  });
  const ten = tenNetwork(topology, all, { slotPs, serialPs: slotPs, latencyPs: slotPs });
  const network = classes.length === 1 ? ten : withRoutesAlone(ten, copies);
  const rows = jointRows(joint);
  const schedule: StepSchedule = {
    topology,
    collective: { ...tenants[0].collective, kind: "custom", chunkCount: chunkBase.at(-1) as number },
    routes: all,
    chunk: rows.chunk.map((chunk, i) => chunkBase[rows.tenant[i]] + chunk),
    route: rows.route.map((route, i) => of[rows.tenant[i]] * copies + route),
    startPs: rows.startPs,
    endPs: rows.endPs,
    op: rows.op,
  };
  const split = (found: StepSchedule): JointSchedule => {
    const tenantOf = new Int32Array(chunkBase.at(-1) as number);
    tenants.forEach((_, t) => {
      tenantOf.fill(t, chunkBase[t], chunkBase[t + 1]);
    });
    const owner = Int32Array.from(found.chunk, (chunk) => tenantOf[chunk]);
    const { offset, items } = groupedBy(owner, tenants.length);
    return {
      topology,
      routes,
      tenants: tenants.map(({ collective, chunk, route }, t) => {
        const own = items.subarray(offset[t], offset[t + 1]);
        const tenant = {
          collective,
          chunk: indexColumn(chunk.length, collective.chunkCount),
          route: route.slice(),
          startPs: Float64Array.from(own, (i) => found.startPs[i]),
          endPs: Float64Array.from(own, (i) => found.endPs[i]),
          op: Uint8Array.from(own, (i) => found.op[i]),
        };
        own.forEach((i, row) => {
          tenant.chunk[row] = found.chunk[i] - chunkBase[t];
          tenant.route[row] = found.route[i] % copies;
        });
        return tenant;
      }),
    };
  };
  return { schedule, network, split };
}

/**
 * Returns the network with a resource for each route, which its copies take: they may take so little of their links that two of
 * them fit, but a route has one transfer at a time.
 */
function withRoutesAlone(network: TenNetwork, copies: number): TenNetwork {
  const { useOffset, useResource, useUnits, capacity } = network;
  const routes = useOffset.length - 1;
  const resources = new Int32Array(useResource.length + routes);
  const units = new Int32Array(resources.length);
  for (let route = 0; route < routes; route++) {
    const [begin, end] = [useOffset[route], useOffset[route + 1]];
    resources.set(useResource.subarray(begin, end), begin + route);
    units.set(useUnits.subarray(begin, end), begin + route);
    resources[end + route] = capacity.length + (route % copies);
    units[end + route] = 1;
  }
  const all = new Int32Array(capacity.length + copies).fill(1);
  all.set(capacity);
  return {
    ...network,
    useOffset: useOffset.map((offset, i) => offset + i),
    useResource: resources,
    useUnits: units,
    capacity: all,
  };
}

/** Returns the routes `times` over, copy k of route r at k * routes + r. */
function repeated(routes: RouteSet, times: number): RouteSet {
  if (times === 1) return routes;
  const count = routeCount(routes);
  const total = routes.links.length;
  const copies = <Column extends Int32Array | Float64Array>(into: Column, column: Column): Column => {
    for (let k = 0; k < times; k++) into.set(column, k * column.length);
    return into;
  };
  const linkOffset = new Int32Array(times * count + 1);
  for (let k = 0; k < times; k++) {
    for (let r = 0; r < count; r++) linkOffset[k * count + r + 1] = k * total + routes.linkOffset[r + 1];
  }
  return {
    source: copies(new Int32Array(times * count), routes.source),
    target: copies(new Int32Array(times * count), routes.target),
    linkOffset,
    links: copies(new Int32Array(times * total), routes.links),
    shareNum: copies(new Float64Array(times * total), routes.shareNum),
    shareDen: copies(new Float64Array(times * total), routes.shareDen),
  };
}

/**
 * Returns the joint schedule with its transfers moved in time, each on its way, so that tenants overlap: list scheduling
 * with justification and walks, as for the halves of an all-reduce (`tacos/overlap.ts`); the schedule itself where that
 * gains nothing or it is too large.
 */
export async function packed(
  joint: JointSchedule,
  options: OverlapOptions,
): Promise<{ readonly joint: JointSchedule; readonly tries: number; readonly how: string | null }> {
  if (jointTransferCount(joint) > MOST_TRANSFERS) return { joint, tries: 0, how: null };
  const { schedule, network, split } = combine(joint);
  const found = await overlapped(schedule, network, options);
  return { joint: found.how === null ? joint : split(found.schedule), tries: found.tries, how: found.how };
}
