import type { Exporter } from "../../run/export/exporter.ts";
import { EXPORTERS } from "../../run/export/exporters.ts";

/** Whether the app was opened as one file, from which nothing more can be had. */
export const isOneFile = (): boolean => globalThis.location?.protocol === "blob:";

/** Formats that a page can write: C programs have a text in them that comes with the command line only. */
export const pageExporters = (): readonly Exporter[] =>
  EXPORTERS.filter(({ name }) => name !== "mpi-c" && (name !== "html" || !isOneFile()));
