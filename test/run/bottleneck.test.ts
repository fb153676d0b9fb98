import { describe, expect, it } from "vitest";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { limitOf } from "../../src/model/bounds/bounds.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { degrade } from "../../src/model/topology/modify.ts";
import { linkCount, linkNames, type Topology } from "../../src/model/topology/topology.ts";
import { problemOf } from "../../src/request/problem.ts";
import { limitWithBottleneck } from "../../src/run/bottleneck.ts";

const problem = (topology: Topology | string, collective: "allgather" | "reducescatter", group?: string) =>
  problemOf(typeof topology === "string" ? presetTopology(topology) : topology, {
    collective,
    sizeBytes: 2 ** 30,
    ...(group === undefined ? {} : { group }),
  });

/** Returns GB/s, latencies left out. */
const algbw = ({ topology, collective }: ReturnType<typeof problem>): number => {
  const still = { ...topology, linkLatencyPs: new Float64Array(linkCount(topology)) };
  const { ps } = limitWithBottleneck(jsKernels, still, collective);
  return (2 ** 30 / (Number(ps.num) / Number(ps.den))) * 1000;
};

describe("limitWithBottleneck", () => {
  it.each([
    ["dgx-a100:1", 342.857],
    ["dgx-a100:2", 346.667],
    ["dgx-a100:3", 300],
    ["dgx-a100:6", 240],
    ["dgx-a100:128", 201.575],
    ["mi250:2", 354.133],
  ])("is the published optimum of an all-gather and of a reduce-scatter on %s", (expression, gbps) => {
    for (const collective of ["allgather", "reducescatter"] as const) {
      expect(algbw(problem(expression, collective))).toBeCloseTo(gbps, 3);
    }
  });

  it("finds a bent border of slow links, all but one, in a mesh that is too large for the model's own flows", () => {
    const mesh = presetTopology("mesh:30x30@100GB/s,0us");
    const inside = (npu: number): boolean => {
      const [x, y] = [npu % 30, Math.floor(npu / 30)];
      return x >= 4 && y >= 3 && x < 17 && y < 19 && (x < 9 || y < 8);
    };
    const into = [...mesh.linkSource.keys()].filter((l) => !inside(mesh.linkSource[l]) && inside(mesh.linkTarget[l]));
    const fast = into[0] as number;
    const names = linkNames(mesh).filter(
      (_, l) => l !== fast && inside(mesh.linkSource[l]) !== inside(mesh.linkTarget[l]),
    );
    const slow = degrade(
      mesh,
      names.map((name) => [name, 0.005] as const),
    );
    const members = Array.from({ length: 900 }, (_, v) => v).filter(inside).length;
    const bandwidth = into.reduce((sum, l) => sum + slow.linkBytesPerSecond[l], 0);
    const { collective } = problem(slow, "allgather");
    const seconds = ((900 - members) * (2 ** 30 / 900)) / bandwidth;
    const { ps, witness } = limitWithBottleneck(jsKernels, slow, collective);
    expect(Number(ps.num) / Number(ps.den) / 1e12).toBeCloseTo(seconds, 9);
    expect(witness).toMatchObject({ kind: "cut", direction: "in", npusInside: members });
    const alone = limitOf(slow, collective).ps;
    expect(Number(alone.num) / Number(alone.den) / 1e12).toBeLessThan(seconds * 0.9);
  });

  it("is the same with switches that no link leads to, however many", () => {
    const boxes = presetTopology("dgx-a100:2");
    const unused = Array.from({ length: 2000 }, (_, i) => `unused${i}`);
    const wide = {
      ...boxes,
      nodeNames: [...boxes.nodeNames, ...unused],
      nodeTraits: [...boxes.nodeTraits, ...unused.map(() => ({}))],
    };
    const { collective } = problem(wide, "allgather");
    expect(limitWithBottleneck(jsKernels, wide, collective)).toEqual(
      limitWithBottleneck(jsKernels, boxes, problem(boxes, "allgather").collective),
    );
  });

  it("counts what outsiders of a group relay", () => {
    // NPUs 0 and 8 of a 3 x 3 mesh get half of 1 GiB each through two links of 100 GB/s
    expect(algbw(problem("mesh:3x3@100GB/s,0us", "allgather", "0,8"))).toBeCloseTo(400, 6);
  });
});
