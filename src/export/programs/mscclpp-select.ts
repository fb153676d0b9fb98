import { jsonText } from "../../base/visible.ts";

/** How the module begins, by which it is known. */
const BEGIN = '"""Plans of MSCCL++ by size.';

/** Returns whether a text is a module that `planSelectorText` made. */
export const isPlanSelectorText = (text: string): boolean => text.startsWith(BEGIN);

/** Plans of one folder, and the ranks that they are for. */
export interface PlanFolder {
  /** Names of the files. */
  readonly plans: readonly string[];
  readonly rankCount: number;
  /** Ranks of a box. */
  readonly ranksPerBox: number;
}

/**
 * Returns a Python module that makes a folder's plans known to MSCCL++ (microsoft/mscclpp, AlgorithmCollectionBuilder), whose NCCL
 * interface then takes, for each call, one with its ranks, placement and size (matchExecutionPlan): it loads no folder by itself.
 */
export const planSelectorText = ({ plans, rankCount, ranksPerBox }: PlanFolder): string => `${BEGIN}

Call register(rank) before the process group is made; calls through MSCCL++'s NCCL interface then run the plan for their size.
"""

from pathlib import Path

import mscclpp
import mscclpp.ext

RANKS = ${rankCount}
RANKS_PER_NODE = ${ranksPerBox}
PLANS = [
${plans.map((name) => `    ${jsonText(name)},\n`).join("")}]


def register(rank):
    builder = mscclpp.ext.AlgorithmCollectionBuilder()
    for name in PLANS:
        plan = mscclpp.ExecutionPlan(str(Path(__file__).parent / name), rank)
        constraint = mscclpp.Algorithm.Constraint(RANKS, RANKS_PER_NODE)
        builder.add_algorithm_builder(mscclpp.Algorithm(id=name, execution_plan=plan, constraint=constraint))
`;
