import { describe, expect, it } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { reversed, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { DualCertificate } from "../../../src/model/trees/tree-flow.ts";
import { forestcoll } from "../../../src/synthesize/forestcoll/forestcoll.ts";
import { forwardsTooLittle } from "../../../src/synthesize/forestcoll/forwarding.ts";
import { packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { programRows } from "../../../src/synthesize/program-rows.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "../../support/backends.ts";
import { treeContext, treeRequest } from "../../support/tree-requests.ts";

const [kernels] = await availableKernels();
const context = { ...treeContext(kernels), lp: openHighs };
const lp = await openHighs();
const EVERYONE = (topology: Topology): Int32Array => Int32Array.from({ length: topology.npuCount }, (_, v) => v);

/** Returns a network of 3 or 4 NPUs and 1 or 2 switches whose links have nothing to do with each other. */
function unbalanced(seed: number): Topology {
  const draws = random(seed, 28);
  const npus = 3 + draws.below(2);
  const switches = 1 + draws.below(2);
  const builder = topologyBuilder(`unbalanced ${seed}`);
  builder.addNumberedNpus(npus);
  for (let s = 0; s < switches; s++) builder.addSwitch(`s${s}`);
  const nodes = npus + switches;
  for (let from = 0; from < nodes; from++) {
    for (let to = 0; to < nodes; to++) {
      const often = from >= npus || to >= npus ? 3 : 1;
      if (from !== to && draws.below(4) < often) builder.addLink(from, to, 1 + draws.below(6), 0);
    }
  }
  return builder.build();
}

/** Returns the paths from each NPU to each other one through switches, as lists of links. */
function pathsOf(topology: Topology): number[][][][] {
  const { npuCount, linkSource, linkTarget } = topology;
  const paths: number[][][][] = Array.from({ length: npuCount }, () => Array.from({ length: npuCount }, () => []));
  const walk = (root: number, at: number, links: number[], passed: readonly number[]): void => {
    for (let link = 0; link < linkSource.length; link++) {
      const to = linkTarget[link];
      if (linkSource[link] !== at || to === root || passed.includes(to)) continue;
      if (to < npuCount) paths[root]?.[to]?.push([...links, link]);
      else walk(root, to, [...links, link], [...passed, to]);
    }
  };
  for (let root = 0; root < npuCount; root++) walk(root, root, [], []);
  return paths;
}

/** Returns every tree from each root as the links that it uses, by trying every parent and every path. */
function treesOf(topology: Topology): { readonly root: number; readonly links: readonly number[] }[] {
  const { npuCount } = topology;
  const paths = pathsOf(topology);
  const trees: { root: number; links: number[] }[] = [];
  for (let root = 0; root < npuCount; root++) {
    const others = [...EVERYONE(topology)].filter((v) => v !== root);
    const parent = new Int32Array(npuCount).fill(-1);
    const reaches = (v: number, left = npuCount): boolean =>
      v === root || (left > 0 && parent[v] >= 0 && reaches(parent[v] as number, left - 1));
    const choose = (i: number): void => {
      if (i < others.length) {
        for (let from = 0; from < npuCount; from++) {
          if (from === others[i]) continue;
          parent[others[i] as number] = from;
          choose(i + 1);
        }
        return;
      }
      if (!others.every((v) => reaches(v))) return;
      let found: number[][] = [[]];
      for (const v of others)
        found = found.flatMap((links) => (paths[parent[v] as number]?.[v] ?? []).map((path) => [...links, ...path]));
      for (const links of found) trees.push({ root, links });
    };
    choose(0);
  }
  return trees;
}

/** Returns the most that every NPU can broadcast at once over all trees there are: one variable for each tree. */
function brute(topology: Topology): number {
  const trees = treesOf(topology);
  const { npuCount, linkBytesPerSecond } = topology;
  const rows = programRows();
  for (let v = 0; v < npuCount; v++)
    rows.add(Number.NEGATIVE_INFINITY, 0, [
      [0, 1],
      ...trees.flatMap(({ root }, t) => (root === v ? [[t + 1, -1] as const] : [])),
    ]);
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    const uses = trees.map(({ links }) => links.filter((one) => one === link).length);
    rows.add(
      Number.NEGATIVE_INFINITY,
      linkBytesPerSecond[link] as number,
      uses.map((count, t) => [t + 1, count] as const),
    );
  }
  const objective = new Float64Array(trees.length + 1);
  objective[0] = 1;
  const upper = new Float64Array(trees.length + 1).fill(Number.POSITIVE_INFINITY);
  const solution = lp.solve({ objective, lower: new Float64Array(trees.length + 1), upper, rows: rows.lpRows() });
  expect(solution.status).toBe("optimal");
  return solution.objective * npuCount;
}

describe("forestcoll on networks whose switches send on more than comes in", () => {
  it("reaches the optimum over all trees there are, with a certificate", async () => {
    let tried = 0;
    let short = 0;
    for (let seed = 0; seed < 120; seed++) {
      const topology = unbalanced(seed);
      const best = brute(topology);
      if (best < 1e-9) continue;
      tried++;
      for (const kind of ["allgather", "reducescatter"] as const) {
        const network = kind === "allgather" ? topology : reversed(topology);
        const usable = network.linkBytesPerSecond;
        if (forwardsTooLittle(packingNetwork(network, EVERYONE(network), usable, "out"))) short++;
        const { flow } = await forestcoll.make(treeRequest(topology, kind), context);
        expect(verifyTreeFlow(flow).violations).toEqual([]);
        const verdict = judgeCertificate(flow);
        expect(verdict.violations).toEqual([]);
        expect(verdict.proof?.optimal, `${seed} ${kind}`).toBe(true);
        const wanted = kind === "allgather" ? best : brute(reversed(topology));
        expect(toNumber(throughputOf(flow)) / wanted, `${seed} ${kind}`).toBeCloseTo(1, 6);
      }
    }
    expect(tried).toBeGreaterThan(60);
    expect(short).toBeGreaterThan(60);
  });

  it("has certificates that prove nothing below the optimum, however they are changed", async () => {
    const draws = random(5, 281);
    let proved = 0;
    for (let seed = 0; seed < 40; seed++) {
      const topology = unbalanced(seed);
      const best = brute(topology);
      if (best < 1e-9) continue;
      const { flow } = await forestcoll.make(treeRequest(topology, "allgather"), context);
      const { certificate } = flow;
      if (certificate?.kind !== "dual") continue;
      for (let change = 0; change < 60; change++) {
        const verdict = judgeCertificate({ ...flow, certificate: changed(certificate, topology, draws) });
        if (verdict.proof === null) continue;
        proved++;
        expect(toNumber(verdict.proof.bound), `${seed} ${change}`).toBeGreaterThan(best * (1 - 1e-9));
      }
    }
    expect(proved).toBeGreaterThan(100);
  });
});

/** Returns a certificate with one set, weight or potential changed. */
function changed(certificate: DualCertificate, topology: Topology, draws: Random): DualCertificate {
  const { cuts, potentials = [] } = certificate;
  const one = draws.below(cuts.length);
  const other = rational(draws.below(9) - 2, 1 + draws.below(4));
  const switches = Array.from(
    { length: topology.nodeNames.length - topology.npuCount },
    (_, s) => topology.npuCount + s,
  );
  switch (draws.below(3)) {
    case 0:
      return { ...certificate, cuts: cuts.map((cut, i) => (i === one ? { ...cut, weight: other } : cut)) };
    case 1: {
      const nodes = Int32Array.from(topology.nodeNames.keys()).filter(() => draws.below(2) === 0);
      return { ...certificate, cuts: cuts.map((cut, i) => (i === one ? { ...cut, nodes } : cut)) };
    }
    default: {
      const moved = switches[draws.below(switches.length)] as number;
      const rest = potentials.filter(({ node }) => node !== moved);
      const all = [...rest, { node: moved, out: other, in: rational(0) }].sort((a, b) => a.node - b.node);
      return { ...certificate, potentials: all };
    }
  }
}
