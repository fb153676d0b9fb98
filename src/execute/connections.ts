import type { Program } from "../model/program/program.ts";

/** What a connection holds before its sender has to wait. */
export interface Room {
  /** Messages. */
  readonly messages: number;
  /** Chunks of one instruction that travel as one message. */
  readonly chunks: number;
}

/** NCCL's connections have 8 slots (NCCL_STEPS); MSCCL's messages with Simple take half of them (MSCCL_CHUNKSTEPS). */
const MESSAGES = { Simple: 2, LL: 8, LL128: 8 } as const;

/**
 * Bytes of data in a message, with NCCL's default buffers: Simple 4 slots of 512 KiB; LL a slot of 512 threads x 8 lines of 16
 * bytes, half of which are flags; LL128 a slot of 640 threads x 120 words of 8 bytes, 120 of 128 of which are data.
 */
const MESSAGE_BYTES = { Simple: 2_097_152, LL: 32_768, LL128: 576_000 } as const;

/** Chunks that a runtime moves at once (MSCCL_MAX_COUNT is 72). */
const MOST_CHUNKS = 71;

/** Returns what connections of the runtimes hold in a call of `sizeBytes`: several chunks are a message where they are small. */
export function roomOf({ protocol, loopChunks }: Program, sizeBytes: number): Room {
  const fit = Math.floor(MESSAGE_BYTES[protocol] / Math.ceil(sizeBytes / loopChunks));
  return { messages: MESSAGES[protocol], chunks: Math.max(1, Math.min(MOST_CHUNKS, fit)) };
}

/** Returns the chunks that a connection holds at most. */
export const roomChunks = ({ messages, chunks }: Room): number => messages * chunks;
