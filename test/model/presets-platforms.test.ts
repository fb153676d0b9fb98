import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { unreachablePair } from "../../src/model/topology/modify.ts";
import {
  inLinks,
  linkCount,
  linkNames,
  outLinks,
  switchCount,
  type Topology,
} from "../../src/model/topology/topology.ts";

// published platform facts beside the project; these cases are skipped, and say so, where the folder is absent
const DATA = new URL("../../../shared/data/", import.meta.url);
const present = existsSync(DATA);
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, DATA), "utf8"));

interface Reference {
  readonly name: string;
  readonly nodes: readonly { readonly id: string; readonly kind: string }[];
  readonly links: readonly {
    readonly a: string;
    readonly b: string;
    readonly GBps_per_dir: number;
    readonly latency_us: number;
  }[];
}

/** Each node as a digest of its kind, its links' figures and, three steps deep, its neighbours': equal for equal wirings. */
function signature(
  kinds: readonly string[],
  links: readonly (readonly [from: number, to: number, figures: string])[],
): string[] {
  let colours = [...kinds];
  for (let round = 0; round < 3; round++) {
    const around = colours.map((): string[] => []);
    for (const [from, to, figures] of links) {
      around[from].push(`>${figures}:${colours[to]}`);
      around[to].push(`<${figures}:${colours[from]}`);
    }
    colours = colours.map((colour, node) => {
      const text = `${colour}|${around[node].sort().join()}`;
      return createHash("sha1").update(text).digest("hex");
    });
  }
  return colours.sort();
}

const ours = (topology: Topology): string[] =>
  signature(
    topology.nodeNames.map((_, node) => (node < topology.npuCount ? "npu" : "switch")),
    Array.from(topology.linkSource, (from, link) => [
      from,
      topology.linkTarget[link],
      `${topology.linkBytesPerSecond[link]}/${topology.linkLatencyPs[link]}`,
    ]),
  );

function theirs({ nodes, links }: Reference): string[] {
  const index = new Map(nodes.map(({ id }, i) => [id, i]));
  const both = links.flatMap(({ a, b, GBps_per_dir, latency_us }) => {
    const figures = `${Math.round(GBps_per_dir * 1e9)}/${Math.round(latency_us * 1e6)}`;
    const [from, to] = [index.get(a) as number, index.get(b) as number];
    return [[from, to, figures] as const, [to, from, figures] as const];
  });
  return signature(
    nodes.map(({ kind }) => kind),
    both,
  );
}

describe.skipIf(!present)("platforms agree with the published wirings in ../shared/data", () => {
  const references = present ? (read("platforms/presets.json") as Reference[]) : [];
  it.each([
    ["dgx1", "dgx1-v100"],
    ["ndv2", "dgx1-v100"],
    ["dgx2", "dgx2-v100"],
    ["dgx-a100", "dgx-a100"],
    ["dgx-h100", "hgx-h100"],
    ["hgx-h100", "hgx-h100"],
    ["hgx-h200:1", "hgx-h100"],
    ["hgx-b200", "hgx-b200"],
    ["gb200-nvl72", "gb200-nvl72"],
    ["ndv4:2", "ndv4-2node"],
    ["ndv5:2", "ndv5-2node"],
    ["dgx-h100:2", "ndv5-2node"],
    ["p4d:2", "p4d-2node"],
    ["p5:2", "p5-2node"],
    ["mi250", "mi250-16gcd"],
    ["mi300x", "mi300x-8"],
    ["mi325x", "mi300x-8"],
    ["mi355x", "mi355x-8"],
    ["mi100-8p6l", "mi100-8p6l"],
    ["mi100-2hives", "mi100-8-2hives"],
    ["frontier", "frontier-8gcd"],
    ["gaudi2", "gaudi2-8"],
    ["gaudi3", "gaudi3-8"],
  ])("%s is %s", (expression, name) => {
    const reference = references.find((candidate) => candidate.name === name) as Reference;
    expect(ours(presetTopology(expression))).toEqual(theirs(reference));
  });

  it.each([
    ["dgx1", "dgx1-v100"],
    ["mi250", "mi250-16gcd"],
    ["frontier", "frontier-8gcd"],
    ["mi100-8p6l", "mi100-8p6l"],
  ])("%s numbers its GPUs as %s does", (expression, name) => {
    const { links } = references.find((candidate) => candidate.name === name) as Reference;
    const topology = presetTopology(expression);
    const mine = linkNames(topology).map((link, i) => `${link} ${topology.linkBytesPerSecond[i]}`);
    const wanted = links.flatMap(({ a, b, GBps_per_dir }) => {
      const [x, y] = [a.slice(3), b.slice(3)];
      return [`${x}>${y} ${GBps_per_dir * 1e9}`, `${y}>${x} ${GBps_per_dir * 1e9}`];
    });
    expect(mine.sort()).toEqual(wanted.sort());
  });

  it("has the MI250 graph of ForestColl, GPU by GPU", () => {
    interface Forest {
      readonly compute_order: readonly string[];
      readonly edges: readonly { readonly src: string; readonly dst: string; readonly capacity: number }[];
    }
    const forest = read("forest-topologies/mi250-1.json") as Forest;
    const id = (name: string): number => Number(name.replace("b0.GPU", ""));
    const topology = presetTopology("mi250");
    const mine = linkNames(topology).map((link, i) => `${link} ${topology.linkBytesPerSecond[i] / 1e9}`);
    expect(mine.sort()).toEqual(
      forest.edges.map(({ src, dst, capacity }) => `${id(src)}>${id(dst)} ${capacity}`).sort(),
    );
  });

  it("has the link rates of the TPU and Trainium table", () => {
    const table = read("platforms/presets-torus.json") as { name: string; GBps_per_link_per_dir: number }[];
    const ourName: Record<string, string> = {
      tpu7x: "tpu-7x",
      "trn1-16": "trn1",
      "trn2-16": "trn2",
      "trn2-ultra-64": "trn2-ultra",
    };
    for (const { name, GBps_per_link_per_dir } of table) {
      const topology = presetTopology(ourName[name] ?? name);
      expect(topology.linkBytesPerSecond[0], name).toBe(Math.round(GBps_per_link_per_dir * 1e9));
    }
  });
});

describe("platforms: NPUs, switches, links", () => {
  it.each<[string, number, number, number]>([
    ["dgx1", 8, 0, 32],
    ["dgx2:2", 32, 2 + 8, 4 * 32],
    ["dgx-a100:2", 16, 3, 64],
    ["dgx-a100:128", 1024, 129, 4096],
    ["dgx-h100:4", 32, 4 + 8, 128],
    ["dgx-h100:4,ib", 32, 5, 128],
    ["hgx-b300:2", 16, 10, 64],
    ["ndv2:2", 16, 2 + 1, 2 * (32 + 16 + 2)],
    ["mi250:2", 32, 1, 2 * (56 + 32)],
    ["mi100-2hives", 8, 2, 42],
    ["frontier", 8, 0, 24],
    ["gaudi3", 8, 0, 56],
    ["tpu-v2", 256, 0, 1024],
    ["tpu-v3", 1024, 0, 4096],
    ["tpu-v4", 4096, 0, 24576],
    ["tpu-v4:4x4x4", 64, 0, 384],
    ["tpu-v4:4x4x8", 128, 0, 768],
    ["tpu-v4:2x2x4", 16, 0, 56],
    ["tpu-v5e", 256, 0, 1024],
    ["tpu-v5e:4x4", 16, 0, 48],
    ["tpu-v5p", 8960, 0, 53760],
    ["tpu-v6e:8x16", 128, 0, 2 * (7 * 16 + 15 * 8)],
    ["tpu-7x", 9216, 0, 55296],
    ["trn1", 16, 0, 64],
    ["trn2", 16, 0, 64],
    ["trn2-ultra", 64, 0, 384],
  ])("%s", (expression, npus, switches, links) => {
    const topology = presetTopology(expression);
    expect([topology.npuCount, switchCount(topology), linkCount(topology)]).toEqual([npus, switches, links]);
    expect(unreachablePair(topology)).toBeNull();
    expect(topology.sources.length).toBeGreaterThan(0);
    const [out, into] = [outLinks(topology), inLinks(topology)];
    expect([...out.offset]).toEqual([...into.offset]);
  });

  it("joins two NDv2 boxes through one NIC each", () => {
    const topology = presetTopology("ndv2:2");
    const rate = new Map(linkNames(topology).map((name, link) => [name, topology.linkBytesPerSecond[link]]));
    expect(rate.get("nic0>ib")).toBe(12.5e9);
    expect(rate.get("ib>nic1")).toBe(12.5e9);
    expect(rate.get("15>nic1")).toBe(15_753_846_154);
    expect(rate.get("8>11")).toBe(50e9);
    expect(rate.has("7>8")).toBe(false);
    expect(topology.nodeNames.slice(16)).toEqual(["ib", "nic0", "nic1"]);
    expect(topology.nodeTraits[0].group).toBe("box0");
    expect(topology.nodeTraits[15].group).toBe("box1");
    expect(topology.shape).toEqual([8, 2]);
  });

  it("gives each rail the GPUs of one place in every box", () => {
    const names = linkNames(presetTopology("dgx-h100:2"));
    expect(names).toContain("3>rail3");
    expect(names).toContain("rail3>11");
    expect(names).not.toContain("3>rail4");
  });

  it.each([
    ["dgx-h100", true],
    ["hgx-b200:2", true],
    ["gb200-nvl72", true],
    ["p5", true],
    ["dgx-a100:2", false],
    ["ndv4", false],
    ["dgx2", false],
  ])("%s multicasts and reduces in its NVSwitch: %s", (expression, able) => {
    const topology = presetTopology(expression);
    const at = topology.nodeNames.indexOf("nvsw0");
    expect([topology.nodeTraits[at].multicast ?? false, topology.nodeTraits[at].aggregation ?? false]).toEqual([
      able,
      able,
    ]);
    const others = topology.nodeTraits.filter((_, node) => !topology.nodeNames[node].startsWith("nvsw"));
    expect(others.every(({ multicast, aggregation }) => !multicast && !aggregation)).toBe(true);
  });

  it("makes table 2 of Themis: aggregate bandwidth per NPU and dimension", () => {
    const perNpu = (expression: string): number[] => {
      const topology = presetTopology(expression);
      const { offset, links } = outLinks(topology);
      const sums = topology.shape.map(() => 0);
      const strides = topology.shape.map((_, d) =>
        topology.shape.slice(0, d).reduce((product, size) => product * size, 1),
      );
      for (let i = offset[0]; i < offset[1]; i++) {
        const to = topology.linkTarget[links[i]];
        const name = topology.nodeNames[to];
        const far = /^d(\d+)s/.exec(name);
        const d =
          far !== null
            ? Number(far[1])
            : to >= topology.npuCount
              ? topology.shape.length - 1
              : strides.findLastIndex((stride) => to >= stride);
        sums[d] += (topology.linkBytesPerSecond[links[i]] * 8) / 1e9;
      }
      return sums;
    };
    expect(perNpu("themis:2d-sw-sw")).toEqual([1200, 800]);
    expect(perNpu("themis:3d-sw-sw-sw-homo")).toEqual([800, 800, 800]);
    expect(perNpu("themis:3d-sw-sw-sw-hetero")).toEqual([1600, 800, 400]);
    expect(perNpu("themis:3d-fc-ring-sw")).toEqual([1400, 800, 400]);
    expect(perNpu("themis:4d-ring-sw-sw-sw")).toEqual([2000, 1600, 800, 400]);
    expect(perNpu("themis:4d-ring-fc-ring-sw")).toEqual([3000, 1400, 1200, 800]);
  });
});
