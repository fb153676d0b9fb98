import { InternalError } from "../../errors.ts";
import { unfolded } from "../../model/comm-builder.ts";
import type { CommSchedule } from "../../model/comm-schedule.ts";
import { arcSources, type Digraph } from "../../model/direct/digraph.ts";
import { addRow, roomFor, scheduleOf } from "./rows.ts";

/**
 * Returns the same schedule on an isomorphic graph (Zhao 2026, definition 7): node v becomes nodeOf[v] (null: stays v), the k-th
 * of the arcs from u to w the k-th of those between their images. Throws InternalError where an arc has no image. O(rows + arcs log degree).
 */
export function relabelled(symmetric: CommSchedule, graph: Digraph, nodeOf: Int32Array | null): CommSchedule {
  const schedule = unfolded(symmetric);
  const arcOf = imagesOfArcs(schedule.graph, graph, nodeOf);
  const rows = roomFor(schedule.arc.length);
  for (let i = 0; i < schedule.arc.length; i++) {
    const source = schedule.source[i];
    const owner = nodeOf === null ? source : nodeOf[source];
    addRow(rows, schedule.step[i], owner, arcOf[schedule.arc[i]], schedule.from[i], schedule.to[i]);
  }
  return scheduleOf(graph, schedule.parts, rows);
}

/** Returns the image of every arc, [arcs]: arcs of a node are matched in order of target, parallel ones in order of arc. */
function imagesOfArcs(from: Digraph, to: Digraph, nodeOf: Int32Array | null): Int32Array {
  const imageOf = (node: number): number => (nodeOf === null ? node : nodeOf[node]);
  const leaves = arcSources(from);
  const image = new Int32Array(from.target.length);
  for (let v = 0; v < from.nodes; v++) {
    const w = imageOf(v);
    const arcs = range(from.offset[v], from.offset[v + 1]);
    const images = range(to.offset[w], to.offset[w + 1]);
    arcs.sort((a, b) => imageOf(from.target[a]) - imageOf(from.target[b]) || a - b);
    images.sort((a, b) => to.target[a] - to.target[b] || a - b);
    for (let k = 0; k < arcs.length; k++) image[arcs[k]] = images[k] ?? -1;
  }
  for (let arc = 0; arc < image.length; arc++) {
    if (to.target[image[arc]] !== imageOf(from.target[arc])) {
      throw new InternalError(`arc ${arc} from node ${leaves[arc]} has no image`);
    }
  }
  return image;
}

const range = (from: number, to: number): Int32Array => Int32Array.from({ length: to - from }, (_, i) => from + i);
