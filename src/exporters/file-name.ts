import { plainName } from "../words/file-name.ts";
import type { Exporter } from "./exporter.ts";
import type { Subject } from "./subject.ts";

function titleOf(subject: Subject): string {
  if (subject.kind === "program") return subject.program.name;
  if (subject.kind === "network") return subject.topology.name;
  return `${subject.schedule.collective.kind} ${subject.schedule.topology.name}`;
}

/** Returns a name for the file, or for the folder, that a format makes of a subject: "allgather-mesh-3x3.json". */
export const fileNameOf = ({ extension }: Exporter, subject: Subject): string =>
  `${plainName(titleOf(subject)) || "banyan"}${extension}`;
