import { InputError } from "../../base/errors.ts";
import { type Dimension, type GraphNode, operandsOf } from "../../model/tensor-graph/graph.ts";
import { type AxisSet, groupSize, type Mesh, meshGroups } from "../../model/tensor-plan/mesh.ts";
import {
  type Move,
  type MoveKind,
  PARTIAL,
  type Pattern,
  REPLICATED,
  stateOn,
  withState,
  withStatesOf,
} from "../../model/tensor-plan/patterns.ts";
import type { TensorPlan } from "../../model/tensor-plan/plan.ts";
import { RESULT } from "../../model/tensor-plan/rules.ts";
import type { PlanStep, PlanSteps, PlanValue } from "../../model/tensor-plan/steps.ts";
import { type StreamedRule, streamed } from "../../model/tensor-plan/streams.ts";
import { localDimensions, sizesOf } from "../../model/tensor-plan/work.ts";
import { computeNode } from "./dense.ts";
import { eachPlace, indicesOf } from "./placement.ts";

/**
 * What carries a collective of one group: takes what each member gives (all as long) and returns what each has behind it, in the
 * order of the members, as the collective of that name is defined.
 */
export type Carrier = (kind: MoveKind, members: Int32Array, given: readonly Float64Array[]) => readonly Float64Array[];

/** A tensor as it lies on all NPUs. */
export interface Lying {
  readonly pattern: Pattern;
  /** [NPUs] its elements there, in the order of the tensor's dimensions. */
  readonly blocks: readonly Float64Array[];
}

/** Returns what the collective of a name is by definition; for tests of plans without schedules. */
export const DIRECT_CARRIER: Carrier = (kind, members, given) => {
  const size = members.length;
  const length = (given[0] as Float64Array).length;
  const part = length / size;
  const sum = (from: number, count: number): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => given.reduce((all, one) => all + (one[from + i] as number), 0));
  switch (kind) {
    case "allreduce":
      return given.map(() => sum(0, length));
    case "reducescatter":
      return given.map((_, m) => sum(m * part, part));
    case "allgather": {
      const all = new Float64Array(size * length);
      for (const [m, one] of given.entries()) all.set(one, m * length);
      return given.map(() => all.slice());
    }
    case "alltoall":
      return given.map((_, m) => {
        const all = new Float64Array(length);
        for (const [from, one] of given.entries()) all.set(one.subarray(m * part, (m + 1) * part), from * part);
        return all;
      });
  }
};

/** [NPUs] numbers of a tensor. */
type Blocks = readonly Float64Array[];
/** Where an NPU's numbers are in the whole tensor. */
type PlacesOf = (npu: number) => Int32Array;

/** What a plan makes, put together from all NPUs. */
export interface ShardedResult {
  /** [outputs of the graph] */
  readonly outputs: readonly Float64Array[];
  /** [gradients of the graph] the parameter less its gradient, as it lies between steps. */
  readonly updated: readonly Float64Array[];
}

/** A plan that is run a part at a time. */
export interface ShardedRun {
  /** Does some of the steps, which follow those that were done. */
  readonly run: (steps: readonly PlanStep[]) => void;
  /** Lets a placeholder be what came from elsewhere; of a parameter: a gradient that is added to its own before the update. */
  readonly receive: (node: number, tensor: Lying) => void;
  /** Returns a value as it lies, in a pattern in which it is there for free. */
  readonly lying: (value: number, pattern: Pattern) => Lying;
  /** Returns a whole value, put together from all NPUs. Throws InputError where replicas differ. */
  readonly whole: (value: number) => Float64Array;
  /** [elements] Returns the places of a node's tensor that an NPU has in a pattern. */
  readonly placesOf: (node: number, pattern: Pattern, npu: number) => Int32Array;
}

/**
 * Runs a plan on small tensors: every NPU computes its part of every node, every collective goes through `carrier`, group by group.
 * `given` holds whole tensors of placeholders by node. Parameters are updated by taking their gradients off. Throws InputError
 * where replicas of a result differ, or where a dimension is not dealt evenly by all axes. O(NPUs x work of the parts).
 */
export function runSharded(
  plan: TensorPlan,
  steps: PlanSteps,
  given: ReadonlyMap<number, Float64Array>,
  carrier: Carrier,
): ShardedResult {
  const { run, whole } = shardedRun(plan, steps, given, carrier);
  run(steps.steps);
  return { outputs: steps.outputs.map(whole), updated: steps.updated.map(whole) };
}

/** Returns a plan as `runSharded` runs it, to be run a part at a time; what is not given has to come before it is taken. */
export function shardedRun(
  plan: TensorPlan,
  { values, given: placeholders }: PlanSteps,
  given: ReadonlyMap<number, Float64Array>,
  carrier: Carrier,
): ShardedRun {
  const { graph, mesh } = plan;
  const npus = Array.from({ length: mesh.npuCount }, (_, npu) => npu);
  const sizes = graph.nodes.map((node) => sizesOf(graph, node));
  const known = new Map<string, Int32Array>();
  const placesOf = (node: number, pattern: Pattern, npu: number): Int32Array => {
    const key = `${node} ${pattern} ${npu}`;
    let places = known.get(key);
    if (places === undefined) {
      const own = sizes[node] as number[];
      const found: number[] = [];
      eachPlace(own, indicesOf(mesh, own, pattern, npu), (place) => found.push(place));
      places = Int32Array.from(found);
      known.set(key, places);
    }
    return places;
  };
  const dealt = (node: number, pattern: Pattern, whole: Float64Array): Lying => ({
    pattern,
    blocks: npus.map((npu) => Float64Array.from(placesOf(node, pattern, npu), (place) => whole[place] as number)),
  });
  /** Takes parts of what is there. */
  const sliced = (node: number, { pattern, blocks }: Lying, wanted: Pattern): Lying => ({
    pattern: wanted,
    blocks: npus.map((npu) => {
      if (pattern === wanted) return blocks[npu] as Float64Array;
      return picked(placesOf(node, pattern, npu), blocks[npu] as Float64Array, placesOf(node, wanted, npu));
    }),
  });
  /** Carries a collective between blocks whose elements' places in the whole tensor are given, before it and behind it. */
  const carried = (kind: MoveKind, axes: AxisSet, blocks: Blocks, hasAt: PlacesOf, wantsAt: PlacesOf): Blocks => {
    const behind: Float64Array[] = [];
    const groups = meshGroups(mesh, axes);
    const size = groupSize(mesh, axes);
    for (let at = 0; at < groups.length; at += size) {
      const members = groups.slice(at, at + size);
      const has = Array.from(members, hasAt);
      const wants = Array.from(members, wantsAt);
      const common = (own: Int32Array, other: Int32Array): number[] => {
        const set = new Set(other);
        return [...own].filter((place) => set.has(place));
      };
      /** [members] places of what each gives, and of what each has behind it. */
      const gives = has.map((own) => {
        if (kind === "reducescatter") return wants.flatMap((places) => [...places]);
        return kind === "alltoall" ? wants.flatMap((places) => common(own, places)) : [...own];
      });
      const gets = wants.map((own) => {
        if (kind === "allgather") return has.flatMap((places) => [...places]);
        return kind === "alltoall" ? has.flatMap((places) => common(places, own)) : [...own];
      });
      const all = carrier(
        kind,
        members,
        gives.map((places, m) => picked(has[m] as Int32Array, blocks[members[m] as number] as Float64Array, places)),
      );
      members.forEach((npu, m) => {
        behind[npu] = picked(gets[m] as number[], all[m] as Float64Array, wants[m] as Int32Array);
      });
    }
    return behind;
  };
  const moved = (node: number, from: Lying, { kind, axes, to }: Move): Lying => {
    const before = sliced(node, from, withStatesOf(mesh, from.pattern, to, ~axes));
    const has: PlacesOf = (npu) => placesOf(node, before.pattern, npu);
    return { pattern: to, blocks: carried(kind, axes, before.blocks, has, (npu) => placesOf(node, to, npu)) };
  };
  const computed = (node: GraphNode, dimensions: readonly Dimension[], operands: readonly Blocks[]): Blocks =>
    npus.map((npu) => {
      const tensors = operandsOf(node).map(({ node: of }, k) => ({
        dims: (graph.nodes[of] as GraphNode).dims,
        data: (operands[k] as Blocks)[npu] as Float64Array,
      }));
      return computeNode({ dimensions }, node, tensors).data;
    });
  /** Computes a product piece by piece: of each what is streamed goes through a collective of its own. */
  const streamedProduct = (at: number, rule: StreamedRule, operands: readonly Blocks[]): Blocks => {
    const node = graph.nodes[at] as GraphNode;
    const { of, axes, along, pieces } = rule.stream;
    const tensors = [...operandsOf(node), { node: at, dims: node.dims }];
    const patterns = [...rule.operands, rule.result];
    const k = of === RESULT ? operands.length : of;
    const state = of === RESULT ? PARTIAL : REPLICATED;
    const whole = mesh.axes.reduce(
      (pattern, _, j) => ((axes >> j) & 1 ? withState(pattern, j, state) : pattern),
      patterns[k] as Pattern,
    );
    /** Places of a tensor's elements with some indices along the dimension that is cut; all where it does not have it. */
    const cut = (tensor: number, pattern: Pattern, npu: number, indices: Int32Array): Int32Array => {
      const { node: own, dims } = tensors[tensor] as (typeof tensors)[number];
      const all = indicesOf(mesh, sizes[own] as number[], pattern, npu);
      const found: number[] = [];
      const kept = all.map((one, d) => (d === dims.indexOf(along) ? indices : one));
      eachPlace(sizes[own] as number[], kept, (place) => found.push(place));
      return Int32Array.from(found);
    };
    const ownPlaces = (tensor: number, npu: number): Int32Array =>
      placesOf(tensors[tensor]?.node as number, patterns[tensor] as Pattern, npu);
    const result = npus.map((npu) => new Float64Array(ownPlaces(operands.length, npu).length));
    for (let piece = 0; piece < pieces; piece++) {
      const { node: own, dims } = tensors[k] as (typeof tensors)[number];
      /** [NPUs] indices of their own parts in this piece, and of those of all members of their groups. */
      const ours = npus.map((npu) => {
        const all = indicesOf(mesh, sizes[own] as number[], patterns[k] as Pattern, npu)[
          dims.indexOf(along)
        ] as Int32Array;
        return all.slice((all.length * piece) / pieces, (all.length * (piece + 1)) / pieces);
      });
      const theirs: Int32Array[] = [];
      const [groups, size] = [meshGroups(mesh, axes), groupSize(mesh, axes)];
      for (let first = 0; first < groups.length; first += size) {
        const members = groups.slice(first, first + size);
        const all = Int32Array.from([...members].flatMap((npu) => [...(ours[npu] as Int32Array)])).sort();
        for (const npu of members) theirs[npu] = all;
      }
      const dealtAt: PlacesOf = (npu) => cut(k, patterns[k] as Pattern, npu, ours[npu] as Int32Array);
      const wholeAt: PlacesOf = (npu) => cut(k, whole, npu, theirs[npu] as Int32Array);
      const parts = operands.map((blocks, other) => {
        const wanted: PlacesOf = (npu) =>
          other === k ? dealtAt(npu) : cut(other, patterns[other] as Pattern, npu, theirs[npu] as Int32Array);
        const own = npus.map((npu) => picked(ownPlaces(other, npu), blocks[npu] as Float64Array, wanted(npu)));
        return other === k ? carried("allgather", axes, own, dealtAt, wholeAt) : own;
      });
      const products = computed(node, localDimensions(graph, mesh, rule), parts);
      const isResult = of === RESULT;
      const made = isResult ? carried("reducescatter", axes, products, wholeAt, dealtAt) : products;
      npus.forEach((npu) => {
        const places = isResult ? dealtAt(npu) : cut(operands.length, rule.result, npu, theirs[npu] as Int32Array);
        const index = new Map([...ownPlaces(operands.length, npu)].map((place, i) => [place, i]));
        places.forEach((place, i) => {
          (result[npu] as Float64Array)[index.get(place) as number] += (made[npu] as Float64Array)[i] as number;
        });
      });
    }
    return result;
  };

  const lying: (Lying | undefined)[] = values.map(() => undefined);
  const wholeOf = (node: number): Float64Array => given.get(node) as Float64Array;
  const received = new Map<number, Lying[]>();
  for (const at of placeholders) {
    const { node, pattern } = values[at] as PlanValue;
    if (given.has(node)) lying[at] = dealt(node, pattern, wholeOf(node));
  }
  const run = (step: PlanStep): void => {
    const taken = step.takes.map((at) => lying[at] as Lying);
    const { pattern } = values[step.makes] as PlanValue;
    if (step.kind === "move") {
      const [first] = taken as [Lying];
      const last = step.moves.reduce((now, move) => moved(step.node, now, move), first);
      lying[step.makes] = sliced(step.node, last, pattern);
    } else if (step.kind === "answer") lying[step.makes] = dealt(step.node, pattern, wholeOf(step.node));
    else if (step.kind === "update") {
      const [gradient] = taken as [Lying];
      const own = dealt(step.node, pattern, wholeOf(step.node));
      const of = (values[step.takes[0]] as PlanValue).node;
      const all = [sliced(of, gradient, pattern), ...(received.get(step.node) ?? [])];
      const sum = (npu: number, i: number): number =>
        all.reduce((sum, { blocks }) => sum + ((blocks[npu] as Float64Array)[i] as number), 0);
      lying[step.makes] = {
        pattern,
        blocks: own.blocks.map((block, npu) => block.map((value, i) => value - sum(npu, i))),
      };
    } else {
      const node = graph.nodes[step.node] as GraphNode;
      const rule = plan.nodes[step.node]?.rule;
      const operands = operandsOf(node).map((operand, k) =>
        sliced(operand.node, taken[k] as Lying, rule?.operands[k] as Pattern),
      );
      const way = streamed(rule);
      const all = operands.map(({ blocks }) => blocks);
      const dimensions = rule ? localDimensions(graph, mesh, rule) : graph.dimensions;
      const blocks = way === null ? computed(node, dimensions, all) : streamedProduct(step.node, way, all);
      lying[step.makes] = { pattern, blocks };
    }
  };

  const whole = (at: number): Float64Array => {
    const { node, pattern } = values[at] as PlanValue;
    return putTogether(mesh, lying[at] as Lying, (npu) => placesOf(node, pattern, npu), graph.nodes[node] as GraphNode);
  };
  return {
    run: (steps) => {
      for (const step of steps) run(step);
    },
    receive(node, tensor) {
      const at = placeholders.find((value) => values[value]?.node === node) as number;
      if (given.has(node)) received.set(node, [...(received.get(node) ?? []), tensor]);
      else lying[at] = tensor;
    },
    lying: (value, pattern) => sliced((values[value] as PlanValue).node, lying[value] as Lying, pattern),
    whole,
    placesOf,
  };
}

/** Returns the elements of some places out of a block, whose own places are given. */
export function picked(own: ArrayLike<number>, block: Float64Array, places: ArrayLike<number>): Float64Array {
  const at = new Map<number, number>();
  for (let i = 0; i < own.length; i++) at.set(own[i] as number, block[i] as number);
  return Float64Array.from(places, (place) => at.get(place) as number);
}

/** Replicas of sums in another order differ by roundings. */
const SAME = 1e-9;

/** Returns a whole tensor: parts side by side, summands summed. Throws InputError where replicas differ. */
function putTogether(
  mesh: Mesh,
  { pattern, blocks }: Lying,
  placesOf: (npu: number) => Int32Array,
  { name }: GraphNode,
): Float64Array {
  // NPUs with the same places on axes along which summands lie have one share of the sum each
  let partial = 0;
  mesh.axes.forEach((_, j) => {
    if (stateOn(pattern, j) === PARTIAL) partial |= 1 << j;
  });
  const summed = groupSize(mesh, partial);
  const groups = meshGroups(mesh, partial);
  const filled = new Map<number, number>();
  for (let at = 0; at < groups.length; at += summed) {
    const members = groups.subarray(at, at + summed);
    placesOf(members[0] as number).forEach((place, i) => {
      let sum = 0;
      for (const npu of members) sum += (blocks[npu] as Float64Array)[i] as number;
      const before = filled.get(place);
      if (before !== undefined && !(Math.abs(before - sum) <= SAME * Math.max(1, Math.abs(sum)))) {
        throw new InputError(`the replicas of ${name}`, "the same", `${before} and ${sum}`);
      }
      filled.set(place, sum);
    });
  }
  const whole = new Float64Array(filled.size);
  for (const [place, value] of filled) whole[place] = value;
  return whole;
}
