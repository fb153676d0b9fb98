import { exporterNamed } from "../../exporters/exporters.ts";
import { fileNameOf } from "../../exporters/file-name.ts";
import { exportInMemory } from "../../exporters/in-memory.ts";
import type { ScheduleSubject } from "../../exporters/subject.ts";
import { jsonBytesOf } from "../../model/estimate.ts";
import { isPhaseSchedule } from "../../model/phase-schedule.ts";
import { transfersOf } from "../../model/schedule.ts";
import { isTreeFlow } from "../../model/tree-flow.ts";
import type { Report } from "../../result.ts";
import type { ScheduleRef, WrittenSchedule } from "../protocol.ts";
import type { Tools } from "./handlers.ts";
import { keptFor } from "./kept.ts";
import type { Kept } from "./shelf.ts";

/** Longer JSON cannot be read back, and arrival logs of more transfers are not written out in it. */
const MOST_JSON = 2 ** 29;
const MOST_EXPANDED = 2e7;

/** Returns a schedule as exporters take it. */
export const subjectOf = ({ schedule, report }: Kept): ScheduleSubject => ({
  kind: "schedule",
  schedule,
  report: report.synthesis === null ? null : (report as Report),
});

/** Returns the format in which a schedule is written: JSON, unless that is too long. */
function formatFor({ schedule }: Kept): "json" | "bys" {
  if (isTreeFlow(schedule) || isPhaseSchedule(schedule)) return "json";
  const tooLong = jsonBytesOf(schedule) > MOST_JSON || ("slotPs" in schedule && transfersOf(schedule) > MOST_EXPANDED);
  return tooLong ? "bys" : "json";
}

/** Returns the name of the file of a schedule that was made. */
export const fileNameFor = (kept: Kept): string => fileNameOf(exporterNamed(formatFor(kept)), subjectOf(kept));

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
