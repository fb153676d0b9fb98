import { gcd } from "../numbers/integers.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import type { NetworkSymmetry } from "../trees/tree-flow.ts";
import { imagesOfLinks, isOneToOne, linkKinds } from "./network-maps.ts";
import { symmetryCandidates } from "./network-symmetry-candidates.ts";
import { type SwitchMatcher, switchMatcher } from "./network-symmetry-switches.ts";
import { translateAll } from "./translation.ts";

/**
 * Returns an abelian group of maps of the network onto itself that takes every NPU to every other by exactly one map: the
 * translations of NPUs of some sizes (translation.ts), extended to switches; null where none is found. Sizes are tried in the
 * order of symmetryCandidates. Every map is checked exactly: nodes one to one, links to links of the same bandwidth and
 * latency, generators that commute and have their orders. A size costs little where its first generator fails, and
 * O(dimensions * (links + dimensions * nodes)) where it holds.
 */
export function networkSymmetry(topology: Topology): NetworkSymmetry | null {
  if (topology.npuCount < 2 || topology.linkSource.length === 0) return null;
  const kinds = linkKinds(topology);
  if (!npusLookAlike(topology, kinds)) return null;
  const matcher = switchMatcher(topology, kinds);
  for (const sizes of symmetryCandidates(topology)) {
    // alike switches turned into each other make larger orbits, but what joins them above may forbid it
    const symmetry = symmetryOf(topology, kinds, matcher, sizes, true);
    if (symmetry !== null) return symmetry;
    if (nodeCount(topology) === topology.npuCount) continue;
    const still = symmetryOf(topology, kinds, matcher, sizes, false);
    if (still !== null) return still;
  }
  return null;
}

/** Returns whether every NPU has as many links of each kind, each way, to NPUs and to switches, as NPU 0, as far as a sum tells. */
function npusLookAlike({ npuCount, linkSource, linkTarget }: Topology, kinds: Int32Array): boolean {
  const sum = new Int32Array(npuCount);
  const feed = (npu: number, other: number, kind: number, leaves: number): void => {
    if (npu >= npuCount) return;
    const x = Math.imul(4 * kind + 2 * leaves + (other < npuCount ? 1 : 0) + 1, 0x9e3779b1);
    sum[npu] += Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  };
  for (let link = 0; link < kinds.length; link++) {
    feed(linkSource[link], linkTarget[link], kinds[link], 1);
    feed(linkTarget[link], linkSource[link], kinds[link], 0);
  }
  return sum.every((value) => value === sum[0]);
}

/** Returns the translations of these sizes as maps of the whole network; null where they are none. */
function symmetryOf(
  topology: Topology,
  kinds: Int32Array,
  matcher: SwitchMatcher,
  sizes: readonly number[],
  turning: boolean,
): NetworkSymmetry | null {
  const steps: Int32Array[] = [];
  let stride = 1;
  for (let d = 0; d < sizes.length; d++) {
    const step = new Int32Array(nodeCount(topology));
    translateAll(sizes, stride, step.subarray(0, topology.npuCount));
    if (!matcher.extend(step, turning ? turnOf(sizes, d) : (k) => k)) return null;
    if (!isOneToOne(step) || !hasOrder(step, sizes[d]) || imagesOfLinks(topology, kinds, step) === null) return null;
    if (!steps.every((other) => commute(other, step))) return null;
    steps.push(step);
    stride *= sizes[d];
  }
  return { sizes, steps };
}

/**
 * How generator d turns m switches that are alike: their numbers have a digit for each generator, with as many values as
 * divide both its order and what the digits before leave of m, and generator d turns digit d.
 */
function turnOf(sizes: readonly number[], d: number): (k: number, m: number) => number {
  return (k, m) => {
    let before = 1;
    for (let e = 0; e < d; e++) before *= gcd(m / before, sizes[e]);
    const values = gcd(m / before, sizes[d]);
    const digit = Math.floor(k / before) % values;
    return k + before * (((digit + 1) % values) - digit);
  };
}

/** Returns whether the order-th power of a map is the identity: every circle's length divides it. O(nodes). */
function hasOrder(map: Int32Array, order: number): boolean {
  const seen = new Uint8Array(map.length);
  for (let v = 0; v < map.length; v++) {
    let length = 0;
    for (let u = v; seen[u] === 0; u = map[u]) {
      seen[u] = 1;
      length++;
    }
    if (length > 0 && order % length !== 0) return false;
  }
  return true;
}

function commute(a: Int32Array, b: Int32Array): boolean {
  for (let v = 0; v < a.length; v++) if (a[b[v]] !== b[a[v]]) return false;
  return true;
}
