import { InternalError } from "../../../base/errors.ts";
import { type Fold, type FoldProblem, foldOf } from "../../../model/symmetry/fold.ts";
import { STATUS, throwForStatus } from "../status.ts";
import type { Lists } from "./lists.ts";

/** Returns the fold; `into`: the routes into every NPU. Throws, as kernels do, when the maps do not keep holdings or routes. */
export function buildFold(problem: FoldProblem, into: Lists): Fold {
  const fold = foldOf(problem, into);
  if (fold !== null) return fold;
  throwForStatus(STATUS.badArgument, 0, 0);
  throw new InternalError("a bad argument throws");
}
