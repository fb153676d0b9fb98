import { InputError } from "../../base/errors.ts";
import type { Collective, Placement } from "../../model/collective/collective.ts";
import { ceil, parseRational, type Rational, rational } from "../../model/numbers/rational.ts";
import { parseSize } from "../../model/numbers/units.ts";
import { type NpuResolver, npuResolver } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { parseJson } from "../text/json-text.ts";
import { asFlag, asList, asObject, below, checkHeader, placeIn, refuse } from "../text/json-value.ts";

interface CollectiveFields {
  readonly chunkBytes?: unknown;
  readonly sizeBytes?: unknown;
  readonly reduces?: unknown;
  readonly chunks?: unknown;
}

interface ChunkFields {
  readonly pre?: unknown;
  readonly post?: unknown;
}

/**
 * Returns the collective of a `banyan-collective` file (version 1): per chunk the NPUs, by name or id, that have it and
 * those that want it. `chunkBytes` (a whole number, "1MiB" or "2400/7") is the size of each chunk; `sizeBytes` that of all
 * together, shared equally. One process group of all NPUs. Throws InputError with the place in the file. O(text).
 */
export function readCollectiveJson(text: string, fileName: string, topology: Topology): Collective {
  return collectiveTable(parseJson(text, fileName), fileName, "", topology);
}

/** Returns the collective of such a file's value, or of one inside another file at `path`. */
export function collectiveTable(value: unknown, fileName: string, path: string, topology: Topology): Collective {
  checkHeader(value, fileName, path, "banyan-collective");
  const fields = value as CollectiveFields;
  const at = (key: string): string => placeIn(fileName, below(path, key));
  const chunks = asList(fields.chunks, at("chunks"), "a list of chunks");
  if (chunks.length === 0) throw new InputError(at("chunks"), "at least one chunk", chunks);
  const resolve = npuResolver(topology);
  const pre: Int32Array[] = [];
  const post: Int32Array[] = [];
  for (const [i, chunk] of chunks.entries()) {
    const { pre: has, post: wants } = asObject<ChunkFields>(chunk, at(`chunks[${i}]`));
    pre.push(membersOf(has, at(`chunks[${i}].pre`), resolve));
    post.push(membersOf(wants, at(`chunks[${i}].post`), resolve));
  }
  const { sizeBytes, chunkBytes } = sizesOf(fields, chunks.length, at);
  return {
    kind: "custom",
    groupCount: 1,
    groupSize: topology.npuCount,
    groupMembers: Int32Array.from({ length: topology.npuCount }, (_, npu) => npu),
    rootRank: 0,
    sizeBytes,
    chunksPerNpu: 1,
    chunkCount: chunks.length,
    chunkBytes,
    reduces: asFlag(fields.reduces, at("reduces")),
    pre: placementOf(pre),
    post: placementOf(post),
  };
}

/** Returns NPUs in ascending order. */
function membersOf(value: unknown, place: string, resolve: NpuResolver): Int32Array {
  const list = asList(value, place, "a list of NPUs");
  if (list.length === 0) throw new InputError(place, "at least one NPU", list);
  const members = Int32Array.from(list, (member, i) => {
    if (typeof member !== "string" && typeof member !== "number")
      refuse(`${place}[${i}]`, "the name or id of an NPU", member);
    return resolve(member, `${place}[${i}]`);
  }).sort();
  const twice = members.findIndex((member, i) => i > 0 && member === members[i - 1]);
  if (twice >= 0) throw new InputError(place, "each NPU once", list);
  return members;
}

/** Returns `one` where every chunk has a single NPU, else `sets`. */
function placementOf(lists: readonly Int32Array[]): Placement {
  if (lists.every((list) => list.length === 1)) return { kind: "one", npu: Int32Array.from(lists, (list) => list[0]) };
  const offset = new Int32Array(lists.length + 1);
  lists.forEach((list, chunk) => {
    offset[chunk + 1] = offset[chunk] + list.length;
  });
  const members = new Int32Array(offset[lists.length]);
  lists.forEach((list, chunk) => {
    members.set(list, offset[chunk]);
  });
  return { kind: "sets", offset, members };
}

function sizesOf(
  fields: CollectiveFields,
  chunks: number,
  at: (key: string) => string,
): { readonly sizeBytes: number; readonly chunkBytes: Rational } {
  if (fields.chunkBytes === undefined && fields.sizeBytes === undefined) {
    throw new InputError(at("chunkBytes"), "the size of a chunk (or sizeBytes, of all chunks together)");
  }
  if (fields.chunkBytes !== undefined && fields.sizeBytes !== undefined) {
    throw new InputError(at("sizeBytes"), "only one of chunkBytes and sizeBytes", fields.sizeBytes);
  }
  if (fields.chunkBytes === undefined) {
    const size = bytesOf(fields.sizeBytes, at("sizeBytes"));
    return { sizeBytes: Number(ceil(size)), chunkBytes: rational(size.num, size.den * BigInt(chunks)) };
  }
  const chunkBytes = bytesOf(fields.chunkBytes, at("chunkBytes"));
  const size = ceil(rational(chunkBytes.num * BigInt(chunks), chunkBytes.den));
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new InputError(at("chunkBytes"), "chunks of less than 2^53 bytes together", fields.chunkBytes);
  }
  return { sizeBytes: Number(size), chunkBytes };
}

/** Returns a positive size: a whole number, a size with its unit, or a fraction of bytes. */
function bytesOf(value: unknown, place: string): Rational {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return rational(value);
  if (typeof value !== "string") refuse(place, "a positive whole number of bytes", value);
  const fraction = parseRational(value);
  if (fraction === null) return rational(parseSize(value, place));
  if (fraction.num <= 0n || ceil(fraction) > BigInt(Number.MAX_SAFE_INTEGER))
    refuse(place, "a positive number of bytes", value);
  return fraction;
}
