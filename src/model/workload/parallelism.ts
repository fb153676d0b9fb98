import { InputError } from "../../base/errors.ts";

/** The ways of splitting a step whose product is the number of NPUs. */
export const MESH_AXES = ["tensor", "context", "data", "pipeline"] as const;
export type MeshAxis = (typeof MESH_AXES)[number];

/** How many NPUs share what (Shoeybi et al. 2019; Narayanan et al. 2021; Korthikanti et al. 2022). Factors are 1 or more. */
export interface Parallelism {
  /** NPUs among which products of matrices are split. */
  readonly tensor: number;
  /** Consecutive parts of sequences. */
  readonly context: number;
  /** Copies of the model, each with its part of the batch. */
  readonly data: number;
  /** Stages of layers. */
  readonly pipeline: number;
  /** NPUs among which the experts of a layer are dealt; they are taken from the copies, no factor of the product. */
  readonly expert: number;
  /** NPUs among which one expert is split: 1, or those of `tensor`. */
  readonly expertTensor: number;
  /** Parts of the layers that each stage has: above 1 the stages are interleaved. */
  readonly interleaved: number;
  /** Activations between split products are split along the sequence. */
  readonly sequence: boolean;
  /** What copies share (ZeRO): 0 nothing, 1 optimiser states, 2 gradients too, 3 parameters too (FSDP). */
  readonly zero: 0 | 1 | 2 | 3;
  /** Axes of the mesh, the one whose NPUs have neighbouring numbers first. */
  readonly order: readonly MeshAxis[];
}

/** One NPU, no split. */
export const ALONE: Parallelism = {
  tensor: 1,
  context: 1,
  data: 1,
  pipeline: 1,
  expert: 1,
  expertTensor: 1,
  interleaved: 1,
  sequence: false,
  zero: 0,
  order: MESH_AXES,
};

/** Returns the number of NPUs of a parallelism. */
export const npusOf = ({ tensor, context, data, pipeline }: Parallelism): number => tensor * context * data * pipeline;

/**
 * Who communicates with whom. `tensor`, `context`, `data`, `pipeline`: along one axis of the mesh. `copies`: data and context
 * together, who sum the gradients of what is not an expert. `experts`: who exchange tokens of experts; `expertTensor`: who share
 * an expert; `expertCopies`: who have the same experts.
 */
export const GROUP_NAMES = [...MESH_AXES, "copies", "experts", "expertTensor", "expertCopies", "all"] as const;
export type GroupName = (typeof GROUP_NAMES)[number];

/** Members at `first + i x stride`, i below `size`, as one factor of a group. */
export interface GroupAxis {
  readonly size: number;
  readonly stride: number;
}

const productOf = (axes: readonly GroupAxis[]): number => axes.reduce((all, { size }) => all * size, 1);

/** Returns the axes of the mesh, neighbours first. */
function meshOf(parallelism: Parallelism): Map<MeshAxis, GroupAxis> {
  const mesh = new Map<MeshAxis, GroupAxis>();
  let stride = 1;
  for (const axis of parallelism.order) {
    mesh.set(axis, { size: parallelism[axis], stride });
    stride *= parallelism[axis];
  }
  return mesh;
}

/**
 * Returns `count` ways taken from the fastest of the axes on, and what is left of them. Throws InputError where an axis would have
 * to be cut into parts of unlike sizes.
 */
function taken(axes: readonly GroupAxis[], count: number, what: string): { taken: GroupAxis[]; left: GroupAxis[] } {
  const ours: GroupAxis[] = [];
  const left: GroupAxis[] = [];
  let wanted = count;
  for (const { size, stride } of axes) {
    const part = wanted % size === 0 ? size : wanted;
    if (size % part !== 0) {
      throw new InputError(
        `parallelism ${what}`,
        `a product of the ways it is taken from, here ${axes.map((a) => a.size).join(" x ")}`,
        count,
      );
    }
    if (part > 1) ours.push({ size: part, stride });
    if (size > part) left.push({ size: size / part, stride: stride * part });
    wanted /= part;
  }
  if (wanted !== 1) {
    throw new InputError(`parallelism ${what}`, `at most ${productOf(axes)}, the copies it is taken from`, count);
  }
  return { taken: ours, left };
}

/**
 * Returns the axes of a kind of group, those of size 2 or more, neighbours first; empty where each NPU is alone. Throws InputError
 * where experts do not divide the copies.
 */
export function groupAxes(parallelism: Parallelism, name: GroupName): readonly GroupAxis[] {
  const mesh = meshOf(parallelism);
  const of = (...names: MeshAxis[]): GroupAxis[] =>
    parallelism.order.filter((axis) => names.includes(axis)).map((axis) => mesh.get(axis) as GroupAxis);
  const large = (axes: readonly GroupAxis[]): GroupAxis[] => axes.filter(({ size }) => size > 1);
  if (name === "all") return large(of(...MESH_AXES));
  if (name === "copies") return large(of("context", "data"));
  if (name !== "experts" && name !== "expertTensor" && name !== "expertCopies") return large(of(name));
  const { expert, expertTensor } = parallelism;
  const split = taken(of("tensor"), expertTensor, "etp");
  if (name === "expertTensor") return split.taken;
  const rest = [...split.left, ...of("context", "data")].sort((a, b) => a.stride - b.stride);
  const dealt = taken(rest, expert, "ep");
  return name === "experts" ? dealt.taken : large(dealt.left);
}

/** Returns how many NPUs a group of this name has. */
export const groupSizeOf = (parallelism: Parallelism, name: GroupName): number =>
  productOf(groupAxes(parallelism, name));

/**
 * Returns the members of every group of this name, [groups x size], groups by their first members, members in the order of the
 * axes; with `stage`, only those of one pipeline stage. O(NPUs log NPUs).
 */
export function groupMembers(parallelism: Parallelism, name: GroupName, stage: number | null = null): Int32Array {
  const axes = groupAxes(parallelism, name);
  let offsets = [0];
  for (const { size, stride } of axes) {
    const inner = offsets;
    offsets = Array.from({ length: size }, (_, i) => inner.map((at) => at + i * stride)).flat();
  }
  const pipeline = meshOf(parallelism).get("pipeline") as GroupAxis;
  const members: number[] = [];
  for (let npu = 0; npu < npusOf(parallelism); npu++) {
    if (axes.some(({ size, stride }) => Math.floor(npu / stride) % size !== 0)) continue;
    if (stage !== null && Math.floor(npu / pipeline.stride) % pipeline.size !== stage) continue;
    for (const offset of offsets) members.push(npu + offset);
  }
  return Int32Array.from(members);
}

/** Returns the NPU with the same coordinates as `npu` in another stage of the pipeline. */
export function inStage(parallelism: Parallelism, npu: number, stage: number): number {
  const { stride, size } = meshOf(parallelism).get("pipeline") as GroupAxis;
  return npu + (stage - (Math.floor(npu / stride) % size)) * stride;
}
