import type { Exporter } from "./exporter.ts";
import type { Subject } from "./subject.ts";

/** Characters of a name before its extension: the names of networks may be long. */
const MOST_LENGTH = 80;

/** Returns a text with nothing but letters, digits, dots and single dashes, which every file system takes. */
const plain = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9.]+/g, "-")
    .slice(0, MOST_LENGTH)
    .replace(/^[-.]+|[-.]+$/g, "");

function titleOf(subject: Subject): string {
  if (subject.kind === "program") return subject.program.name;
  if (subject.kind === "network") return subject.topology.name;
  return `${subject.schedule.collective.kind} ${subject.schedule.topology.name}`;
}

/** Returns a name for the file, or for the folder, that a format makes of a subject: "allgather-mesh-3x3.json". */
export const fileNameOf = ({ extension }: Exporter, subject: Subject): string =>
  `${plain(titleOf(subject)) || "banyan"}${extension}`;
