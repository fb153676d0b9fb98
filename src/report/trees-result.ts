import { roundedBytes } from "../model/bounds/limit.ts";
import type { Bound, Witness } from "../model/bounds/witness.ts";
import { busFactor } from "../model/collective/collective.ts";
import { divide, format, multiply, type Rational, rational, toNumber } from "../model/numbers/rational.ts";
import { PS_PER_SECOND, toExactGBps, toGBps } from "../model/numbers/units.ts";
import { withOptimism } from "../model/steps/schedule.ts";
import { nodeCount, type Topology } from "../model/topology/topology.ts";
import { type Certificate, copiesOf, groupOrder, listedTrees, type TreeFlow } from "../model/trees/tree-flow.ts";
import { treeTransfers } from "../model/trees/tree-steps.ts";
import { heightsOf } from "../model/trees/tree-times.ts";
import { type JudgedFigures, reportWith } from "./chain.ts";
import { boundReport, collectiveSummary, type Report, type Throughput, timingOf } from "./result.ts";

/** What judges say of trees beside what all reports say. */
export interface TreeFigures {
  readonly pieces: number;
  /** Bytes of the collective's size per second: what the flow reaches. */
  readonly achieved: Rational;
  /** The greatest rate that is proved for trees, as the time that the data takes at it. */
  readonly rateBound: Bound;
  readonly traffic: Report["traffic"] | null;
  readonly repaired: Report["repaired"] | null;
}

/** Returns the bound that a certificate proves, at this many bytes of the collective's size per second. */
export function boundOfCertificate(
  { topology, collective }: Pick<TreeFlow, "topology" | "collective">,
  certificate: Certificate,
  bytesPerSecond: Rational,
): Bound {
  const ps = divide(rational(BigInt(collective.sizeBytes) * BigInt(PS_PER_SECOND)), bytesPerSecond);
  if (certificate.kind === "cut") return { ps, witness: cutWitness(topology, certificate, ps) };
  const cuts = certificate.cuts.map(({ nodes, direction, weight }) => ({
    nodes: [...nodes],
    direction,
    weight: format(weight),
  }));
  const potentials = certificate.potentials?.map((own) => ({
    node: own.node,
    out: format(own.out),
    in: format(own.in),
  }));
  return { ps, witness: { kind: "dual", cuts, ...(potentials === undefined ? {} : { potentials }) } };
}

/** The cut seen from its smaller side. */
function cutWitness(
  topology: Topology,
  { nodes, direction }: Extract<Certificate, { kind: "cut" }>,
  ps: Rational,
): Witness {
  const inside = new Uint8Array(nodeCount(topology));
  for (const node of nodes) inside[node] = 1;
  const flipped = 2 * nodes.length > inside.length;
  const shown = flipped ? [...inside.keys()].filter((v) => inside[v] === 0) : [...nodes];
  const side = flipped ? 0 : 1;
  const seen = flipped === (direction === "out") ? "in" : "out";
  let bytesPerSecond = 0;
  for (let e = 0; e < topology.linkSource.length; e++) {
    const [from, to] = [inside[topology.linkSource[e]], inside[topology.linkTarget[e]]];
    if (from !== to && (seen === "in") === (to === side)) bytesPerSecond += topology.linkBytesPerSecond[e];
  }
  const bytes = divide(multiply(ps, rational(bytesPerSecond)), rational(PS_PER_SECOND));
  return {
    kind: "cut",
    nodes: shown,
    direction: seen,
    npusInside: shown.filter((v) => v < topology.npuCount).length,
    entryGBps: toGBps(bytesPerSecond),
    demand: roundedBytes(Math.round(toNumber(bytes))),
    bytes: format(bytes),
  };
}

/** Returns what the flow reaches with ever more pieces. O(links of all edges). */
function throughputOf(flow: TreeFlow, { achieved, rateBound }: TreeFigures): Throughput {
  const { collective, forests, symmetry } = flow;
  const algbw = toExactGBps(achieved);
  const best = divide(rational(BigInt(collective.sizeBytes) * BigInt(PS_PER_SECOND)), achieved);
  const { greatest, mean } = heightsOf(flow);
  const [forest] = forests;
  const all = Number(copiesOf(forest, symmetry));
  const perRoot = new Map<number, number>();
  forest.root.forEach((root, t) => {
    perRoot.set(root, (perRoot.get(root) ?? 0) + (forest.copies[t] as number));
  });
  const roots = perRoot.size * groupOrder(symmetry);
  const oneRoot = collective.kind === "broadcast" || collective.kind === "reduce";
  const equal = new Set(perRoot.values()).size === 1 && (oneRoot || roots === collective.groupSize);
  return {
    algbwGBps: toNumber(algbw),
    busbwGBps: toNumber(algbw) * busFactor(collective.kind, collective.groupSize),
    exact: format(algbw),
    treesPerRoot: equal ? all / roots : null,
    distinctTrees: listedTrees(flow) * groupOrder(symmetry),
    copyGBps: toNumber(toExactGBps(forest.copyBytesPerSecond)),
    height: greatest,
    meanHeight: mean,
    bound: boundReport(flow.topology, collective, rateBound),
    ofBound: toNumber(multiply(rateBound.ps, divide(rational(1), best))),
  };
}

/** Returns the report of a judged tree flow. */
export function treesReport(flow: TreeFlow, trees: TreeFigures, judged: JudgedFigures): Report {
  const { topology, collective } = flow;
  const { pieces, traffic, repaired } = trees;
  const notes = withOptimism(flow, judged.notes ?? []);
  const timing = (ps: number) => timingOf(collective, ps);
  return reportWith(
    {
      collective: collectiveSummary(topology, collective),
      schedule: {
        kind: "trees",
        transfers: flow.inNetwork === true ? null : treeTransfers(flow, pieces),
        file: null,
        trees: listedTrees(flow),
        pieces,
      },
      throughput: throughputOf(flow, trees),
      ...(traffic === null || traffic === undefined ? {} : { traffic }),
      ...(repaired === null || repaired === undefined ? {} : { repaired }),
    },
    { topology, sizeBytes: collective.sizeBytes, timing, plannedPs: null },
    { ...judged, notes },
  );
}
