import { describe, expect, it } from "vitest";
import { explainPhases } from "../../src/explain/phases.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "../support/phase-cases.ts";
import { builtPhases, plannedPhases } from "../support/phase-schedules.ts";

const explained = (name: string, kind: "allreduce" | "allgather", orders: readonly (readonly number[])[]): string[] =>
  explainPhases(
    builtPhases(plannedPhases({ ...(PHASE_NETWORKS[name] as PhaseNetwork), kind, sizeBytes: 12e6, orders })),
  );

describe("phases in words", () => {
  it("tell orders, where chunks begin, loads and the limit", () => {
    // 1 MB a block: RS over 4 sends 9 MB at 100 GB/s, then over 3 sends 2 MB; three latencies of 0.5 us, then two
    expect(explained("torus", "allreduce", [[0, 1]])).toEqual([
      "allreduce in 4 phases of 1 chunk within 2 dimensions of torus:4x3, planned for 225 us",
      "an NPU begins with 12 MB of each chunk (rounded up)",
      "",
      "dimension 0: rings of 4 by ring, 100 GB/s an NPU, 1.5 us of latency a phase",
      "dimension 1: rings of 3 by ring, 100 GB/s an NPU, 1 us of latency a phase",
      "",
      "1 chunk: reduce-scatters over 0, 1, then all-gathers over 1, 0",
      "chunks begin: 1 in dimension 0, 0 in dimension 1",
      "",
      "dimension 0: each NPU sends 18 MB in 2 phases, busy 80 % of the time, serialises until 223.5 us",
      "dimension 1: each NPU sends 4 MB in 2 phases, busy 17.77 % of the time, serialises until 132.5 us",
      "limit: dimension 0 (100 GB/s an NPU) is the busiest; it waits for chunks or their latency 45 us of 225 us",
    ]);
  });

  it("count orders, the most frequent first", () => {
    const lines = explained("torus", "allgather", [
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    expect(lines).toContain("2 chunks: all-gathers over 1, 0");
    expect(lines.indexOf("2 chunks: all-gathers over 1, 0")).toBe(lines.indexOf("1 chunk: all-gathers over 0, 1") - 1);
    expect(lines).toContain("chunks begin: 1 in dimension 0, 2 in dimension 1");
  });

  it("sum up rare orders", () => {
    const all = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    const lines = explainPhases(
      builtPhases({
        ...plannedPhases({
          ...(PHASE_NETWORKS["hypercube"] as PhaseNetwork),
          kind: "allgather",
          sizeBytes: 8e6,
          orders: [...all, [0, 1, 2]],
        }),
      }),
    );
    expect(lines.filter((line) => /^\d+ chunks?: /.test(line))).toHaveLength(6);
    expect(lines).toContain("2 chunks: all-gathers over 0, 1, 2");
  });

  it("tell what goes up and down where switches sum", () => {
    const lines = explained("rails", "allreduce", [[0, 1]]);
    expect(lines).toContain("dimension 0: switches of 8 by offload, 450 GB/s an NPU, 1 us of latency a phase");
    expect(lines.find((line) => line.includes(" up, "))).toMatch(/^dimension 0: .* busy [\d.]+ % up, [\d.]+ % down of/);
  });
});
