import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { stepsOf } from "../../../src/model/steps/schedule.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { taccl } from "../../../src/synthesize/taccl/taccl.ts";
import { rerouting } from "../../../src/synthesize/taccl/taccl-phases.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { inlineRunner } from "../../support/synthesis.ts";
import { greedyTasks } from "../../support/taccl-problems.ts";

/** All-gather tasks among all of the ring 0 - 1 - 2 - 3, on a sketch that does not ask for its rotations. */
const { network: turning, tasks, collective: whole } = greedyTasks(presetTopology("ring:4"), "allgather", 1000);
const network = { ...turning, symmetries: [] };
const among = (npus: readonly number[]) =>
  collective({ kind: "allgather", groups: [Int32Array.from(npus)], sizeBytes: 4000, chunksPerNpu: 1, rootRank: 0 });

describe("other ways for a send", () => {
  it("are looked for only where every NPU that gets a chunk wants it", () => {
    expect(rerouting(network, whole, tasks, (changed) => changed)).toBeDefined();
    expect(rerouting(network, among([0, 1, 2]), tasks, (changed) => changed)).toBeUndefined();
  });

  it("leave no NPU outside the group with a sum of nothing", async () => {
    const b = topologyBuilder("relay 0");
    for (let v = 0; v < 3; v++) b.addNpu(`${v}`);
    b.addLink(0, 1, 5e11, 0);
    b.addLink(1, 2, 1e12, 0);
    b.addLink(2, 0, 1e12, 1000);
    const hubs = [b.addSwitch("s"), b.addSwitch("t")];
    b.addDuplex(0, hubs[0], 1e12, 0);
    b.addDuplex(1, hubs[0], 5e11, 1000);
    b.addDuplex(2, hubs[0], 1e12, 0);
    b.addDuplex(1, hubs[1], 1e12, 0);
    b.addDuplex(2, hubs[1], 1e12, 1000);
    const groups = [Int32Array.of(1, 2)];
    const task = collective({ kind: "reducescatter", groups, sizeBytes: 6000, chunksPerNpu: 3, rootRank: 0 });
    const request = { topology: b.build(), collective: task, seed: 1, trials: 1, policy: null, switchDegree: null };
    const { schedule } = await taccl.synthesize({ ...request, timeLimitMs: 200 }, { runner: inlineRunner(jsKernels) });
    expect(verifySchedule(stepsOf(schedule)).violations).toEqual([]);
  });
});
