import type { GraphNode, TensorGraph } from "./graph.ts";

/** Where forward nodes are among repeated parts, layers say. */
export interface ForwardParts {
  /** [nodes] the part of each forward node: 0 before all repeats, then 1 .. */
  readonly part: Int32Array;
  /** The node of the class that comes most often which stands last; -1 where none comes twice. */
  readonly lastRepeated: number;
}

/** Returns the repeated part in which each forward node is: from one node of the class that comes most often to the next. */
export function forwardParts({ nodes, classes }: Pick<TensorGraph, "nodes" | "classes">): ForwardParts {
  const counts = new Map<number, number>();
  const isWork = ({ kind, phase }: GraphNode): boolean => kind !== "placeholder" && phase === "forward";
  nodes.forEach((node, i) => {
    if (isWork(node)) counts.set(classes[i] as number, (counts.get(classes[i] as number) ?? 0) + 1);
  });
  const most = Math.max(1, ...counts.values());
  const first = most === 1 ? -1 : ([...counts].find(([, count]) => count === most)?.[0] ?? -1);
  let now = 0;
  const part = Int32Array.from(nodes, (node, i) => {
    if (isWork(node) && classes[i] === first) now++;
    return now;
  });
  const lastRepeated =
    most === 1 ? -1 : nodes.findLastIndex((node, i) => isWork(node) && counts.get(classes[i] as number) === most);
  return { part, lastRepeated };
}
