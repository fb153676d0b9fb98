import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import { parseBandwidth } from "../model/numbers/units.ts";
import type { OptionRow } from "./option-row.ts";
import { wholeNumber } from "./values.ts";

/** Most calls of one collective that are timed. */
const MOST_REPEATS = 1000;

const repeats = (text: string, place: Place): number => {
  const count = wholeNumber(text, place, 1);
  if (count > MOST_REPEATS) throw new InputError(place, `at most ${MOST_REPEATS}`, text).as("out-of-range");
  return count;
};

/** Options of laboratories, and of what is measured in them. */
export const LAB_ROWS = {
  mpi: { part: "command", value: "<name>", help: "openmpi or mpich; default: whose mpirun comes first" },
  library: {
    part: "command",
    value: "<what>",
    help: "the MPI library's own algorithms beside: all that it can be forced to, own (what it chooses, the default), none",
  },
  repeats: { part: "command", value: "<n>", help: "timed calls of each, default 5", parse: repeats },
  rate: {
    part: "command",
    value: "<rate>",
    help: "of the fastest link: 50Mbps; default: what two cores carry of all links, at most 200Mbps",
    parse: parseBandwidth,
  },
  clean: { part: "command", help: "end laboratories that were left behind, and say which; do nothing else" },
} as const satisfies Readonly<Record<string, OptionRow>>;
