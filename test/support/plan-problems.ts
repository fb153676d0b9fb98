import { type Random, random } from "../../src/base/random.ts";
import { FUNCTIONS } from "../../src/model/tensor-graph/functions.ts";
import {
  type Dimension,
  elementsOf,
  type GraphNode,
  type Operand,
  operandsOf,
  type Phase,
} from "../../src/model/tensor-graph/graph.ts";
import { groupSize, type Mesh, meshOf } from "../../src/model/tensor-plan/mesh.ts";
import { movesBetween, type Pattern, patternsOf, shardCount } from "../../src/model/tensor-plan/patterns.ts";
import type {
  Choice,
  Chooser,
  Copy,
  Demand,
  PlanProblem,
  Resource,
  Supply,
  Uses,
} from "../../src/model/tensor-plan/problem.ts";
import { NOT_DEALT, RESULT, workRules } from "../../src/model/tensor-plan/rules.ts";
import { streamedPs, streamedRules } from "../../src/model/tensor-plan/streams.ts";

/** Problems of tensor states like those of models: small graphs of einsums with their backward passes, priced coarsely. */

export interface Machine {
  readonly flopsPerPs: number;
  /** [axes] */
  readonly bytesPerPs: readonly number[];
  readonly memoryBytes: number;
  /** Collectives are waited for, placeholders lie dealt as chance has it, and products may be streamed. */
  readonly streams?: boolean;
}

/** A graph in the making; `counts` says how many equal parts a node stands for, `also` who makes a tensor in the other ones. */
export interface Sketch {
  readonly dimensions: Dimension[];
  readonly nodes: GraphNode[];
  readonly counts: number[];
  readonly also: Map<number, number>;
}

const ELEMENT_BYTES = 2;
/** Weight, gradient and optimiser's state, bytes an element. */
const TRAINED_BYTES = 16;

export const emptySketch = (): Sketch => ({ dimensions: [], nodes: [], counts: [], also: new Map() });

export function dimension({ dimensions }: Sketch, name: string, size: number): number {
  return dimensions.push({ name, size }) - 1;
}

/** Adds a node; returns its index. */
function addNode(sketch: Sketch, node: GraphNode, count: number): number {
  sketch.counts.push(count);
  return sketch.nodes.push(node) - 1;
}

const common = (name: string, dims: readonly number[], phase: Phase) => ({
  name,
  dims,
  elementBytes: ELEMENT_BYTES,
  phase,
  isFused: false,
});

export const placeholder = (
  sketch: Sketch,
  name: string,
  role: "parameter" | "input" | "tangent",
  dims: readonly number[],
  count = 1,
): number =>
  addNode(
    sketch,
    { ...common(name, dims, role === "tangent" ? "backward" : "forward"), kind: "placeholder", role },
    count,
  );

export const einsum = (
  sketch: Sketch,
  name: string,
  operands: readonly Operand[],
  dims: readonly number[],
  count = 1,
  phase: Phase = "forward",
): number => addNode(sketch, { ...common(name, dims, phase), kind: "einsum", operands, selects: false }, count);

export const elementwise = (
  sketch: Sketch,
  name: string,
  of: string,
  operands: readonly Operand[],
  dims: readonly number[],
  whole: readonly number[] = [],
  count = 1,
  phase: Phase = "forward",
): number =>
  addNode(
    sketch,
    { ...common(name, dims, phase), kind: "elementwise", operands, function: of, constant: 0, whole },
    count,
  );

/** Returns an operand that is seen by its own dimensions. */
export const whole = ({ nodes }: Sketch, node: number): Operand => ({ node, dims: nodes[node].dims });

/** Adds the backward pass, from tangents of some nodes; returns the gradients' nodes by those that they are of. */
export function addBackward(sketch: Sketch, tangents: ReadonlyMap<number, number>): Map<number, number> {
  const { nodes, counts } = sketch;
  const parts = new Map<number, Operand[]>([...tangents].map(([of, node]) => [of, [whole(sketch, node)]]));
  const gradients = new Map<number, number>();
  const needed = nodes.map((node) => node.kind === "placeholder" && node.role === "parameter");
  nodes.forEach((node, i) => {
    if (operandsOf(node).some((operand) => needed[operand.node])) needed[i] = true;
  });
  for (let i = needed.length - 1; i >= 0; i--) {
    const mine = parts.get(i);
    const node = nodes[i];
    if (mine === undefined || !needed[i]) continue;
    const at =
      mine.length === 1 && mine[0].dims.every((dim, d) => dim === nodes[mine[0].node].dims[d])
        ? mine[0].node
        : elementwise(
            sketch,
            `d ${node.name}`,
            mine.length === 1 ? "copy" : "add",
            mine,
            node.dims,
            [],
            counts[i],
            "backward",
          );
    gradients.set(i, at);
    const gradient: Operand = { node: at, dims: node.dims };
    const give = (to: Operand, made: number): void => {
      const target = nodes[to.node].dims;
      parts.set(to.node, [...(parts.get(to.node) ?? []), { node: made, dims: target }]);
    };
    operandsOf(node).forEach((operand, k) => {
      if (!needed[operand.node]) return;
      const name = `d${k} ${node.name}`;
      if (node.kind === "einsum") {
        const others = node.operands.filter((_, other) => other !== k);
        give(operand, einsum(sketch, name, [gradient, ...others], operand.dims, counts[i], "backward"));
      } else if (node.kind === "elementwise" && node.function === "add") {
        give(operand, at);
      } else if (node.kind === "elementwise") {
        const derivative = FUNCTIONS.get(node.function)?.derivatives?.[k];
        if (derivative === null || derivative === undefined) return;
        const of = derivative.of.map((one) =>
          one === "gradient" ? gradient : one === "result" ? { node: i, dims: node.dims } : node.operands[one],
        );
        give(
          operand,
          elementwise(sketch, name, derivative.function, of, operand.dims, node.whole, counts[i], "backward"),
        );
      }
    });
  }
  return gradients;
}

/** Returns what bytes take on each of some axes, by resource. */
const movedPs = ({ axes }: Mesh, { bytesPerPs }: Machine, set: number, bytes: number): [number, number][] =>
  axes.flatMap(({ size }, j): [number, number][] =>
    (set >> j) & 1 ? [[1 + j, (bytes * ((size - 1) / size)) / bytesPerPs[j]]] : [],
  );

/** Returns a graph's problem on a mesh. */
export function planProblem(
  sketch: Sketch,
  gradients: ReadonlyMap<number, number>,
  mesh: Mesh,
  machine: Machine,
): PlanProblem {
  const { nodes, dimensions, counts, also } = sketch;
  const resources: Resource[] = [
    { name: "work", kind: "time", limit: Number.POSITIVE_INFINITY },
    ...mesh.axes.map(({ name }): Resource => ({ name, kind: "time", limit: Number.POSITIVE_INFINITY })),
    { name: "memory", kind: "memory", limit: machine.memoryBytes },
  ];
  const memory = resources.length - 1;
  const sizesOf = ({ dims }: GraphNode): number[] => dims.map((dim) => dimensions[dim].size);
  const bytesOf = (i: number): number => elementsOf(sketch, nodes[i].dims) * ELEMENT_BYTES;
  const choosers: Chooser[] = [];
  const forward = (i: number): number => 2 * i;
  const supplyFor = (taker: GraphNode, of: number): number =>
    taker.phase === "backward" && nodes[of].phase === "forward" ? 2 * of + 1 : 2 * of;
  const uses = (list: readonly (readonly [number, number])[]): Uses => {
    const some = list.filter(([, amount]) => amount > 0);
    return { resources: some.map(([r]) => r), amounts: some.map(([, amount]) => amount) };
  };
  nodes.forEach((node, i) => {
    const choices: Choice[] = [];
    if (node.kind === "placeholder") {
      const all = patternsOf(mesh, sizesOf(node), false);
      const most = Math.max(...all.map((pattern) => shardCount(mesh, pattern)));
      const dealt = all.filter((pattern) => shardCount(mesh, pattern) === most);
      for (const pattern of machine.streams ? dealt.slice(i % dealt.length).slice(0, 1) : all) {
        const each = node.role === "parameter" ? TRAINED_BYTES : ELEMENT_BYTES;
        const bytes = ((elementsOf(sketch, node.dims) * each) / shardCount(mesh, pattern)) * counts[i];
        choices.push({ pattern, isKept: true, uses: uses([[memory, bytes]]), demands: [] });
      }
    } else {
      const labels = [
        ...new Set(
          operandsOf(node)
            .flatMap(({ dims }) => dims)
            .concat(node.dims),
        ),
      ];
      const plain = workRules(sketch, node, mesh);
      const streamed = machine.streams ? plain.flatMap((rule) => streamedRules(sketch, node, mesh, rule).flat()) : [];
      for (const rule of [...plain, ...streamed]) {
        const parts = rule.along.reduce((all, dim, j) => all * (dim === NOT_DEALT ? 1 : mesh.axes[j].size), 1);
        const work = node.kind === "einsum" ? 2 * elementsOf(sketch, labels) : 16 * elementsOf(sketch, node.dims);
        const computing = (work / parts / machine.flopsPerPs) * counts[i];
        const { of = RESULT, axes = 0, pieces = 1 } = rule.stream ?? {};
        const [moving, lies] =
          of === RESULT ? [i, rule.result] : [operandsOf(node)[of].node, rule.operands[of] as Pattern];
        // of one piece, all NPUs of the axes together
        const moved = (bytesOf(moving) * groupSize(mesh, axes)) / shardCount(mesh, lies) / pieces;
        const each = movedPs(mesh, machine, axes, moved * counts[i]);
        const pieceSum = each.reduce((sum, [, amount]) => sum + amount, 0);
        const ps = axes === 0 ? computing : streamedPs(pieces, pieceSum, computing / pieces);
        const traffic = each.map(([r, amount]) => [r, pieces * amount] as const);
        const demands = (later: boolean): Demand[] =>
          operandsOf(node).flatMap((operand, k) =>
            [operand.node, ...(also.has(operand.node) && counts[i] > 1 ? [also.get(operand.node) as number] : [])].map(
              (of) => ({
                supply: later ? 2 * of + 1 : supplyFor(node, of),
                pattern: rule.operands[k],
              }),
            ),
          );
        const one = { pattern: rule.result, uses: uses([[0, ps], ...traffic]), demands: demands(false) };
        choices.push({ ...one, isKept: false });
        if (node.phase === "backward") continue;
        const bytes = (bytesOf(i) / shardCount(mesh, rule.result)) * counts[i];
        choices.push({
          ...one,
          isKept: true,
          uses: uses([[0, ps], ...traffic, [memory, bytes]]),
        });
        choices.push({
          ...one,
          isKept: true,
          uses: uses([[0, 2 * ps], ...traffic.map(([r, amount]) => [r, 2 * amount] as const)]),
          demands: [...one.demands, ...demands(true)],
        });
      }
    }
    choosers.push({ name: node.name, choices });
  });
  for (const [parameter, gradient] of gradients) {
    const node = nodes[parameter];
    if (node.kind !== "placeholder") continue;
    choosers.push({
      name: `update ${node.name}`,
      choices: patternsOf(mesh, sizesOf(node), false).map((pattern) => ({
        pattern,
        isKept: false,
        uses: uses([]),
        demands: [
          { supply: forward(parameter), pattern },
          { supply: forward(gradient), pattern },
        ],
      })),
    });
  }
  const wanted = wantedPatterns(choosers, 2 * nodes.length);
  const supplies = nodes.flatMap((node, i): Supply[] => {
    const made = [...new Set(choosers[i].choices.map(({ pattern }) => pattern))];
    const copies = (s: number): Copy[] =>
      made.flatMap((from) =>
        wanted[s].flatMap((to): Copy[] => {
          const moves = movesBetween(mesh, sizesOf(node), from, to);
          if (moves === null || moves.length === 0) return [];
          const spent = moves.flatMap(({ kind, axes, parts }) =>
            movedPs(mesh, machine, axes, (bytesOf(i) / parts) * (kind === "allreduce" ? 2 : 1) * counts[i]),
          );
          const total = new Map<number, number>();
          for (const [r, amount] of spent) {
            total.set(r, (total.get(r) ?? 0) + amount);
            if (machine.streams) total.set(0, (total.get(0) ?? 0) + amount);
          }
          return [{ from, to, uses: uses([...total]) }];
        }),
      );
    return [0, 1].map((later) => ({ chooser: i, wantsKept: later === 1, copies: copies(2 * i + later) }));
  });
  return { mesh, resources, base: new Float64Array(resources.length), choosers, supplies };
}

function wantedPatterns(choosers: readonly Chooser[], supplyCount: number): Pattern[][] {
  const wanted: Set<Pattern>[] = Array.from({ length: supplyCount }, () => new Set());
  for (const { choices } of choosers)
    for (const { demands } of choices) for (const { supply, pattern } of demands) wanted[supply].add(pattern);
  return wanted.map((set) => [...set].sort((a, b) => a - b));
}

/** Shape of a transformer; sizes in elements. */
export interface TransformerShape {
  readonly layers: number;
  readonly batch: number;
  readonly tokens: number;
  readonly width: number;
  readonly heads: number;
  readonly hidden: number;
  readonly words: number;
}

/** Returns one training step of a transformer: one block stands for all of them. */
export function transformerProblem(shape: TransformerShape, mesh: Mesh, machine: Machine): PlanProblem {
  const sketch = emptySketch();
  const { layers } = shape;
  const b = dimension(sketch, "batch", shape.batch);
  const s = dimension(sketch, "tokens", shape.tokens);
  const t = dimension(sketch, "keys", shape.tokens);
  const d = dimension(sketch, "width", shape.width);
  const h = dimension(sketch, "heads", shape.heads);
  const e = dimension(sketch, "head width", shape.width / shape.heads);
  const f = dimension(sketch, "hidden", shape.hidden);
  const w = dimension(sketch, "words", shape.words);
  const x0 = placeholder(sketch, "tokens", "input", [b, s, w]);
  const table = placeholder(sketch, "table", "parameter", [w, d]);
  const embedded = einsum(sketch, "embedded", [whole(sketch, x0), whole(sketch, table)], [b, s, d]);
  const weight = (name: string, dims: number[]) => placeholder(sketch, name, "parameter", dims, layers);
  const [wq, wk, wv] = ["wq", "wk", "wv"].map((name) => weight(name, [d, h, e]));
  const wo = weight("wo", [h, e, d]);
  const [up, gate] = ["up", "gate"].map((name) => weight(name, [d, f]));
  const down = weight("down", [f, d]);
  const norm = (name: string, of: number) =>
    elementwise(sketch, name, "rms-norm", [whole(sketch, of)], [b, s, d], [d], layers);
  const product = (name: string, left: number, right: number, dims: number[], count = layers) =>
    einsum(sketch, name, [whole(sketch, left), whole(sketch, right)], dims, count);
  const n1 = norm("norm 1", embedded);
  const q = product("q", n1, wq, [b, s, h, e]);
  const k = product("k", n1, wk, [b, s, h, e]);
  const v = product("v", n1, wv, [b, s, h, e]);
  const asKeys = (node: number): Operand => ({ node, dims: [b, t, h, e] });
  const scores = einsum(sketch, "scores", [whole(sketch, q), asKeys(k)], [b, h, s, t], layers);
  const soft = elementwise(sketch, "soft", "softmax", [whole(sketch, scores)], [b, h, s, t], [t], layers);
  const mixed = einsum(sketch, "mixed", [whole(sketch, soft), asKeys(v)], [b, s, h, e], layers);
  const attention = product("attention", mixed, wo, [b, s, d]);
  const sum = (name: string, one: number, other: number) =>
    elementwise(sketch, name, "add", [whole(sketch, one), whole(sketch, other)], [b, s, d], [], layers);
  const x1 = sum("x1", embedded, attention);
  const n2 = norm("norm 2", x1);
  const u = product("u", n2, up, [b, s, f]);
  const g = product("g", n2, gate, [b, s, f]);
  const a = elementwise(sketch, "a", "silu", [whole(sketch, g)], [b, s, f], [], layers);
  const m = elementwise(sketch, "m", "multiply", [whole(sketch, a), whole(sketch, u)], [b, s, f], [], layers);
  const y = product("y", m, down, [b, s, d]);
  const x2 = sum("x2", x1, y);
  sketch.also.set(embedded, x2);
  const last = elementwise(sketch, "last norm", "rms-norm", [whole(sketch, x2)], [b, s, d], [d]);
  const head = placeholder(sketch, "head", "parameter", [d, w]);
  const logits = product("logits", last, head, [b, s, w], 1);
  const odds = elementwise(sketch, "odds", "softmax", [whole(sketch, logits)], [b, s, w], [w]);
  const tangent = placeholder(sketch, "tangent", "tangent", [b, s, w]);
  const gradients = addBackward(sketch, new Map([[odds, tangent]]));
  sketch.also.set(gradients.get(x2) as number, gradients.get(embedded) as number);
  return planProblem(sketch, gradients, mesh, machine);
}

/** Returns the problem of a random small graph: a chain with skips, weights or none, backward or not, on 1 to 3 axes; products may be streamed. */
export function randomPlanProblem(
  seed: number,
  most: { readonly nodes: number; readonly axes: number; readonly streams?: boolean },
): PlanProblem {
  const rng: Random = random(seed, 77);
  const pick = <T>(list: readonly T[]): T => list[rng.below(list.length)];
  const sketch = emptySketch();
  const sizes = [2, 4, 8, 16, 6];
  const dims = Array.from({ length: 2 + rng.below(2) }, (_, i) => dimension(sketch, `d${i}`, pick(sizes)));
  const some = (): number[] => {
    const chosen = dims.filter(() => rng.below(2) === 0);
    return chosen.length === 0 ? [pick(dims)] : chosen.slice(0, 2);
  };
  const hasBackward = rng.below(2) === 0;
  const count = 2 + rng.below(Math.max(1, (hasBackward ? Math.ceil(most.nodes / 2) : most.nodes) - 2));
  const made: number[] = [placeholder(sketch, "x", "input", some())];
  while (made.length < count) {
    const name = `t${made.length}`;
    const repeats = 1 + rng.below(3);
    const kind = rng.below(5);
    const left = rng.below(3) === 0 ? pick(made) : (made.at(-1) as number);
    if (kind === 0) made.push(placeholder(sketch, name, "parameter", some(), repeats));
    else if (kind === 1) {
      const { dims: own } = sketch.nodes[left];
      const [of, along] = pick([
        ["relu", []],
        ["scale", []],
        ["softmax", [own[0]]],
      ] as const);
      made.push(elementwise(sketch, name, of, [whole(sketch, left)], own, along, repeats));
    } else {
      const right = pick(made);
      const labels = [...new Set([...sketch.nodes[left].dims, ...sketch.nodes[right].dims])].sort((a, b) => a - b);
      const kept = labels.filter(() => rng.below(3) > 0).slice(0, 2);
      made.push(
        einsum(
          sketch,
          name,
          [whole(sketch, left), whole(sketch, right)],
          kept.length === 0 ? [labels[0]] : kept,
          repeats,
        ),
      );
    }
  }
  const end = made.at(-1) as number;
  let gradients: ReadonlyMap<number, number> = new Map();
  if (hasBackward) {
    const tangent = placeholder(sketch, "tangent", "tangent", sketch.nodes[end].dims);
    gradients = addBackward(sketch, new Map([[end, tangent]]));
  }
  const axes = 1 + rng.below(most.axes);
  const mesh = meshOf(Array.from({ length: axes }, () => 2));
  const machine: Machine = {
    flopsPerPs: 0.5 + rng.below(40) / 10,
    bytesPerPs: mesh.axes.map(() => 0.05 + rng.below(40) / 10),
    memoryBytes: Number.POSITIVE_INFINITY,
    streams: most.streams ?? false,
  };
  return planProblem(sketch, gradients, mesh, machine);
}
