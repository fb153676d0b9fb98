import { describe, expect, it } from "vitest";
import { readEdgeList } from "../../../src/import/networks/edge-list.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";

import { missing, outOfRange, refusalFrom, unexpected } from "../../support/refusals.ts";

const read = (text: string): Topology => readEdgeList(text, "dir/net.csv");

describe("reading an edge list", () => {
  it("reads names, figures, switches by name, both directions and parallel links", () => {
    const topology = read(
      "# rack 7\nfrom,to,bandwidthGBps,latencyUs,bidirectional,count\ngpu1, sw0 ,25,0.7,true,2\n\ngpu0,sw0,12.5,1,no,\n",
    );
    expect(topology.name).toBe("net");
    expect(topology.npuCount).toBe(2);
    expect(topology.nodeNames).toEqual(["gpu1", "gpu0", "sw0"]);
    expect(linkNames(topology)).toEqual(["gpu1>sw0", "sw0>gpu1", "gpu1>sw0#2", "sw0>gpu1#2", "gpu0>sw0"]);
    expect([...topology.linkBytesPerSecond]).toEqual([25e9, 25e9, 25e9, 25e9, 12.5e9]);
    expect([...topology.linkLatencyPs]).toEqual([700_000, 700_000, 700_000, 700_000, 1_000_000]);
    expect(topology.sources).toEqual(["edge list dir/net.csv"]);
  });

  it("names a header without bandwidths in one short sentence, however long it is", () => {
    const header = `source,target,${Array.from({ length: 900 }, (_, i) => `column${i}`).join(",")}`;
    const { message } = refusalFrom(() => read(`${header}\na,b`));
    expect(message).toMatch(/^dir\/net\.csv line 1 has no column of bandwidths; .*bandwidthGBps/);
    expect(message.length).toBeLessThan(250);
  });

  it.each([
    ["from,to,bandwidthGBps,latencyUs\na,b,50,0.5"],
    ["Source;Target;Bandwidth (GB/s);Latency (ns)\na;b;50;500"],
    ["src\tdst\tbandwidth\tlatency\na\tb\t400Gbps\t500ns"],
    ["DestID,SrcID,bandwidth_Gbps,latency (us)\r\nb,a,400,5e-1\r\n"],
    ['\ufefffrom,to,bandwidth GB/s\n"a",b,50000MB/s'],
    ["latencyNs,to,from,bandwidthGBps\n,b,a,50"],
  ])("reads %j as one link of 50 GB/s and 0.5 us", (text) => {
    const topology = read(text);
    expect(linkNames(topology)).toEqual(["a>b"]);
    expect([topology.linkBytesPerSecond[0], topology.linkLatencyPs[0]]).toEqual([50e9, 500_000]);
  });

  it("says where it assumed a latency", () => {
    expect(read("from,to,bandwidthGBps,latencyUs\na,b,1,\nb,a,1,2").sources).toEqual([
      "edge list dir/net.csv",
      "latency 0.5us assumed for 1 of 2 lines",
    ]);
  });

  it("numbers NPUs named 0 .. N-1 by their names", () => {
    expect(read("from,to,bandwidthGBps\n2,1,1\nsw,2,1\n0,sw,1").nodeNames).toEqual(["0", "1", "2", "sw"]);
    expect(read("from,to,bandwidthGBps\n2,7,1").nodeNames).toEqual(["2", "7"]);
  });

  it("takes kinds from lines above the header", () => {
    const topology = read("kind,leafy,npu\nkind,box,switch\nfrom,to,bandwidthGBps\nbox,leafy,1");
    expect([topology.npuCount, ...topology.nodeNames]).toEqual([1, "leafy", "box"]);
  });

  it("reads a TACOS v1.1.0 network: all NPUs, GB/s that are GiB/s", () => {
    const topology = read("NPUs Count,4\nSrcID,DestID,Latency (ns),Bandwidth (GB/s)\n1,0,500,50\n0,1,500,50\n");
    expect([topology.npuCount, ...topology.nodeNames]).toEqual([4, "0", "1", "2", "3"]);
    expect(linkNames(topology)).toEqual(["1>0", "0>1"]);
    expect(topology.linkBytesPerSecond[0]).toBe(50 * 2 ** 30);
    expect(topology.linkLatencyPs[0]).toBe(500_000);
    expect(topology.sources[0]).toMatch(/GiB\/s/);
  });

  it("reads the network in a TACOS v1.1.0 result with its chunks left out", () => {
    const text =
      "NPUs Count,2\nLinks Count,1\nChunk Size,1048576,B\nSrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks (ID:ps)\n0,1,0,1000,0:9:0,4:5:9\n";
    expect(linkNames(read(text))).toEqual(["0>1"]);
  });

  const header = "from,to,bandwidthGBps,latencyUs,bidirectional,count";
  it.each([
    ["", missing("dir/net.csv")],
    ["a,b,1", unexpected("dir/net.csv line 1", "a,b,1")],
    [`a,b\n${header}`, unexpected("dir/net.csv line 1", "a,b")],
    [header, outOfRange("dir/net.csv", "no links")],
    [`${header}\nsw0,sw1,1,1,,`, outOfRange("dir/net.csv", "switches only")],
    [`${header}\n\na,b,1`, null],
    [`${header}\n# c\na,b`, unexpected("dir/net.csv line 3", "2", 6)],
    [`${header}\na,b,1,1,,,,`, unexpected("dir/net.csv line 2", "8", 6)],
    [`${header}\na,a,1,1,,`, unexpected("dir/net.csv line 2", "a")],
    [`${header}\n,b,1,1,,`, missing("dir/net.csv line 2, column from")],
    [`${header}\na,,1,1,,`, missing("dir/net.csv line 2, column to")],
    [`${header}\na,b,1,1,,\na,b,-1,1,,`, unexpected("dir/net.csv line 3, bandwidth", "-1")],
    [`${header}\na,b,NaN,1,,`, unexpected("dir/net.csv line 2, bandwidth", "NaN")],
    [`${header}\na,b,0,1,,`, unexpected("dir/net.csv line 2, bandwidth", "0GB/s")],
    [`${header}\na,b,1,-1,,`, unexpected("dir/net.csv line 2, latency", "-1")],
    [`${header}\na,b,1,1,maybe,`, unexpected("dir/net.csv line 2, column bidirectional", "maybe")],
    [`${header}\na,b,1,1,,0`, unexpected("dir/net.csv line 2, column count", "0")],
    [`${header}\na,b,1,1,,99999999`, outOfRange("dir/net.csv line 2", 99999999, 16777216)],
    ["from,to\na,b", unexpected("dir/net.csv line 1", "from,to")],
    ["from,src,to,bandwidthGBps\n", unexpected("dir/net.csv line 1", "from,src")],
    ["from,to,bandwidthgbps\na,b,1", unexpected("dir/net.csv line 1", "bandwidthgbps")],
    ["kind,a,gpu\nfrom,to,bandwidthGBps\na,b,1", unexpected("dir/net.csv line 1", "gpu")],
    ["kind\nfrom,to,bandwidthGBps\na,b,1", missing("dir/net.csv line 1")],
    ["NPUs Count,x\nfrom,to,bandwidthGBps\n0,1,1", unexpected("dir/net.csv line 1", "x")],
    ["NPUs Count,2\nfrom,to,bandwidthGBps\n0,2,1", unexpected("dir/net.csv", "2", 2)],
    [
      `${header}\na,"b,1,1\n`,
      unexpected("dir/net.csv", "Quote Not Closed: the parsing is finished with an opening quote at line 2"),
    ],
  ])("answers %j with one sentence", (text, sentence) => {
    if (sentence === null) expect(read(text).npuCount).toBe(2);
    else if (typeof sentence === "string") expect(refusalFrom(() => read(text))).toEqual(sentence);
    else expect(refusalFrom(() => read(text))).toEqual(sentence);
  });
});
