import { expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { wireBetween } from "../../../src/web/draw/network-index.ts";
import { selectedIn } from "../../../src/web/state/actions.ts";
import { networkView } from "../../../src/web/worker/network-view.ts";

it("a selection stays with its name when others fail, and goes with what it names", () => {
  const whole = presetTopology("mesh:4x4");
  const [before, after] = [networkView(whole), networkView(without(whole, ["2", "5-6"]), whole)];
  expect(selectedIn(after, before, { kind: "node", node: 7 })).toEqual({ kind: "node", node: 6 });
  expect(selectedIn(after, before, { kind: "node", node: 2 })).toBeNull();
  const wire = wireBetween(before, 9, 13);
  expect(selectedIn(after, before, { kind: "wire", wire })).toEqual({ kind: "wire", wire: wireBetween(after, 8, 12) });
  expect(selectedIn(after, before, { kind: "wire", wire: wireBetween(before, 5, 6) })).toBeNull();
  expect(selectedIn(after, before, null)).toBeNull();
});
