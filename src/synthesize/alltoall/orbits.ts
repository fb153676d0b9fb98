import { indicesBelow } from "../../model/numbers/ordering.ts";
import { generatorMaps, orbitsOf } from "../../model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";
import { type LinkMaps, mapOrbits } from "./map-orbits.ts";

/**
 * Which links and which NPUs of a network are alike under maps of it onto itself. The flow of one NPU of each orbit stands
 * for those of all: averaged over the maps that leave it in place, and mapped to the others, it loads the links of a class
 * evenly, so only what a class carries in all counts.
 */
export interface FlowOrbits {
  /** [links] class of each, 0 .. classes - 1. */
  readonly linkClass: Int32Array;
  /** [classes] links of each. */
  readonly classSize: Int32Array;
  /** One NPU of each orbit, ascending. */
  readonly sources: Int32Array;
  /** [sources] NPUs of its orbit. */
  readonly weight: Float64Array;
  /** [NPUs] which of the sources it is an image of. */
  readonly sourceOf: Int32Array;
  /** [sources] classes of links under maps that leave the source in place; null: only the identity does. */
  readonly still: readonly (LinkMaps["still"][number] | null)[];
  /** Returns where a map that takes the source of `npu` to it takes each link, [links]; null for the identity. */
  mapTo(npu: number): Int32Array | null;
  /** In words. */
  readonly about: string;
}

/** Above so many NPUs other maps than translations are not looked for. */
const MOST_NPUS = 2048;

/**
 * Returns the orbits of a network: under a group of translations, `symmetry` where it is known (undefined: looked for), or
 * under other maps that are found; every map is checked link by link. Each link and NPU alone where nothing is found.
 */
export function orbitsFor(topology: Topology, symmetry?: NetworkSymmetry | null): FlowOrbits {
  const group = symmetry === undefined ? networkSymmetry(topology) : symmetry;
  if (group !== null) return translationOrbits(topology, group);
  const maps = topology.npuCount <= MOST_NPUS ? mapOrbits(topology) : null;
  return maps === null ? noOrbits(topology) : { ...maps, about: "maps of the network onto itself" };
}

/** Returns every link and every NPU as an orbit of its own. */
export function noOrbits({ npuCount, linkSource }: Topology): FlowOrbits {
  return {
    linkClass: indicesBelow(linkSource.length),
    classSize: new Int32Array(linkSource.length).fill(1),
    sources: indicesBelow(npuCount),
    weight: new Float64Array(npuCount).fill(1),
    sourceOf: indicesBelow(npuCount),
    still: new Array<null>(npuCount).fill(null),
    mapTo: () => null,
    about: "no symmetry",
  };
}

/** Returns the orbits under an abelian group of which exactly one element takes NPU 0 to each NPU. */
function translationOrbits(topology: Topology, symmetry: NetworkSymmetry): FlowOrbits {
  const maps = generatorMaps(topology, symmetry);
  const links = linkCount(topology);
  const orbits = orbitsOf(
    links,
    maps.map(({ link }) => link),
  );
  const after = (second: Int32Array, first: Int32Array): Int32Array => first.map((image) => second[image]);
  /** Powers 1, 2, 4, ... of each generator, as they are needed. */
  const powers = maps.map(({ link }) => [link]);
  let powersAt: Int32Array | null = null;
  const mapTo = (npu: number): Int32Array | null => {
    powersAt ??= exponents(topology.npuCount, symmetry);
    let map: Int32Array | null = null;
    for (let d = 0; d < maps.length; d++) {
      for (let rest = powersAt[npu * maps.length + d], i = 0; rest > 0; rest >>= 1, i++) {
        if (powers[d].length === i) powers[d].push(after(powers[d][i - 1], powers[d][i - 1]));
        if ((rest & 1) === 1) map = map === null ? powers[d][i] : after(powers[d][i], map);
      }
    }
    return map;
  };
  return {
    linkClass: orbits.of,
    classSize: orbits.size,
    sources: Int32Array.of(0),
    weight: Float64Array.of(topology.npuCount),
    sourceOf: new Int32Array(topology.npuCount),
    still: [null],
    mapTo,
    about: `${symmetry.sizes.join("x")} translations`,
  };
}

/** Returns [NPUs * dimensions] the powers of the generators whose product takes NPU 0 to each NPU. O(NPUs * dimensions). */
function exponents(npuCount: number, { sizes, steps }: NetworkSymmetry): Int32Array {
  const of = new Int32Array(npuCount * sizes.length);
  let reached = [0];
  for (let d = 0; d < sizes.length; d++) {
    const next: number[] = [];
    for (const start of reached) {
      for (let power = 0, at = start; power < sizes[d]; power++, at = steps[d][at]) {
        if (power > 0) for (let e = 0; e < sizes.length; e++) of[at * sizes.length + e] = of[start * sizes.length + e];
        of[at * sizes.length + d] = power;
        next.push(at);
      }
    }
    reached = next;
  }
  return of;
}
