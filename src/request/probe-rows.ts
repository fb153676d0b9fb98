import { InputError } from "../base/errors.ts";
import type { Place } from "../base/option-names.ts";
import type { OptionRow } from "./option-row.ts";
import { wholeNumber } from "./values.ts";

const MOST_PROCESSES = 4096;

const processes = (text: string, place: Place): number => {
  const count = wholeNumber(text, place, 2);
  if (count > MOST_PROCESSES) throw new InputError(place, `at most ${MOST_PROCESSES}`, text).as("out-of-range");
  return count;
};

/** Options of probes. */
export const PROBE_ROWS = {
  np: { part: "command", value: "<n>", help: "processes on this machine, 2 or more", parse: processes },
  launch: {
    part: "command",
    value: "<command>",
    help: "what starts all processes, in words of a shell: 'mpirun -np 8 --hostfile hosts', 'srun -N 4', 'torchrun --nproc-per-node 8'",
  },
  over: {
    part: "command",
    value: "<what>",
    help: "what messages go over: mpi (the default), or torch.distributed with gloo or nccl",
  },
  lab: {
    part: "command",
    value: "<topo>",
    help: "probe a laboratory of this network, one process per NPU (`banyan lab`)",
  },
  quick: { part: "command", help: "fewer repeats: less time, and greater errors" },
  raw: { part: "command", value: "<file>", help: "also write all measurements, from which can be inferred again" },
  from: { part: "command", value: "<file>", help: "measure nothing: infer from the measurements of this file" },
} as const satisfies Readonly<Record<string, OptionRow>>;
