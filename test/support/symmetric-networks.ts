import fc from "fast-check";
import type { Collective } from "../../src/model/collective/collective.ts";
import { hasRoot } from "../../src/model/collective/collective.ts";
import type { Target } from "../../src/model/topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** Generates networks of at most 7 nodes that often look alike from many of them: few figures, circulants, stars, boxes, parallel links. */
export const anySmallNetwork = (): fc.Arbitrary<Topology> =>
  fc
    .record({
      npus: fc.integer({ min: 2, max: 5 }),
      switches: fc.integer({ min: 0, max: 2 }),
      offsets: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
      star: fc.boolean(),
      boxes: fc.constantFrom(0, 2, 3),
      extra: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 2 }), fc.boolean()), { maxLength: 5 }),
    })
    .map(({ npus, switches, offsets, star, boxes, extra }) => {
      const builder = topologyBuilder("small");
      const traits = (node: number) => (boxes === 0 ? {} : { group: `box${Math.floor(node / boxes)}` });
      for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`, traits(npu));
      for (let s = 0; s < switches; s++) builder.addSwitch(`sw${s}`, s === 1 && boxes === 2 ? { multicast: true } : {});
      const cable = (a: number, b: number, gb: number, both = true): void => {
        if (a === b) return;
        builder.addLink(a, b, gb * 1e9, 5);
        if (both) builder.addLink(b, a, gb * 1e9, 5);
      };
      for (const offset of offsets) for (let v = 0; v < npus; v++) cable(v, (v + offset) % npus, 1);
      for (let s = 0; s < switches && star; s++) for (let v = 0; v < npus; v++) cable(v, npus + s, 2);
      const nodes = npus + switches;
      for (const [a, b, gb, both] of extra) cable(a % nodes, b % nodes, gb, both);
      return builder.build();
    });

/** Generates what fails: some nodes and some links, both ways of a cable or one. */
export const anyFailure = (topology: Topology): fc.Arbitrary<Target[]> => {
  const { linkSource, linkTarget } = topology;
  const links = linkCount(topology);
  const backOf = (link: number): number[] => {
    const back = linkSource.findIndex(
      (from, other) => from === linkTarget[link] && linkTarget[other] === linkSource[link],
    );
    return back < 0 ? [] : [back];
  };
  const node = fc.nat(nodeCount(topology) - 1).map((one) => ({ nodes: [one], links: [] }));
  const link = fc.nat(Math.max(0, links - 1)).map((one) => ({ nodes: [], links: links === 0 ? [] : [one] }));
  const cable = link.map((one) => ({ nodes: [], links: one.links.flatMap((at) => [at, ...backOf(at)]) }));
  return fc.array(fc.oneof(node, link, cable), { minLength: 1, maxLength: 3 });
};

/** Yields the permutations of 0 .. count - 1. */
export function* permutations(count: number, chosen: number[] = []): Generator<number[]> {
  if (chosen.length === count) yield [...chosen];
  for (let i = 0; i < count; i++) {
    if (chosen.includes(i)) continue;
    chosen.push(i);
    yield* permutations(count, chosen);
    chosen.pop();
  }
}

/** Returns what is there and asked of a network in words, its nodes renamed: equal for two namings where a map takes one to the other. */
export function wordsOf(topology: Topology, collective: Collective, name: readonly number[]): string {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeTraits, npuCount } = topology;
  const { groupMembers, groupSize, groupCount, kind, rootRank } = collective;
  const links = Array.from(linkSource, (from, link) =>
    [name[from], name[linkTarget[link]], linkBytesPerSecond[link], linkLatencyPs[link]].join(" "),
  );
  const nodes = name.map((as, node) => {
    const { group, ...able } = nodeTraits[node] ?? {};
    const box = name.filter((_, other) => group !== undefined && nodeTraits[other]?.group === group);
    return `${as} ${node < npuCount} ${JSON.stringify(able)} ${box.sort()}`;
  });
  const groups = Array.from({ length: groupCount }, (_, g) => {
    const members = [...groupMembers.subarray(g * groupSize, (g + 1) * groupSize)].map((npu) => name[npu]);
    return `${hasRoot(kind) ? members[rootRank] : "none"}: ${members.sort()}`;
  });
  return [...links.sort(), ...nodes.sort(), ...groups.sort()].join("\n");
}

/** Returns what a failure takes out in words: nodes, and how many of the equal links between nodes that stay. */
export function lostIn(topology: Topology, failure: readonly Target[], name: readonly number[]): string {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = new Set(failure.flatMap((one) => one.nodes));
  const links = [...new Set(failure.flatMap((one) => one.links))].filter(
    (link) => !nodes.has(linkSource[link]) && !nodes.has(linkTarget[link]),
  );
  const words = links.map((link) => `${name[linkSource[link]]}>${name[linkTarget[link]]} ${linkBytesPerSecond[link]}`);
  return [...[...nodes].map((node) => name[node]).sort(), "|", ...words.sort()].join();
}
