import { InputError } from "../../base/errors.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import { nodeCount } from "../../model/topology/topology.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Verification } from "../steps/schedule.ts";
import { recorder } from "../violation.ts";
import { checkParts } from "../well-formed.ts";
import { checkForests, treeDemand } from "./tree-flow-demand.ts";
import { treeFaults } from "./tree-flow-form.ts";
import { checkCopies, checkLoads } from "./tree-flow-loads.ts";
import { checkSymmetry } from "./tree-flow-symmetry.ts";
import { checkTrees } from "./tree-flow-walk.ts";
import { treeWords } from "./tree-flow-words.ts";

/**
 * Returns everything that is wrong with a tree flow, by exact arithmetic and nothing that its maker says:
 *
 * 0. it is well-formed; where it is not, nothing further is judged;
 * 1. its forests are those of its collective, which the placements of the chunks tell;
 * 2. its symmetry, if any, is an abelian group of maps of the network onto itself; where it is not, no more is judged;
 * 3. every tree spans the members, over paths through nodes that only forward;
 * 4. copies are rooted where the data is, in proportion (all-reduce: anywhere, as many in one forest as in the other);
 * 5. on no link do the copies of a forest, images included, hold more than the bandwidth; nor both where they run together;
 *    where the flow says that switches duplicate and sum, less is held of links to and from those that can (tree-flow-switches.ts).
 *
 * Only listed trees are walked: their images are as good as they are, and a link carries what its whole orbit is listed with,
 * spread evenly. Throws InputError for a limit that is no whole number; never for a flow, however wrong. O(edges + links of
 * edges + (nodes + links) * generators): 30 million edges a second.
 */
export function verifyTreeFlow(flow: TreeFlow, options: { readonly limit?: number } = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit);
  const found = recorder(limit);
  const { topology, collective, forests } = flow;
  if (checkParts({ topology, collective, routes: NO_ROUTES }, () => treeFaults(flow), found)) {
    const words = treeWords(flow);
    const demand = treeDemand(collective, nodeCount(topology));
    checkForests(flow, demand, found);
    const orbits = checkSymmetry(flow, found, words);
    if (orbits !== null) {
      for (let f = 0; f < forests.length; f++) checkTrees(flow, f, found, words);
      if (demand !== null) checkCopies(flow, demand, orbits, found, words);
      checkLoads(flow, orbits, found, words);
    }
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}
