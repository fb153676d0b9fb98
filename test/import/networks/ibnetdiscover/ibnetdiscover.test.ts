import { describe, expect, it } from "vitest";
import {
  looksLikeIbnetdiscover,
  readIbnetdiscover,
} from "../../../../src/import/networks/ibnetdiscover/ibnetdiscover.ts";
import type { TopologyOptions } from "../../../../src/import/networks/topology-options.ts";
import { linkNames, type Topology } from "../../../../src/model/topology/topology.ts";

import { missing, refusalFrom, refused, unexpected } from "../../../support/refusals.ts";

/** A leaf and a spine, two hosts (one with two adapters), an adapter without a host's name, an aggregation node. */
const FABRIC = `#
# Topology file: generated on Sat Nov 21 2026
#
# Initiated from node 5c25730300d765c8 port 5c25730300d765c8

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x5
switchguid=0x5(5)
Switch\t65 "S-0005"\t\t# "MF0;LEAF-01:MQM9701/U1" enhanced port 0 lid 159 lmc 0
[1]\t"H-0001"[1](0001) \t\t# "dgx-2 mlx5_10" lid 1 4xNDR
[2]\t"H-0002"[1](0002) \t\t# "dgx-2 mlx5_9" lid 2 4xNDR
[3]\t"H-0003"[1](0003) \t\t# "dgx-10 mlx5_0" lid 3 2xHDR
[4]\t"H-0004"[1](0004) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 4 4xNDR
[10]\t"S-0006"[1]\t\t# "MF0;SPINE-01:MQM9701/U1" lid 7 4xXDR
[11][ext 3]\t"S-0006"[2][ext 4]\t\t# "MF0;SPINE-01:MQM9701/U1" lid 7 4xXDR
[65]\t"H-0007"[1](0007) \t\t# "Mellanox Technologies Aggregation Node" lid 9 4xNDR

switchguid=0x6(6)
Switch\t65 "S-0006"\t\t# "MF0;SPINE-01:MQM9701/U1" enhanced port 0 lid 7 lmc 0
[1]\t"S-0005"[10]\t\t# "MF0;LEAF-01:MQM9701/U1" lid 159 4xXDR
[2]\t"S-0005"[11]\t\t# "MF0;LEAF-01:MQM9701/U1" lid 159 4xNDR

caguid=0x1
Ca\t1 "H-0001"\t\t# "dgx-2 mlx5_10"
[1](0001) \t"S-0005"[1]\t\t# lid 1 lmc 0 "MF0;LEAF-01:MQM9701/U1" lid 159 4xNDR

caguid=0x2
Ca\t1 "H-0002"\t\t# "dgx-2 mlx5_9"
[1](0002) \t"S-0005"[2]\t\t# lid 2 lmc 0 "MF0;LEAF-01:MQM9701/U1" lid 159 4xNDR

caguid=0x3
Ca\t1 "H-0003"\t\t# "dgx-10 mlx5_0"
[1](0003) \t"S-0005"[3]\t\t# lid 3 lmc 0 "MF0;LEAF-01:MQM9701/U1" lid 159 2xHDR

caguid=0x7
Ca\t1 "H-0007"\t\t# "Mellanox Technologies Aggregation Node"
[1](0007) \t"S-0005"[65]\t\t# lid 9 lmc 0 "MF0;LEAF-01:MQM9701/U1" lid 159 4xNDR
`;
const read = (text: string, options?: TopologyOptions): Topology => readIbnetdiscover(text, "ib.txt", options);
/** Returns GB/s by link, without the links back. */
const ratesOf = (topology: Topology): Record<string, number> =>
  Object.fromEntries(
    linkNames(topology)
      .map((name, link): [string, number] => [name, topology.linkBytesPerSecond[link] / 1e9])
      .filter((_, link) => link % 2 === 0),
  );

describe("ibnetdiscover", () => {
  it("makes every adapter an NPU of its host, in natural order, and every cable one link each way", () => {
    expect(looksLikeIbnetdiscover(FABRIC)).toBe(true);
    const topology = read(FABRIC);
    expect(topology.nodeNames).toEqual([
      "dgx-2/mlx5_9",
      "dgx-2/mlx5_10",
      "dgx-10/mlx5_0",
      "H-0004",
      "LEAF-01",
      "SPINE-01",
      "dgx-2/pcie",
    ]);
    expect(topology.nodeTraits.slice(0, 4)).toEqual([{ group: "dgx-2" }, { group: "dgx-2" }, { group: "dgx-10" }, {}]);
    expect(ratesOf(topology)).toEqual({
      "LEAF-01>dgx-2/mlx5_10": 50,
      "LEAF-01>dgx-2/mlx5_9": 50,
      "LEAF-01>dgx-10/mlx5_0": 12.5,
      "LEAF-01>H-0004": 50,
      "LEAF-01>SPINE-01": 100,
      "LEAF-01>SPINE-01#2": 50,
      "dgx-2/mlx5_9>dgx-2/pcie": 48,
      "dgx-2/mlx5_10>dgx-2/pcie": 48,
    });
  });

  it("says what it assumed, dropped and found on one side only", () => {
    const topology = read(FABRIC);
    expect(topology.sources).toEqual([
      "ibnetdiscover ib.txt: an NPU for each linked port of a host adapter",
      "latency 500 ns a link, assumed",
      "NPUs of a host meet at a switch, 48 GB/s each, as over PCIe (assumed)",
      "1 aggregation nodes (SHARP) left out; their switches can duplicate and reduce",
      "1 cables are listed by one end only; both ways assumed",
      "1 cables have ends of different rates; the lower one taken",
    ]);
    expect(topology.nodeTraits[4]).toEqual({ multicast: true, aggregation: true });
  });

  it("joins the GPUs of a host as --gpu and --assume say", () => {
    const nvswitch = read(FABRIC, { gpu: "H100", latencyPs: 9 });
    expect(ratesOf(nvswitch)["dgx-2/mlx5_9>dgx-2/nvsw"]).toBe(450);
    expect(nvswitch.nodeTraits.at(-1)).toEqual({ group: "dgx-2", multicast: true, aggregation: true });
    expect(new Set(nvswitch.linkLatencyPs)).toEqual(new Set([9]));
    expect(ratesOf(read(FABRIC, { gpu: "a100-pcie" }))["dgx-2/mlx5_9>dgx-2/mlx5_10"]).toBe(300);
    expect(ratesOf(read(FABRIC, { gpu: "t4" }))["dgx-2/mlx5_9>dgx-2/pcie"]).toBe(12);
    expect(ratesOf(read(FABRIC, { bandwidth: { pcie: 1e9 } }))["dgx-2/mlx5_9>dgx-2/pcie"]).toBe(1);
    expect(refusalFrom(() => read(FABRIC, { gpu: "abacus" }))).toEqual(refused("unknown-name", "gpu", "abacus"));
  });

  it("groups no adapters of hosts that share a name, and names their ports where several are linked", () => {
    const text = [
      'Switch\t4 "S-5"\t\t# "leaf"',
      '[1]\t"H-1"[1](1)\t\t# "localhost HCA-1" lid 1 4xEDR',
      '[2]\t"H-2"[1](2)\t\t# "localhost HCA-1" lid 2 4xEDR',
      '[3]\t"H-2"[2](3)\t\t# "localhost HCA-1" lid 2 4xEDR',
    ].join("\r\n");
    const topology = read(text);
    expect(topology.nodeNames).toEqual([
      "localhost/HCA-1@H-1",
      "localhost/HCA-1@H-2:1",
      "localhost/HCA-1@H-2:2",
      "leaf",
    ]);
    expect(topology.nodeTraits).toEqual([{}, {}, {}, {}]);
    expect(topology.sources.at(-1)).toBe("3 cables are listed by one end only; both ways assumed");
  });

  it("leaves out cables from a switch to itself and adapters without a link, and keeps equal names apart", () => {
    const text = [
      'Switch 4 "S-5" # "leaf"',
      '[1] "S-5"[2] # "leaf" lid 1 4xEDR',
      '[2] "S-5"[1] # "leaf" lid 1 4xEDR',
      '[3] "S-6"[1] # "leaf" lid 1 4xEDR',
      '[4] "H-1"[1](1) # "a b" lid 1 4xEDR',
      'Ca 1 "H-9" # "c d"',
    ].join("\n");
    const topology = read(text);
    expect(topology.nodeNames).toEqual(["a/b", "leaf", "leaf@S-6"]);
    expect(topology.sources.slice(-2)).toEqual([
      "1 cables from a node to itself left out",
      "1 adapters without a link left out",
    ]);
  });

  it.each([
    ["4xSDR", 1.25],
    ["1xQDR", 1.25],
    ["4xFDR10", 5.15625],
    ["4xFDR", 7],
    ["2xHDR", 12.5],
    ["4xXDR", 100],
  ])("reads %s as %d GB/s", (rate, gbps) => {
    const text = `Switch 4 "S-5" # "leaf"\n[1] "H-1"[1](1) # "a b" lid 1 ${rate}`;
    expect(ratesOf(read(text))).toEqual({ "leaf>a/b": gbps });
  });

  it.each([
    ['[1] "H-1"[1](1) # "a b" lid 1 4xNDR', unexpected("ib.txt line 1", '[1] "H-1"[1](1) # "a b" lid 1 4xNDR')],
    ['Switch 4 "S-5"\nwhat is this', unexpected("ib.txt line 2", "what is this")],
    ['Switch 4 "S-5"\n[1] "H-1"[1](1) # "a b" lid 1 4xPDR', unexpected("ib.txt line 2", "4xPDR")],
    ['Switch 4 "S-5"\n[1] "H-1"[1](1) # "a b" lid 1', missing("ib.txt line 2")],
    ['Switch 4 "S-5"', missing("ib.txt")],
  ])("%j is refused with its line", (text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });

  it("takes --assume nic for ports without a rate", () => {
    const text = 'Switch 4 "S-5" # "leaf"\n[1] "H-1"[1](1) # "a b" lid 1';
    expect(ratesOf(read(text, { bandwidth: { nic: 25e9 } }))).toEqual({ "leaf>a/b": 25 });
  });
});
