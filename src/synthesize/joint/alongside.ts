import { type JointSchedule, jointEndPs, type Tenant } from "../../model/joint/joint-schedule.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { goesWithPrevious, inRowOrder } from "../../model/steps/step-schedule.ts";
import { type Lanes, lanesOf, turnsOf } from "../taccl/scheduling.ts";

/** Messages of all tenants; those of a tenant in the order of their starts. */
interface TenantMessages {
  /** Tenant and first and last row (exclusive) of each. */
  readonly tenant: readonly number[];
  readonly first: readonly number[];
  readonly behind: readonly number[];
  /** When each starts, from the start of its tenant on. */
  readonly startPs: Float64Array;
  /** [tenants] how long each takes by itself. */
  readonly spanPs: Float64Array;
}

/** What goes first, where messages contend: the lesser key. All keep the order within a tenant. */
const ORDERS: readonly {
  readonly name: string;
  readonly key: (startPs: number, spanPs: number, basePs: number) => number;
}[] = [
  { name: "as each began", key: (startPs) => startPs },
  { name: "what has most before it first", key: (startPs, spanPs) => startPs - spanPs },
  { name: "one after the other where they contend", key: (startPs, _, basePs) => basePs + startPs },
];

/**
 * Returns the tenants' messages moved in time so that tenants overlap, as they are and no `how` where that gains nothing. Merged sends
 * stay merged and keep their durations; a message leaves when all that had come for its chunks before is there again, and its
 * links are free (a serial generation scheme, in the best of three orders). Exact, deterministic.
 * O(messages log messages + chunks and links of each).
 */
export function alongside(joint: JointSchedule): {
  readonly joint: JointSchedule;
  readonly tries: number;
  readonly how: string | null;
} {
  const messages = messagesOf(joint);
  const { topology, routes, tenants } = joint;
  // of lanes only the shares count
  const lanes = lanesOf(topology, routes, routeTimes(topology, routes, tenants[0].collective.chunkBytes));
  let best: JointSchedule = { ...joint, tenants: tenants.map(inOrder) };
  let how: string | null = null;
  for (const { name, key } of ORDERS) {
    let base = 0;
    const bases = messages.spanPs.map((span) => {
      base += span;
      return base - span;
    });
    const keys = messages.startPs.map((start, m) => {
      const t = messages.tenant[m];
      return key(start, messages.spanPs[t], bases[t]);
    });
    const found = placed(joint, messages, lanes, keys);
    if (jointEndPs(found) >= jointEndPs(best)) continue;
    best = found;
    how = name;
  }
  return { joint: best, tries: ORDERS.length, how };
}

function messagesOf({ tenants }: JointSchedule): TenantMessages {
  const tenant: number[] = [];
  const first: number[] = [];
  const behind: number[] = [];
  const start: number[] = [];
  const spanPs = new Float64Array(tenants.length);
  tenants.forEach((one, t) => {
    const base = one.startPs.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
    for (let row = 0; row < one.chunk.length; row++) {
      spanPs[t] = Math.max(spanPs[t], one.endPs[row] - base);
      if (goesWithPrevious(one, row)) {
        behind[behind.length - 1] = row + 1;
        continue;
      }
      tenant.push(t);
      first.push(row);
      behind.push(row + 1);
      start.push(one.startPs[row] - base);
    }
  });
  return { tenant, first, behind, startPs: Float64Array.from(start), spanPs };
}

/** Returns a tenant with its rows in the order of a StepSchedule, in columns of its own. */
const inOrder = (tenant: Tenant): Tenant =>
  inRowOrder({
    ...tenant,
    chunk: tenant.chunk.slice(),
    route: tenant.route.slice(),
    startPs: tenant.startPs.slice(),
    endPs: tenant.endPs.slice(),
    op: tenant.op.slice(),
  });

/** An arrival of a chunk: when in the tenant's own schedule, and when now. */
type Arrival = readonly [ownPs: number, nowPs: number];

/** Returns the messages placed as early as they can in the order of their keys. */
function placed(
  { topology, routes, tenants }: JointSchedule,
  { tenant, first, behind }: TenantMessages,
  lanes: Lanes,
  keys: Float64Array,
): JointSchedule {
  const turns = turnsOf(lanes);
  const arrivals = tenants.map(() => new Map<number, Arrival[]>());
  const moved = tenants.map(({ startPs, endPs }) => ({ startPs: startPs.slice(), endPs: endPs.slice() }));
  const least = keys.reduce((a, b) => Math.min(a, b), 0);
  for (const m of orderByTime(keys.map((key) => key - least))) {
    const t = tenant[m];
    const { chunk, route, startPs, endPs } = tenants[t];
    const own = arrivals[t];
    const over = route[first[m]];
    const [from, to] = [routes.source[over], routes.target[over]];
    let ready = 0;
    for (let row = first[m]; row < behind[m]; row++) {
      for (const [ownPs, nowPs] of own.get(chunk[row] * topology.npuCount + from) ?? [])
        if (ownPs <= startPs[row]) ready = Math.max(ready, nowPs);
    }
    const took = endPs[first[m]] - startPs[first[m]];
    const lane = turns.last(over, ready);
    const start = lane < 0 ? ready : turns.freePs[lane];
    turns.take(over, start + took, m);
    for (let row = first[m]; row < behind[m]; row++) {
      moved[t].startPs[row] = start;
      moved[t].endPs[row] = start + took;
      const place = chunk[row] * topology.npuCount + to;
      const known = own.get(place);
      const arrival: Arrival = [endPs[row], start + took];
      if (known === undefined) own.set(place, [arrival]);
      else known.push(arrival);
    }
  }
  return { topology, routes, tenants: tenants.map((one, t) => inOrder({ ...one, ...moved[t] })) };
}
