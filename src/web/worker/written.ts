import { exportInMemory } from "../../run/export/in-memory.ts";
import type { ScheduleRef, WrittenSchedule } from "../protocol.ts";
import { fileNameFor, formatFor, subjectOf } from "./file-form.ts";
import type { Tools } from "./handlers.ts";
import { keptFor } from "./kept.ts";

/** Returns the SHA-256 of a file, hexadecimal; null where the page is not in a secure context. */
async function sha256Of(content: Blob): Promise<string | null> {
  if (globalThis.crypto?.subtle === undefined) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Answers "file": the bytes of `synth -o FILE` for the same words; those of the file itself for one that was opened. */
export async function file(
  { schedule: ref }: { readonly schedule: ScheduleRef },
  tools: Tools,
): Promise<WrittenSchedule> {
  if (ref.file !== null) return { file: ref.file, sha256: await sha256Of(ref.file.content) };
  const kept = await keptFor(ref, tools);
  const { engine, signal, progress } = tools;
  const path = fileNameFor(kept);
  const lent = { engine, signal, progress, path, version: BANYAN_VERSION };
  const { files } = await exportInMemory(formatFor(kept), subjectOf(kept), {}, lent);
  const content = new Blob(files.flatMap(({ parts }) => [...parts]));
  return { file: { name: path, content }, sha256: await sha256Of(content) };
}
