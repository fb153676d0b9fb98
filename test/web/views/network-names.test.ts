import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { wireBetween } from "../../../src/web/draw/network-index.ts";
import { named, offered } from "../../../src/web/views/network/names.ts";
import { networkView } from "../../../src/web/worker/network-view.ts";

const network = networkView(presetTopology("dgx-a100:2"));

describe("finding by name", () => {
  it("knows NPUs, switches, boxes and links", () => {
    const [nvsw0, ib] = ["nvsw0", "ib"].map((name) => network.nodeNames.indexOf(name));
    expect(named(network, " 12 ")).toEqual({ kind: "node", node: 12 });
    expect(named(network, "NPU 12")).toEqual({ kind: "node", node: 12 });
    expect(named(network, "ib")).toEqual({ kind: "node", node: ib });
    expect(named(network, "box1")).toEqual({ kind: "group", group: 1 });
    for (const text of ["3-nvsw0", "nvsw0-3", "3>nvsw0", "3 → nvsw0"]) {
      expect(named(network, text), text).toEqual({ kind: "wire", wire: wireBetween(network, 3, nvsw0) });
    }
    for (const text of ["", "99", "0-1", "-"]) expect(named(network, text), text).toBeNull();
  });

  it("offers what begins with the text first", () => {
    const names = offered(network, "1").map(({ name }) => name);
    expect(names.slice(0, 7)).toEqual(["1", "10", "11", "12", "13", "14", "15"]);
    expect(names).toContain("box1");
    expect(offered(networkView(presetTopology("mesh:32x32")), "1")).toHaveLength(40);
  });
});
