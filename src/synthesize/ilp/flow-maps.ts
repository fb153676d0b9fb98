import { indicesBelow } from "../../model/numbers/ordering.ts";
import { automorphismsOf } from "../../model/symmetry/automorphisms.ts";
import { imagesByName } from "../../model/symmetry/network-maps.ts";
import { translateAll, translationsOf } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Flow, type FlowProblem, type Resource, resourceKey } from "./problem.ts";

/** A map of the network onto itself that takes flows to flows: durations, shared links, holders and wanters all agree. */
export interface FlowMap {
  /** [npus] */
  readonly npuTo: Int32Array;
  /** [routes] */
  readonly routeTo: Int32Array;
  /** [flows] Alike flows (same holders, same wanters) in their order. */
  readonly flowTo: Int32Array;
}

/** Returns the map that leaves all where it is. */
export const identityOf = ({ npuCount, routes, flows }: FlowProblem): FlowMap => ({
  npuTo: indicesBelow(npuCount),
  routeTo: indicesBelow(routes.source.length),
  flowTo: indicesBelow(flows.length),
});

/** Groups of more maps are not looked at. */
const MOST_MAPS = 400;

/** Returns the maps of the problem onto itself that are found, a group, the identity first. O(maps x (routes + flows)). */
export function symmetriesOf(topology: Topology, problem: FlowProblem, resources: readonly Resource[]): FlowMap[] {
  const { npuCount, routes, durations, flows } = problem;
  const kind = numberOf(Array.from(routes.source, (_, r) => durations.map((column) => column[r]).join()));
  const found = automorphismsOf(npuCount, routes.source, routes.target, kind) ?? translations(topology, problem) ?? [];
  const members = new Set(resources.map(resourceKey));
  const alike = classesOf(flows);
  return found.slice(0, MOST_MAPS).flatMap((npuTo) => {
    const routeTo = imagesOfRoutes(problem, kind, npuTo);
    if (routeTo === null) return [];
    const keeps = resources.every(({ route, units, capacity }) =>
      members.has(resourceKey({ route: route.map((r) => routeTo[r]), units, capacity })),
    );
    const flowTo = keeps ? imagesOfFlows(flows, alike, npuTo) : null;
    return flowTo === null ? [] : [{ npuTo, routeTo, flowTo }];
  });
}

function translations(topology: Topology, { routes, npuCount }: FlowProblem): Int32Array[] | null {
  const sizes = npuCount <= MOST_MAPS ? translationsOf(topology, routes) : null;
  if (sizes === null) return null;
  return Array.from({ length: npuCount }, (_, by) => {
    const image = new Int32Array(npuCount);
    translateAll(sizes, by, image);
    return image;
  });
}

function numberOf(keys: readonly string[]): Int32Array {
  const numbers = new Map<string, number>();
  return Int32Array.from(keys, (key) => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

/** Returns where a map of NPUs takes routes, parallel ones of a kind in their order; null where it keeps them not. */
function imagesOfRoutes({ routes, npuCount }: FlowProblem, kind: Int32Array, npuTo: Int32Array): Int32Array | null {
  const { source, target } = routes;
  const key = (u: number, v: number, r: number): number => (kind[r] * npuCount + u) * npuCount + v;
  return imagesByName(
    Float64Array.from(source, (u, r) => key(u, target[r], r)),
    Float64Array.from(source, (u, r) => key(npuTo[u], npuTo[target[r]], r)),
  );
}

const flowKey = (flow: Flow, npuTo?: Int32Array): string => {
  const set = (npus: Int32Array): Int32Array => (npuTo === undefined ? npus.slice() : npus.map((v) => npuTo[v])).sort();
  return `${flow.kind}${flow.size};${set(flow.from)};${set(flow.to)}`;
};

/** Returns the alike flows of each key. */
export function classesOf(flows: readonly Flow[]): Map<string, number[]> {
  const classes = new Map<string, number[]>();
  for (const [f, flow] of flows.entries()) {
    const key = flowKey(flow);
    const list = classes.get(key);
    if (list === undefined) classes.set(key, [f]);
    else list.push(f);
  }
  return classes;
}

function imagesOfFlows(
  flows: readonly Flow[],
  classes: ReadonlyMap<string, readonly number[]>,
  npuTo: Int32Array,
): Int32Array | null {
  const flowTo = new Int32Array(flows.length);
  for (const list of classes.values()) {
    const images = classes.get(flowKey(flows[list[0]], npuTo));
    if (images?.length !== list.length) return null;
    list.forEach((f, i) => {
      flowTo[f] = images[i];
    });
  }
  return flowTo;
}

/** Returns which map does what b and then a do, at a * maps + b; null where the maps are no group. */
export function productsOf(maps: readonly FlowMap[]): Int32Array | null {
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

/** Returns the members of the group that some generate, ascending; 0 is the identity. */
export function closure(generators: readonly number[], product: Int32Array): number[] {
  const count = Math.sqrt(product.length);
  const members = new Set([0]);
  for (const member of members) for (const by of generators) members.add(product[by * count + member]);
  return [...members].sort((a, b) => a - b);
}
