import { describe, expect, it } from "vitest";
import { ringGraphXml } from "../../../src/export/networks/graph-file.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { ringDecomposition } from "../../../src/model/routes/rings.ts";
import { unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";
import { elementsOf } from "../../support/svg-elements.ts";

const box = presetTopology("fc:3");

describe("a graph file of rings", () => {
  it("has a channel for each ring", () => {
    expect(ringGraphXml(box, ringDecomposition(box))).toBe(
      [
        "<!-- 2 rings of 50 GB/s on fc:3 -->",
        '<graphs version="1">',
        '  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="50" speedinter="50" latencyinter="0" typeintra="NVL" typeinter="PIX" samechannels="0">',
        "    <channel>",
        '      <gpu dev="0"/>',
        '      <gpu dev="1"/>',
        '      <gpu dev="2"/>',
        "    </channel>",
        "    <channel>",
        '      <gpu dev="0"/>',
        '      <gpu dev="2"/>',
        '      <gpu dev="1"/>',
        "    </channel>",
        "  </graph>",
        "</graphs>",
        "",
      ].join("\n"),
    );
  });

  it("writes devices as every version of NCCL reads them, in the order given", () => {
    const topology = presetTopology("mi250:1");
    const devices = Array.from({ length: 16 }, (_, npu) => 15 - npu);
    const xml = ringGraphXml({ ...topology, name: "a---b <&>" }, ringDecomposition(topology), {
      devices,
      links: "XGMI",
    });
    const elements = elementsOf(xml);
    expect(elements.filter(({ name }) => name === "channel")).toHaveLength(6);
    const gpus = elements.filter(({ name }) => name === "gpu").map(({ attributes }) => attributes["dev"]);
    expect(gpus.slice(0, 16).sort()).toEqual(
      [..."0123456789"].concat(["0xa", "0xb", "0xc", "0xd", "0xe", "0xf"]).sort(),
    );
    expect(gpus[0]).toBe("0xf");
  });

  it("refuses rings that leave out an NPU, devices given twice, and no rings", () => {
    const rings = { rings: [Int32Array.of(0, 1)], bytesPerSecond: 1e9 };
    expect(() => ringGraphXml(box, rings)).toThrow(unexpected("a ring of a graph file", [0, 1], 3));
    const all = { rings: [Int32Array.of(0, 1, 2)], bytesPerSecond: 1e9 };
    expect(() => ringGraphXml(box, all, { devices: [0, 1, 1] })).toThrow(
      unexpected("the devices of a graph file", [0, 1, 1], 3),
    );
    expect(() => ringGraphXml(box, { rings: [], bytesPerSecond: 1 })).toThrow(
      unexpected("the rings of a graph file", 0, 64),
    );
  });

  it.skipIf(!hasSharedData)("has the attributes of Azure's files", () => {
    const theirs = elementsOf(sharedText("nccl-topo/other/azure-nc48v4-graph.xml"));
    const ours = elementsOf(ringGraphXml(box, ringDecomposition(box)));
    const ringsOf = (elements: typeof ours) =>
      Object.keys(
        elements.find(({ name, attributes }) => name === "graph" && attributes["id"] === "0")?.attributes ?? {},
      );
    expect(ringsOf(ours)).toEqual(ringsOf(theirs));
  });
});
