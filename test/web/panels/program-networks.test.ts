import { expect, test } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { networksOfSize } from "../../../src/web/panels/program-networks.ts";

test("networks that are offered for a program have an NPU for each of its ranks", () => {
  expect(networksOfSize(1)).toEqual([]);
  for (const npus of [2, 3, 4, 8, 12, 16, 64])
    for (const preset of networksOfSize(npus)) expect(presetTopology(preset).npuCount, preset).toBe(npus);
});
