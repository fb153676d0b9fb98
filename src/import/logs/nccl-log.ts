import { InputError } from "../../base/errors.ts";
import type { LoggedCall, LoggedPrograms } from "../../model/calibration/measurements.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";

/** A call while its like are counted. */
type CountedCall = Omit<LoggedCall, "times"> & { times: number };

const COLLECTIVES: ReadonlyMap<string, NamedCollective> = new Map(
  Object.entries({
    allreduce: "allreduce",
    allgather: "allgather",
    reducescatter: "reducescatter",
    broadcast: "broadcast",
    reduce: "reduce",
    alltoall: "alltoall",
    gather: "gather",
    scatter: "scatter",
  }),
);
/** Bytes of the library's data types, by number: int8, uint8, int32, uint32, int64, uint64, f16, f32, f64, bf16, two of 8 bits. */
const TYPE_BYTES = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];
/** Calls of which the count is per rank. */
const PER_RANK: ReadonlySet<NamedCollective> = new Set(["allgather", "reducescatter", "alltoall", "gather", "scatter"]);

const CALL =
  /(\w+): opCount \w+ sendbuff (\S+) recvbuff (\S+) count (\d+) datatype (\d+) op (\d+) root -?\d+ comm \S+ \[nranks=(\d+)\]/;
const MOST_CALLS = 10000;
const MOST_PROBLEMS = 100;

/** Returns true where a text has the marks of a debug log. */
export const looksLikeNcclLog = (text: string): boolean => /\b[NR]CCL (?:INFO|WARN|version)\b/.test(text);

/**
 * Returns what a debug log of NCCL or RCCL says of programs and calls; calls that are alike are counted. Throws InputError for a
 * text that is no such log. O(text).
 */
export function readNcclLog(text: string, fileName: string): LoggedPrograms {
  if (!looksLikeNcclLog(text)) {
    throw new InputError(fileName, "a debug log of NCCL or RCCL (NCCL_DEBUG=INFO)", text.trimStart().slice(0, 40));
  }
  let version: string | null = null;
  let connected: number | null = null;
  let folder: string | null = null;
  let hasRuntime = false;
  let tellsCalls = false;
  const parsed = new Set<string>();
  const failed = new Set<string>();
  const problems = new Map<string, number>();
  const calls = new Map<string, CountedCall>();
  const first = (pattern: RegExp, line: string): string | null => pattern.exec(line)?.[1] ?? null;
  let number = 0;
  for (const line of text.split(/\r?\n/)) {
    number++;
    version ??= first(/\b([NR]CCL version [^\s+]+)/, line);
    const call = callOf(line, number);
    if (call !== null) {
      if (call.ranBy !== "library") tellsCalls = true;
      const key = JSON.stringify([
        call.collective,
        call.sizeBytes,
        call.elementBytes,
        call.reduction,
        call.ranks,
        call.inPlace,
        call.ranBy,
      ]);
      const known = calls.get(key);
      if (known !== undefined) known.times++;
      else if (calls.size < MOST_CALLS) calls.set(key, call);
      continue;
    }
    if (!line.includes("MSCCL")) continue;
    hasRuntime = true;
    const good = first(/Parsed MSCCL Algorithm (.+) successfully/, line);
    if (good !== null) parsed.add(good);
    const bad = first(/MSCCL: algorithm (.+) failed to initialize/, line);
    if (bad !== null) failed.add(bad);
    folder ??= first(/Using MSCCL files from (.+?)\s*$/, line);
    const many = first(/Connected (\d+) MSCCL algorithms/, line);
    if (many !== null) connected = Math.max(connected ?? 0, Number(many));
    const warning = first(/\b[NR]CCL WARN (.+?)\s*$/, line) ?? first(/(MSCCL doesn't support .+?)\s*$/, line);
    if (warning !== null && !problems.has(warning) && problems.size < MOST_PROBLEMS) problems.set(warning, number);
  }
  return {
    version,
    parsed: [...parsed],
    failed: [...failed],
    connected,
    folder,
    problems: [...problems].map(([words, line]) => ({ line, text: words })),
    hasRuntime,
    tellsCalls,
    calls: [...calls.values()],
  };
}

/** Returns the call that a line tells of; null where it tells of none that a program could make. */
function callOf(line: string, number: number): CountedCall | null {
  const match = CALL.exec(line);
  if (match === null) return null;
  const [, name = "", send = "", receive = "", count, type, operation, nranks] = match;
  const ranBy = name.startsWith("mscclFunc") ? "msccl" : name.startsWith("mscclpp_") ? "mscclpp" : "library";
  const collective = COLLECTIVES.get(name.replace(/^mscclFunc|^mscclpp_nccl|^nccl/, "").toLowerCase());
  const elementBytes = TYPE_BYTES[Number(type)];
  if (collective === undefined || elementBytes === undefined) return null;
  const ranks = Number(nranks);
  const bytes = Number(count) * elementBytes;
  const sizeBytes = PER_RANK.has(collective) ? bytes * ranks : bytes;
  return {
    collective,
    sizeBytes,
    elementBytes,
    reduction: Number(operation),
    ranks,
    inPlace: isInPlace(collective, address(send), address(receive), bytes, ranks),
    ranBy,
    line: number,
    times: 1,
  };
}

const address = (text: string): bigint =>
  /^(0x)?[0-9a-f]{1,16}$/i.test(text) ? BigInt(text.startsWith("0x") ? text : `0x${text}`) : 0n;

/** Whether input and output are the same memory: equal, or one is some rank's part of the other. */
function isInPlace(collective: NamedCollective, send: bigint, receive: bigint, bytes: number, ranks: number): boolean {
  if (collective === "allgather" || collective === "gather") return isPart(send - receive, bytes, ranks);
  if (collective === "reducescatter" || collective === "scatter") return isPart(receive - send, bytes, ranks);
  return send === receive;
}

const isPart = (distance: bigint, bytes: number, ranks: number): boolean =>
  bytes > 0 && distance >= 0n && distance % BigInt(bytes) === 0n && distance / BigInt(bytes) < BigInt(ranks);
