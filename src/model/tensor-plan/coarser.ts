import { type AxisSet, type Mesh, meshOf } from "./mesh.ts";
import { ALL_REPLICATED, type Pattern, stateOn, withState } from "./patterns.ts";
import type { Choice, Chooser, PlanChoice, Supply } from "./problem.ts";
import type { ChoiceMeaning, StatedProblem } from "./problem-of.ts";

/** A mesh in which several axes of another, the fine one, are one. */
export interface Coarser {
  readonly mesh: Mesh;
  /** [fine axes] the axis that it is part of. */
  readonly partOf: readonly number[];
}

/** Returns the meshes in which two neighbouring axes of a mesh are one. */
export function coarserMeshes({ axes }: Mesh): Coarser[] {
  return axes.slice(1).map((_, joined) => {
    const partOf = axes.map((_, j) => (j > joined ? j - 1 : j));
    const sizes = axes
      .slice(1)
      .map((_, at) => axes.reduce((all, { size }, j) => (partOf[j] === at ? all * size : all), 1));
    return { mesh: meshOf(sizes), partOf };
  });
}

/** A mesh as coarser than itself. */
const itself = (mesh: Mesh): Coarser => ({ mesh, partOf: mesh.axes.map((_, j) => j) });

/** Returns the fine axes that make up some axes. */
export const fineAxes = ({ partOf }: Coarser, set: AxisSet): AxisSet =>
  partOf.reduce((all, at, j) => all | (((set >> at) & 1) << j), 0);

/** Returns the pattern in which a tensor lies on the fine mesh as it does in another on the coarser one. */
const finePattern = ({ partOf }: Coarser, pattern: Pattern): Pattern =>
  partOf.reduce((fine, at, j) => withState(fine, j, stateOn(pattern, at)), ALL_REPLICATED);

/**
 * Returns a choice for the coarser mesh as the choice for the fine one that means the same, of the same graph and terms: it takes as
 * long, where collectives of several axes do. Null where the fine problem lacks a part of it. O(choices + copies).
 */
export function finerChoice(
  coarser: Coarser,
  from: StatedProblem,
  to: StatedProblem,
  { choices, copies }: PlanChoice,
): PlanChoice | null {
  const fine = (pattern: Pattern): Pattern => finePattern(coarser, pattern);
  const fineSet = (axes: AxisSet): AxisSet => fineAxes(coarser, axes);
  const fineList = (list: readonly number[]): readonly number[] => coarser.partOf.map((at) => list[at] as number);
  const wider = { pattern: fine, axes: fineSet, list: fineList };
  const same: typeof wider = { pattern: (one) => one, axes: (set) => set, list: (list) => list };
  const keyOf = ({ problem, index }: StatedProblem, v: number, c: number, as: typeof wider): string => {
    const { pattern } = (problem.choosers[v] as Chooser).choices[c] as Choice;
    const { rule, retention } = (index.meanings[v] as readonly ChoiceMeaning[])[c] as ChoiceMeaning;
    const work = rule === null ? "" : `${as.list(rule.along)} ${rule.operands.map(as.pattern)}`;
    const stream =
      rule?.stream === undefined ? "" : `${rule.stream.of} ${as.axes(rule.stream.axes)} ${rule.stream.along}`;
    return `${as.pattern(pattern)} ${retention} ${work} ${stream}`;
  };
  const found = Int32Array.from(choices, (c, v) => {
    const key = keyOf(from, v, c, wider);
    return (to.problem.choosers[v] as Chooser).choices.findIndex((_, other) => keyOf(to, v, other, same) === key);
  });
  const made = copies.map((listed, s) =>
    listed.map((k) => {
      const copy = (from.problem.supplies[s] as Supply).copies[k] as Supply["copies"][number];
      return (to.problem.supplies[s] as Supply).copies.findIndex(
        (other) =>
          other.from === fine(copy.from) &&
          other.to === fine(copy.to) &&
          to.index.once.has(other) === from.index.once.has(copy),
      );
    }),
  );
  if (found.includes(-1) || made.some((listed) => listed.includes(-1))) return null;
  return { choices: found, copies: made.map((listed) => listed.sort((a, b) => a - b)) };
}

/**
 * Returns a choice as that of the same graph and mesh stated again, with other costs or terms, so that there are other copies and
 * streams; null where something of it is none there. O(choices + copies).
 */
export const restated = (from: StatedProblem, choice: PlanChoice, to: StatedProblem): PlanChoice | null =>
  finerChoice(itself(from.problem.mesh), from, to, choice);
