import { expect, test } from "vitest";
import { PRESETS, presetTopology } from "../../../src/model/presets/preset.ts";
import { NETWORK_EXAMPLES } from "../../../src/web/panels/network-choices.ts";

test("every preset is offered once, by examples that exist and can be drawn", () => {
  const offered = NETWORK_EXAMPLES.flatMap(({ of }) => Object.keys(of));
  expect(offered.toSorted()).toEqual(PRESETS.map(({ name }) => name).toSorted());
  const examples = NETWORK_EXAMPLES.flatMap(({ of }) => Object.values(of).flat());
  expect(new Set(examples).size).toBe(examples.length);
  for (const example of examples) expect(presetTopology(example).npuCount, example).toBeLessThanOrEqual(1100);
});
