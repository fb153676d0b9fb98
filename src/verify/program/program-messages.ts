import type { Program } from "../../model/program/program.ts";

/** Bytes of data that a message takes in NCCL with buffers of the usual sizes (its NCCL_BUFFSIZE of 4 MiB, and those of LL and LL128). */
const MESSAGE_BYTES = {
  Simple: 2 ** 21,
  // 512 threads x 8 lines x 16 bytes, half of them flags.
  LL: 2 ** 15,
  // 640 threads x 120 words x 8 bytes, of which 120 of 128 are data.
  LL128: 576_000,
} as const;

/** Chunks that an instruction of the runtimes moves at once at most (MSCCL_MAX_COUNT - 1). */
const MOST = 71;

/** Returns the messages that a connection of the runtimes holds: 8 slots, of which a message with Simple takes 4. */
export const slotsOf = (protocol: Program["protocol"]): number => (protocol === "Simple" ? 2 : 8);

/**
 * Returns how many chunks of an instruction travel in one message at the greatest size that the program is for; 1 where it
 * names none. Source: maxAllowedCount of microsoft/msccl's interpreter.
 */
export function chunksPerMessage({ protocol, maxBytes, loopChunks }: Program): number {
  if (maxBytes === null || maxBytes <= 0) return 1;
  const fit = Math.floor(MESSAGE_BYTES[protocol] / Math.ceil(maxBytes / loopChunks));
  return Math.max(1, Math.min(MOST, fit));
}
