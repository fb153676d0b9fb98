import { PARTIAL, type Pattern, shardedAt, stateOn } from "../../model/tensor-plan/patterns.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { pythonPlan } from "./python-plan.ts";

const NOTES = `For each tensor, by its name, a placement of PyTorch's DTensor for each axis of the mesh.
Shard(d) deals dimension number d of those behind the line, which are the graph's own: a view may join or split them.

DTensor deals a dimension that several axes deal from left to right, each cutting what the one before left. Banyan gives each axis
a digit of the index, the first axis the greatest: the same sets of elements. Only where an axis deals a dimension and an axis
before it, which could, does not, DTensor's parts are other elements, of the same sizes: adding the axis before to such a placement
takes messages there, and none in Banyan.`;

const MESH = `def device_mesh(device_type="cuda"):
    """Returns the mesh, rank r the r-th NPU; torch.distributed must have as many ranks, or begins here."""
    return init_device_mesh(device_type, MESH_SHAPE, mesh_dim_names=MESH_AXES)`;

const STAGE_MESH = `def device_mesh(stage, device_type="cuda"):
    """Returns the mesh of stage 1 .. STAGES, its ranks in order of its NPUs; every rank makes those of all stages, in order."""
    size = math.prod(MESH_SHAPE)
    ranks = torch.arange((stage - 1) * size, stage * size).reshape(MESH_SHAPE)
    return DeviceMesh(device_type, ranks, mesh_dim_names=MESH_AXES)`;

/**
 * Returns a plan as a file of Python for PyTorch's DTensor: device_mesh(), and dictionaries by the names of tensors (PARAMETERS,
 * OPTIMIZER, INPUTS, ACTIVATIONS, COPIES; of several stages for each) of lists of placements, one an axis of the mesh. The mesh has
 * to be one of meshOf, axes in row-major order. O(nodes x axes).
 */
export function torchPlacements(plans: readonly TensorPlan[]): string {
  const { axes } = (plans[0] as TensorPlan).mesh;
  const isStaged = plans.length > 1;
  const placement = (pattern: Pattern): string => {
    const one = (_: unknown, j: number): string => {
      const state = stateOn(pattern, j);
      if (state === PARTIAL) return "Partial()";
      return shardedAt(state) < 0 ? "Replicate()" : `Shard(${shardedAt(state)})`;
    };
    return `[${axes.map(one).join(", ")}]`;
  };
  return pythonPlan(plans, {
    notes: NOTES.split("\n"),
    imports: [
      ...(isStaged
        ? ["import math", "import torch", "from torch.distributed.device_mesh import DeviceMesh"]
        : ["from torch.distributed.device_mesh import init_device_mesh"]),
      "from torch.distributed.tensor import Partial, Replicate, Shard",
    ],
    mesh: isStaged ? STAGE_MESH : MESH,
    placement,
  });
}
