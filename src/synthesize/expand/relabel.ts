import { InternalError } from "../../base/errors.ts";
import { unfolded } from "../../model/comm/builder.ts";
import type { CommSchedule } from "../../model/comm/schedule.ts";
import { arcSources, type Digraph } from "../../model/direct/digraph.ts";
import type { IndexColumn } from "../../model/steps/step-schedule.ts";
import { addRow, orderedSchedule, ROW_KEY, roomFor } from "./rows.ts";

/**
 * Returns the same schedule on an isomorphic graph (Zhao 2026, definition 7): node v becomes nodeOf[v] (null: stays v), the k-th
 * of the arcs from u to w the k-th of those between their images. Throws InternalError where an arc has no image.
 * O(rows log of those of an arc in a step + arcs (steps + log degree)).
 */
export function relabelled(symmetric: CommSchedule, graph: Digraph, nodeOf: Int32Array | null): CommSchedule {
  const schedule = unfolded(symmetric);
  const { step, source, arc, from, to } = schedule;
  const imageOf = imagesOfArcs(schedule.graph, graph, nodeOf);
  const preimage = new Int32Array(imageOf.length);
  for (let a = 0; a < imageOf.length; a++) preimage[imageOf[a]] = a;
  const rows = roomFor(arc.length);
  /** Rows of each arc in the step. */
  const begins = new Int32Array(imageOf.length);
  const ends = new Int32Array(imageOf.length);
  for (let i = 0; i < arc.length; ) {
    const inStep = step[i];
    begins.fill(0);
    ends.fill(0);
    while (i < arc.length && step[i] === inStep) {
      const a = arc[i];
      begins[a] = i;
      while (i < arc.length && arc[i] === a && step[i] === inStep) i++;
      ends[a] = i;
    }
    for (let image = 0; image < preimage.length; image++) {
      const first = begins[preimage[image]];
      const order = orderOf(source, first, ends[preimage[image]], nodeOf);
      for (let k = 0; k < order.length; k++) {
        const row = first + (order[k] % ROW_KEY);
        addRow(rows, inStep, Math.floor(order[k] / ROW_KEY), image, from[row], to[row]);
      }
    }
  }
  return orderedSchedule(graph, schedule.parts, rows);
}

/** Returns the rows first .. end - 1 in order of their owners' images: image * ROW_KEY + (row - first), ascending. */
function orderOf(source: IndexColumn, first: number, end: number, nodeOf: Int32Array | null): Float64Array {
  const keys = new Float64Array(end - first);
  for (let i = first; i < end; i++)
    keys[i - first] = (nodeOf === null ? source[i] : nodeOf[source[i]]) * ROW_KEY + i - first;
  return nodeOf === null ? keys : keys.sort();
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
