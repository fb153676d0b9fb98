import { zipSync } from "fflate";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Options } from "../../request/option-table.ts";
import { exportInMemory, type MadeFile } from "../../run/export/in-memory.ts";
import type { Subject as Exported } from "../../run/export/subject.ts";
import type { Exported as Answer, GivenFile, Subject, Welcome } from "../protocol.ts";
import { subjectOf } from "./file-format.ts";
import { programIn } from "./given-subject.ts";
import { networkOf } from "./networks.ts";
import { isOneFile, pageExporters } from "./page-exporters.ts";
import type { Tools } from "./request-context.ts";
import { scheduleOfReference } from "./schedule-of-reference.ts";

/** Returns what can be written, and of what. */
export const exportsOf = (): Welcome["exports"] =>
  pageExporters().map((exporter) => ({
    name: exporter.name,
    description: exporter.description,
    of: [
      ...(exporter.fromNetwork === undefined ? [] : (["network"] as const)),
      ...(exporter.fromSchedule === undefined ? [] : (["schedule"] as const)),
      ...(exporter.fromProgram === undefined ? [] : (["program"] as const)),
    ],
    folder: exporter.folder === true,
  }));

/** Returns the app as one page, which stands beside the site. Throws InputError where it does not. */
async function page(): Promise<string> {
  const missing = new InputError(optionName("to", " html"), "a site with the app as one page beside it (banyan.html),");
  if (globalThis.location === undefined || isOneFile()) throw missing;
  const answer = await fetch(new URL("../banyan.html", globalThis.location.href)).catch(() => null);
  if (answer?.ok !== true) throw missing;
  return answer.text();
}

/** Returns what the exporters are handed. */
async function exported(subject: Subject, tools: Tools): Promise<Exported> {
  if (subject.kind === "network") return { kind: "network", topology: await networkOf(subject.wish) };
  if (subject.kind === "schedule") return subjectOf(await scheduleOfReference(subject.schedule, tools));
  return { kind: "program", name: subject.file.name, program: await programIn(subject.file) };
}

/** Returns the bytes of a file in one piece. */
async function joined({ parts }: MadeFile): Promise<Uint8Array> {
  return new Uint8Array(await new Blob([...parts]).arrayBuffer());
}

/** Archives say nothing of when they were made, so that equal files make equal archives. */
const NO_DATE = new Date(1980, 0, 1);

/** Returns files as one: a single one as it is, several below a common folder as an archive. */
export async function asOne(files: readonly MadeFile[]): Promise<GivenFile> {
  const [first, ...more] = files;
  if (first === undefined) throw new InputError("the export", "at least one file");
  if (more.length === 0 && !first.path.includes("/")) return { name: first.path, content: new Blob([...first.parts]) };
  const folder = first.path.slice(0, first.path.indexOf("/"));
  const entries = await Promise.all(files.map(async (file) => [file.path, await joined(file)] as const));
  const archive = zipSync(Object.fromEntries(entries), { mtime: NO_DATE });
  return { name: `${folder}.zip`, content: new Blob([archive as Uint8Array<ArrayBuffer>]) };
}

/** Returns a file's name with the view that a picture is of, so that no two pictures of a subject are called alike. */
const nameWith = (name: string, view: unknown): string =>
  typeof view === "string" ? name.replace(/(?=\.[^.]+$)/, `-${view}`) : name;

/** Answers "export": what `banyan export` writes; several files as a zip archive. */
export async function exportSubject(
  { subject, to, options }: { readonly subject: Subject; readonly to: string; readonly options: Options },
  tools: Tools,
): Promise<Answer> {
  const { engine, signal, progress } = tools;
  const lent = { engine, signal, progress, page, version: BANYAN_VERSION };
  const { files, what, notes } = await exportInMemory(to, await exported(subject, tools), options, lent);
  const file = await asOne(files);
  return { file: { ...file, name: nameWith(file.name, options["view"]) }, what, notes };
}
