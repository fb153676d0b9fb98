import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  MOST_COLLECTIVES,
  type NamedCollective,
  type Placement,
  placementOfLists,
} from "../../model/collective/collective.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { ceil, parseRational, type Rational, rational } from "../../model/numbers/rational.ts";
import { parseSize } from "../../model/numbers/units.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { type NpuResolver, npuResolver } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import {
  asFlag,
  asInteger,
  asList,
  asObject,
  below,
  checkHeader,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";

/** Whether a text is JSON, so no matrix. */
export const isCollectiveJson = (text: string): boolean => /^\ufeff?\s*[{[]/.test(text);

/**
 * Returns the collective of a file: a `banyan-collective` (JSON), else the demand matrix of an all-to-all-v, for which the
 * options are. Throws InputError.
 */
export function readCollective(
  text: string,
  fileName: string,
  topology: Topology,
  options: MatrixOptions = {},
): Collective {
  return isCollectiveJson(text)
    ? readCollectiveJson(text, fileName, topology)
    : readAlltoallv(text, fileName, topology, options);
}

/** What a matrix leaves open. */
interface MatrixOptions {
  /** Bytes that an entry of 1 stands for; then entries are parts of it, 0 .. 1. Without it they are bytes. */
  readonly sizeBytes?: number;
}

/** As many chunks where they need no padding. */
const MOST_EXACT_CHUNKS = 50_000;
const MOST_CHUNKS = 500_000;
/** Padding that is not worth more chunks. */
const LITTLE_PADDING = 0.01;

/**
 * Returns the all-to-all-v of a demand matrix: row i, column j is what NPU i sends to NPU j; the diagonal stays where it is.
 * Rows are lines, entries apart by blanks or commas, "#" begins a comment. Entries are bytes ("4096", "5M", "1GiB": the transfer
 * matrices of the UCC perftest, openucx/ucc pull request 967), or, with `sizeBytes`, parts of it from 0 to 1 (the CSV
 * matrices of nccl-tests' alltoallv, NVIDIA/nccl-tests pull request 157).
 *
 * Chunks are equal: the greatest common divisor of all entries where that makes few of them, else so large that rounding up
 * adds 1 % or there are 500,000. Throws InputError with line and column. O(text + chunks).
 */
export function readAlltoallv(
  text: string,
  fileName: string,
  topology: Topology,
  { sizeBytes }: MatrixOptions = {},
): Collective {
  const { npuCount } = topology;
  const bytes = matrixOf(text, fileName, npuCount, sizeBytes);
  for (let i = 0; i < npuCount; i++) bytes[i * npuCount + i] = 0;
  const total = bytes.reduce((sum, entry) => sum + entry, 0);
  if (total === 0) throw new InputError(fileName, "an entry above 0 off the diagonal", inWords("only zeros"));
  if (total > Number.MAX_SAFE_INTEGER) throw new InputError(fileName, "less than 2^53 bytes in all", total);
  const chunkBytes = chunkSizeOf(bytes, total);
  const chunkCount = chunksOf(bytes, chunkBytes);
  const source = new Int32Array(chunkCount);
  const target = new Int32Array(chunkCount);
  let chunk = 0;
  for (let pair = 0; pair < bytes.length; pair++) {
    const end = chunk + Math.ceil(bytes[pair] / chunkBytes);
    source.fill(Math.floor(pair / npuCount), chunk, end);
    target.fill(pair % npuCount, chunk, end);
    chunk = end;
  }
  return {
    kind: "custom",
    groupCount: 1,
    groupSize: npuCount,
    groupMembers: indicesBelow(npuCount),
    rootRank: 0,
    sizeBytes: total,
    chunksPerNpu: 1,
    chunkCount,
    chunkBytes: rational(chunkBytes),
    reduces: false,
    pre: { kind: "one", npu: source },
    post: { kind: "one", npu: target },
  };
}

const chunksOf = (bytes: Float64Array, chunkBytes: number): number =>
  bytes.reduce((sum, entry) => sum + Math.ceil(entry / chunkBytes), 0);

/** Returns the size of a chunk; see `readAlltoallv`. */
function chunkSizeOf(bytes: Float64Array, total: number): number {
  const divisor = commonDivisor(bytes);
  if (total / divisor <= MOST_EXACT_CHUNKS) return divisor;
  const greatest = bytes.reduce((most, entry) => Math.max(most, entry), 0);
  let size = greatest;
  for (let parts = 2; chunksOf(bytes, size) * size > total * (1 + LITTLE_PADDING); parts *= 2) {
    const smaller = Math.ceil(greatest / parts);
    if (smaller === size || chunksOf(bytes, smaller) > MOST_CHUNKS) break;
    size = smaller;
  }
  return size;
}

/** Returns the entries in bytes, [npus * npus]. */
function matrixOf(text: string, fileName: string, npus: number, sizeBytes: number | undefined): Float64Array {
  const bytes = new Float64Array(npus * npus);
  let row = 0;
  for (const [i, line] of text
    .replace(/^\ufeff/, "")
    .split("\n")
    .entries()) {
    const { entries, count } = entriesOf(line, npus);
    if (count === 0) continue;
    const place = `${fileName} line ${i + 1}`;
    if (row === npus) throw new InputError(place, `no more than ${npus} rows, one for each NPU,`, line.trim());
    if (count !== npus) throw new InputError(place, `${npus} entries, one for each NPU,`, count);
    for (const [column, entry] of entries.entries()) {
      const where = `${place} column ${entry.at + 1}`;
      bytes[row * npus + column] =
        sizeBytes === undefined ? entryBytes(entry.text, where) : partOf(entry.text, sizeBytes, where);
    }
    row++;
  }
  if (row < npus) throw new InputError(fileName, `${npus} rows, one for each NPU,`, row);
  return bytes;
}

interface Entry {
  readonly text: string;
  /** Place in the line. */
  readonly at: number;
}

/** Returns the first entries of a line, and how many there are; between two commas there is one, if an empty one. */
function entriesOf(line: string, most: number): { readonly entries: readonly Entry[]; readonly count: number } {
  const comment = line.indexOf("#");
  const content = comment < 0 ? line : line.slice(0, comment);
  const entries: Entry[] = [];
  let count = 0;
  for (const { 0: text, index } of content.matchAll(/[^\s,]+|,(?=\s*,)|^\s*,/g)) {
    if (count++ < most) entries.push({ text: text.endsWith(",") ? "" : text, at: index });
  }
  return { entries, count };
}

function entryBytes(text: string, place: string): number {
  const expected = `a whole number of bytes such as 0, 4096 or "5M" (with ${optionName("sizeBytes")}: a part of it, 0 .. 1)`;
  if (/^\d+$/.test(text)) {
    const bytes = Number(text);
    if (Number.isSafeInteger(bytes)) return bytes;
  }
  if (!/^\d+(\.\d+)?[A-Za-z]+$/.test(text)) throw new InputError(place, expected, text);
  return parseSize(text, place);
}

function partOf(text: string, sizeBytes: number, place: string): number {
  const part = /^(\d+\.?\d*|\.\d+)([eE]-?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(part >= 0 && part <= 1)) throw new InputError(place, `a part of ${optionName("sizeBytes")}, 0 .. 1,`, text);
  return Math.round(part * sizeBytes);
}

type CollectiveFields = JsonFields<"chunkBytes" | "sizeBytes" | "reduces" | "chunks">;

type ChunkFields = JsonFields<"pre" | "post">;

/**
 * Returns the collective of a `banyan-collective` file (version 1): per chunk the NPUs, by name or id, that have it and
 * those that want it. `chunkBytes` (a whole number, "1MiB" or "2400/7") is the size of each chunk; `sizeBytes` that of all
 * together, shared equally. One process group of all NPUs. Throws InputError with the place in the file. O(text).
 */
export function readCollectiveJson(text: string, fileName: string, topology: Topology): Collective {
  return collectiveTable(parseJson(text, fileName), fileName, "", topology);
}

/** Returns the collective of such a file's value, or of one inside another file at `path`. */
function collectiveTable(value: unknown, fileName: string, path: string, topology: Topology): Collective {
  checkHeader(value, fileName, path, "banyan-collective");
  const fields = value as CollectiveFields;
  const at = (key: string): string => placeIn(fileName, below(path, key));
  const chunks = asList(fields.chunks, at("chunks"), "a list of chunks");
  if (chunks.length === 0) throw new InputError(at("chunks"), "at least one chunk", chunks).as("out-of-range");
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
  if (list.length === 0) throw new InputError(place, "at least one NPU", list).as("out-of-range");
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
const placementOf = (lists: readonly Int32Array[]): Placement =>
  lists.every((list) => list.length === 1)
    ? { kind: "one", npu: Int32Array.from(lists, (list) => list[0]) }
    : placementOfLists(lists);

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

const KEYS = ["kind", "size", "chunks", "root", "group"] as const;

/** One of several collectives as a file asks for it; whether its NPUs exist is the request's question. */
export interface CollectiveEntry {
  readonly collective: NamedCollective | Collective;
  readonly sizeBytes?: number;
  readonly chunks?: number;
  readonly root?: string | number;
  readonly group?: string;
}

interface CollectiveList {
  readonly entries: readonly CollectiveEntry[];
  /** Returns where in the file an option of entry i stands: `jobs.json: collectives[1].root`. */
  placeOf(i: number): (option: string) => string;
}

/**
 * Returns the collectives that a `banyan-collectives` file (version 1), or a bare list, asks for: each an object of `kind`,
 * and optionally `size` ("64MiB" or bytes), `chunks`, `root`, `group` ("0,1;2,3", a list of NPUs or a list of groups); or a
 * whole `banyan-collective` with its table of chunks. Throws InputError with the place in the file. O(text).
 */
export function readCollectives(text: string, fileName: string, topology: Topology): CollectiveList {
  const value = parseJson(text, fileName);
  const bare = Array.isArray(value);
  if (!bare) checkHeader(value, fileName, "", "banyan-collectives");
  const listed = bare ? value : (value as { readonly collectives?: unknown }).collectives;
  const pathOf = (i: number): string => `${bare ? "" : "collectives"}[${i}]`;
  const place = bare ? fileName : placeIn(fileName, "collectives");
  const list = asList(listed, place, "a list of collectives");
  if (list.length === 0) throw new InputError(place, "at least one collective", list).as("out-of-range");
  if (list.length > MOST_COLLECTIVES)
    throw new InputError(place, `at most ${MOST_COLLECTIVES} collectives`, list.length).as("out-of-range");
  return {
    entries: list.map((entry, i) => collectiveEntry(entry, fileName, pathOf(i), topology)),
    placeOf: (i) => (option) => placeIn(fileName, `${pathOf(i)}.${option === "collective" ? "kind" : option}`),
  };
}

/** Returns what one entry of such a list asks for. Throws InputError with the place in the file. */
export function collectiveEntry(value: unknown, fileName: string, path: string, topology: Topology): CollectiveEntry {
  const at = (key: string): string => placeIn(fileName, `${path}.${key}`);
  const fields = asObject<Record<(typeof KEYS)[number] | "format", unknown>>(value, placeIn(fileName, path));
  if (fields.format !== undefined) return { collective: collectiveTable(value, fileName, path, topology) };
  for (const key of Object.keys(fields)) {
    if (!KEYS.includes(key as (typeof KEYS)[number])) {
      throw new InputError(placeIn(fileName, path), `the keys ${KEYS.join(", ")}${didYouMean(key, KEYS)}`, key);
    }
  }
  const { kind, size, chunks, root, group } = fields;
  if (!COLLECTIVE_KINDS.includes(kind as NamedCollective)) {
    const guess = typeof kind === "string" ? didYouMean(kind, COLLECTIVE_KINDS) : "";
    refuse(at("kind"), `one of ${COLLECTIVE_KINDS.join(", ")}${guess}`, kind);
  }
  return {
    collective: kind as NamedCollective,
    ...(size === undefined ? {} : { sizeBytes: sizeOf(size, at("size")) }),
    ...(chunks === undefined ? {} : { chunks: asInteger(chunks, at("chunks"), 1) }),
    ...(root === undefined ? {} : { root: npuOf(root, at("root")) }),
    ...(group === undefined ? {} : { group: groupOf(group, at("group")) }),
  };
}

function sizeOf(value: unknown, place: string): number {
  if (typeof value === "string") return parseSize(value, place);
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  return refuse(place, 'a size such as "64MiB", or a positive whole number of bytes', value);
}

function npuOf(value: unknown, place: string): string | number {
  if (typeof value !== "string" && typeof value !== "number") refuse(place, "the name or id of an NPU", value);
  return value;
}

/** Returns a group, or groups, as `--group` writes them. */
function groupOf(value: unknown, place: string): string {
  if (typeof value === "string") return value;
  const list = asList(value, place, 'NPUs such as "0,1,2,3" or [0, 1, 2, 3], or a list of such lists');
  const groups = list.length > 0 && list.every(Array.isArray) ? (list as unknown[][]) : [list];
  return groups
    .map((members, g) => {
      const own = groups.length > 1 ? `${place}[${g}]` : place;
      if (members.length === 0) throw new InputError(own, "at least one NPU", members).as("out-of-range");
      return members.map((member, i) => npuOf(member, `${own}[${i}]`)).join(",");
    })
    .join(";");
}
