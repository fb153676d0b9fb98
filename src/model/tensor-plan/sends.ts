import { type Mesh, type MeshAxis, placeOn } from "./mesh.ts";
import { type Pattern, shardCount, shardedAt, stateOn } from "./patterns.ts";

/** Who sends which part of a tensor to whom so that it lies on another mesh of the same shape; all parts are of one size. */
export interface MeshSend {
  /** [pairs x 2] an NPU of the one mesh, then one of the other, by their numbers there. Receivers ascend. */
  readonly members: Int32Array;
  /** A part is the tensor's bytes over this. */
  readonly parts: number;
}

/**
 * Returns what takes a tensor from one pattern, which no sum is left of, to another on a mesh of the same shape. The index along a
 * dimension has a digit for each axis (patterns.ts), so on axes where both patterns deal alike, or the first does not deal, NPUs get
 * from the NPU at their own place; on axes where the first deals otherwise, a part from every place. So each NPU gets its own part
 * once, and sends as many bytes as each gets. O(NPUs x parts of one).
 */
export function sendBetween(mesh: Mesh, from: Pattern, to: Pattern): MeshSend {
  const { axes, npuCount } = mesh;
  const isElsewhere = axes.map((_, j) => shardedAt(stateOn(from, j)) >= 0 && stateOn(from, j) !== stateOn(to, j));
  let offsets = [0];
  axes.forEach(({ size, stride }, j) => {
    if (isElsewhere[j]) offsets = offsets.flatMap((at) => Array.from({ length: size }, (_, i) => at + i * stride));
  });
  const members = new Int32Array(2 * npuCount * offsets.length);
  let filled = 0;
  for (let npu = 0; npu < npuCount; npu++) {
    const first = axes.reduce(
      (at, axis, j) => at - (isElsewhere[j] ? placeOn(axis, npu) * (axis as MeshAxis).stride : 0),
      npu,
    );
    for (const offset of offsets) {
      members[filled++] = first + offset;
      members[filled++] = npu;
    }
  }
  return { members, parts: shardCount(mesh, to) * offsets.length };
}
