import type { PlanReport } from "../run/plan/report.ts";

/** What the page is told of a plan of tensor states. */

/** How a tensor lies along an axis: whole on each NPU, a summand, or dealt by the dimension of this index among its own. */
export type AxisLie = "whole" | "summand" | number;

/** A collective by which a tensor is brought to where it is wanted. */
export interface PlannedMove {
  readonly kind: string;
  /** "A x B" */
  readonly axes: string;
  /** nccl-tests size. */
  readonly bytes: number;
  /** Alone on the network, microseconds. */
  readonly us: number;
  readonly algorithm: string;
}

/** A tensor as it lies where it was brought. */
export interface PlannedCopy {
  /** For which nodes, or for the update of parameters. */
  readonly when: "forward" | "backward" | "update";
  readonly lies: readonly AxisLie[];
  /** None: parts are taken of what is there. */
  readonly moves: readonly PlannedMove[];
}

/** A tensor, for all that are treated as it. */
export interface TensorFacts {
  /** Without the name of its part. */
  readonly name: string;
  /** So many are treated the same. */
  readonly count: number;
  /** What makes it: "product", "softmax", "parameter". */
  readonly operation: string;
  readonly phase: "forward" | "backward";
  readonly dims: readonly { readonly name: string; readonly size: number }[];
  readonly elementBytes: number;
  readonly bytes: number;
  /** Of one NPU. */
  readonly ownBytes: number;
  /** [axes] */
  readonly lies: readonly AxisLie[];
  /** It stays inside a kernel. */
  readonly isFused: boolean;
  /** What becomes of a forward tensor until the backward pass; null of what is there before, and of backward tensors. */
  readonly retention: "kept" | "again" | "dropped" | null;
  /** How its product is streamed: "all-gather on A in 4 pieces"; null where it is not. */
  readonly streamed: string | null;
  readonly copies: readonly PlannedCopy[];
  /** Of a parameter: where its optimiser's state lies, [axes]. */
  readonly home: readonly AxisLie[] | null;
  /** Of a parameter: its gradient; of a gradient that updates one: that. */
  readonly gradient: string | null;
  readonly parameter: string | null;
  readonly madeOf: readonly string[];
  readonly takenBy: readonly string[];
}

/** What a node takes that no node makes: a parameter or an input, and where it was brought for it. */
export interface GivenTensor {
  readonly tensor: number;
  readonly copy: PlannedCopy | null;
}

/** A node of a picture; `tensor` is an index of the plan's tensors. */
export type PlanNode =
  | {
      readonly kind: "made";
      readonly tensor: number;
      /** In the backward pass, for it was not kept. */
      readonly isAgain: boolean;
      readonly given: readonly GivenTensor[];
      /** Of a gradient: the parameter that it updates, and where it is summed to for that; null where that is where it lies. */
      readonly updates: GivenTensor | null;
    }
  | { readonly kind: "brought"; readonly tensor: number; readonly copy: PlannedCopy }
  /** It comes from elsewhere, or was kept in the forward pass. */
  | { readonly kind: "from"; readonly tensor: number; readonly isKept: boolean }
  /** What is made here goes elsewhere. */
  | { readonly kind: "to" };

/** What a pass does in one of equal parts, layers say, or in what is done once. */
export interface PlanPart {
  readonly phase: "forward" | "backward";
  /** "layer 7"; null where its tensors have no such name in common. */
  readonly name: string | null;
  /** So many parts are alike; 1 for what is done once. */
  readonly count: number;
  readonly nodes: readonly PlanNode[];
  /** Indices of nodes. */
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** A plan that was found. */
export interface PlanView {
  readonly report: PlanReport;
  readonly tensors: readonly TensorFacts[];
  readonly parts: readonly PlanPart[];
  /** The command that makes the same plan; "" where its model is a file. */
  readonly command: string;
}

/** What a plan is written as. */
export const PLAN_FILES = ["torch", "jax", "commands", "trace", "chakra"] as const;
export type PlanFile = (typeof PLAN_FILES)[number];
