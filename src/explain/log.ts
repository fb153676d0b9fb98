import type { LoggedPrograms } from "../model/calibration/measurements.ts";
import { formatSize } from "../model/numbers/units.ts";
import type { Program } from "../model/program/program.ts";
import type { RuntimeName } from "../model/program/runtime-names.ts";
import { MSCCL_RUNTIMES, type MscclRuntime, RUNTIMES } from "../model/program/runtimes.ts";

/** Averages and scaled sums: no program of the kind runs them. */
const FIRST_AVERAGE = 4;
const SHOWN = 20;

/** Returns whether a program was selected in a log, call by call, and if not why, in words. `file` is its name. */
export function explainLog(program: Program, runtime: RuntimeName, log: LoggedPrograms, file: string): string[] {
  const lines = [`log of ${log.version ?? "an unknown version"}`];
  if (!log.hasRuntime && runtime !== "mscclpp") {
    lines.push(
      "no line of it comes from an MSCCL runtime: this library does not run such programs, or NCCL_DEBUG_SUBSYS leaves INIT out",
    );
  }
  const base = (path: string): string => path.split(/[\\/]/).at(-1) as string;
  const isIt = (path: string): boolean => base(path) === base(file);
  if (log.parsed.some(isIt)) lines.push(`${base(file)} was read`);
  else if (log.parsed.length > 0) lines.push(`${log.parsed.map(base).join(", ")} were read, but no ${base(file)}`);
  if (log.failed.some(isIt))
    lines.push(`${base(file)} was refused (\`banyan verify ${file} --target ${runtime}\` says what is wrong)`);
  if (log.folder !== null) lines.push(`programs are taken from ${log.folder}`);
  if (log.connected !== null)
    lines.push(`${log.connected} ${log.connected === 1 ? "program was" : "programs were"} connected`);
  for (const { line, text } of log.problems) lines.push(`line ${line}: ${text}`);
  const calls = log.calls.filter(({ collective }) => collective === program.collective);
  if (log.calls.length === 0) lines.push("it shows no calls (they need NCCL_DEBUG_SUBSYS=INIT,COLL)");
  else if (calls.length === 0) lines.push(`it shows no ${program.collective}`);
  for (const call of calls.slice(0, SHOWN)) lines.push(callLine(program, runtime, log, call));
  if (calls.length > SHOWN) lines.push(`... and ${calls.length - SHOWN} more kinds of calls`);
  return lines;
}

function callLine(
  program: Program,
  runtime: RuntimeName,
  log: LoggedPrograms,
  call: LoggedPrograms["calls"][number],
): string {
  const placement = call.inPlace ? "in place" : "out of place";
  const what = `line ${call.line}: ${call.times} x ${formatSize(call.sizeBytes)} ${placement}`;
  const { selected, reasons } = selectionOf(program, runtime, call);
  const why = [
    ...reasons,
    ...(call.reduction >= FIRST_AVERAGE ? ["averages and scaled sums are not run by programs"] : []),
  ];
  if (!selected || why.length > 0) {
    const ran = call.ranBy === "library" ? "" : ` (another program was: ${call.ranBy})`;
    return `${what}: not this program${ran}, for ${why.join("; ")}`;
  }
  if (call.ranBy === "msccl") return `${what}: run by an MSCCL program, and this one fits`;
  if (call.ranBy === "mscclpp") return `${what}: run by MSCCL++, before MSCCL is asked`;
  if (log.tellsCalls)
    return `${what}: this program fits, but the library's own algorithm ran: another file came first, or it is disabled`;
  return `${what}: this program fits; the log does not tell whether it ran`;
}

/** A call of a collective. */
interface Call {
  /** nccl-tests size. */
  readonly sizeBytes: number;
  readonly elementBytes: number;
  readonly inPlace: boolean;
  readonly ranks: number;
}

/** Whether a runtime would run a program for a call, and every reason why not. */
export interface Selection {
  readonly runtime: RuntimeName;
  readonly selected: boolean;
  readonly reasons: readonly string[];
}

/** Collectives whose count is per rank: their size is that of all ranks together. */
const PER_RANK: ReadonlySet<string> = new Set(["allgather", "reducescatter", "alltoall"]);
/** The range that microsoft/msccl assumes where a file has none. */
const MSCCL_DEFAULT_MAX = 134217728;

/**
 * Returns whether a runtime would select the program for a call, by the rules that it applies: collective, ranks, placement,
 * range of bytes (microsoft/msccl: up to but without maxBytes; Azure's executor and RCCL: with it, and 0 is unlimited), and
 * divisibility of the count.
 */
export function selectionOf(program: Program, runtime: RuntimeName, call: Call): Selection {
  const reasons =
    runtime === "mpi"
      ? mpiReasons(program, call)
      : runtime === "mscclpp"
        ? planReasons(program, call)
        : xmlReasons(program, runtime, call);
  return { runtime, selected: reasons.length === 0, reasons };
}

function common(program: Program, runtime: RuntimeName, { ranks, inPlace }: Call): string[] {
  const reasons: string[] = [];
  const { collectives, title } = RUNTIMES[runtime];
  if (collectives[program.collective] === undefined)
    reasons.push(`${title} knows no collective "${program.collective}"`);
  if (ranks !== program.rankCount) reasons.push(`it is for ${program.rankCount} ranks, not ${ranks}`);
  if (inPlace && !program.inPlace) reasons.push("it is for out-of-place calls only, and this one is in place");
  if (!inPlace && !program.outOfPlace) reasons.push("it is for in-place calls only, and this one is out of place");
  else if (!inPlace && program.inPlace && runtime === "msccl")
    reasons.push(`${title} looks at inplace only, and selects it for calls in place`);
  return reasons;
}

function xmlReasons(program: Program, runtime: MscclRuntime["name"], call: Call): string[] {
  const reasons = common(program, runtime, call);
  const { needsRange, maxBytesIncluded } = MSCCL_RUNTIMES[runtime];
  const { sizeBytes, elementBytes } = call;
  if (needsRange && (program.minBytes === null || program.maxBytes === null)) {
    return [...reasons, "it does not load: minBytes and maxBytes are missing"];
  }
  const least = program.minBytes ?? 0;
  const most = program.maxBytes ?? MSCCL_DEFAULT_MAX;
  const unlimited = maxBytesIncluded && most === 0;
  const range = unlimited
    ? `${formatSize(least)} or more`
    : `${least} to ${most} bytes${maxBytesIncluded ? "" : ", the last not included"}`;
  if (sizeBytes < least || (!unlimited && (maxBytesIncluded ? sizeBytes > most : sizeBytes >= most))) {
    reasons.push(`${formatSize(sizeBytes)} is outside its range (${range})`);
  }
  const elements = sizeBytes / elementBytes;
  if (!Number.isInteger(elements))
    reasons.push(`${sizeBytes} bytes are no whole number of elements of ${elementBytes} bytes`);
  else if (elements % program.loopChunks !== 0) {
    const per = PER_RANK.has(program.collective) ? " (over all ranks)" : "";
    reasons.push(`${elements} elements${per} are no multiple of its ${program.loopChunks} chunks`);
  }
  return reasons;
}

/** Any number of elements can be cut; calls in place that a plan is not for are made out of place by the runtime. */
function mpiReasons(program: Program, call: Call): string[] {
  const { sizeBytes, elementBytes } = call;
  const reasons = common(program, "mpi", { ...call, inPlace: false });
  if (program.minBytes !== null && sizeBytes < program.minBytes)
    reasons.push(`${formatSize(sizeBytes)} is below the ${program.minBytes} bytes from which on it is for calls`);
  if (program.maxBytes !== null && sizeBytes > program.maxBytes)
    reasons.push(`${formatSize(sizeBytes)} is above the ${program.maxBytes} bytes up to which it is for calls`);
  if (sizeBytes % elementBytes !== 0)
    reasons.push(`${sizeBytes} bytes are no whole number of elements of ${elementBytes} bytes`);
  return reasons;
}

/** Bytes that every buffer must be a multiple of, by default. */
const ALIGNMENT = 16;

function planReasons(program: Program, call: Call): string[] {
  const reasons = common(program, "mscclpp", call);
  const { sizeBytes } = call;
  if (program.minBytes !== null && sizeBytes < program.minBytes)
    reasons.push(`${formatSize(sizeBytes)} is below min_message_size`);
  if (program.maxBytes !== null && sizeBytes > program.maxBytes)
    reasons.push(`${formatSize(sizeBytes)} is above max_message_size`);
  const chunks = program.loopChunks / program.finer;
  if (sizeBytes % ALIGNMENT !== 0) reasons.push(`${sizeBytes} bytes are no multiple of ${ALIGNMENT}`);
  else if ((sizeBytes / ALIGNMENT) % chunks !== 0) {
    reasons.push(`${sizeBytes / ALIGNMENT} units of ${ALIGNMENT} bytes are no multiple of its ${chunks} chunks`);
  }
  return reasons;
}
