import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import { linkCount } from "../../../src/model/topology/topology.ts";
import { degradations } from "../../../src/request/values.ts";
import {
  changesOf,
  changeText,
  factorOf,
  linkNamesOf,
  optionsOf,
  withDegraded,
  withFailed,
  withoutChange,
} from "../../../src/web/state/what-if-changes.ts";

describe("changes of a network", () => {
  it("are read from options and written back", () => {
    const options = { without: "3,a-b#2", degrade: "0-1=0.5,x=y=0.25" };
    expect(changesOf(options)).toEqual([
      { name: "3", factor: 0 },
      { name: "a-b#2", factor: 0 },
      { name: "0-1", factor: 0.5 },
      { name: "x=y", factor: 0.25 },
    ]);
    expect(optionsOf(changesOf(options))).toEqual(options);
    expect(optionsOf([])).toEqual({ without: undefined, degrade: undefined });
    expect(changesOf({})).toEqual([]);
  });

  it("forget what was degraded of something that fails, so that the words still name what is there", () => {
    let changes = withDegraded([], ["0-1"], 0.5);
    changes = withDegraded(changes, ["2-3"], 0.25);
    changes = withFailed(changes, ["1"]);
    expect(optionsOf(changes)).toEqual({ without: "1", degrade: "2-3=0.25" });
    const { without: gone, degrade: slow } = optionsOf(changes) as { without: string; degrade: string };
    const rest = degrade(without(presetTopology("ring:6"), gone.split(",")), degradations(slow, "--degrade"));
    expect(rest.npuCount).toBe(5);
  });

  it("do not confuse 1 with 11", () => {
    const changes = withFailed(withDegraded([], ["10-11"], 0.5), ["1"]);
    expect(changes).toContainEqual({ name: "10-11", factor: 0.5 });
  });

  it("replace one factor by another, and 1 takes it back", () => {
    const half = withDegraded([], ["0-1", "0-1#2"], 0.5);
    expect(factorOf(half, ["0-1", "0-1#2"])).toBe(0.5);
    expect(withDegraded(half, ["0-1", "0-1#2"], 0.25).map(({ factor }) => factor)).toEqual([0.25, 0.25]);
    expect(withDegraded(half, ["0-1", "0-1#2"], 1)).toEqual([]);
    expect(factorOf([], ["0-1"])).toBe(1);
  });

  it("lose one of several degraded links", () => {
    const all = ["0-1", "0-1#2", "0-1#3"];
    const changes = withFailed(withDegraded([], all, 0.5), ["0-1#3"]);
    expect(optionsOf(changes)).toEqual({ without: "0-1#3", degrade: "0-1=0.5,0-1#2=0.5" });
  });

  it("tell the ways of a link apart: none is degraded twice", () => {
    const both = withDegraded([], ["0-1", "0-1#2"], 0.5);
    expect(factorOf(both, ["1>0", "1>0#2"])).toBe(0.5);
    const one = withDegraded(both, ["1>0"], 0.25);
    expect(optionsOf(one)["degrade"]).toBe("0>1=0.5,0-1#2=0.5,1>0=0.25");
    expect(optionsOf(withDegraded(one, ["0-1", "0-1#2"], 0.75))["degrade"]).toBe("0-1=0.75,0-1#2=0.75");
    expect(optionsOf(withDegraded(one, ["0-1", "0-1#2"], 1))["degrade"]).toBeUndefined();
    const cut = withFailed(withFailed(withDegraded([], ["0-1"], 0.5), ["0>1"]), ["1>0"]);
    expect(optionsOf(cut)).toEqual({ without: "0>1,1>0", degrade: undefined });
    expect(optionsOf(withFailed(withDegraded([], ["1>0"], 0.5), ["0-1"]))["degrade"]).toBeUndefined();
    expect(optionsOf(withDegraded(withDegraded([], ["a-b-c"], 0.5), ["b-c>a"], 0.1))["degrade"]).toBe(
      "a>b-c=0.5,b-c>a=0.1",
    );
  });

  it("are taken back one by one", () => {
    const changes = withFailed(withDegraded([], ["2-3"], 0.5), ["0-1"]);
    expect(withoutChange(changes, { name: "0-1", factor: 0 })).toEqual([{ name: "2-3", factor: 0.5 }]);
    expect(withoutChange(changes, { name: "2-3", factor: 0.5 })).toEqual([{ name: "0-1", factor: 0 }]);
  });

  it("are said in words", () => {
    expect(changeText({ name: "0-1", factor: 0 })).toBe("0-1 failed");
    expect(changeText({ name: "0-1", factor: 0.125 })).toBe("0-1 at 12.5 % of its bandwidth");
  });
});

describe("names of links", () => {
  it("name all parallel ones as the command line does", () => {
    expect(linkNamesOf("a", "b", 3, 2, "both")).toEqual(["a-b", "a-b#2", "a-b#3"]);
    expect(linkNamesOf("a", "b", 3, 2, "backward")).toEqual(["b>a", "b>a#2"]);
    expect(linkNamesOf("a", "b", 0, 2, "forward")).toEqual([]);
  });

  it("are those that fail both ways or one", () => {
    const ring = presetTopology("ring:6");
    expect(linkCount(without(ring, linkNamesOf("0", "1", 1, 1, "both")))).toBe(linkCount(ring) - 2);
    expect(linkCount(without(ring, linkNamesOf("0", "1", 1, 1, "forward")))).toBe(linkCount(ring) - 1);
  });
});
