import { InputError } from "../../base/errors.ts";
import { type Mesh, type MeshAxis, placeOn } from "../../model/tensor-plan/mesh.ts";
import { type Pattern, shardedAt, stateOn } from "../../model/tensor-plan/patterns.ts";

/** How an axis deals a dimension: element x belongs to place floor(x / weight) mod size. */
interface Digit {
  readonly axis: number;
  readonly weight: number;
  readonly size: number;
}

/**
 * Returns the digits by which axes deal a dimension of a size: the first axis by the greatest digit, every axis that still divides
 * what is left. They are the same for all tensors, so what one axis deals does not depend on the others.
 */
function digitsOf({ axes }: Mesh, size: number): Digit[] {
  const digits: Digit[] = [];
  let left = size;
  axes.forEach(({ size: parts }, axis) => {
    if (parts === 1 || left % parts !== 0) return;
    left /= parts;
    digits.push({ axis, weight: left, size: parts });
  });
  return digits;
}

/**
 * Returns, for each dimension of a tensor, the indices along it that an NPU has in a pattern, ascending. Throws InputError where an
 * axis deals a dimension that all axes together do not deal evenly.
 */
export function indicesOf(mesh: Mesh, sizes: readonly number[], pattern: Pattern, npu: number): Int32Array[] {
  return sizes.map((size, at) => {
    const digits = digitsOf(mesh, size);
    const own: Digit[] = [];
    mesh.axes.forEach(({ name, size: parts }: MeshAxis, axis) => {
      if (parts === 1 || shardedAt(stateOn(pattern, axis)) !== at) return;
      const digit = digits.find((one) => one.axis === axis);
      if (digit === undefined) {
        throw new InputError(
          "the plan",
          `one whose dimensions all axes of the mesh deal evenly, for ${name} too,`,
          size,
        ).as("not-applicable");
      }
      own.push(digit);
    });
    const found: number[] = [];
    for (let x = 0; x < size; x++) {
      if (own.every((d) => Math.floor(x / d.weight) % d.size === placeOn(mesh.axes[d.axis] as MeshAxis, npu)))
        found.push(x);
    }
    return Int32Array.from(found);
  });
}

/** Calls `visit` with the place of every element of a block in a whole tensor of these sizes, in the block's order. */
export function eachPlace(
  sizes: readonly number[],
  indices: readonly Int32Array[],
  visit: (place: number) => void,
): void {
  const walk = (at: number, before: number): void => {
    if (at === sizes.length) {
      visit(before);
      return;
    }
    for (const x of indices[at] as Int32Array) walk(at + 1, before * (sizes[at] as number) + x);
  };
  walk(0, 0);
}
