import { expect, test } from "vitest";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { EXAMPLE } from "../../../src/web/panels/readable-example.ts";

test("the example of a network that can be read is one", () => {
  const { npuCount, nodeNames } = readTopology(EXAMPLE, "example.json");
  expect([npuCount, nodeNames]).toEqual([2, ["a", "b", "sw"]]);
});
