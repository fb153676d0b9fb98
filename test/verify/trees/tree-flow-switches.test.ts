import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { numberedSets } from "../../../src/model/graph/graph.ts";
import { multiply, rational } from "../../../src/model/numbers/rational.ts";
import { nodeCount } from "../../../src/model/topology/topology.ts";
import { expandTrees } from "../../../src/model/trees/tree-expansion.ts";
import type { Forest, TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { trafficOf } from "../../../src/model/trees/tree-multicast.ts";
import { nvls } from "../../../src/synthesize/trees/nvls.ts";
import { eachServedRun, verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { ABLE, drawnAbleFlow, withinSwitches, withTraits } from "../../support/able-switches.ts";
import { treeContext, treeRequest } from "../../support/tree-requests.ts";

const KINDS = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"] as const;

const kindsOf = (flow: TreeFlow): string[] => [...new Set(verifyTreeFlow(flow).violations.map(({ kind }) => kind))];

/** Returns [trees] the runs over which each tree's data goes, as lists of links. */
function runsOf(flow: TreeFlow, forest: Forest): number[][][] {
  const runs: number[][][] = Array.from(forest.root, () => []);
  const alone = numberedSets(nodeCount(flow.topology), (v) => v);
  eachServedRun(flow, forest, alone, (tree, from, to) => runs[tree].push([...forest.links.subarray(from, to)]));
  return runs;
}

/** Returns what is wrong with the runs of a tree, from what they are for alone. */
function faults({ topology }: TreeFlow, { direction }: Forest, root: number, members: Set<number>, runs: number[][]) {
  const isOut = direction === "out";
  const [near, far] = isOut ? [topology.linkSource, topology.linkTarget] : [topology.linkTarget, topology.linkSource];
  const able = (node: number): boolean =>
    node >= topology.npuCount && topology.nodeTraits[node][isOut ? "multicast" : "aggregation"] === true;
  const found: string[] = [];
  const has = new Set([root]);
  const entered: number[] = [];
  for (let left = runs; left.length > 0; ) {
    const now = left.filter(([first]) => has.has(near[first]));
    if (now.length === 0) return [...found, "runs wait for each other"];
    left = left.filter((run) => !now.includes(run));
    for (const run of now) {
      if (!members.has(near[run[0]]) && !able(near[run[0]])) found.push("a run starts where nothing duplicates");
      run.forEach((link, i) => {
        if (i > 0 && near[link] !== far[run[i - 1]]) found.push("a run is no path");
        const node = far[link];
        if (able(node) || i === run.length - 1) entered.push(node);
      });
      for (const link of run) if (able(far[link]) || members.has(far[link])) has.add(far[link]);
    }
  }
  if (new Set(entered).size !== entered.length) found.push("a switch or a member gets the data twice");
  for (const member of members) if (!has.has(member)) found.push(`${member} gets nothing`);
  return found;
}

describe("the judge of switches that duplicate and sum", () => {
  it.each(KINDS)(
    "sees every tree's data come to all, into each able switch once, over the links counted: %s",
    (kind) => {
      const draws = random(3, 17);
      for (let round = 0; round < 60; round++) {
        const flow = drawnAbleFlow(kind, draws, { concurrent: kind === "allreduce" && round % 2 === 0 });
        const members = new Set(flow.collective.groupMembers);
        const { copies } = trafficOf(flow, true);
        flow.forests.forEach((forest, f) => {
          const loads = copies[f].map(() => 0n);
          runsOf(flow, forest).forEach((runs, tree) => {
            expect(faults(flow, forest, forest.root[tree], members, runs)).toEqual([]);
            for (const link of runs.flat()) loads[link] += BigInt(forest.copies[tree]);
          });
          // what the model counts and what the judge does, by code that they do not share
          expect(loads).toEqual(copies[f]);
        });
        expect(verifyTreeFlow(flow).violations).toEqual([]);
      }
    },
  );

  it("finds what is broken: more bandwidth, a switch without the trait, a flow without the flag", () => {
    const draws = random(4, 18);
    const seen = { trait: 0, flag: 0 };
    for (let round = 0; round < 100; round++) {
      const flow = drawnAbleFlow(KINDS[round % 5], draws, { concurrent: round % 2 === 0 && round % 5 === 2 });
      const faster = multiply(flow.forests[0].copyBytesPerSecond, rational(1_000_000_001, 1_000_000_000));
      const forests = flow.forests.map((forest) => ({ ...forest, copyBytesPerSecond: faster }));
      expect(kindsOf({ ...flow, forests })).toEqual(["link-overload"]);
      const { inNetwork: _, ...plain } = flow;
      const plainLoads = trafficOf(flow, false).copies;
      const saves = flow.forests.some((_, f) =>
        plainLoads[f].some((load, link) => {
          const { num, den } = flow.forests[f].copyBytesPerSecond;
          return load * num > BigInt(flow.topology.linkBytesPerSecond[link]) * den;
        }),
      );
      if (!flow.concurrent) expect(kindsOf(plain)).toEqual(saves ? ["link-overload"] : []);
      if (kindsOf(plain).length === 0) continue;
      seen.flag++;
      // without any of the traits the flag says nothing
      const unable = { ...flow, topology: withTraits(flow.topology, () => ({})) };
      expect(kindsOf(unable)).toEqual(["link-overload"]);
      for (let node = flow.topology.npuCount; node < nodeCount(flow.topology); node++) {
        const one = withTraits(flow.topology, (v) => (v === node ? {} : flow.topology.nodeTraits[v]));
        const without = { ...flow, topology: one };
        const fits = withinSwitches(without).forests.every(({ copyBytesPerSecond: { num, den } }, f) => {
          const y = flow.forests[f].copyBytesPerSecond;
          return num * y.den >= y.num * den;
        });
        expect(kindsOf(without)).toEqual(fits ? [] : ["link-overload"]);
        if (!fits) seen.trait++;
      }
    }
    expect(seen.flag).toBeGreaterThan(20);
    expect(seen.trait).toBeGreaterThan(20);
  });

  it("lets a switch do for all images only what all its images can", async () => {
    const { flow } = await nvls.make(treeRequest("dgx-h100:2", "allreduce"), treeContext(jsKernels));
    expect(flow.symmetry).not.toBeNull();
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    expect(verifyTreeFlow(expandTrees(flow)).violations).toEqual([]);
    const half = { ...flow, topology: withTraits(flow.topology, (v) => (v === 16 ? ABLE : {})) };
    expect(kindsOf(half)).toEqual(["link-overload"]);
    expect(verifyTreeFlow(withinSwitches(half)).violations).toEqual([]);
    expect(kindsOf(expandTrees(half))).toEqual(["link-overload"]);
  });

  it("refuses a flag that is neither there nor not, and does not stumble over trees that are none", () => {
    const flow = drawnAbleFlow("allgather", random(1, 1));
    expect(kindsOf({ ...flow, inNetwork: false } as unknown as TreeFlow)).toEqual(["malformed"]);
    const draws = random(9, 9);
    for (let round = 0; round < 200; round++) {
      const any = drawnAbleFlow(KINDS[round % 5], draws);
      const links = any.forests[0].links.slice();
      for (let i = 0; i < 3; i++) links[draws.below(links.length)] = draws.below(any.topology.linkSource.length);
      const forests = [{ ...any.forests[0], links }, ...any.forests.slice(1)];
      for (const { message } of verifyTreeFlow({ ...any, forests }).violations)
        expect(message).not.toMatch(/undefined|NaN/);
    }
  });
});
