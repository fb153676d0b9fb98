import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { PS_PER_US, parseSize, parseTime } from "../../model/numbers/units.ts";
import type { OptionRow } from "../option-row.ts";
import { wholeNumber } from "../values.ts";

const whole = (text: string, place: Place): number => wholeNumber(text, place, 1);

/** One of the shares of a sweep's tasks, from 1 on. */
export interface Share {
  readonly share: number;
  readonly of: number;
}

/** Most shares of one sweep: more than the elements that an array of Slurm may have, unless its configuration says so. */
const MOST_SHARES = 100_000;

function shareIn(text: string, place: Place): Share {
  const [, share, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const parts = { share: Number(share), of: Number(of) };
  if (share === undefined || parts.share < 1 || parts.share > parts.of || parts.of > MOST_SHARES)
    throw new InputError(place, `K/N, the share and how many there are: 3/100 (at most ${MOST_SHARES})`, text);
  return parts;
}

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
  status: { part: "sweep", help: "with --engine redis://: what the server has of sweeps and workers; do nothing else" },
  cancel: { part: "sweep", help: "with --engine redis://: end this sweep there; what is done stays" },
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
  concurrency: {
    part: "sweep",
    value: "<n>",
    help: "tasks at the same time, a process each; default: every core",
    parse: whole,
  },
  grace: {
    part: "sweep",
    value: "<time>",
    help: "how long what runs may go on after Ctrl-C or SIGTERM before it is handed back, default 20s",
    parse: (text: string, place: Place): number => parseTime(text, place, "s") / PS_PER_US / 1000,
  },
  share: {
    part: "sweep",
    value: "<k/n>",
    help: "the share of a sweep's folder that is to be done: 3/100",
    parse: shareIn,
  },
  script: {
    part: "sweep",
    value: "<file>",
    help: "write a script for sbatch that starts such workers; do nothing else",
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
