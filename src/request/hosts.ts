import { InputError, inWords } from "../base/errors.ts";
import { expandHostlist } from "../import/networks/cluster-network.ts";
import type { HostOfRank } from "../model/program/mpi-plan.ts";
import { type Options, placeOf, textOf } from "./option-table.ts";

/** Processes of a job that plans are for at most. */
const MOST_PROCESSES = 1e6;

/**
 * Returns the host of each process of a job, NPU by NPU, from a list such as `node[0-3]:8,big:16` (without a number one process
 * each; a host that comes again has more of them), and which of the host's processes it is; null where options say nothing of it.
 * Throws InputError.
 */
export function hostsOf(options: Options): HostOfRank[] | null {
  const text = textOf(options, "hosts");
  if (text === undefined) return null;
  const place = placeOf("hosts");
  const found: HostOfRank[] = [];
  const used = new Map<string, number>();
  for (const one of expandHostlist(text, `${place}`)) {
    const [, name = "", written = "1"] = /^([!-~]+?)(?::(\d{1,7}))?$/.exec(one) ?? [];
    const processes = Number(written);
    if (name === "" || name.endsWith(":") || processes < 1)
      throw new InputError(place, "hosts with their numbers of processes, such as node[0-3]:8,", one);
    if (found.length + processes > MOST_PROCESSES)
      throw new InputError(place, `at most ${MOST_PROCESSES} processes`, inWords("more")).as("out-of-range");
    const first = used.get(name) ?? 0;
    for (let index = first; index < first + processes; index++) found.push({ name, index });
    used.set(name, first + processes);
  }
  return found;
}
