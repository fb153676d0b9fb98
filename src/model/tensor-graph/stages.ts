import { InputError, inWords } from "../../base/errors.ts";
import { parametersBehind, withGradients } from "./backward.ts";
import { classesByKey, type GraphNode, type Operand, operandsOf, type TensorGraph } from "./graph.ts";
import { forwardParts } from "./parts.ts";

/** A node of a stage's graph. */
export interface StagePlace {
  readonly stage: number;
  readonly node: number;
}

/** A tensor that one stage sends to another in every pass: what a forward node made, or the gradient that comes back for it. */
export interface Crossing {
  /** The node that stands for the tensor as it is sent. */
  readonly from: StagePlace;
  /** The placeholder as which it comes. */
  readonly to: StagePlace;
}

/** A graph cut into stages, each a graph with the gradients of its parameters. */
export interface StagedGraph {
  readonly graphs: readonly TensorGraph[];
  /** [stages][nodes] the node of the whole graph that it is; -1 of gradients and of what is sent. */
  readonly sources: readonly Int32Array[];
  readonly crossings: readonly Crossing[];
  /** Parameters that several stages have, each with all of its places: gradients are to be summed over them. */
  readonly shared: readonly (readonly StagePlace[])[];
  /** [outputs of the whole graph] the nodes that make them. */
  readonly outputs: readonly StagePlace[];
}

/**
 * Returns [nodes] the part of a forward graph in which each node is, between which it may be cut: repeated parts (layers), what comes
 * before them, and what comes behind; 0 for all where nothing repeats. Parts are put together where a tensor that stays inside a
 * kernel goes from one to the next. O(nodes + operands).
 */
export function cutParts({ nodes, classes }: TensorGraph): Int32Array {
  const { part, lastRepeated } = forwardParts({ nodes, classes });
  const raw = part.map((own, i) => (lastRepeated >= 0 && i > lastRepeated ? own + 1 : own));
  const count = Math.max(0, ...raw) + 1;
  const isClosed = new Uint8Array(count + 1);
  nodes.forEach((node, i) => {
    if (node.kind === "output") return;
    for (const { node: of } of operandsOf(node)) {
      if (nodes[of]?.isFused !== true) continue;
      for (let cut = (raw[of] as number) + 1; cut <= (raw[i] as number); cut++) isClosed[cut] = 1;
    }
  });
  const numbers = new Int32Array(count);
  // nothing is computed before the first node of work
  const first = nodes.findIndex(({ kind }) => kind !== "placeholder");
  for (let p = 1; p < count; p++) {
    const isEmpty = p <= (raw[first] as number);
    numbers[p] = (numbers[p - 1] as number) + (isClosed[p] === 1 || isEmpty ? 0 : 1);
  }
  return raw.map((own) => numbers[own] as number);
}

/** A stage as it is put together. */
interface Stage {
  readonly graph: TensorGraph;
  readonly source: Int32Array;
}

/**
 * Returns a forward graph cut into stages, `stageOf` [nodes] telling where each node is done (of placeholders and the output it
 * tells nothing). A tensor that a later stage takes is sent there from the one that makes it, and its gradient comes back, if
 * parameters are behind it: in the sender a fused node of function "shift" by 0 stands for it (which takes no sums that are still
 * to be summed), in the receiver a placeholder of role "input". Placeholders are in every stage that takes them. Throws
 * InputError for a graph with gradients, for a tensor that would go back, or that stays inside a kernel; for a parameter that has a
 * gradient in some stages only. O(nodes x stages).
 */
export function stagedGraph(graph: TensorGraph, stageOf: Int32Array, count: number): StagedGraph {
  const { nodes, classes } = graph;
  const output = nodes[nodes.length - 1] as GraphNode;
  if (graph.gradients.length > 0 || nodes.some(({ phase }) => phase === "backward")) {
    throw new InputError("the graph", "a forward graph, to be cut into stages", inWords("one with gradients"));
  }
  const behind = parametersBehind(nodes);
  /** [stages] placeholders and tensors of stages before that it takes, ascending. */
  const takes = Array.from({ length: count }, () => new Set<number>());
  const isGiven = (n: number): boolean => (nodes[n] as GraphNode).kind === "placeholder";
  nodes.forEach((node, i) => {
    if (node.kind === "output") return;
    const stage = stageOf[i] as number;
    for (const { node: of } of operandsOf(node)) {
      if (isGiven(of)) takes[stage]?.add(of);
      else if (stageOf[of] !== stage) {
        const { name, isFused } = nodes[of] as GraphNode;
        if ((stageOf[of] as number) > stage) throw new InputError(`the stage of node ${name}`, `at most ${stage}`);
        if (isFused) throw new InputError(`the stage of node ${name}`, "that of all that take what stays in a kernel");
        takes[stage]?.add(of);
      }
    }
  });
  const outputStages = operandsOf(output).map(({ node }) => (isGiven(node) ? 0 : (stageOf[node] as number)));
  operandsOf(output).forEach(({ node }) => {
    if (isGiven(node)) takes[0]?.add(node);
  });

  const stages: Stage[] = [];
  const crossings: Crossing[] = [];
  const outputs: StagePlace[] = [];
  /** By "tensor, stage that takes it": where it comes, and what sends its gradient back. */
  const arrivals = new Map<string, { readonly node: number; readonly back: number | null }>();
  const targetsOf = (n: number, stage: number): number[] =>
    isGiven(n) ? [] : takes.map((own, t) => (t > stage && own.has(n) ? t : -1)).filter((t) => t >= 0);

  for (let stage = count - 1; stage >= 0; stage--) {
    const made: GraphNode[] = [];
    const keys: string[] = [];
    const sources: number[] = [];
    const local = new Map<number, number>();
    const sent: { readonly tensor: number; readonly to: number }[] = [];
    const mapped = (operands: readonly Operand[]): Operand[] =>
      operands.map(({ node, dims }) => ({ node: local.get(node) as number, dims }));
    nodes.forEach((node, n) => {
      const comes = takes[stage]?.has(n) === true;
      if (node.kind === "output" || (!comes && (isGiven(n) || stageOf[n] !== stage))) return;
      local.set(n, made.length);
      sources.push(n);
      if (comes && !isGiven(n)) {
        const { name, dims, elementBytes } = node;
        const base = { name, dims, elementBytes, phase: "forward", isFused: false } as const;
        // as long as gradients are made what has one is a parameter
        made.push({ ...base, kind: "placeholder", role: behind[n] ? "parameter" : "input" });
        keys.push(`from before ${n}`);
        return;
      }
      made.push({ ...node, ...("operands" in node && { operands: mapped(node.operands) }) } as GraphNode);
      keys.push(`${classes[n]}`);
      for (const to of targetsOf(n, stage)) sent.push({ tensor: n, to });
    });
    const own = operandsOf(output).filter((_, k) => outputStages[k] === stage);
    const comesBack = ({ tensor, to }: { tensor: number; to: number }): boolean =>
      arrivals.get(`${tensor} ${to}`)?.back !== null;
    const whole = (tensor: number): Operand => ({ node: tensor, dims: (nodes[tensor] as GraphNode).dims });
    const returning = sent.filter(comesBack);
    const out: GraphNode = {
      ...(output as Extract<GraphNode, { kind: "output" }>),
      operands: mapped([...own, ...returning.map(({ tensor }) => whole(tensor))]),
    };
    const forward: TensorGraph = {
      name: graph.name,
      dimensions: graph.dimensions,
      nodes: [...made, out],
      gradients: [],
      classes: classesByKey([...keys, "output"]),
    };
    const full = withGradients(forward);
    const isIncoming = (i: number): boolean => made[i]?.kind === "placeholder" && !isGiven(sources[i] as number);

    // what is sent stands behind what makes it
    const sends = new Map<number, { readonly name: string; readonly done: (node: number) => void }[]>();
    const send = (node: number, name: string, done: (node: number) => void): void => {
      sends.set(node, [...(sends.get(node) ?? []), { name, done }]);
    };
    const senders: Operand[] = [];
    for (const { tensor, to } of sent) {
      const { name } = nodes[tensor] as GraphNode;
      send(local.get(tensor) as number, `${name}, to stage ${to + 1}`, (node) => {
        const arrival = arrivals.get(`${tensor} ${to}`) as { readonly node: number };
        crossings.push({ from: { stage, node }, to: { stage: to, node: arrival.node } });
      });
    }
    const backOf = new Map<number, number>();
    for (const { parameter, gradient } of full.gradients) {
      if (!isIncoming(parameter)) continue;
      const tensor = sources[parameter] as number;
      const { name } = nodes[tensor] as GraphNode;
      send(gradient, `gradient of ${name}, to stage ${(stageOf[tensor] as number) + 1}`, (node) => {
        backOf.set(tensor, node);
      });
    }
    // tangents are in the order of the outputs that have one; those of what is sent come from the stages that take it
    const tangents = full.nodes.flatMap((node, i) =>
      node.kind === "placeholder" && node.role === "tangent" ? [i] : [],
    );
    const comeBack = tangents.slice(own.filter(({ node }) => behind[node]).length);
    const numberOf = new Int32Array(full.nodes.length).fill(-1);
    const result: GraphNode[] = [];
    const classKeys: string[] = [];
    const place = (node: GraphNode, key: string): number => {
      classKeys.push(key);
      return result.push(node) - 1;
    };
    const moved = (operands: readonly Operand[]): Operand[] =>
      operands.map(({ node, dims }) => ({ node: numberOf[node] as number, dims }));
    full.nodes.slice(0, -1).forEach((node, i) => {
      const now =
        node.kind !== "placeholder"
          ? ({ ...node, operands: moved(node.operands) } as GraphNode)
          : isIncoming(i) || comeBack.includes(i)
            ? { ...node, role: "input" as const }
            : node;
      numberOf[i] = place(now, `${full.classes[i]}`);
      for (const { name, done } of sends.get(i) ?? []) {
        const { dims, elementBytes, phase } = node;
        const operand: Operand = { node: numberOf[i] as number, dims };
        const base = { name, dims, elementBytes, phase, isFused: true } as const;
        const more = { kind: "elementwise", function: "shift", constant: 0, whole: [], operands: [operand] } as const;
        const at = place({ ...base, ...more }, `send ${i} ${name}`);
        senders.push({ node: at, dims });
        done(at);
      }
    });
    const gradients = full.gradients
      .filter(({ parameter }) => !isIncoming(parameter))
      .map(({ parameter, gradient }) => ({
        parameter: numberOf[parameter] as number,
        gradient: numberOf[gradient] as number,
      }));
    const listed = gradients.map(({ gradient }): Operand => ({ node: gradient, dims: result[gradient]?.dims ?? [] }));
    const last = full.nodes[full.nodes.length - 1] as Extract<GraphNode, { kind: "output" }>;
    const outgoing = moved(mapped(own));
    place({ ...last, operands: [...outgoing, ...listed, ...senders] }, "output");
    const source = new Int32Array(result.length).fill(-1);
    sources.forEach((n, i) => {
      source[numberOf[i] as number] = n;
    });
    stages[stage] = {
      graph: { ...graph, nodes: result, gradients, classes: classesByKey(classKeys) },
      source,
    };
    for (const n of takes[stage] as Set<number>) {
      if (isGiven(n)) continue;
      arrivals.set(`${n} ${stage}`, { node: numberOf[local.get(n) as number] as number, back: backOf.get(n) ?? null });
    }
    returning.forEach(({ tensor, to }, k) => {
      const back = arrivals.get(`${tensor} ${to}`)?.back as number;
      crossings.push({
        from: { stage: to, node: back },
        to: { stage, node: numberOf[comeBack[k] as number] as number },
      });
    });
    let k = 0;
    outputStages.forEach((where, o) => {
      if (where === stage) outputs[o] = { stage, node: (outgoing[k++] as Operand).node };
    });
  }
  return {
    graphs: stages.map((one) => one.graph),
    sources: stages.map((one) => one.source),
    crossings,
    shared: sharedParameters(graph, stages),
    outputs,
  };
}

/** Returns the places of parameters that several stages have. Throws InputError where only some of them have a gradient. */
function sharedParameters({ nodes }: TensorGraph, stages: readonly Stage[]): StagePlace[][] {
  const places = new Map<number, StagePlace[]>();
  stages.forEach(({ source }, stage) => {
    source.forEach((n, node) => {
      const one = nodes[n];
      if (one?.kind !== "placeholder" || one.role !== "parameter") return;
      places.set(n, [...(places.get(n) ?? []), { stage, node }]);
    });
  });
  const shared = [...places].filter(([, all]) => all.length > 1);
  const hasGradient = ({ stage, node }: StagePlace): boolean =>
    stages[stage]?.graph.gradients.some(({ parameter }) => parameter === node) === true;
  for (const [n, all] of shared) {
    const count = all.filter(hasGradient).length;
    if (count > 0 && count < all.length) {
      throw new InputError(`the parameter ${nodes[n]?.name}`, "with a gradient in every stage that takes it").as(
        "not-applicable",
      );
    }
  }
  return shared.map(([, all]) => all).filter(([first]) => hasGradient(first as StagePlace));
}
