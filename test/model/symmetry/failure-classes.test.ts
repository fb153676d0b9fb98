import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLLECTIVE_KINDS, type Collective, collective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { type FailureClasses, failureClasses } from "../../../src/model/symmetry/failure-classes.ts";
import type { NetworkMap } from "../../../src/model/symmetry/network-maps.ts";
import { degrade, resolver, type Target, without } from "../../../src/model/topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import { runs } from "../../support/runs.ts";
import { anyFailure, anySmallNetwork, lostIn, permutations, wordsOf } from "../../support/symmetric-networks.ts";

/** An all-gather of all NPUs. */
const ofAll = (
  { npuCount }: Topology,
  kind: (typeof COLLECTIVE_KINDS)[number] = "allgather",
  rootRank = 0,
): Collective =>
  collective({
    kind,
    groups: [Int32Array.from({ length: npuCount }, (_, npu) => npu)],
    sizeBytes: 2 ** 20,
    chunksPerNpu: 1,
    rootRank,
  });

/** Returns the targets of failures written as `--without-each` takes them. */
const named = (topology: Topology, failures: readonly string[]): Target[][] =>
  failures.map((failure) => failure.split("+").map(resolver(topology, "failures")));

/** Holds a map against every node and link, and against what it takes one failure to. */
function holds(topology: Topology, { node, link }: NetworkMap, from: readonly Target[], to: readonly Target[]): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  expect([...node].sort((a, b) => a - b)).toEqual(Array.from({ length: nodeCount(topology) }, (_, i) => i));
  expect([...link].sort((a, b) => a - b)).toEqual(Array.from({ length: linkCount(topology) }, (_, i) => i));
  node.forEach((image, v) => expect(image < npuCount).toBe(v < npuCount));
  link.forEach((image, e) => {
    expect([linkSource[image], linkTarget[image], linkBytesPerSecond[image], linkLatencyPs[image]]).toEqual([
      node[linkSource[e]],
      node[linkTarget[e]],
      linkBytesPerSecond[e],
      linkLatencyPs[e],
    ]);
  });
  const gone = (failure: readonly Target[]) => {
    const nodes = new Set(failure.flatMap((one) => one.nodes));
    const links = failure.flatMap((one) => one.links);
    return { nodes, links: new Set(links.filter((e) => !nodes.has(linkSource[e]) && !nodes.has(linkTarget[e]))) };
  };
  const [lost, other] = [gone(from), gone(to)];
  expect(new Set([...lost.nodes].map((v) => node[v]))).toEqual(other.nodes);
  expect(new Set([...lost.links].map((e) => link[e]))).toEqual(other.links);
}

/** Returns the classes as the numbers of the first failures that all maps of the network, tried one by one, take to each. */
function byAllMaps(topology: Topology, asked: Collective, failures: readonly (readonly Target[])[]): number[] {
  const same = Array.from({ length: nodeCount(topology) }, (_, v) => v);
  const words = wordsOf(topology, asked, same);
  const maps = [...permutations(nodeCount(topology))].filter((map) => wordsOf(topology, asked, map) === words);
  const images = failures.map((failure) => new Set(maps.map((map) => lostIn(topology, failure, map))));
  const own = failures.map((failure) => lostIn(topology, failure, same));
  return own.map((lost) => images.findIndex((all) => all.has(lost)));
}

const firsts = ({ classOf, firstOf }: FailureClasses): number[] => Array.from(classOf, (of) => firstOf[of] as number);

describe("classes of failures", () => {
  it("are those of all maps of small networks, tried one by one, and each map is one", () => {
    const cases = anySmallNetwork().chain((topology) =>
      fc.record({
        topology: fc.constant(topology),
        failures: fc.array(anyFailure(topology), { minLength: 2, maxLength: 12 }),
        kind: fc.constantFrom(...COLLECTIVE_KINDS),
        size: fc.integer({ min: 1, max: topology.npuCount }),
        pairs: fc.boolean(),
        root: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(cases, ({ topology, failures, kind, size, pairs, root }) => {
        const { npuCount } = topology;
        const groups =
          pairs && npuCount >= 4
            ? [Int32Array.of(0, 1), Int32Array.of(2, 3)]
            : [Int32Array.from({ length: size }, (_, r) => r)];
        const rootRank = root % (groups[0] as Int32Array).length;
        const asked = collective({ kind, groups, sizeBytes: 1024, chunksPerNpu: 1, rootRank });
        const classes = failureClasses(topology, asked, failures);
        expect(firsts(classes)).toEqual(byAllMaps(topology, asked, failures));
        failures.forEach((failure, i) => {
          const first = failures[classes.firstOf[classes.classOf[i]]];
          holds(topology, classes.mapTo(i), first, failure);
          const found = classes.find(failure);
          expect(found?.of).toBe(classes.classOf[i]);
        });
      }),
      { numRuns: runs(150) },
    );
  });
});
