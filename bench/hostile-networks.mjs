// Files of networks that ask for more than they hold.
const json = JSON.stringify;
const times = (count, of) => Array.from({ length: count }, (_, i) => of(i));
const NINES = "9".repeat(190);
const npus = (count) => times(count, (i) => ({ id: `${i}`, kind: "npu" }));
const network = (nodes, links, rest = {}) => json({ format: "banyan-topology", version: 1, nodes, links, ...rest });
const link = (from, to, rest = {}) => ({ from: `${from}`, to: `${to}`, bandwidthGBps: 1, latencyUs: 1, ...rest });
const ringOf = (count) => times(count, (i) => link(i, (i + 1) % count));
const raw = (key) =>
  `{"format":"banyan-topology","version":1,"nodes":[{"id":"0","kind":"npu"},{"id":"1","kind":"npu"}],"links":[{"from":"0","to":"1","bandwidthGBps":1,"bidirectional":true,${key.includes("latency") ? "" : '"latencyUs":1,'}${key}}]}`;
const nested = (count, open, close = "") => open.repeat(count) + close.repeat(count);

const files = {
  "a link 1e9 times": () => raw('"count":1000000000'),
  "a link 6e7 times": () => raw('"count":30000000'),
  "a link 190 digits of times": () => raw(`"count":${NINES}`),
  "a latency of 190 digits": () => raw(`"latencyUs":${NINES}`),
  "a bandwidth of 190 digits": () => raw(`"bandwidth":"${NINES}GB/s"`),
  "a node of 190 digits": () =>
    network(
      [
        { id: NINES, kind: "npu" },
        { id: NINES, kind: "npu" },
      ],
      [],
    ),
  "300,000 NPUs without links": () => network(npus(300_000), []),
  "300,000 NPUs in a ring": () => network(npus(300_000), ringOf(300_000)),
  "200,000 groups": () =>
    network(
      times(200_000, (i) => ({ id: `${i}`, kind: "npu", group: `g${i}` })),
      ringOf(200_000),
    ),
  "100,000 switches and an NPU": () =>
    network(
      [{ id: "0", kind: "npu" }, ...times(100_000, (i) => ({ id: `s${i}`, kind: "switch" }))],
      times(100_000, (i) => link(0, `s${i}`, { bidirectional: true })),
    ),
  "100,000 switches in a line": () =>
    network(
      [...npus(2), ...times(100_000, (i) => ({ id: `s${i}`, kind: "switch" }))],
      [link(0, "s0"), ...times(99_999, (i) => link(`s${i}`, `s${i + 1}`)), link("s99999", 1)],
    ),
  "100,000 speeds": () =>
    network(
      npus(100_000),
      ringOf(100_000).map((one, i) => ({ ...one, bandwidthGBps: 1 + i / 1000 })),
    ),
  "a shape of 100,000 ones": () => network(npus(2), ringOf(2), { shape: [2, ...times(100_000, () => 1)] }),
  "a shape of 190 digits": () => network(npus(2), ringOf(2)).replace(/}$/, `,"shape":[${NINES}]}`),
  "100,000 sources": () => network(npus(2), ringOf(2), { sources: times(100_000, () => "a") }),
  "a name of 10 MB": () => network(npus(2), ringOf(2), { name: "n".repeat(1e7) }),
  "an id of 10 MB": () =>
    network(
      [
        { id: "n".repeat(1e7), kind: "npu" },
        { id: "a", kind: "npu" },
      ],
      [link("n".repeat(1e7), "b")],
    ),
  "a key of 10 MB": () => `{"${"k".repeat(1e7)}":1}`,
  "a million keys": () => `{${times(1e6, (i) => `"k${i}":${i}`).join()}}`,
  "30 million keys": () =>
    `{${times(30, (p) => times(1e6, (i) => `"${(p * 1e6 + i).toString(36)}":1`).join()).join()}}`,
  "a million keys of a node": () =>
    `{"format":"banyan-topology","version":1,"nodes":[{${times(1e6, (i) => `"k${i}":${i}`).join()}}],"links":[]}`,
  "5 million brackets": () => nested(5e6, "["),
  "5 million brackets, closed": () => nested(5e6, "[", "]"),
  "5 million objects": () => `${'{"a":'.repeat(5e6)}1${"}".repeat(5e6)}`,
  "100 million empty lists": () => `[${"[],".repeat(1e8)}[]]`,
  "50 million empty objects": () =>
    `{"format":"banyan-topology","version":1,"links":[],"nodes":[${"{},".repeat(5e7)}{}]}`,
  "a number of 10 MB": () => `[${"9".repeat(1e7)}]`,
  "JSON with a mistake after 50 MB": () => `[${"1,".repeat(25e6)}x]`,
  "a million lines of JSON, then a mistake": () => `[${"1,\n".repeat(1e6)}x]`,
  "30 MB of blanks": () => " ".repeat(3e7),
  "30 MB of line ends": () => "\n".repeat(3e7),
  "30 MB of one line": () => "a".repeat(3e7),
  "30 MB of commas": () => ",".repeat(3e7),
  "30 MB of tabs": () => "\t".repeat(3e7),
  "30 MB of digits": () => "7".repeat(3e7),
  "30 MB of hashes": () => "#".repeat(3e7),
  "30 MB of colons": () => ":".repeat(3e7),
  "30 MB of quotes": () => '"'.repeat(3e7),
  "30 MB of SwitchName": () => "SwitchName".repeat(3e6),
  "30 MB of digits and blanks": () => "1 ".repeat(15e6),
  "30 MB of carriage returns": () => "\r".repeat(3e7),

  "CSV: a link 1e9 times": () => "from,to,bandwidthGBps,bidirectional,count\na,b,1,true,1000000000\n",
  "CSV: 10,000 columns": () => `from,to,bandwidthGBps,${times(10_000, (i) => `c${i}`).join()}\na,b,1\n`,
  "CSV: a million columns": () => `from,to,bandwidthGBps${",".repeat(1e6)}\na,b,1\n`,
  "CSV: a million rows of one link": () => `from,to,bandwidthGBps\n${"a,b,1\n".repeat(1e6)}`,
  "CSV: a quote that stays open": () => `from,to,bandwidthGBps\n"${"a\n".repeat(5e6)}`,
  "CSV: 190 digits": () => `from,to,bandwidthGBps,count\na,b,${NINES},1\n`,
  "CSV: TACOS of 1e9 NPUs": () =>
    "NPUs Count,1000000000\nLinks Count,1\nSrc,Dest,Latency (ns),Bandwidth (GB/s)\n0,1,500,50\n",
  "CSV: TACOS of 190 digits": () =>
    `NPUs Count,${NINES}\nLinks Count,1\nSrc,Dest,Latency (ns),Bandwidth (GB/s)\n0,1,500,50\n`,

  "YAML: a bomb of aliases": () =>
    `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghi"
      .split("")
      .map((c, i) => `${c}: &${c} [${times(9, () => `*${"abcdefgh"[i]}`).join()}]\n`)
      .join("")}topology: *i\nnpus_count: *i\n`,
  "YAML: 10,000 brackets": () => `topology: ${nested(10_000, "[", "]")}\nnpus_count: [1]\n`,
  "YAML: 900 brackets, 900 times": () =>
    `topology:\n${times(900, () => `- ${nested(900, "[", "]")}\n`).join("")}npus_count: [1]\n`,
  "YAML: levels of blanks": () =>
    `topology: [Ring]\nnpus_count:\n${times(1400, (i) => `${" ".repeat(i + 1)}a:\n`).join("")}`,
  "YAML: 2 MB of marks": () => `topology: [Ring]\nnpus_count: [2]\nx: |\n${" -\n".repeat(5e5)}`,
  "YAML: 2 MB of values": () => `topology: [ Ring ]\nnpus_count: [${"1,".repeat(9e5)}1]\n`,
  "YAML: 200,000 keys": () => `topology: [Ring]\nnpus_count: [2]\n${times(150_000, (i) => `k${i}: 1\n`).join("")}`,
  "YAML: 190 digits": () => `topology: [ Ring ]\nnpus_count: [ ${NINES} ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n`,
  "YAML: a ring of 1e7": () => "topology: [ Ring ]\nnpus_count: [ 10000000 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n",
  "YAML: all of 1e7": () =>
    "topology: [ FullyConnected ]\nnpus_count: [ 10000000 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n",
  "YAML: dimensions of 1e7": () =>
    "topology: [ Ring, Ring, Ring ]\nnpus_count: [ 10000000, 10000000, 10000000 ]\nbandwidth: [ 50, 50, 50 ]\nlatency: [ 500, 500, 500 ]\n",
  "logical dimensions of 1e7": () => '{"logical-dims": ["10000000", "10000000"]}',
  "logical dimensions of 190 digits": () => `{"logical-dims": [${NINES}]}`,

  "Slurm: hosts 1 to 1e9": () => "SwitchName=s Nodes=n[1-1000000000]\n",
  "Slurm: a million hosts": () => "SwitchName=s Nodes=n[1-1000000]\n",
  "Slurm: brackets by brackets": () => `SwitchName=s Nodes=n${"[0-9]".repeat(40)}\n`,
  "Slurm: 20,000 switches in a chain": () =>
    `SwitchName=s0 Nodes=n0\n${times(20_000, (i) => `SwitchName=s${i + 1} Switches=s${i}\n`).join("")}`,
  "Slurm: switches that hold each other": () => "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
  "Slurm: 30,000 blocks": () => `${times(30_000, (i) => `BlockName=b${i} Nodes=n${i}\n`).join("")}BlockSizes=1\n`,
  "Slurm: blocks of 1e9": () => "BlockName=b Nodes=n[0-3]\nBlockSizes=1000000000\n",
  "Slurm: names of 300 characters": () => `SwitchName=s Nodes=${"n".repeat(300)}[1-1000000]\n`,
  "Slurm YAML: a torus of 1e9": () =>
    "- topology: t\n  torus3d:\n    toruses:\n      - name: a\n        dims: {x: 1000000000, y: 2, z: 1}\n        nodes: n[0-3]\n",
  "Slurm YAML: a torus of 1e6": () =>
    "- topology: t\n  torus3d:\n    toruses:\n      - name: a\n        dims: {x: 1000, y: 1000, z: 1}\n        nodes: n[1-1000000]\n",
  "topograph: switches that hold each other": () => "switches:\n  a:\n    switches: [b]\n  b:\n    switches: [a]\n",
  "topograph: hosts 1 to 1e9": () => "switches:\n  S1:\n    nodes: ['I[1-1000000000]']\n",

  "ns-3: counts of 1e9": () => "1000000000 0 1\n0 1 200Gbps 0.005ms 0\n",
  "ns-3: switches of 1e9": () => "1000000000 999999999 1\n0 1 200Gbps 0.005ms 0\n",
  "ns-3: 190 digits": () => `${NINES} ${NINES} ${NINES}\n0 1 200Gbps 0.005ms 0\n`,
  "ns-3: 30 MB of counts": () => `${"1 ".repeat(15e6)}\n0 1 200Gbps 0.005ms 0\n`,
  "SimAI: boxes of 1e9": () => "2 1000000000 1000000000 0 1 H100\n0 1 200Gbps 0.005ms 0\n",

  "nvidia-smi: 10,000 columns": () =>
    `\t${times(10_000, (i) => `GPU${i}`).join("\t")}\nGPU0\t X \t${times(9_999, () => "NV4").join("\t")}\n`,
  "nvidia-smi: 1,500 by 1,500": () =>
    `\t${times(1500, (i) => `GPU${i}`).join("\t")}\n${times(1500, (i) => `GPU${i}\t${times(1500, (j) => (i === j ? " X " : "NV4")).join("\t")}\n`).join("")}`,
  "nvidia-smi: 1,000 NICs": () =>
    `\t${[...times(8, (i) => `GPU${i}`), ...times(1000, (i) => `NIC${i}`)].join("\t")}\n${times(1008, (i) => `${i < 8 ? `GPU${i}` : `NIC${i - 8}`}\t${times(1008, (j) => (i === j ? " X " : "SYS")).join("\t")}\n`).join("")}`,
  "nvidia-smi: NV of 190 digits": () => `\tGPU0\tGPU1\nGPU0\t X \tNV${NINES}\nGPU1\tNV${NINES}\t X \n`,
  "nvidia-smi: 500,000 lines of prompt": () =>
    `${"user@host:~$ nvidia-smi topo -m\n".repeat(5e5)}\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n`,
  "rocm-smi: 500 GPUs of weights": () =>
    `=== Weight between two GPUs ===\n       ${times(500, (i) => `GPU${i}`).join(" ")}\n${times(500, (i) => `GPU${i}  ${times(500, (j) => (i === j ? 0 : 15)).join(" ")}\n`).join("")}`,
  "ibnetdiscover: 100,000 adapters": () =>
    times(
      100_000,
      (i) => `Ca\t1 "H-${i}"\t# "h${i} mlx5_0"\n[1](01) "S-05"[${i + 1}] # lid 1 "L" lid 5 4xNDR\n\n`,
    ).join(""),
  "ibnetdiscover: a switch of 1e9 ports": () =>
    'Switch\t1000000000 "S-05"\t# "MF0" enhanced port 0\n[1000000000]\t"H-01"[1](01) # "h mlx5_1" lid 1 4xNDR\nCa\t1 "H-01"\t# "h mlx5_1"\n[1](01) "S-05"[1000000000] # lid 1 "L" lid 5 4xNDR\n',

  "NCCL XML: an entity bomb": () =>
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><system version="1"><cpu numaid="&b;"/></system>',
  "NCCL XML: an outer entity": () =>
    '<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file:///dev/zero">]><system version="1">&x;</system>',
  "NCCL XML: 100,000 levels": () => `<system version="1">${"<pci>".repeat(100_000)}`,
  "NCCL XML: 2 million elements": () => `<system version="1">${"<cpu/>".repeat(2e6)}</system>`,
  "NCCL XML: 5 million elements": () => `<system version="1">${"<cpu/>".repeat(5e6)}</system>`,
  "NCCL XML: 200,000 attributes": () =>
    `<system version="1"><cpu ${times(200_000, (i) => `a${i}="1"`).join(" ")}/></system>`,
  "NCCL XML: an attribute of 30 MB": () => `<system version="1"><cpu numaid="${"9".repeat(3e7)}"/></system>`,
  "NCCL XML: a comment of 30 MB": () => `<system version="1"><!--${"- ".repeat(15e6)}`,
  "NCCL XML: 3,000 GPUs": () =>
    `<system version="1"><cpu numaid="0">${times(3000, (i) => `<pci busid="${i.toString(16).padStart(4, "0")}:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="${i}" sm="80" rank="${i}" gdr="1"/></pci>`).join("")}</cpu></system>`,
  "NCCL XML: 1e9 NVLinks": () =>
    '<system version="1"><cpu numaid="0"><pci busid="0000:00:00.0" class="0x030200"><gpu dev="0" sm="80" rank="0"><nvlink target="0000:01:00.0" count="1000000000" tclass="0x030200"/></gpu></pci><pci busid="0000:01:00.0" class="0x030200"><gpu dev="1" sm="80" rank="1"><nvlink target="0000:00:00.0" count="1000000000" tclass="0x030200"/></gpu></pci></cpu></system>',

  "TE-CCL: a chassis of 1e9": () => '{"TopologyParams":{"name":"NDv2","chassis":1000000000}}',
  "TE-CCL: the most chassis": () => '{"TopologyParams":{"name":"DGX2","chassis":4096,"alpha":[1e-6,1e-6]}}',
  "TE-CCL: a mesh of 1e9": () => '{"TopologyParams":{"name":"Mesh","side_length":1000000000,"alpha":[1e-6]}}',
  "TE-CCL: a matrix of 1,500": () =>
    json({
      TopologyParams: { name: "m" },
      capacity: times(1500, () => times(1500, () => 5)),
      alpha: times(1500, () => times(1500, () => 1e-6)),
      switch_indices: [],
    }),
  "msccl-tools: a matrix of 1,500": () =>
    json({ name: "s", links: times(1500, (i) => times(1500, (j) => (i === j ? 0 : 1))) }),
  "msccl-tools: links of 1e9": () => '{"name":"s","links":[[0,1000000000],[1000000000,0]]}',
  "msccl-tools: copies of 1e9": () =>
    '{"name":"s","sccl_type":"topology","copies":1000000000,"ngpus_per_node":2,"node_links":[[0,1],[1,0]],"node_invbws":[[0,1],[1,0]],"remote_invbw":1,"internode_conn":{"0":[1]}}',
  "ForestColl: 190 digits": () =>
    `{"nodes":[{"id":"a","kind":"compute"},{"id":"b","kind":"compute"}],"edges":[{"src":"a","dst":"b","capacity":${NINES}}]}`,
  "ForestColl: 300,000 edges": () =>
    json({
      nodes: [
        { id: "a", kind: "compute" },
        { id: "b", kind: "compute" },
      ],
      edges: times(300_000, (i) => ({ src: i % 2 ? "a" : "b", dst: i % 2 ? "b" : "a", capacity: 1 })),
    }),
  "TACCL: nodes of 1e9": () =>
    '{"name":"custom","gpus_per_node":2,"alpha":0.7,"node_betas_list":[1],"node_invbws_list":[1],"nics_per_node":1,"remote_alpha":1,"remote_beta":1,"links":[[0,1],[1,0]],"invbws":[[0,1],[1,0]],"betas":[[0,1],[1,0]]}',
};

export const networkCases = [
  ...Object.entries(files).map(([name, content]) => ({
    name,
    command: "banyan topology n.txt",
    files: { "n.txt": content },
  })),
  {
    name: "TACCL: --nodes 1e9",
    command: "banyan topology n.txt --nodes 1000000000",
    files: { "n.txt": files["TACCL: nodes of 1e9"] },
  },
  {
    name: "nvidia-smi: --nodes 1e9",
    command: "banyan topology n.txt --gpu v100 --nodes 1000000000",
    files: { "n.txt": () => "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tPIX\nNIC0\tPIX\tPIX\t X \n" },
  },
  {
    name: "nvidia-smi: --nodes of 190 digits",
    command: `banyan topology n.txt --gpu v100 --nodes ${NINES}`,
    files: { "n.txt": () => "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tPIX\nNIC0\tPIX\tPIX\t X \n" },
  },
  {
    name: "100,000 NPUs in a ring: synth broadcast",
    command: "banyan bound n.txt --collective broadcast",
    files: { "n.txt": files["300,000 NPUs in a ring"] },
  },
];
