import { looksLikeNcclLog } from "./nccl-log.ts";

/** Tools that measure too, by marks of their output; the first that fits is meant. */
const OTHERS: readonly (readonly [tool: string, mark: RegExp])[] = [
  ["OSU Micro-Benchmarks", /^(?:# )?OSU [\w\s/-]*(?:Test|Benchmark)/im],
  ["Intel MPI Benchmarks", /Intel\(?R?\)? MPI Benchmarks|^# Benchmarking (?:Allreduce|Allgather|Bcast|PingPong)/im],
  ["nvbandwidth", /\bnvbandwidth Version|memcpy (?:CE|SM) [CG]PU\(/i],
  [
    "p2pBandwidthLatencyTest",
    /P2P \(?Peer-to-Peer\)?|p2pBandwidthLatencyTest|P2P=(?:Dis|En)abled|P2P Connectivity Matrix/i,
  ],
  [
    "perftest (ib_write_bw and its like)",
    /\b(?:RDMA_|Send |)(?:Write|Read|Send|Atomic)[ _](?:BW|Latency|Bidirectional BW) Test|#bytes\s+#iterations\s+BW peak/i,
  ],
  ["bandwidthTest of the CUDA samples", /\[CUDA Bandwidth Test\]/],
  ["mscclpp-test", /mscclpp-test|# Setting up the connection in MSCCL\+\+/i],
  ["UCC perftest", /^[ \t]*Collective:[ \t]+\w+/m],
  ["ucx_perftest", /overhead.{0,80}bandwidth \(MB\/s\).{0,80}message rate/i],
  ["iperf", /^\[\s*ID\]\s+Interval\s+Transfer/m],
  ["nvidia-smi", /\bNVIDIA-SMI\b|^[ \t]*GPU0[ \t]+(?:GPU1|X)\b/m],
];

/** Returns the name of the tool that wrote a JSON value which is no output of nccl-tests; null for an unknown one. */
export function otherJsonTool(value: unknown): string | null {
  if (Array.isArray(value)) return isTraceEvent(value[0]) ? "a profiler (trace events)" : null;
  if (typeof value !== "object" || value === null) return null;
  if ("traceEvents" in value)
    return "schemaVersion" in value || "deviceProperties" in value
      ? "the PyTorch profiler"
      : "a profiler (trace events)";
  if ("nvbandwidth" in value) return "nvbandwidth";
  if ("test_info" in value && "results" in value && !Array.isArray(value.results))
    return "perftest (ib_write_bw and its like)";
  if ("format" in value && typeof value.format === "string" && value.format.startsWith("banyan-"))
    return `Banyan (${value.format})`;
  if ("schema" in value && typeof value.schema === "string" && value.schema.startsWith("banyan/"))
    return `Banyan (${value.schema})`;
  return null;
}

const isTraceEvent = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "ph" in value && "ts" in value;

/** Returns the name of the tool that wrote a text which is no output of nccl-tests; null for an unknown one. */
export function otherTool(text: string): string | null {
  const found = OTHERS.find(([, mark]) => mark.test(text));
  if (found !== undefined) return found[0];
  return looksLikeNcclLog(text) ? "NCCL itself (NCCL_DEBUG), without a table" : null;
}
