import type { Flow, FlowProblem } from "./problem.ts";
import { classesOf, type FlowMap } from "./symmetries.ts";

/**
 * Symmetric schedules: a program in which all images of a transfer are one column is smaller by the number of maps, and its
 * points are schedules. There are none where a map keeps a chunk and an NPU that waits for it, unless the NPU can take it
 * from itself (it holds it, or contributions meet there). So groups of maps are tried that leave no such pair: alike chunks
 * are exchanged by the maps as freely as their number allows.
 */

/** So many groups are tried, at most two of each size. */
const MOST_GROUPS = 4;
const MOST_OF_SIZE = 2;
/** Of larger groups only those with one generator. */
const MOST_PAIRED = 48;

/** Returns groups of maps whose symmetric schedules may exist, the largest first, none trivial. */
export function freeGroups(problem: FlowProblem, maps: readonly FlowMap[]): FlowMap[][] {
  if (maps.length < 2) return [];
  const product = productsOf(maps);
  if (product === null) return [];
  const found = new Map<string, number[]>();
  const offer = (generators: readonly number[]): void => {
    const group = closure(generators, product);
    if (group.length > 1) found.set(group.join(), group);
  };
  const count = maps.length;
  offer(Array.from({ length: count }, (_, i) => i));
  for (let a = 1; a < count; a++) {
    offer([a]);
    for (let b = a + 1; b < count && count <= MOST_PAIRED; b++) offer([a, b]);
  }
  const groups = [...found.values()].sort((a, b) => b.length - a.length);
  const chosen: FlowMap[][] = [];
  const ofSize = new Map<number, number>();
  for (const group of groups) {
    if (chosen.length === MOST_GROUPS) break;
    const size = ofSize.get(group.length) ?? 0;
    if (size === MOST_OF_SIZE) continue;
    const acting = actionOf(problem, group, maps, product);
    if (!isFree(problem, acting)) continue;
    ofSize.set(group.length, size + 1);
    chosen.push(acting);
  }
  return chosen;
}

/** Returns which map does what b and then a do, at a * maps + b; null where the maps are no group. */
function productsOf(maps: readonly FlowMap[]): Int32Array | null {
  const place = new Map(maps.map(({ npuTo }, i) => [npuTo.join(), i]));
  const product = new Int32Array(maps.length * maps.length);
  for (let a = 0; a < maps.length; a++) {
    for (let b = 0; b < maps.length; b++) {
      const both = place.get(maps[b].npuTo.map((v) => maps[a].npuTo[v]).join());
      if (both === undefined) return null;
      product[a * maps.length + b] = both;
    }
  }
  return product;
}

function closure(generators: readonly number[], product: Int32Array): number[] {
  const count = Math.sqrt(product.length);
  const members = new Set([0]);
  for (const member of members) for (const by of generators) members.add(product[by * count + member]);
  return [...members].sort((a, b) => a - b);
}

/**
 * Returns the maps of a group, each with what it does to flows. Alike flows whose holders and wanters s maps keep are
 * exchanged by these like the elements of the group of those s, s at a time, where s divides their number; where it does not
 * and they are one for each NPU that wants them, like those NPUs; else not at all.
 */
function actionOf(
  problem: FlowProblem,
  group: readonly number[],
  maps: readonly FlowMap[],
  product: Int32Array,
): FlowMap[] {
  const { flows } = problem;
  const count = maps.length;
  const flowTo = new Map(group.map((g) => [g, maps[g].flowTo.slice()]));
  const classes = [...classesOf(flows).values()];
  const classOf = new Int32Array(flows.length);
  for (const [k, list] of classes.entries()) for (const f of list) classOf[f] = k;
  const done = new Uint8Array(classes.length);
  for (const [k, list] of classes.entries()) {
    if (done[k] === 1) continue;
    const imageOf = (g: number): number => classOf[maps[g].flowTo[list[0]]];
    const keeping = group.filter((g) => imageOf(g) === k);
    for (const g of group) done[imageOf(g)] = 1;
    if (list.length % keeping.length !== 0) {
      exchangeLikeNpus(flows, list, group, maps, keeping.length === group.length, flowTo);
      continue;
    }
    /** For each class of the orbit, the map that leads to it from class k. */
    const leader = new Map<number, number>();
    for (const g of group) if (!leader.has(imageOf(g))) leader.set(imageOf(g), g);
    const index = new Map(keeping.map((s, i) => [s, i]));
    for (const g of group) {
      for (const [from, by] of leader) {
        const whole = product[g * count + by];
        const to = imageOf(whole);
        const back = leader.get(to) as number;
        const rest = keeping.find((s) => product[back * count + s] === whole) as number;
        classes[from].forEach((f, i) => {
          const turned = index.get(product[rest * count + keeping[i % keeping.length]]) as number;
          (flowTo.get(g) as Int32Array)[f] = classes[to][i - (i % keeping.length) + turned];
        });
      }
    }
  }
  return group.map((g) => ({ ...maps[g], flowTo: flowTo.get(g) as Int32Array }));
}

/** Lets maps exchange alike flows as they do the NPUs that want them, where there are equally many for each. */
function exchangeLikeNpus(
  flows: readonly Flow[],
  list: readonly number[],
  group: readonly number[],
  maps: readonly FlowMap[],
  alone: boolean,
  flowTo: ReadonlyMap<number, Int32Array>,
): void {
  const { to } = flows[list[0]];
  const each = list.length / to.length;
  if (!alone || !Number.isInteger(each)) return;
  const rank = new Map([...to].map((v, i) => [v, i]));
  for (const g of group) {
    for (const [i, f] of list.entries()) {
      const image = rank.get(maps[g].npuTo[to[Math.floor(i / each)]]) as number;
      (flowTo.get(g) as Int32Array)[f] = list[image * each + (i % each)];
    }
  }
}

/** Returns whether no map but the identity keeps a flow together with an NPU that would have to receive it twice. */
function isFree({ flows }: FlowProblem, group: readonly FlowMap[]): boolean {
  return group.every(({ npuTo, flowTo }) => {
    if (npuTo.every((to, v) => to === v)) return true;
    return flows.every(({ kind, from, to }, f) => {
      if (flowTo[f] !== f) return true;
      const kept = (npus: Int32Array): number[] => [...npus].filter((v) => npuTo[v] === v);
      if (kind === "copy") return kept(to).every((v) => from.includes(v));
      if (kind === "reduce") return kept(from).every((v) => v === to[0]);
      return kept(to).length + kept(from).filter((v) => !to.includes(v)).length <= 1;
    });
  });
}
