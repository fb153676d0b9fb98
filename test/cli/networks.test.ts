import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { missing, outOfRange, type Refusal, refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const MATRIX = readFileSync(fileURLToPath(new URL("../fixtures/two-boards.nvidia-smi.txt", import.meta.url)), "utf8");
const lines = MATRIX.split("\n");

interface Link {
  readonly from: string;
  readonly to: string;
  readonly bandwidthGBps: number;
  readonly bidirectional?: boolean;
}

/** Returns the ends and bandwidth of every link, one direction each, sorted. */
const directedLinks = (links: readonly Link[]): string[] =>
  links
    .flatMap(({ from, to, bandwidthGBps, bidirectional }) => {
      const there = `${from}>${to} ${bandwidthGBps.toPrecision(9)}`;
      return bidirectional === true ? [there, `${to}>${from} ${bandwidthGBps.toPrecision(9)}`] : [there];
    })
    .sort();

beforeAll(() => {
  here.put("smi.txt", MATRIX);
});

describe("networks that tools print", () => {
  it("say what was assumed, and take other figures", async () => {
    const told = await here.json("topology smi.txt --gpu v100");
    expect(told).toMatchObject({ format: "banyan-topology" });
    expect(told.sources[0]).toBe("nvidia-smi topo -m in smi.txt");
    const other = await here.json("topology smi.txt --gpu v100 --assume nvlink=20GB/s,latency=2us");
    expect(other.links).not.toEqual(told.links);
  });

  it("are the same with colours, Windows line ends, and words around the matrix", async () => {
    const { links, nodes } = await here.json("topology smi.txt --gpu v100");
    here.put("smi-too.txt", `hello\r\n${lines.map((line) => `\x1b[4m${line}\x1b[0m`).join("\r\n")}`);
    expect(await here.json("topology smi-too.txt --gpu v100")).toMatchObject({ links, nodes });
  });

  it.each([
    ["slurm.conf", "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Nodes=n[3-5]\nSwitchName=t Switches=s[0-1]\n"],
    ["ring.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n"],
    ["ns3.txt", "4 1 3\n3\n0 3 200Gbps 0.005ms 0\n1 3 200Gbps 0.005ms 0\n2 3 8Gbps 1ns 0\n"],
  ])("of %s are synthesized on", async (name, text) => {
    here.put(name, text);
    expect(await here.json(`synth ${name} --collective allgather --size 1MiB`)).toMatchObject({ verified: true });
  });

  it.each(["ns3", "simai", "te-ccl", "forestcoll-json", "astra-network", "infragraph"])(
    "are written as %s and read again",
    async (to) => {
      await here.run(`export ring:4 --to ${to} -o again-${to}`);
      const [before, after] = [await here.json("topology ring:4"), await here.json(`topology again-${to}`)];
      expect(after.nodes).toHaveLength(before.nodes.length);
      expect(directedLinks(after.links)).toEqual(directedLinks(before.links));
    },
  );
});

describe("networks that are refused", () => {
  const without = (start: string): string => lines.filter((line) => !line.startsWith(start)).join("\n");
  it.each([
    ["a missing row", without("GPU3"), missing("GPU3 after bad line 5")],
    ["a table of something", "a b c\n1 2 3\n", unexpected("bad", "a b c\n1 2 3\n")],
    ["nothing", " \n", missing("bad")],
    [
      "a document type",
      '<!DOCTYPE system [<!ENTITY a "a">]><system version="1"/>',
      unexpected("bad", '<!DOCTYPE system [<!ENTITY a "a">]><syst'),
    ],
  ])("for %s", async (_title, text, sentence) => {
    here.put("bad", text);
    await here.refuses("topology bad", sentence);
    await here.refuses("synth bad --collective allgather", sentence);
  });

  it.each<readonly [line: string, sentence: Refusal]>([
    ["topology smi.txt --gpu v10", refused("unknown-name", "gpu", "v10", "v100")],
    ["topology smi.txt --assume nvlnk=25GB/s", unexpected("assume", "nvlnk=25GB/s", "nvlink")],
    ["topology smi.txt --assume nvlink", unexpected("assume", "nvlink")],
    ["topology smi.txt --assume nvlink=fast", unexpected("--assume nvlink", "fast")],
    ["topology smi.txt --nodes 0", outOfRange("nodes", "0")],
    ["topology smi.txt --gpu v100 --nodes 99999999999", unexpected("nodes", 99999999999, 65536)],
    ["topology ring:4 --gpu a100", unexpected("gpu", "ring:4", "--showtopo")],
    ["topology .", unexpected("the topology", ".")],
  ])("%s", (line, sentence) => here.refuses(line, sentence));
});

describe("a folder for ASTRA-sim", () => {
  it.each([
    ["mesh:2x3", "Aware", "simulated, store-and-forward", "links that the network lacks carry nothing"],
    ["torus:3x3@100,50GB/s", "Unaware", "as planned", ""],
  ])("of %s has the command and the time to expect", async (network, binary, by, stands) => {
    const made = `ag-${binary}`;
    await here.run(`export ${network} --collective allgather --size 1MiB --to astra-sim --output ${made}`);
    const told = readFileSync(here.at(made, "collective-run.txt"), "utf8");
    expect(told).toContain(`AstraSim_Analytical_Congestion_${binary} `);
    const [, cycles, words] = /# expected: about (\d+) cycles of 1 ns \((.*)\)/.exec(told) as RegExpExecArray;
    const { time, details } = await here.json(`synth ${network} --collective allgather --size 1MiB`);
    const us = binary === "Aware" ? time.us : details.planned.us;
    expect(Number(cycles)).toBe(Math.round(us * 1000));
    expect(words).toContain(by);
    expect(told).toContain(stands);
  });
});
