import { InputError, inWords } from "../../base/errors.ts";
import { NODE_TYPE } from "../../model/files/chakra-format.ts";
import type { Communicators } from "./chakra-groups.ts";
import type { AttributeValue, TraceNode } from "./chakra-trace.ts";

/** The trace of an NPU. */
export interface Trace {
  readonly name: string;
  readonly nodes: readonly TraceNode[];
  /** Nodes by ascending ids, which is the order of issue. */
  readonly byId: Int32Array;
  /** [nodes] nodes that each waits for */
  readonly deps: readonly Int32Array[];
}

/** What traces say to each other; node n of NPU p is number offset[p] + n. */
export interface Matches {
  readonly offset: Int32Array;
  /** Each collective's nodes, one a member in the order of the group; each send and its receive. */
  readonly matches: readonly Int32Array[];
  /** [nodes] number of the match, -1 where it is of none */
  readonly matchOf: Int32Array;
  /** [matches] number of the communicator, -1 of a send */
  readonly communicator: Int32Array;
}

/** Returns how messages call a node. */
export const placeOf = ({ name }: Trace, { id }: TraceNode): string => `${name}: node ${id}`;

/**
 * Returns a trace with what each node waits for. Throws InputError for ids that occur twice or are waited for and are not there.
 * O(nodes log nodes + dependencies).
 */
export function traceOf(name: string, nodes: readonly TraceNode[]): Trace {
  const indexOf = new Map<number, number>();
  for (const [i, { id }] of nodes.entries()) {
    if (indexOf.has(id)) {
      throw new InputError(`${name}: node ${id}`, "the only one of its id", inWords("another")).saying(
        `${name} has two nodes of id ${id}`,
      );
    }
    indexOf.set(id, i);
  }
  const deps = nodes.map((node) =>
    Int32Array.from(node.deps, (id) => {
      const index = indexOf.get(id);
      if (index !== undefined) return index;
      throw new InputError(
        `${name}: node ${node.id}`,
        "one that waits for nodes of its file",
        inWords(`waiting for node ${id}`),
      ).saying(`${name}: node ${node.id} waits for node ${id}, which is not in the file`);
    }),
  );
  const byId = Int32Array.from(nodes.keys()).sort((a, b) => nodes[a].id - nodes[b].id);
  return { name, nodes, byId, deps };
}

const attributeOf = (trace: Trace, node: TraceNode, name: string): [string, AttributeValue | undefined] => [
  `${placeOf(trace, node)}: ${name}`,
  node.attributes.get(name),
];

/** Returns a number of a node, `otherwise` where it has none. Throws InputError for what is no whole number of `least` or more. */
export function numberOf(trace: Trace, node: TraceNode, name: string, otherwise: number | null, least = 0): number {
  const [place, value] = attributeOf(trace, node, name);
  if (value === undefined) {
    if (otherwise !== null) return otherwise;
    throw new InputError(place, "a whole number");
  }
  const number = typeof value === "boolean" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < least) {
    throw new InputError(place, `a whole number${least === 0 ? " of 0 or more" : ""}`, value);
  }
  return number;
}

/** Returns a text of a node, empty where it has none. */
export function textOf(trace: Trace, node: TraceNode, name: string): string {
  const [place, value] = attributeOf(trace, node, name);
  if (value === undefined || typeof value === "string") return value ?? "";
  throw new InputError(place, "a text", value);
}

/**
 * Returns which nodes of the traces are one communication. Collectives of a communicator are matched by name where every member
 * has the same names equally often, else one after the other by ascending ids; sends with receives of the same NPUs and tag one
 * after the other. Throws InputError where no partner is there, or one of another kind or size. O(nodes log nodes).
 */
export function matchedNodes(traces: readonly Trace[], communicators: Communicators): Matches {
  const offset = new Int32Array(traces.length + 1);
  for (const [npu, { nodes }] of traces.entries()) offset[npu + 1] = offset[npu] + nodes.length;
  const count = offset[traces.length];
  /** [communicators] nodes of each member, in the order of issue */
  const seats: Map<number, number[]>[] = [];
  const ends: SendEnds = { sends: new Map(), receives: new Map() };
  for (const [npu, trace] of traces.entries()) {
    for (const i of trace.byId) {
      const node = trace.nodes[i];
      if (node.type === NODE_TYPE.collective) {
        const c = communicators.of(npu, node, () => placeOf(trace, node));
        seats[c] ??= new Map(Array.from(communicators.all[c].members, (member) => [member, []]));
        seats[c].get(npu)?.push(offset[npu] + i);
      } else if (node.type === NODE_TYPE.send || node.type === NODE_TYPE.receive) {
        addEnd(ends, npu, traces, trace, node, offset[npu] + i);
      }
    }
  }
  const matchOf = new Int32Array(count).fill(-1);
  const matches: Int32Array[] = [];
  const communicator: number[] = [];
  const add = (nodes: readonly number[], number: number): void => {
    for (const node of nodes) matchOf[node] = matches.length;
    matches.push(Int32Array.from(nodes));
    communicator.push(number);
  };
  const named: NodeOf = (node) => {
    const npu = upper(offset, node);
    return { npu, trace: traces[npu], node: traces[npu].nodes[node - offset[npu]] };
  };
  for (const [c, lists] of seats.entries()) {
    if (lists === undefined) continue;
    for (const nodes of collectivesOf([...lists], communicators.all[c].name, named)) add(nodes, c);
  }
  for (const nodes of sendsOf(ends, named)) add(nodes, -1);
  return { offset, matches, matchOf, communicator: Int32Array.from(communicator) };
}

/** Returns the last place of an ascending column that is not above a value. */
function upper(column: Int32Array, value: number): number {
  let [low, high] = [0, column.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (column[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whose node a number is. */
type NodeOf = (node: number) => { readonly npu: number; readonly trace: Trace; readonly node: TraceNode };

/** Yields the nodes of each collective of a communicator, in the order of its members. */
function* collectivesOf(
  lists: readonly (readonly [npu: number, nodes: readonly number[]])[],
  group: string,
  named: NodeOf,
): Generator<number[]> {
  const [[firstNpu, first], ...others] = lists;
  for (const [npu, nodes] of others) {
    if (nodes.length === first.length) continue;
    const most = nodes.length > first.length ? npu : firstNpu;
    const [more, less] = most === npu ? [nodes, first] : [first, nodes];
    const { trace, node } = named(more[less.length]);
    const counts = `${more.length} of NPU ${most} and ${less.length} of NPU ${most === npu ? firstNpu : npu}`;
    throw new InputError(`the collectives of ${group}`, "as many of each member", inWords(counts)).saying(
      `${placeOf(trace, node)} has no partner: the collectives of ${group} are ${counts}`,
    );
  }
  const byName = lists.map(([, nodes]) => ordered(nodes, named));
  const areNamed = byName.every(({ names }) => names === byName[0].names);
  for (let k = 0; k < first.length; k++) {
    const nodes = lists.map(([, all], i) => (areNamed ? byName[i].nodes[k] : all[k]));
    const one = named(nodes[0]);
    for (const node of nodes) {
      const other = named(node);
      for (const name of ["comm_type", "comm_size"]) {
        const [a, b] = [one, other].map(({ trace, node: n }) =>
          numberOf(trace, n, name, name === "comm_size" ? 0 : null),
        );
        if (a === b) continue;
        throw new InputError(`${placeOf(other.trace, other.node)}: ${name}`, `that of its partners, ${a}`, b).saying(
          `${placeOf(other.trace, other.node)} has ${name} ${b}, and its partner in ${group}, ${placeOf(one.trace, one.node)}, has ${a}`,
        );
      }
    }
    yield nodes;
  }
}

/** Returns nodes by name, those of one name as they come, and all names as one text. */
function ordered(nodes: readonly number[], named: NodeOf): { nodes: readonly number[]; names: string } {
  const entries = nodes.map((node, k) => ({ node, k, name: named(node).node.name }));
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.k - b.k));
  return { nodes: entries.map(({ node }) => node), names: JSON.stringify(entries.map(({ name }) => name)) };
}

/** Sends and receives by source, target and tag, in the order of issue. */
interface SendEnds {
  readonly sends: Map<string, number[]>;
  readonly receives: Map<string, number[]>;
}

function addEnd(
  ends: SendEnds,
  npu: number,
  traces: readonly Trace[],
  trace: Trace,
  node: TraceNode,
  number: number,
): void {
  const isSend = node.type === NODE_TYPE.send;
  const from = numberOf(trace, node, "comm_src", isSend ? npu : null);
  const to = numberOf(trace, node, "comm_dst", isSend ? null : npu);
  const place = placeOf(trace, node);
  if ((isSend ? from : to) !== npu) {
    throw new InputError(`${place}: ${isSend ? "comm_src" : "comm_dst"}`, `its own NPU, ${npu}`, isSend ? from : to);
  }
  const peer = isSend ? to : from;
  if (peer >= traces.length || peer === npu) {
    throw new InputError(`${place}: ${isSend ? "comm_dst" : "comm_src"}`, `another of the ${traces.length} NPUs`, peer);
  }
  const key = `${from} ${to} ${numberOf(trace, node, "comm_tag", null, Number.MIN_SAFE_INTEGER)}`;
  const map = isSend ? ends.sends : ends.receives;
  const list = map.get(key) ?? [];
  list.push(number);
  map.set(key, list);
}

/** Yields each send and its receive. */
function* sendsOf({ sends, receives }: SendEnds, named: NodeOf): Generator<readonly [number, number]> {
  for (const key of new Set([...sends.keys(), ...receives.keys()])) {
    const [out, into] = [sends.get(key) ?? [], receives.get(key) ?? []];
    const [from, to, tag] = key.split(" ");
    if (out.length !== into.length) {
      const { trace, node } = named((out.length > into.length ? out : into)[Math.min(out.length, into.length)]);
      const counts = `${out.length} sent and ${into.length} received`;
      throw new InputError(
        `messages from NPU ${from} to ${to} of tag ${tag}`,
        "as many sent as received",
        inWords(counts),
      ).saying(
        `${placeOf(trace, node)} has no partner: of messages from NPU ${from} to NPU ${to} with tag ${tag} there are ${counts}`,
      );
    }
    for (const [k, send] of out.entries()) {
      const [a, b] = [named(send), named(into[k])];
      const [sent, received] = [a, b].map(({ trace, node }) => numberOf(trace, node, "comm_size", null));
      if (sent !== received) {
        throw new InputError(`${placeOf(b.trace, b.node)}: comm_size`, `what is sent, ${sent} bytes`, received).saying(
          `${placeOf(b.trace, b.node)} receives ${received} bytes, and ${placeOf(a.trace, a.node)} sends ${sent}`,
        );
      }
      yield [send, into[k]];
    }
  }
}
