import { type RouteSet, routeCount } from "./routes.ts";
import { makespanPs, type StepSchedule } from "./step-schedule.ts";
import type { Topology } from "./topology.ts";

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

/** Returns the step schedule as the joint schedule of a single tenant. */
export const jointOf = ({ topology, routes, ...tenant }: StepSchedule): JointSchedule => ({
  topology,
  routes,
  tenants: [tenant],
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

/** Returns the rows of all tenants together. O(n log n). */
export function jointRows(joint: JointSchedule): JointRows {
  const { tenants } = joint;
  const count = jointTransferCount(joint);
  const tenantOf = new Int32Array(count);
  const rowOf = new Int32Array(count);
  let at = 0;
  tenants.forEach(({ chunk }, t) => {
    for (let row = 0; row < chunk.length; row++, at++) {
      tenantOf[at] = t;
      rowOf[at] = row;
    }
  });
  const column = (name: "chunk" | "route" | "startPs" | "endPs" | "op", i: number): number =>
    (tenants[tenantOf[i]] as Tenant)[name][rowOf[i]];
  const order = Uint32Array.from(tenantOf, (_, i) => i).sort(
    (a, b) => column("startPs", a) - column("startPs", b) || column("route", a) - column("route", b) || a - b,
  );
  return {
    tenant: Int32Array.from(order, (i) => tenantOf[i]),
    row: Int32Array.from(order, (i) => rowOf[i]),
    chunk: Int32Array.from(order, (i) => column("chunk", i)),
    route: Int32Array.from(order, (i) => column("route", i)),
    startPs: Float64Array.from(order, (i) => column("startPs", i)),
    endPs: Float64Array.from(order, (i) => column("endPs", i)),
    op: Uint8Array.from(order, (i) => column("op", i)),
  };
}

/**
 * Returns one route set that holds all of those given, equal routes (same links and shares) once, and for each set where
 * its routes are in it.
 */
export function unitedRoutes(sets: readonly RouteSet[]): { routes: RouteSet; places: readonly Int32Array[] } {
  const known = new Map<string, number>();
  const kept: { set: RouteSet; route: number }[] = [];
  const places = sets.map((set) =>
    Int32Array.from({ length: routeCount(set) }, (_, route) => {
      const [from, to] = [set.linkOffset[route], set.linkOffset[route + 1]];
      const key = [set.links, set.shareNum, set.shareDen].map((column) => column.subarray(from, to).join()).join(";");
      const place = known.get(key) ?? kept.push({ set, route }) - 1;
      known.set(key, place);
      return place;
    }),
  );
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
