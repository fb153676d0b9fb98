import { describe, expect, it } from "vitest";
import { expandHostlist } from "../../../src/import/networks/cluster-network.ts";
import { looksLikeSlurm, looksLikeSlurmYaml, readSlurm, readSlurmYaml } from "../../../src/import/networks/slurm.ts";
import { looksLikeTopograph, readTopograph } from "../../../src/import/networks/topograph.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";

import { missing, outOfRange, refusalFrom, refused, unexpected } from "../../support/refusals.ts";

const GB = 1e9;
/** Returns the rate of each link in GB/s, by name. */
const ratesOf = (topology: Topology): Record<string, number> =>
  Object.fromEntries(linkNames(topology).map((name, link) => [name, topology.linkBytesPerSecond[link] / GB]));

describe("hostlists", () => {
  it.each([
    ["a", ["a"]],
    ["a,b2", ["a", "b2"]],
    ["a[1-3,7],b2", ["a1", "a2", "a3", "a7", "b2"]],
    ["n[08-11]", ["n08", "n09", "n10", "n11"]],
    ["n[098-101]x", ["n098x", "n099x", "n100x", "n101x"]],
    ["r[0-1]n[01,3]", ["r0n01", "r0n3", "r1n01", "r1n3"]],
    [" a , b ", ["a", "b"]],
  ])("%s", (text, names) => {
    expect(expandHostlist(text, "here")).toEqual(names);
  });

  it.each([
    ["n[0-999999999]", outOfRange("here", "n[0-999999999]", 1000000)],
    ["a[0-999]b[0-999]c[0-999]", outOfRange("here", "a[0-999]b[0-999]c[0-999]", 1000000)],
    ["n[0-999999],n", outOfRange("here", "n", 1000000)],
    ["n[3-1]", unexpected("here", "n[3-1]")],
    ["n[a-b]", unexpected("here", "n[a-b]")],
    ["n[]", unexpected("here", "n[]")],
    ["n[1", unexpected("here", "n[1")],
    ["n[[1]]", unexpected("here", "n[[1]]")],
    ["n1]", unexpected("here", "n1]")],
    ["a,,b", unexpected("here", "a,,b")],
    ["", unexpected("here", "")],
    [`${"x".repeat(300)}[0-999999]`, unexpected("here", "x".repeat(300), 253)],
    ["n[0-99999999999999999999]", unexpected("here", "n[0-99999999999999999999]")],
  ])("%s is refused", (text, expected) => {
    expect(refusalFrom(() => expandHostlist(text, "here"))).toEqual(expected);
  });
});

const TREE = `# two leaves
SwitchName=s0 Nodes=n[0-1]
switchname=s1 NODES=n[2-4]   LinkSpeed=100 # comment

SwitchName=top \\
  Switches=s[0-1]
`;

describe("Slurm topology.conf", () => {
  it("is a tree of switches with an NPU for each host, not blocking where nothing else is said", () => {
    const topology = readSlurm(TREE, "topology.conf");
    expect(looksLikeSlurm(TREE)).toBe(true);
    expect(topology.nodeNames).toEqual(["n0", "n1", "n2", "n3", "n4", "s0", "s1", "top"]);
    expect(topology.nodeTraits[2]).toEqual({ group: "s1" });
    expect(ratesOf(topology)).toMatchObject({ "n0>s0": 50, "s0>n0": 50, "s0>top": 100, "top>s1": 150 });
    expect(topology.linkSource.length).toBe(2 * (5 + 2));
    expect(topology.sources).toEqual([
      "Slurm topology topology.conf",
      "50 GB/s between a host and its switch, assumed; 500 ns a link",
      "links between switches carry what the hosts below can send (not blocking), assumed",
      "one NPU for each host",
    ]);
  });

  it("takes rates and latency from options, and says so", () => {
    const topology = readSlurm(TREE, "t", { bandwidth: { leaf: 25 * GB, spine: 30 * GB }, latencyPs: 1000 });
    expect(ratesOf(topology)).toMatchObject({ "n0>s0": 25, "s0>top": 30 });
    expect(new Set(topology.linkLatencyPs)).toEqual(new Set([1000]));
    expect(topology.sources).toContain("30 GB/s between switches, as given");
  });

  it("reads Windows line ends, byte order marks, switches with two parents and with nothing below", () => {
    const text =
      "\ufeffSwitchName=a Nodes=x,y\r\nSwitchName=e\r\nSwitchName=p Switches=a,e\r\nSwitchName=q Switches=a,e\r\n";
    expect(looksLikeSlurm(text)).toBe(true);
    expect(ratesOf(readSlurm(text, "t"))).toEqual({
      "x>a": 50,
      "a>x": 50,
      "y>a": 50,
      "a>y": 50,
      "a>p": 50,
      "p>a": 50,
      "a>q": 50,
      "q>a": 50,
    });
  });

  it("joins blocks by one switch, and the hosts of a ring to their neighbours", () => {
    const blocks = readSlurm("BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\nBlockSizes=2,4\n", "t");
    expect(blocks.nodeNames).toEqual(["n0", "n1", "n2", "n3", "b1", "b2", "blocks"]);
    expect(ratesOf(blocks)).toMatchObject({ "n3>b2": 50, "b1>blocks": 100 });
    const ring = readSlurm("RingName=r Nodes=n[0-3]", "t");
    expect(linkNames(ring).sort()).toEqual(["n0>n1", "n0>n3", "n1>n0", "n1>n2", "n2>n1", "n2>n3", "n3>n0", "n3>n2"]);
    expect(ring.shape).toEqual([4]);
  });

  it.each([
    ["", missing("t")],
    ["SwitchName=a Nodes=n\nHello", unexpected("t line 2", "Hello")],
    ["SwitchName=a Nodes=n\nSwitchName=a Nodes=m", unexpected("t line 2", "a")],
    ["SwitchName=a Nodes=n\nSwitchName=b Switches=c", unexpected("t line 2", "c")],
    ["SwitchName=a Nodes=n Nodes=m", unexpected("t line 1", "Nodes=m")],
    ["SwitchName=a Switches=b\nSwitchName=b Switches=a Nodes=n", unexpected("t line 1", "a")],
    ["SwitchName=a Switches=a Nodes=n", unexpected("t line 1", "a")],
    ["SwitchName=a", outOfRange("t")],
    ["SwitchName=a Nodes=a", refused("not-together", "t line 1", "a")],
    ["SwitchName=a Nodes=n,n", unexpected("t line 1", "n")],
    ["BlockName=a Nodes=n\nSwitchName=b Nodes=m", unexpected("t line 2", "switchname, nodes")],
    ["RingName=a Nodes=n\nRingName=b Nodes=n", unexpected("t line 2", "n")],
    ["SwitchName=a Nodes=n[0-999999999]", outOfRange("t line 1", "n[0-999999999]", 1000000)],
  ])("%j is refused with its line", (text, sentence) => {
    expect(refusalFrom(() => readSlurm(text, "t"))).toEqual(sentence);
  });

  it("shares the hosts of a switch between all that list it, level by level", () => {
    const levels = Array.from({ length: 80 }, (_, i) =>
      [`SwitchName=a${i + 1} Switches=a${i},b${i}`, `SwitchName=b${i + 1} Switches=a${i},b${i}`].join("\n"),
    );
    const text = `SwitchName=a0 Nodes=n[0-3]\nSwitchName=b0 Nodes=m[0-3]\n${levels.join("\n")}`;
    expect(ratesOf(readSlurm(text, "t"))).toMatchObject({ "a0>a1": 100, "b0>a1": 100, "a79>b80": 100 });
    expect(refusalFrom(() => readSlurm(text, "t", { bandwidth: { leaf: 2 ** 52 } }))).toEqual(
      outOfRange("t line 3", 4, "--assume"),
    );
  });
});

const YAML = `- topology: racks
  cluster_default: false
  flat: true
- topology: tree1
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[0-1]
      - switch: s0
        nodes: n[01-02]
      - { switch: s1, nodes: "n03" }
`;

describe("Slurm topology.yaml", () => {
  it("is the default topology's tree", () => {
    expect(looksLikeSlurmYaml(YAML)).toBe(true);
    const topology = readSlurmYaml(YAML, "topology.yaml");
    expect(topology.nodeNames).toEqual(["n01", "n02", "n03", "top", "s0", "s1"]);
    expect(ratesOf(topology)).toMatchObject({ "n01>s0": 50, "s0>top": 100, "s1>top": 50 });
    expect(topology.sources[0]).toBe("Slurm topology topology.yaml, tree tree1 (of 2 in the file)");
  });

  it("may be blocks, rings or a 3D torus", () => {
    const block =
      "- topology: b\n  block:\n    block_sizes: [2]\n    blocks:\n      - block: b0\n        nodes: n[0-1]\n";
    expect(readSlurmYaml(block, "t").nodeNames).toEqual(["n0", "n1", "b0"]);
    const ring = "- topology: r\n  ring:\n    rings:\n      - ring: r0\n        nodes: n[0-2]\n";
    expect(readSlurmYaml(ring, "t").linkSource.length).toBe(6);
    const torus =
      "- topology: t\n  torus3d:\n    toruses:\n      - name: t0\n        dims: { x: 2, y: 3, z: 1 }\n        nodes: n[0-5]\n";
    const topology = readSlurmYaml(torus, "t");
    expect(topology.shape).toEqual([2, 3, 1]);
    expect(
      linkNames(topology)
        .filter((name) => name.startsWith("n0>"))
        .sort(),
    ).toEqual(["n0>n1", "n0>n2", "n0>n4"]);
  });

  it.each([
    ["- topology: a\n  flat: true\n", refused("unknown-name", "t line 1: topology", "topology, flat")],
    [
      "a: [",
      unexpected("t line 1", "Flow sequence in block collection must be sufficiently indented and end with a ]"),
    ],
    [
      "- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: n[2-1]\n",
      unexpected("t line 5: nodes", "n[2-1]"),
    ],
    ["- topology: a\n  topology: b\n", unexpected("t line 2", "topology")],
    ["- topology: a\n  tree:\n    switches: []\n", outOfRange("t line 3: switches", "none")],
    [
      "- topology: a\n  torus3d:\n    toruses:\n      - name: t\n        dims: {x: 2, y: 2, z: 2}\n        nodes: n[0-6]\n",
      unexpected("t line 4: name", "7", 8),
    ],
    ["- &a [*a]\n", unexpected("t line 1", "a")],
    ["- *b\n", unexpected("t line 1", "b")],
    ["[".repeat(5000), missing("t", 32)],
    ["- ".repeat(3000), missing("t", 32)],
    ["? ".repeat(900), missing("t", 32)],
    [`${"- ".repeat(40)}a`, missing("t line 1", 32)],
  ])("%j is refused with its line", (text, sentence) => {
    expect(refusalFrom(() => readSlurmYaml(text, "t"))).toEqual(sentence);
  });

  it("reads aliases as the value of their anchor", () => {
    const text =
      "- topology: a\n  tree:\n    switches:\n      - switch: &name s\n        nodes: &hosts n[0-1]\n      - switch: t\n        children: *name\n        nodes: *hosts\n";
    expect(ratesOf(readSlurmYaml(text, "t"))).toMatchObject({ "n0>s": 50, "n0>t": 50, "s>t": 100 });
  });

  it("refuses aliases by the hundred, and texts of many megabytes", () => {
    const bomb = `- &a x\n${"- *a\n".repeat(101)}`;
    expect(refusalFrom(() => readSlurmYaml(bomb, "t"))).toEqual(missing("t line 102", 100));
    expect(refusalFrom(() => readSlurmYaml("#".repeat(2 ** 21 + 1), "t"))).toEqual(outOfRange("t", "2097153", 2097152));
  });
});

describe("topograph models", () => {
  it("map switches to switches and nodes", () => {
    const text =
      "switches:\n  S1:\n    switches: [S2, S3]\n  S2:\n    nodes: [I21, 'I[22-23]']\n  S3:\n    nodes:\n    - I34\nnodes:\n  I21:\n    type: H100\n";
    expect(looksLikeTopograph(text)).toBe(true);
    const topology = readTopograph(text, "m.yaml");
    expect(topology.nodeNames).toEqual(["I21", "I22", "I23", "I34", "S1", "S2", "S3"]);
    expect(ratesOf(topology)).toMatchObject({ "S2>S1": 150, "I34>S3": 50 });
  });

  it("may list switches by name, with hosts in capacity blocks or in blocks", () => {
    const listed =
      "switches:\n- name: top\n  switches: [a]\n- name: a\n  capacity_blocks: [cb]\ncapacity_blocks:\n- name: cb\n  nvlink: nvl1\n  nodes: [n1, n2]\n";
    expect(readTopograph(listed, "m").nodeNames).toEqual(["n1", "n2", "top", "a"]);
    const blocks =
      'switches:\n  core:\n    switches: [leaf]\n  leaf: {}\nblocks:\n- switch: leaf\n  nodes: ["srv[01-02]"]\n- switch: leaf\n  nodes: [x]\n';
    expect(readTopograph(blocks, "m").nodeNames).toEqual(["srv01", "srv02", "x", "core", "leaf"]);
  });

  it.each([
    ["switches:\n  a:\n    capacity_blocks: [x]\n", unexpected("t line 2: a", "x")],
    ["switches:\n  a: {}\nblocks:\n- switch: b\n  nodes: [n]\n", unexpected("t line 3: blocks", "b")],
    ["switches: {}\n", missing("t line 1: switches")],
    ["switches:\n  a:\n    nodes: 7\n", unexpected("t line 3: nodes", 7)],
    ["switches:\n  a:\n    nodes: []\n", outOfRange("t", "switches only")],
  ])("%j is refused with its line", (text, sentence) => {
    expect(refusalFrom(() => readTopograph(text, "t"))).toEqual(sentence);
  });
});
