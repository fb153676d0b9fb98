import { describe, expect, it } from "vitest";
import type { Comparison, LibrarySetting } from "../../src/report/comparison.ts";
import { gainsShown, settingsToSet } from "../../src/report/gains.ts";

const setting = (algorithm: string, us: number): LibrarySetting => ({
  algorithm,
  protocol: "Simple",
  channels: 1,
  us,
  environment: `NCCL_ALGO=${algorithm}`,
});
const [ring, tree] = [setting("Ring", 30), setting("Tree", 20)];

describe("gains as they are shown", () => {
  const settings = [1024, 2048, 4096].map((sizeBytes) => ({
    sizeBytes,
    chosen: sizeBytes === 4096 ? tree : ring,
    best: tree,
    settings: [ring, tree],
  }));

  it("are of NCCL's best setting over its default, where that was simulated", () => {
    const comparison = { rows: [], references: [], settings, target: "nccl" } as unknown as Comparison;
    const { lines, over } = gainsShown(comparison);
    expect(over).toBe("by default");
    expect(lines.map(({ text, fastest, how }) => [text, fastest, how])).toEqual([
      ["1.50 x", "Tree/Simple", "Ring/Simple, 1 channel"],
      ["1.50 x", "Tree/Simple", "Ring/Simple, 1 channel"],
      ["none", "Tree/Simple", "Tree/Simple, 1 channel"],
    ]);
  });

  it("come with what is to be set, sizes of one setting together, and nothing where the default is best", () => {
    expect(settingsToSet(settings)).toEqual(["1 KiB, 2 KiB: NCCL_ALGO=Tree"]);
    expect(settingsToSet(settings.slice(2))).toEqual([]);
  });
});
