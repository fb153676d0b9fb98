import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { npuResolver, parseGroups } from "../../../src/model/topology/groups.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";

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
    ["", 'expected the name or id (below 4) of an NPU for --group but received ""'],
    ["a,x", 'expected the name or id (below 4) of an NPU for --group but received "x"'],
    ["a,4", 'expected the name or id (below 4) of an NPU for --group but received "4"'],
    ["a,-1", 'expected the name or id (below 4) of an NPU for --group but received "-1"'],
    ["a,sw", 'expected an NPU, not a switch, for --group but received "sw"'],
    ["a,b,a", 'expected each NPU once in a group for --group but received "a"'],
    ["a,b;d,1", 'expected an NPU that is in no other group (it is in group 0) for --group but received "1"'],
    ["a,b;d", 'expected groups of equal size (the first has 2) for --group but received "1 in group 1"'],
    ["a,b;", 'expected groups of equal size (the first has 2) for --group but received "1 in group 1"'],
  ])("refuses %j", (text, sentence) => {
    expect(() => parseGroups(topology, text)).toThrow(sentence);
  });
});

describe("npuResolver", () => {
  it("takes no NPU for one that failed, whose number is now the id of another", () => {
    const rest = without(presetTopology("mesh:2x2"), ["1"]);
    const resolve = npuResolver(rest);
    expect([resolve("0", "x"), resolve("3", "x"), resolve(1, "x")]).toEqual([0, 2, 1]);
    expect(() => resolve("1", "--root")).toThrow(
      'expected the name of an NPU that is there (the one of id 1 is called 2) for --root but received "1"',
    );
    expect(() => parseGroups(rest, "0,1,2")).toThrow('for --group but received "1"');
  });

  it("takes numbers as ids only", () => {
    const resolve = npuResolver(topology);
    expect([resolve(0, "x"), resolve("0", "x"), resolve("1", "x")]).toEqual([0, 2, 1]);
    expect(() => resolve(1.5, "--root")).toThrow("for --root but received 1.5");
  });
});
