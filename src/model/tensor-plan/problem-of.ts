import { type GraphNode, operandsOf, type Placeholder, type TensorGraph, tangentsOf } from "../tensor-graph/graph.ts";
import { forwardParts } from "../tensor-graph/parts.ts";
import type { Computation } from "../workload/layer-work.ts";
import { updateComputation } from "../workload/sharing.ts";
import type { AxisSet, Mesh } from "./mesh.ts";
import { type ListOf, type MoveList, moveLists } from "./move-lists.ts";
import { exactly, type MoveKind, type Pattern, patternsOf, plainly, shardCount } from "./patterns.ts";
import type { NodePlan, Retention, TensorPlan } from "./plan.ts";
import {
  type Choice,
  type Chooser,
  type Copy,
  type Demand,
  isFree,
  type PlanChoice,
  type PlanProblem,
  type Resource,
  type Supply,
  type Uses,
} from "./problem.ts";
import { RESULT, takesNoSummand, type WorkRule, workRules } from "./rules.ts";
import { pieceMove, type StreamedRule, streamed, streamedPs, streamedRules } from "./streams.ts";
import { localBytes, sizesOf, tensorBytes, workOf } from "./work.ts";

/** What things cost on the NPUs of a mesh. */
export interface PlanCosts {
  /** Picoseconds that one NPU computes. */
  readonly computationPs: (computation: Computation) => number;
  /** Picoseconds of a collective by all groups of some axes at once, with so many bytes in the buffer of an NPU. */
  readonly movePs: (kind: MoveKind, axes: AxisSet, bytes: number) => number;
  /**
   * Picoseconds until so many bytes of a placeholder are there on every NPU which another stage sends (of a parameter: bytes of its
   * gradient there); 0 of what no stage sends. Without: of all.
   */
  readonly receivePs?: (node: number, bytes: number) => number;
}

/** How often what is done, and what is kept of it. */
export interface PlanTerms {
  /** Bytes of one NPU. */
  readonly memoryBytes: number;
  /** Passes of a step, one after the other, each of the graph's batch. */
  readonly microBatches: number;
  /** Passes whose activations are kept at a time. */
  readonly inFlight: number;
  /** Bytes that the optimiser keeps of a parameter's element, and bytes of its gradient's. */
  readonly optimizerBytes: number;
  readonly gradientBytes: number;
  /** By parameter: from how many other stages its gradient comes too, to be summed. */
  readonly gradientsFrom?: ReadonlyMap<number, number>;
  /** No product is streamed, and nothing is taken as a summand: as in plans by hand. */
  readonly isPlain?: boolean;
  /** Nodes at which memory is counted with all tensors that are there then, each as a memory of its own; none without. */
  readonly peaks?: readonly number[];
}

/** When a tensor is taken: in the forward pass, in the backward pass (also to make another again), for the update of parameters. */
type Time = "forward" | "backward" | "update";

/** Which choosers and supplies stand for which nodes; for plans that are told of nodes. */
export interface PlanIndex {
  /** [classes] chooser of the class; -1 of the output. */
  readonly chooserOf: Int32Array;
  /** [classes] chooser of the update of a parameter; -1 where there is none. */
  readonly updateOf: Int32Array;
  /** [nodes] supply of a node's tensor at a time; -1 where nobody takes it then. */
  readonly supplies: { readonly [T in Time]: Int32Array };
  /** [classes] supply of a parameter behind its update; -1 where there is none. */
  readonly updatedSupply: Int32Array;
  /** Copies of gradients that are made once a step, for all passes together. */
  readonly once: ReadonlySet<Copy>;
  /** [choosers][choices] what each choice means. */
  readonly meanings: readonly (readonly ChoiceMeaning[])[];
}

export interface ChoiceMeaning {
  readonly rule: WorkRule | null;
  readonly retention: Retention;
}

/** A problem, and what its numbers mean. */
export interface StatedProblem {
  readonly problem: PlanProblem;
  readonly index: PlanIndex;
}

/** The resource that counts computing and what is waited for; the traffic of axis j is 1 + j; then what lasts, and peaks of memory. */
export const STEP_TIME = 0;
export const trafficOf = (j: number): number => 1 + j;
export const memoryOf = ({ axes }: Mesh): number => 1 + axes.length;

const NO_PLAN: Pick<NodePlan, "forwardCopies" | "backwardCopies" | "updateCopies" | "isSummedOnce"> = {
  forwardCopies: [],
  backwardCopies: [],
  updateCopies: [],
  isSummedOnce: false,
};

/** Returns of how many passes at a time a placeholder is there. */
export const copiesOf = ({ role, phase }: Placeholder, { inFlight }: PlanTerms): number =>
  role === "input" && phase === "forward" ? inFlight : 1;

const NO_USES: Uses = { resources: [], amounts: [] };

/** Streams are choices where they save so much of the least that a step computes. */
const LEAST_SAVED = 1e-3;

/** Amounts by resource, put together. */
class UseList {
  readonly #amounts = new Map<number, number>();

  add(resource: number, amount: number): this {
    if (amount > 0) this.#amounts.set(resource, (this.#amounts.get(resource) ?? 0) + amount);
    return this;
  }

  uses(): Uses {
    if (this.#amounts.size === 0) return NO_USES;
    const sorted = [...this.#amounts].sort(([a], [b]) => a - b);
    return { resources: sorted.map(([r]) => r), amounts: sorted.map(([, amount]) => amount) };
  }
}

/** Returns what gives the amounts of some collectives and a number that they depend on, worked out once. */
function sharedUses(): (moves: MoveList, key: number, list: () => UseList) => Uses {
  const known = new Map<MoveList, Map<number, Uses>>();
  return (moves, key, list) => {
    let row = known.get(moves);
    if (row === undefined) {
      row = new Map();
      known.set(moves, row);
    }
    let uses = row.get(key);
    if (uses === undefined) {
      uses = list().uses();
      row.set(key, uses);
    }
    return uses;
  };
}

/** When a tensor is first and last taken by nodes of a phase: their indices; Infinity and -1 where none takes it. */
interface TakingTimes {
  forward: { first: number; last: number };
  readonly backward: { first: number; last: number };
  /** When it may be wanted in the backward pass, if only so that others are made again. */
  wanted: number;
  /** It goes from one repeated part to the next: it is not made again, or all parts would be made again at once. */
  isPassedOn: boolean;
}

/** Returns when nodes' tensors are taken. O(operands). */
function takingTimes({ nodes, classes }: TensorGraph, answeredBy: Int32Array): TakingTimes[] {
  const never = () => ({ first: Number.POSITIVE_INFINITY, last: -1 });
  const times = nodes.map(
    (): TakingTimes => ({ forward: never(), backward: never(), wanted: Number.POSITIVE_INFINITY, isPassedOn: false }),
  );
  const parts = forwardParts({ nodes, classes }).part;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i] as GraphNode;
    const own = times[i] as TakingTimes;
    own.wanted = Math.min(own.wanted, own.backward.first);
    if (node.kind === "output") continue;
    const answered = times[answeredBy[i] as number];
    if (answered !== undefined) answered.forward = { first: i, last: Math.max(i, answered.forward.last) };
    for (const { node: of } of operandsOf(node)) {
      const one = times[of] as TakingTimes;
      const taken = one[node.phase];
      taken.first = Math.min(taken.first, i);
      taken.last = Math.max(taken.last, i);
      if (node.phase === "backward") continue;
      if (parts[i] === parts[of]) one.wanted = Math.min(one.wanted, own.wanted);
      else one.isPassedOn = true;
    }
  }
  return times;
}

/** A rule, and what one NPU takes under it, picoseconds, with what it moves meanwhile. */
interface TimedRule<Rule extends WorkRule = WorkRule> {
  readonly rule: Rule;
  readonly ps: number;
  readonly trafficPs: number;
  readonly axes: AxisSet;
  readonly workingBytes: number;
}

/** Nodes of one class. */
interface ClassOf {
  readonly nodes: readonly number[];
  readonly node: GraphNode;
}

/**
 * Returns the search for the states of a graph's tensors (Zhao 2026, 5.4; operators' costs in tables as in Alpa, Zheng et al. 2022)
 * as numbers. Every class of nodes chooses a rule of work and what becomes of its tensor; parameters choose where they lie, and where
 * their optimiser's state does. Collectives between patterns are copies, shared by all who take the tensor at a time.
 *
 * The gradient that an output is given lies as the output does, brought there if need be: what is done to it lies between.
 *
 * Times: what an NPU computes with what it has to wait for (collectives of activations, and new parameters at the end), and the
 * traffic of each axis. The document's time is the greatest of computing and communication; here what nothing can hide counts with
 * the computing. Memory is what lasts: parameters, gradients, optimiser, kept activations; at `peaks` of the terms also what is
 * there between the nodes that make and take it, as lifetimes.ts counts it, but for what is made again for others to be made again.
 */
export function planProblem(graph: TensorGraph, mesh: Mesh, costs: PlanCosts, terms: PlanTerms): StatedProblem {
  const { nodes, classes } = graph;
  const { microBatches, peaks = [] } = terms;
  const byClass: { nodes: number[]; node: GraphNode }[] = [];
  nodes.forEach((node, i) => {
    const known = byClass[classes[i] as number];
    if (known === undefined) byClass[classes[i] as number] = { nodes: [i], node };
    else known.nodes.push(i);
  });
  const memory = memoryOf(mesh);
  const resources: Resource[] = [
    { name: "computing and waiting", kind: "time", limit: Number.POSITIVE_INFINITY },
    ...mesh.axes.map(
      ({ name }): Resource => ({ name: `traffic on ${name}`, kind: "time", limit: Number.POSITIVE_INFINITY }),
    ),
    ...["memory", ...peaks.map((node) => `memory at ${(nodes[node] as GraphNode).name}`)].map(
      (name): Resource => ({ name, kind: "memory", limit: terms.memoryBytes }),
    ),
  ];

  const sizes = nodes.map((node) => sizesOf(graph, node));
  const bytes = nodes.map((node) => tensorBytes(graph, node));

  const gradientOf = new Map(graph.gradients.map(({ parameter, gradient }) => [parameter, gradient]));
  const isGradient = new Set(gradientOf.values());
  const chooserOf = new Int32Array(byClass.length).fill(-1);
  const updateOf = new Int32Array(byClass.length).fill(-1);
  let chooserCount = 0;
  byClass.forEach(({ node }, c) => {
    if (node.kind !== "output") chooserOf[c] = chooserCount++;
  });
  byClass.forEach(({ nodes: members }, c) => {
    if (gradientOf.has(members[0] as number)) updateOf[c] = chooserCount++;
  });

  // Who takes a tensor when: [class of taker, its operand], "again" of a forward node that is made in the backward pass too.
  interface Taker {
    readonly class: number;
    readonly operand: number;
  }
  const takers: Record<Time, Taker[][]> = {
    forward: nodes.map(() => []),
    backward: nodes.map(() => []),
    update: nodes.map(() => []),
  };
  const hasBackward = nodes.some(({ kind, phase }) => kind !== "output" && phase === "backward");
  const answeredBy = tangentsOf(graph);
  nodes.forEach((node, i) => {
    if (node.kind === "output") return;
    const answered = answeredBy[i] as number;
    if (answered >= 0) (takers.forward[answered] as Taker[]).push({ class: classes[i] as number, operand: 0 });
    operandsOf(node).forEach(({ node: of }, operand) => {
      const taker = { class: classes[i] as number, operand };
      if (node.phase === "backward") (takers.backward[of] as Taker[]).push(taker);
      else {
        (takers.forward[of] as Taker[]).push(taker);
        if (hasBackward) (takers.backward[of] as Taker[]).push(taker);
      }
    });
  });
  for (const [parameter, gradient] of gradientOf) {
    (takers.update[gradient] as Taker[]).push({ class: classes[parameter] as number, operand: 0 });
  }

  const lifetimes = takingTimes(graph, answeredBy);
  /** Adds what lasts to what is there at any time. */
  const addLasting = (uses: UseList, amount: number): UseList => {
    for (let k = 0; k <= peaks.length; k++) uses.add(memory + k, amount);
    return uses;
  };
  /** Adds bytes of each of some nodes to the peaks at which `isThere` says that it is. */
  const addPassing = (
    uses: UseList,
    members: readonly number[],
    own: number,
    isThere: (node: number, peak: number) => boolean,
  ) => {
    peaks.forEach((peak, k) => {
      uses.add(memory + 1 + k, own * members.filter((member) => isThere(member, peak)).length);
    });
    return uses;
  };

  /** Returns what placeholders use, of so many bytes each: answered gradients of outputs are there while they are taken, all else lasts. */
  const placed = (node: Placeholder, members: readonly number[], own: number): Uses => {
    if (node.role !== "tangent" || members.every((i) => (answeredBy[i] as number) < 0)) {
      const uses = addLasting(new UseList(), own * members.length * copiesOf(node, terms));
      if (node.role === "input") uses.add(STEP_TIME, received(members, own) * microBatches);
      return uses.uses();
    }
    const isThere = (i: number, peak: number) => i <= peak && peak <= (lifetimes[i] as TakingTimes).backward.last;
    return addPassing(new UseList(), members, own, isThere).uses();
  };

  /** Returns picoseconds until so many bytes of each are there, once. */
  const received = (members: readonly number[], own: number): number =>
    members.reduce((all, i) => all + (costs.receivePs?.(i, own) ?? 0), 0);

  /** Supplies: nodes of one class that the same classes take. */
  interface Group {
    readonly chooser: number;
    readonly time: Time;
    readonly wantsKept: boolean;
    readonly members: number[];
    readonly wanted: Set<Pattern>;
  }
  const groups: Group[] = [];
  const supplies = {
    forward: new Int32Array(nodes.length).fill(-1),
    backward: new Int32Array(nodes.length).fill(-1),
    update: new Int32Array(nodes.length).fill(-1),
  };
  const known = new Map<string, number>();
  for (const time of ["forward", "backward", "update"] as const) {
    nodes.forEach((node, i) => {
      const takes = takers[time][i] as Taker[];
      if (takes.length === 0) return;
      const key = `${time} ${classes[i]} ${takes
        .map((taker) => `${taker.class}.${taker.operand}`)
        .sort()
        .join(" ")}`;
      let at = known.get(key);
      if (at === undefined) {
        at = groups.length;
        known.set(key, at);
        groups.push({
          chooser: chooserOf[classes[i] as number] as number,
          time,
          wantsKept: time === "backward" && node.phase === "forward",
          members: [],
          wanted: new Set(),
        });
      }
      (groups[at] as Group).members.push(i);
      supplies[time][i] = at;
    });
  }
  /** Updated parameters, as those take them that lie elsewhere: one supply for each class of parameters. */
  const updatedSupply = new Int32Array(byClass.length).fill(-1);
  byClass.forEach(({ nodes: members }, c) => {
    if ((updateOf[c] as number) < 0) return;
    updatedSupply[c] = groups.length;
    groups.push({
      chooser: updateOf[c] as number,
      time: "update",
      wantsKept: false,
      members: [...members],
      wanted: new Set(),
    });
  });

  const demand = (supply: number, pattern: Pattern): Demand => {
    (groups[supply] as Group).wanted.add(pattern);
    return { supply, pattern };
  };
  /** What a class takes at a time, each once: an operand of a supply. */
  const takenBy = ({ nodes: members }: ClassOf, time: Time): { supply: number; operand: number }[] => {
    const taken = new Map<string, { supply: number; operand: number }>();
    for (const i of members) {
      operandsOf(nodes[i] as GraphNode).forEach(({ node: of }, operand) => {
        const supply = supplies[time][of] as number;
        taken.set(`${supply} ${operand}`, { supply, operand });
      });
    }
    return [...taken.values()];
  };
  const demandsOf = (taken: readonly { supply: number; operand: number }[], rule: WorkRule): Demand[] => {
    const wanted = new Map<string, Demand>();
    for (const { supply, operand } of taken) {
      const one = demand(supply, rule.operands[operand] as Pattern);
      wanted.set(`${one.supply} ${one.pattern}`, one);
    }
    return [...wanted.values()];
  };

  const computingPs = new Map<GraphNode, Map<string, number>>();
  const timed = <Rule extends WorkRule>(node: GraphNode, rule: Rule): TimedRule<Rule> => {
    const known = computingPs.get(node) ?? new Map<string, number>();
    computingPs.set(node, known);
    const dealt = `${rule.along} ${rule.stream?.along} ${rule.stream?.pieces}`;
    const computing = known.get(dealt) ?? costs.computationPs(workOf(graph, mesh, node, rule));
    known.set(dealt, computing);
    const way = streamed(rule);
    if (way === null) return { rule, ps: computing, trafficPs: 0, axes: 0, workingBytes: 0 };
    const { kind, axes, bytes: moved, pieces, workingBytes } = pieceMove(graph, mesh, node, way);
    const ps = costs.movePs(kind, axes, moved);
    return { rule, ps: streamedPs(pieces, ps, computing), trafficPs: pieces * ps, axes, workingBytes };
  };
  const rulesOf = byClass.map(({ node }): readonly TimedRule[] =>
    node.kind === "placeholder" || node.kind === "output"
      ? []
      : workRules(graph, node, mesh)
          .filter((rule) => terms.isPlain !== true || takesNoSummand(mesh, rule))
          .map((rule) => timed(node, rule)),
  );
  /** No step computes for less. */
  const leastPs = byClass.reduce((sum, { nodes: members }, c) => {
    const own = (rulesOf[c] as readonly TimedRule[]).map(({ ps }) => ps);
    return own.length === 0 ? sum : sum + members.length * own.reduce((least, ps) => Math.min(least, ps));
  }, 0);
  const listsOf = sizes.map(moveLists(mesh));
  const waits = nodes.map(() => new Map<MoveList, number>());
  /** Parameters are fetched ahead, and nothing waits for sums of gradients. */
  const isHidden = (i: number): boolean => gradientOf.has(i) || isGradient.has(i);
  /** Returns for how long a node's tensor is brought from one pattern to another, if that is waited for. */
  const waitPs = (i: number, from: Pattern, to: Pattern): number => {
    if (from === to || isHidden(i)) return 0;
    const moves = (listsOf[i] as ListOf)(from)(to);
    if (moves === null) return Number.POSITIVE_INFINITY;
    const own = waits[i] as Map<MoveList, number>;
    let ps = own.get(moves);
    if (ps === undefined) {
      ps = moves.reduce(
        (sum, { kind, axes, parts }) => sum + costs.movePs(kind, axes, (bytes[i] as number) / parts),
        0,
      );
      own.set(moves, ps);
    }
    return ps;
  };
  /**
   * Returns the streams of a class's product, each in as many pieces as are fastest: those that save enough of what any rule takes
   * whose operands come from the same patterns, and whose result is brought to the same.
   */
  const streamsOf = ({ nodes: members, node }: ClassOf, rules: readonly TimedRule[]): TimedRule[] => {
    if (terms.isPlain === true) return [];
    const first = members[0] as number;
    const taken = operandsOf(node).map(({ node: of }) => of);
    const fastest = [...rules].sort((a, b) => a.ps - b.ps);
    const isWithin = ({ rule, ps }: TimedRule, { operands, result }: WorkRule, most: number): boolean => {
      let all = ps;
      if (all <= most) all += waitPs(first, rule.result, result);
      for (let k = 0; k < taken.length && all <= most; k++)
        all += waitPs(taken[k] as number, operands[k] as Pattern, rule.operands[k] as Pattern);
      return all <= most;
    };
    return rules.flatMap((base) =>
      streamedRules(graph, node, mesh, base.rule).flatMap((ways) => {
        const [{ stream }] = ways as [StreamedRule];
        if (isHidden(stream.of === RESULT ? first : (taken[stream.of] as number))) return [];
        const best = ways.map((way) => timed(node, way)).reduce((one, other) => (other.ps < one.ps ? other : one));
        const most = best.ps + (LEAST_SAVED * leastPs) / members.length;
        // mostly it is the same work, with what is streamed brought at once
        if (isWithin(base, best.rule, most)) return [];
        for (const one of fastest) {
          if (one.ps > most) break;
          if (isWithin(one, best.rule, most)) return [];
        }
        return [best];
      }),
    );
  };

  const choosers: Chooser[] = [];
  const meanings: ChoiceMeaning[][] = [];
  const put = (at: number, name: string, choices: (Choice & ChoiceMeaning)[]): void => {
    choosers[at] = {
      name,
      choices: choices.map(({ pattern, isKept, uses, demands }) => ({ pattern, isKept, uses, demands })),
    };
    meanings[at] = choices.map(({ rule, retention }) => ({ rule, retention }));
  };
  byClass.forEach((of, c) => {
    const { node, nodes: members } = of;
    const first = members[0] as number;
    const at = chooserOf[c] as number;
    if (node.kind === "output") return;
    if (node.kind === "placeholder") {
      const patterns = patternsOf(mesh, sizes[first] as number[], false);
      const updated = updatedSupply[c] as number;
      const answered = new Set(members.map((i) => supplies.forward[answeredBy[i] as number] ?? -1));
      answered.delete(-1);
      put(
        at,
        node.name,
        patterns.map((pattern) => ({
          pattern,
          isKept: true,
          rule: null,
          retention: "kept",
          uses: placed(node, members, (bytes[first] as number) / shardCount(mesh, pattern)),
          demands: [...(updated < 0 ? [] : [updated]), ...answered].map((supply) => demand(supply, pattern)),
        })),
      );
      return;
    }
    const isTakenAgain = node.phase === "forward" && members.some((i) => (supplies.backward[i] as number) >= 0);
    const isPassedOn = members.some((i) => (lifetimes[i] as TakingTimes).isPassedOn);
    const choices: (Choice & ChoiceMeaning)[] = [];
    const taken = takenBy(of, node.phase);
    const takenAgain = isTakenAgain ? takenBy(of, "backward") : [];
    const rules = rulesOf[c] as readonly TimedRule[];
    for (const { rule, ps, trafficPs, axes, workingBytes } of [...rules, ...streamsOf(of, rules)]) {
      const demands = demandsOf(taken, rule);
      const one = (retention: Retention): Choice & ChoiceMeaning => {
        const times = members.length * microBatches * (retention === "again" ? 2 : 1);
        const uses = new UseList().add(STEP_TIME, ps * times);
        for (let j = 0; j < mesh.axes.length; j++) if ((axes >> j) & 1) uses.add(trafficOf(j), trafficPs * times);
        addPassing(uses, members, workingBytes, (i, peak) => {
          const isAgain = retention === "again" && (lifetimes[i] as TakingTimes).wanted === peak;
          return i === peak || isAgain;
        });
        const own = localBytes(graph, mesh, node, rule.result);
        if (retention === "kept") addLasting(uses, own * members.length * terms.inFlight);
        else {
          const isAgain = retention === "again";
          addPassing(uses, members, own, (i, peak) => {
            const { forward, backward, wanted } = lifetimes[i] as TakingTimes;
            const isMade = i <= peak && peak <= Math.max(i, node.phase === "forward" ? forward.last : backward.last);
            return isMade || (isAgain && wanted <= peak && peak <= backward.last);
          });
        }
        return {
          pattern: rule.result,
          isKept: retention !== "dropped",
          rule,
          retention,
          uses: uses.uses(),
          demands: retention === "again" ? [...demands, ...demandsOf(takenAgain, rule)] : demands,
        };
      };
      choices.push(one("dropped"));
      if (!isTakenAgain) continue;
      // what stays inside a kernel cannot be kept
      if (!node.isFused) choices.push(one("kept"));
      if (!isPassedOn) choices.push(one("again"));
    }
    put(at, node.name, choices);
  });
  byClass.forEach(({ node, nodes: members }, c) => {
    const at = updateOf[c] as number;
    if (at < 0) return;
    const first = members[0] as number;
    const elements = (bytes[first] as number) / node.elementBytes;
    const { optimizerBytes, gradientBytes, gradientsFrom } = terms;
    const comeTo = (all: readonly number[]): number => all.reduce((sum, i) => sum + (gradientsFrom?.get(i) ?? 0), 0);
    put(
      at,
      `update of ${node.name}`,
      patternsOf(mesh, sizes[first] as number[], false).map((pattern) => {
        const own = elements / shardCount(mesh, pattern);
        const parameterBytes = { weight: node.elementBytes, gradient: gradientBytes, optimizer: optimizerBytes };
        const computation = updateComputation(own, parameterBytes);
        const wanted = new Map<number, Demand>();
        for (const i of members) {
          const supply = supplies.update[gradientOf.get(i) as number] as number;
          // a sum of which a part is taken would need the memory of all of it
          wanted.set(supply, demand(supply, exactly(mesh, pattern)));
        }
        return {
          pattern,
          isKept: true,
          rule: null,
          retention: "kept",
          uses: addLasting(
            new UseList()
              .add(STEP_TIME, costs.computationPs(computation) * members.length)
              .add(STEP_TIME, received(members, own * node.elementBytes)),
            own * (optimizerBytes + gradientBytes) * members.length + own * node.elementBytes * comeTo(members),
          ).uses(),
          demands: [...wanted.values()],
        };
      }),
    );
  });

  const isOnce = new Set<Copy>();
  const stated: Supply[] = groups.map(({ chooser, time, wantsKept, members, wanted }) => {
    const first = members[0] as number;
    const node = nodes[first] as GraphNode;
    const isParameter = node.kind === "placeholder" && node.role === "parameter";
    const patterns = [...new Set((choosers[chooser] as Chooser).choices.map(({ pattern }) => pattern))];
    const copies: Copy[] = [];
    const listOf = listsOf[first] as ListOf;
    const targets = [...wanted]
      .sort((a, b) => a - b)
      .map((to) => ({ to, plain: plainly(mesh, to), parts: shardCount(mesh, plainly(mesh, to)) }));
    const psOf = new Map<MoveList, readonly number[]>();
    const amounts = (moves: MoveList, times: number, isWaitedFor: boolean): UseList => {
      const uses = new UseList();
      const known =
        psOf.get(moves) ??
        moves.map((move) => costs.movePs(move.kind, move.axes, (bytes[first] as number) / move.parts));
      psOf.set(moves, known);
      moves.forEach(({ axes }, m) => {
        const ps = (known[m] as number) * members.length * times;
        if (isWaitedFor) uses.add(STEP_TIME, ps);
        for (let j = 0; j < mesh.axes.length; j++) if ((axes >> j) & 1) uses.add(trafficOf(j), ps);
      });
      return uses;
    };
    // by collectives, and what else they depend on: copies that use the same
    const [usesOf, onceUsesOf] = [sharedUses(), sharedUses()];
    const inPass = (moves: MoveList, parts: number): UseList => {
      // parameters are fetched ahead
      if (time === "update") return amounts(moves, isGradient.has(first) ? microBatches : 1, !isGradient.has(first));
      return addPassing(
        amounts(moves, microBatches, !isParameter),
        members,
        (bytes[first] as number) / parts,
        (i, peak) => {
          const { first: from, last } = (lifetimes[i] as TakingTimes)[time];
          return from <= peak && peak <= last;
        },
      );
    };
    // nobody else sees what stays inside a kernel
    for (const from of node.isFused ? [] : patterns) {
      const listTo = listOf(from);
      for (const { to, plain, parts } of targets) {
        if (isFree(mesh, from, to)) continue;
        const moves = listTo(plain);
        if (moves === null) continue;
        copies.push({ from, to, uses: usesOf(moves, parts, () => inPass(moves, parts)) });
        // gradients are summed behind the pass that makes them, or once, and are kept until then
        if (time !== "update" || !isGradient.has(first) || microBatches === 1) continue;
        const elements = (bytes[first] as number) / node.elementBytes;
        const kept = (elements / shardCount(mesh, from) - elements / parts) * terms.gradientBytes * members.length;
        const copy: Copy = {
          from,
          to,
          uses: onceUsesOf(moves, kept, () => addLasting(amounts(moves, 1, false), kept)),
        };
        isOnce.add(copy);
        copies.push(copy);
      }
    }
    return { chooser, wantsKept, copies };
  });
  return {
    problem: { mesh, resources, base: new Float64Array(resources.length), choosers, supplies: stated },
    index: { chooserOf, updateOf, supplies, updatedSupply, once: isOnce, meanings },
  };
}

/** Returns the states of all tensors that a choice means. O(nodes). */
export function planOf(graph: TensorGraph, { problem, index }: StatedProblem, choice: PlanChoice): TensorPlan {
  const { choosers, supplies, mesh } = problem;
  const chosen = (at: number): Choice => (choosers[at] as Chooser).choices[choice.choices[at] as number] as Choice;
  const copiesAt = (supply: number): Pattern[] =>
    supply < 0
      ? []
      : (choice.copies[supply] as readonly number[]).map((at) =>
          plainly(mesh, ((supplies[supply] as Supply).copies[at] as Copy).to),
        );
  const nodes = graph.nodes.map((node, i): NodePlan => {
    const c = graph.classes[i] as number;
    const at = index.chooserOf[c] as number;
    if (node.kind === "output") {
      return { ...NO_PLAN, rule: null, pattern: 0, retention: "dropped", home: 0 };
    }
    const { rule, retention } = (index.meanings[at] as readonly ChoiceMeaning[])[
      choice.choices[at] as number
    ] as ChoiceMeaning;
    const { pattern } = chosen(at);
    const update = index.updateOf[c] as number;
    const summed = update < 0 ? (index.supplies.update[i] as number) : (index.updatedSupply[c] as number);
    return {
      rule,
      pattern,
      retention,
      forwardCopies: copiesAt(index.supplies.forward[i] as number),
      backwardCopies: copiesAt(index.supplies.backward[i] as number),
      updateCopies: copiesAt(summed),
      isSummedOnce:
        summed >= 0 &&
        (choice.copies[summed] as readonly number[]).some((copy) =>
          index.once.has((supplies[summed] as Supply).copies[copy] as Copy),
        ),
      home: update < 0 ? pattern : chosen(update).pattern,
    };
  });
  return { graph, mesh, nodes };
}
