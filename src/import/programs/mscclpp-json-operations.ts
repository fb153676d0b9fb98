import { InputError, inWords } from "../../base/errors.ts";
import type { Op, Via } from "../../model/program/program.ts";
import { asInteger, asList, asObject, asText, type JsonFields, refuse } from "../text/json.ts";
import {
  type BlockTables,
  bufferOf,
  entry,
  GREATEST,
  type PeerKind,
  type Place,
  type PlanChannel,
} from "./mscclpp-json-tables.ts";

const MOST_SHARERS = 1024;

/** `size` chunks from the sum of the sources to all destinations; then a post on a channel, where there is one. */
export interface PlanMove {
  readonly size: number;
  readonly sources: readonly PlanOperand[];
  readonly destinations: readonly PlanOperand[];
  readonly posts: PlanChannel | null;
}

/** An operation of a thread block. */
export interface PlanOperation {
  readonly name: Op;
  readonly step: number;
  readonly line: number;
  readonly place: string;
  readonly via: Via;
  readonly moves: readonly PlanMove[];
  /** The block does part number `part` of `parts` equal ones of every operand. */
  readonly part: number;
  readonly parts: number;
  /** A pipeline cuts it. */
  readonly cut: boolean;
  /** Of signal, wait and flush. */
  readonly channels: readonly PlanChannel[];
  /** Of sem_acquire and sem_release: numbers in the gpu. */
  readonly semaphores: readonly number[];
  readonly barrier: { readonly id: number; readonly blocks: number } | null;
}

/** Operations that are repeated, each time for the next `unitBytes` of their operands, until `chunks` chunks are done. */
export interface PlanPipeline {
  readonly name: "pipeline";
  readonly place: string;
  readonly unitBytes: number;
  readonly chunks: number;
  readonly operations: readonly PlanOperation[];
}

type OperationFields = JsonFields<
  | "name"
  | "channel_type"
  | "channel_ids"
  | "semaphore_ids"
  | "barrier_id"
  | "num_threadblocks"
  | "src_buff"
  | "dst_buff"
  | "reduce_op"
  | "tbg_info"
  | "iter_context"
  | "ops"
>;

/** Where the reader is: in the operations of one thread block. */
interface BlockReader {
  readonly tables: BlockTables;
  readonly at: Place;
  /** Returns the line of the next operation of the text, 0 where lines are not known. */
  readonly nextLine: () => number;
  /** Returns the number of the next step. */
  readonly nextStep: () => number;
}

const NOTHING: Omit<PlanOperation, "name" | "step" | "line" | "place"> = {
  via: "local",
  moves: [],
  part: 0,
  parts: 1,
  cut: false,
  channels: [],
  semaphores: [],
  barrier: null,
};
const ON_CHANNELS: ReadonlySet<unknown> = new Set(["signal", "wait", "rlxsignal", "rlxwait", "flush"]);
const SEMAPHORES: ReadonlySet<unknown> = new Set(["sem_acquire", "sem_release"]);

/** Returns the operations of a thread block or a pipeline in order. Throws InputError. O(their text). */
export function planOperations(
  value: unknown,
  path: string,
  reader: BlockReader,
): readonly (PlanOperation | PlanPipeline)[] {
  return asList(value, reader.at(path)).map((member, k) => {
    const here = `${path}[${k}]`;
    const line = reader.nextLine();
    const step = reader.nextStep();
    const at = withLine(reader.at, line);
    const fields = asObject<OperationFields>(member, at(here));
    return fields.name === "pipeline"
      ? pipeline(fields, here, reader, at)
      : { ...operation(fields, here, reader.tables, at), step, line, place: at(here) };
  });
}

const withLine = (at: Place, line: number): Place => (line > 0 ? (path) => at(`${path} (line ${line})`) : at);

/** Returns a pipeline. They do not nest: the executor counts the operations of one level only. */
function pipeline(fields: OperationFields, path: string, reader: BlockReader, at: Place): PlanPipeline {
  const context = `${path}.iter_context`;
  const { unit_size: unit, num_chunks: chunks } = asObject<{ unit_size?: unknown; num_chunks?: unknown }>(
    fields.iter_context,
    at(context),
  );
  const operations = asList(fields.ops, at(`${path}.ops`)).map((member, k) => {
    const here = `${path}.ops[${k}]`;
    const line = reader.nextLine();
    const inner = withLine(reader.at, line);
    const read = operation(asObject<OperationFields>(member, inner(here)), here, reader.tables, inner);
    return { ...read, step: reader.nextStep(), line, place: inner(here) };
  });
  return {
    name: "pipeline",
    place: at(path),
    unitBytes: asInteger(unit, at(`${context}.unit_size`), 1, 2 ** 32 - 1),
    chunks: asInteger(chunks, at(`${context}.num_chunks`), 1, GREATEST),
    operations,
  };
}

function operation(
  fields: OperationFields,
  path: string,
  tables: BlockTables,
  at: Place,
): Omit<PlanOperation, "step" | "line" | "place"> {
  const { name } = fields;
  const shape = SHAPES.get(name);
  if (shape !== undefined) return { ...NOTHING, name: name as Op, ...data(fields, shape, path, tables, at) };
  if (name === "nop") return { ...NOTHING, name };
  if (ON_CHANNELS.has(name)) {
    const via = channelType(fields, name === "flush" ? ["port"] : ["memory", "port"], path, at);
    return { ...NOTHING, name: name as Op, via, channels: channelsOf(fields, via as PeerKind, path, tables, at) };
  }
  if (SEMAPHORES.has(name)) {
    const list = `${path}.semaphore_ids`;
    const semaphores = asList(fields.semaphore_ids, at(list)).map((id, k) => {
      entry(tables.semaphores, id, `semaphore of gpu ${tables.rank}`, at(`${list}[${k}]`));
      return id as number;
    });
    return { ...NOTHING, name: name as Op, semaphores };
  }
  if (name === "barrier") {
    const id = asInteger(fields.barrier_id, at(`${path}.barrier_id`), 0, GREATEST);
    const blocks = asInteger(fields.num_threadblocks, at(`${path}.num_threadblocks`), 1, GREATEST);
    return { ...NOTHING, name, barrier: { id, blocks } };
  }
  asText(name, at(`${path}.name`), "the name of an operation");
  const expected = name === "pipeline" ? "no pipeline within a pipeline" : "an operation of MSCCL++";
  return refuse(at(`${path}.name`), expected, name);
}

function channelType(fields: OperationFields, known: readonly Via[], path: string, at: Place): Via {
  const via = known.find((kind) => kind === fields.channel_type);
  if (via !== undefined) return via;
  const expected = known.map((kind) => `"${kind}"`).join(" or ");
  return refuse(at(`${path}.channel_type`), expected, fields.channel_type);
}

function channelsOf(
  fields: OperationFields,
  kind: PeerKind,
  path: string,
  tables: BlockTables,
  at: Place,
): PlanChannel[] {
  const list = `${path}.channel_ids`;
  return asList(fields.channel_ids, at(list)).map((id, k) =>
    entry(tables.channels[kind], id, `${kind} channel of the thread block`, at(`${list}[${k}]`)),
  );
}

type Data = Pick<PlanOperation, "via" | "moves" | "part" | "parts" | "cut">;

function data(fields: OperationFields, shape: Shape, path: string, tables: BlockTables, at: Place): Data {
  const via = shape.by.length === 0 ? "local" : channelType(fields, shape.by, path, at);
  const sources = side(fields.src_buff, shape.sources, via, `${path}.src_buff`, tables, at);
  const destinations = side(fields.dst_buff, shape.destinations, via, `${path}.dst_buff`, tables, at);
  // The executor adds up, whatever a plan says here.
  const reduce = fields.reduce_op;
  if (reduce !== undefined && reduce !== "sum")
    refuse(at(`${path}.reduce_op`), '"sum", which is all that runs,', reduce);
  const channels = via === "port" ? portChannels(fields, destinations, path, tables, at) : null;
  return {
    via,
    cut: !hasPackets(shape),
    ...sharing(fields.tbg_info, `${path}.tbg_info`, at),
    moves: shape.pairs
      ? pairedMoves(sources, destinations, shape.posts ? channels : null, path, at)
      : [oneMove(sources, destinations, path, at)],
  };
}

/** Returns the channels of the destinations. A port writes into memory of the rank at its other end only. */
function portChannels(
  fields: OperationFields,
  destinations: readonly Sized[],
  path: string,
  tables: BlockTables,
  at: Place,
): PlanChannel[] {
  const channels = channelsOf(fields, "port", path, tables, at);
  const list = `${path}.channel_ids`;
  if (channels.length !== destinations.length)
    throw new InputError(at(list), `one channel for each of ${destinations.length} destinations`, fields.channel_ids);
  channels.forEach(({ peer }, k) => {
    const { rank } = (destinations[k].operands as readonly [PlanOperand])[0];
    if (peer !== rank)
      throw new InputError(at(`${list}[${k}]`), `a channel to rank ${rank}`, inWords(`one to rank ${peer}`));
  });
  return channels;
}

function sharing(value: unknown, path: string, at: Place): { part: number; parts: number } {
  if (value === undefined) return { part: 0, parts: 1 };
  const group = asObject<{ tb_id?: unknown; tbg_size?: unknown }>(value, at(path));
  const parts = asInteger(group.tbg_size, at(`${path}.tbg_size`), 1, MOST_SHARERS);
  return { part: asInteger(group.tb_id, at(`${path}.tb_id`), 0, parts - 1), parts };
}

function pairedMoves(
  sources: readonly Sized[],
  destinations: readonly Sized[],
  posts: readonly PlanChannel[] | null,
  path: string,
  at: Place,
): PlanMove[] {
  if (sources.length !== destinations.length)
    throw new InputError(
      at(`${path}.dst_buff`),
      `as many buffers as in src_buff, ${sources.length},`,
      destinations.length,
    );
  return sources.map((source, k) => ({
    ...oneMove([source], [destinations[k]], path, at),
    posts: posts === null ? null : (posts[k] as PlanChannel),
  }));
}

function oneMove(sources: readonly Sized[], destinations: readonly Sized[], path: string, at: Place): PlanMove {
  const { size } = sources[0];
  const other = [...sources, ...destinations].find((side) => side.size !== size);
  if (other !== undefined) throw new InputError(at(path), `buffers of equal size, ${size} as the first,`, other.size);
  return {
    size,
    sources: sources.flatMap(({ operands }) => operands),
    destinations: destinations.flatMap(({ operands }) => operands),
    posts: null,
  };
}

export interface PlanOperand {
  readonly rank: number;
  readonly buffer: number;
  /** In chunks of the file. */
  readonly index: number;
  readonly packet: boolean;
}

/** An operand as a file says it: one buffer, or one in each rank of a group. */
interface Sized {
  readonly size: number;
  readonly operands: readonly PlanOperand[];
}

/**
 * Returns the operands of one side of an operation that reaches other ranks by `via`. Throws InputError where they are not those
 * of the operation's shape. O(operands).
 */
function side(value: unknown, expected: Side, via: Via, path: string, tables: BlockTables, at: Place): Sized[] {
  const list = asList(value, at(path));
  const least = expected.first.length;
  if (list.length < least || (expected.rest === null && list.length > least)) {
    const count = `${least}${expected.rest === null ? "" : " or more"} buffer${least === 1 && expected.rest === null ? "" : "s"}`;
    throw new InputError(at(path), `a list of ${count}`, list);
  }
  return list.map((member, k) =>
    operand(member, expected.first[k] ?? (expected.rest as Slot), via, `${path}[${k}]`, tables, at),
  );
}

type OperandFields = JsonFields<"type" | "rank" | "buffer_id" | "switch_channel_id" | "index" | "size">;

function operand(value: unknown, slot: Slot, via: Via, path: string, tables: BlockTables, at: Place): Sized {
  const fields = asObject<OperandFields>(value, at(path));
  const index = asInteger(fields.index, at(`${path}.index`), 0, GREATEST);
  const size = asInteger(fields.size, at(`${path}.size`), 1, GREATEST);
  const of = (rank: number, buffer: number): PlanOperand => ({ rank, buffer, index, packet: slot.packet });
  if (slot.kind === "remote") {
    const place = at(`${path}.buffer_id`);
    const what = `remote buffer that the thread block reaches by ${via}`;
    const { rank, buffer } = entry(tables.remotes[via as PeerKind], fields.buffer_id, what, place);
    return { size, operands: [of(rank, buffer)] };
  }
  if (slot.kind === "switch") {
    const place = at(`${path}.switch_channel_id`);
    const { ranks, buffer } = entry(
      tables.switches,
      fields.switch_channel_id,
      "switch channel of the thread block",
      place,
    );
    return { size, operands: ranks.map((rank) => of(rank, buffer)) };
  }
  if (fields.rank !== undefined && fields.rank !== tables.rank)
    refuse(at(`${path}.rank`), `the gpu's own rank ${tables.rank}`, fields.rank);
  return { size, operands: [of(tables.rank, bufferOf(fields.type, at(`${path}.type`)))] };
}

/** What an operand is: a buffer of the gpu itself, of another, or of all of a group behind a switch; and whether in packets. */
interface Slot {
  readonly kind: "local" | "remote" | "switch";
  readonly packet: boolean;
}

/** Operands of one side in order: some that must be there, then any number of others, where `rest` says which. */
interface Side {
  readonly first: readonly Slot[];
  readonly rest: Slot | null;
}

/** Operands of an operation that moves data. */
interface Shape {
  readonly sources: Side;
  readonly destinations: Side;
  /** The k-th source goes to the k-th destination; otherwise the sum of all sources goes to all destinations. */
  readonly pairs: boolean;
  /** Its `channel_type`; none for what stays in the gpu. */
  readonly by: readonly Via[];
  /** It posts on its channels. */
  readonly posts: boolean;
}

const LOCAL: Slot = { kind: "local", packet: false };
const LOCAL_PACKET: Slot = { kind: "local", packet: true };
const REMOTE: Slot = { kind: "remote", packet: false };
const REMOTE_PACKET: Slot = { kind: "remote", packet: true };
const SWITCH: Slot = { kind: "switch", packet: false };
const SWITCH_PACKET: Slot = { kind: "switch", packet: true };

const one = (slot: Slot): Side => ({ first: [slot], rest: null });
const some = (slot: Slot): Side => ({ first: [slot], rest: slot });
const then = (slot: Slot, rest: Slot): Side => ({ first: [slot], rest });

const shape = (sources: Side, destinations: Side, by: readonly Via[]): Shape => ({
  sources,
  destinations,
  by,
  pairs: false,
  posts: false,
});
const pairs = (source: Slot, destination: Slot, by: readonly Via[], posts = false): Shape => ({
  ...shape(some(source), some(destination), by),
  pairs: true,
  posts,
});

/**
 * Operations that move data (microsoft/mscclpp, execution_kernel.hpp). Packets carry the flag that readers wait for, except
 * where `ppkt` sends over a port: that sends packets on as they lie there, without a look at flags, so its source is no packet
 * here.
 */
const SHAPES: ReadonlyMap<unknown, Shape> = new Map<Op, Shape>([
  ["put", pairs(LOCAL, REMOTE, ["memory", "port"])],
  ["pws", pairs(LOCAL, REMOTE, ["port"], true)],
  ["pwsf", pairs(LOCAL, REMOTE, ["port"], true)],
  ["get", pairs(REMOTE, LOCAL, ["memory"])],
  ["copy", shape(one(LOCAL), one(LOCAL), [])],
  ["re", shape(some(LOCAL), one(LOCAL), [])],
  ["rre", shape(then(LOCAL, REMOTE), one(LOCAL), ["memory"])],
  ["res", shape(some(LOCAL), then(LOCAL, REMOTE), ["memory"])],
  ["rres", shape(then(LOCAL, REMOTE), then(LOCAL, REMOTE), ["memory"])],
  ["glres", shape(one(SWITCH), one(SWITCH), ["switch"])],
  ["gstore", shape(one(LOCAL), one(SWITCH), ["switch"])],
  ["gstorepkt", shape(one(LOCAL), one(SWITCH_PACKET), ["switch"])],
  ["cpkt", shape(one(LOCAL), one(LOCAL_PACKET), [])],
  ["upkt", shape(one(LOCAL_PACKET), one(LOCAL), [])],
  ["ppkt", pairs(LOCAL, REMOTE_PACKET, ["memory", "port"])],
  ["rppkt", shape(one(LOCAL_PACKET), some(REMOTE_PACKET), ["memory", "port"])],
  ["repkt", shape(then(LOCAL, LOCAL_PACKET), one(LOCAL), [])],
  ["respkt", shape(then(LOCAL, LOCAL_PACKET), then(LOCAL, REMOTE_PACKET), ["memory"])],
  ["recpkt", shape(then(LOCAL, LOCAL_PACKET), { first: [LOCAL, LOCAL_PACKET], rest: null }, [])],
  ["recspkt", shape(then(LOCAL, LOCAL_PACKET), { first: [LOCAL, LOCAL_PACKET], rest: REMOTE_PACKET }, ["memory"])],
]);

/** Returns whether a shape has packets: the executor moves those whole in every iteration of a pipeline. */
const hasPackets = ({ sources, destinations }: Shape): boolean =>
  [sources, destinations].some(({ first, rest }) => rest?.packet === true || first.some(({ packet }) => packet));
