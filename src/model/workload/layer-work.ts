import type { NamedCollective } from "../collective/collective.ts";
import type { GroupName } from "./parallelism.ts";

/** What kind of efficiency a computation has: products of matrices, attention kernels, streams through memory, or measured. */
export type ComputationKind = "matmul" | "attention" | "memory";

/** A computation of one NPU. */
export interface Computation {
  readonly name: string;
  readonly kind: ComputationKind;
  /** Additions and multiplications. */
  readonly flops: number;
  /** Read from and written to main memory. */
  readonly bytes: number;
  /** Of one product of matrices: rows x inner times inner x columns. */
  readonly shape?: { readonly rows: number; readonly columns: number; readonly inner: number };
  /** It stays in 16 bits where products have fewer: heads, routers. */
  readonly sixteenBits?: boolean;
  /** Where it was measured or given, this instead of a roofline; picoseconds. */
  readonly givenPs?: number;
  /** It is part of a kernel that another one starts. */
  readonly isInside?: boolean;
  /** A delay beside the NPU's other computations, which go on: only what waits for it is held up. */
  readonly aside?: boolean;
}

/** What the members of a group send each other. `send`: from every NPU of a stage to the one of the next (or previous) stage. */
export type CommunicationKind = NamedCollective | "send";

/** Groups named one by one, where they are no axes of a mesh: those of a trace. */
export interface NpuGroups {
  /** NPUs of each. */
  readonly size: number;
  /** [groups x size] in the order of the group; of a send: from, to */
  readonly members: Int32Array;
  /** What they are called where waits for them are told; by their collective without. */
  readonly name?: string;
}

/** A communication in which every group of a name does the same (in a pipeline: the groups of one stage). */
export interface Communication {
  readonly name: string;
  readonly collective: CommunicationKind;
  readonly group: GroupName;
  /** Who takes part instead of the groups of that name, which is then "all". */
  readonly among?: NpuGroups;
  /** nccl-tests size: of the whole buffer, per group; of a send: what one NPU sends. */
  readonly bytes: number;
}

/** A part of a pass waits for these: parts before it, by their numbers, or one of the following. */
export type After = number;
/** What the pass was given: the layer before is done. */
export const INPUT: After = -1;
/** What the layer before was given: one layer earlier, for what is fetched ahead. */
export const EARLIER: After = -2;

/** One part of a pass: a computation or a communication, and what it waits for besides its stream. */
export type Part = ComputationPart | CommunicationPart;

export interface ComputationPart {
  readonly after: readonly After[];
  readonly computation: Computation;
}

export interface CommunicationPart {
  readonly after: readonly After[];
  readonly communication: Communication;
}

/** What one NPU does for one layer in one direction, in the order in which it is issued. */
export interface Pass {
  readonly parts: readonly Part[];
  /** Parts that what follows waits for; all others are waited for at the end of the step. Empty: it waits for the input. */
  readonly outputs: readonly number[];
}

export const NOTHING: Pass = { parts: [], outputs: [] };

/** Bytes of one NPU in one layer. */
export interface LayerMemory {
  readonly parameters: number;
  readonly gradients: number;
  readonly optimizer: number;
  /** Kept from the forward to the backward pass of one micro batch. */
  readonly activations: number;
  /** Held while the layer is worked on: gathered parameters, what is computed again. */
  readonly working: number;
}

/** What one NPU does for one layer. */
export interface LayerWork {
  readonly name: string;
  /** Of each micro batch. */
  readonly forward: Pass;
  /** Of each micro batch; empty for inference. */
  readonly backward: Pass;
  /** Once a step, when the layer's last backward pass is done: sums of gradients. Nothing waits for it but the update. */
  readonly gradients: Pass;
  /** Once a step, when all gradients of the NPU are there. */
  readonly update: Pass;
  readonly memory: LayerMemory;
}

/** Equal layers in a row. */
export interface LayerRun {
  readonly layer: LayerWork;
  readonly count: number;
}
