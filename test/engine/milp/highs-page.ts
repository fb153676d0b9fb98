import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { allReduceRates } from "../../../src/synthesize/forestcoll/allreduce-rates.ts";

/** Returns an all-reduce solved with HiGHS, as plain data: on a page as in Node. */
export async function solveHere(name: string): Promise<unknown> {
  const topology = presetTopology(name);
  const members = Int32Array.from({ length: topology.npuCount }, (_, v) => v);
  const lp = await openHighs();
  const rates = await allReduceRates(topology, members, { rate: async (p) => jsKernels.rate(p), lp });
  const columns = [rates.copies, rates.outCapacity, rates.inCapacity].map((column) => Array.from(column));
  const weights = rates.certificate?.cuts.map(({ weight }) => format(weight));
  return { rate: format(rates.rate), optimal: rates.optimal, rounds: rates.rounds, columns, weights };
}

Object.assign(globalThis, { solveHere });
