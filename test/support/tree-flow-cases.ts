import { type Random, random } from "../../src/base/random.ts";
import { type Collective, collective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { pick, shuffle } from "./draws.ts";
import type { PlainFlow, PlainForest, PlainTree } from "./plain-trees.ts";
import { largestY } from "./tree-flow-oracle.ts";

/** Correct tree flows at random: circulants with switches, some with a symmetry, some with outsiders, all kinds of collective. */

const KINDS = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "custom out", "custom in"] as const;

interface Network {
  readonly topology: Topology;
  /** How far NPUs are turned by the symmetry. */
  readonly turn: number;
  /** Of each size one or none. */
  readonly symmetry: PlainFlow["symmetry"];
}

/**
 * A circulant whose links of one offset are equal, with parallel ones, and perhaps a switch for all or one for each; where it
 * needs no symmetry with some links more.
 */
function drawNetwork(draws: Random): Network {
  const n = pick([2, 3, 4, 5, 6, 8], draws);
  const builder = topologyBuilder("drawn");
  for (let v = 0; v < n; v++) builder.addNpu(`g${v}`);
  const switches = pick([0, 0, 1, n], draws);
  for (let s = 0; s < switches; s++) builder.addSwitch(`s${s}`);
  const offsets = [1, ...Array.from({ length: draws.below(2) }, () => 1 + draws.below(n - 1))];
  for (const offset of offsets) {
    const bandwidth = 1 + draws.below(12);
    for (let parallel = 1 + draws.below(2); parallel > 0; parallel--) {
      for (let v = 0; v < n; v++) builder.addLink(v, (v + offset) % n, bandwidth, 0);
    }
  }
  for (let v = 0; switches > 0 && v < n; v++) {
    const hub = n + (switches === 1 ? 0 : v);
    builder.addDuplex(v, hub, 20, 0);
    if (switches > 1) builder.addLink(hub, n + ((v + 1) % n), 30, 0);
  }
  const shape = pick(["none", "once", "twice", "besides the identity"] as const, draws);
  for (let more = shape === "none" ? draws.below(4) : 0; more > 0; more--) {
    const from = draws.below(n);
    builder.addLink(from, (from + 1 + draws.below(n - 1)) % n, 1 + draws.below(12), 0);
  }
  const topology = builder.build();
  const turn = pick([1, 1, ...[2, 3].filter((t) => n % t === 0 && t < n)], draws);
  const step = topology.nodeNames.map((_, v) => {
    if (v < n) return (v + turn) % n;
    return switches === 1 ? v : n + ((v - n + turn) % n);
  });
  const order = n / turn;
  const identity = step.map((_, v) => v);
  const symmetry = {
    none: null,
    once: { sizes: [order], steps: [step] },
    twice: { sizes: [2 * order], steps: [step] },
    "besides the identity": { sizes: [1, order], steps: [identity, step] },
  }[shape];
  return { topology, turn: symmetry === null ? n : turn, symmetry };
}

/** Returns a tree from the root over random paths through nodes that are no members; null where there is none. */
function drawTree(
  topology: Topology,
  members: readonly number[],
  root: number,
  isOut: boolean,
  draws: Random,
): number[][] | null {
  const from = isOut ? topology.linkSource : topology.linkTarget;
  const to = isOut ? topology.linkTarget : topology.linkSource;
  const links = [...from.keys()];
  const reached = [root];
  const edges: number[][] = [];
  while (reached.length < members.length) {
    const found: number[][] = [];
    for (const start of reached) {
      const path = new Map<number, number[]>([[start, []]]);
      const queue = [start];
      shuffle(links, draws);
      for (const v of queue) {
        for (const link of links) {
          const w = to[link];
          if (from[link] !== v || path.has(w)) continue;
          path.set(w, [...(path.get(v) as number[]), link]);
          if (!members.includes(w)) queue.push(w);
          else if (!reached.includes(w)) found.push(path.get(w) as number[]);
        }
      }
    }
    if (found.length === 0) return null;
    const edge = pick(found, draws);
    edges.push(edge);
    reached.push(to[edge.at(-1) as number]);
  }
  return edges;
}

function drawCollective(
  kind: (typeof KINDS)[number],
  members: readonly number[],
  shares: readonly number[],
  draws: Random,
): Collective {
  const groups = [Int32Array.from(members)];
  const rootRank = draws.below(members.length);
  if (kind !== "custom out" && kind !== "custom in") {
    const ranked = kind === "broadcast" || kind === "reduce" ? rootRank : 0;
    return collective({ kind, groups, sizeBytes: 840, chunksPerNpu: 1 + draws.below(2), rootRank: ranked });
  }
  const owners = members.flatMap((member, rank) => new Array<number>(shares[rank]).fill(member));
  const ascending = [...members].sort((a, b) => a - b);
  const one = { kind: "one", npu: Int32Array.from(owners) } as const;
  const sets = {
    kind: "sets",
    offset: Int32Array.from({ length: owners.length + 1 }, (_, chunk) => chunk * members.length),
    members: Int32Array.from(owners.flatMap(() => ascending)),
  } as const;
  const all = draws.below(2) === 0 ? sets : ({ kind: "group" } as const);
  return {
    kind: "custom",
    groupCount: 1,
    groupSize: members.length,
    groupMembers: groups[0],
    rootRank: 0,
    sizeBytes: 7 * owners.length,
    chunksPerNpu: 1,
    chunkCount: owners.length,
    chunkBytes: rational(7),
    reduces: kind === "custom in",
    pre: kind === "custom in" ? all : one,
    post: kind === "custom in" ? one : all,
  };
}

/** Returns copies over one to three trees. */
function split(copies: number, draws: Random): number[] {
  const parts: number[] = [];
  for (let left = copies; left > 0; left -= parts.at(-1) as number) parts.push(1 + draws.below(left));
  return parts;
}

/** Returns a correct flow; null where the draws lead nowhere. */
export function drawFlow(seed: number): PlainFlow | null {
  const draws = random(seed, 47);
  const { topology, turn, symmetry } = drawNetwork(draws);
  const n = topology.npuCount;
  /** The members are all NPUs of some residues by the turn, in any order. */
  const residues = Array.from({ length: turn }, (_, r) => r).filter(() => draws.below(4) > 0);
  const kept = residues.length === 0 ? [0] : residues;
  const members = Array.from({ length: n }, (_, v) => v).filter((v) => kept.includes(v % turn));
  shuffle(members, draws);
  const kind = pick(symmetry === null ? KINDS : KINDS.filter((one) => one !== "broadcast" && one !== "reduce"), draws);
  const shareOf = kept.map(() => draws.below(3));
  shareOf[0] = 1;
  const shares = members.map((member) => shareOf[kept.indexOf(member % turn)]);
  const goal = drawCollective(kind, members, shares, draws);
  const anywhere = kept.map(() => draws.below(4));
  anywhere[kept.length - 1]++;
  const each = 1 + draws.below(4);
  const copiesAt = (member: number): number => {
    const at = kept.indexOf(member % turn);
    if (kind === "broadcast" || kind === "reduce") return member === members[goal.rootRank] ? each : 0;
    return kind === "allreduce" ? anywhere[at] : goal.kind === "custom" ? each * shareOf[at] : each;
  };
  const directions =
    kind === "allreduce" ? (["in", "out"] as const) : goal.reduces ? (["in"] as const) : (["out"] as const);
  const forests: PlainForest[] = [];
  for (const direction of directions) {
    const trees: PlainTree[] = [];
    for (const residue of kept) {
      const alike = members.filter((member) => member % turn === residue);
      // with a symmetry one of each orbit is listed
      for (const root of symmetry === null ? alike : [pick(alike, draws)]) {
        for (const copies of split(copiesAt(root), draws)) {
          const edges = drawTree(topology, members, root, direction === "out", draws);
          if (edges === null) return null;
          trees.push({ root, copies, edges });
        }
      }
    }
    shuffle(trees, draws);
    forests.push({ direction, y: rational(1), trees });
  }
  const concurrent = kind === "allreduce" && draws.below(2) === 0;
  const flow: PlainFlow = { topology, collective: goal, forests, concurrent, symmetry, certificate: null };
  const y = largestY(flow);
  for (const forest of forests) forest.y = y;
  return flow;
}

/** Returns so many correct flows. */
export const drawnFlows = (count: number): PlainFlow[] => {
  const flows: PlainFlow[] = [];
  for (let seed = 0; flows.length < count; seed++) {
    const flow = drawFlow(seed);
    if (flow !== null) flows.push(flow);
  }
  return flows;
};
