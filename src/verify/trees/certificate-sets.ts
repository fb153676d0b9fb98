import { bigLcm } from "../../model/numbers/integers.ts";
import { format, type Rational, rational } from "../../model/numbers/rational.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { DualCertificate, TreeFlow } from "../../model/trees/tree-flow.ts";
import type { TreeWords } from "./tree-flow-words.ts";

/** A set of nodes and which way data crosses its border. */
export interface NodeSet {
  readonly nodes: Int32Array;
  readonly direction: "out" | "in";
}

/** Returns why the nodes are no set that lacks a member, or null. O(nodes). */
export function cutFault(
  { topology, collective }: TreeFlow,
  { nodes, direction }: NodeSet,
  words: TreeWords,
): string | null {
  if (direction !== "out" && direction !== "in") return `its direction is ${direction}, neither out nor in`;
  const inside = new Uint8Array(nodeCount(topology));
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (!(node >= 0 && node < inside.length)) return `its set has node ${node}, which the network does not have`;
    if (i > 0 && nodes[i - 1] >= node) return `the nodes of its set do not ascend at ${words.node(node)}`;
    inside[node] = 1;
  }
  for (const member of collective.groupMembers) if (inside[member] === 0) return null;
  return "no member is outside the set";
}

/** Returns the bandwidth of the links that leave a set, and of those that enter it. O(nodes + links). */
export function outsideOf(topology: Topology, set: NodeSet): [leaving: bigint, entering: bigint] {
  const { linkBytesPerSecond } = topology;
  let leaving = 0n;
  let entering = 0n;
  eachCrossing(topology, set.nodes, (link, leaves) => {
    if (leaves) leaving += BigInt(linkBytesPerSecond[link]);
    else entering += BigInt(linkBytesPerSecond[link]);
  });
  return [leaving, entering];
}

function eachCrossing(
  { nodeNames, linkSource, linkTarget }: Topology,
  nodes: Int32Array,
  visit: (link: number, leaves: boolean) => void,
): void {
  const inside = new Uint8Array(nodeNames.length);
  for (const node of nodes) inside[node] = 1;
  for (let link = 0; link < linkSource.length; link++) {
    const from = inside[linkSource[link]];
    if (from !== inside[linkTarget[link]]) visit(link, from === 1);
  }
}

/** Returns why these are no potentials of nodes that only forward, or null. O(nodes). */
function potentialFault(
  { topology, collective }: TreeFlow,
  potentials: NonNullable<DualCertificate["potentials"]>,
  words: TreeWords,
): string | null {
  const isMember = new Uint8Array(nodeCount(topology));
  for (const member of collective.groupMembers) isMember[member] = 1;
  let before = -1;
  for (const { node, out, in: into } of potentials) {
    if (!(node > before && node < isMember.length)) return `its potentials have node ${node} after node ${before}`;
    if (isMember[node] === 1) return `it has a potential at the member ${words.node(node)}`;
    if (out.den <= 0n || into.den <= 0n) return `its potential at ${words.node(node)} is no number`;
    before = node;
  }
  return null;
}

/**
 * Returns the bound that weighted sets prove (DualCertificate, model/trees/tree-flow.ts, has the condition and the proof), or why
 * they prove none. O((nodes + links) * sets), in integers over a common denominator.
 */
export function dualBound(
  flow: TreeFlow,
  { cuts, potentials = [] }: DualCertificate,
  words: TreeWords,
): Rational | string {
  const { topology, collective } = flow;
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  let whole = 1n;
  for (const [i, cut] of cuts.entries()) {
    const fault = cutFault(flow, cut, words);
    if (fault !== null) return `set ${i}: ${fault}`;
    if (cut.weight.num < 0n || cut.weight.den <= 0n) return `set ${i} has weight ${format(cut.weight)}, below 0`;
    whole = bigLcm(whole, cut.weight.den);
  }
  const fault = potentialFault(flow, potentials, words);
  if (fault !== null) return fault;
  for (const potential of potentials) {
    for (const { den } of [potential.out, potential.in]) whole = bigLcm(whole, den);
  }
  const none = (length: number): bigint[] => new Array<bigint>(length).fill(0n);
  const covered = none(nodeCount(topology));
  const weightOn = { out: none(linkBytesPerSecond.length), in: none(linkBytesPerSecond.length) };
  for (const { nodes, direction, weight } of cuts) {
    const own = weight.num * (whole / weight.den);
    for (const node of nodes) covered[node] += own;
    const onLinks = weightOn[direction];
    eachCrossing(topology, nodes, (link, leaves) => {
      if (leaves === (direction === "out")) onLinks[link] += own;
    });
  }
  const potential = { out: none(nodeCount(topology)), in: none(nodeCount(topology)) };
  for (const { node, ...values } of potentials) {
    for (const way of ["out", "in"] as const) potential[way][node] = values[way].num * (whole / values[way].den);
  }
  for (const member of collective.groupMembers) {
    if (covered[member] >= whole) continue;
    return `the sets around ${words.node(member)} weigh ${format(rational(covered[member], whole))} together, less than 1`;
  }
  let bound = 0n;
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    const out = weightOn.out[link] + potential.out[to] - potential.out[from];
    const into = weightOn.in[link] + potential.in[to] - potential.in[from];
    const more = out > into ? out : into;
    if (more > 0n) bound += more * BigInt(linkBytesPerSecond[link]);
  }
  return rational(bound, whole);
}
