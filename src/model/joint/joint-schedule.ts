import { orderByTime } from "../numbers/ordering.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import type { AnySchedule } from "../steps/schedule.ts";
import { makespanPs, type StepSchedule } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";

/** What one tenant of a network communicates, and its transfers: a step schedule without the network that all share. */
export type Tenant = Omit<StepSchedule, "topology" | "routes">;

/**
 * Several collectives at once on one network. Each tenant's rows are a step schedule of its collective; together they share
 * the links, at all times. Chunks of different tenants may differ in size.
 */
export interface JointSchedule {
  readonly topology: Topology;
  readonly routes: RouteSet;
  readonly tenants: readonly Tenant[];
}

/** Returns the schedule of one tenant by itself. */
export const tenantSchedule = ({ topology, routes, tenants }: JointSchedule, tenant: number): StepSchedule => ({
  topology,
  routes,
  ...(tenants[tenant] as Tenant),
});

export const jointTransferCount = ({ tenants }: JointSchedule): number =>
  tenants.reduce((sum, { chunk }) => sum + chunk.length, 0);

/** Returns when the last tenant ends, in picoseconds. O(transfers). */
export const jointEndPs = (joint: JointSchedule): number =>
  joint.tenants.reduce((last, _, t) => Math.max(last, makespanPs(tenantSchedule(joint, t))), 0);

/** Rows of several tenants as one list, in ascending order of (startPs, route, tenant, row). Columns, one entry a row. */
export interface JointRows {
  readonly tenant: Int32Array;
  /** Row within the tenant. */
  readonly row: Int32Array;
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  readonly op: Uint8Array;
}

/** Returns the rows of all tenants together. About linear. */
export function jointRows(joint: JointSchedule): JointRows {
  const count = jointTransferCount(joint);
  const all = {
    tenant: new Int32Array(count),
    row: new Int32Array(count),
    chunk: new Int32Array(count),
    route: new Int32Array(count),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    op: new Uint8Array(count),
  };
  let at = 0;
  joint.tenants.forEach(({ chunk, route, startPs, endPs, op }, t) => {
    all.tenant.fill(t, at, at + chunk.length);
    for (let row = 0; row < chunk.length; row++) all.row[at + row] = row;
    all.chunk.set(chunk, at);
    all.route.set(route, at);
    all.startPs.set(startPs, at);
    all.endPs.set(endPs, at);
    all.op.set(op, at);
    at += chunk.length;
  });
  const byRoute = orderByTime(Float64Array.from(all.route));
  const order = orderByTime(ordered(all.startPs, byRoute));
  for (let i = 0; i < count; i++) order[i] = byRoute[order[i]];
  return {
    tenant: ordered(all.tenant, order),
    row: ordered(all.row, order),
    chunk: ordered(all.chunk, order),
    route: ordered(all.route, order),
    startPs: ordered(all.startPs, order),
    endPs: ordered(all.endPs, order),
    op: ordered(all.op, order),
  };
}

/** Returns a column in another order. */
function ordered<Column extends Int32Array | Float64Array | Uint8Array>(column: Column, order: Uint32Array): Column {
  const moved = column.slice() as Column;
  for (let i = 0; i < order.length; i++) moved[i] = column[order[i]];
  return moved;
}

/** A schedule of any kind, of one collective or of several. */
export type GivenSchedule = AnySchedule | JointSchedule;

/**
 * Returns one route set that holds all of those given, equal routes (same links and shares) once, and for each set where
 * its routes are in it.
 */
export function unitedRoutes(sets: readonly RouteSet[]): { routes: RouteSet; places: readonly Int32Array[] } {
  const known = new Map<string, number>();
  const kept: { set: RouteSet; route: number }[] = [];
  const placesOf = (set: RouteSet): Int32Array =>
    Int32Array.from({ length: routeCount(set) }, (_, route) => {
      const [from, to] = [set.linkOffset[route], set.linkOffset[route + 1]];
      const key = [set.links, set.shareNum, set.shareDen].map((column) => column.subarray(from, to).join()).join(";");
      const place = known.get(key) ?? kept.push({ set, route }) - 1;
      known.set(key, place);
      return place;
    });
  const placesOfSet = new Map<RouteSet, Int32Array>();
  const places = sets.map((set) => {
    const own = placesOfSet.get(set) ?? placesOf(set);
    placesOfSet.set(set, own);
    return own;
  });
  const linkOffset = new Int32Array(kept.length + 1);
  kept.forEach(({ set, route }, i) => {
    linkOffset[i + 1] = linkOffset[i] + set.linkOffset[route + 1] - set.linkOffset[route];
  });
  const gathered = <Column extends Int32Array | Float64Array>(
    into: Column,
    name: "links" | "shareNum" | "shareDen",
  ) => {
    kept.forEach(({ set, route }, i) => {
      into.set(set[name].subarray(set.linkOffset[route], set.linkOffset[route + 1]), linkOffset[i]);
    });
    return into;
  };
  const total = linkOffset[kept.length];
  return {
    places,
    routes: {
      source: Int32Array.from(kept, ({ set, route }) => set.source[route]),
      target: Int32Array.from(kept, ({ set, route }) => set.target[route]),
      linkOffset,
      links: gathered(new Int32Array(total), "links"),
      shareNum: gathered(new Float64Array(total), "shareNum"),
      shareDen: gathered(new Float64Array(total), "shareDen"),
    },
  };
}
export const isJoint = (schedule: GivenSchedule): schedule is JointSchedule => "tenants" in schedule;
