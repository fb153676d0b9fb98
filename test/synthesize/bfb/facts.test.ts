import { describe, expect, it } from "vitest";
import { constructionTopology } from "../../../src/model/presets/construction.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { bfbFacts } from "../../../src/synthesize/bfb/broadcast.ts";
import { balance } from "../../support/breadth-first.ts";

describe("facts of breadth-first broadcasts without a schedule", () => {
  it.each([
    ["Pi(4,64)", { degree: 4, steps: 3, bandwidth: "21/16", mooreOptimal: true, bandwidthOptimal: false }],
    ["L(K(4,4))", { degree: 4, steps: 3, bandwidth: "1", mooreOptimal: true, bandwidthOptimal: false }],
    ["C(20000,{99,101})", { nodes: 20_000, degree: 4, bandwidth: "19999/20000", bandwidthOptimal: true }],
    ["Odd(3)", { nodes: 10, steps: 2, bidirectionalMooreSteps: 2, bandwidthOptimal: true }],
  ])("are those of %s", async (name, facts) => {
    expect(await bfbFacts(constructionTopology(name), balance)).toMatchObject(facts);
  });

  it("are not told of switches, unequal links and networks in parts", async () => {
    const oneWay = topologyBuilder("one way");
    for (const npu of ["a", "b", "c"]) oneWay.addNpu(npu);
    oneWay.addLink(0, 1, 50e9, 1000);
    oneWay.addLink(1, 2, 50e9, 1000);
    const networks = [presetTopology("switch:8"), presetTopology("torus:4x3@100,25GB/s"), oneWay.build()];
    for (const network of networks) expect(await bfbFacts(network, balance)).toBeNull();
  });
});
