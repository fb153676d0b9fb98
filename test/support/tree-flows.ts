import { type Random, random } from "../../src/base/random.ts";
import { collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import { compare, divide, type Rational, rational } from "../../src/model/numbers/rational.ts";
import { inLinks, linkCount, outLinks, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { expandTrees } from "../../src/model/trees/tree-expansion.ts";
import type { Forest, NetworkSymmetry, TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { shuffle } from "./draws.ts";

/** A tree written out: its edges as lists of links, from the root outwards. */
export interface WrittenTree {
  readonly root: number;
  readonly copies: number;
  readonly edges: readonly (readonly number[])[];
}

/** Returns the forest of these trees, with the greatest bandwidth of a copy that fits if `share` of every link is its own. */
export function forestOf(
  topology: Topology,
  direction: Forest["direction"],
  trees: readonly WrittenTree[],
  bytesPerSecond: Rational = fittingRate(topology, trees),
): Forest {
  const edges = trees.flatMap((tree) => tree.edges);
  const linkOffset = new Float64Array(edges.length + 1);
  edges.forEach((links, edge) => {
    linkOffset[edge + 1] = linkOffset[edge] + links.length;
  });
  return {
    direction,
    root: Int32Array.from(trees, ({ root }) => root),
    copies: Float64Array.from(trees, ({ copies }) => copies),
    linkOffset,
    links: Int32Array.from(edges.flat()),
    copyBytesPerSecond: bytesPerSecond,
  };
}

/** Returns the greatest bandwidth of a copy with which the trees, each repeated so often, fit on all links. */
export function fittingRate(topology: Topology, trees: readonly WrittenTree[]): Rational {
  const load = new Float64Array(linkCount(topology));
  for (const { copies, edges } of trees) for (const link of edges.flat()) load[link] += copies;
  let least: Rational | null = null;
  for (let link = 0; link < load.length; link++) {
    if (load[link] === 0) continue;
    const rate = rational(topology.linkBytesPerSecond[link], load[link]);
    if (least === null || compare(rate, least) < 0) least = rate;
  }
  return least ?? rational(1e9);
}

export interface FlowShape {
  readonly kind: NamedCollective;
  readonly members?: readonly number[];
  readonly rootRank?: number;
  readonly sizeBytes: number;
  readonly concurrent?: boolean;
  /** Copies at each root, cut at random into trees of some of them. */
  readonly copies: number;
  /** Roots of an all-reduce get 0 to twice as many. */
  readonly uneven?: boolean;
}

/**
 * Returns a flow of trees that grow breadth-first over links in random order, through switches and NPUs outside the group: valid,
 * and of no quality.
 */
export function grownFlow(topology: Topology, shape: FlowShape, draws: Random): TreeFlow {
  const { kind, sizeBytes, rootRank = 0, concurrent = false } = shape;
  const members = shape.members ?? Array.from({ length: topology.npuCount }, (_, npu) => npu);
  const single = kind === "broadcast" || kind === "reduce";
  const roots = single ? [members[rootRank]] : members;
  const copies = roots.map((_, i) =>
    shape.uneven === true && i > 0 ? draws.below(2 * shape.copies + 1) : shape.copies,
  );
  const grown = (direction: Forest["direction"]): WrittenTree[] =>
    roots.flatMap((root, i) =>
      parts(copies[i], draws).map((part) => ({
        root,
        copies: part,
        edges: grownTree(topology, direction, root, members, draws),
      })),
    );
  const inwards = kind === "reducescatter" || kind === "reduce" || kind === "allreduce" ? grown("in") : null;
  const outwards = kind === "allgather" || kind === "broadcast" || kind === "allreduce" ? grown("out") : null;
  const together = concurrent ? fittingRate(topology, [...(inwards ?? []), ...(outwards ?? [])]) : undefined;
  return {
    kind: "trees",
    topology,
    collective: collective({ kind, groups: [Int32Array.from(members)], sizeBytes, chunksPerNpu: 1, rootRank }),
    forests: [
      ...(inwards === null ? [] : [forestOf(topology, "in", inwards, together)]),
      ...(outwards === null ? [] : [forestOf(topology, "out", outwards, together)]),
    ],
    concurrent,
    symmetry: null,
    certificate: null,
  };
}

/** Returns positive numbers with this sum. */
function parts(sum: number, draws: Random): number[] {
  const list: number[] = [];
  for (let left = sum; left > 0; left -= list.at(-1) as number) list.push(1 + draws.below(left));
  return list;
}

function grownTree(
  topology: Topology,
  direction: Forest["direction"],
  root: number,
  members: readonly number[],
  draws: Random,
): number[][] {
  const { offset, links } = direction === "out" ? outLinks(topology) : inLinks(topology);
  const far = direction === "out" ? topology.linkTarget : topology.linkSource;
  const isMember = new Set(members);
  const reached = new Set([root]);
  const edges: number[][] = [];
  while (reached.size < members.length) {
    const queue = [...reached].map((node) => ({ node, way: [] as number[] }));
    const seen = new Set(reached);
    let found = false;
    for (let head = 0; head < queue.length && !found; head++) {
      const { node, way } = queue[head];
      const ports = links.slice(offset[node], offset[node + 1]);
      shuffle(ports, draws);
      for (const link of ports) {
        if (seen.has(far[link])) continue;
        seen.add(far[link]);
        if (isMember.has(far[link])) {
          edges.push([...way, link]);
          reached.add(far[link]);
          found = true;
          break;
        }
        queue.push({ node: far[link], way: [...way, link] });
      }
    }
    if (!found) throw new Error("a member cannot be reached");
  }
  return edges;
}

/** Returns an all-gather (or its reverse) round a ring both ways, half of every shard each way: the optimum. */
export function ringFlow(
  npus: number,
  bytesPerSecond: number,
  latencyPs: number,
  sizeBytes: number,
  direction: Forest["direction"] = "out",
): TreeFlow {
  const topology = ringTopology(npus, bytesPerSecond, latencyPs);
  const trees = Array.from({ length: npus }, (_, root) => [
    { root, copies: 1, edges: walk(npus, root, 1, direction) },
    { root, copies: 1, edges: walk(npus, root, -1, direction) },
  ]).flat();
  const kind = direction === "out" ? "allgather" : "reducescatter";
  return { ...bare(topology, kind, sizeBytes), forests: [forestOf(topology, direction, trees)] };
}

/** Returns the same with the two trees of NPU 0 and the rotations of the ring. */
export function rotatedRingFlow(npus: number, bytesPerSecond: number, latencyPs: number, sizeBytes: number): TreeFlow {
  const whole = ringFlow(npus, bytesPerSecond, latencyPs, sizeBytes);
  const { topology, forests } = whole;
  const trees = [1, -1].map((step) => ({ root: 0, copies: 1, edges: walk(npus, 0, step, "out") }));
  const turn = Int32Array.from({ length: npus }, (_, npu) => (npu + 1) % npus);
  return {
    ...whole,
    forests: [forestOf(topology, "out", trees, forests[0].copyBytesPerSecond)],
    symmetry: { sizes: [npus], steps: [turn] },
  };
}

/** Link 2 v runs from v to v + 1, link 2 v + 1 back. */
function ringTopology(npus: number, bytesPerSecond: number, latencyPs: number): Topology {
  const builder = topologyBuilder(`ring${npus}`);
  builder.addNumberedNpus(npus, () => ({}));
  for (let v = 0; v < npus; v++) builder.addDuplex(v, (v + 1) % npus, bytesPerSecond, latencyPs);
  return builder.build();
}

function walk(npus: number, root: number, step: number, direction: Forest["direction"]): number[][] {
  const list: number[][] = [];
  for (let i = 0, at = root; i < npus - 1; i++) {
    const next = (at + step + npus) % npus;
    const clockwise = (direction === "out") === (step === 1);
    list.push([2 * (step === 1 ? at : next) + (clockwise ? 0 : 1)]);
    at = next;
  }
  return list;
}

/** Returns an all-gather among NPUs on one switch: everyone sends to everyone, stars of two links an edge. */
export function starFlow(npus: number, bytesPerSecond: number, latencyPs: number, sizeBytes: number): TreeFlow {
  const builder = topologyBuilder(`star${npus}`);
  builder.addNumberedNpus(npus, () => ({}));
  const hub = builder.addSwitch("hub");
  for (let v = 0; v < npus; v++) builder.addDuplex(v, hub, bytesPerSecond, latencyPs);
  const topology = builder.build();
  const others = (root: number): number[] => Array.from({ length: npus - 1 }, (_, i) => (root + 1 + i) % npus);
  const trees = Array.from({ length: npus }, (_, root) => ({
    root,
    copies: 1,
    edges: others(root).map((v) => [2 * root, 2 * v + 1]),
  }));
  return { ...bare(topology, "allgather", sizeBytes), forests: [forestOf(topology, "out", trees)] };
}

function bare(topology: Topology, kind: NamedCollective, sizeBytes: number): Omit<TreeFlow, "forests"> {
  const members = Int32Array.from({ length: topology.npuCount }, (_, npu) => npu);
  return {
    kind: "trees",
    topology,
    collective: collective({ kind, groups: [members], sizeBytes, chunksPerNpu: 1, rootRank: 0 }),
    concurrent: false,
    symmetry: null,
    certificate: null,
  };
}

/** Returns the translations of a torus whose NPU x0 + d0 * (x1 + d1 * ...) is named by coordinates. */
export function torusTranslations(sizes: readonly number[]): NetworkSymmetry {
  const npus = sizes.reduce((product, size) => product * size, 1);
  let stride = 1;
  const steps = sizes.map((size) => {
    const own = stride;
    stride *= size;
    return Int32Array.from({ length: npus }, (_, npu) => {
      const x = Math.floor(npu / own) % size;
      return npu + (((x + 1) % size) - x) * own;
    });
  });
  return { sizes, steps };
}

/**
 * Returns a flow on a network with translations that lists trees at a few roots and repeats them under the group; roots are
 * drawn, so images meet at the same root.
 */
export function translatedFlow(
  topology: Topology,
  symmetry: NetworkSymmetry,
  shape: FlowShape,
  seed: number,
): TreeFlow {
  const draws = random(seed, 5);
  const { kind, sizeBytes, concurrent = false } = shape;
  const members = Array.from({ length: topology.npuCount }, (_, npu) => npu);
  const place = (): number => draws.below(topology.npuCount);
  const grown = (direction: Forest["direction"]): WrittenTree[] =>
    parts(shape.copies, draws).map((copies) => {
      const root = place();
      return { root, copies, edges: grownTree(topology, direction, root, members, draws) };
    });
  const listed = {
    ...bare(topology, kind, sizeBytes),
    concurrent,
    symmetry,
    forests: [
      ...(kind === "allgather" ? [] : [forestOf(topology, "in", grown("in"), rational(1))]),
      ...(kind === "reducescatter" ? [] : [forestOf(topology, "out", grown("out"), rational(1))]),
    ],
  };
  const whole = expandTrees(listed);
  const rates = whole.forests.map((forest) => greatestRate(topology, [forest]));
  const together = greatestRate(topology, whole.forests);
  const forests = listed.forests.map((forest, f) => ({
    ...forest,
    copyBytesPerSecond: concurrent ? together : rates[f],
  }));
  return { ...listed, forests };
}

/** Returns the greatest bandwidth of a copy with which forests fit side by side. */
export function greatestRate(topology: Topology, forests: readonly Forest[]): Rational {
  const trees = forests.flatMap((forest) => {
    const edges = forest.root.length === 0 ? 0 : (forest.linkOffset.length - 1) / forest.root.length;
    return Array.from(forest.root, (root, t) => ({
      root,
      copies: forest.copies[t],
      edges: [Array.from(forest.links.subarray(forest.linkOffset[t * edges], forest.linkOffset[(t + 1) * edges]))],
    }));
  });
  return fittingRate(topology, trees);
}

/** Returns the picoseconds that bytes alone take: of phases in sequence the sum, side by side the greater. */
export const idealPs = (flow: TreeFlow): number =>
  flow.forests.reduce((sum, { copies, copyBytesPerSecond }) => {
    const all =
      copies.reduce((total, many) => total + many, 0) * (flow.symmetry?.sizes.reduce((p, n) => p * n, 1) ?? 1);
    const perSecond = divide(copyBytesPerSecond, rational(1, all));
    const ps = (flow.collective.sizeBytes * 1e12 * Number(perSecond.den)) / Number(perSecond.num);
    return flow.concurrent ? Math.max(sum, ps) : sum + ps;
  }, 0);
