import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { railsOf, routesOf, switchComponents } from "../../../src/model/routes/routing.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";

const rails = (text: string) => {
  const topology = presetTopology(text);
  const npus = switchComponents(topology).map(({ senders }) => senders.map(({ npu }) => npu));
  return npus.map((_, own) => railsOf(topology, npus, own));
};

describe("rails", () => {
  it("are the NPUs of equal place in boxes that one set of switches joins", () => {
    const [box0, box1, ib] = rails("dgx-a100:2");
    expect([box0, box1]).toEqual([null, null]);
    expect(ib).toEqual(Array.from({ length: 8 }, (_, r) => [r, r + 8]));
  });

  it("are not looked for where each has a switch of its own, or where there are no boxes", () => {
    expect(rails("dgx-h100:4").every((found) => found === null)).toBe(true);
    expect(rails("switch:8*switch:4").every((found) => found === null)).toBe(true);
  });

  it("leave boxes together whose NPUs meet nowhere else", () => {
    const builder = topologyBuilder("boxes without links of their own", 8);
    for (let npu = 0; npu < 4; npu++) builder.addNpu(`${npu}`, { group: `box${npu >> 1}` });
    const leaf = builder.addSwitch("leaf");
    for (let npu = 0; npu < 4; npu++) builder.addDuplex(npu, leaf, 1e9, 0);
    const topology = builder.build({ shape: [], sources: [] });
    expect(railsOf(topology, [[0, 1, 2, 3]], 0)).toBe(null);
    expect([...routesOf(topology, 1).target]).toEqual([1, 2, 3, 0]);
  });

  it("let every port of a box send to another box, where index order lets one", () => {
    const topology = presetTopology("dgx-a100:4");
    const { source, target, linkOffset } = routesOf(topology, 1);
    const leaving = Array.from(source, (npu, r) => [npu, target[r]]).filter(([a, b]) => a >> 3 !== b >> 3);
    expect(leaving).toHaveLength(32);
    expect(leaving.every(([a, b]) => a % 8 === b % 8)).toBe(true);
    expect(linkOffset.at(-1)).toBe(2 * source.length);
  });
});
