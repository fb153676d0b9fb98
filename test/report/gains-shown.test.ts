import { describe, expect, it } from "vitest";
import type { Comparison, ComparisonRow, LibrarySetting, SizeSettings } from "../../src/report/comparison.ts";
import { gainsShown, notModelledTexts, settingsToSet } from "../../src/report/gains.ts";

const setting = (algorithm: string, us: number): LibrarySetting => ({
  library: "NCCL",
  algorithm,
  protocol: "Simple",
  channels: 1,
  us,
  environment: `NCCL_ALGO=${algorithm}`,
});
const [ring, tree] = [setting("Ring", 30), setting("Tree", 20)];

describe("gains as they are shown", () => {
  const settings = [1024, 2048, 4096].map(
    (sizeBytes): SizeSettings => ({
      library: "NCCL",
      sizeBytes,
      chosen: sizeBytes === 4096 ? tree : ring,
      best: tree,
      settings: [ring, tree],
    }),
  );

  it("are of NCCL's best setting over its default, where that was simulated", () => {
    const comparison = { rows: [], references: [], settings, target: "nccl" } as unknown as Comparison;
    const { tables } = gainsShown(comparison);
    expect(tables.map(({ over }) => over)).toEqual(["by default"]);
    expect(tables[0]?.lines.map(({ text, fastest, how }) => [text, fastest, how])).toEqual([
      ["1.50 x", "Tree/Simple", "Ring/Simple, 1 channel"],
      ["1.50 x", "Tree/Simple", "Ring/Simple, 1 channel"],
      ["none", "Tree/Simple", "Tree/Simple, 1 channel"],
    ]);
  });

  it("come with what is to be set, sizes of one setting together, and nothing where the default is best", () => {
    expect(settingsToSet(settings)).toEqual(["1 KiB, 2 KiB: NCCL_ALGO=Tree"]);
    expect(settingsToSet(settings.slice(2))).toEqual([]);
  });

  it("are of programs over the best that MPI libraries can be told, and of that over their defaults", () => {
    const told = (library: "Open MPI" | "MPICH", algorithm: string, us: number): LibrarySetting => ({
      ...{ library, algorithm, us },
      environment: algorithm,
    });
    const [slow, fast] = [told("Open MPI", "linear", 40), { ...told("Open MPI", "pipeline", 12), segmentBytes: 16384 }];
    const other = told("MPICH", "binomial", 20);
    const ofMpi: SizeSettings[] = [
      { library: "Open MPI", sizeBytes: 8, chosen: slow, best: fast, settings: [slow, fast] },
      { library: "MPICH", sizeBytes: 8, chosen: other, best: other, settings: [other] },
    ];
    const rows = [6, 7].map((us) => ({
      sizeBytes: 8,
      algorithm: "tacos",
      us,
      programUs: us,
    })) as unknown as ComparisonRow[];
    const comparison = { rows, references: [], settings: ofMpi, target: "mpi" } as unknown as Comparison;
    const { tables } = gainsShown(comparison);
    expect(tables.map(({ over, lines }) => [over, ...lines.map((line) => Object.values(line).join(" "))])).toEqual([
      ["of libraries", expect.stringContaining("pipeline (Open MPI), segments of 16 KiB")],
      ["by default", expect.stringContaining("linear (Open MPI)"), expect.stringContaining("binomial (MPICH)")],
    ]);
    expect(tables.flatMap(({ lines }) => lines.map(({ fastest, text }) => [fastest, text]))).toEqual([
      ["tacos", "2.00 x"],
      ["pipeline (Open MPI)", "3.33 x"],
      ["binomial (MPICH)", "none"],
    ]);
    expect(settingsToSet(ofMpi)).toEqual(["8 B: pipeline"]);
  });

  it("name the defaults that have no model", () => {
    const missing = [8, 16].map((sizeBytes) => ({ library: "Open MPI", sizeBytes, algorithm: "linear_sync" }) as const);
    expect(notModelledTexts(missing)).toEqual(["Open MPI's linear_sync, its default at 8 B, 16 B"]);
  });
});
