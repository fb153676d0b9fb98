import { count } from "../../../report/amounts.ts";
import type { AxisLie, TensorFacts } from "../../plan-protocol.ts";
import type { Mesh } from "./picture.ts";

/** How axes look, and what is said of tensors. */

const AXES = ["--chart-2", "--chart-3", "--chart-4", "--chart-1", "--chart-5"] as const;

/** Returns the colour of an axis of the mesh, a CSS variable. */
export const axisColour = (axis: number): string => AXES[axis % AXES.length] as string;

/** Returns the colour of what a step's time is spent on: computing, or collectives of axes, by the first of them. */
export function colourOf(mesh: Mesh, kind: string): string {
  if (kind === "compute") return "--step-compute";
  const axis = mesh.findIndex(({ name }) => name === kind.split(" ")[0]);
  if (axis < 0) return "--soft";
  return kind.includes(" ") ? "--chart-6" : axisColour(axis);
}

/** Returns how a tensor lies, in words: "along A dealt by samples". */
export const lieText = ({ dims }: TensorFacts, lies: readonly AxisLie[], mesh: Mesh): string =>
  lies
    .map((lie, axis) => {
      const how = lie === "whole" ? "whole" : lie === "summand" ? "a summand" : `dealt by ${dims[lie]?.name}`;
      return `along ${mesh[axis]?.name} ${how}`;
    })
    .join(", ");

/** Returns what becomes of a forward tensor: ", kept for the backward pass"; "" of others. */
export function whatBecomes({ retention }: TensorFacts): string {
  if (retention === null) return "";
  return {
    kept: ", kept for the backward pass",
    again: ", made again in the backward pass",
    dropped: ", not wanted in the backward pass",
  }[retention];
}

/** Returns the sizes of what an NPU has of a tensor that lies so. */
export const ownSizes = ({ dims }: TensorFacts, lies: readonly AxisLie[], mesh: Mesh): number[] =>
  dims.map(({ size }, dim) =>
    lies.reduce<number>((left, lie, axis) => (lie === dim ? left / (mesh[axis]?.size ?? 1) : left), size),
  );

/** Returns what makes a tensor, in words. */
export function operationText({ operation, phase, count: alike }: TensorFacts): string {
  const others = alike > 1 ? `; ${count(alike, "tensor")} are treated the same` : "";
  return `${operation}, ${phase} pass${others}`;
}
