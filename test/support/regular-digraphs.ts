import type { Random } from "../../src/base/random.ts";
import { type Digraph, digraph } from "../../src/model/direct/digraph.ts";
import { shuffle } from "./draws.ts";

/**
 * Returns a strongly connected graph with d arcs out of and into every node: a cycle through all nodes and d - 1 random
 * permutations, so with parallel arcs, and self-loops unless they are not wanted.
 */
export function regularDigraph(nodes: number, degree: number, draws: Random, loops = true): Digraph {
  const cycle = Array.from({ length: nodes }, (_, v) => v);
  shuffle(cycle, draws);
  const targets = Array.from({ length: nodes }, (): number[] => []);
  cycle.forEach((v, i) => {
    targets[v]?.push(cycle[(i + 1) % nodes] as number);
  });
  for (let k = 1; k < degree; k++) {
    const images = Array.from({ length: nodes }, (_, v) => v);
    do shuffle(images, draws);
    while (!loops && images.some((image, v) => image === v));
    images.forEach((image, v) => {
      targets[v]?.push(image);
    });
  }
  for (const list of targets) shuffle(list, draws);
  return digraph(nodes, (v) => targets[v] as number[]);
}
