import type { LibraryName } from "../../model/collective/library-names.ts";
import type { PredictedRow } from "./nccl-tests.ts";
import { ncclxCsv, ncclxJson, tunerCsv } from "./tuner.ts";
import { mpichJson } from "./tuner-mpich.ts";
import { openMpiJson, openMpiRules } from "./tuner-openmpi.ts";
import type { TunerFile, TunerOptions } from "./tuner-ranges.ts";
import { uccConfig } from "./tuner-ucc.ts";

/** A format that tells a library which of its own algorithms to use. */
export interface Tuner {
  /** Who reads it, and of which versions. */
  readonly reader: string;
  /** Whose algorithms they are: those that stand behind targets. */
  readonly libraries: readonly LibraryName[];
  /** Returns the file. Throws InputError for collectives and rows of which the library has nothing. */
  write(rows: readonly PredictedRow[], options: TunerOptions): TunerFile;
}

/** Names of formats for libraries, in the order in which they are listed. */
export const TUNER_FORMATS = [
  "tuner",
  "tuner-ncclx",
  "tuner-ncclx-json",
  "tuner-openmpi",
  "tuner-openmpi-json",
  "tuner-mpich",
  "tuner-ucc",
] as const;
export type TunerFormat = (typeof TUNER_FORMATS)[number];

export const TUNERS: Readonly<Record<TunerFormat, Tuner>> = {
  tuner: { reader: "NCCL", libraries: ["NCCL", "RCCL"], write: tunerCsv },
  "tuner-ncclx": { reader: "NCCLX", libraries: ["NCCL"], write: ncclxCsv },
  "tuner-ncclx-json": { reader: "NCCLX", libraries: ["NCCL"], write: ncclxJson },
  "tuner-openmpi": { reader: "Open MPI 4 or 5", libraries: ["MPI"], write: openMpiRules },
  "tuner-openmpi-json": { reader: "Open MPI 6", libraries: ["MPI"], write: openMpiJson },
  "tuner-mpich": { reader: "MPICH 4 or 5", libraries: ["MPI"], write: mpichJson },
  "tuner-ucc": { reader: "UCC 1.8", libraries: ["MPI"], write: uccConfig },
};
