import { plainName } from "../../report/file-name.ts";
import type { Exporter } from "./exporter.ts";
import type { Subject } from "./subject.ts";

function titleOf(subject: Subject): string {
  if (subject.kind === "program") return subject.program.name;
  if (subject.kind === "network") return subject.topology.name;
  if (subject.kind === "joint") return `collectives ${subject.schedule.topology.name}`;
  return `${subject.schedule.collective.kind} ${subject.schedule.topology.name}`;
}

/**
 * Returns a name for the file, or for the folder, that a format makes of a subject, another for each format:
 * "allgather-mesh-3x3.json", "allgather-mesh-3x3-msccl.xml", "allgather-mesh-3x3-report.html".
 */
export function fileNameOf({ name, extension }: Exporter, subject: Subject): string {
  const kind = name === extension.slice(1) ? "" : `-${name.replace(new RegExp(`-${extension.slice(1)}$`), "")}`;
  return `${plainName(titleOf(subject)) || "banyan"}${kind}${extension}`;
}
