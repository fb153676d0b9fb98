import type { CancelFlag, PackProblem } from "../../contract/kernels.ts";
import { PACK_OUTCOME, type TreeColumns } from "../outputs.ts";
import { STATUS } from "../status.ts";
import { PackRepair } from "./pack-repair.ts";
import { PackSearch } from "./pack-search.ts";
import { PackState } from "./pack-state.ts";

/**
 * The JavaScript twin of native/kernels/pack.h, where the problem and the algorithm are explained. Writes the same trees to
 * `out`, or a cut that forbids them; returns the status.
 */
export function packJs(problem: PackProblem, out: TreeColumns, cancel?: CancelFlag): number {
  const state = new PackState(problem, out);
  const search = new PackSearch(state, problem, cancel);
  const violated = search.begin(out.cut);
  const end = violated ? "stuck" : search.run();
  if (end === "tooSmall") return STATUS.outputTooSmall;
  if (end === "packed" && state.treeCount > 0 && problem.repairs > 0) {
    new PackRepair(state, search, problem.seed).run(problem.repairs, problem.enoughHeight);
  }
  out.summary[0] = end === "packed" ? state.treeCount : 0;
  out.summary[1] = violated ? PACK_OUTCOME.violated : end === "packed" ? PACK_OUTCOME.packed : PACK_OUTCOME.stuck;
  out.summary[2] = search.sweeps;
  out.summary[3] = search.rollbacks;
  return STATUS.ok;
}
