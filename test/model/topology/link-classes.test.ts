import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { CALIBRATED, isCalibrated, linkClasses, withFigures } from "../../../src/model/topology/link-classes.ts";
import { topologyHash } from "../../../src/model/topology/topology.ts";
import { runs } from "../../support/runs.ts";

describe("linkClasses", () => {
  it.each([
    ["dgx-a100:2", ["GPU-NVSwitch 300 GB/s", "GPU-IB switch 25 GB/s"]],
    ["dgx-h100:2", ["GPU-NVSwitch 450 GB/s", "GPU-rail 50 GB/s"]],
    ["ndv2:2", ["GPU-GPU 25 GB/s", "GPU-GPU 50 GB/s", "GPU-NIC 15.754 GB/s", "IB switch-NIC 12.5 GB/s"]],
    ["mesh:2x2@50GB/s,1us", ["GPU-GPU 50 GB/s"]],
  ])("names those of %s", (preset, names) => {
    const found = linkClasses(presetTopology(preset)).classes.map(({ name }) => name);
    expect([...found].sort()).toEqual([...names].sort());
  });

  it("puts links in one class exactly where kinds of ends and figures are the same, and changes them together", () => {
    const presets = [
      "dgx-a100:3",
      "ndv2:2",
      "p4d:2",
      "mi100-2hives",
      "dragonfly:4x5@400,200GB/s",
      "fat-tree:8x8,leaf=4",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...presets), fc.integer({ min: 1, max: 1e12 }), (preset, rate) => {
        const network = presetTopology(preset);
        const classes = linkClasses(network);
        const measured = { fromBytes: 1, toBytes: 9 };
        expect(classes.classes.reduce((sum, { links }) => sum + links, 0)).toBe(network.linkSource.length);
        classes.classOf.forEach((index, link) => {
          expect(network.linkBytesPerSecond[link]).toBe(classes.classes[index].bytesPerSecond);
          expect(network.linkLatencyPs[link]).toBe(classes.classes[index].latencyPs);
        });
        expect(new Set(classes.classes.map(({ name }) => name)).size).toBe(classes.classes.length);
        expect(topologyHash(withFigures(network, classes, classes.classes, { source: "same", measured }))).toBe(
          topologyHash(network),
        );
        const other = withFigures(
          network,
          classes,
          classes.classes.map((one) => ({ ...one, bytesPerSecond: rate })),
          { source: `${CALIBRATED} x`, measured },
        );
        expect(other.linkBytesPerSecond.every((value) => value === rate)).toBe(true);
        expect([isCalibrated(other), isCalibrated(network)]).toEqual([true, false]);
      }),
      { numRuns: runs(20) },
    );
  });
});
