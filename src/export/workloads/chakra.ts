import { InputError, inWords } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { COLLECTIVE_TYPE, DELAY, HOST_LANE, JOIN, NODE_TYPE, OWN_ATTRIBUTE } from "../../model/files/chakra-format.ts";
import { heap } from "../../model/graph/graph.ts";
import { PS_PER_US } from "../../model/numbers/units.ts";
import type { Communication, Computation, NpuGroups } from "../../model/workload/layer-work.ts";
import type { PlacedTasks } from "../../model/workload/placed-tasks.ts";
import { PHASE_NAMES } from "../../model/workload/step-tasks.ts";
import type { OutputFile } from "../simulators/astra.ts";
import { type Attribute, type ChakraNode, SCHEMA, traceBytes } from "./chakra-trace.ts";

/** How computations are told. */
export interface ComputationTimes {
  /** Returns the picoseconds of a computation that has no given time; null where its operations and bytes are to tell it. */
  readonly psOf?: ((computation: Computation) => number) | null;
  /**
   * Times as operations, one a picosecond, of one byte: a simulator at 1 TFLOP/s that goes by operations then takes them to the
   * nanosecond, where `duration_micros` is whole microseconds. Their own operations and bytes are not told then.
   */
  readonly asOperations?: boolean;
}

/** Sizes of collectives are those of one member's part. */
const OF_A_PART: ReadonlySet<string> = new Set(["allgather", "gather"]);

/**
 * Yields Chakra execution traces of a step for each of its NPUs, `name.<npu>.et`, as ASTRA-sim's feeder takes them, and
 * `name-groups.json` with the NPUs of each group where there are groups that are not of all. A computation is a COMP node with
 * its operations, bytes and time, those of a task behind each other; a communication is a COLL node of each member, or a SEND and a
 * RECV. Tasks in order wait for those before them. What only waits is a COMP of one operation (simulators count about 1 ns).
 * ASTRA-sim wants an `endpoint-delay` of 1 or more where a step begins with a collective, has one communication of an NPU under way at a
 * time, and takes delays for computations.
 * Throws InputError for collectives that Chakra has not, and tasks that wait for what none of their NPUs takes part in. O(nodes log).
 */
export function* chakraTraces(placed: PlacedTasks, name: string, times: ComputationTimes = {}): Generator<OutputFile> {
  const after = waitsOf(placed);
  const stuck = after.length - inOrder(after.keys(), after).length;
  if (stuck > 0) {
    throw new InputError(
      "the tasks of the step",
      "none that wait for each other in a circle",
      inWords(`${stuck} that cannot begin`),
    );
  }
  const groups = groupNames(placed);
  const own = tasksOfNpus(placed);
  checkWaits(placed, after, own);
  const source: Source = { placed, times, after, groups, peers: peersOf(placed) };
  let order: readonly number[] = [];
  for (let npu = 0; npu < placed.npuCount; npu++) {
    // neighbours mostly do the same
    if (npu === 0 || !isEqual(own[npu], own[npu - 1])) order = inOrder(own[npu], after);
    const nodes = nodesOf(source, npu, order);
    yield { name: `${name}.${npu}.et`, bytes: traceBytes([SCHEMA], nodes) };
  }
  if (groups.lists.size === 0) return;
  const lists = Object.fromEntries([...groups.lists].map(([id, members]) => [id, [...members]]));
  yield { name: `${name}-groups.json`, bytes: new TextEncoder().encode(`${jsonText(lists)}\n`) };
}

const isEqual = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((task, i) => task === b[i]);

/** What the nodes of every NPU are made of. */
interface Source {
  readonly placed: PlacedTasks;
  readonly times: ComputationTimes;
  readonly after: readonly (readonly number[])[];
  readonly groups: Groups;
  /** [works] of sends */
  readonly peers: readonly ReadonlyMap<number, Peers>[];
}

/** Returns the tasks that each waits for, those before it in a lane in order too. */
function waitsOf({ tasks }: PlacedTasks): number[][] {
  const { lanes, lane, offset, awaited } = tasks;
  const before = new Int32Array(lanes.length).fill(-1);
  return Array.from(lane, (own, t) => {
    const after = new Set(awaited.subarray(offset[t], offset[t + 1]));
    if (lanes[own].inOrder) {
      if (before[own] >= 0) after.add(before[own]);
      before[own] = t;
    }
    return [...after];
  });
}

/**
 * Returns tasks so that each comes behind those of them that it waits for, by ascending numbers otherwise, which are the order of
 * issue; those of a circle are left out. O(tasks log tasks).
 */
function inOrder(tasks: Iterable<number>, after: readonly (readonly number[])[]): number[] {
  const waits = new Map<number, number>();
  const waiters = new Map<number, number[]>();
  for (const task of tasks) waiters.set(task, []);
  const ready = heap();
  for (const task of waiters.keys()) {
    let count = 0;
    for (const before of after[task]) if (waiters.get(before)?.push(task) !== undefined) count++;
    waits.set(task, count);
    if (count === 0) ready.add(task, task);
  }
  const order: number[] = [];
  while (ready.size() > 0) {
    const task = ready.take();
    order.push(task);
    for (const waiter of waiters.get(task) as number[]) {
      const left = (waits.get(waiter) as number) - 1;
      waits.set(waiter, left);
      if (left === 0) ready.add(waiter, waiter);
    }
  }
  return order;
}

/** Names of groups, as traces have them. */
interface Groups {
  /** Members by name. */
  readonly lists: ReadonlyMap<string, Int32Array>;
  /** [works] names of an NPU's group; empty of all NPUs */
  readonly nameOf: readonly ReadonlyMap<number, string>[];
}

/** Whom an NPU sends to and whom it receives from, in one work. */
interface Peers {
  readonly to: number[];
  readonly from: number[];
}

/** Returns the peers of every NPU in sends, by work. O(pairs). */
function peersOf({ tasks, groups }: PlacedTasks): Map<number, Peers>[] {
  return tasks.works.map((work, w) => {
    const peers = new Map<number, Peers>();
    if (work.kind === "computations" || work.communication.collective !== "send") return peers;
    const { members } = groups[w] as NpuGroups;
    const of = (npu: number): Peers => {
      const known = peers.get(npu) ?? { to: [], from: [] };
      peers.set(npu, known);
      return known;
    };
    for (let k = 0; k < members.length; k += 2) {
      of(members[k]).to.push(members[k + 1]);
      of(members[k + 1]).from.push(members[k]);
    }
    return peers;
  });
}

/** Returns names for groups of collectives, 1, 2 ... by their members, the same for the same. O(members log groups). */
function groupNames({ tasks, groups, npuCount }: PlacedTasks): Groups {
  const known = new Map<string, Int32Array>();
  /** [works] each group's members and their key */
  const used = groups.map((group, w) => {
    const work = tasks.works[w];
    if (group === null || work.kind === "computations" || work.communication.collective === "send") return [];
    return Array.from({ length: group.members.length / group.size }, (_, g) => {
      const members = group.members.subarray(g * group.size, (g + 1) * group.size);
      const key = members.join(" ");
      if (group.size < npuCount || members.some((npu, i) => npu !== i)) known.set(key, members);
      return { members, key };
    });
  });
  const sorted = [...known].sort(
    ([, a], [, b]) => a.reduce((order, npu, i) => order || npu - (b[i] ?? -1), 0) || a.length - b.length,
  );
  const names = new Map(sorted.map(([key], i) => [key, `${i + 1}`]));
  return {
    lists: new Map(sorted.map(([key, members]) => [names.get(key) as string, members])),
    nameOf: used.map(
      (all) =>
        new Map(all.flatMap(({ members, key }) => Array.from(members, (npu) => [npu, names.get(key) ?? ""] as const))),
    ),
  };
}

/** Returns the tasks that each NPU takes part in. */
function tasksOfNpus({ tasks, npus, groups, npuCount }: PlacedTasks): number[][] {
  const own: number[][] = Array.from({ length: npuCount }, () => []);
  for (const [task, work] of tasks.work.entries()) {
    const group = groups[work];
    const members = group === null ? npus[tasks.lanes[tasks.lane[task]].actor] : group.members;
    // a member of two pairs of a send, as sender and as receiver, has it twice
    for (const npu of members) if (own[npu].at(-1) !== task) own[npu].push(task);
  }
  return own;
}

/** Throws InputError where a task waits for another that none of its NPUs takes part in: no trace could tell it. */
function checkWaits(
  { tasks }: PlacedTasks,
  after: readonly (readonly number[])[],
  own: readonly (readonly number[])[],
): void {
  const told = after.map((all) => new Set(all));
  for (const list of own) {
    const here = new Set(list);
    for (const task of list) for (const before of told[task]) if (here.has(before)) told[task].delete(before);
  }
  const task = told.findIndex(({ size }) => size > 0);
  if (task < 0) return;
  throw new InputError(
    `task ${task} of the step`,
    "one that waits for tasks of its NPUs",
    inWords(`waiting for ${[...told[task]][0]} of others`),
  ).saying(
    `task ${task} (${tasks.labels[tasks.label[task]]}) waits for task ${[...told[task]][0]}, in which none of its NPUs takes part; a trace cannot tell that`,
  );
}

/** Yields the nodes of one NPU. One without tasks has one node, so that its trace is not empty. */
function* nodesOf(source: Source, npu: number, own: readonly number[]): Generator<ChakraNode> {
  const { placed, after } = source;
  const { tasks, groups } = placed;
  /** Node that ends with a task. */
  const ends = new Map<number, number[]>();
  let id = 0;
  for (const task of own) {
    const work = tasks.works[tasks.work[task]];
    const group = groups[tasks.work[task]];
    const waits = [...new Set(after[task].flatMap((before) => ends.get(before) ?? []))];
    const label = tasks.labels[tasks.label[task]];
    const about: Attribute[] = [
      [OWN_ATTRIBUTE.layer, "string", label],
      [OWN_ATTRIBUTE.phase, "string", PHASE_NAMES[tasks.phase[task]]],
    ];
    if (tasks.microBatch[task] >= 0) about.push([OWN_ATTRIBUTE.microBatch, "int32", tasks.microBatch[task]]);
    if (work.kind === "computations") {
      let before = waits;
      const onHost = tasks.lanes[tasks.lane[task]].name === HOST_LANE;
      const nodes =
        work.computations.length === 0
          ? [joinNode(label)]
          : work.computations.map((one) => computationNode(one, onHost, source.times));
      for (const node of nodes) {
        yield { ...node, id, dataDeps: before, attributes: [...node.attributes, ...about] };
        before = [id++];
      }
      ends.set(task, before);
    } else if (work.communication.collective === "send") {
      const nodes = sendNodes(work.communication, source.peers[tasks.work[task]].get(npu) as Peers, task);
      ends.set(
        task,
        nodes.map((_, k) => id + k),
      );
      for (const node of nodes) {
        const dataDeps = node.type === NODE_TYPE.send ? waits : [];
        yield { ...node, id: id++, dataDeps, attributes: [...node.attributes, ...about] };
      }
    } else {
      const name = source.groups.nameOf[tasks.work[task]].get(npu) as string;
      ends.set(task, [id]);
      const node = collectiveNode(work.communication, group?.size ?? 1, name, label);
      yield { ...node, id: id++, dataDeps: waits, attributes: [...node.attributes, ...about] };
    }
  }
  if (id === 0) yield { ...joinNode("idle"), id, dataDeps: [] };
}

/** A node without its place in a trace. */
type Bare = Omit<ChakraNode, "id" | "dataDeps">;

const ON_NPU: Attribute = ["is_cpu_op", "bool", false];

const ON_HOST: Attribute = ["is_cpu_op", "bool", true];

const joinNode = (name: string): Bare => ({
  name,
  type: NODE_TYPE.computation,
  attributes: [ON_NPU, ["num_ops", "int64", 1], ["tensor_size", "uint64", 1], [OWN_ATTRIBUTE.kind, "string", JOIN]],
});

function computationNode(
  computation: Computation,
  onHost: boolean,
  { psOf = null, asOperations = false }: ComputationTimes,
): Bare {
  const { name, kind, flops, bytes, givenPs, aside = false } = computation;
  const ps = givenPs ?? psOf?.(computation) ?? null;
  if (ps === null && asOperations)
    throw new InputError(`the time of ${name}`, "given, where times are told as operations");
  const told =
    asOperations && ps !== null ? { ops: ps, bytes: 1 } : { ops: Math.round(flops), bytes: Math.round(bytes) };
  // a simulator that goes by operations divides by both
  const attributes: Attribute[] = [
    onHost ? ON_HOST : ON_NPU,
    ["num_ops", "int64", Math.max(1, told.ops)],
    ["tensor_size", "uint64", Math.max(1, told.bytes)],
    [OWN_ATTRIBUTE.kind, "string", aside ? DELAY : kind],
  ];
  if (ps === null) return { name, type: NODE_TYPE.computation, attributes };
  attributes.push([OWN_ATTRIBUTE.ps, "uint64", ps]);
  return { name, type: NODE_TYPE.computation, durationMicros: Math.round(ps / PS_PER_US), attributes };
}

function collectiveNode(communication: Communication, size: number, group: string, label: string): Bare {
  const { collective, bytes } = communication;
  const type = COLLECTIVE_TYPE[collective as keyof typeof COLLECTIVE_TYPE];
  const part = OF_A_PART.has(collective) ? Math.ceil(bytes / size) : bytes;
  const attributes: Attribute[] = [
    ON_NPU,
    ["comm_type", "int64", type],
    ["comm_size", "int64", Math.ceil(part)],
    ...(group === "" ? [] : [["pg_name", "string", group] as const]),
  ];
  return { name: `${label} ${collective}`, type: NODE_TYPE.collective, attributes };
}

/** Returns what an NPU sends and receives. */
function sendNodes({ bytes }: Communication, { to, from }: Peers, tag: number): Bare[] {
  const about: Attribute[] = [ON_NPU, ["comm_size", "int64", Math.ceil(bytes)], ["comm_tag", "int32", tag]];
  const node = (type: number, name: string, peer: Attribute): Bare => ({ name, type, attributes: [...about, peer] });
  return [
    ...to.map((npu) => node(NODE_TYPE.send, "send", ["comm_dst", "int32", npu])),
    ...from.map((npu) => node(NODE_TYPE.receive, "receive", ["comm_src", "int32", npu])),
  ];
}
