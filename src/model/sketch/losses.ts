import { routeCount } from "../routes/routes.ts";
import { pairName, type Topology } from "../topology/topology.ts";
import { sketchNetwork } from "./network.ts";
import { placesOfSketch, type Sketch, type SketchNetwork } from "./sketch.ts";

/** Names that a sentence has at most. */
const MOST_NAMES = 8;

/** Returns names, the first ones of many. */
const named = (names: readonly string[]): string =>
  names.length <= MOST_NAMES ? names.join(", ") : `${names.slice(0, MOST_NAMES).join(", ")} and others`;

/** Returns how often each pair of these NPUs is connected, by their names. O(routes). */
function connectionsAmong(left: ReadonlySet<string>, { topology, routes }: SketchNetwork): Map<string, number> {
  const { nodeNames } = topology;
  const count = new Map<string, number>();
  for (let route = 0; route < routeCount(routes); route++) {
    if (!left.has(nodeNames[routes.source[route]]) || !left.has(nodeNames[routes.target[route]])) continue;
    const name = pairName(topology, routes.source[route], routes.target[route]);
    count.set(name, (count.get(name) ?? 0) + 1);
  }
  return count;
}

/**
 * Returns what a network that lacks nodes or links, or has slower ones, leaves out of the sketch that was made for the whole one, in
 * words; nothing where it is the whole. Throws InputError as `sketchNetwork` where the sketch does not even suit that one. O(routes).
 */
export function lossesOf(topology: Topology, sketch: Sketch): string[] {
  const { madeFor } = sketch;
  if (madeFor === undefined || !placesOfSketch(topology, sketch).isPart) return [];
  const whole = sketchNetwork(madeFor, sketch);
  const part = sketchNetwork(topology, sketch);
  const left = new Set(topology.nodeNames.slice(0, topology.npuCount));
  const gone = madeFor.nodeNames.slice(0, madeFor.npuCount).filter((name) => !left.has(name));
  const kept = connectionsAmong(left, part);
  const lost = [...connectionsAmong(left, whole)].flatMap(([pair, count]) =>
    (kept.get(pair) ?? 0) < count ? [pair] : [],
  );
  const rotations = sketch.symmetries.filter(({ offset, period }) =>
    part.sketch.symmetries.every((one) => one.offset !== offset || one.period !== period),
  );
  const parts = [
    ...(gone.length === 0 ? [] : [`${gone.length === 1 ? "NPU" : "NPUs"} ${named(gone)}`]),
    ...(lost.length === 0 ? [] : [`${lost.length === 1 ? "connection" : "connections"} ${named(lost)}`]),
    ...rotations.map(({ offset, period }) => `the rotation [${offset}, ${period}]`),
  ];
  return parts.length === 0 ? [] : [`${sketch.name} holds without what failed or is slower: ${parts.join("; ")}`];
}
