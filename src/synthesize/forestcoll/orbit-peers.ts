import { generatorMaps } from "../../model/symmetry/network-maps.ts";
import { translated } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import { extended, type OrbitTree, type Paths, parentsOf } from "./orbit-shares.ts";

/** So many NPUs that the root sends to over like paths are left as they are. */
const FEW = 8;
/** Shifts that are compared for each step. */
const MOST_CANDIDATES = 256;

/**
 * Returns trees of root 0 in which NPUs have fewer peers, for the same load: where the root sends to many NPUs over paths of the
 * same link orbits (a star over a rail), most get their data from each other instead, shifted by one of few differences, as in
 * Bruck's all-gather (Bruck et al. 1997): n NPUs by about log2(n) differences, in as many hops. The image of a path under the
 * group uses the same orbits, so budgets hold as before. O(trees x (links of paths + NPUs x candidates)).
 */
export function withFewPeers(
  topology: Topology,
  symmetry: NetworkSymmetry,
  orbit: Int32Array,
  paths: Paths,
  trees: readonly OrbitTree[],
): OrbitTree[] {
  const { sizes } = symmetry;
  const maps = generatorMaps(topology, symmetry);
  const npuOf = npusOfElements(topology, symmetry);
  const elementOf = new Int32Array(npuOf.length);
  npuOf.forEach((npu, element) => {
    elementOf[npu] = element;
  });
  /** Returns where an element of the group takes a link. */
  const linkAt = (link: number, element: number): number => {
    let [image, rest] = [link, element];
    sizes.forEach((size, d) => {
      for (let power = rest % size; power > 0; power--) image = maps[d].link[image];
      rest = Math.floor(rest / size);
    });
    return image;
  };
  const pathAt = (path: number, element: number): number =>
    path < 0 ? -1 : extended(paths, pathAt(paths.before[path], element), linkAt(paths.link[path], element));
  return trees.map(({ copies, into }) => {
    const moved = into.slice();
    for (const star of starsOf(topology, orbit, paths, into)) {
      const elements = star.map((npu) => elementOf[npu]);
      for (const { from, by, to } of doubled(sizes, elements)) moved[npuOf[to]] = pathAt(into[npuOf[by]], from);
    }
    return { copies, into: moved };
  });
}

/** Returns the NPU to which each element of the group takes NPU 0, the first dimension fastest. */
function npusOfElements({ npuCount }: Topology, { sizes, steps }: NetworkSymmetry): Int32Array {
  const npuOf = new Int32Array(npuCount);
  let stride = 1;
  sizes.forEach((size, d) => {
    for (let i = stride; i < stride * size; i++) npuOf[i] = steps[d][npuOf[i - stride]];
    stride *= size;
  });
  return npuOf;
}

/** Returns the NPUs that the root sends to itself, those over paths of the same orbits together, where they are many. */
function starsOf(topology: Topology, orbit: Int32Array, paths: Paths, into: Int32Array): number[][] {
  const parent = parentsOf(topology, paths, into);
  const stars = new Map<string, number[]>();
  for (let npu = 1; npu < into.length; npu++) {
    if (parent[npu] !== 0) continue;
    const used: number[] = [];
    for (let p = into[npu]; p >= 0; p = paths.before[p]) used.push(orbit[paths.link[p]]);
    const key = used.join();
    const known = stars.get(key);
    if (known === undefined) stars.set(key, [npu]);
    else known.push(npu);
  }
  return [...stars.values()].filter(({ length }) => length > FEW);
}

/** Yields who gets the data from whom: `to` is `from` shifted by `by`. Each shift is the one that reaches most that still wait. */
function* doubled(sizes: readonly number[], elements: readonly number[]) {
  const waiting = new Set(elements);
  const reached = [0];
  while (waiting.size > 0) {
    let best = { by: -1, found: [] as { from: number; to: number }[] };
    let tried = 0;
    for (const by of waiting) {
      if (tried++ === MOST_CANDIDATES || best.found.length === reached.length) break;
      const found = reached
        .map((from) => ({ from, to: translated(sizes, from, by) }))
        .filter(({ to }) => waiting.has(to));
      if (found.length > best.found.length) best = { by, found };
    }
    for (const { from, to } of best.found) {
      yield { from, by: best.by, to };
      waiting.delete(to);
      reached.push(to);
    }
  }
}
