import { offerWhole } from "./best.ts";
import {
  type Capacity,
  type Charged,
  capacityByLink,
  capacityOf,
  capacityText,
  smallestTime,
  transfersBy,
} from "./capacity.ts";
import { type Border, type CutContext, cutWitness } from "./route-cuts.ts";
import { crossingRoutes, markSet } from "./sides.ts";

/** Instants tried per slot length: this many of the last ones and as many spread evenly. */
const INSTANTS = 48;

/**
 * Tries the tail bound on one set G: what enters G last must still be spread to every member that wants it.
 *
 * `needOf(d)` is the number of chunks that start outside G and that the NPU d of G must receive, all of them wanted by d.
 * Proof, for any instant tau. Let x_l be the transfers over entering link l that have ended before tau and X their sum: at
 * least need - X chunks are nowhere in G before tau. To d each of these comes over a route inside G that starts at tau or
 * later, at most I_d(T - tau) by T, or straight from outside over one of d's own entering links, at most C_l(T) - x_l more.
 * So need <= X + I_d(T - tau) + sum over d's links of (C_l(T) - x_l)
 *         <= sum over the other links of C_l(tau - 1) + I_d(T - tau) + sum over d's links of C_l(T),
 * with C_l(t) the whole transfers that fit by t. For each tau the right side grows with T: the bound is the largest over
 * tau and d of the smallest T. Any choice of instants is valid; those at which a transfer can end are the ones that matter.
 * O(members x instants x their routes), cut off by the budget; of members with equal capacities the first is tried.
 */
export function tryTail(
  context: CutContext,
  nodes: Int32Array,
  needOf: (npu: number) => number,
  release: Float64Array | null,
): void {
  const { view, sides, best, budget } = context;
  const { topology, routes } = view;
  const { npuCount } = topology;
  let need = 0;
  for (const v of nodes) if (v < npuCount) need = Math.max(need, needOf(v));
  if (need === 0) return;
  markSet(sides, nodes);
  const stamp = sides.current;
  const entering = crossingRoutes(view, sides, nodes, "in");
  if (entering.route.length === 0) return;
  const whole = capacityOf(view, entering, release);
  const ownOf = ownCapacities(context, entering, release);
  budget.left -= 8 * entering.route.length;

  const { number, instants, arrived } = borderOf(context, whole, need);

  let latest = best.wholePs;
  let found: { npu: number; afterPs: number; wanted: number } | null = null;
  for (const member of nodes) {
    if (member >= npuCount || budget.left <= 0) continue;
    const wanted = needOf(member);
    if (wanted === 0) continue;
    const inner: Charged = { route: [], position: [] };
    for (let i = view.entering.offset[member]; i < view.entering.offset[member + 1]; i++) {
      const route = view.entering.items[i];
      if (sides.stamp[routes.source[route]] !== stamp) continue;
      inner.route.push(route);
      inner.position.push(routes.linkOffset[route + 1] - 1);
    }
    const inside = capacityOf(view, inner, null);
    const own = ownOf(member);
    const by = (time: number): number => own.reduce((sum, link) => sum + transfersBy(link, time), 0);
    if (inner.route.length === 0 && own.length === 0) continue;
    const key = `${number}|${wanted}|${capacityText(inside)}|${own.map(capacityText).join("|")}`;
    if (context.tails.members.has(key)) continue;
    context.tails.members.add(key);
    budget.left -= instants.length * (2 + inside.slot.length + 2 * own.length);
    for (let i = 0; i < instants.length; i++) {
      const tau = instants[i];
      const missing = wanted - (arrived[i] - by(tau - 1));
      if (missing <= 0) continue;
      const fits = (time: number): boolean => transfersBy(inside, time - tau) + by(time) >= missing;
      if (fits(latest)) continue;
      latest = smallestTime(latest, fits);
      found = { npu: member, afterPs: tau, wanted };
    }
  }
  if (found === null) return;
  const { npu, afterPs, wanted } = found;
  offerWhole(best, latest, () => {
    const { kind: _, ...cut } = cutWitness(context, nodes, "in", `${wanted} chunks`);
    return { ...cut, kind: "tail", npu, afterPs };
  });
}

/** Returns what is known of a border, worked out once for all sets with an equal one. */
function borderOf({ tails, budget }: CutContext, whole: Capacity, need: number): Border {
  const text = `${need}|${capacityText(whole)}`;
  const known = tails.borders.get(text);
  if (known !== undefined) return known;
  const allIn = smallestTime(0, (time) => transfersBy(whole, time) >= need);
  const instants = arrivalInstants(whole, allIn);
  const arrived = instants.map((tau) => transfersBy(whole, tau - 1));
  budget.left -= 60 * instants.length * (whole.slot.length + whole.shared.length);
  const border = { number: tails.borders.size, instants, arrived };
  tails.borders.set(text, border);
  return border;
}

/** Returns, for a member, the capacities of the links by which routes enter the set straight to it. */
function ownCapacities(
  { view }: CutContext,
  entering: Charged,
  release: Float64Array | null,
): (member: number) => Capacity[] {
  const { target, links } = view.routes;
  if (view.direct) {
    const own = new Map<number, Charged>();
    entering.route.forEach((route, i) => {
      let charged = own.get(target[route]);
      if (charged === undefined) {
        charged = { route: [], position: [] };
        own.set(target[route], charged);
      }
      charged.route.push(route);
      charged.position.push(entering.position[i]);
    });
    return (member) => {
      const charged = own.get(member);
      return charged === undefined ? [] : [capacityOf(view, charged, release)];
    };
  }
  const byLink = capacityByLink(view, entering, release);
  const ownLinks = new Map<number, Set<number>>();
  entering.route.forEach((route, i) => {
    const link = links[entering.position[i]];
    const own = ownLinks.get(target[route]);
    if (own === undefined) ownLinks.set(target[route], new Set([link]));
    else own.add(link);
  });
  return (member) => Array.from(ownLinks.get(member) ?? [], (link) => byLink.get(link) as Capacity);
}

/** Returns ascending instants up to `last` at which a transfer can end: the last ones of each slot and some spread evenly. */
function arrivalInstants(capacity: Capacity, last: number): number[] {
  const found = new Set<number>([last]);
  const add = (slot: number, release: number): void => {
    const count = Math.floor((last - release) / slot);
    for (let k = Math.max(1, count - INSTANTS); k <= count; k++) found.add(release + k * slot);
    const step = Math.max(1, Math.floor(count / INSTANTS));
    for (let k = step; k <= count; k += step) found.add(release + k * slot);
  };
  const seen = new Set<string>();
  const visit = (slot: number, release: number): void => {
    const key = `${slot}:${release}`;
    if (seen.has(key) || seen.size >= 16) return;
    seen.add(key);
    add(slot, release);
  };
  for (let i = 0; i < capacity.slot.length; i++) visit(capacity.slot[i], capacity.release[i]);
  for (const link of capacity.shared) visit(link.slot, link.release);
  return [...found].sort((a, b) => a - b);
}
