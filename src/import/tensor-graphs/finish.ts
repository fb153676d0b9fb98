import { type Axis, atomsNow, namesOfAtoms } from "../../model/tensor-graph/dimension-solver.ts";
import {
  type Dimension,
  DROPPED,
  type GraphNode,
  type Operand,
  type Phase,
  type TensorGraph,
} from "../../model/tensor-graph/graph.ts";
import { classesOfRepeats } from "../../model/tensor-graph/repeats.ts";
import { type Assembly, type Draft, madeLike, pairsNow, type Taken, type Value } from "./assembly.ts";

/** What a program is for. */
export interface Purpose {
  readonly name: string;
  readonly outputs: readonly Value[];
  /** Of what is trained, in the order of the program. */
  readonly gradients: readonly { readonly parameter: Value; readonly gradient: Value }[];
  /** Axes in the order in which the program shows them, placeholders first. */
  readonly shown: readonly Axis[];
}

/** Divides atoms until every operand's are divided as those that they are seen as. */
function divideAlike({ atoms, drafts }: Assembly, outputs: readonly Taken[]): void {
  for (let before = -1; before !== atoms.sizes.length; ) {
    before = atoms.sizes.length;
    const operands = [...drafts.flatMap((one) => one.operands), ...outputs];
    // both ways, for what is divided is seen before and behind
    for (const one of operands) pairsNow(atoms, one);
    for (const one of operands.reverse()) pairsNow(atoms, one);
  }
}

/** Returns the phases of drafts; null for what no output needs. What only gradients are made of is made for them. */
function phasesNeeded(
  drafts: readonly Draft[],
  outputs: readonly Value[],
  gradients: Purpose["gradients"],
): (Phase | null)[] {
  const needed = new Map<number, Phase>();
  const need = (node: number, phase: Phase): void => {
    if (needed.get(node) !== "forward") needed.set(node, phase);
  };
  for (const { parameter, gradient } of gradients) {
    need(gradient.node, "backward");
    need(parameter.node, "forward");
  }
  for (const { node } of outputs) need(node, "forward");
  const phases = drafts.map((): Phase | null => null);
  for (let i = drafts.length - 1; i >= 0; i--) {
    const { deed, operands, phase, isFused } = drafts[i] as Draft;
    const by = needed.get(i);
    if (by === undefined) continue;
    const isGiven = deed.kind === "placeholder" && !isFused;
    const own = phase === "backward" || (by === "backward" && !isGiven) ? "backward" : "forward";
    phases[i] = own;
    for (const { node } of operands) need(node, own);
  }
  return phases;
}

/**
 * Returns the graph of what was assembled: dimensions under letters in the order in which the program shows them, forward nodes first,
 * without what no output needs, classes by its repeated parts. O(nodes x dimensions).
 */
export function finished(assembly: Assembly, { name, outputs, gradients, shown }: Purpose): TensorGraph {
  const { atoms, drafts } = assembly;
  assembly.phase = "backward";
  const pairs = gradients.map(({ parameter, gradient }) => {
    const { name: of, elementBytes: bytes } = drafts[gradient.node] as Draft;
    return { parameter, gradient: madeLike(assembly, { name: `${of}.gradient`, bytes }, gradient, parameter) };
  });
  const ends: Taken[] = [...outputs, ...pairs.map(({ gradient }) => gradient)].map(({ node, own, seen, axes }) => {
    const [ours, theirs] = pairsNow(atoms, { node, own, seen });
    const there = new Set(atomsNow(atoms, axes.flat()));
    return { node, own: ours, seen: theirs.map((atom) => (there.has(atom) ? atom : DROPPED)) };
  });
  divideAlike(assembly, ends);

  const phases = phasesNeeded(drafts, outputs, pairs);
  const inPhase = (phase: Phase): number[] => drafts.flatMap((_, i) => (phases[i] === phase ? [i] : []));
  const order = [...inPhase("forward"), ...inPhase("backward")];
  const placed = new Map(order.map((of, at) => [of, at]));

  const nodeAxes = order.map((i) => atomsNow(atoms, (drafts[i] as Draft).dims));
  const singles = nodeAxes.flatMap((axis) => axis.map((atom) => [atom]));
  const names = namesOfAtoms([...shown.map((axis) => atomsNow(atoms, axis)), ...singles]);
  const used = new Set(nodeAxes.flat());
  const dimensions: Dimension[] = [];
  const indexOf = new Map<number, number>([[DROPPED, DROPPED]]);
  for (const [atom, called] of names) {
    if (used.has(atom)) indexOf.set(atom, dimensions.push({ name: called, size: atoms.sizes[atom] as number }) - 1);
  }
  const indices = (axis: Axis): number[] => axis.map((atom) => indexOf.get(atom) as number);
  const operandOf = (taken: Taken): Operand => {
    const { dims } = drafts[taken.node] as Draft;
    const [own, seen] = pairsNow(atoms, taken);
    const as = new Map(own.map((atom, i) => [atom, seen[i] as number]));
    return {
      node: placed.get(taken.node) as number,
      dims: indices(atomsNow(atoms, dims).map((a) => as.get(a) as number)),
    };
  };
  const nodes = order.map((i): GraphNode => {
    const { name: called, deed, operands: taken, dims, elementBytes, isFused } = drafts[i] as Draft;
    const base = {
      name: called,
      dims: indices(atomsNow(atoms, dims)),
      elementBytes,
      phase: phases[i] as Phase,
      isFused,
    };
    if (deed.kind === "placeholder") return { ...base, ...deed };
    const operands = taken.map(operandOf);
    if (deed.kind === "einsum") return { ...base, ...deed, operands };
    if (deed.kind === "elementwise") return { ...base, ...deed, operands, whole: indices(atomsNow(atoms, deed.whole)) };
    return { ...base, ...deed, operands: operands as [Operand], over: indices(atomsNow(atoms, deed.over)) };
  });
  nodes.push({
    kind: "output",
    name: "output",
    dims: [],
    elementBytes: 0,
    phase: gradients.length > 0 ? "backward" : "forward",
    isFused: false,
    operands: ends.map(operandOf),
  });
  const graph = {
    name,
    dimensions,
    nodes,
    gradients: pairs.map(({ parameter, gradient }) => ({
      parameter: placed.get(parameter.node) as number,
      gradient: placed.get(gradient.node) as number,
    })),
  };
  return { ...graph, classes: classesOfRepeats(graph) };
}
