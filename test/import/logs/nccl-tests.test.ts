import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ncclTestsJson, ncclTestsTable } from "../../../src/export/tables/nccl-tests.ts";
import { readMeasurements } from "../../../src/import/logs/nccl-tests.ts";
import { busFactor, COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { missing, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { sharedFiles, sharedText } from "../../support/shared-data.ts";

const DEVICES = (ranks: number, perHost: number): string =>
  Array.from(
    { length: ranks },
    (_, r) =>
      `#  Rank ${String(r).padStart(2)} Group  0 Pid ${900 + r} on node${Math.floor(r / perHost)} device ${r % perHost} [0000:${10 + r}:00] NVIDIA A100`,
  ).join("\n");

const NEW = `# nccl-tests version 2.17.2 nccl-headers=22803 nccl-library=22803
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
${DEVICES(16, 8)}
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
        1024           256     float     sum      -1    35.00    0.03    0.05       0    34.10    0.03    0.06       0
        2048           512     float     sum      -1    36.10    0.06    0.11       0    35.20    0.06    0.11       0
  1073741824     268435456     float     sum      -1   1.0e+07    0.11    0.20     N/A   1.0e+07    0.11    0.20     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.12 
#
# Collective test concluded: all_reduce_perf
`;
const OLD = `# nThread 1 nGpus 4 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 
#
# Using devices
#   Rank  0 Pid   1234 on  devbox device  0 [0x07] Tesla V100
#   Rank  1 Pid   1234 on  devbox device  1 [0x08] Tesla V100
#   Rank  2 Pid   1234 on  devbox device  2 [0x0e] Tesla V100
#   Rank  3 Pid   1234 on  devbox device  3 [0x0f] Tesla V100
#
#                                             out-of-place                       in-place          
#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       
           0             0   float     9.00    0.00    0.00  0e+00     9.10    0.00    0.00  0e+00
     1048576         65536   float    50.00   20.97   15.73  0e+00    52.00   20.16   15.12  2e-07
`;

const read = (text: string, file = "log.txt", kind: NamedCollective | null = null) =>
  readMeasurements(text, file, kind);
const refusal = (text: string, file = "log.txt") => refusalFrom(() => read(text, file));

describe("readMeasurements", () => {
  it("reads the newest text: collective, ranks, hosts, times out of place and in place", () => {
    const [only, ...others] = read(NEW);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ collective: "allreduce", ranks: 16, hosts: 2, platform: "", source: "log.txt" });
    expect([...only.sizeBytes]).toEqual([1024, 2048, 2 ** 30]);
    expect([...only.timeUs]).toEqual([35, 36.1, 1e7]);
    expect([...only.inPlaceUs]).toEqual([34.1, 35.2, 1e7]);
  });

  it("reads an old text without operation and root, whose name is the file's; rows of size 0 are left out", () => {
    const [only] = read(OLD, "/tmp/all_gather_perf.4.out");
    expect(only).toMatchObject({ collective: "allgather", ranks: 4, hosts: 1 });
    expect([[...only.sizeBytes], [...only.timeUs], [...only.inPlaceUs]]).toEqual([[1048576], [50], [52]]);
  });

  it("reads rows that lack the operation that the header has, and such as were measured in place only", () => {
    const rows = NEW.replace(/float {5}sum {6}-1/g, "float              -1");
    expect([...read(rows)[0].timeUs]).toEqual([35, 36.1, 1e7]);
    const inPlace = NEW.replace("   35.00    0.03    0.05       0 ", " ".repeat(32));
    expect([...read(inPlace)[0].timeUs]).toEqual([34.1, 36.1, 1e7]);
  });

  it("reads several tables of one file, each with its collective and devices", () => {
    const tables = read(`${NEW}\n${OLD}`, "both", "allgather");
    expect(tables.map(({ collective, ranks, hosts }) => [collective, ranks, hosts])).toEqual([
      ["allreduce", 16, 2],
      ["allgather", 4, 1],
    ]);
  });

  it.each([
    ["mpirun", (line: string) => `[1,0]<stdout>:${line}`],
    ["mpirun, newer", (line: string) => `[node1-1234,0]<stdout>: ${line}`],
    ["srun -l", (line: string) => `0: ${line}`],
    ["Windows", (line: string) => `${line}\r`],
    ["lines of NCCL itself", (line: string) => `${line}\nnode0:900:900 [0] NCCL INFO Channel 00/24 : 0 1 2 3`],
  ])("takes off what %s puts there", (_, around) => {
    const text = NEW.split("\n").map(around).join("\n");
    expect(read(text)).toEqual(read(NEW));
  });

  it("takes the sentence of a -J file, every process naming the first of its devices", () => {
    const timing = (time: number) => ({ time, alg_bw: 1, bus_bw: 2, nwrong: 0 });
    const json = {
      version: 2,
      args: ["/opt/nccl-tests/build/reduce_scatter_perf", "-g", "4"],
      config: {
        nthreads: 1,
        ngpus: 4,
        devices: [
          { rank: 0, hostname: "a" },
          { rank: 4, hostname: "b" },
        ],
      },
      results: [
        { size: 0, out_of_place: timing(0), in_place: timing(0) },
        { size: 4096, out_of_place: null, in_place: timing(7.5) },
        { size: 1024, out_of_place: timing(6), in_place: timing(5) },
      ],
    };
    const [only] = read(JSON.stringify(json));
    expect(only).toMatchObject({ collective: "reducescatter", ranks: 8, hosts: 2 });
    expect([[...only.sizeBytes], [...only.timeUs], [...only.inPlaceUs]]).toEqual([
      [1024, 4096],
      [6, 7.5],
      [5, 7.5],
    ]);
  });

  it("reads what compare predicts in the form of nccl-tests, text and JSON", () => {
    const kinds = COLLECTIVE_KINDS.map((kind) => kind as NamedCollective);
    const rows = fc.uniqueArray(fc.tuple(fc.integer({ min: 3, max: 34 }), fc.integer({ min: 100, max: 1e9 })), {
      minLength: 1,
      selector: ([power]) => power,
    });
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.integer({ min: 2, max: 4096 }), rows, (collective, ranks, drawn) => {
        const predicted = drawn.map(([power, hundredths]) => ({
          sizeBytes: 2 ** power,
          us: hundredths / 100,
          algorithm: "ring",
        }));
        const run = { collective, ranks, network: "dgx-a100:2", version: "1.0", rows: predicted };
        const expected = [...predicted].sort((a, b) => a.sizeBytes - b.sizeBytes);
        const [text] = read(ncclTestsTable(run));
        const [json] = read(ncclTestsJson(run));
        for (const { collective: kind, ranks: many, sizeBytes } of [text, json]) {
          expect([kind, many]).toEqual([collective, ranks]);
          expect([...sizeBytes]).toEqual(expected.map((row) => row.sizeBytes));
        }
        expect([...json.timeUs]).toEqual(expected.map(({ us }) => us));
        // two digits are left of the largest
        text.timeUs.forEach((us, i) => {
          expect(Math.abs(us - expected[i].us) / expected[i].us).toBeLessThan(0.051);
        });
      }),
    );
  });

  it("takes a collective that nothing names from busbw / algbw, and refuses what contradicts that", () => {
    const kinds = fc.constantFrom(...COLLECTIVE_KINDS.map((kind) => kind as NamedCollective));
    fc.assert(
      fc.property(kinds, kinds, fc.integer({ min: 3, max: 64 }), fc.boolean(), (kind, asked, ranks, inJson) => {
        const rows = [22, 26, 30].map((power) => ({ sizeBytes: 2 ** power, us: 2 ** power / 2e5, algorithm: "ring" }));
        const of = { collective: kind, ranks, network: "net", version: "1", rows };
        const text = (inJson ? ncclTestsJson(of) : ncclTestsTable(of)).replace(/\w+_perf/g, "tool");
        const fits = COLLECTIVE_KINDS.filter((other) => busFactor(other, ranks) === busFactor(kind, ranks));
        if (fits.length === 1) {
          const [only] = read(text);
          expect([only.collective, only.remarks.length]).toEqual([kind, 1]);
        } else expect(refusal(text)).toEqual(missing("collective"));
        // a name that contradicts the figures is not believed
        expect(fits).toContain((fits.length === 1 ? read(text, "gather.log") : read(text, "x", kind))[0].collective);
        if ((fits as string[]).includes(asked)) expect(read(text, "x", asked)[0].collective).toBe(asked);
        else expect(refusalFrom(() => read(text, "x", asked))).toEqual(unexpected("collective", asked));
      }),
    );
  });

  it("tells GPUs by name", () => {
    expect(read(NEW)[0].listed[0]).toMatchObject({ rank: 0, gpu: "NVIDIA A100" });
    const config = { nthreads: 1, ngpus: 1, devices: [{ hostname: "a", device_info: "NVIDIA H200" }] };
    const results = [{ size: 8, in_place: { time: 1 } }];
    expect(read(JSON.stringify({ args: ["all_reduce_perf"], config, results }))[0].listed).toEqual([
      { rank: 0, host: "a", gpu: "NVIDIA H200" },
    ]);
  });

  it("reads a table of points: a time from each busbw, the pairs' copies left out", () => {
    const text = `# facts\n# platform\tcollective\tgpus\tnodes\tbytes\tbusbw\tnote\nbox\tallreduce\t8\t1\t1000000\t7\tRing\nbox\tp2p\t2\t1\t0\t300\t\nbox\tallgather\t8\t1\t1000000\t3.5\n`;
    const tables = read(text);
    expect(tables.map(({ collective, platform }) => [platform, collective])).toEqual([
      ["box", "allreduce"],
      ["box", "allgather"],
    ]);
    expect(tables.map(({ timeUs }) => timeUs[0])).toEqual([250, 250]);
    expect(tables[0].notes).toEqual(["Ring"]);
  });

  it("reads the published points", () => {
    if (!sharedFiles("baselines").includes("measured_public_nccl.tsv")) return;
    const tables = read(sharedText("baselines/measured_public_nccl.tsv"));
    const h200 = tables.find(({ platform, collective }) => platform.startsWith("H200x8") && collective === "allreduce");
    expect(h200?.sizeBytes.length).toBe(19);
    // busbw 1.44 GB/s of 32 KiB among 8
    expect(h200?.timeUs[0]).toBeCloseTo(39.82, 2);
  });

  it.each<[string, string, Refusal]>([
    [
      "OSU Micro-Benchmarks",
      "# OSU MPI-CUDA Allreduce Latency Test v5.9\n# Size  Avg Latency(us)\n4  12.1\n",
      unexpected("log.txt", "a log of OSU Micro-Benchmarks"),
    ],
    [
      "IMB",
      "#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n",
      unexpected("log.txt", "a log of Intel MPI Benchmarks"),
    ],
    [
      "IMB, cut",
      "# Benchmarking Allreduce \n# #processes = 4 \n",
      unexpected("log.txt", "a log of Intel MPI Benchmarks"),
    ],
    [
      "nvbandwidth",
      "nvbandwidth Version: v0.5\nRunning device_to_device_memcpy_read_ce.\n",
      unexpected("log.txt", "a log of nvbandwidth"),
    ],
    [
      "p2p",
      "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n",
      unexpected("log.txt", "a log of p2pBandwidthLatencyTest"),
    ],
    [
      "ib_write_bw",
      "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[MB/sec]\n",
      unexpected("log.txt", "a log of perftest (ib_write_bw and its like)"),
    ],
    [
      "NCCL",
      "n:1:1 [0] NCCL INFO Bootstrap : Using eth0\n",
      unexpected("log.txt", "a log of NCCL itself (NCCL_DEBUG), without a table"),
    ],
    ["PyTorch", '{"schemaVersion": 1, "traceEvents": []}', unexpected("log.txt", "a file of the PyTorch profiler")],
    ["trace", '[{"ph": "X", "ts": 1, "name": "k"}]', unexpected("log.txt", "a file of a profiler (trace events)")],
    [
      "Banyan",
      '{"format": "banyan-schedule", "version": 1}',
      unexpected("log.txt", "a file of Banyan (banyan-schedule)"),
    ],
    [
      "UCC",
      "Collective:             Allreduce\nMemory type:            cuda\n",
      unexpected("log.txt", "a log of UCC perftest"),
    ],
    ["text", "hello\n", unexpected("log.txt", "hello\n")],
  ])("refuses by name a log of %s", (_, text, received) => {
    expect(refusal(text)).toEqual(received);
  });

  it.each<[string, string, Refusal]>([
    ["nothing", "", missing("log.txt")],
    [
      "a row cut short",
      NEW.slice(0, NEW.indexOf("34.10")),
      unexpected("log.txt line 26", "9 columns: 1024 256 float sum -1 35.00 0.03 0.05 0", 13),
    ],
    [
      "a row cut in its first number",
      NEW.slice(0, NEW.indexOf("24           256")),
      unexpected("log.txt line 26", "1 column: 10", 13),
    ],
    ["a header alone", NEW.slice(0, NEW.indexOf("        1024")), unexpected("log.txt", "a header without rows")],
    ["sizes of 0", OLD.slice(0, OLD.indexOf("     1048576 ")), unexpected("log.txt", "only rows of size 0")],
    ["no time", NEW.replace("35.00", " 0.00"), unexpected("log.txt line 26", "0.00")],
    ["N/A for a time", NEW.replace("35.00", "  N/A"), unexpected("log.txt line 26", "N/A")],
    ["a size below 0", NEW.replace("        1024 ", "       -1024 "), unexpected("log.txt line 26", "-1024")],
    ["a size of a part", NEW.replace("        1024 ", "        1024.5 "), unexpected("log.txt line 26", "1024.5")],
    [
      "columns that do not agree",
      NEW.replace("36.10    0.06", "36.10    6.00"),
      unexpected("log.txt line 27", "36.10 6.00 0.11 0"),
    ],
    ["wrong values", NEW.replace("0.05       0 ", "0.05       3 "), unexpected("log.txt line 26", "3 wrong")],
    ["times of the CPU", NEW.replaceAll("  time ", "  cputime "), unexpected("log.txt line 24", "cputime (-C 1)")],
    ["a collective that nothing tells", OLD, missing("collective")],
    [
      "a log that ends before its table",
      NEW.slice(0, NEW.indexOf("#                                ")),
      unexpected("log.txt", "a log of nccl-tests that ends before its table"),
    ],
    ["JSON cut short", '{"results": [{"out_of_place"', missing("log.txt line 1, column 29")],
    [
      "JSON without results",
      '{"results": [], "average_bus_bandwidth": 1}',
      unexpected("log.txt: results", "0 results"),
    ],
    [
      "a point without a rate",
      "# platform\tcollective\tgpus\tnodes\tbytes\tbusbw\nb\tallreduce\t8\t1\t10\t0\n",
      unexpected("log.txt line 2, busbw", "0"),
    ],
    [
      "points of another thing",
      "# platform\tcollective\tgpus\tnodes\tbytes\tbusbw\nb\tgossip\t8\t1\t10\t1\n",
      unexpected("log.txt line 2", "gossip"),
    ],
  ])("refuses %s in one sentence", (_, text, sentence) => {
    expect(refusal(text)).toEqual(sentence);
  });
});
