import { expect } from "vitest";
import { collective } from "../../src/model/collective/collective.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";

/** Returns a correct all-gather of 3 x 1 MB (decimal) round a one-way ring of 3 NPUs at 1 GB/s without latency. */
export function ringSchedule(): StepSchedule {
  const builder = topologyBuilder("ring3");
  for (const name of ["a", "b", "c"]) builder.addNpu(name);
  for (let npu = 0; npu < 3; npu++) builder.addLink(npu, (npu + 1) % 3, 1e9, 0);
  return {
    topology: builder.build(),
    collective: collective({
      kind: "allgather",
      groups: [Int32Array.of(0, 1, 2)],
      sizeBytes: 3e6,
      chunksPerNpu: 1,
      rootRank: 0,
    }),
    routes: {
      source: Int32Array.of(0, 1, 2),
      target: Int32Array.of(1, 2, 0),
      linkOffset: Int32Array.of(0, 1, 2, 3),
      links: Int32Array.of(0, 1, 2),
      shareNum: Float64Array.of(1, 1, 1),
      shareDen: Float64Array.of(1, 1, 1),
    },
    chunk: Uint8Array.of(0, 1, 2, 2, 0, 1),
    route: Uint8Array.of(0, 1, 2, 0, 1, 2),
    startPs: Float64Array.of(0, 0, 0, 1e9, 1e9, 1e9),
    endPs: Float64Array.of(1e9, 1e9, 1e9, 2e9, 2e9, 2e9),
    op: new Uint8Array(6),
  };
}

/** Returns the ring's schedule with its transfers gone round and round until there are so many. */
export function longRingSchedule(count: number): StepSchedule {
  return {
    ...ringSchedule(),
    chunk: Uint8Array.from({ length: count }, (_, i) => i % 3),
    route: Uint8Array.from({ length: count }, (_, i) => i % 3),
    startPs: Float64Array.from({ length: count }, (_, i) => Math.floor(i / 3) * 1e9),
    endPs: Float64Array.from({ length: count }, (_, i) => Math.floor(i / 3 + 1) * 1e9),
    op: new Uint8Array(count),
  };
}

/** Expects the same transfers, without printing a million of them. */
export function expectSameTransfers(found: StepSchedule, expected: StepSchedule): void {
  for (const name of ["chunk", "route", "startPs", "endPs", "op"] as const) {
    expect(found[name].length).toBe(expected[name].length);
    expect(found[name].findIndex((value, i) => value !== expected[name][i])).toBe(-1);
  }
}
