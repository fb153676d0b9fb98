import type { Place } from "../../base/option-names.ts";
import { parseSize } from "../../model/numbers/units.ts";
import type { OptionRow } from "../option-row.ts";
import { wholeNumber } from "../values.ts";

const whole = (text: string, place: Place): number => wholeNumber(text, place, 1);

/** Options of sweeps, of their workers, and of what comes of them. */
export const SWEEP_ROWS = {
  engine: {
    part: "sweep",
    value: "<engine>",
    help: "who does the tasks: local (processes of this machine, the default), redis://HOST (workers of a queue), slurm",
  },
  jobs: {
    part: "sweep",
    value: "<n>",
    help: "tasks at the same time on this machine; default: every core",
    parse: whole,
  },
  dryRun: { part: "sweep", help: "say what would be done, how often, and about how long it takes; do nothing" },
  retry: { part: "sweep", help: "do again what crashed, or ran out of time or memory" },
  store: {
    part: "sweep",
    value: "<place>",
    help: "where schedules go: a folder, or s3://BUCKET/PREFIX?endpoint=URL; default: in the sweep's folder",
  },
  db: { part: "sweep", value: "<file>", help: "write the results as a DuckDB database too" },
  memory: {
    part: "sweep",
    value: "<size>",
    help: "most memory of one task's process: 4GiB",
    parse: (text: string, place: Place): number => parseSize(text, place),
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
