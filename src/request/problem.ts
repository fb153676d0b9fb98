import { InfeasibleError, InputError, inWords } from "../base/errors.ts";
import { optionName, type Place } from "../base/option-names.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  chunkCountOf,
  hasRoot,
  collective as makeCollective,
  type NamedCollective,
} from "../model/collective/collective.ts";
import { formatSize } from "../model/numbers/units.ts";
import { leastTransfers } from "../model/steps/estimate.ts";
import { npuResolver, parseGroups } from "../model/topology/groups.ts";
import { unreachablePair, without } from "../model/topology/modify.ts";
import type { Topology } from "../model/topology/topology.ts";
import { placeOf } from "./option-table.ts";

/** What is to be communicated, in the caller's words. */
export interface CollectiveOptions {
  /** A name, or a collective of one's own (readCollective). */
  readonly collective: NamedCollective | Collective;
  /** nccl-tests size in bytes; 1 GiB without it. */
  readonly sizeBytes?: number;
  /** Chunks per NPU (of the buffer for broadcast and reduce); 1 without it. */
  readonly chunks?: number;
  /** Name or id of the root NPU; the first member of the group without it. */
  readonly root?: string | number;
  /** Process groups as "a,b,...;c,d,..."; all NPUs without it. */
  readonly group?: string;
  /** What NPUs outside the groups do: relay chunks (default) or nothing. */
  readonly outsiders?: "relay" | "none";
}

export interface Problem {
  readonly topology: Topology;
  readonly collective: Collective;
}

export const DEFAULT_SIZE_BYTES = 2 ** 30;
/** More transfers than this are refused where each is a row of its own. */
const MOST_TRANSFERS = 4e8;
const BYTES_PER_TRANSFER = 40;
/** Chunks are numbered in 31 bits. */
const MOST_CHUNKS = 2 ** 31 - 1;

/** Returns where an option of a collective stands: the option itself, or its place in a file. */
export type PlaceOf = (option: "collective" | "size" | "chunks" | "root" | "group" | "outsiders") => Place;

function checkChunks(kind: NamedCollective, size: number, groups: number, chunks: number, place: Place): void {
  const total = chunkCountOf(kind, size, groups, chunks);
  if (total <= MOST_CHUNKS) return;
  if (chunks === 1) {
    const many = `fewer NPUs: ${kind} among ${size} has about ${total.toExponential(1)} chunks, more than ${MOST_CHUNKS},`;
    throw new InputError("the topology", many, inWords(`${size} NPUs`));
  }
  const received = `${chunks} (about ${total.toExponential(1)} chunks in all)`;
  throw new InputError(place, `so few chunks that ${size} NPUs have at most ${MOST_CHUNKS} in all`, received).as(
    "out-of-range",
  );
}

/**
 * Throws InputError where a schedule that lists every transfer of the collective by itself would be too large (4e8
 * transfers). Arrival logs take a twentieth of that; what they need is compared with the memory that is free.
 */
export function checkSize(collective: Collective, place: PlaceOf = placeOf): void {
  const transfers = leastTransfers(collective);
  if (transfers <= MOST_TRANSFERS) return;
  const { kind, groupSize, chunksPerNpu } = collective;
  const about = transfers.toExponential(1);
  if (chunksPerNpu === 1) {
    const most = MOST_TRANSFERS.toExponential();
    const many = `fewer NPUs: ${kind} among ${groupSize} needs about ${about} transfers, more than ${most},`;
    throw new InputError("the topology", many, inWords(`${groupSize} NPUs`));
  }
  throw new InputError(
    place("chunks"),
    `so few chunks that ${groupSize} NPUs need at most ${MOST_TRANSFERS.toExponential()} transfers`,
    `${chunksPerNpu} (about ${about} transfers, ${formatSize(Math.round(transfers) * BYTES_PER_TRANSFER)} of memory)`,
  ).as("out-of-range");
}

/** Throws InputError where the caller cuts data into so many chunks that each has less than a byte. */
export function refuseTinyChunks({ kind, sizeBytes, chunksPerNpu, chunkBytes }: Collective): void {
  if (kind === "custom" || chunksPerNpu === 1 || chunkBytes.num >= chunkBytes.den) return;
  const most = Math.max(1, Math.floor((chunksPerNpu * Number(chunkBytes.num)) / Number(chunkBytes.den)));
  const expected = `at most ${most}, so that a chunk of ${formatSize(sizeBytes)} has a byte or more,`;
  throw new InputError(optionName("chunks"), expected, chunksPerNpu);
}

/** Returns the error for a collective that takes so long that its times are no exact doubles. */
export const tooLong = ({ sizeBytes = DEFAULT_SIZE_BYTES }: Pick<CollectiveOptions, "sizeBytes">): InputError =>
  new InputError(
    optionName("sizeBytes"),
    "so little data that it takes less than 2^53 ps (2.5 hours)",
    formatSize(sizeBytes),
  );

/** Throws `tooLong`, which names the size, in the place of an error that says so of a time. */
export function blameSize(error: unknown, options: Pick<CollectiveOptions, "sizeBytes">): never {
  throw error instanceof InputError && error.mistake === "too-long" ? tooLong(options) : error;
}

/** Throws InputError for a root of a collective that has none. */
function refuseRoot(kind: NamedCollective, root: CollectiveOptions["root"], place: Place): void {
  if (root === undefined || hasRoot(kind)) return;
  const rooted = COLLECTIVE_KINDS.filter(hasRoot).join(", ");
  throw new InputError(place, `nothing beside ${kind}, which has no root (${rooted} have one),`, root).as(
    "not-together",
  );
}

/** Throws InputError for what a collective of one's own says already. */
function refuseBesideOwn(options: CollectiveOptions, place: PlaceOf): void {
  for (const option of ["root", "group", "outsiders"] as const) {
    const value = options[option];
    if (value !== undefined)
      throw new InputError(place(option), "nothing beside a collective of one's own, which says it all,", value).as(
        "not-together",
      );
  }
}

function namedCollective(
  topology: Topology,
  kind: NamedCollective,
  options: CollectiveOptions,
  place: PlaceOf,
): Collective {
  const sizeBytes = options.sizeBytes ?? DEFAULT_SIZE_BYTES;
  const chunksPerNpu = options.chunks ?? 1;
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 1)
    throw new InputError(place("size"), "a positive whole number of bytes", sizeBytes);
  if (!Number.isSafeInteger(chunksPerNpu) || chunksPerNpu < 1)
    throw new InputError(place("chunks"), "a positive integer", chunksPerNpu);
  refuseRoot(kind, options.root, place("root"));
  const groups = parseGroups(topology, options.group, place("group"));
  const first = groups[0] as Int32Array;
  checkChunks(kind, first.length, groups.length, chunksPerNpu, place("chunks"));
  let rootRank = 0;
  if (options.root !== undefined) {
    const npu = npuResolver(topology)(options.root, place("root"));
    const ranks = groups.map((members) => members.indexOf(npu));
    rootRank = ranks.reduce((most, rank) => Math.max(most, rank), -1);
    if (rootRank < 0) throw new InputError(place("root"), "an NPU of the group", options.root);
    if (groups.length > 1)
      throw new InputError(
        place("root"),
        "nothing with several groups (each has its first NPU as root)",
        options.root,
      ).as("not-together");
  }
  return makeCollective({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
}

/**
 * Returns the network and the collective on it, checked: outsiders removed if they may not relay, chunk numbers within 31
 * bits, and every NPU able to reach every other where all take part; `checkSize` is for those who list transfers. Throws
 * InputError, or InfeasibleError with an unreachable pair.
 */
export function problemOf(topology: Topology, options: CollectiveOptions, place: PlaceOf = placeOf): Problem {
  const { collective, outsiders = "relay" } = options;
  if (outsiders !== "relay" && outsiders !== "none")
    throw new InputError(place("outsiders"), '"relay" or "none"', outsiders);
  if (typeof collective !== "string") {
    refuseBesideOwn(options, place);
    return { topology, collective };
  }
  if (!COLLECTIVE_KINDS.includes(collective)) {
    throw new InputError(place("collective"), `one of ${COLLECTIVE_KINDS.join(", ")}, custom:FILE`, collective).as(
      "unknown-name",
    );
  }
  if (options.outsiders !== undefined && options.group === undefined)
    throw new InputError(
      place("outsiders"),
      `${place("group")} beside it, for without one all NPUs take part,`,
      outsiders,
    ).as("not-alone");
  let network = topology;
  if (outsiders === "none" && options.group !== undefined) {
    const members = new Set(parseGroups(topology, options.group, place("group")).flatMap((group) => [...group]));
    const others = topology.nodeNames.slice(0, topology.npuCount).filter((_, npu) => !members.has(npu));
    if (others.length > 0) network = without(topology, others);
  }
  if (options.group === undefined) refuseDisconnected(network);
  else if (outsiders === "none") refuseDisconnected(network, "without its outsiders the group");
  return { topology: network, collective: namedCollective(network, collective, options, place) };
}

function refuseDisconnected(topology: Topology, what = topology.name): void {
  const pair = unreachablePair(topology);
  if (pair === null) return;
  const [from, to] = pair.map((npu) => topology.nodeNames[npu]) as [string, string];
  throw new InfeasibleError(`${what} is not connected: NPU ${from} cannot reach NPU ${to}`, { from, to });
}

/** Returns whether a collective is done before it begins: nothing to send, or nobody to send it to. */
export const hasNothingToSend = ({ collective }: Problem): boolean =>
  collective.chunkCount === 0 || (collective.kind !== "custom" && collective.groupSize === 1);
