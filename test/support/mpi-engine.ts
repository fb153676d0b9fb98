import { readFileSync } from "node:fs";
import { ENGINE_FILES } from "../../src/export/programs/mpi-c.ts";

/** Returns the texts that a C program of a plan has in it, as the command line reads them. */
export const mpiEngine = (): string[] =>
  ENGINE_FILES.map((name) => readFileSync(new URL(`../../native/mpi/${name}`, import.meta.url), "utf8"));
