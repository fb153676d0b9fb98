import { PARTIAL, type Pattern, shardAlong, stateOn } from "../../model/tensor-plan/patterns.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { axisNames, pythonPlan, tupleText } from "./python-plan.ts";

const NOTES = `For each tensor, by its name, a PartitionSpec of JAX: for each of its dimensions the axes of the mesh that deal it.
The dimensions are those behind the line, which are the graph's own: a reshape may join or split them.
Sums that are not finished on some axis have no spec: they are left out, with a comment.

JAX deals a dimension that several axes deal from left to right, each cutting what the one before left. Banyan gives each axis a
digit of the index, the first axis the greatest: the same sets of elements. Only where an axis deals a dimension and an axis before
it, which could, does not, JAX's parts are other elements, of the same sizes: adding the axis before to such a spec takes messages
there, and none in Banyan.`;

const MESH = `def device_mesh(devices=None):
    """Returns the mesh, device r the r-th NPU; of the first devices of JAX if none are given."""
    devices = jax.devices() if devices is None else devices
    return Mesh(np.asarray(devices[: np.prod(MESH_SHAPE)]).reshape(MESH_SHAPE), MESH_AXES)`;

const STAGE_MESH = `def device_mesh(stage, devices=None):
    """Returns the mesh of stage 1 .. STAGES, its devices in order of its NPUs; of the devices of JAX if none are given."""
    devices = jax.devices() if devices is None else devices
    size = np.prod(MESH_SHAPE)
    return Mesh(np.asarray(devices[(stage - 1) * size : stage * size]).reshape(MESH_SHAPE), MESH_AXES)`;

/**
 * Returns a plan as a file of Python for JAX: device_mesh(), and dictionaries by the names of tensors (PARAMETERS, OPTIMIZER,
 * INPUTS, ACTIVATIONS, COPIES; of several stages for each) of PartitionSpecs. Partial tensors are only named in comments. The mesh
 * has to be one of meshOf, axes in row-major order. O(nodes x axes x rank).
 */
export function jaxSpecs(plans: readonly TensorPlan[]): string {
  const names = axisNames((plans[0] as TensorPlan).mesh).map((name) => JSON.stringify(name));
  const placement = (pattern: Pattern, rank: number): string | null => {
    if (names.some((_, j) => stateOn(pattern, j) === PARTIAL)) return null;
    const entries = Array.from({ length: rank }, (_, at) => {
      const own = names.filter((_, j) => stateOn(pattern, j) === shardAlong(at));
      return own.length > 1 ? tupleText(own) : (own[0] ?? "None");
    });
    return `P(${entries.join(", ")})`;
  };
  return pythonPlan(plans, {
    notes: NOTES.split("\n"),
    imports: ["import jax", "import numpy as np", "from jax.sharding import Mesh, PartitionSpec as P"],
    mesh: plans.length > 1 ? STAGE_MESH : MESH,
    placement,
  });
}
