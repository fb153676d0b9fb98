import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { npuResolver, parseGroups } from "../../../src/model/topology/groups.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { unexpected } from "../../support/refusals.ts";

const builder = topologyBuilder("t");
for (const name of ["a", "b", "0", "d"]) builder.addNpu(name);
builder.addSwitch("sw");
const topology = builder.build();

describe("parseGroups", () => {
  it("gives one group of all NPUs without a text", () => {
    expect(parseGroups(topology, undefined)).toEqual([Int32Array.of(0, 1, 2, 3)]);
  });

  it.each([
    ["a,b", [[0, 1]]],
    [
      " d , a ; b , 0 ",
      [
        [3, 0],
        [1, 2],
      ],
    ],
    ["3,1", [[3, 1]]],
    ["0", [[2]]],
  ])("reads %j: names first, ids second, ranks in order", (text, groups) => {
    expect(parseGroups(topology, text).map((group) => [...group])).toEqual(groups);
  });

  it.each([
    ["", unexpected("group", "", 4)],
    ["a,x", unexpected("group", "x", 4)],
    ["a,4", unexpected("group", "4", 4)],
    ["a,-1", unexpected("group", "-1", 4)],
    ["a,sw", unexpected("group", "sw")],
    ["a,b,a", unexpected("group", "a")],
    ["a,b;d,1", unexpected("group", "1")],
    ["a,b;d", unexpected("group", "1 in group 1", 2)],
    ["a,b;", unexpected("group", "1 in group 1", 2)],
  ])("refuses %j", (text, sentence) => {
    expect(() => parseGroups(topology, text)).toThrow(sentence);
  });
});

describe("npuResolver", () => {
  it("takes no NPU for one that failed, whose number is now the id of another", () => {
    const rest = without(presetTopology("mesh:2x2"), ["1"]);
    const resolve = npuResolver(rest);
    expect([resolve("0", "x"), resolve("3", "x"), resolve(1, "x")]).toEqual([0, 2, 1]);
    expect(() => resolve("1", "--root")).toThrow(unexpected("--root", "1", 2));
    expect(() => parseGroups(rest, "0,1,2")).toThrow(unexpected("group", "1", 2));
  });

  it("takes numbers as ids only", () => {
    const resolve = npuResolver(topology);
    expect([resolve(0, "x"), resolve("0", "x"), resolve("1", "x")]).toEqual([0, 2, 1]);
    expect(() => resolve(1.5, "--root")).toThrow(unexpected("--root", 1.5, 4));
  });
});
