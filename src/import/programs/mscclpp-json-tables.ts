import { InputError } from "../../base/errors.ts";
import { INPUT, OUTPUT, SCRATCH } from "../../model/program/program.ts";
import { asInteger, asList, asObject, type JsonFields, refuse } from "../text/json.ts";

/** Greatest number that columns of a program hold. */
export const GREATEST = 2 ** 31 - 1;

/** Returns how an error names a member of a plan. */
export type Place = (path: string) => string;

/** Kinds of channels between two ranks. */
export type PeerKind = "memory" | "port";

/** A channel of a rank to a peer: number `id` of those of its kind between the two. */
export interface PlanChannel {
  readonly peer: number;
  readonly id: number;
}

/** A buffer of another rank, and over which channels it may be reached. */
export interface RemoteBuffer {
  readonly rank: number;
  readonly buffer: number;
  readonly by: ReadonlySet<string>;
}

/** One buffer of all ranks of a group, behind a switch. */
export interface SwitchChannel {
  readonly buffer: number;
  readonly ranks: readonly number[];
}

/** What the thread blocks of a rank share, by its numbers in the plan. */
export interface GpuTables {
  readonly rank: number;
  readonly channels: Readonly<Record<PeerKind, readonly PlanChannel[]>>;
  readonly switches: readonly SwitchChannel[];
  readonly remotes: readonly RemoteBuffer[];
  /** Initial counts. */
  readonly semaphores: readonly number[];
}

/** The entries of its rank's tables that a thread block names, by the numbers that its operations use. */
export interface BlockTables {
  readonly rank: number;
  readonly channels: Readonly<Record<PeerKind, readonly PlanChannel[]>>;
  readonly switches: readonly SwitchChannel[];
  readonly remotes: Readonly<Record<PeerKind, readonly RemoteBuffer[]>>;
  /** Initial counts of all of the gpu's. */
  readonly semaphores: readonly number[];
}

type ChannelFields = JsonFields<
  "channel_type" | "connected_to" | "channel_ids" | "buffer_type" | "buff" | "rank_groups"
>;

const BUFFERS: ReadonlyMap<unknown, number> = new Map([
  ["i", INPUT],
  ["o", OUTPUT],
  ["s", SCRATCH],
]);
const KINDS: ReadonlySet<unknown> = new Set(["memory", "port", "switch"]);

/** Returns the buffer that a letter stands for. Throws InputError for anything else. */
export function bufferOf(value: unknown, place: string): number {
  const buffer = BUFFERS.get(value);
  if (buffer === undefined) refuse(place, '"i", "o" or "s"', value);
  return buffer;
}

function kindOf(value: unknown, place: string): PeerKind | "switch" {
  if (!KINDS.has(value)) refuse(place, '"memory", "port" or "switch"', value);
  return value as PeerKind | "switch";
}

const asListOrNothing = (value: unknown, place: string): readonly unknown[] =>
  value === undefined ? [] : asList(value, place);

/** Returns the entry of a table that a number in a file names. Throws InputError where there is none. */
export function entry<Item>(table: readonly Item[], id: unknown, what: string, place: string): Item {
  const known = typeof id === "number" ? table[id] : undefined;
  if (known !== undefined) return known;
  const last = table.length - 1;
  return refuse(place, last < 0 ? `nothing, for there is no ${what},` : `the number of a ${what} in 0 .. ${last}`, id);
}

/**
 * Returns the tables of a gpu. Channels are numbered by kind over all lists of that kind; the k-th entry of a peer pairs with
 * the k-th entry of that kind which the peer has for this rank (microsoft/mscclpp, executor.cc, setupConnections: tags count
 * per peer, and a kind that one side lists fewer times is filled up). Throws InputError. O(the gpu's lists).
 */
export function gpuTables(gpu: object, rank: number, rankCount: number, path: string, at: Place): GpuTables {
  const fields = gpu as { channels?: unknown; remote_buffers?: unknown; semaphores?: unknown };
  const channels = { memory: [] as PlanChannel[], port: [] as PlanChannel[] };
  const seen = { memory: new Map<number, number>(), port: new Map<number, number>() };
  const switches: SwitchChannel[] = [];
  asListOrNothing(fields.channels, at(`${path}.channels`)).forEach((value, c) => {
    const here = `${path}.channels[${c}]`;
    const channel = asObject<ChannelFields>(value, at(here));
    const kind = kindOf(channel.channel_type, at(`${here}.channel_type`));
    if (kind === "switch") {
      for (const group of switchChannels(channel, rank, rankCount, here, at)) switches.push(group);
      return;
    }
    asList(channel.connected_to, at(`${here}.connected_to`)).forEach((member, k) => {
      const peer = otherRank(member, rank, rankCount, at(`${here}.connected_to[${k}]`));
      const id = seen[kind].get(peer) ?? 0;
      seen[kind].set(peer, id + 1);
      channels[kind].push({ peer, id });
    });
  });
  const remotes = asListOrNothing(fields.remote_buffers, at(`${path}.remote_buffers`)).map((value, k) =>
    remoteBuffer(value, rank, rankCount, `${path}.remote_buffers[${k}]`, at),
  );
  const semaphores = asListOrNothing(fields.semaphores, at(`${path}.semaphores`)).map((value, k) => {
    const here = at(`${path}.semaphores[${k}]`);
    return asInteger(asObject<{ init_value?: unknown }>(value, here).init_value, `${here}.init_value`, 0, GREATEST);
  });
  return { rank, channels, switches, remotes, semaphores };
}

function otherRank(value: unknown, rank: number, rankCount: number, place: string): number {
  const peer = asInteger(value, place, 0, rankCount - 1);
  if (peer === rank) throw new InputError(place, "another rank than the gpu's own", peer);
  return peer;
}

/** Returns a switch channel for each group. Older files call `buffer_type` just `buff`. */
function switchChannels(
  channel: ChannelFields,
  rank: number,
  rankCount: number,
  path: string,
  at: Place,
): SwitchChannel[] {
  const key = channel.buffer_type === undefined && channel.buff !== undefined ? "buff" : "buffer_type";
  const buffer = bufferOf(channel[key], at(`${path}.${key}`));
  return asList(channel.rank_groups, at(`${path}.rank_groups`)).map((value, g) => {
    const here = `${path}.rank_groups[${g}].ranks`;
    const group = asObject<{ ranks?: unknown }>(value, at(`${path}.rank_groups[${g}]`));
    const ranks = asList(group.ranks, at(here)).map((member, k) =>
      asInteger(member, at(`${here}[${k}]`), 0, rankCount - 1),
    );
    if (new Set(ranks).size !== ranks.length) throw new InputError(at(here), "each rank once", ranks);
    if (!ranks.includes(rank)) throw new InputError(at(here), `ranks with the gpu's own, ${rank}, among them`, ranks);
    return { buffer, ranks };
  });
}

function remoteBuffer(value: unknown, own: number, rankCount: number, path: string, at: Place): RemoteBuffer {
  const fields = asObject<{ rank?: unknown; type?: unknown; access_channel_types?: unknown }>(value, at(path));
  const types = `${path}.access_channel_types`;
  return {
    rank: otherRank(fields.rank, own, rankCount, at(`${path}.rank`)),
    buffer: bufferOf(fields.type, at(`${path}.type`)),
    by: new Set(asList(fields.access_channel_types, at(types)).map((kind, k) => kindOf(kind, at(`${types}[${k}]`)))),
  };
}

/** Returns what a thread block names of its gpu's tables. Throws InputError. O(the block's lists). */
export function blockTables(block: object, gpu: GpuTables, path: string, at: Place): BlockTables {
  const fields = block as { channels?: unknown; remote_buffer_refs?: unknown };
  const channels = { memory: [] as PlanChannel[], port: [] as PlanChannel[] };
  const switches: SwitchChannel[] = [];
  const remotes = { memory: [] as RemoteBuffer[], port: [] as RemoteBuffer[] };
  asListOrNothing(fields.channels, at(`${path}.channels`)).forEach((value, c) => {
    const here = `${path}.channels[${c}]`;
    const channel = asObject<ChannelFields>(value, at(here));
    const kind = kindOf(channel.channel_type, at(`${here}.channel_type`));
    const what = `${kind} channel of gpu ${gpu.rank}`;
    asList(channel.channel_ids, at(`${here}.channel_ids`)).forEach((id, k) => {
      const place = at(`${here}.channel_ids[${k}]`);
      if (kind === "switch") switches.push(entry(gpu.switches, id, what, place));
      else channels[kind].push(entry(gpu.channels[kind], id, what, place));
    });
  });
  asListOrNothing(fields.remote_buffer_refs, at(`${path}.remote_buffer_refs`)).forEach((value, r) => {
    const here = `${path}.remote_buffer_refs[${r}]`;
    const ref = asObject<{ access_channel_type?: unknown; remote_buffer_ids?: unknown }>(value, at(here));
    const kind = kindOf(ref.access_channel_type, at(`${here}.access_channel_type`));
    if (kind === "switch") refuse(at(`${here}.access_channel_type`), '"memory" or "port"', kind);
    asList(ref.remote_buffer_ids, at(`${here}.remote_buffer_ids`)).forEach((id, k) => {
      const place = at(`${here}.remote_buffer_ids[${k}]`);
      const remote = entry(gpu.remotes, id, `remote buffer of gpu ${gpu.rank}`, place);
      if (!remote.by.has(kind)) throw new InputError(place, `a remote buffer with access by ${kind}`, id);
      remotes[kind].push(remote);
    });
  });
  return { rank: gpu.rank, channels, switches, remotes, semaphores: gpu.semaphores };
}
