import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { looksLikePreset, PRESETS, presetTopology } from "../../src/model/presets/preset.ts";
import { unreachablePair } from "../../src/model/topology/modify.ts";
import {
  inLinks,
  linkCount,
  linkNames,
  outLinks,
  switchCount,
  type Topology,
} from "../../src/model/topology/topology.ts";
import { ONE_SENTENCE, sentenceOf } from "../import/support.ts";
import { outOfRange, type Refusal, refused, unexpected } from "../support/refusals.ts";
import { runs } from "../support/runs.ts";

const outDegrees = (topology: Topology): number[] => {
  const { offset } = outLinks(topology);
  return Array.from({ length: offset.length - 1 }, (_, node) => offset[node + 1] - offset[node]);
};
const inDegrees = (topology: Topology): number[] => {
  const { offset } = inLinks(topology);
  return Array.from({ length: offset.length - 1 }, (_, node) => offset[node + 1] - offset[node]);
};
/** Links as sorted "from>to bandwidth latency" lines: equal lists, equal networks. */
const lines = (topology: Topology): string[] =>
  Array.from(
    topology.linkSource,
    (from, link) =>
      `${from}>${topology.linkTarget[link]} ${topology.linkBytesPerSecond[link]} ${topology.linkLatencyPs[link]}`,
  ).sort();
const figure = (topology: Topology, name: string): [bytesPerSecond: number, latencyPs: number] => {
  const link = linkNames(topology).indexOf(name);
  expect(link, name).toBeGreaterThanOrEqual(0);
  return [topology.linkBytesPerSecond[link], topology.linkLatencyPs[link]];
};

describe("families: NPUs, switches, links, out-degrees", () => {
  it.each<[string, number, number, number, number[]]>([
    ["ring:8", 8, 0, 16, [2]],
    ["ring:3", 3, 0, 6, [2]],
    ["ring:2", 2, 0, 2, [1]],
    ["ring:1", 1, 0, 0, [0]],
    ["line:1", 1, 0, 0, [0]],
    ["line:5", 5, 0, 8, [1, 2]],
    ["mesh:1x1", 1, 0, 0, [0]],
    ["mesh:3x3", 9, 0, 24, [2, 3, 4]],
    ["mesh:4x1x2", 8, 0, 20, [2, 3]],
    ["grid:5x5x5", 125, 0, 600, [3, 4, 5, 6]],
    ["torus:8x8x8", 512, 0, 3072, [6]],
    ["torus:2x5", 10, 0, 30, [3]],
    ["torus:2x2", 4, 0, 8, [2]],
    ["torus:1x6", 6, 0, 12, [2]],
    ["hypercube:10", 1024, 0, 10240, [10]],
    ["hypercube:1", 2, 0, 2, [1]],
    ["fc:8", 8, 0, 56, [7]],
    ["fc:1", 1, 0, 0, [0]],
    ["switch:8", 8, 1, 16, [1, 8]],
    ["switch:1", 1, 0, 0, [0]],
    ["switch:8*switch:4@300,25GB/s", 32, 12, 128, [2, 4, 8]],
    ["ring:2*fc:4*switch:8@200,100,50GB/s", 64, 8, 64 * 6, [5, 8]],
    ["mesh:2x3*switch:2", 12, 6, 2 * 14 + 24, [2, 3, 4]],
    ["dragonfly:4x5@400,200GB/s", 20, 0, 80, [4]],
    ["dragonfly:1x4", 4, 0, 12, [3]],
    ["dragonfly:6x1", 6, 0, 30, [5]],
    ["dragonfly:2x6", 12, 0, 12 + 30, [3, 4]],
    ["circulant:16,3,4", 16, 0, 64, [4]],
    ["circulant:8,1,4", 8, 0, 24, [3]],
    ["circulant:7,5", 7, 0, 14, [2]],
    // 16 GPUs on 4 box switches and 2 leaves; 4 spines of 2 leaves
    ["fat-tree:4x4,leaf=2", 16, 4 + 2 + 4, 2 * (16 + 16 + 8), [2, 4, 12]],
    // 16 leaves in 4 pods of 8 spines, 8 cores
    ["fat-tree:64x8,tiers=3", 512, 64 + 16 + 32 + 8, 2 * (512 + 512 + 128 + 32), [2, 4, 5, 8, 40]],
    ["fat-tree:1x8", 8, 1, 16, [1, 8]],
    ["fat-tree:3x1,leaf=4", 3, 1, 6, [1, 3]],
    ["themis:2d-sw-sw", 1024, 64 + 16, 4096, [2, 16, 64]],
    ["themis:3d-fc-ring-sw", 1024, 128, 1024 * (7 + 2 + 2), [8, 10]],
  ])("%s", (text, npus, switches, links, degrees) => {
    const topology = presetTopology(text);
    expect([topology.npuCount, switchCount(topology), linkCount(topology)]).toEqual([npus, switches, links]);
    expect([...new Set(outDegrees(topology))].sort((a, b) => a - b)).toEqual(degrees);
    expect(inDegrees(topology)).toEqual(outDegrees(topology));
    expect(unreachablePair(topology)).toBeNull();
    expect(topology.name).toBe(text);
    expect(topology.sources.length).toBeGreaterThan(0);
    expect(topology.nodeNames.slice(0, npus)).toEqual(Array.from({ length: npus }, (_, npu) => `${npu}`));
    expect(topology.shape.reduce((product, size) => product * size, 1)).toBe(npus);
  });
});

describe("products", () => {
  it("number the first dimension fastest and give the k-th figures to the k-th dimension", () => {
    const topology = presetTopology("ring:2*fc:4*switch:8@200,100,50GB/s,1,2,3us");
    expect(topology.shape).toEqual([2, 4, 8]);
    expect(figure(topology, "0>1")).toEqual([200e9, 1e6]);
    expect(figure(topology, "0>2")).toEqual([100e9, 2e6]);
    expect(figure(topology, "0>6")).toEqual([100e9, 2e6]);
    // NPU 9 = 1 + 2*(0 + 4*1): line 1 of the third dimension
    expect(figure(topology, "9>sw1")).toEqual([50e9, 3e6]);
    expect(figure(topology, "sw1>9")).toEqual([50e9, 3e6]);
    expect(linkNames(topology)).not.toContain("0>8");
  });

  it("take the units of time that options take", () => {
    expect(presetTopology("ring:4@50GB/s,1sec").linkLatencyPs[0]).toBe(1e12);
    expect(presetTopology("ring:4@2usec").linkLatencyPs[0]).toBe(2e6);
  });

  it("count each dimension of a factor with several", () => {
    const topology = presetTopology("mesh:8x5*switch:2@80,35,10GiB/s,1us");
    expect(figure(topology, "0>1")).toEqual([80 * 2 ** 30, 1e6]);
    expect(figure(topology, "0>8")).toEqual([35 * 2 ** 30, 1e6]);
    expect(figure(topology, "0>sw0")).toEqual([10 * 2 ** 30, 1e6]);
  });

  it("name switches by dimension and line where several dimensions are switched", () => {
    const topology = presetTopology("switch:8*switch:4@300,25GB/s");
    expect(topology.nodeNames.slice(32)).toEqual([
      ...["d0s0", "d0s1", "d0s2", "d0s3"],
      ...["d1s0", "d1s1", "d1s2", "d1s3", "d1s4", "d1s5", "d1s6", "d1s7"],
    ]);
    expect(figure(topology, "19>d0s2")[0]).toBe(300e9);
    expect(figure(topology, "19>d1s3")[0]).toBe(25e9);
  });

  it("are the same network however they are written", () => {
    for (const [a, b] of [
      ["mesh:3x4", "grid:3x4"],
      ["mesh:3x4", "line:3*line:4"],
      ["torus:3x4@1,2GB/s", "ring:3*ring:4@1,2GB/s"],
      ["hypercube:3", "torus:2x2x2"],
      ["hypercube:3", "fc:2*mesh:2x2"],
      ["fc:3", "ring:3"],
      ["dragonfly:5x1", "fc:5"],
      ["circulant:8,1", "ring:8"],
      ["circulant:7,6", "ring:7"],
      ["circulant:6,1,2,3", "fc:6"],
      ["circulant:2,1", "ring:2"],
    ]) {
      expect(lines(presetTopology(a))).toEqual(lines(presetTopology(b)));
    }
  });

  it("have switches that duplicate and sum where `,sum` stands behind their size, and are else the same", () => {
    for (const [text, plain, summing] of [
      ["switch:4,sum", "switch:4", ["sw0"]],
      ["SWITCH:4, SUM", "switch:4", ["sw0"]],
      ["switch:2,sum*switch:3@200,50GB/s", "switch:2*switch:3@200,50GB/s", ["d0s0", "d0s1", "d0s2"]],
      ["ring:3*switch:2,sum@200,50GB/s,1us", "ring:3*switch:2@200,50GB/s,1us", ["sw0", "sw1", "sw2"]],
      ["themis:2d-sw-sw,sum", "themis:2d-sw-sw", null],
      ["themis:3d-fc-ring-sw,sum", "themis:3d-fc-ring-sw", null],
    ] as const) {
      const topology = presetTopology(text);
      expect(lines(topology)).toEqual(lines(presetTopology(plain)));
      expect(presetTopology(topology.name)).toEqual(topology);
      const able = topology.nodeNames.filter((_, node) => {
        const { multicast, aggregation } = topology.nodeTraits[node];
        return multicast === true && aggregation === true;
      });
      expect(able).toEqual(summing ?? topology.nodeNames.slice(topology.npuCount));
      expect(looksLikePreset(text)).toBe(true);
    }
  });

  it("follow the definition: NPUs that differ in one coordinate only, joined as its kind says (law)", () => {
    const dimension = fc.record({
      kind: fc.constantFrom("ring", "line", "fc", "switch"),
      size: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(dimension, { minLength: 1, maxLength: 4 }), (dimensions) => {
        const bandwidths = dimensions.map((_, d) => d + 1);
        const text = `${dimensions.map(({ kind, size }) => `${kind}:${size}`).join("*")}@${bandwidths.join(",")}GB/s`;
        const topology = presetTopology(text);
        const coordinates = (npu: number): number[] => {
          let rest = npu;
          return dimensions.map(({ size }) => {
            const x = rest % size;
            rest = (rest - x) / size;
            return x;
          });
        };
        // direct links, and pairs that share a switch with the port's bandwidth
        const expected: string[] = [];
        for (let a = 0; a < topology.npuCount; a++) {
          for (let b = 0; b < topology.npuCount; b++) {
            const [x, y] = [coordinates(a), coordinates(b)];
            const differ = dimensions.map((_, d) => d).filter((d) => x[d] !== y[d]);
            if (differ.length !== 1) continue;
            const [d] = differ;
            const distance = Math.abs(x[d] - y[d]);
            const { kind, size } = dimensions[d];
            const joined =
              kind === "fc" || kind === "switch" || distance === 1 || (kind === "ring" && distance === size - 1);
            if (joined) expected.push(`${a} ${b} ${kind === "switch"} ${(d + 1) * 1e9}`);
          }
        }
        const found: string[] = [];
        const { offset, links } = outLinks(topology);
        for (let link = 0; link < linkCount(topology); link++) {
          const [from, to] = [topology.linkSource[link], topology.linkTarget[link]];
          if (from >= topology.npuCount) continue;
          if (to < topology.npuCount) found.push(`${from} ${to} false ${topology.linkBytesPerSecond[link]}`);
          for (let i = offset[to]; to >= topology.npuCount && i < offset[to + 1]; i++) {
            const far = topology.linkTarget[links[i]];
            expect(topology.linkBytesPerSecond[links[i]]).toBe(topology.linkBytesPerSecond[link]);
            if (far !== from) found.push(`${from} ${far} true ${topology.linkBytesPerSecond[link]}`);
          }
        }
        expect(found.sort()).toEqual(expected.sort());
      }),
      { numRuns: runs(60) },
    );
  });

  it("keep a link's place under translation, and a mesh its links under reversal of an axis", () => {
    const torus = presetTopology("torus:4x3*fc:3");
    const { offset, links } = outLinks(torus);
    const turned = (npu: number): number => (npu % 12) + 12 * ((Math.floor(npu / 12) + 1) % 3);
    for (let npu = 0; npu < torus.npuCount; npu++) {
      for (let slot = 0; slot < offset[npu + 1] - offset[npu]; slot++) {
        const far = torus.linkTarget[links[offset[npu] + slot]];
        expect(torus.linkTarget[links[offset[turned(npu)] + slot]]).toBe(turned(far));
      }
    }
    const mesh = presetTopology("mesh:4x5");
    const mirrored = (npu: number): number => 3 - (npu % 4) + 4 * Math.floor(npu / 4);
    const mirror = {
      ...mesh,
      linkSource: mesh.linkSource.map(mirrored),
      linkTarget: mesh.linkTarget.map(mirrored),
    };
    expect(lines(mirror)).toEqual(lines(mesh));
  });

  it("build at scale: a 200x200 mesh in under a second", () => {
    const start = performance.now();
    expect(linkCount(presetTopology("mesh:200x200"))).toBe(159200);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("circulant graphs", () => {
  it("link every NPU to those at each offset, both ways, with the offset's figures", () => {
    const topology = presetTopology("circulant:10,4,3,5@100,50,25GB/s,1,2,3us");
    const names = linkNames(topology);
    expect(names.slice(0, 5)).toEqual(["0>4", "0>6", "0>3", "0>7", "0>5"]);
    expect(names.slice(45)).toEqual(["9>3", "9>5", "9>2", "9>6", "9>4"]);
    expect(figure(topology, "8>2")).toEqual([100e9, 1e6]);
    expect(figure(topology, "2>9")).toEqual([50e9, 2e6]);
    expect(figure(topology, "7>2")).toEqual([25e9, 3e6]);
  });

  it("may fall apart, where all offsets share a factor with the size", () => {
    expect(unreachablePair(presetTopology("circulant:8,2,4"))).toEqual([0, 1]);
  });
});

describe("dragonfly and fat trees", () => {
  it("joins each two groups once each way, and gives each NPU of 4x5 one global link", () => {
    for (const [perGroup, groups] of [
      [4, 5],
      [3, 8],
      [5, 3],
    ]) {
      const topology = presetTopology(`dragonfly:${perGroup}x${groups}@400,200GB/s`);
      const between = new Map<string, number>();
      const ends = new Set<string>();
      for (let link = 0; link < linkCount(topology); link++) {
        const [from, to] = [topology.linkSource[link], topology.linkTarget[link]];
        const [g, h] = [Math.floor(from / perGroup), Math.floor(to / perGroup)];
        expect(topology.linkBytesPerSecond[link]).toBe(g === h ? 400e9 : 200e9);
        if (g !== h) between.set(`${g} ${h}`, (between.get(`${g} ${h}`) ?? 0) + 1);
        ends.add(`${from} ${to}`);
      }
      expect(between.size).toBe(groups * (groups - 1));
      expect([...between.values()].every((count) => count === 1)).toBe(true);
      for (const end of ends) expect(ends).toContain(end.split(" ").reverse().join(" "));
    }
    const globals = presetTopology("dragonfly:4x5@2,1GB/s");
    const perNpu = new Int32Array(20);
    globals.linkBytesPerSecond.forEach((bandwidth, link) => {
      if (bandwidth === 1e9) perNpu[globals.linkSource[link]]++;
    });
    expect([...perNpu]).toEqual(new Array(20).fill(1));
  });

  it("gives every tier 1/R of what comes from below", () => {
    const topology = presetTopology("fat-tree:32x8,leaf=4,tiers=3,oversub=2@450,50GB/s");
    const up = (from: RegExp, to: RegExp): number => {
      let sum = 0;
      linkNames(topology).forEach((name, link) => {
        const [a, b] = name.split(">");
        if (from.test(a) && to.test(b)) sum += topology.linkBytesPerSecond[link];
      });
      return sum;
    };
    expect(up(/^\d+$/, /^box\d+-sw$/)).toBe(256 * 450e9);
    expect(up(/^\d+$/, /^leaf/)).toBe(256 * 50e9);
    expect(up(/^leaf3$/, /spine/)).toBe((32 * 50e9) / 2);
    expect(up(/^pod1-spine/, /^core/)).toBe((128 * 50e9) / 4);
    expect(up(/^core/, /spine/)).toBe((256 * 50e9) / 4);
  });

  it("sizes the uplinks of a leaf that is not full by its own servers", () => {
    const topology = presetTopology("fat-tree:5x2,leaf=4@450,50GB/s");
    expect(figure(topology, "leaf0>spine0")[0]).toBe(200e9);
    expect(figure(topology, "leaf1>spine1")[0]).toBe(50e9);
  });
});

const unknownPreset = (at: string, received: string, ...values: readonly unknown[]): Refusal =>
  refused("unknown-name", at, received, ...values);

describe("bad expressions are refused in one sentence", () => {
  it.each<[string, Refusal]>([
    ["", unexpected("the topology", "")],
    ["tours:4x4", unknownPreset('"tours" in the topology', "tours:4x4", "torus")],
    ["Mash:4x4", unknownPreset('"Mash" in the topology', "Mash:4x4", "mesh")],
    ["nonsense", unknownPreset("the topology", "nonsense")],
    ["ring", unexpected("the size of ring in ring", "ring")],
    ["ring:0", outOfRange("a size of ring in ring:0", "0")],
    ["ring:-1", outOfRange("a size of ring in ring:-1", "-1")],
    ["ring:2.5", outOfRange("a size of ring in ring:2.5", "2.5")],
    ["mesh:4xx4", outOfRange("a size of mesh in mesh:4xx4", "")],
    ["mesh:4x", outOfRange("a size of mesh in mesh:4x", "")],
    ["mesh:AxB", outOfRange("a size of mesh in mesh:AxB", "A")],
    ["ring:4x4", unexpected("ring:4x4 in ring:4x4", "2 sizes")],
    ["ring:99999999999999999999", outOfRange("a size of ring in ring:99999999999999999999", "99999999999999999999")],
    ["ring:1e9", outOfRange("ring:1e9", "about 2000000000 links", 10000000)],
    ["fc:5000", outOfRange("fc:5000", "about 24995000 links", 10000000)],
    ["hypercube:40", outOfRange("hypercube:40", "about 43980465111040 links", 10000000)],
    ["hypercube:1e9", outOfRange("hypercube:1e9", "more than 1e308 links", 10000000)],
    ["dgx-a100:9999999", outOfRange("dgx-a100:9999999", "about 339999966 links", 10000000)],
    ["dragonfly:2x99999", outOfRange("dragonfly:2x99999", "about 9999900000 links", 10000000)],
    ["fat-tree:99999x64", outOfRange("fat-tree:99999x64", "about 31999744 links", 10000000)],
    ["mesh:4x4@", unexpected('value 1 after "@" in mesh:4x4@', "")],
    ["mesh:4x4@50", unexpected('value 1 after "@" in mesh:4x4@50', "50")],
    ["mesh:4x4@50GB/s,", unexpected('value 2 after "@" in mesh:4x4@50GB/s,', "")],
    ["mesh:4x4@50GB", unexpected('value 1 after "@" in mesh:4x4@50GB', "50GB")],
    ["mesh:4x4@NaNGB/s", unexpected('value 1 after "@" in mesh:4x4@NaNGB/s', "NaNGB/s")],
    ["mesh:4x4@-5GB/s", unexpected('value 1 after "@" in mesh:4x4@-5GB/s', "-5GB/s")],
    ["mesh:4x4@0GB/s", unexpected('value 1 after "@" in mesh:4x4@0GB/s', "0GB/s")],
    ["mesh:4x4@1GB/s,-1us", unexpected('value 2 after "@" in mesh:4x4@1GB/s,-1us', "-1us")],
    ["mesh:4x4@1.2.3GB/s", unexpected('value 1 after "@" in mesh:4x4@1.2.3GB/s', "1.2.3GB/s")],
    ["mesh:4x4@1,2,3GB/s", unexpected("mesh:4x4@1,2,3GB/s", "3 values", 2)],
    ["torus:4x4x4@1,2GB/s", unexpected("torus:4x4x4@1,2GB/s", "2 values", 3)],
    ["ring:4@1us,2us", unexpected("ring:4@1us,2us", "2 values")],
    ["ring:4@1,2us", unexpected('value 1 after "@" in ring:4@1,2us', "1")],
    ["mesh:4x4@50,0.5us", unexpected('value 1 after "@" in mesh:4x4@50,0.5us', "50")],
    ["ring:4*rong:2", unknownPreset('"rong" in the topology', "ring:4*rong:2", "ring")],
    ["ring:4*", unknownPreset('"" in the topology', "ring:4*")],
    ["ring:4*dragonfly:4x5", unexpected("ring:4*dragonfly:4x5", "dragonfly")],
    ["dgx-a100:2*ring:4", unexpected("dgx-a100:2*ring:4", "dgx-a100")],
    ["dragonfly:4", unexpected("dragonfly:4", "1 sizes")],
    ["circulant:16", unexpected("circulant:16", "16")],
    ["circulant:16,", outOfRange("an offset in circulant:16,", "")],
    ["circulant:16,x", outOfRange("an offset in circulant:16,x", "x")],
    ["circulant:16,3,16", unexpected("an offset in circulant:16,3,16", 16, 16)],
    ["circulant:16,3,13", unexpected("circulant:16,3,13", 13)],
    ["circulant:16,3,4@1,2,3GB/s", unexpected("circulant:16,3,4@1,2,3GB/s", "3 values", 2)],
    ["circulant:9999999,1,2", outOfRange("circulant:9999999,1,2", "about 39999996 links", 10000000)],
    ["fat-tree:8", unexpected("fat-tree:8", "1 sizes", 2, 3)],
    ["fat-tree:8x8,tiers=4", unexpected("tiers in fat-tree:8x8,tiers=4", 4, 2, 3)],
    ["fat-tree:8x8,oversub=0.5", unexpected("oversub in fat-tree:8x8,oversub=0.5", "0.5")],
    ["fat-tree:8x8,oversub=x", unexpected("oversub in fat-tree:8x8,oversub=x", "x")],
    ["fat-tree:8x8,leaf=0", outOfRange("leaf in fat-tree:8x8,leaf=0", "0")],
    ["fat-tree:8x8,leaf=2,leaf=4", unexpected("fat-tree:8x8,leaf=2,leaf=4", "leaf=4")],
    ["fat-tree:8x8,color=2", unexpected("fat-tree:8x8,color=2", "color=2", 2, 3)],
    ["dgx-a100:0", outOfRange("the number of boxes in dgx-a100:0", "0")],
    ["dgx-a100:two", outOfRange("the number of boxes in dgx-a100:two", "two")],
    ["dgx-a100:2,ib", unexpected("dgx-a100:2,ib", "ib")],
    ["dgx-a100:2@5GB/s", unexpected("dgx-a100:2@5GB/s", "@5GB/s")],
    ["mi300x:2", unexpected("mi300x:2", 2)],
    ["tpu-v4:4x4", unexpected("tpu-v4:4x4", "4x4", 3)],
    ["tpu-v4:64x64x64", unexpected("tpu-v4:64x64x64", "64x64x64", 3)],
    ["trn2:2x2", unexpected("trn2:2x2", "2x2", 16)],
    ["themis:2d-sw-ws", unexpected("themis:2d-sw-ws", "2d-sw-ws", "2d-sw-sw")],
    ["themis:2d-sw-sw,ib", unexpected("themis:2d-sw-sw,ib", "ib", "themis:2d-sw-sw[,sum]")],
    ["themis:2d-sw-sw,sum,sum", unexpected("themis:2d-sw-sw,sum,sum", "sum", "themis:2d-sw-sw[,sum]")],
    ["switch:4,sums", unexpected("switch:4,sums", "sums", "switch:N[,sum]")],
    ["switch:4,sum,sum", unexpected("switch:4,sum,sum", "sum", "switch:N[,sum]")],
    ["ring:4*switch:4,ib", unexpected("ring:4*switch:4,ib", "ib", "switch:N[,sum]")],
    ["ring:4,sum", unexpected("ring:4,sum", "sum", "ring:N")],
    ["switch:,sum", unexpected("the size of switch in switch:,sum", "switch:,sum")],
    ["switch:4,4", unexpected("a size of switch", "4,4")],
  ])("%s", (text, message) => {
    expect(() => presetTopology(text)).toThrow(InputError);
    expect(() => presetTopology(text)).toThrow(message);
    expect(sentenceOf(() => presetTopology(text))).toMatch(ONE_SENTENCE);
  });

  it.each([
    ["ring:4*rong:2", "ring:4*ring:2"],
    ["rong:4*ring:2", "ring:4*ring:2"],
    ["ring:4*mehs:2x2@1GB/s", "ring:4*mesh:2x2@1GB/s"],
    ["tours:4x4", "torus:4x4"],
  ])("an unknown name in %s is followed by what was meant, which is a network", (text, meant) => {
    expect(sentenceOf(() => presetTopology(text))).toContain(`did you mean ${JSON.stringify(meant)}?`);
    expect(presetTopology(meant).npuCount).toBeGreaterThan(0);
  });

  it.each(["ring:4*", "*ring:4", "ring:4*xyzzyxyzzy:2"])("nothing is meant by %s", (text) => {
    expect(sentenceOf(() => presetTopology(text))).not.toContain("did you mean");
  });

  it("throws nothing but InputError on any text (law)", () => {
    const word = fc.constantFrom(
      "ring",
      "mesh",
      "fc",
      "dgx-a100",
      "tpu-v4",
      "fat-tree",
      "themis",
      "x",
      ":",
      "*",
      "@",
      ",",
      "4",
      "0",
      "x3",
      "GB/s",
      "us",
      "leaf=",
      "1e9",
      "-",
      " ",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        try {
          presetTopology(words.join(""));
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the list of presets", () => {
  it("has unique names, and every one is known to the parser", () => {
    expect(new Set(PRESETS.map(({ name }) => name)).size).toBe(PRESETS.length);
    for (const { name, form, description } of PRESETS) {
      expect(form.startsWith(name)).toBe(true);
      expect(description.length).toBeGreaterThan(0);
      expect(looksLikePreset(name)).toBe(true);
      try {
        presetTopology(name);
      } catch (error) {
        expect((error as Error).message).not.toContain("banyan list presets");
      }
    }
  });

  it.each([
    ["mesh:10x10@50GiB/s,0.5us", true],
    ["ring:2*fc:4", true],
    ["tours:4x4", true],
    ["gb200-nvl72", true],
    ["fat-tree:64x8,oversub=1.5", true],
    ["topo.json", false],
    ["ring.json", false],
    ["dir/ring:8", false],
    ["./mesh", false],
    ["C:\\nets\\a.json", false],
    ["c:nets.json", false],
    ["mesh", true],
    ["nonsense", false],
    ["", false],
    ['{"format": "banyan-topology"}', false],
  ])("%s looks like a preset: %s", (text, expected) => {
    expect(looksLikePreset(text)).toBe(expected);
  });
});
