import { bigLcm } from "../../model/numbers/integers.ts";
import {
  add,
  compare,
  divide,
  format,
  multiply,
  type Rational,
  rational,
  subtract,
} from "../../model/numbers/rational.ts";
import { isActive, nodeCount, type Topology } from "../../model/topology/topology.ts";
import { type CutCertificate, copiesOf, type DualCertificate, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Violation } from "../violation.ts";
import { type TreeDemand, type TreeWords, treeDemand, treeWords } from "./demand.ts";

/** What a certificate proves of a flow. */
export interface Proof {
  /** No schedule of the kind in `holdsFor` carries more of the data a second: bytes per second. */
  readonly bound: Rational;
  /**
   * A cut bounds every schedule. The dual of an all-reduce bounds those that sum each byte at some NPU and send the sum from
   * there to all, which is what trees do (Zhao 2026, B.7).
   */
  readonly holdsFor:
    | "every schedule"
    | "every schedule over switches that only forward"
    | "every schedule that sums each byte at one NPU"
    | "every schedule that sums each byte at one NPU, over switches that only forward";
  /** The flow reaches the bound. */
  readonly optimal: boolean;
  /** 1 - achieved / bound. */
  readonly gap: Rational;
  /**
   * For an all-reduce in two phases that has a cut: the bound of a reduce-scatter and then an all-gather, equal parts at all
   * members, which the same cut proves, and whether the flow reaches it. Other all-reduces may be faster. Else null.
   */
  readonly phases: { readonly bound: Rational; readonly optimal: boolean } | null;
}

export interface CertificateVerdict {
  /** `throughputOf` the flow. */
  readonly achieved: Rational;
  /** Null without a certificate, and where it is false. */
  readonly proof: Proof | null;
  /** Why the certificate proves nothing. */
  readonly violations: readonly Violation[];
}

/**
 * Returns the bytes of the data (all chunks together; of a named collective: its size) that a sound flow carries in a second.
 * Each of the K copies of a forest, images included, carries 1/K of the data at the bandwidth y of a copy, so a forest carries
 * K y. Forests that run one after the other: 1 / sum of 1 / K y; side by side: the slower one.
 */
export function throughputOf({ forests, symmetry, concurrent }: TreeFlow): Rational {
  const rates = forests.map((forest) => multiply(rational(copiesOf(forest, symmetry)), forest.copyBytesPerSecond));
  return concurrent ? rates.reduce((a, b) => (compare(b, a) < 0 ? b : a)) : inSequence(rates);
}

/** Returns the rate at which data goes through phases of these rates, one phase after the other; 0 where one is 0. */
function inSequence(rates: readonly Rational[]): Rational {
  if (rates.some(({ num }) => num === 0n)) return rational(0);
  const one = rational(1);
  return divide(one, rates.map((rate) => divide(one, rate)).reduce(add));
}

/**
 * Returns how fast a flow is and what its certificate proves of that, checked exactly and from the network alone. The flow must
 * be sound (`verifyTreeFlow`); its certificate may be anything.
 *
 * A cut is a set S of nodes that lacks a member m. With direction "out", of chunks that start at members in S and go to all
 * (all-gather, broadcast) the share w(S) must leave S for m: the rate is at most B+(S) / w(S), where B+(S) is the bandwidth of
 * the links that leave S (Zhao 2026, 4.4). With "in", of sums that end in S (reduce-scatter, reduce) the share w(S) must come
 * in, for m's contributions: B-(S) / w(S). An all-reduce needs every byte to cross each way, where S has a member too: w = 1.
 *
 * A dual proves the rate of an all-reduce, or of a gather over nodes that only forward: see DualCertificate (model/trees/tree-flow.ts). O((nodes + links) * sets).
 */
export function judgeCertificate(flow: TreeFlow): CertificateVerdict {
  const { certificate, collective, topology } = flow;
  const achieved = throughputOf(flow);
  if (certificate === null) return { achieved, proof: null, violations: [] };
  const refused = (message: string): CertificateVerdict => ({
    achieved,
    proof: null,
    violations: [{ kind: "false-certificate", message: `the certificate proves nothing: ${message}` }],
  });
  const demand = treeDemand(collective, nodeCount(topology));
  if (demand === null) return refused(`trees do not make this ${collective.kind}`);
  const found = certificate.kind === "cut" ? cutProof(flow, certificate, demand) : dualProof(flow, certificate, demand);
  if (typeof found === "string") return refused(found);
  if (compare(achieved, found.bound) > 0) return refused("the flow is faster than that, so one of them is wrong");
  const { bound, holdsFor, phaseBound } = found;
  const optimal = compare(achieved, bound) === 0;
  const gap = bound.num === 0n ? rational(0) : divide(subtract(bound, achieved), bound);
  const phases = phaseBound === null ? null : { bound: phaseBound, optimal: compare(achieved, phaseBound) === 0 };
  return { achieved, proof: { bound, holdsFor, optimal, gap, phases }, violations: [] };
}

const ACROSS = { out: "out of", in: "into" } as const;

interface Found extends Pick<Proof, "bound" | "holdsFor"> {
  readonly phaseBound: Rational | null;
}

function cutProof(flow: TreeFlow, cut: CutCertificate, demand: TreeDemand): Found | string {
  const { collective, topology, concurrent } = flow;
  const words = treeWords(flow);
  const fault = cutFault(flow, cut, words);
  if (fault !== null) return fault;
  const holdsFor = "every schedule";
  const [leaving, entering] = outsideOf(topology, cut);
  const across = cut.direction === "out" ? leaving : entering;
  if (demand.share === null) {
    const members = insideOf(cut, collective.groupMembers);
    if (members === 0) return "no member is inside the set";
    const phase = (bandwidth: bigint): Rational => rational(bandwidth * BigInt(collective.groupSize), BigInt(members));
    const phaseBound = concurrent ? null : inSequence([phase(entering), phase(leaving)]);
    return { bound: rational(across), holdsFor, phaseBound };
  }
  const [direction] = demand.directions;
  if (cut.direction !== direction) {
    return `this ${collective.kind} is bounded by what goes ${ACROSS[direction]} a set, not ${ACROSS[cut.direction]} it`;
  }
  let share = 0;
  for (const node of cut.nodes) share += demand.share[node];
  if (share === 0) return `no chunk ${direction === "out" ? "starts" : "ends"} inside the set`;
  return { bound: rational(across * BigInt(collective.chunkCount), BigInt(share)), holdsFor, phaseBound: null };
}

function dualProof(flow: TreeFlow, certificate: DualCertificate, demand: TreeDemand): Found | string {
  const bound = dualBound(flow, certificate, demand, treeWords(flow));
  if (typeof bound === "string") return bound;
  const { nodeTraits } = flow.topology;
  if (flow.inNetwork === true && certificate.potentials?.some(({ node }) => isActive(nodeTraits[node])) === true) {
    return "potentials count on switches that only forward, but those of this flow duplicate and sum";
  }
  const forwards = flow.inNetwork !== true && (certificate.potentials ?? []).length > 0;
  const one = "every schedule that sums each byte at one NPU";
  const holdsFor =
    demand.share === null
      ? forwards
        ? (`${one}, over switches that only forward` as const)
        : one
      : forwards && nodeTraits.some(isActive)
        ? "every schedule over switches that only forward"
        : "every schedule";
  return { bound, holdsFor, phaseBound: null };
}

function insideOf({ nodes }: NodeSet, members: Int32Array): number {
  const inside = new Set(nodes);
  return members.reduce((count, member) => count + (inside.has(member) ? 1 : 0), 0);
}

/** A set of nodes and which way data crosses its border. */
interface NodeSet {
  readonly nodes: Int32Array;
  readonly direction: "out" | "in";
}

/** Returns why the nodes are no set that lacks a member, or null. O(nodes). */
function cutFault({ topology, collective }: TreeFlow, { nodes, direction }: NodeSet, words: TreeWords): string | null {
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
function outsideOf(topology: Topology, set: NodeSet): [leaving: bigint, entering: bigint] {
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
function dualBound(
  flow: TreeFlow,
  { cuts, potentials = [] }: DualCertificate,
  { share, directions }: TreeDemand,
  words: TreeWords,
): Rational | string {
  const { topology, collective } = flow;
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  let whole = 1n;
  for (const [i, cut] of cuts.entries()) {
    const fault = cutFault(flow, cut, words);
    if (fault !== null) return `set ${i}: ${fault}`;
    if (!directions.includes(cut.direction))
      return `set ${i}: this ${collective.kind} is bounded by what goes ${ACROSS[directions[0]]} a set, not ${ACROSS[cut.direction]} it`;
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
    for (const way of directions) potential[way][node] = values[way].num * (whole / values[way].den);
  }
  let shares = 0n;
  for (const member of collective.groupMembers) {
    shares += covered[member] * BigInt(share?.[member] ?? 0);
    if (share !== null || covered[member] >= whole) continue;
    return `the sets around ${words.node(member)} weigh ${format(rational(covered[member], whole))} together, less than 1`;
  }
  if (share !== null && shares === 0n) return `no chunk ${directions[0] === "out" ? "starts" : "ends"} inside its sets`;
  let bound = 0n;
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    const out = weightOn.out[link] + potential.out[to] - potential.out[from];
    const into = weightOn.in[link] + potential.in[to] - potential.in[from];
    const more = out > into ? out : into;
    if (more > 0n) bound += more * BigInt(linkBytesPerSecond[link]);
  }
  return share === null ? rational(bound, whole) : rational(bound * BigInt(collective.chunkCount), shares);
}
