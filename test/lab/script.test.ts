import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { labNetwork } from "../../src/lab/network.ts";
import { forwardingOf, type WantedPath } from "../../src/lab/paths.ts";
import { bucketOf, buildScript, bundleFrames } from "../../src/lab/script.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import { isNpu, outLinks, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { builtBy, walked } from "../support/lab-script.ts";
import { LABORATORIES, leaves, rails } from "../support/random-laboratories.ts";
import { runs } from "../support/runs.ts";

const pairsOf = ({ npuCount }: Topology): [number, number][] =>
  Array.from({ length: npuCount * npuCount }, (_, pair): [number, number] => [
    Math.floor(pair / npuCount),
    pair % npuCount,
  ]).filter(([source, target]) => source !== target);

/** Returns a random way from a node to some NPU that comes by no node twice; null: it ran into a dead end. */
function wander(topology: Topology, draws: ReturnType<typeof random>, start: number): number[] | null {
  const { offset, links } = outLinks(topology);
  const way = [start];
  for (let steps = 1 + draws.below(5); ; ) {
    const at = way.at(-1) as number;
    const next = Array.from(links.subarray(offset[at], offset[at + 1]), (link) => topology.linkTarget[link]);
    const fresh = next.filter((node) => !way.includes(node));
    if (fresh.length === 0) return null;
    way.push(fresh[draws.below(fresh.length)] as number);
    if (isNpu(topology, way.at(-1) as number) && --steps <= 0) return way;
  }
}

/** Returns the least number of links between two nodes. */
function distance(topology: Topology, source: number, target: number): number {
  const { offset, links } = outLinks(topology);
  const far = new Map([[source, 0]]);
  for (const [node, steps] of far)
    for (const link of links.subarray(offset[node], offset[node + 1]))
      if (!far.has(topology.linkTarget[link])) far.set(topology.linkTarget[link], steps + 1);
  return far.get(target) as number;
}

const built = (topology: Topology, wanted: readonly WantedPath[] = []) => {
  const network = labNetwork(topology, null);
  const forwarding = forwardingOf(network.topology, wanted);
  const script = buildScript(network, forwarding);
  return { network, forwarding, script, made: builtBy(script) };
};

const NETWORKS: readonly Topology[] = [
  ...["ring:4", "mesh:3x3", "torus:4x4", "hypercube:3", "switch:5", "dgx-a100:2", "fat-tree:4x2"].map(presetTopology),
  without(presetTopology("mesh:4x4"), ["0-1"]),
  leaves([3, 2, 4], 25_000_000),
  rails(2, 4, 50_000_000),
];

describe("packets in a laboratory", () => {
  it.each(NETWORKS.map((topology) => [topology.name, topology] as const))(
    "of %s take a shortest way, the one that was said",
    (_, topology) => {
      const { forwarding, made } = built(topology);
      for (const [source, target] of pairsOf(topology)) {
        const way = walked(made, source, target);
        expect(way).toEqual(forwarding.paths[source * topology.npuCount + target]);
        // what joins another way at a switch may come to a port that is farther
        if (topology.nodeNames.length === topology.npuCount)
          expect(way.length - 1).toBe(distance(topology, source, target));
      }
    },
  );

  it("take the ways that are wanted, whatever these are, and each of several that meet its own", () => {
    let exceptions = 0;
    let kept = 0;
    let wantedInAll = 0;
    for (let seed = 1; seed <= runs(60); seed++) {
      const draws = random(seed, 3);
      const families = Object.values(LABORATORIES);
      const topology = (families[seed % families.length] as (seed: number) => Topology)(seed);
      const best = new Map<string, WantedPath>();
      for (let i = 0; i < 12; i++) {
        const nodes = wander(topology, draws, draws.below(topology.npuCount));
        if (nodes === null) continue;
        const pair = `${nodes[0]} ${nodes.at(-1)}`;
        const bytes = 1 + draws.below(100);
        if (bytes > (best.get(pair)?.bytes ?? 0)) best.set(pair, { nodes, bytes });
      }
      const { forwarding, made } = built(topology, [...best.values()]);
      for (const [source, target] of pairsOf(topology))
        expect(walked(made, source, target)).toEqual(forwarding.paths[source * topology.npuCount + target]);
      for (const { nodes } of best.values()) {
        wantedInAll++;
        const way = forwarding.paths[(nodes[0] as number) * topology.npuCount + (nodes.at(-1) as number)];
        const isKept = `${way}` === `${nodes}`;
        // only switches, which know no sources, join ways
        if (!nodes.some((node) => !isNpu(topology, node))) expect(isKept).toBe(true);
        if (isKept) kept++;
      }
      exceptions += forwarding.exceptions.length;
    }
    expect(kept / wantedInAll).toBeGreaterThan(0.8);
    expect(exceptions).toBeGreaterThan(20);
  });
});

describe("links of a laboratory", () => {
  it("have a bucket each way at their own rate, and none where there is no link", () => {
    const builder = topologyBuilder("one way");
    const [a, b, c] = ["a", "b", "c"].map((name) => builder.addNpu(name)) as [number, number, number];
    builder.addLink(a, b, 4e9, 0);
    builder.addLink(b, c, 2e9, 0);
    builder.addLink(c, a, 1e9, 0);
    const { made, network } = built(builder.build());
    const rate = network.fastestBitsPerSecond;
    expect(made.nodes.map(({ buckets }) => [...buckets].map(([device, [bits]]) => [device, bits]))).toEqual([
      [["e1", rate]],
      [["e2", rate / 2]],
      [["e0", rate / 4]],
    ]);
    expect(walked(made, 1, 0)).toEqual([1, 2, 0]);
  });

  it("let no more pass at once than a bundle and a frame, and hold half a second of what they carry", () => {
    for (const bytesPerSecond of [1e3, 1e5, 2.5e6, 2.5e7, 1.25e9]) {
      const frames = bundleFrames(bytesPerSecond);
      const { rate, burst, limit } = bucketOf(bytesPerSecond, frames);
      expect(rate).toBe(8 * bytesPerSecond);
      expect(burst).toBeGreaterThanOrEqual(1514 * frames);
      expect(burst).toBeLessThanOrEqual(1514 * 6);
      expect(limit - burst).toBeGreaterThanOrEqual(bytesPerSecond / 2);
    }
  });

  it("let acknowledgements pass first, from the same bucket", () => {
    const { script, made } = built(presetTopology("ring:3"));
    const [[device, [rate, burst, limit]]] = [...(made.nodes[1] as (typeof made.nodes)[number]).buckets] as [
      [string, readonly [number, number, number]],
    ];
    const bucket = `ceil ${rate}bit burst ${burst} cburst ${burst} quantum ${burst}`;
    const lines = script.split("\n").filter((line) => line.includes(`dev ${device} `) && /htb|u32|bfifo/.test(line));
    expect(lines.slice(0, 6)).toEqual([
      `qdisc add dev ${device} root handle 1: htb default 2`,
      `class add dev ${device} parent 1: classid 1:9 htb rate ${rate}bit ${bucket}`,
      `class add dev ${device} parent 1:9 classid 1:1 htb prio 1 rate 8bit ${bucket}`,
      `class add dev ${device} parent 1:9 classid 1:2 htb prio 2 rate 8bit ${bucket}`,
      `filter add dev ${device} parent 1: protocol ip u32 match u16 0 0xffc0 at 2 flowid 1:1`,
      `qdisc add dev ${device} parent 1:2 bfifo limit ${limit}`,
    ]);
  });

  it("are all there, with addresses that are theirs alone, also of 64 NPUs", () => {
    const topology = presetTopology("torus:8x8");
    const { made, script } = built(topology);
    const hardware = made.nodes.flatMap(({ devices }) => [...devices.values()]);
    expect(hardware).toHaveLength(256);
    expect(new Set(hardware).size).toBe(256);
    const addresses = made.nodes.flatMap(({ addresses: own }) => [...own]);
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const mac of hardware) expect(mac).toMatch(/^02(:[0-9a-f]{2}){5}$/);
    for (const [text] of script.matchAll(/\b10\.\d+\.\d+\.\d+/g))
      expect(text.split(".").every((part) => Number(part) <= 255)).toBe(true);
  });
});

it("names of a network are not in its script", () => {
  const builder = topologyBuilder("$(touch x)");
  const [a, b] = ["`reboot`", "'; rm -rf / #"].map((name) => builder.addNpu(name)) as [number, number];
  builder.addDuplex(a, b, 1e9, 0);
  const { script } = built(builder.build());
  expect(script).not.toMatch(/touch x|reboot|rm -rf/);
});

it("latencies become delays, as many times longer as the network is slower", () => {
  const { script, network } = built(presetTopology("ring:4@25GB/s,3us"));
  expect(network.factor).toBe(1000);
  expect(script.match(/netem delay 3000us/g)).toHaveLength(16);
});
