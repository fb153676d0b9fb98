import { describe, expect, it } from "vitest";
import { ALONE, groupAxes, groupMembers, inStage, type Parallelism } from "../../../src/model/workload/parallelism.ts";

const mesh = (some: Partial<Parallelism>): Parallelism => ({ ...ALONE, ...some });
const lists = (members: Int32Array, size: number): number[][] =>
  Array.from({ length: members.length / size }, (_, g) => [...members.subarray(g * size, (g + 1) * size)]);

describe("groups of a mesh", () => {
  const all = mesh({ tensor: 2, context: 2, data: 3, pipeline: 2 });

  it("are the NPUs whose other coordinates are equal, neighbours by the order of the axes", () => {
    expect(lists(groupMembers(all, "tensor"), 2).slice(0, 3)).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    expect(lists(groupMembers(all, "context"), 2).slice(0, 3)).toEqual([
      [0, 2],
      [1, 3],
      [4, 6],
    ]);
    expect(lists(groupMembers(all, "data"), 3)[0]).toEqual([0, 4, 8]);
    expect(lists(groupMembers(all, "pipeline"), 2)[0]).toEqual([0, 12]);
    expect(lists(groupMembers(all, "copies"), 6)[0]).toEqual([0, 2, 4, 6, 8, 10]);
    expect(groupMembers(all, "all")).toHaveLength(24);
  });

  it.each(["tensor", "context", "data", "pipeline", "copies", "experts", "expertCopies"] as const)(
    "%s: each NPU is in one group, and a stage has its own",
    (name) => {
      const split = mesh({ ...all, expert: 2, expertTensor: 2 });
      const members = groupMembers(split, name);
      expect([...members].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, npu) => npu));
      if (name === "pipeline") return;
      const stages = [0, 1].flatMap((stage) => [...groupMembers(split, name, stage)]);
      expect(stages).toEqual([...members]);
    },
  );

  it("follow another order of the axes", () => {
    const dataFirst = mesh({ tensor: 2, data: 2, order: ["data", "tensor", "context", "pipeline"] });
    expect(lists(groupMembers(dataFirst, "data"), 2)).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(lists(groupMembers(dataFirst, "tensor"), 2)).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it("take experts from the copies, whole or split as the rest", () => {
    const one = mesh({ tensor: 2, data: 8, expert: 4, expertTensor: 1 });
    expect(groupAxes(one, "experts")).toEqual([
      { size: 2, stride: 1 },
      { size: 2, stride: 2 },
    ]);
    expect(lists(groupMembers(one, "experts"), 4)[0]).toEqual([0, 1, 2, 3]);
    expect(lists(groupMembers(one, "expertCopies"), 4)[0]).toEqual([0, 4, 8, 12]);
    const split = mesh({ tensor: 2, data: 8, expert: 4, expertTensor: 2 });
    expect(lists(groupMembers(split, "experts"), 4)[0]).toEqual([0, 2, 4, 6]);
    expect(lists(groupMembers(split, "expertCopies"), 2)[0]).toEqual([0, 8]);
  });

  it("refuse experts that do not divide the copies", () => {
    expect(() => groupAxes(mesh({ data: 6, expert: 4 }), "experts")).toThrow(/ep/);
    expect(() => groupAxes(mesh({ data: 6, expert: 12 }), "experts")).toThrow(/at most 6/);
  });

  it("say who stands at the same place in another stage", () => {
    expect(inStage(all, 5, 1)).toBe(17);
    expect(inStage(all, 17, 0)).toBe(5);
  });
});
