import { describe, expect, it } from "vitest";
import { placedStep } from "../../../src/model/workload/placed-tasks.ts";
import { smallStep } from "../../support/small-steps.ts";

const SIZES = {
  microBatches: 2,
  layersOfStage: 1,
  forwardNs: 1,
  backwardNs: 1,
  updateNs: 1,
  tensorBytes: 8,
  gradientBytes: 8,
  boundaryBytes: 8,
};

describe("the NPUs of a step's tasks", () => {
  it("are those of a stage, its groups, and pairs of it and the stage after or before", () => {
    const { tasks, npus, groups } = placedStep(smallStep({ ...SIZES, mesh: { tensor: 2, data: 2, pipeline: 2 } }));
    expect(npus.map((all) => [...all])).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
    const told = tasks.works.flatMap((work, w) =>
      work.kind === "communication"
        ? [
            `${work.stage} ${work.communication.collective} ${work.communication.group}: ${groups[w]?.size}: ${groups[w]?.members.join(" ")}`,
          ]
        : [],
    );
    expect(new Set(told)).toEqual(
      new Set([
        "0 allreduce tensor: 2: 0 1 2 3",
        "0 send pipeline: 2: 0 4 1 5 2 6 3 7",
        "0 allreduce data: 2: 0 2 1 3",
        "1 allreduce tensor: 2: 4 5 6 7",
        "1 send pipeline: 2: 4 0 5 1 6 2 7 3",
        "1 allreduce data: 2: 4 6 5 7",
      ]),
    );
  });

  it("send from the last stage to the first where parts are interleaved", () => {
    const { tasks, groups } = placedStep(
      smallStep({ ...SIZES, microBatches: 3, mesh: { pipeline: 3, interleaved: 2 } }),
    );
    const pairs = tasks.works.flatMap((work, w) =>
      work.kind === "communication" && work.communication.collective === "send"
        ? [[...(groups[w]?.members ?? [])].join(" ")]
        : [],
    );
    expect(pairs.sort()).toEqual(["0 1", "0 2", "1 0", "1 2", "2 0", "2 1"]);
  });
});
