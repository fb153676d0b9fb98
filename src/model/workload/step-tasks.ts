import {
  type Communication,
  type Computation,
  type ComputationPart,
  EARLIER,
  INPUT,
  type LayerRun,
  type Part,
  type Pass,
} from "./layer-work.ts";
import { groupSizeOf } from "./parallelism.ts";
import { passesOf } from "./pipeline.ts";
import type { TrainingStep } from "./training-step.ts";

/** What a task does, said once for all that do the same. */
export type Work =
  | { readonly kind: "computations"; readonly computations: readonly Computation[] }
  | { readonly kind: "communication"; readonly communication: Communication; readonly stage: number };

/** One thing at a time. */
export interface Lane {
  /** Pipeline stage, or an NPU of a trace. */
  readonly actor: number;
  readonly name: string;
  readonly computes: boolean;
  /** Tasks start in the order of their numbers; else in the order in which they could. */
  readonly inOrder: boolean;
}

export const PHASE_NAMES = ["forward", "backward", "gradients", "update"] as const;

/** A step as tasks that wait for tasks; columns of one length. */
export interface StepTasks {
  /** Names of stages or NPUs. */
  readonly actors: readonly string[];
  readonly lanes: readonly Lane[];
  readonly works: readonly Work[];
  readonly labels: readonly string[];
  /** [tasks] indices of works, lanes, labels */
  readonly work: Int32Array;
  readonly lane: Int32Array;
  readonly label: Int32Array;
  /** [tasks] index of PHASE_NAMES */
  readonly phase: Uint8Array;
  /** [tasks] micro batch, -1 where it is of none */
  readonly microBatch: Int32Array;
  /** Task t waits for awaited[offset[t] .. offset[t + 1]]. */
  readonly offset: Int32Array;
  readonly awaited: Int32Array;
}

/** A list of tasks that grows. */
export class TaskList {
  readonly #work: number[] = [];
  readonly #lane: number[] = [];
  readonly #label: number[] = [];
  readonly #phase: number[] = [];
  readonly #microBatch: number[] = [];
  readonly #offset: number[] = [0];
  readonly #awaited: number[] = [];

  /** Returns the number of the new task. */
  add(work: number, lane: number, label: number, phase: number, microBatch: number, after: readonly number[]): number {
    this.#work.push(work);
    this.#lane.push(lane);
    this.#label.push(label);
    this.#phase.push(phase);
    this.#microBatch.push(microBatch);
    for (const task of after) this.#awaited.push(task);
    this.#offset.push(this.#awaited.length);
    return this.#work.length - 1;
  }

  /** Returns the tasks as columns; `numberOf` tells which task is meant by a number that one waits for. */
  columns(
    names: Pick<StepTasks, "actors" | "lanes" | "works" | "labels">,
    numberOf: (awaited: number) => number = (task) => task,
  ): StepTasks {
    return {
      ...names,
      work: Int32Array.from(this.#work),
      lane: Int32Array.from(this.#lane),
      label: Int32Array.from(this.#label),
      phase: Uint8Array.from(this.#phase),
      microBatch: Int32Array.from(this.#microBatch),
      offset: Int32Array.from(this.#offset),
      awaited: Int32Array.from(this.#awaited, numberOf),
    };
  }
}

/** Numbers given to what is new, by a key. */
export function table<T>(): { of: (key: string, make: () => T) => number; all: T[] } {
  const known = new Map<string, number>();
  const all: T[] = [];
  return {
    all,
    of(key, make) {
      let at = known.get(key);
      if (at === undefined) {
        at = all.push(make()) - 1;
        known.set(key, at);
      }
      return at;
    },
  };
}

/** A part of a pass as one task: computations in a row are one. */
interface Node {
  readonly computations: Computation[];
  /** Its computation is a delay beside the others. */
  readonly isAside: boolean;
  readonly communication: Communication | null;
  /** Nodes of the pass, INPUT or EARLIER. */
  readonly after: number[];
}

/** A pass as nodes, and those that what follows waits for. */
interface Template {
  readonly nodes: readonly Node[];
  readonly outputs: readonly number[];
}

const isComputation = (part: Part | undefined): part is ComputationPart => part !== undefined && "computation" in part;

/** Whether a part takes its turn among the computations of its NPU. */
const takesTurn = (part: Part | undefined): part is ComputationPart =>
  isComputation(part) && part.computation.aside !== true;

/** Returns a pass with computations put together that nothing between waits for. */
function templateOf({ parts, outputs }: Pass): Template {
  const isAwaited = parts.map(() => false);
  for (const part of parts) {
    const own = takesTurn(part);
    for (const at of part.after) if (at >= 0 && !own) isAwaited[at] = true;
  }
  for (const at of outputs) isAwaited[at] = true;
  const nodes: Node[] = [];
  const nodeOf: number[] = [];
  for (const [i, part] of parts.entries()) {
    const before = nodes[nodes.length - 1];
    const after = [...new Set(part.after.map((at) => (at >= 0 ? nodeOf[at] : at)))];
    const joins =
      takesTurn(part) &&
      takesTurn(parts[i - 1]) &&
      !isAwaited[i - 1] &&
      after.every((at) => at === nodes.length - 1 || before.after.includes(at));
    if (joins) before.computations.push(part.computation);
    else if ("computation" in part) {
      nodes.push({ computations: [part.computation], isAside: !takesTurn(part), communication: null, after });
    } else nodes.push({ computations: [], isAside: false, communication: part.communication, after });
    nodeOf.push(nodes.length - 1);
  }
  return { nodes, outputs: [...new Set(outputs.map((at) => nodeOf[at]))] };
}

/** The lane of a communication: communicators of one name share a stream, as do those of a direction of the pipeline. */
const laneName = ({ group, name }: Communication): string => (group === "pipeline" ? name : group);

const SEND_ON = "activations to the next stage";
export const SEND_BACK = "gradients to the stage before";

/** Returns the layers of a part one by one. */
const unrolled = (runs: readonly LayerRun[]): LayerRun["layer"][] =>
  runs.flatMap(({ layer, count }) => Array.from({ length: count }, () => layer));

/**
 * Returns a step as tasks, stage by stage in the order of issue: computations of a stage one after the other (of overlapped passes,
 * of which two are under way at a time, those first that could begin first), communications when what they wait for is done, delays
 * beside them, gradients after the last backward pass of their layer, updates when all else of the stage is done. Communications
 * within one NPU are left out. O(tasks).
 */
export function stepTasks(step: TrainingStep): StepTasks {
  const { parallelism, microBatches, order, trains, overlapped } = step;
  const { pipeline, interleaved } = parallelism;
  const tasks = new TaskList();
  const works = table<Work>();
  const lanes = table<Lane>();
  const labels = table<string>();
  const templates = new Map<Pass, Template>();
  const keys = new Map<object, number>();
  const keyOf = (value: object): number => {
    if (!keys.has(value)) keys.set(value, keys.size);
    return keys.get(value) as number;
  };
  const template = (pass: Pass): Template => {
    const known = templates.get(pass) ?? templateOf(pass);
    templates.set(pass, known);
    return known;
  };
  const isAlone = new Map<string, boolean>();
  const goesNowhere = ({ group, collective }: Communication): boolean => {
    const known = isAlone.get(group) ?? groupSizeOf(parallelism, group) === 1;
    isAlone.set(group, known);
    return known && collective !== "send";
  };

  const addNode = (stage: number, node: Node, label: number, phase: number, mb: number, after: number[]): number => {
    const { communication, computations, isAside } = node;
    const name =
      communication !== null ? laneName(communication) : isAside ? `delays of ${labels.all[label]}` : "compute";
    const lane = lanes.of(`${stage} ${name}`, () => {
      const computes = communication === null && !isAside;
      return { actor: stage, name, computes, inOrder: computes && !overlapped };
    });
    const work =
      communication === null
        ? works.of(`c ${keyOf(node)}`, () => ({ kind: "computations", computations }))
        : works.of(`${stage} ${keyOf(communication)}`, () => ({ kind: "communication", communication, stage }));
    return tasks.add(work, lane, label, phase, mb, after);
  };

  /** Adds a pass; returns the tasks that what follows waits for, and adds its communications to `open`. */
  const addPass = (
    stage: number,
    pass: Pass,
    label: number,
    phase: number,
    mb: number,
    [earlier, input]: readonly [readonly number[], readonly number[]],
    open: number[],
  ): readonly number[] => {
    const { nodes, outputs } = template(pass);
    if (nodes.length === 0) return input;
    /** [nodes] tasks that stand for the node */
    const done: (readonly number[])[] = [];
    for (const node of nodes) {
      const after = [
        ...new Set(node.after.flatMap((at) => (at === INPUT ? input : at === EARLIER ? earlier : done[at]))),
      ];
      if (node.communication !== null && goesNowhere(node.communication)) {
        done.push(after);
        continue;
      }
      const task = addNode(stage, node, label, phase, mb, after);
      done.push([task]);
      if (node.communication !== null || node.isAside) open.push(task);
    }
    return outputs.length === 0 ? input : [...new Set(outputs.flatMap((at) => done[at]))];
  };

  const sends = table<Communication>();
  const sendOf = (name: string): Communication => {
    const at = sends.of(name, () => ({ name, collective: "send", group: "pipeline", bytes: step.boundaryBytes }));
    return sends.all[at];
  };
  const partCount = pipeline * interleaved;
  /** Where sends are: [2 x parts x micro batches]; waited for before they are there, so as numbers below 0 until the end. */
  const sent = new Int32Array(2 * partCount * microBatches).fill(-1);
  const sendPlace = (backward: boolean, part: number, mb: number): number =>
    ((backward ? partCount : 0) + part) * microBatches + mb;
  const addSend = (stage: number, backward: boolean, part: number, mb: number, after: number[]): void => {
    const name = backward ? SEND_BACK : SEND_ON;
    const label = labels.of(name, () => name);
    const node: Node = { computations: [], isAside: false, communication: sendOf(name), after: [] };
    sent[sendPlace(backward, part, mb)] = addNode(stage, node, label, backward ? 1 : 0, mb, after);
  };

  for (let stage = 0; stage < pipeline; stage++) {
    const parts = Array.from({ length: interleaved }, (_, v) => unrolled(step.stages[stage * interleaved + v]));
    const open: number[] = [];
    /** What the last part's forward pass of a micro batch ends with: its backward pass begins with it. */
    const ends = new Map<number, readonly number[]>();
    /** [parts] what the layers' last backward passes end with */
    const lastOf: (readonly number[])[][] = parts.map((layers) => layers.map(() => []));
    /** What the last pass and the one before ended with; of overlapped passes two are under way at a time. */
    let endsBefore: readonly [readonly number[], readonly number[]] = [[], []];
    for (const { microBatch, part, backward } of passesOf(
      { stages: pipeline, interleaved, microBatches },
      stage,
      order,
      trains,
    )) {
      const layers = parts[part];
      /** The part's place in the model. */
      const place = part * pipeline + stage;
      const isFirst = backward ? place === partCount - 1 : place === 0;
      const from = backward ? place + 1 : place - 1;
      const ahead = backward ? (ends.get(microBatch) ?? []) : [];
      const given: readonly number[] = isFirst ? ahead : [-1 - sendPlace(backward, from, microBatch)];
      let input = overlapped ? [...new Set([...given, ...endsBefore[0]])] : given;
      let earlier = input;
      for (let k = 0; k < layers.length; k++) {
        const at = backward ? layers.length - 1 - k : k;
        const layer = layers[at];
        const label = labels.of(layer.name, () => layer.name);
        const pass = backward ? layer.backward : layer.forward;
        const output = addPass(stage, pass, label, backward ? 1 : 0, microBatch, [earlier, input], open);
        earlier = input;
        input = output;
        if (backward) lastOf[part][at] = output;
      }
      endsBefore = [endsBefore[1], input];
      const isLast = backward ? place === 0 : place === partCount - 1;
      if (!isLast) addSend(stage, backward, place, microBatch, [...input]);
      else if (!backward) ends.set(microBatch, input);
    }
    if (!trains) continue;
    for (const [part, layers] of parts.entries()) {
      for (let at = layers.length - 1; at >= 0; at--) {
        const label = labels.of(layers[at].name, () => layers[at].name);
        const last = lastOf[part][at];
        addPass(stage, layers[at].gradients, label, 2, -1, [last, last], open);
      }
    }
    const barrier: Node = { computations: [], isAside: false, communication: null, after: [] };
    const all = [
      addNode(
        stage,
        barrier,
        labels.of("all gradients", () => "all gradients"),
        3,
        -1,
        open,
      ),
    ];
    for (const layer of parts.flat()) {
      addPass(
        stage,
        layer.update,
        labels.of(layer.name, () => layer.name),
        3,
        -1,
        [all, all],
        [],
      );
    }
  }
  return tasks.columns(
    {
      actors: Array.from({ length: pipeline }, (_, stage) => (pipeline === 1 ? "every NPU" : `stage ${stage}`)),
      lanes: lanes.all,
      works: works.all,
      labels: labels.all,
    },
    (task) => (task < 0 ? (sent[-1 - task] as number) : task),
  );
}

/**
 * Returns the same tasks with all communications of an actor in one stream: one at a time, whoever they are among, first come, first
 * served. O(lanes + tasks).
 */
export function inOneStream(tasks: StepTasks): StepTasks {
  const first = new Map<number, number>();
  const kept: Lane[] = [];
  const laneOf = Int32Array.from(tasks.lanes, (lane) => {
    const { actor, computes } = lane;
    const known = computes ? undefined : first.get(actor);
    if (known !== undefined) return known;
    const number = kept.push(computes ? lane : { actor, name: "communications", computes, inOrder: false }) - 1;
    if (!computes) first.set(actor, number);
    return number;
  });
  return { ...tasks, lanes: kept, lane: tasks.lane.map((lane) => laneOf[lane]) };
}
