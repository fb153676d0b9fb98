import type { Topology } from "../topology/topology.ts";
import type { Sketch, SymmetryOffset } from "./sketch.ts";
import { sketchNetwork } from "./sketch-network.ts";
import { rotationMaps } from "./sketch-symmetry.ts";

/**
 * Returns rotations that a sketch has on a network: of the whole first, then of the blocks that it turns into each other, and
 * so on down to single NPUs. Of a torus these are its translations, the last dimension first. Throws InputError as
 * `sketchNetwork`. O(divisors of the NPUs squared) rotations are tried, most of which fail at once.
 */
export function rotationsOf(topology: Topology, sketch: Sketch): SymmetryOffset[] {
  const mapOf = rotationMaps(sketchNetwork(topology, { ...sketch, symmetries: [] }));
  const found: SymmetryOffset[] = [];
  const divisors = divisorsOf(topology.npuCount);
  let block = topology.npuCount;
  while (block > 1) {
    const period = block;
    const offset = divisors.find(
      (divisor) => divisor < period && period % divisor === 0 && typeof mapOf({ offset: divisor, period }) !== "string",
    );
    if (offset !== undefined) found.push({ offset, period });
    block = offset ?? (divisors.findLast((divisor) => divisor < period && period % divisor === 0) as number);
  }
  return found;
}

/** Returns the given rotations that hold for a sketch on a network. Throws InputError as `sketchNetwork`. */
export function rotationsKept(topology: Topology, sketch: Sketch): SymmetryOffset[] {
  const mapOf = rotationMaps(sketchNetwork(topology, { ...sketch, symmetries: [] }));
  return sketch.symmetries.filter((rotation) => typeof mapOf(rotation) !== "string");
}

function divisorsOf(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
}
