import { formatSize } from "../model/numbers/units.ts";
import type { Program } from "../model/program/program.ts";
import { MSCCL_RUNTIMES, RUNTIMES, type RuntimeName } from "../model/program/runtimes.ts";

/** A call of a collective. */
export interface Call {
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
  const reasons = runtime === "mscclpp" ? planReasons(program, call) : xmlReasons(program, runtime, call);
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

function xmlReasons(program: Program, runtime: Exclude<RuntimeName, "mscclpp">, call: Call): string[] {
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
