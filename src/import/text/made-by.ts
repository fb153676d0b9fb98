import type { ByteSource } from "../schedules/bys.ts";

/** Where files of schedules say what made them. */
const HEAD_BYTES = 4096;
const MADE_BY = /"about"\s*:\s*\{\s*"madeBy"\s*:\s*"banyan"\s*,\s*"algorithm"\s*:\s*"([a-z0-9-]+)"/;

/** Returns the algorithm that a schedule file of ours, JSON or .bys, says it is of; null where it does not say. */
export function algorithmTold(source: ByteSource): string | null {
  const head = new TextDecoder("latin1").decode(source.read(0, Math.min(HEAD_BYTES, source.size)));
  return MADE_BY.exec(head)?.[1] ?? null;
}
