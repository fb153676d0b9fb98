import type { GraphNode, TensorGraph } from "../../model/tensor-graph/graph.ts";
import type { Mesh } from "../../model/tensor-plan/mesh.ts";
import { type Pattern, shardCount } from "../../model/tensor-plan/patterns.ts";
import type { Retention } from "../../model/tensor-plan/plan.ts";
import { type Choice, type Chooser, type PlanChoice, planTotals } from "../../model/tensor-plan/problem.ts";
import { type ChoiceMeaning, memoryOf } from "../../model/tensor-plan/problem-of.ts";
import { tensorBytes } from "../../model/tensor-plan/work.ts";
import { type Neighbour, neighboursOf } from "../../synthesize/plan/neighbours.ts";
import type { StatedWay } from "./ways.ts";

/** How a tensor lies, and what becomes of it. */
export interface TensorState {
  readonly pattern: Pattern;
  readonly retention: Retention;
}

/** What it would cost, by the search's count, if tensors that are alike were in another state and all others as they are. */
export interface NextState {
  readonly graph: TensorGraph;
  readonly mesh: Mesh;
  readonly node: GraphNode;
  /** Tensors that are alike. */
  readonly count: number;
  /** The tensors themselves, or what the optimiser keeps of them. */
  readonly of: "parameter" | "optimizer" | "activation";
  readonly now: TensorState;
  readonly instead: TensorState;
  /** More than the plan takes, picoseconds and bytes of an NPU that last; less where they are negative. */
  readonly ps: number;
  readonly bytes: number;
  readonly fits: boolean;
}

/** So many kinds of parameters, of states of their optimiser, and of activations are told, the greatest first. */
const MOST_TOLD = { parameter: 4, optimizer: 2, activation: 4 } as const;

/**
 * Returns the next best states of the tensors that take most: of parameters and what the optimiser keeps, dealt into fewer parts, of
 * whole ones into more; of activations, made again instead of kept or the other way round. O(choices x problem).
 */
export function nextStates(
  { way: { graph, mesh }, stated: { problem, index } }: StatedWay,
  plan: PlanChoice,
): NextState[] {
  const own = planTotals(problem, plan);
  if (own === null) return [];
  const neighbourOf = neighboursOf(problem, plan);
  const memory = memoryOf(mesh);
  const counts = new Map<number, number>();
  const firsts = new Map<number, GraphNode>();
  graph.nodes.forEach((node, i) => {
    const c = graph.classes[i] as number;
    counts.set(c, (counts.get(c) ?? 0) + 1);
    if (!firsts.has(c)) firsts.set(c, node);
  });
  const bytesOf = (c: number): number => tensorBytes(graph, firsts.get(c) as GraphNode) * (counts.get(c) as number);
  const stateAt = (v: number, choice: number): TensorState => ({
    pattern: ((problem.choosers[v] as Chooser).choices[choice] as Choice).pattern,
    retention: ((index.meanings[v] as readonly ChoiceMeaning[])[choice] as ChoiceMeaning).retention,
  });
  const parts = ({ pattern }: TensorState): number => shardCount(mesh, pattern);
  const isNext = (of: NextState["of"], now: TensorState, other: TensorState): boolean => {
    if (of === "activation") return now.retention !== other.retention && now.pattern === other.pattern;
    return parts(now) === 1 ? parts(other) > 1 : parts(other) < parts(now);
  };
  const told = (of: NextState["of"], c: number): NextState[] => {
    const v = (of === "optimizer" ? index.updateOf[c] : index.chooserOf[c]) as number;
    if (v < 0) return [];
    const now = stateAt(v, plan.choices[v] as number);
    let best: Neighbour | null = null;
    for (const choice of (problem.choosers[v] as Chooser).choices.keys()) {
      if (!isNext(of, now, stateAt(v, choice))) continue;
      const one = neighbourOf(v, choice);
      if (one !== null && (best === null || isLess(one, best, memory))) best = one;
    }
    if (best === null) return [];
    return [
      {
        graph,
        mesh,
        node: firsts.get(c) as GraphNode,
        count: counts.get(c) as number,
        of,
        now,
        instead: stateAt(v, best.choice),
        ps: best.ps - own.ps,
        bytes: (best.totals[memory] as number) - (own.totals[memory] as number),
        fits: best.fits,
      },
    ];
  };
  const most = (of: NextState["of"], is: (node: GraphNode) => boolean): NextState[] =>
    [...firsts]
      .filter(([, node]) => is(node))
      .sort(([a], [b]) => bytesOf(b) - bytesOf(a) || a - b)
      .flatMap(([c]) => told(of, c))
      .slice(0, MOST_TOLD[of]);
  const isParameter = (node: GraphNode): boolean => node.kind === "placeholder" && node.role === "parameter";
  const isActivation = (node: GraphNode): boolean =>
    node.kind !== "placeholder" && node.kind !== "output" && node.phase === "forward" && !node.isFused;
  return [...most("parameter", isParameter), ...most("optimizer", isParameter), ...most("activation", isActivation)];
}

/** Whether a neighbour takes less time than another, or as much and less memory. */
const isLess = (one: Neighbour, other: Neighbour, memory: number): boolean =>
  one.ps < other.ps || (one.ps === other.ps && (one.totals[memory] as number) < (other.totals[memory] as number));
