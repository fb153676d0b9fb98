import { InputError } from "../../base/errors.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { APP_EXPORTER } from "./app-page.ts";
import type { Exporter } from "./exporter.ts";
import { NCCL_GRAPH_EXPORTER } from "./nccl-graph.ts";
import { PICTURE_EXPORTERS } from "./pictures.ts";
import { PROGRAM_EXPORTERS } from "./programs.ts";
import { PYTHON_EXPORTERS } from "./python.ts";
import { SCHEDULE_EXPORTERS } from "./schedules.ts";
import { SIMULATOR_EXPORTERS } from "./simulators.ts";
import { SKETCH_EXPORTER } from "./sketches.ts";

/** The formats of `banyan export`. */
export const EXPORTERS: readonly Exporter[] = [
  ...SCHEDULE_EXPORTERS,
  ...PROGRAM_EXPORTERS,
  ...PICTURE_EXPORTERS,
  APP_EXPORTER,
  ...SIMULATOR_EXPORTERS,
  ...PYTHON_EXPORTERS,
  NCCL_GRAPH_EXPORTER,
  SKETCH_EXPORTER,
];

/** Returns the format of a name. Throws InputError. */
export function exporterNamed(name: string): Exporter {
  const found = EXPORTERS.find((exporter) => exporter.name === name);
  if (found !== undefined) return found;
  const names = EXPORTERS.map((exporter) => exporter.name);
  throw new InputError("--to", `one of ${names.join(", ")}${didYouMean(name, names)}`, name);
}
