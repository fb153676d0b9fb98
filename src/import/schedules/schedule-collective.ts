import { InputError } from "../../base/errors.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  type CollectiveKind,
  chunkCountOf,
  collective,
  collectiveName,
  type NamedCollective,
  type Placement,
} from "../../model/collective/collective.ts";
import { kindFault } from "../../model/collective/collective-definition.ts";
import { parseRational, type Rational, rational } from "../../model/numbers/rational.ts";
import { groupsOf } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { asInteger, asList, asObject, fillIntegers, placeIn, refuse } from "../text/json-value.ts";

interface CollectiveFields {
  readonly kind?: unknown;
  readonly groups?: unknown;
  readonly rootRank?: unknown;
  readonly sizeBytes?: unknown;
  readonly chunksPerNpu?: unknown;
  readonly chunkCount?: unknown;
  readonly chunkBytes?: unknown;
  readonly reduces?: unknown;
  readonly pre?: unknown;
  readonly post?: unknown;
}

interface PlacementFields {
  readonly kind?: unknown;
  readonly npu?: unknown;
  readonly offset?: unknown;
  readonly members?: unknown;
}

/** What a named collective follows from; beside it a file may have the whole table, or nothing of it. */
const TABLE = ["chunkCount", "chunkBytes", "reduces", "pre", "post"] as const;

/**
 * Returns the collective of a schedule file. `chunkCount` is what the file's chunks section counts: it is checked before
 * anything of that size is built. Throws InputError with the place in the file.
 */
export function collectiveFromJson(
  value: unknown,
  fileName: string,
  topology: Topology,
  chunkCount: number,
): Collective {
  const at = (key: string): string => placeIn(fileName, `collective.${key}`);
  const fields = asObject<CollectiveFields>(value, placeIn(fileName, "collective"));
  const kind = kindOf(fields.kind, at("kind"));
  const groups = groupsOf(topology, memberLists(fields.groups, at("groups")), at("groups"));
  const groupSize = groups[0].length;
  const rootRank = asInteger(fields.rootRank, at("rootRank"), 0, groupSize - 1);
  const sizeBytes = asInteger(fields.sizeBytes, at("sizeBytes"), 1);
  const chunksPerNpu = asInteger(fields.chunksPerNpu, at("chunksPerNpu"), 1);
  if (kind !== "custom" && TABLE.every((key) => fields[key] === undefined)) {
    const expected = chunkCountOf(kind, groupSize, groups.length, chunksPerNpu);
    checkCount(expected, chunkCount, fileName);
    return collective({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
  }
  checkCount(asInteger(fields.chunkCount, at("chunkCount"), 1), chunkCount, fileName);
  if (chunkCount % groups.length !== 0) {
    throw new InputError(at("chunkCount"), `a multiple of the ${groups.length} groups`, chunkCount);
  }
  if (typeof fields.reduces !== "boolean") refuse(at("reduces"), "true or false", fields.reduces);
  const groupMembers = new Int32Array(groups.length * groupSize);
  groups.forEach((members, g) => {
    groupMembers.set(members, g * groupSize);
  });
  const table: Collective = {
    kind,
    groupCount: groups.length,
    groupSize,
    groupMembers,
    rootRank,
    sizeBytes,
    chunksPerNpu,
    chunkCount,
    chunkBytes: bytesFromJson(fields.chunkBytes, at("chunkBytes")),
    reduces: fields.reduces,
    pre: placementFromJson(fields.pre, fileName, "collective.pre", topology, chunkCount),
    post: placementFromJson(fields.post, fileName, "collective.post", topology, chunkCount),
  };
  const fault = kindFault(table);
  if (fault === null) return table;
  if (kind === "custom") throw new InputError(at("sizeBytes"), `what its chunks have at most (${fault})`, sizeBytes);
  throw new InputError(at("kind"), `"custom", for its table makes no ${collectiveName(kind)} (${fault}),`, kind);
}

/** Returns a positive size in bytes: an integer, or a fraction as a text. */
export function bytesFromJson(value: unknown, place: string): Rational {
  const expected = 'a positive number of bytes such as 4096 or "2400/7"';
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return rational(value);
  const parsed = typeof value === "string" && value.length < 200 ? parseRational(value) : null;
  if (parsed === null || parsed.num <= 0n) refuse(place, expected, value);
  return parsed;
}

function kindOf(value: unknown, place: string): CollectiveKind {
  if (value === "custom") return value;
  if (!COLLECTIVE_KINDS.includes(value as NamedCollective)) {
    refuse(place, `one of ${COLLECTIVE_KINDS.join(", ")}, custom`, value);
  }
  return value as NamedCollective;
}

function memberLists(value: unknown, place: string): (string | number)[][] {
  const lists = asList(value, place, "a list of groups").map((list, g) => {
    const members = asList(list, `${place}[${g}]`, "a list of NPUs");
    if (members.length === 0) throw new InputError(`${place}[${g}]`, "at least one NPU", members);
    return members.map((member, i) => {
      if (typeof member !== "string" && typeof member !== "number") refuse(`${place}[${g}][${i}]`, "an NPU", member);
      return member;
    });
  });
  if (lists.length === 0) throw new InputError(place, "at least one group", lists);
  return lists;
}

function checkCount(expected: number, received: number, fileName: string): void {
  if (expected !== received)
    throw new InputError(placeIn(fileName, "chunks"), `${expected} chunks, as the collective has,`, received);
}

function placementFromJson(
  value: unknown,
  fileName: string,
  path: string,
  topology: Topology,
  chunkCount: number,
): Placement {
  const at = (key: string): string => placeIn(fileName, `${path}.${key}`);
  const fields = asObject<PlacementFields>(value, placeIn(fileName, path));
  if (fields.kind === "group") return { kind: "group" };
  const lastNpu = topology.npuCount - 1;
  if (fields.kind === "one") {
    const list = asList(fields.npu, at("npu"));
    if (list.length !== chunkCount) throw new InputError(at("npu"), `${chunkCount} NPUs, one a chunk,`, list.length);
    const npu = new Int32Array(chunkCount);
    fillIntegers(list, npu, at("npu"), 0, lastNpu);
    return { kind: "one", npu };
  }
  if (fields.kind !== "sets") refuse(at("kind"), '"one", "group" or "sets"', fields.kind);
  const offsets = asList(fields.offset, at("offset"));
  const list = asList(fields.members, at("members"));
  if (offsets.length !== chunkCount + 1)
    throw new InputError(at("offset"), `${chunkCount + 1} numbers`, offsets.length);
  const offset = new Int32Array(offsets.length);
  const members = new Int32Array(list.length);
  fillIntegers(offsets, offset, at("offset"), 0, list.length);
  fillIntegers(list, members, at("members"), 0, lastNpu);
  if (offset[0] !== 0 || offset[chunkCount] !== list.length) {
    throw new InputError(at("offset"), `numbers from 0 to ${list.length}`, [offset[0], offset[chunkCount]]);
  }
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    if (offset[chunk] >= offset[chunk + 1])
      throw new InputError(at(`offset[${chunk + 1}]`), "a larger number", offset[chunk + 1]);
    for (let i = offset[chunk] + 1; i < offset[chunk + 1]; i++) {
      if (members[i - 1] >= members[i])
        throw new InputError(at(`members[${i}]`), "ascending NPUs for a chunk", members[i]);
    }
  }
  return { kind: "sets", offset, members };
}
