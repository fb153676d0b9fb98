import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { outOfRange } from "../support/refusals.ts";
import { triesAll } from "../support/runs.ts";

const { put, json, refuses, run } = commandsHere();

describe("small files that ask for much", () => {
  it("200 broadcasts at once are bounded by their different kinds, not one by one", async () => {
    put(
      "jobs.json",
      Array.from({ length: 200 }, (_, i) => ({ kind: "broadcast", size: "1MiB", root: i % 9 })),
    );
    const { collectives, details, verified } = await json("synth mesh:3x3 --collectives jobs.json --trials 1");
    expect([collectives.length, verified]).toEqual([200, true]);
    expect(details.plannedBound.us).toBeGreaterThan(0);
  }, 120_000);

  it("more than 10,000 collectives are refused by their count", async () => {
    put(
      "jobs.json",
      Array.from({ length: 10_001 }, () => ({ kind: "allgather" })),
    );
    await refuses("synth mesh:3x3 --collectives jobs.json", outOfRange("jobs.json", 10001, 10000));
  });

  it.runIf(triesAll)(
    "20,000 chunks from one NPU to all choose among a window, and miss the bound by little",
    async () => {
      const chunks = Array.from({ length: 20_000 }, () => ({ pre: [0], post: [0, 1, 2, 3] }));
      put("chunks.json", { format: "banyan-collective", version: 1, chunkBytes: 1024, chunks });
      const { details, verified } = await json("synth mesh:2x2 --collective custom:chunks.json");
      expect(verified).toBe(true);
      expect(details.ofPlannedBound).toBeGreaterThan(0.99);
    },
    120_000,
  );

  it("100,000 parallel links are a network; only what the kernel cannot tell is left out", async () => {
    const edges = Array.from({ length: 140_000 }, (_, i) => ({ src: "ab"[i % 2], dst: "ba"[i % 2], capacity: 1 }));
    put("links.json", {
      nodes: [
        { id: "a", kind: "compute" },
        { id: "b", kind: "compute" },
      ],
      edges,
    });
    const text = await run("topology links.json");
    expect(text).toContain("140000, one direction each");
    expect(text).not.toContain("broadcast");
    await refuses("synth links.json --collective allgather --algorithm bfb", outOfRange("bfb", 70000, 65535));
  }, 120_000);
});
