import { random } from "../../src/base/random.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

const MBIT = 125_000;
const RATE = 200 * MBIT;

/** Returns NPUs on leaf switches of these sizes, trunks from each leaf to a middle one (two leaves: to each other). */
export function leaves(sizes: readonly number[], trunkRate: number, portRate = RATE): Topology {
  const builder = topologyBuilder(`leaves ${sizes.join("+")}`);
  const npus = sizes.map((size, leaf) => Array.from({ length: size }, (_, i) => builder.addNpu(`n${leaf}.${i}`)));
  const switches = sizes.map((_, leaf) => builder.addSwitch(`leaf${leaf}`));
  for (const [leaf, members] of npus.entries())
    for (const npu of members) builder.addDuplex(npu, switches[leaf], portRate, 0);
  if (sizes.length === 2) builder.addDuplex(switches[0], switches[1], trunkRate, 0);
  else {
    const middle = builder.addSwitch("middle");
    for (const one of switches) builder.addDuplex(one, middle, trunkRate, 0);
  }
  return builder.build();
}

/** Returns boxes of NPUs on a switch each, NPU g of each box besides on rail switch g. */
export function rails(boxes: number, gpus: number, boxRate: number, railRate = RATE): Topology {
  const builder = topologyBuilder(`rails ${boxes}x${gpus}`);
  const npus = Array.from({ length: boxes * gpus }, (_, i) => builder.addNpu(`${i}`));
  const box = Array.from({ length: boxes }, (_, b) => builder.addSwitch(`box${b}`));
  const rail = Array.from({ length: gpus }, (_, g) => builder.addSwitch(`rail${g}`));
  for (const npu of npus) {
    builder.addDuplex(npu, box[Math.floor(npu / gpus)], boxRate, 0);
    builder.addDuplex(npu, rail[npu % gpus], railRate, 0);
  }
  return builder.build();
}

/** Returns a connected network of direct links: a random tree and some more pairs, each at one of these rates. */
export function randomDirect(npus: number, links: number, rates: readonly number[], seed: number): Topology {
  const draws = random(seed, 9);
  const builder = topologyBuilder(`random ${npus} ${links}`);
  for (let i = 0; i < npus; i++) builder.addNpu(`${i}`);
  const joined = new Set<string>();
  const join = (a: number, b: number): void => {
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (a === b || joined.has(key)) return;
    joined.add(key);
    builder.addDuplex(a, b, rates[draws.below(rates.length)], 0);
  };
  for (let i = 1; i < npus; i++) join(i, draws.below(i));
  while (joined.size < Math.min(links, (npus * (npus - 1)) / 2)) join(draws.below(npus), draws.below(npus));
  return builder.build();
}

/** Returns NPUs on one switch, each at one of these rates. */
export function unequalStar(npus: number, rates: readonly number[], seed: number): Topology {
  const draws = random(seed, 10);
  const builder = topologyBuilder(`star ${npus}`);
  for (let i = 0; i < npus; i++) builder.addNpu(`${i}`);
  const hub = builder.addSwitch("hub");
  for (let i = 0; i < npus; i++) builder.addDuplex(i, hub, rates[draws.below(rates.length)], 0);
  return builder.build();
}

/** Laboratories of up to 16 NPUs by name; the seed chooses what is random about them. */
export const LABORATORIES: Readonly<Record<string, (seed: number) => Topology>> = {
  ...Object.fromEntries(
    ["ring:4", "ring:8", "mesh:3x3", "mesh:4x4", "torus:3x3", "torus:4x4", "hypercube:3", "switch:8", "fc:6"].map(
      (text) => [text, () => presetTopology(`${text}@0.025GB/s,0us`)],
    ),
  ),
  "two switches, narrow": () => leaves([4, 4], RATE),
  "two switches, half": () => leaves([4, 4], 2 * RATE),
  "two switches, unequal": () => leaves([3, 5], 2 * RATE),
  "two-level 2:1": () => leaves([4, 4, 4], 2 * RATE),
  "two-level 4:1": () => leaves([4, 4, 4, 4], RATE),
  "two boxes with rails": () => rails(2, 4, 4 * RATE),
  "three boxes with rails": () => rails(3, 4, 2 * RATE),
  "random links": (seed) => randomDirect(8 + (seed % 5), 14 + (seed % 6), [RATE], seed),
  "random links, two rates": (seed) => randomDirect(8 + (seed % 5), 14 + (seed % 6), [RATE, RATE / 2], seed),
  "unequal star": (seed) => unequalStar(8, [RATE, RATE / 2, 2 * RATE], seed),
};
