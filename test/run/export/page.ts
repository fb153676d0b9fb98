import type { Engine } from "../../../src/engine/types.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { readProgram } from "../../../src/import/programs/program.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import { callOptionsByFlags } from "../../../src/request/option-table.ts";
import { EXPORTERS } from "../../../src/run/export/exporters.ts";
import { exportInMemory } from "../../../src/run/export/in-memory.ts";
import type { Subject } from "../../../src/run/export/subject.ts";

callOptionsByFlags();

/** Formats in a page and here: each file's length and hash, or the sentence of a refusal. */

/** A file's text, and what it is. */
export interface SubjectText {
  readonly kind: Exclude<Subject["kind"], "joint">;
  readonly text: string;
}

const subjectOf = ({ kind, text }: SubjectText): Subject => {
  if (kind === "network") return { kind, topology: readTopology(text, "file") };
  if (kind === "program") return { kind, name: "file", program: readProgram(text, "file") };
  return { kind, schedule: readAnySchedule(text, "file") as AnySchedule, report: null };
};

async function hashOf(parts: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", await new Blob([...parts]).arrayBuffer());
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns what every format makes of a subject; none of them needs an engine for that. */
export async function exportedHere(given: SubjectText): Promise<Readonly<Record<string, unknown>>> {
  const subject = subjectOf(given);
  const lent = {
    engine: null as unknown as Engine,
    signal: new AbortController().signal,
    version: "1",
    page: async () => '<!doctype html><script type="application/json" id="banyan-inside">null</script>',
  };
  const all: Record<string, unknown> = {};
  for (const { name } of EXPORTERS) {
    all[name] = await exportInMemory(name, subject, {}, lent).then(
      ({ files, what, bytes, notes }) =>
        Promise.all(files.map(async ({ path, parts }) => [path, await hashOf(parts)])).then((hashes) => ({
          what,
          bytes,
          notes,
          hashes,
        })),
      (error: Error) => error.message,
    );
  }
  return all;
}

Object.assign(globalThis, { exportedHere });
