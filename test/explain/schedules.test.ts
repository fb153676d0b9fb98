import { describe, expect, it } from "vitest";
import { ringOf, ringText } from "../../src/explain/links.ts";
import { explainSteps } from "../../src/explain/steps.ts";
import { explainTrees } from "../../src/explain/trees.ts";
import { stepsOf, synthesize } from "../../src/index.ts";
import { collective } from "../../src/model/collective/collective.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { forestOf } from "../support/tree-flows.ts";

describe("ringOf", () => {
  it("finds the one cycle through all, and nothing else", () => {
    expect(ringOf([2, 0, 1])).toEqual([0, 2, 1]);
    expect(ringOf([1, 0, 2])).toBeNull();
    expect(ringOf([1, 2, -1])).toBeNull();
    expect(ringOf([1, 1])).toBeNull();
    expect(ringText([0, 2, 1], (node) => `n${node}`)).toBe("n0 → n2 → n1 → n0");
  });
});

describe("explainSteps", () => {
  it("tells pattern, the way of a chunk, and what limits", () => {
    const lines = explainSteps(ringSchedule());
    expect(lines).toContain("pattern: a ring, a → b → c → a");
    expect(lines).toContain("chunk 0: a → b (1 ms), b → c (2 ms)");
    expect(lines.at(-1)).toBe("limit: all 3 links are 100 % busy");
    expect(lines.join()).not.toContain("more");
  });

  it("says how many chunks and transfers it does not list", async () => {
    const { schedule } = await synthesize({
      topology: "ring:30",
      collective: "allgather",
      sizeBytes: 2 ** 20,
      threads: 0,
    });
    const lines = explainSteps(stepsOf(schedule));
    // 29 transfers a chunk, of which 24 are listed
    expect(lines.filter((line) => /^chunk \d+: .* and 5 more$/.test(line))).toHaveLength(3);
    expect(lines).toContainEqual(
      expect.stringMatching(/^\.\.\. and 27 more chunks \(export .*csv lists every transfer\)$/),
    );
  });
});

describe("explainTrees", () => {
  it("draws a tree with the switches on its way, and names the full links", () => {
    const builder = topologyBuilder("star");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    const hub = builder.addSwitch("hub");
    for (let npu = 0; npu < 3; npu++) builder.addDuplex(npu, hub, 1e9, 0);
    const topology = builder.build();
    // links 2 * npu lead to the hub, 2 * npu + 1 from it
    const trees = [
      {
        root: 0,
        copies: 2,
        edges: [
          [0, 3],
          [2, 5],
        ],
      },
    ];
    const kind = {
      kind: "broadcast",
      groups: [Int32Array.of(0, 1, 2)],
      sizeBytes: 1e6,
      chunksPerNpu: 1,
      rootRank: 0,
    } as const;
    const lines = explainTrees({
      kind: "trees",
      topology,
      collective: collective(kind),
      forests: [forestOf(topology, "out", trees)],
      concurrent: false,
      symmetry: null,
      certificate: null,
    });
    expect(lines).toContain("  tree of a, 2 copies, height 2: to");
    expect(lines).toContain("    └─ b by hub");
    expect(lines).toContain("       └─ c by hub");
    expect(lines.at(-1)).toContain("are 100 % full");
  });
});
