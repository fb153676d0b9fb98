import { InputError } from "../../base/errors.ts";

/** One way in which NPUs are counted: those that differ in it alone have numbers `stride` apart. */
export interface MeshAxis {
  readonly name: string;
  readonly size: number;
  readonly stride: number;
}

/** NPUs as an array of several axes (Zhao 2026, 5.2.1); every NPU has one place on each. */
export interface Mesh {
  readonly axes: readonly MeshAxis[];
  readonly npuCount: number;
}

/** Axes of a mesh as bits: bit j for axis j. */
export type AxisSet = number;

/** No more, so that a pattern is a number of 32 bits. */
export const MOST_AXES = 7;

/**
 * Returns a mesh of sizes, the last axis of neighbouring numbers, as arrays are usually laid out. Throws InputError for more than
 * MOST_AXES axes or a size that is no positive whole number.
 */
export function meshOf(sizes: readonly number[], names: readonly string[] = []): Mesh {
  if (sizes.length > MOST_AXES) throw new InputError("the mesh", `of at most ${MOST_AXES} axes`, sizes.join("x"));
  const axes: MeshAxis[] = [];
  let stride = 1;
  for (let j = sizes.length - 1; j >= 0; j--) {
    const size = sizes[j] as number;
    if (!Number.isInteger(size) || size < 1)
      throw new InputError("the mesh", "of positive whole sizes", sizes.join("x"));
    axes.unshift({ name: names[j] ?? `axis ${j}`, size, stride });
    stride *= size;
  }
  return { axes, npuCount: stride };
}

/** Returns how many NPUs the groups of a set of axes have. */
export function groupSize({ axes }: Mesh, set: AxisSet): number {
  let size = 1;
  for (let j = 0; j < axes.length; j++) if ((set >> j) & 1) size *= (axes[j] as MeshAxis).size;
  return size;
}

/** Returns the place of an NPU on an axis. */
export const placeOn = ({ size, stride }: MeshAxis, npu: number): number => Math.floor(npu / stride) % size;

/**
 * Returns the groups of a set of axes, [groups x size]: NPUs that differ in those axes only, in order of their places, the first axis
 * slowest; groups by their first members. O(NPUs).
 */
export function meshGroups(mesh: Mesh, set: AxisSet): Int32Array {
  const { axes, npuCount } = mesh;
  const ours = axes.filter((_, j) => (set >> j) & 1);
  let offsets = [0];
  for (const { size, stride } of ours) {
    offsets = offsets.flatMap((at) => Array.from({ length: size }, (_, i) => at + i * stride));
  }
  const members = new Int32Array(npuCount);
  let filled = 0;
  for (let npu = 0; npu < npuCount; npu++) {
    if (ours.some((axis) => placeOn(axis, npu) !== 0)) continue;
    for (const offset of offsets) members[filled++] = npu + offset;
  }
  return members;
}
