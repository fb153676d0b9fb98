import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { blocksOf, textOfPage } from "../../scripts/docs/pages.mjs";
import { formatOf, readTopology } from "../../src/import/networks/network-formats.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { nodeCount, type Topology, topologyHash } from "../../src/model/topology/topology.ts";
import { withoutPython } from "../support/python-run.ts";

const TEXT: string = textOfPage("FORMATS.md");

const why = withoutPython("hashlib");
describe.skipIf(why !== "")(`the Python of FORMATS.md for a topology's hash${why && ` (${why})`}`, () => {
  const python = blocksOf(TEXT).filter(({ lang }) => lang === "python");

  it("stands there once, as a function", () => {
    expect(python.map(({ lines }) => lines[0])).toEqual(["def topology_hash(npus, nodes, links):"]);
  });

  const words = (topology: Topology): string => {
    const links = Array.from(topology.linkSource, (source, link) => [
      source,
      topology.linkTarget[link],
      topology.linkBytesPerSecond[link],
      topology.linkLatencyPs[link],
    ]);
    return `print(topology_hash(${topology.npuCount}, ${nodeCount(topology)}, ${JSON.stringify(links)}))`;
  };

  it.each([
    ["ring:4", presetTopology("ring:4")],
    ["two boxes of switches, latencies of 2.5 us", presetTopology("dgx-a100:2")],
    ["more bytes per second and picoseconds than 32 bits hold", presetTopology("switch:3@1000GB/s,5000us")],
    [
      "a file with bidirectional links and counts",
      readTopology(
        blocksOf(TEXT)
          .find(({ lines }) => lines[0]?.includes('"banyan-topology"'))
          ?.lines.join("\n"),
        "f",
      ),
    ],
  ] as [string, Topology][])("gives the hash of %s", (_, topology) => {
    const { stdout, stderr } = spawnSync("python3", ["-c", `${python[0].lines.join("\n")}\n${words(topology)}`], {
      encoding: "utf8",
    });
    expect([stderr, stdout.trim()]).toEqual(["", topologyHash(topology)]);
  });
});

describe("the networks of other programs in FORMATS.md", () => {
  const from = TEXT.indexOf("A small file of each");
  const blocks = blocksOf(TEXT.slice(from, TEXT.indexOf("\n## ", from)));

  it.each([
    [0, "TACCL", 2, 2],
    [1, "TE-CCL", 2, 4],
    [2, "msccl-tools", 2, 2],
    [3, "ForestColl", 2, 4],
    [4, "ASTRA-sim network", 8, 32],
    [5, "logical dim", 8, 24],
    [6, "ns-3", 2, 4],
    [7, "ns-3", 2, 8],
    [8, "Slurm", 8, 20],
    [9, "Slurm", 8, 20],
    [10, "topograph", 8, 20],
  ])("block %i is read as %s: %i NPUs, %i links", (index, name, npus, links) => {
    const text = blocks[index].lines.join("\n");
    const topology = readTopology(text, "file");
    expect([formatOf(text, "file"), topology.npuCount, topology.linkSource.length]).toEqual([
      expect.stringContaining(name),
      npus,
      links,
    ]);
  });

  it("are all held", () => expect(blocks).toHaveLength(11));
});
