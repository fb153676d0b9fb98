import { describe, expect, test } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import {
  add,
  compare,
  divide,
  multiply,
  type Rational,
  rational,
  subtract,
} from "../../../src/model/numbers/rational.ts";
import type { Certificate, DualCertificate } from "../../../src/model/trees/tree-flow.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { everyone } from "../../support/everyone.ts";
import {
  HAND_MADE_TREES,
  relayTrees,
  ringAllReduceTrees,
  ringInTrees,
  ringTrees,
} from "../../support/hand-made-trees.ts";
import { builtTrees, type PlainFlow } from "../../support/plain-trees.ts";
import { drawnFlows } from "../../support/tree-flow-cases.ts";

const GB = 1_000_000_000n;
const judged = (flow: PlainFlow, certificate: Certificate | null = flow.certificate) =>
  judgeCertificate(builtTrees({ ...flow, certificate }));

/** Returns the links of a network that lead out of a set, or into it. */
function crossing({ topology }: PlainFlow, nodes: ReadonlySet<number>, direction: "out" | "in"): number[] {
  const [inner, outer] =
    direction === "out" ? [topology.linkSource, topology.linkTarget] : [topology.linkTarget, topology.linkSource];
  return [...inner.keys()].filter((link) => nodes.has(inner[link]) && !nodes.has(outer[link]));
}

/** Returns the bound of a cut by the definition, or null where it proves nothing. */
function cutBound(flow: PlainFlow, nodes: ReadonlySet<number>, direction: "out" | "in"): Rational | null {
  const { collective, topology } = flow;
  const members = [...collective.groupMembers];
  if (members.every((member) => nodes.has(member))) return null;
  const bandwidth = crossing(flow, nodes, direction).reduce((sum, link) => sum + topology.linkBytesPerSecond[link], 0);
  if (flow.forests.length === 2) return members.some((member) => nodes.has(member)) ? rational(bandwidth) : null;
  if (direction !== flow.forests[0].direction) return null;
  const placement = direction === "out" ? collective.pre : collective.post;
  let inside = 0;
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const owner =
      placement.kind === "one"
        ? placement.npu[chunk]
        : placement.kind === "sets"
          ? placement.members[chunk]
          : members[0];
    if (nodes.has(owner)) inside++;
  }
  return inside === 0 ? null : rational(BigInt(bandwidth) * BigInt(collective.chunkCount), BigInt(inside));
}

function drawSets(flow: PlainFlow, draws: Random): DualCertificate["cuts"] {
  const { topology, collective } = flow;
  const members = [...collective.groupMembers];
  return Array.from({ length: 2 + draws.below(8) }, () => {
    const lacking = members[draws.below(members.length)];
    const nodes = topology.nodeNames.map((_, v) => v).filter((v) => v !== lacking && draws.below(3) > 0);
    const direction = draws.below(2) === 0 ? ("out" as const) : ("in" as const);
    return { nodes: Int32Array.from(nodes), direction, weight: rational(draws.below(5), 1 + draws.below(4)) };
  });
}

/** Potentials of some nodes that are no members. */
function drawPotentials(
  { topology, collective }: PlainFlow,
  draws: Random,
): NonNullable<DualCertificate["potentials"]> {
  const members = new Set(collective.groupMembers);
  const drawn = (): Rational => rational(draws.below(9) - 4, 1 + draws.below(3));
  return [...topology.nodeNames.keys()]
    .filter((node) => !members.has(node) && draws.below(3) > 0)
    .map((node) => ({ node, out: drawn(), in: drawn() }));
}

const coverage = (cuts: DualCertificate["cuts"], member: number): Rational =>
  cuts.filter(({ nodes }) => nodes.includes(member)).reduce((sum, { weight }) => add(sum, weight), rational(0));

function dualValue(
  flow: PlainFlow,
  cuts: DualCertificate["cuts"],
  potentials: NonNullable<DualCertificate["potentials"]> = [],
): Rational {
  const gain = (link: number, way: "out" | "in"): Rational => {
    const at = (node: number): Rational => potentials.find((one) => one.node === node)?.[way] ?? rational(0);
    return subtract(at(flow.topology.linkTarget[link]), at(flow.topology.linkSource[link]));
  };
  let bound = rational(0);
  flow.topology.linkBytesPerSecond.forEach((bandwidth, link) => {
    const [out, into] = (["out", "in"] as const).map((direction) =>
      cuts
        .filter((cut) => cut.direction === direction)
        .filter(({ nodes }) => crossing(flow, new Set(nodes), direction).includes(link))
        .reduce((sum, { weight }) => add(sum, weight), gain(link, direction)),
    );
    const more = compare(out, into) > 0 ? out : into;
    if (more.num > 0n) bound = add(bound, multiply(more, rational(bandwidth)));
  });
  return bound;
}

describe("throughputOf", () => {
  test("is what the copies carry, phase after phase or the slower of two at once", () => {
    expect(throughputOf(builtTrees(ringTrees(4)))).toEqual(rational(4n * GB, 3));
    expect(throughputOf(builtTrees(ringAllReduceTrees(3)))).toEqual(rational(3n * GB, 4));
    const both = ringAllReduceTrees(3, true);
    both.forests[0].y = rational(1, 7);
    expect(throughputOf(builtTrees(both))).toEqual(rational(3, 7));
  });
});

describe("judgeCertificate", () => {
  test.each(Object.entries(HAND_MADE_TREES).filter(([, flow]) => flow.forests.length === 1))(
    "proves the %s optimal",
    (_, flow) => {
      const { achieved, proof, violations } = judged(flow);
      expect(violations).toEqual([]);
      expect(proof).toEqual({
        bound: achieved,
        holdsFor: "every schedule",
        optimal: true,
        gap: rational(0),
        phases: null,
      });
    },
  );

  test("proves nothing without a certificate", () => {
    expect(judged(ringTrees(4), null)).toEqual({ achieved: rational(4n * GB, 3), proof: null, violations: [] });
  });

  test("tells a bound of all all-reduces from one of its phases", () => {
    const proof = { bound: rational(GB), holdsFor: "every schedule", optimal: false, gap: rational(1, 4) };
    const phases = { bound: rational(3n * GB, 4), optimal: true };
    expect(judged(ringAllReduceTrees(3)).proof).toEqual({ ...proof, phases });
    expect(judged(ringAllReduceTrees(3, true)).proof).toEqual({ ...proof, phases: null });
  });

  test("proves an all-reduce optimal by weighted sets", () => {
    const cuts = [0, 1, 2].flatMap((lacking) =>
      (["out", "in"] as const).map((direction) => ({
        nodes: everyone(3).filter((v) => v !== lacking),
        direction,
        weight: rational(1, 4),
      })),
    );
    const { proof } = judged(ringAllReduceTrees(3), { kind: "dual", cuts });
    const bound = rational(3n * GB, 4);
    const holdsFor = "every schedule that sums each byte at one NPU";
    expect(proof).toEqual({ bound, holdsFor, optimal: true, gap: rational(0), phases: null });
  });

  test("agrees with the definition on all sets of nodes, and no set is below what correct flows carry", () => {
    let checked = 0;
    let tight = 0;
    for (const flow of drawnFlows(80).filter(({ topology }) => topology.nodeNames.length <= 7)) {
      const nodes = flow.topology.nodeNames.length;
      let least: Rational | null = null;
      for (let mask = 0; mask < 2 ** nodes; mask++) {
        const set = everyone(nodes).filter((v) => (mask >> v) & 1);
        for (const direction of ["out", "in"] as const) {
          const { achieved, proof, violations } = judged(flow, { kind: "cut", nodes: set, direction });
          const bound = cutBound(flow, new Set(set), direction);
          expect(proof?.bound ?? null).toEqual(bound);
          expect(violations.length).toBe(bound === null ? 1 : 0);
          if (bound === null || proof === null) continue;
          if (least === null || compare(bound, least) < 0) least = bound;
          expect(proof.optimal).toBe(compare(bound, achieved) === 0);
          expect(proof.gap).toEqual(divide(subtract(bound, achieved), bound));
          expect(compare(achieved, (proof.phases ?? proof).bound)).toBeLessThanOrEqual(proof.phases === null ? 0 : 1);
          checked++;
        }
      }
      if (least !== null && compare(throughputOf(builtTrees(flow)), least) === 0) tight++;
    }
    expect(checked).toBeGreaterThan(1000);
    expect(tight).toBeGreaterThan(2);
  });

  test("agrees with the definition on weighted sets, which bound every correct all-reduce", () => {
    const flows = drawnFlows(300).filter(({ forests, collective }) => forests.length === 2 && collective.groupSize > 1);
    let proved = 0;
    for (const [number, flow] of flows.entries()) {
      const draws = random(number, 49);
      for (let round = 0; round < 10; round++) {
        const drawn = drawSets(flow, draws);
        const covered = [...flow.collective.groupMembers].map((member) => coverage(drawn, member));
        const least = covered.reduce((a, b) => (compare(a, b) < 0 ? a : b));
        if (least.num === 0n) {
          expect(judged(flow, { kind: "dual", cuts: drawn }).violations[0].message).toMatch(/together, less than 1$/);
          continue;
        }
        const cuts = drawn.map((cut) => ({ ...cut, weight: divide(cut.weight, least) }));
        const { achieved, proof, violations } = judged(flow, { kind: "dual", cuts });
        expect(violations).toEqual([]);
        expect(proof?.bound).toEqual(dualValue(flow, cuts));
        expect(compare(achieved, dualValue(flow, cuts))).toBeLessThanOrEqual(0);
        proved++;
        const potentials = drawPotentials(flow, draws);
        const raised = judged(flow, { kind: "dual", cuts, potentials });
        expect(raised.violations).toEqual([]);
        expect(raised.proof?.bound).toEqual(dualValue(flow, cuts, potentials));
        const tooLight = cuts.map((cut) => ({ ...cut, weight: multiply(cut.weight, rational(999_999, 1_000_000)) }));
        expect(judged(flow, { kind: "dual", cuts: tooLight }).proof).toBeNull();
      }
    }
    expect(proved).toBeGreaterThan(50);
  });

  const around = (weight: Rational, nodes: Int32Array = Int32Array.of(0)) => ({
    nodes,
    direction: "out" as const,
    weight,
  });
  test.each<[string, PlainFlow, Certificate, string]>([
    [
      "a set of all members",
      ringTrees(3),
      { kind: "cut", nodes: everyone(3), direction: "out" },
      "no member is outside the set",
    ],
    [
      "a set of outsiders",
      relayTrees(),
      { kind: "cut", nodes: Int32Array.of(1), direction: "out" },
      "no chunk starts inside the set",
    ],
    [
      "a set of nobody in an all-reduce",
      ringAllReduceTrees(3),
      { kind: "cut", nodes: new Int32Array(0), direction: "out" },
      "no member is inside the set",
    ],
    [
      "a node that is none",
      ringTrees(3),
      { kind: "cut", nodes: Int32Array.of(0, 3), direction: "out" },
      "its set has node 3, which the network does not have",
    ],
    [
      "a node twice",
      ringTrees(3),
      { kind: "cut", nodes: Int32Array.of(1, 1), direction: "out" },
      "the nodes of its set do not ascend at rank 1 (g1)",
    ],
    [
      "the wrong direction",
      ringTrees(3),
      { kind: "cut", nodes: Int32Array.of(0), direction: "in" },
      "this allgather is bounded by what goes out of a set, not into it",
    ],
    [
      "the other wrong direction",
      ringInTrees(3),
      { kind: "cut", nodes: Int32Array.of(0), direction: "out" },
      "this reducescatter is bounded by what goes into a set, not out of it",
    ],
    [
      "no direction",
      ringTrees(3),
      { kind: "cut", nodes: Int32Array.of(0), direction: "up" as "out" },
      "its direction is up, neither out nor in",
    ],
    ["no sets for an all-gather", ringTrees(3), { kind: "dual", cuts: [] }, "no chunk starts inside its sets"],
    [
      "no sets",
      ringAllReduceTrees(3),
      { kind: "dual", cuts: [] },
      "the sets around rank 0 (g0) weigh 0 together, less than 1",
    ],
    [
      "a weight below 0",
      ringAllReduceTrees(3),
      { kind: "dual", cuts: [around(rational(1)), around(rational(-1))] },
      "set 1 has weight -1, below 0",
    ],
    [
      "a potential at a member",
      ringAllReduceTrees(3),
      {
        kind: "dual",
        cuts: [around(rational(1))],
        potentials: [{ node: 1, out: rational(1), in: rational(0) }],
      },
      "it has a potential at the member rank 1 (g1)",
    ],
    [
      "a set of all",
      ringAllReduceTrees(3),
      { kind: "dual", cuts: [around(rational(1), everyone(3))] },
      "set 0: no member is outside the set",
    ],
    [
      "a bound below the flow",
      { ...ringTrees(3), forests: ringTrees(3).forests.map((forest) => ({ ...forest, y: rational(GB) })) },
      { kind: "cut", nodes: Int32Array.of(0, 1), direction: "out" },
      "the flow is faster than that, so one of them is wrong",
    ],
  ])("says why %s proves nothing", (_, flow, certificate, why) => {
    const { proof, violations } = judged(flow, certificate);
    expect(proof).toBeNull();
    expect(violations).toEqual([{ kind: "false-certificate", message: `the certificate proves nothing: ${why}` }]);
  });
});
