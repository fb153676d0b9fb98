import { add, compare, divide, multiply, type Rational, rational, subtract } from "../../model/numbers/rational.ts";
import { nodeCount } from "../../model/topology/topology.ts";
import { type CutCertificate, copiesOf, type DualCertificate, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Violation } from "../violation.ts";
import { cutFault, dualBound, type NodeSet, outsideOf } from "./certificate-sets.ts";
import { type TreeDemand, treeDemand } from "./tree-flow-demand.ts";
import { treeWords } from "./tree-flow-words.ts";

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
 * A dual proves the rate of an all-reduce: see DualCertificate (model/trees/tree-flow.ts). O((nodes + links) * sets).
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
  if (demand.share !== null) return `weighted sets are for all-reduce, not for this ${flow.collective.kind}`;
  const bound = dualBound(flow, certificate, treeWords(flow));
  if (typeof bound === "string") return bound;
  if (flow.inNetwork === true && (certificate.potentials ?? []).length > 0) {
    return "potentials count on switches that only forward, but those of this flow duplicate and sum";
  }
  const holdsFor =
    (certificate.potentials ?? []).length === 0
      ? "every schedule that sums each byte at one NPU"
      : "every schedule that sums each byte at one NPU, over switches that only forward";
  return { bound, holdsFor, phaseBound: null };
}

function insideOf({ nodes }: NodeSet, members: Int32Array): number {
  const inside = new Set(nodes);
  return members.reduce((count, member) => count + (inside.has(member) ? 1 : 0), 0);
}
