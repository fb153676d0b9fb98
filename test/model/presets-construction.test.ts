import { describe, expect, it } from "vitest";
import { constructionText } from "../../src/model/direct/construction.ts";
import { constructionOf, looksLikeConstruction } from "../../src/model/presets/construction.ts";
import { looksLikePreset, presetTopology } from "../../src/model/presets/preset.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { isTranslationInvariant } from "../../src/model/symmetry/translation.ts";
import { degrade } from "../../src/model/topology/modify.ts";
import { linkCount, linkNames, type Topology } from "../../src/model/topology/topology.ts";
import { missing, refusalFrom, unexpected } from "../support/refusals.ts";

describe("constructions as presets", () => {
  it.each([
    ["L3(C(16,{3,4}))", true],
    ["L3(C(16,{3,4}))@25Gbps,10us", true],
    [" K5 ", true],
    ["K_{4,4}", true],
    ["Π(4,1024)", true],
    ["Diamond", true],
    ["Diamond^2", true],
    ["Diamond□2", true],
    ["K(3)*2", true],
    ["(UniRing(1,4) x UniRing(1,8))^2", true],
    ["L^2(K5)", true],
    ["Foo(3)", true],
    ["L3(C(16,{3,4})", true],
    ["C(16,{3.4})", true],
    ["ring:8*fc:4", false],
    ["mesh:4x4", false],
    ["circulant:16,3,4", false],
    ["nets/K(5)", false],
    ["K5.json", false],
    ["K(5).json", false],
    ["K5-mine", false],
    ["topology", false],
    ["dgx-h100:2,ib", false],
    ['{"K(5)": 1}', false],
    ["K(5),1\nK(6),2", false],
    ["[K(5)]", false],
    ["", false],
    ["((", false],
  ])("%j looks like a construction: %s", (text, expected) => {
    expect(looksLikeConstruction(text)).toBe(expected);
    if (expected) expect(looksLikePreset(text)).toBe(true);
  });

  it("takes one bandwidth and one latency for all links", () => {
    const topology = presetTopology("L3(C(16,{3,4}))@25Gbps,10us");
    expect([topology.npuCount, linkCount(topology)]).toEqual([1024, 4096]);
    expect(new Set(topology.linkBytesPerSecond)).toEqual(new Set([25e9 / 8]));
    expect(new Set(topology.linkLatencyPs)).toEqual(new Set([10e6]));
    expect(topology.name).toBe("L3(C(16,{3,4}))@25Gbps,10us");
    expect(topology.shape).toEqual([]);
    expect(topology.sources[0]).toContain("graph L3(C(16,{3,4}))");
    expect(() => presetTopology("K(5)@1,2GB/s")).toThrow(unexpected("K(5)@1,2GB/s", "2 values"));
  });

  it("leaves self-loops out and keeps parallel links", () => {
    expect(linkNames(presetTopology("Pi(2,4)")).length).toBe(8 - 2);
    expect(linkNames(presetTopology("UniRing(2,3)"))).toEqual(["0>1", "0>1#2", "1>2", "1>2#2", "2>0", "2>0#2"]);
  });

  it.each([
    "Torus(3,4,2)",
    "TwistedTorus(4,8)",
    "SkewTorus(4,7,{3})",
    "K(4,4)",
    "H(2,3)",
    "C(9,{2,3}) x UniRing(2,3)",
    "Paley(9)",
  ])("%s has the shape of its translations, under which its routes do not change", (text) => {
    const topology = presetTopology(text);
    expect(topology.shape.reduce((a, b) => a * b, 1)).toBe(topology.npuCount);
    expect(isTranslationInvariant(topology, routesOf(topology, 1), topology.shape)).toBe(true);
  });

  it("is the same network as the presets of old", () => {
    const links = ({ linkSource, linkTarget }: Topology): string[] =>
      Array.from(linkSource, (v, i) => `${v}>${linkTarget[i]}`).sort();
    expect(links(presetTopology("Torus(4,5)"))).toEqual(links(presetTopology("torus:4x5")));
    expect(links(presetTopology("Q(4)"))).toEqual(links(presetTopology("hypercube:4")));
    expect(links(presetTopology("C(16,{3,4})"))).toEqual(links(presetTopology("circulant:16,3,4")));
    expect(links(presetTopology("K(6)"))).toEqual(links(presetTopology("fc:6")));
  });

  it("malformed ones are refused with a caret, on three lines", () => {
    const error = refusalFrom(() => presetTopology("L3(C(16,{3,4})@25Gbps"));
    expect(error).toEqual(missing("the end of the topology"));
    expect(error.message.split("\n").slice(1)).toEqual(["  L3(C(16,{3,4})", "                ^"]);
  });
});

describe("the construction of a network", () => {
  it.each(["L3(C(16,{3,4}))@25Gbps,10us", "Pi(4,64)", "K5", "BiRing(2,5)*2"])("%s is found again", (text) => {
    const construction = constructionOf(presetTopology(text));
    expect(construction).not.toBeNull();
    expect(presetTopology(constructionText(construction as NonNullable<typeof construction>)).linkTarget).toEqual(
      presetTopology(text).linkTarget,
    );
  });

  it("is none where name and links disagree", () => {
    const k5 = presetTopology("K(5)");
    expect(constructionOf({ ...k5, name: "K(6)" })).toBeNull();
    expect(constructionOf({ ...k5, name: "C(5,{1,2})" })).toBeNull();
    expect(constructionOf({ ...k5, name: "L(" })).toBeNull();
    expect(constructionOf({ ...k5, name: "UniRing(9,5)" })).toBeNull();
    expect(constructionOf({ ...k5, name: "Pi(4,2000000)" })).toBeNull();
    expect(constructionOf({ ...k5, name: "five" })).toBeNull();
    expect(constructionOf({ ...degrade(k5, [["0>1", 0.5]]), name: "K(5)" })).toBeNull();
    expect(constructionOf(presetTopology("switch:5"))).toBeNull();
  });
});
