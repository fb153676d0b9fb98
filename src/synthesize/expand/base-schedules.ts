import type { CommSchedule } from "../../model/comm/schedule.ts";
import { diamond, modifiedDeBruijn } from "../../model/direct/base-graphs.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { transpose } from "../../model/direct/expansions.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { BASE_TREES } from "./base-trees.ts";
import { addRow, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns a bandwidth-optimal all-gather in the steps of table A.3 (Zhao 2026) on Diamond or DBJMod(d, n), or on the transpose
 * as `transpose` numbers it; null for other families. T_B = (N - 1) / N. O(N^2 parts).
 */
export function baseSchedule(family: string, parameters: readonly number[], transposed: boolean): CommSchedule | null {
  const base = BASE_TREES.find((trees) => trees.family === family && trees.parameters.join() === parameters.join());
  if (base === undefined) return null;
  const drawn = family === "Diamond" ? diamond() : modifiedDeBruijn(parameters[0], parameters[1]);
  if (drawn === null) return null;
  const graph = transposed ? transpose(drawn) : drawn;
  const { nodes } = graph;
  const { parts } = base;
  const { step, arc } = arrivals(graph, parts, base.turn, transposed ? base.transposed : base.trees);
  const rows = roomFor(nodes * nodes * parts);
  for (let source = 0; source < nodes; source++) {
    for (let node = 0; node < nodes; node++) {
      const first = (source * nodes + node) * parts;
      for (let part = 0; part < parts && source !== node; ) {
        const at = first + part;
        const from = part;
        while (part < parts && step[first + part] === step[at] && arc[first + part] === arc[at]) part++;
        addRow(rows, step[at], source, arc[at], from, part);
      }
    }
  }
  return scheduleOf(graph, parts, rows);
}

/** Returns when and over which arc each part of each shard reaches each node, both [source * N + node][part]. */
function arrivals(
  graph: Digraph,
  parts: number,
  turn: string | null,
  trees: readonly string[],
): { readonly step: Int8Array; readonly arc: Int16Array } {
  const { nodes } = graph;
  const step = new Int8Array(nodes * nodes * parts);
  const arc = new Int16Array(nodes * nodes * parts);
  const image = indicesBelow(nodes);
  for (let part = 0; part < parts; part++) {
    for (let root = 0; root < nodes; root++) {
      const [senders, steps] = trees[turn === null ? part * nodes + root : root].split(" ");
      for (let v = 0; v < nodes; v++) {
        if (v === root) continue;
        const at = (image[root] * nodes + image[v]) * parts + part;
        step[at] = Number(steps[v]) - 1;
        arc[at] = arcBetween(graph, image[nodeAt(senders, v)], image[v]);
      }
    }
    if (turn !== null) for (let v = 0; v < nodes; v++) image[v] = nodeAt(turn, image[v]);
  }
  return { step, arc };
}

const nodeAt = (word: string, i: number): number => Number.parseInt(word[i], 16);

const arcBetween = ({ offset, target }: Digraph, from: number, to: number): number =>
  target.subarray(0, offset[from + 1]).indexOf(to, offset[from]);
