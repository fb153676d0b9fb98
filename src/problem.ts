import { InfeasibleError, InputError } from "./errors.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  chunkCountOf,
  collective as makeCollective,
  type NamedCollective,
} from "./model/collective.ts";
import { npuResolver, parseGroups } from "./model/groups.ts";
import { unreachablePair, without } from "./model/modify.ts";
import type { Topology } from "./model/topology.ts";
import { formatSize } from "./model/units.ts";

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
/** More transfers than this are refused before anything is allocated. */
const MOST_TRANSFERS = 4e8;
const BYTES_PER_TRANSFER = 40;

/** Returns about how many deliveries a collective needs: one per chunk and NPU that wants it. */
function deliveries(kind: NamedCollective, size: number, groups: number, chunksPerNpu: number): number {
  const chunks = chunkCountOf(kind, size, groups, chunksPerNpu);
  if (kind === "gather" || kind === "scatter" || kind === "alltoall") return chunks;
  return chunks * (size - 1) * (kind === "allreduce" ? 2 : 1);
}

function checkSize(kind: NamedCollective, size: number, groups: number, chunks: number): void {
  const transfers = deliveries(kind, size, groups, chunks);
  if (transfers <= MOST_TRANSFERS && chunkCountOf(kind, size, groups, chunks) <= 2 ** 31 - 1) return;
  if (chunks === 1) {
    throw new InputError(
      "the topology",
      `fewer NPUs: ${kind} among ${size} needs about ${transfers.toExponential(1)} transfers, more than ${MOST_TRANSFERS.toExponential()},`,
      `${size} NPUs`,
    );
  }
  const estimate = `${chunks} (about ${transfers.toExponential(1)} transfers, ${formatSize(Math.round(transfers) * BYTES_PER_TRANSFER)} of memory)`;
  throw new InputError(
    "--chunks",
    `so few chunks that ${size} NPUs need at most ${MOST_TRANSFERS.toExponential()} transfers`,
    estimate,
  );
}

function namedCollective(topology: Topology, kind: NamedCollective, options: CollectiveOptions): Collective {
  const sizeBytes = options.sizeBytes ?? DEFAULT_SIZE_BYTES;
  const chunksPerNpu = options.chunks ?? 1;
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 1)
    throw new InputError("--size", "a positive whole number of bytes", sizeBytes);
  if (!Number.isSafeInteger(chunksPerNpu) || chunksPerNpu < 1)
    throw new InputError("--chunks", "a positive integer", chunksPerNpu);
  const groups = parseGroups(topology, options.group);
  const first = groups[0] as Int32Array;
  checkSize(kind, first.length, groups.length, chunksPerNpu);
  let rootRank = 0;
  if (options.root !== undefined) {
    const npu = npuResolver(topology)(options.root, "--root");
    const ranks = groups.map((members) => members.indexOf(npu));
    rootRank = Math.max(...ranks);
    if (rootRank < 0) throw new InputError("--root", "an NPU of the group", options.root);
    if (groups.length > 1)
      throw new InputError("--root", "nothing with several groups (each has its first NPU as root)", options.root);
  }
  return makeCollective({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
}

/**
 * Returns the network and the collective on it, checked: outsiders removed if they may not relay, sizes within reach, and
 * every NPU able to reach every other where all take part. Throws InputError, or InfeasibleError with an unreachable pair.
 */
export function problemOf(topology: Topology, options: CollectiveOptions): Problem {
  const { collective, outsiders = "relay" } = options;
  if (outsiders !== "relay" && outsiders !== "none")
    throw new InputError("--outsiders", '"relay" or "none"', outsiders);
  if (typeof collective !== "string") return { topology, collective };
  if (!COLLECTIVE_KINDS.includes(collective)) {
    throw new InputError("--collective", `one of ${COLLECTIVE_KINDS.join(", ")}, custom:FILE`, collective);
  }
  let network = topology;
  if (outsiders === "none" && options.group !== undefined) {
    const members = new Set(parseGroups(topology, options.group).flatMap((group) => [...group]));
    const others = topology.nodeNames.slice(0, topology.npuCount).filter((_, npu) => !members.has(npu));
    if (others.length > 0) network = without(topology, others);
  }
  if (options.group === undefined) refuseDisconnected(network);
  else if (outsiders === "none") refuseDisconnected(network, "without its outsiders the group");
  return { topology: network, collective: namedCollective(network, collective, options) };
}

function refuseDisconnected(topology: Topology, what = topology.name): void {
  const pair = unreachablePair(topology);
  if (pair === null) return;
  const [from, to] = pair.map((npu) => topology.nodeNames[npu]) as [string, string];
  throw new InfeasibleError(`${what} is not connected: NPU ${from} cannot reach NPU ${to}`, { from, to });
}
