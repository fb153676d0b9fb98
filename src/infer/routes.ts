import type { ProbeFlow } from "../model/probe/measurements.ts";
import { type Answer, type Asking, together } from "./asking.ts";
import type { PairFigures } from "./pairs.ts";
import { arrivals } from "./sharing.ts";

/** Hops that are known: what a flow from one endpoint to a near one uses. */
export interface Hops {
  readonly endpoints: number;
  /** [endpoints x endpoints] resources of a hop; null where the pair is no hop. */
  readonly ways: readonly (readonly number[] | null)[];
  /** [resources] bytes per second. */
  readonly capacity: readonly number[];
  /** Flows that fill as many resources as can be without meeting. */
  readonly fillers: readonly ProbeFlow[];
}

/** How a distant pair goes. */
export interface Route {
  readonly flow: ProbeFlow;
  /** Endpoints from source to target; null where none of the ways tried explains what was seen. */
  readonly nodes: readonly number[] | null;
  /** It slowed nothing: it seems to be a link of its own. */
  readonly alone: boolean;
}

const REPEATS = 9;
/** Ways tried for one pair. */
const MOST_WAYS = 400;
/** A filler that takes so many times as long as undisturbed is slower. */
const SLOWER = 1.12;
/** The last of those that share something arrives when predicted but for this part. */
const IN_TIME = 0.12;
/**
 * Of the longest delay that a way predicts: more than the one part is a delay, less than the other is none; what is shared is
 * seldom shared fairly, and processes that are more than cores are late.
 */
const DELAYED = 0.25;
const UNDELAYED = 0.5;

/** Returns the ways from source to target of as few hops as can be, and of `more` hops besides; each at most once through a node. */
function waysBetween({ endpoints: n, ways }: Hops, source: number, target: number, more: number): number[][] {
  const next = (node: number): number[] => [...Array(n).keys()].filter((to) => ways[node * n + to] !== null);
  const distance = new Int32Array(n).fill(-1);
  distance[target] = 0;
  const queue = [target];
  for (const node of queue) {
    for (let from = 0; from < n; from++) {
      if (distance[from] >= 0 || ways[from * n + node] === null) continue;
      distance[from] = distance[node] + 1;
      queue.push(from);
    }
  }
  const found: number[][] = [];
  const extend = (path: number[], left: number): void => {
    const node = path[path.length - 1];
    if (found.length >= MOST_WAYS) return;
    if (node === target) {
      found.push([...path]);
      return;
    }
    for (const to of next(node)) {
      if (distance[to] < 0 || distance[to] > left - 1 || path.includes(to)) continue;
      path.push(to);
      extend(path, left - 1);
      path.pop();
    }
  };
  if (distance[source] > 0) extend([source], distance[source] + more);
  return found;
}

/** Returns the resources on a way. */
export const resourcesOn = ({ endpoints: n, ways }: Hops, nodes: readonly number[]): number[] => [
  ...new Set(nodes.slice(1).flatMap((node, i) => ways[nodes[i] * n + node] as readonly number[])),
];

/**
 * Finds the ways of distant pairs: each flows beside flows that fill all hops, and slows down those that it meets. Pairs whose
 * possible ways have nothing in common are tried together. One batch.
 */
export async function askRoutes(
  asking: Asking,
  figures: PairFigures,
  hops: Hops,
  distant: readonly ProbeFlow[],
): Promise<Route[]> {
  const n = hops.endpoints;
  const filler = new Map<number, number>();
  for (const [i, { source, target }] of hops.fillers.entries())
    for (const r of hops.ways[source * n + target] as readonly number[]) filler.set(r, i);
  const cases = distant.map((flow) => {
    const ways = waysBetween(hops, flow.source, flow.target, 0);
    const touched = new Set(ways.flatMap((nodes) => resourcesOn(hops, nodes)).map((r) => filler.get(r) ?? -1 - r));
    return { flow, ways, touched };
  });
  const sets: { busy: Set<number>; members: typeof cases }[] = [];
  for (const one of [...cases].sort((a, b) => b.touched.size - a.touched.size)) {
    const room = sets.find(({ busy }) => one.touched.size > 0 && ![...one.touched].some((t) => busy.has(t)));
    const set = room ?? { busy: new Set<number>(), members: [] };
    if (room === undefined) sets.push(set);
    set.members.push(one);
    for (const t of one.touched) set.busy.add(t);
    // a pair of which no way is known is tried by itself
    if (one.touched.size === 0) for (let t = 0; t < hops.fillers.length; t++) set.busy.add(t);
  }
  const answers = await asking.ask(
    sets.map(({ members }) => together([...hops.fillers, ...members.map(({ flow }) => flow)], figures.bytes, REPEATS)),
  );
  return sets.flatMap(({ members }, s) =>
    members.map((one, m) => {
      const own = members.length === 1;
      return decoded(figures, hops, one.flow, one.ways, own ? null : one.touched, answers[s], hops.fillers.length + m);
    }),
  );
}

/** Returns the way that explains best what the fillers (of those in `touched`; all where null) and the flow itself took. */
function decoded(
  figures: PairFigures,
  hops: Hops,
  flow: ProbeFlow,
  shortest: readonly (readonly number[])[],
  touched: ReadonlySet<number> | null,
  answer: Answer,
  at: number,
): Route {
  const n = hops.endpoints;
  const net = figures.bytes - figures.burstBytes;
  const seen = [...hops.fillers.keys()].filter((i) => touched === null || touched.has(i));
  const time = (i: number): number => {
    const { source, target } = answer.experiment.flows[i];
    return answer.taken[i].seconds - figures.latencyS[source * n + target];
  };
  const fillerWays = seen.map(
    (i) => hops.ways[hops.fillers[i].source * n + hops.fillers[i].target] as readonly number[],
  );
  const undisturbed = arrivals(fillerWays, hops.capacity, net);
  const delay = (k: number): number => time(seen[k]) - undisturbed[k];
  const sum = seen.reduce((total, _, k) => total + delay(k) ** 2, 0);
  const fillersOn = new Map<number, number>();
  for (const [k, way] of fillerWays.entries()) for (const r of way) fillersOn.set(r, k);
  // fillers do not meet each other: only those on the way are disturbed
  const beside = (way: readonly number[]): { met: readonly number[]; times: readonly number[] } => {
    const met = [...new Set(way.flatMap((r) => fillersOn.get(r) ?? []))];
    return { met, times: arrivals([...met.map((k) => fillerWays[k]), way], hops.capacity, net) };
  };
  const misfit = ({ met, times }: ReturnType<typeof beside>): number =>
    met.reduce(
      (total, k, m) => total - delay(k) ** 2 + (time(seen[k]) - times[m]) ** 2,
      sum + (time(at) - times[met.length]) ** 2,
    );
  const explains = ({ met, times }: ReturnType<typeof beside>): boolean => {
    const last = Math.max(time(at), ...met.map((k) => time(seen[k])));
    if (Math.abs(last / Math.max(...times) - 1) >= IN_TIME) return false;
    const expected = met.map((k, m) => times[m] - undisturbed[k]);
    const longest = Math.max(0, ...expected);
    if (longest === 0) return seen.every((i, k) => time(i) < SLOWER * undisturbed[k]);
    return (
      met.every((k, m) => expected[m] < DELAYED * longest || delay(k) > DELAYED * expected[m]) &&
      seen.every((_, k) => met.includes(k) || delay(k) < UNDELAYED * longest)
    );
  };
  let best: { nodes: readonly number[]; misfit: number } | null = null;
  const tryAll = (list: readonly (readonly number[])[]): void => {
    for (const nodes of list) {
      const now = misfit(beside(resourcesOn(hops, nodes)));
      if (best === null || now < best.misfit) best = { nodes, misfit: now };
    }
  };
  tryAll(shortest);
  const explaining = (): readonly number[] | null => {
    const found = best as { nodes: readonly number[]; misfit: number } | null;
    return found !== null && explains(beside(resourcesOn(hops, found.nodes))) ? found.nodes : null;
  };
  const nodes = explaining();
  if (nodes !== null) return { flow, nodes, alone: false };
  const alone = seen.every((i, k) => time(i) < SLOWER * undisturbed[k]);
  if (alone) return { flow, nodes: null, alone };
  for (const more of [1, 2]) {
    tryAll(waysBetween(hops, flow.source, flow.target, more));
    const longer = explaining();
    if (longer !== null) return { flow, nodes: longer, alone: false };
  }
  return { flow, nodes: null, alone: false };
}
