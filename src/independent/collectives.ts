import {
  bad,
  ceil,
  compare,
  type Fraction,
  flagAt,
  fractionAt,
  isWhole,
  type Json,
  LARGEST,
  listAt,
  objectAt,
  textAt,
  textOf,
  wholeAt,
  wholesAt,
} from "./values.ts";

/** Network and collectives of a schedule's file, as FORMATS.md has them. */

export interface Network {
  /** NPUs first. */
  readonly names: readonly string[];
  readonly number: ReadonlyMap<string, number>;
  readonly npus: number;
  readonly copies: readonly boolean[];
  readonly sums: readonly boolean[];
  /** By link: ends, bytes per second, picoseconds. */
  readonly from: number[];
  readonly to: number[];
  readonly rate: number[];
  readonly latency: number[];
}

export const amountAt = (
  value: unknown,
  text: unknown,
  scale: number,
  unit: RegExp,
  least: number,
  place: string,
): number => {
  const found = value === undefined && typeof text === "string" ? unit.exec(text) : null;
  const amount =
    found === null ? (typeof value === "number" ? Math.round(value * scale) : Number.NaN) : Number(found[1]);
  return isWhole(amount, least, LARGEST)
    ? amount
    : bad(place, `a figure in the unit that schedules have`, value ?? text);
};

export function readNetwork(value: unknown): Network {
  const file = objectAt(value, "topology");
  const nodes = listAt(file["nodes"], "topology.nodes").map((one, i) => objectAt(one, `topology.nodes[${i}]`));
  const isNpu = ({ kind }: Json): boolean =>
    kind === "npu" || (kind !== "switch" && bad("a node's kind", '"npu" or "switch"', kind));
  const sorted = [...nodes.filter(isNpu), ...nodes.filter((node) => !isNpu(node))];
  const nameOf = (id: unknown): string =>
    isWhole(id, -LARGEST, LARGEST) ? String(id) : textAt(id, "the id of a node");
  const names = sorted.map(({ id }) => nameOf(id));
  const number = new Map(names.map((name, node) => [name, node]));
  if (number.size !== names.length) bad("topology.nodes", "nodes of different ids", nodes);
  const flags = (key: string): boolean[] => sorted.map((node) => flagAt(node[key], `a node's ${key}`));
  const net = { from: [] as number[], to: [] as number[], rate: [] as number[], latency: [] as number[] };
  const nodeAt = (id: unknown, place: string): number => number.get(nameOf(id)) ?? bad(place, "the id of a node", id);
  for (const [i, entry] of listAt(file["links"], "topology.links").entries()) {
    const place = `topology.links[${i}]`;
    const link = objectAt(entry, place);
    const [from, to] = [nodeAt(link["from"], place), nodeAt(link["to"], place)];
    const rate = amountAt(link["bandwidthGBps"], link["bandwidth"], 1e9, /^(\d+)B\/s$/, 1, `${place}.bandwidth`);
    const latency = amountAt(link["latencyUs"], link["latency"], 1e6, /^(\d+)ps$/, 0, `${place}.latency`);
    const both = flagAt(link["bidirectional"], place);
    const count =
      link["count"] === undefined ? 1 : wholeAt(link["count"], `${place}.count`, 1, 2 ** 24 - net.from.length);
    for (let k = 0; k < (both ? 2 * count : count); k++) {
      net.from.push(k % 2 === 1 && both ? to : from);
      net.to.push(k % 2 === 1 && both ? from : to);
      net.rate.push(rate);
      net.latency.push(latency);
    }
  }
  return {
    names,
    number,
    npus: nodes.filter(isNpu).length,
    copies: flags("multicast"),
    sums: flags("aggregation"),
    ...net,
  };
}

export interface Group {
  readonly members: readonly number[];
  readonly rank: ReadonlyMap<number, number>;
}

/** Whom chunks belong to: one NPU each, or the members of a set. */
export interface Places {
  readonly one: Int32Array | null;
  readonly sets: readonly Group[];
  /** Returns the number of a chunk's set. */
  readonly of: (chunk: number) => number;
}

export interface Task {
  readonly kind: string;
  readonly groups: readonly Group[];
  /** Members of a group. */
  readonly size: number;
  readonly chunksPerNpu: number;
  readonly chunks: number;
  readonly bytes: Fraction;
  readonly sums: boolean;
  readonly pre: Places;
  readonly post: Places;
}

export const groupOf = (members: readonly number[]): Group => ({
  members,
  rank: new Map(members.map((npu, i) => [npu, i])),
});
export const has = ({ one, sets, of }: Places, chunk: number, npu: number): boolean =>
  one === null ? sets[of(chunk)].rank.has(npu) : one[chunk] === npu;
export const membersOf = ({ one, sets, of }: Places, chunk: number): readonly number[] =>
  one === null ? sets[of(chunk)].members : [one[chunk] as number];
export const countOf = ({ one, sets, of }: Places, chunk: number): number =>
  one === null ? sets[of(chunk)].members.length : 1;

/** The table of FORMATS.md: blocks of a group of n, whether it sums, where a block goes from and to. */
export const KINDS: Readonly<
  Record<string, readonly [blocks: (n: number) => number, sums: boolean, from: string, to: string]>
> = {
  allgather: [(n) => n, false, "own", "all"],
  reducescatter: [(n) => n, true, "all", "own"],
  allreduce: [(n) => n, true, "all", "all"],
  broadcast: [() => 1, false, "root", "all"],
  reduce: [() => 1, true, "all", "root"],
  gather: [(n) => n, false, "own", "root"],
  scatter: [(n) => n, false, "root", "own"],
  alltoall: [(n) => n * n, false, "first", "second"],
};

export function readTask(file: Json, at: string, net: Network): Task {
  const place = (key: string): string => `${at}collective.${key}`;
  const own = objectAt(file["collective"], `${at}collective`);
  const groups = listAt(own["groups"], place("groups")).map((one) =>
    groupOf(wholesAt(one, place("groups"), net.npus - 1)),
  );
  const size = groups[0]?.members.length ?? 0;
  if (size === 0 || groups.some(({ members, rank }) => members.length !== size || rank.size !== size))
    bad(place("groups"), "groups of as many different NPUs", own["groups"]);
  const root = wholeAt(own["rootRank"], place("rootRank"), 0, size - 1);
  const sizeBytes = wholeAt(own["sizeBytes"], place("sizeBytes"), 1);
  const chunksPerNpu = wholeAt(own["chunksPerNpu"], place("chunksPerNpu"), 1);
  const section = file["chunks"];
  const listed = Array.isArray(section) ? section : null;
  const summary = listed === null ? objectAt(section, `${at}chunks`) : null;
  const chunks = wholeAt(listed === null ? summary?.["count"] : listed.length, `${at}chunks.count`, 1, 2 ** 26);
  const kind = textAt(own["kind"], place("kind"));
  const known = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (known === undefined && kind !== "custom") bad(place("kind"), "the name of a collective", kind);
  const isTable = known === undefined || own["pre"] !== undefined;
  const perGroup = chunks / groups.length;
  const isRight =
    known === undefined ||
    (kind === "allreduce" && isTable
      ? chunksPerNpu === Math.max(1, Math.floor(perGroup / size))
      : perGroup === known[0](size) * chunksPerNpu);
  if (!isRight || !Number.isInteger(perGroup)) bad(`${at}chunks`, `as many chunks as make this ${kind}`, chunks);
  const table = isTable ? readTable(own, place, { chunks, groups, perGroup, net }) : null;
  const basis = { kind, groups, size, chunksPerNpu, chunks };
  let task: Task;
  if (known === undefined) task = { ...basis, ...(table as NonNullable<typeof table>) };
  else {
    const parts = kind === "allreduce" ? perGroup : chunksPerNpu * (kind === "alltoall" ? size : known[0](size));
    const bytes: Fraction = [BigInt(sizeBytes), BigInt(parts)];
    const placed = (where: string): Places => namedPlaces(where, groups, root, chunksPerNpu, chunks);
    task = { ...basis, bytes, sums: known[1], pre: placed(known[2]), post: placed(known[3]) };
    if (table !== null && !sameTable(task, table)) bad(place("kind"), '"custom", for its table says otherwise,', kind);
  }
  const { bytes } = task;
  const isSize = (value: unknown): boolean => compare(fractionAt(value, `${at}chunks.bytes`), bytes) === 0;
  const other = listed?.find((one) => !isSize(objectAt(one, `${at}chunks`)["bytes"])) ?? summary;
  if (other !== null && !isSize(objectAt(other, `${at}chunks`)["bytes"]))
    bad(`${at}chunks.bytes`, textOf(bytes), "another size");
  if (compare([BigInt(sizeBytes), 1n], [ceil(bytes[0] * BigInt(chunks), bytes[1]), 1n]) > 0 && known === undefined)
    bad(place("sizeBytes"), "no more than its chunks have", sizeBytes);
  return task;
}

export function namedPlaces(
  where: string,
  groups: readonly Group[],
  root: number,
  perBlock: number,
  chunks: number,
): Places {
  const perGroup = chunks / groups.length;
  const of = (chunk: number): number => Math.floor(chunk / perGroup);
  if (where === "all") return { one: null, sets: groups, of };
  const size = groups[0].members.length;
  const one = Int32Array.from({ length: chunks }, (_, chunk) => {
    const block = Math.floor((chunk % perGroup) / perBlock);
    const rank =
      where === "root" ? root : where === "own" ? block : where === "first" ? Math.floor(block / size) : block % size;
    return groups[of(chunk)].members[rank];
  });
  return { one, sets: [], of };
}

export interface TableOf {
  readonly chunks: number;
  readonly groups: readonly Group[];
  readonly perGroup: number;
  readonly net: Network;
}

export function readTable(own: Json, place: (key: string) => string, { chunks, groups, perGroup, net }: TableOf) {
  wholeAt(own["chunkCount"], place("chunkCount"), chunks, chunks);
  if (typeof own["reduces"] !== "boolean") bad(place("reduces"), "true or false", own["reduces"]);
  const places = (key: string): Places => {
    const { kind, npu, offset, members } = objectAt(own[key], place(key));
    if (kind === "group") return { one: null, sets: groups, of: (chunk) => Math.floor(chunk / perGroup) };
    if (kind === "one")
      return { one: Int32Array.from(wholesAt(npu, place(key), net.npus - 1, chunks)), sets: [], of: () => 0 };
    if (kind !== "sets") bad(place(key), '"one", "sets" or "group"', kind);
    const all = wholesAt(members, place(key), net.npus - 1);
    const offsets = wholesAt(offset, place(key), all.length, chunks + 1);
    const known = new Map<string, number>();
    const sets: Group[] = [];
    const of = Array.from({ length: chunks }, (_, chunk) => {
      const list = all.slice(offsets[chunk], offsets[chunk + 1]);
      const name = list.join();
      const set = known.get(name) ?? sets.push(groupOf(list)) - 1;
      known.set(name, set);
      if (sets[set].rank.size !== list.length || list.length === 0) bad(place(key), "sets of different NPUs", own[key]);
      return set;
    });
    return { one: null, sets, of: (chunk) => of[chunk] };
  };
  return {
    bytes: fractionAt(own["chunkBytes"], place("chunkBytes")),
    sums: own["reduces"] as boolean,
    pre: places("pre"),
    post: places("post"),
  };
}

export function sameTable(task: Task, table: Pick<Task, "bytes" | "sums" | "pre" | "post">): boolean {
  const same = (a: Places, b: Places): boolean => {
    for (let chunk = 0; chunk < task.chunks; chunk++) {
      if (a.one === null && b.one === null && a.sets[a.of(chunk)] === b.sets[b.of(chunk)]) continue;
      if (countOf(a, chunk) !== countOf(b, chunk) || !membersOf(a, chunk).every((npu) => has(b, chunk, npu)))
        return false;
    }
    return true;
  };
  return (
    task.sums === table.sums &&
    compare(task.bytes, table.bytes) === 0 &&
    same(task.pre, table.pre) &&
    same(task.post, table.post)
  );
}
