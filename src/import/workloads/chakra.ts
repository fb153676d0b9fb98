import { InputError, inWords } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import {
  BARRIER,
  COLLECTIVE_TYPE,
  DELAY,
  HOST_LANE,
  JOIN,
  NODE_TYPE,
  OWN_ATTRIBUTE,
  REDUCE_SCATTER_BLOCK,
} from "../../model/files/chakra-format.ts";
import { PS_PER_US } from "../../model/numbers/units.ts";
import type { Communication, Computation, ComputationKind, NpuGroups } from "../../model/workload/layer-work.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { type Lane, PHASE_NAMES, type Work } from "../../model/workload/step-tasks.ts";
import { classesOf, type NpuClasses, signatures } from "./chakra-classes.ts";
import { type Communicators, communicatorsOf } from "./chakra-groups.ts";
import { type Matches, matchedNodes, numberOf, placeOf, type Trace, textOf, traceOf } from "./chakra-match.ts";
import { hashOf, isEqual, type KnownNodes, readTrace, type TraceNode } from "./chakra-trace.ts";

/** The file of one NPU. */
export interface TraceFile {
  /** It ends in the NPU's number: `name.3.et`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ChakraOptions {
  /** The file of groups as ASTRA-sim takes it: `{"1": [0, 1], ...}`. */
  readonly groups?: { readonly name: string; readonly text: string } | null;
  /** Sizes of the network's dimensions, NPUs with neighbouring numbers first; for collectives along some of them. */
  readonly dimensions?: readonly number[] | null;
  /** Times of computations that have both: as they were measured, or by operations and bytes. */
  readonly times?: "measured" | "operations";
  /** NPUs that do the same are one actor. True where it is not given. */
  readonly folds?: boolean;
}

/**
 * Returns the tasks of Chakra execution traces, one file an NPU. An actor's computations, those of its host, and the
 * communications of each communicator or to each receiver take turns, in the order in which they could begin. A collective is one
 * task that waits for what all its members wait for; a send ends when its message has arrived, and its receive with it, but not
 * before what the receive waits for. Nodes that do nothing are tasks only where they wait for several. NPUs that do the same in
 * communications that are alike are one actor, which is exact where their links are alike. Throws InputError with file and node
 * for what is no trace, nodes without partners, and nodes that wait for each other in a circle. O(nodes log nodes).
 */
export function readChakra(files: readonly TraceFile[], options: ChakraOptions = {}): PlacedTasks {
  const traces = tracesOf(files);
  const sources = { npuCount: traces.length, file: options.groups ?? null, dimensions: options.dimensions ?? null };
  const communicators = communicatorsOf(
    sources,
    traces.map(({ nodes }) => nodes),
    traces.map(({ name }) => name),
  );
  const matches = matchedNodes(traces, communicators);
  const each = Int32Array.from(traces.keys());
  const alone = { classOf: each, npus: traces.map((_, npu) => each.slice(npu, npu + 1)) };
  const classes = (options.folds ?? true) ? classesOf(traces, matches) : alone;
  return new TaskMaker(traces, communicators, matches, classes, options.times ?? "measured").placed();
}

/** Returns the traces by the numbers of their NPUs, equal ones read once. Throws InputError where numbers are missing. */
function tracesOf(files: readonly TraceFile[]): Trace[] {
  const traces: Trace[] = [];
  const known: KnownNodes = new Map();
  const read = new Map<number, { file: TraceFile; trace: Trace }[]>();
  for (const file of files) {
    const npu = Number(/\.(\d{1,9})\.et$/.exec(file.name)?.[1] ?? "NaN");
    if (!(npu < files.length)) {
      const last = files.length - 1;
      throw new InputError(file.name, `a name that ends in .0.et to .${last}.et`).saying(
        `the name of ${file.name} does not end in an NPU's number and .et, here .0.et to .${last}.et`,
      );
    }
    if (traces[npu] !== undefined) {
      const words = `${file.name} is a second trace of NPU ${npu}, besides ${traces[npu].name}`;
      throw new InputError(file.name, `the only trace of NPU ${npu}`, inWords("another")).saying(words);
    }
    const key = hashOf(file.bytes);
    const like = read.get(key) ?? [];
    read.set(key, like);
    const same = like.find(({ file: { bytes } }) => isEqual(bytes, file.bytes));
    if (same === undefined) {
      traces[npu] = traceOf(file.name, readTrace(file.name, file.bytes, known));
      like.push({ file, trace: traces[npu] });
    } else traces[npu] = { ...same.trace, name: file.name };
  }
  if (traces.length === 0)
    throw new InputError("the traces", "at least one").saying("the traces are missing: a file for each NPU");
  return traces;
}

const COLLECTIVES: ReadonlyMap<number, NamedCollective> = new Map([
  ...Object.entries(COLLECTIVE_TYPE).map(([kind, type]) => [type, kind as NamedCollective] as const),
  [REDUCE_SCATTER_BLOCK, "reducescatter"],
]);
/** Their size is that of one member's part. */
const OF_A_PART: ReadonlySet<NamedCollective> = new Set(["allgather", "gather"]);
const KINDS: ReadonlySet<string> = new Set(["matmul", "attention", "memory"]);

/** A task while tasks are made. */
interface Unit {
  readonly lane: number;
  readonly work: number;
  readonly label: number;
  readonly phase: number;
  readonly microBatch: number;
  /** It does nothing, so it is left out where it waits for no more than one. */
  readonly isJoin: boolean;
  /** Where it is told of. */
  readonly place: () => string;
  /** Units that it waits for, filled in once all are there. */
  after: number[];
}

/** Numbers given to what is new, by a key. */
class Table<T> {
  readonly all: T[] = [];
  readonly #known = new Map<string, number>();

  of(key: string, make: () => T): number {
    let at = this.#known.get(key);
    if (at === undefined) {
      at = this.all.push(make()) - 1;
      this.#known.set(key, at);
    }
    return at;
  }
}

const NOTHING: Work = { kind: "computations", computations: [] };

/** Makes the tasks of one NPU of each class. */
class TaskMaker {
  readonly #traces: readonly Trace[];
  readonly #communicators: Communicators;
  readonly #matches: Matches;
  readonly #classes: NpuClasses;
  readonly #times: "measured" | "operations";
  /** [matches] what it has in common with those that are the same task */
  readonly #signature: readonly string[];
  /** Matches by signature. */
  readonly #alike = new Map<string, number[]>();
  readonly #units: Unit[] = [];
  readonly #unitOfSignature = new Map<string, number>();
  readonly #lanes = new Table<Lane>();
  readonly #works = new Table<{ work: Work; group: NpuGroups | null }>();
  readonly #labels = new Table<string>();

  constructor(
    traces: readonly Trace[],
    communicators: Communicators,
    matches: Matches,
    classes: NpuClasses,
    times: "measured" | "operations",
  ) {
    this.#traces = traces;
    this.#communicators = communicators;
    this.#matches = matches;
    this.#classes = classes;
    this.#times = times;
    this.#signature = signatures(classes.classOf, matches);
    for (const [match, signature] of this.#signature.entries()) {
      const alike = this.#alike.get(signature) ?? [];
      alike.push(match);
      this.#alike.set(signature, alike);
    }
  }

  /** Returns the tasks. */
  placed(): PlacedTasks {
    const { npus } = this.#classes;
    /** [classes][nodes] the unit that begins with a node, and the one that ends with it */
    const begins = npus.map(([npu]) => new Int32Array(this.#traces[npu].nodes.length).fill(-1));
    const ends = npus.map(([npu]) => new Int32Array(this.#traces[npu].nodes.length).fill(-1));
    for (const [actor, [npu]] of npus.entries()) {
      for (const i of this.#traces[npu].byId) this.#add(actor, npu, i, begins[actor], ends[actor]);
    }
    for (const [actor, [npu]] of npus.entries()) {
      for (const [i, deps] of this.#traces[npu].deps.entries()) {
        const unit = begins[actor][i];
        if (unit < 0) continue;
        for (const dep of deps) this.#units[unit].after.push(ends[actor][dep]);
      }
    }
    return this.#tasks();
  }

  #add(actor: number, npu: number, i: number, begins: Int32Array, ends: Int32Array): void {
    const trace = this.#traces[npu];
    const node = trace.nodes[i];
    const { type } = node;
    if (type === NODE_TYPE.computation) {
      begins[i] = this.#compute(actor, trace, node);
      ends[i] = begins[i];
    } else if (type === NODE_TYPE.collective) {
      begins[i] = this.#collective(actor, npu, i);
      ends[i] = begins[i];
    } else if (type === NODE_TYPE.send) {
      begins[i] = this.#send(actor, npu, i);
      ends[i] = begins[i];
    } else if (type === NODE_TYPE.receive) {
      const message = this.#send(actor, npu, i);
      const waits = trace.deps[i].length > 0;
      if (waits) begins[i] = this.#join(actor, trace, node, [message]);
      ends[i] = waits ? begins[i] : message;
    } else if (type === NODE_TYPE.metadata || type === NODE_TYPE.invalid) {
      begins[i] = this.#join(actor, trace, node, []);
      ends[i] = begins[i];
    } else {
      const place = placeOf(trace, node);
      throw new InputError(place, "a computation or communication", inWords("an access of remote memory")).saying(
        `${place} is an access of remote memory, which is not modelled`,
      );
    }
  }

  /** Adds a unit and returns its number. */
  #unit(trace: Trace, node: TraceNode, lane: number, work: number, isJoin: boolean, after: number[] = []): number {
    const layer = layerOf(trace, node);
    const told = textOf(trace, node, OWN_ATTRIBUTE.phase);
    const phase = told === "" ? 0 : (PHASE_NAMES as readonly string[]).indexOf(told);
    if (phase < 0) throw new InputError(`${placeOf(trace, node)}: phase`, `one of ${PHASE_NAMES.join(", ")}`, told);
    const microBatch = numberOf(trace, node, OWN_ATTRIBUTE.microBatch, -1);
    if (microBatch >= 2 ** 31) throw new InputError(`${placeOf(trace, node)}: micro batch`, "below 2^31", microBatch);
    const label = this.#labels.of(layer, () => layer);
    const place = (): string => placeOf(trace, node);
    return this.#units.push({ lane, work, label, phase, microBatch, isJoin, place, after }) - 1;
  }

  #lane(actor: number, name: string, computes = false): number {
    return this.#lanes.of(`${actor} ${name}`, () => ({ actor, name, computes, inOrder: false }));
  }

  #join(actor: number, trace: Trace, node: TraceNode, after: number[]): number {
    const work = this.#works.of("nothing", () => ({ work: NOTHING, group: null }));
    return this.#unit(trace, node, this.#lane(actor, "waits"), work, true, after);
  }

  #compute(actor: number, trace: Trace, node: TraceNode): number {
    if (textOf(trace, node, OWN_ATTRIBUTE.kind) === JOIN) return this.#join(actor, trace, node, []);
    const onCpu = isOnCpu(trace, node);
    const computation = computationOf(trace, node, onCpu ? "measured" : this.#times);
    const lane = computation.aside
      ? this.#lane(actor, `delays of ${layerOf(trace, node)}`)
      : this.#lane(actor, onCpu ? HOST_LANE : "compute", true);
    const work = this.#works.of(JSON.stringify(computation), () => ({
      work: { kind: "computations", computations: [computation] },
      group: null,
    }));
    return this.#unit(trace, node, lane, work, false);
  }

  /** Returns the unit of a match, made where it is not yet there. */
  #matched(match: number, make: () => number): number {
    const signature = this.#signature[match];
    const unit = this.#unitOfSignature.get(signature) ?? make();
    this.#unitOfSignature.set(signature, unit);
    return unit;
  }

  #collective(actor: number, npu: number, i: number): number {
    const trace = this.#traces[npu];
    const node = trace.nodes[i];
    const { offset, matchOf, communicator } = this.#matches;
    const match = matchOf[offset[npu] + i];
    const { name: group, members } = this.#communicators.all[communicator[match]];
    return this.#matched(match, () => {
      const type = numberOf(trace, node, "comm_type", null);
      const collective = COLLECTIVES.get(type);
      if (collective === undefined && type !== BARRIER) {
        throw new InputError(`${placeOf(trace, node)}: comm_type`, "a collective of Chakra, 0 to 9", type);
      }
      if (isOnCpu(trace, node))
        throw new InputError(`${placeOf(trace, node)}: is_cpu_op`, "false for communications", true);
      if (collective === undefined || members.length === 1) return this.#join(actor, trace, node, []);
      const size = numberOf(trace, node, "comm_size", null);
      const bytes = OF_A_PART.has(collective) ? size * members.length : size;
      if (!Number.isSafeInteger(bytes))
        throw new InputError(`${placeOf(trace, node)}: comm_size`, "less than 2^53 bytes of all members", size);
      const among = this.#groups(match);
      const lane = this.#lane(actor, group);
      return this.#communication(trace, node, lane, actor, {
        name: `${collective} of ${group}`,
        collective,
        group: "all",
        among,
        bytes,
      });
    });
  }

  #send(actor: number, npu: number, i: number): number {
    const { offset, matchOf, matches } = this.#matches;
    const match = matchOf[offset[npu] + i];
    return this.#matched(match, () => {
      // the sender's, which may come later
      const from = upperNpu(offset, matches[match][0]);
      const trace = this.#traces[from];
      const node = trace.nodes[matches[match][0] - offset[from]];
      if (isOnCpu(trace, node))
        throw new InputError(`${placeOf(trace, node)}: is_cpu_op`, "false for communications", true);
      const sender = from === npu ? actor : this.#classes.classOf[from];
      const to = numberOf(trace, node, "comm_dst", null);
      const bytes = numberOf(trace, node, "comm_size", null);
      const among = this.#groups(match);
      const lane = this.#lane(sender, `to ${this.#peer(sender, from, to)}`);
      return this.#communication(trace, node, lane, sender, {
        name: "message",
        collective: "send",
        group: "all",
        among,
        bytes,
      });
    });
  }

  /** Returns a number for whom an NPU sends to that is the same for all NPUs of its class: where its first NPU sends. */
  #peer(sender: number, from: number, to: number): number {
    const [first] = this.#classes.npus[sender];
    if (first === from) return to;
    const { offset, matchOf, matches } = this.#matches;
    const trace = this.#traces[from];
    const i = trace.nodes.findIndex(
      (node) => node.type === NODE_TYPE.send && numberOf(trace, node, "comm_dst", null) === to,
    );
    return upperNpu(offset, matches[matchOf[offset[first] + i]][1]);
  }

  #communication(trace: Trace, node: TraceNode, lane: number, stage: number, communication: Communication): number {
    const { collective, bytes, among = null } = communication;
    const work = this.#works.of(`${lane} ${collective} ${bytes}`, () => ({
      work: { kind: "communication", communication, stage },
      group: among,
    }));
    return this.#unit(trace, node, lane, work, false);
  }

  /** Returns the NPUs of all matches that are one task. */
  #groups(match: number): NpuGroups {
    const { offset, matches } = this.#matches;
    const alike = this.#alike.get(this.#signature[match]) as number[];
    const size = matches[match].length;
    const members = new Int32Array(alike.length * size);
    for (const [g, other] of alike.entries()) {
      for (const [k, node] of matches[other].entries()) members[g * size + k] = upperNpu(offset, node);
    }
    return { size, members };
  }

  /** Returns the units as columns, without those that need not be there. Throws InputError for a circle. */
  #tasks(): PlacedTasks {
    const units = this.#units;
    /** [units] unit that ends with it: itself, another in place of one that is left out, or -1 for the beginning */
    const stands = new Int32Array(units.length);
    for (const u of inOrder(units)) {
      const after = new Set(units[u].after.map((before) => stands[before]).filter((before) => before >= 0));
      units[u].after = [...after];
      stands[u] = units[u].isJoin && after.size < 2 ? (units[u].after[0] ?? -1) : u;
    }
    const kept = units.map((_, u) => u).filter((u) => stands[u] === u);
    const task = new Int32Array(units.length);
    for (const [t, u] of kept.entries()) task[u] = t;
    const offset = new Int32Array(kept.length + 1);
    for (const [t, u] of kept.entries()) offset[t + 1] = offset[t] + units[u].after.length;
    const column = (key: "work" | "lane" | "label" | "microBatch"): Int32Array =>
      Int32Array.from(kept, (u) => units[u][key]);
    const works = this.#works.all;
    return {
      tasks: {
        actors: this.#classes.npus.map((npus) => nameOf(npus, this.#traces.length)),
        lanes: this.#lanes.all,
        works: works.map(({ work }) => work),
        labels: this.#labels.all,
        work: column("work"),
        lane: column("lane"),
        label: column("label"),
        phase: Uint8Array.from(kept, (u) => units[u].phase),
        microBatch: column("microBatch"),
        offset,
        awaited: Int32Array.from(
          kept.flatMap((u) => units[u].after.map((before) => task[before]).sort((a, b) => a - b)),
        ),
      },
      npuCount: this.#traces.length,
      npus: this.#classes.npus,
      groups: works.map(({ group }) => group),
    };
  }
}

const layerOf = (trace: Trace, node: TraceNode): string => textOf(trace, node, OWN_ATTRIBUTE.layer) || node.name;

const isOnCpu = (trace: Trace, node: TraceNode): boolean => numberOf(trace, node, "is_cpu_op", 0) !== 0;

/** Returns the NPU of a node's number. */
function upperNpu(offset: Int32Array, node: number): number {
  let [low, high] = [0, offset.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offset[middle] <= node) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns how people call NPUs that do the same. */
function nameOf(npus: Int32Array, count: number): string {
  if (npus.length === 1) return `NPU ${npus[0]}`;
  if (npus.length === count) return "every NPU";
  return `NPU ${npus[0]} and ${npus.length - 1} like it`;
}

/** Returns what a node computes: the time that it took, or operations and bytes; of fewer operations than bytes it streams. */
function computationOf(trace: Trace, node: TraceNode, times: "measured" | "operations"): Computation {
  const { name, durationMicros } = node;
  const flops = numberOf(trace, node, "num_ops", 0);
  const bytes = numberOf(trace, node, "tensor_size", 0);
  const told = textOf(trace, node, OWN_ATTRIBUTE.kind);
  const kind = KINDS.has(told) ? (told as ComputationKind) : flops < bytes ? "memory" : "matmul";
  const counts = flops > 0 || bytes > 0;
  const isTimed = durationMicros > 0 || node.attributes.has(OWN_ATTRIBUTE.ps);
  const given = numberOf(trace, node, OWN_ATTRIBUTE.ps, durationMicros * PS_PER_US);
  if (!Number.isSafeInteger(given)) {
    throw new InputError(
      `${placeOf(trace, node)}: duration_micros`,
      "less than 2^53 ps (2.5 hours)",
      durationMicros,
    ).as("too-long");
  }
  const isGiven = times === "operations" ? !counts : isTimed || !counts;
  return {
    name,
    kind,
    flops,
    bytes,
    ...(isGiven ? { givenPs: given } : {}),
    ...(told === DELAY ? { aside: true } : {}),
  };
}

/** Returns units so that each comes behind those that it waits for. Throws InputError with one of a circle. */
function inOrder(units: readonly Unit[]): Int32Array {
  const waits = Int32Array.from(units, ({ after }) => after.length);
  const offset = new Int32Array(units.length + 1);
  for (const { after } of units) for (const before of after) offset[before + 1]++;
  for (let u = 0; u < units.length; u++) offset[u + 1] += offset[u];
  const next = offset.slice();
  const waiters = new Int32Array(offset[units.length]);
  for (const [u, { after }] of units.entries()) for (const before of after) waiters[next[before]++] = u;
  const order = new Int32Array(units.length);
  let count = 0;
  for (const [u, n] of waits.entries()) if (n === 0) order[count++] = u;
  for (let k = 0; k < count; k++) {
    for (let at = offset[order[k]]; at < offset[order[k] + 1]; at++)
      if (--waits[waiters[at]] === 0) order[count++] = waiters[at];
  }
  if (count < units.length) {
    const stuck = units[waits.findIndex((n) => n > 0)].place();
    throw new InputError("the nodes of the traces", "none that wait for each other in a circle", inWords(stuck)).saying(
      `${stuck} can never begin: nodes wait for each other in a circle`,
    );
  }
  return order;
}
