import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

/**
 * Mistakes that people make, with the answers: mistakes.txt beside this file, where the answers are to be read. Spellings that
 * are no mistakes stand at its end, with what they were taken for.
 */

const here = commandsHere();
/** A list of more is for those who ask for it. */
const MOST_NAMES = 14;

const MISTAKES = [
  // commands
  "",
  "snth mesh:3x3",
  "dgx-a100:2",
  "verify",
  "help synthesize",
  "completion csh",
  "list preset",
  "list schedules",
  "presets",
  "allreduce dgx-a100:2",
  "nvidia-smi.txt",
  "plan.json",
  "search 64 4",
  // amounts, files and failures
  "synth mesh:3x3 -c allreduce -s 1.5",
  "synth mesh:3x3 -c tenants.json",
  "synth dgx-h100:2 -c allreduce --without box2",
  "synth dgx-h100:2 -c allreduce --without-each nic",
  // networks
  "topology h100:8",
  "topology h100:2",
  "topology a100:16",
  "topology dgx_h100:2",
  "topology h200",
  "topology H100",
  "topology 8xh100",
  "topology 4x4",
  "topology dgx-h200",
  "topology dgx-v100:2",
  "topology torus",
  "topology torsu:4x4",
  "topology mesh:4xx",
  "topology mesh",
  "topology torus 4x4x4",
  "topology torus:4,4,4",
  "topology torus:4x4x",
  "topology torus:4x4x4@100",
  "topology torus:4x4x4@100GBs",
  "topology mesh:4x4@50GB/s@0.5us",
  "topology mesh:4x4@50GB/s,5m",
  "topology mesh:4x4@50GB/s,2nsecs",
  "topology dbt",
  "topology mesh:4x4@400",
  "topology mesh:4x4@50GB/s,0.5",
  "topology mesh:4*4",
  "topology ring:8:50GB/s",
  "topology ring:8,50GB/s",
  "topology fully-connected:8",
  "topology dgx-h100:2:ib",
  "topology https://example.com/topo.json",
  "topology gpus.txt",
  "topology rocm.txt",
  "topology hwloc.xml",
  "topology nodes.json",
  "topology links.csv",
  "topology packed.json.gz",
  "synth --topology mesh:3x3 -c allgather",
  "topology mesh:4x4@50gb/s",
  "topology cluster.jsn",
  "topology 'K(4'",
  "topology mesh:3x3 --without 9",
  "topology mesh:4x4 --without 99",
  "topology mesh:3x3 --without 0-8",
  "topology dgx-a100:2 --without GPU0",
  "topology dgx-a100:4 --without 0-rail0",
  "topology line:2 --without 0,1",
  "topology mesh:3x3 --degrade 0-1=150",
  "topology mesh:3x3 --degrade 0-1=0",
  "topology mesh:3x3 --gpu h100",
  "topology nvidia-smi.txt --gpu rtx4090",
  "topology nvidia-smi.txt --gpu mi300x",
  "topology halo.json",
  "topology tenants.json",
  "bound line:3 -c allgather --without 1",
  // what is asked for
  "synth mesh:3x3",
  "synth h100:8",
  "synth",
  "synth dgx-a100:2 allreduce",
  "synth allreduce dgx-a100:2",
  "bound mesh:3x3",
  "synth mesh:3x3 -c allgather -c allreduce",
  "synth mesh:3x3 -c",
  "synth mesh:3x3 -c all-gathr",
  "synth mesh:3x3 -c sum",
  "synth mesh:3x3 -c a2a",
  "synth mesh:3x3 -c bcast",
  "synth mesh:3x3 -c all-to-all-v",
  "synth mesh:3x3 -c allgather -s 1GX",
  "synth mesh:3x3 -c allgather -s 1Gb",
  "synth mesh:3x3 -c allgather -s 1 MiB",
  "synth mesh:3x3 -c allgather -s 99999999999TiB",
  "synth mesh:3x3 -c allgather -s 1MiB --size 2MiB",
  "synth mesh:3x3 -c allgather -s 0",
  "synth mesh:3x3 -c allgather -s 1,5GiB",
  "synth mesh:3x3 -c allgather -s 1MiB,256MiB",
  "synth mesh:3x3 -c allgather --size 1KiB,1MiB,1GiB",
  "synth mesh:3x3 --all-gather",
  "synth mesh:3x3 -c allgather --report r.html",
  "synth mesh:3x3 -c allgather --group 0-3",
  "synth mesh:3x3 -c allgather --degrade 0-1=10GB/s",
  "synth mesh:3x3 -c allgather --sizes 1MiB",
  "synth mesh:3x3 -c allgather --root 4",
  "synth mesh:3x3 -c broadcast --root 9",
  "synth mesh:3x3 -c allgather --group 0,1,0",
  "synth mesh:3x3 -c allgather --outsiders none",
  "synth mesh:3x3 -c allgather --chunks 0",
  "synth mesh:3x3 -c allgather --chunks four",
  // how it is made
  "synth mesh:3x3 -c allgather -a forest",
  "synth mesh:3x3 -c allgather -a nccl",
  "synth mesh:3x3 -c allgather -a magic",
  "synth mesh:3x3 -c allgather -a best",
  "synth ring:6 -c allgather -a rhd",
  "synth mesh:3x3 -c allgather -a forestcoll -k 0",
  "synth mesh:3x3 -c allgather -a forestcoll -k -1",
  "synth mesh:3x3 -c allgather -a ring --trials 3",
  "synth mesh:3x3 -c allgather --seed 1e99",
  "synth mesh:3x3 -c allgather --policy oldes",
  "synth mesh:3x3 -c allgather --time-limit soon",
  "synth mesh:3x3 -c allgather --alogrithm tacos",
  "synth mesh:3x3 -c allgather --out x.json",
  "bound mesh:3x3 -c allgather --time 3",
  "search --objective latency",
  "synth mesh:3x3 -c allgather --threads -1",
  "synth mesh:3x3 -c allgather --repair none.json",
  "synth mesh:3x3 -c allgather --repair --size 1MiB",
  "synth plan.json --repair mesh:3x3",
  "synth mesh:3x3 plan.json",
  "synth mesh:4x4 --without 3 --repair plan.json",
  "synth mesh:4x4 -c allgather -a ring --chunks 1000000",
  "export dgx-a100:1 -c allgather --to msccl-xml --chunks 1000000 -o x.xml",
  // files and formats
  "synth mesh:3x3 -c allgather -o no/folder/x.json",
  "synth mesh:3x3 -c allgather -o .",
  "verify plan.jsno",
  "verify empty.json",
  "verify notes.txt",
  "verify dgx-a100:2",
  "verify nvidia-smi.txt",
  "verify nccl.log",
  "verify folder",
  "verify mixed",
  "verify torch.py",
  "verify pp/plans.py",
  "verify cut.xml",
  "topology cut.txt",
  "topology short.txt",
  "verify program.xml --topology mesh:3x3",
  "verify ring:5 sends.csv",
  "verify sends.csv --topology ring:5 -c allgather",
  "verify chunk9.csv --topology ring:4 -c allgather",
  "verify headless.csv",
  "verify no-step.csv --topology ring:4 -c allgather",
  "verify gpus.csv --topology ring:4 -c allgather",
  "verify no-rows.csv --topology ring:4 -c allgather",
  "simulate no-rows.csv --topology ring:4 -c allgather",
  "verify no-chunk.csv --topology ring:4 -c allgather",
  "verify pieces.csv --topology ring:4 -c allgather",
  "verify links.csv",
  "verify few-cells.csv --topology ring:4 -c allgather",
  "verify --independent program.xml",
  "run sends.csv",
  "explain program.xml --log nccl.log",
  "explain debug.log",
  "verify ragged.csv --topology ring:4 -c allgather",
  "verify plan.json --topology ring:9",
  "topology nccl.log",
  "topology program.xml",
  "run plan.json",
  "calibrate nccl.log dgx-a100:1",
  "calibrate dgx-a100:1 nccl.log",
  "calibrate nccl.log",
  "calibrate dgx-a100:1 plan.json",
  "calibrate dgx-a100:1 sends.csv",
  "simulate plan.json --size 2MiB",
  "simulate program.xml --topology mesh:2x2",
  "verify plan.json --target nccl",
  "simulate plan.json --topology torus:3x3",
  "export plan.json --to xml -o x.xml",
  "export plan.json --to svg",
  "export mesh:3x3 --to steps -o x.json",
  "export mesh:3x3 --to png",
  "export mesh:3x3 --to msccl-xml -o x.xml",
  "export mesh:3x3 -c allgather --to msccl-xml --size 1MiB --sizes 1MiB,2MiB -o x",
  "export dgx-h100:1 -c allreduce -a nvls --to msccl-xml -o x.xml",
  "export dgx-h100:2 --to nccl-graph -o x.xml",
  "export dgx-h100:1 -c allreduce --to nccl-graph -o x.xml",
  "export plan.json --to nccl-graph -o x.xml",
  "compare mesh:3x3 --sizes 1MiB",
  "compare mesh:3x3 -c allgather --size 1MiB",
  "compare mesh:3x3 -c allgather --sizes 1MiB --algorithms ring,foo",
  "compare mesh:3x3 -c allgather --sizes 1MiB --algorithms ring,tree",
  "compare mesh:3x3 -c allgather --sizes 1MiB 1GiB",
  "compare mesh:3x3 -c allgather --sizes 1KiB..1GiB",
  "compare mesh:3x3 -c allgather --with nvidia-smi.txt",
  "compare mesh:3x3 -c allgather -o x.pdf",
  "compare mesh:3x3 -c allgather --sizes 1MiB --format xls",
  "bound mesh:3x3 -c allgather --algorithm ring",
  "search --nodes 8",
  "search --nodes 8 --degree 0",
  "search --nodes 8 --ports 4",
  "search 8",
  "bound mesh:3x3 -c allgather --without-each gpus",
  "serve --port web",
  "verify program.xml --size 1GiB",
  "verify program.xml --target nccl",
  "compare program.xml plan.json -c allgather",
  "export plan.json --to msccl-xml --without 4 -o x.xml",
  "synth mesh:4x4@50,0.5 -c allgather",
  "bound mesh:3x3 -c allgather --without-each 0-1;1-2",
  "bound mesh:3x3 -c allgather --without-each 0-1+1-9",
  "synth mesh:3x3 -c allgather -o x.yaml",
  "simulate sends.csv --topology ring:4 -c allgather --chunks auto",
  "synth mesh:3x3 -c allgather --group 4 -a forestcoll",
  "export dgx-a100:2 -c allreduce --to astra-sim -o astra",
];

/** Spellings that are understood, with what they mean. */
const UNDERSTOOD: readonly (readonly [said: string, meant: string])[] = [
  ["-c all-gather", "-c allgather"],
  ["-c all_gather", "-c allgather"],
  ["-c AllGather", "-c allgather"],
  ["-c ALLGATHER", "-c allgather"],
  ["-c Reduce-Scatter", "-c reducescatter"],
  ["-c allgather -s 1gib", "-c allgather -s 1GiB"],
  ["-c allgather -s 1g", "-c allgather -s 1GiB"],
  ["-c allgather -s 1gb", "-c allgather -s 1GB"],
  ["-c allgather -a ForestColl", "-c allgather -a forestcoll"],
  ["-c allgather -a TACOS_ILP --time-limit 5", "-c allgather -a tacos-ilp --time-limit 5s"],
];
/** Networks written otherwise, with what they mean. */
const NETWORKS = [
  ["DGX-A100:2", "dgx-a100:2"],
  ["dgx-h100:2,IB", "dgx-h100:2,ib"],
  ["Torus:4X4", "torus:4x4"],
  ["mesh:3x3 --degrade 0-1=50%", "mesh:3x3 --degrade 0-1=0.5"],
  ["mesh:3x3 --degrade 0-1=1/4", "mesh:3x3 --degrade 0-1=0.25"],
] as const;
const RATES = ["400Gb/s", "400Gbit/s", "400Gbps", "400gbps", "50GB/s", "50GBps", "50000MB/s"];

it("mistakes that people make get these answers", { timeout: 180_000 }, async () => {
  here.put("empty.json", "");
  here.put("notes.txt", "all is well\n");
  here.put("cluster.json", "{}");
  mkdirSync(here.at("folder"));
  here.put("nvidia-smi.txt", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-7\nGPU1\tNV12\t X \t0-7\n");
  const examples = {
    "nccl.log": "all_reduce_4nodes.log",
    "debug.log": "nccl-debug.log",
    "halo.json": "halo.json",
    "tenants.json": "tenants.json",
  };
  for (const [name, example] of Object.entries(examples))
    here.put(name, readFileSync(new URL(`../../examples/${example}`, import.meta.url), "utf8"));
  here.put("headless.csv", "0,0,1,0\n0,1,2,1\n");
  here.put("ragged.csv", "step,src,dst,chunk\n0,0,1,0\n0,1,2,1,9\n");
  await here.run("synth mesh:3x3 -c allgather -s 9KiB -o plan.json -q");
  await here.run("export plan.json --to msccl-xml -o program.xml -q");
  mkdirSync(here.at("mixed"));
  here.put("mixed/plan.json", readFileSync(here.at("plan.json"), "utf8"));
  here.put("cut.xml", readFileSync(here.at("program.xml"), "utf8").slice(0, 300));
  await here.run("export ring:3 -c allgather --algorithm ring --to mscclpp --sizes 9KiB -o pp -q");
  here.put("torch.py", '"""allgather among 8 ranks"""\nimport torch\n');
  here.put("cut.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV12\nGPU1\tNV1");
  here.put("short.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV12\n");
  const sends = readFileSync(new URL("../../examples/ring4.csv", import.meta.url), "utf8");
  here.put("sends.csv", sends);
  here.put("no-step.csv", "from,to,chunk\n0,1,0\n");
  here.put("no-rows.csv", "step,src,dst,chunk\n");
  here.put("no-chunk.csv", "step,src,dst\n0,0,1\n");
  here.put("pieces.csv", "time,from,to,piece\n0,0,1,0\n");
  here.put("few-cells.csv", "step,src,dst,chunk,op\n0,0,1,0\n0,1,2\n");
  here.put("gpus.csv", "step,src,dst,chunk\n0,GPU0,GPU1,0\n");
  here.put("links.csv", "source,target\n0,1\n");
  here.put("nodes.json", '{"nodes":4,"links":[[0,1],[1,0]]}');
  here.put("gpus.txt", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n");
  here.put("rocm.txt", "=== Weight between two GPUs ===\n       GPU0         GPU1\nGPU0   0            15\n");
  here.put("hwloc.xml", '<topology><object type="Machine"/></topology>\n');
  writeFileSync(here.at("packed.json.gz"), gzipSync("{}"));
  here.put("chunk9.csv", sends.replace(/,3,copy\s*$/, ",9,copy").replace(/\n2,3,0,.*/, "\n2,3,0,9,copy"));
  const lines: string[] = [];
  const long: string[] = [];
  for (const line of MISTAKES) {
    const { code, out, failure } = await here.ends(line.replaceAll("'", ""));
    expect([line, code === 2 || code === 3, out]).toEqual([line, true, ""]);
    const message = failure?.message ?? "";
    // one sentence that begins with what is wrong, and never a list that nobody asked for
    expect([line, message]).toEqual([line, expect.not.stringMatching(/^expected|but received|\n/i)]);
    if (message.split(", ").length > MOST_NAMES) long.push(line);
    lines.push(`banyan ${line}`.trim(), `  ${message}`, "");
  }
  expect(MISTAKES.length).toBeGreaterThanOrEqual(50);
  await expect(lines.join("\n")).toMatchFileSnapshot("mistakes.txt");
  expect(long).toEqual([]);
});

it("what is said otherwise is understood", { timeout: 60_000 }, async () => {
  for (const [said, meant] of UNDERSTOOD) {
    const [a, b] = [await here.json(`synth ring:4 ${said}`), await here.json(`synth ring:4 ${meant}`)];
    expect([said, a.collective, a.algorithm, a.time]).toEqual([said, b.collective, b.algorithm, b.time]);
  }
  for (const [said, meant] of NETWORKS)
    expect(await here.json(`topology ${said}`)).toEqual(await here.json(`topology ${meant}`));
  for (const word of ["-v", "-V", "version"]) expect(await here.run(word)).toBe(await here.run("--version"));
  for (const rate of RATES) {
    const { links } = await here.json(`topology ring:4@${rate}`);
    expect([rate, links[0].bandwidthGBps]).toEqual([rate, 50]);
  }
});
