import type { Task } from "./collectives.ts";
import {
  type Arcs,
  arcsOf,
  BORDER,
  borderOf,
  crossing,
  deliveries,
  distances,
  journey,
  nodeOf,
  saysOnly,
  someOf,
} from "./limits.ts";
import type { Route, Steps } from "./transfers.ts";
import { bad, divisor, type Fraction, type Json, listAt, wholeAt, wrong } from "./values.ts";

/** Witnesses of limits of whole chunks over the routes of a file: "Claims" of FORMATS.md. */

/** Routes with the times of a tenant's chunks, perhaps with time turned around, so that what reduces is a copy. */
interface View {
  readonly npus: number;
  readonly task: Task;
  readonly source: readonly number[];
  readonly target: readonly number[];
  readonly links: readonly (readonly number[])[];
  readonly share: readonly (readonly Fraction[])[];
  /** [links] */
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** [routes] picoseconds: what each chunk takes, what the first one takes besides, and both. */
  readonly pace: readonly number[];
  readonly lead: readonly number[];
  readonly slot: readonly number[];
  readonly arcs: Arcs;
}

function viewOf(steps: Steps, t: number, stores: boolean, isBack: boolean): View {
  const { net, routes } = steps;
  const task = steps.tasks[t];
  const turn = <T>(list: readonly T[]): readonly T[] => (isBack ? list.toReversed() : list);
  const [source, target] = [routes.map((route) => route.source), routes.map((route) => route.target)];
  const [begin, finish] = isBack ? [target, source] : [source, target];
  const pace = routes.map(({ links }, id) =>
    stores ? links.reduce((least, link) => Math.min(least, steps.linkSerial(t, link)), Infinity) : steps.serial(t, id),
  );
  const lead = routes.map(({ links, latency }, id) =>
    stores ? links.reduce((sum, link) => sum + steps.linkSerial(t, link), latency) - pace[id] : latency,
  );
  return {
    ...{
      npus: net.npus,
      task: isBack ? { ...task, pre: task.post, post: task.pre, sums: task.kind === "allreduce" } : task,
    },
    ...{
      source: begin,
      target: finish,
      links: routes.map(({ links }) => turn(links)),
      share: routes.map(({ share }) => turn(share)),
    },
    ...{ from: isBack ? net.to : net.from, to: isBack ? net.from : net.to, pace, lead },
    ...{ slot: pace.map((ps, id) => ps + lead[id]), arcs: arcsOf(net.npus, begin, finish) },
  };
}

/** A route that crosses a border, and the place of the link where it does. */
type Charged = readonly [route: number, place: number];
/** Returns how many chunks can have ended by a time. */
type Capacity = (ps: number) => number;

/** Returns the routes into a set, or out of it, each with the first of its links that crosses. */
function crossings(view: View, inside: Uint8Array, direction: string): Charged[] {
  const found: Charged[] = [];
  const side = direction === "in" ? 1 : 0;
  view.links.forEach((links, id) => {
    if (inside[view.source[id] as number] === side || inside[view.target[id] as number] !== side) return;
    found.push([
      id,
      links.findIndex((link) => inside[view.from[link] as number] !== side && inside[view.to[link] as number] === side),
    ]);
  });
  return found;
}

/**
 * Of routes that share the link where they are charged no more end than all of them carry, than lanes of its shares carry at the
 * pace of the fastest, and than the link has time for. `release`: when the first chunk can leave each NPU.
 */
function capacityOf(view: View, charged: readonly Charged[], release: Float64Array | null): Capacity {
  const byLink = new Map<number, Charged[]>();
  for (const one of charged) {
    const link = view.links[one[0]][one[1]] as number;
    const list = byLink.get(link);
    if (list === undefined) byLink.set(link, [one]);
    else list.push(one);
  }
  const startOf = ([id]: Charged): number =>
    (release === null ? 0 : release[view.source[id] as number]) + view.lead[id];
  const paceOf = ([id]: Charged): number => view.pace[id];
  const whole = (ps: number, start: number, pace: number): number => (ps > start ? Math.floor((ps - start) / pace) : 0);
  const parts = [...byLink.values()].map((own): Capacity => {
    if (own.length === 1) return (ps) => whole(ps, startOf(own[0]), paceOf(own[0]));
    const start = own.reduce((least, one) => Math.min(least, startOf(one)), Infinity);
    const pace = own.reduce((least, one) => Math.min(least, paceOf(one)), Infinity);
    const shares = own.map(([id, place]) => view.share[id][place]);
    const lanes = shares.reduce((most, [num, den]) => Math.max(most, Number(den / num)), 1);
    const costs = own.map((one, i): Fraction => [BigInt(paceOf(one)) * shares[i][0], shares[i][1]]);
    const [num, den] = costs.reduce((a, b) => (b[0] * a[1] < a[0] * b[1] ? b : a));
    return (ps) => {
      if (ps <= start) return 0;
      const each = own.reduce((sum, one) => sum + whole(ps, startOf(one), paceOf(one)), 0);
      return Math.min(each, lanes * whole(ps, start, pace), Number((BigInt(ps - start) * den) / num));
    };
  });
  return (ps) => parts.reduce((sum, one) => sum + one(ps), 0);
}

/** Returns when the first chunk can be at each NPU; null where that is not asked: what is summed for all, and custom ones. */
function releaseOf({ npus, task, arcs, slot }: View): Float64Array | null {
  if (task.sums || task.kind === "custom") return null;
  const holders = new Set<number>();
  if (task.pre.one === null) for (const { members } of task.pre.sets) for (const npu of members) holders.add(npu);
  else for (const npu of task.pre.one) holders.add(npu);
  return distances(npus, [...holders], arcs, (id) => slot[id]);
}

/** Returns whether too few chunks can have crossed before `ps`. */
function cutHolds(view: View, inside: Uint8Array, witness: Json, ps: number): boolean {
  const { task, npus, arcs, slot } = view;
  const chunks = wholeAt(witness["chunks"], "witness.chunks", 1);
  const direction = witness["direction"] as string;
  const charged = crossings(view, inside, direction);
  if (witness["to"] !== undefined) {
    // the last chunk that leaves must still go on to its NPU
    const ends = charged.map(([id]) => view.target[id]);
    const rest = distances(npus, [...new Set(ends)], arcs, (id) => slot[id]);
    const least = rest[witness["to"] as number];
    const leaves = someOf(task.pre, (npu) => (inside[npu] === 1) === task.sums);
    const goesOn = someOf(task.post, (npu) => inside[npu] === 0 && rest[npu] >= least);
    let count = 0;
    for (let c = 0; c < task.chunks; c++) if (leaves(c) === task.sums && goesOn(c)) count++;
    return direction === "out" && count === chunks && capacityOf(view, charged, null)(ps - 1 - least) < chunks;
  }
  const { from } = witness;
  if (from === undefined || !task.sums) {
    if (from !== undefined && task.pre.one?.every((npu) => npu === from) !== true) return false;
    return crossing(task, inside, direction) === chunks && capacityOf(view, charged, releaseOf(view))(ps - 1) < chunks;
  }
  // what one NPU contributes to a sum for all must come from there
  const side = direction === "in" ? 1 : 0;
  const release = distances(npus, [from as number], arcs, (id) => slot[id]);
  const groups = task.groups.filter(
    ({ members, rank }) => rank.has(from as number) && members.some((npu) => inside[npu] === side),
  );
  const count = inside[from as number] === side ? 0 : (groups.length * task.chunks) / task.groups.length;
  return count === chunks && capacityOf(view, charged, release)(ps - 1) < chunks;
}

/** Returns whether what enters the set from `afterPs` on cannot all be at one of its NPUs before `ps`. */
function tailHolds(view: View, inside: Uint8Array, npu: number, witness: Json, ps: number): boolean {
  const { task, source, target, links } = view;
  const wanted = wholeAt(witness["chunks"], "witness.chunks", 1);
  const after = wholeAt(witness["afterPs"], "witness.afterPs", 1);
  if (inside[npu] !== 1) return false;
  const isFor = someOf(task.post, (one) => one === npu);
  const isAway = someOf(task.pre, (one) => (inside[one] === 1) !== task.sums);
  let need = 0;
  for (let c = 0; c < task.chunks; c++) if (isFor(c) && isAway(c) === task.sums) need++;
  const release = releaseOf(view);
  const entering = crossings(view, inside, "in");
  const linkOf = ([id, place]: Charged): number => links[id][place];
  const straight = new Set(entering.filter(([id]) => target[id] === npu).map(linkOf));
  const own = capacityOf(
    view,
    entering.filter((one) => straight.has(linkOf(one))),
    release,
  );
  const inner = target.flatMap((to, id): Charged[] =>
    to === npu && inside[source[id] as number] === 1 ? [[id, (links[id]?.length as number) - 1]] : [],
  );
  const missing = wanted - (capacityOf(view, entering, release)(after - 1) - own(after - 1));
  return need === wanted && missing > 0 && capacityOf(view, inner, null)(ps - 1 - after) + own(ps - 1) < missing;
}

/** Sources times routes of searches. */
const MOST_SEARCHED = 1e8;

/** Returns the sum over chunks of the least weight between its two NPUs; 0 where chunks have more, or that is too much work. */
function sumOfDistances({ npus, task, arcs }: View, weight: (route: number) => number): number {
  const [from, to] = [task.pre.one, task.post.one];
  if (from === null || to === null) return 0;
  const sources = [...new Set(from)];
  if (sources.length * (arcs.to.length + npus) > MOST_SEARCHED) return 0;
  const far = new Map(sources.map((npu) => [npu, distances(npus, [npu], arcs, weight)]));
  return from.reduce((sum, npu, c) => sum + (far.get(npu) as Float64Array)[to[c]], 0);
}

/** Returns whether all that is sent does not fit on all routes before `ps`. */
function workHolds(view: View, witness: Json, ps: number, partOf: (list: unknown) => readonly number[]): boolean {
  const { task, links, source, target, pace, share } = view;
  const all = links.map((_, id) => id);
  if (witness["part"] !== undefined) {
    if (task.kind !== "allreduce") return false;
    const part = partOf(witness["part"]);
    let count = 0;
    for (const { members } of task.groups)
      count += 2 * (new Set(members.map((npu) => part[npu])).size - 1) * (task.chunks / task.groups.length);
    const between = all.filter((id) => part[source[id] as number] !== part[target[id] as number]);
    const leaves = between.map(
      (id): Charged => [
        id,
        links[id]?.findIndex((link) => part[view.to[link] as number] !== part[source[id] as number]) as number,
      ],
    );
    const enters = between.map(
      (id): Charged => [
        id,
        links[id]?.findLastIndex((link) => part[view.from[link] as number] !== part[target[id] as number]) as number,
      ],
    );
    return [leaves, enters].some((charged) => capacityOf(view, charged, null)(ps - 1) < count);
  }
  const ends = [all.map((id): Charged => [id, 0]), all.map((id): Charged => [id, (links[id]?.length as number) - 1])];
  const counts = [deliveries(task), sumOfDistances(view, () => 1)];
  if (counts.some((count) => count > 0 && ends.some((charged) => capacityOf(view, charged, null)(ps - 1) < count)))
    return true;
  const busy = all.map((id) =>
    (share[id] as readonly Fraction[]).reduce((sum, [num, den]) => sum + Number((BigInt(pace[id]) * num) / den), 0),
  );
  const used = new Set(links.flat()).size;
  return Math.ceil(sumOfDistances(view, (id) => busy[id]) / used) >= ps;
}

const BACKWARDS = ["reducescatter", "reduce", "gather"];
const MIRROR: Readonly<Record<string, string>> = { in: "out", out: "in" };

/** Returns a witness as it reads with time turned around. */
const mirrored = ({ direction, from, to, ...rest }: Json): Json => ({
  ...rest,
  direction: MIRROR[direction as string],
  ...(to === undefined ? {} : { from: to }),
  ...(from === undefined ? {} : { to: from }),
});

/** What witnesses of each kind say. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  cut: [...BORDER, "chunks", "from", "to"],
  tail: [...BORDER, "chunks", "npu", "afterPs"],
  work: ["part"],
  latency: ["from", "to"],
};

/** Throws Wrong where a witness does not prove that whole chunks over these routes take `ps` or more. */
export function checkWholeChunks(steps: Steps, stores: boolean, kind: string, given: Json, ps: number): void {
  const { net, tasks } = steps;
  if (kind === "nothing" && ps === 0) return;
  const ends = Object.fromEntries(
    ["from", "to"].flatMap((key) => (given[key] === undefined ? [] : [[key, nodeOf(net, given[key])]])),
  );
  const witness: Json = { ...given, ...ends };
  saysOnly(given, SAID[kind] ?? []);
  const inside = kind === "cut" || kind === "tail" ? borderOf(net, given).inside : null;
  const npu = kind === "tail" ? nodeOf(net, given["npu"]) : -1;
  const partOf = (list: unknown): readonly number[] => {
    const part = listAt(list, "witness.part").map((own) => (own === -1 ? -1 : wholeAt(own, "witness.part")));
    return part.length === net.names.length ? part : bad("witness.part", `${net.names.length} numbers`, list);
  };
  const holds = (t: number, isBack: boolean): boolean => {
    const view = viewOf(steps, t, stores, isBack);
    const own = isBack ? mirrored(witness) : witness;
    if (kind === "cut") return cutHolds(view, inside as Uint8Array, own, ps);
    if (kind === "tail") return own["direction"] === "in" && tailHolds(view, inside as Uint8Array, npu, own, ps);
    if (kind === "work") return workHolds(view, own, ps, partOf);
    if (kind !== "latency") return wrong(`no witness of whole chunks is called ${JSON.stringify(kind)}`);
    const [from, to] = [own["from"] as number, own["to"] as number];
    const back = distances(net.npus, [to], arcsOf(net.npus, view.target, view.source), (id) => view.slot[id]);
    return journey([view.task], from, to, back) >= ps;
  };
  const alone = tasks.some(({ kind: name }, t) => {
    const isBack = BACKWARDS.includes(name);
    return holds(t, isBack) || (name === "allreduce" && kind !== "latency" && holds(t, true));
  });
  if (!alone && !(tasks.length > 1 && jointHolds(steps, stores, kind, witness, inside, ps)))
    wrong(`whole chunks over these routes are not proved to take ${ps} ps`);
}

/** Weights of chunks for which routes and lanes are tried. */
const MOST_WEIGHTS = 16;

/**
 * Several collectives: a route, or a lane of a link that routes share, is held for serialisations only, whole multiples of their
 * greatest common divisor; so it carries no more weight by a time than that many times the most that a chunk has for its time.
 */
function jointHolds(
  steps: Steps,
  stores: boolean,
  kind: string,
  witness: Json,
  inside: Uint8Array | null,
  ps: number,
): boolean {
  const { tasks, routes } = steps;
  const views = tasks.map((_, t) => viewOf(steps, t, stores, false));
  const [view] = views as [View];
  let charged: readonly Charged[];
  let demand: readonly number[];
  if (inside !== null && kind === "cut") {
    charged = crossings(view, inside, witness["direction"] as string);
    demand = tasks.map((task) => crossing(task, inside, witness["direction"] as string));
    if (demand.reduce((a, b) => a + b, 0) !== witness["chunks"]) return false;
  } else {
    charged = routes.map((_: Route, id): Charged => [id, 0]);
    demand = views.map((own) => deliveries(own.task) || sumOfDistances(own, () => 1));
    if (kind !== "work" || witness["part"] !== undefined) return false;
  }
  const byLink = new Map<number, Charged[]>();
  for (const one of charged) {
    const link = view.links[one[0]][one[1]] as number;
    byLink.set(link, [...(byLink.get(link) ?? []), one]);
  }
  const machines = [...byLink.values()].flatMap((own) => {
    const lanes = own.reduce((most, [id, place]) => {
      const [num, den] = view.share[id][place];
      return Math.max(most, Number(den / num));
    }, 1);
    const apart = lanes >= own.length ? own.map((one) => [one]) : [own];
    return apart.map((entries) => {
      const slots = views.map(({ pace }) => entries.map(([id]) => pace[id]));
      const unit = slots
        .flatMap((own, t) => (demand[t] > 0 ? own : []))
        .reduce((a, b) => Number(divisor(BigInt(a), BigInt(b))), 0);
      return {
        unit,
        slot: slots.map((own) => own.reduce((a, b) => Math.min(a, b))),
        count: lanes >= own.length ? 1 : lanes,
      };
    });
  });
  const weights = [...new Map(machines.map(({ slot }) => [slot.join(), slot])).values()].slice(0, MOST_WEIGHTS);
  return weights.some((weight) => {
    const needed = demand.reduce((sum, chunks, t) => sum + BigInt(chunks) * BigInt(weight[t]), 0n);
    const carried = machines.reduce((sum, { unit, slot, count }) => {
      const best = slot.reduce(
        (most: Fraction, own, t): Fraction => {
          const [w, s] = [BigInt(weight[t]), BigInt(own)];
          return demand[t] > 0 && w * most[1] > most[0] * s ? [w, s] : most;
        },
        [0n, 1n],
      );
      const busy = BigInt(count) * BigInt(Math.floor((ps - 1) / unit) * unit);
      return unit === 0 ? sum : sum + (busy * best[0] + best[1] - 1n) / best[1];
    }, 0n);
    return carried < needed;
  });
}
