import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { rational } from "../../model/numbers/rational.ts";
import { parseSize } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { readCollectiveJson } from "./collective-json.ts";

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
  if (total === 0) throw new InputError(fileName, "an entry above 0 off the diagonal", "only zeros");
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
        sizeBytes === undefined ? bytesOf(entry.text, where) : partOf(entry.text, sizeBytes, where);
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

function bytesOf(text: string, place: string): number {
  const expected = 'a whole number of bytes such as 0, 4096 or "5M" (with --size: a part of it, 0 .. 1)';
  if (/^\d+$/.test(text)) {
    const bytes = Number(text);
    if (Number.isSafeInteger(bytes)) return bytes;
  }
  if (!/^\d+(\.\d+)?[A-Za-z]+$/.test(text)) throw new InputError(place, expected, text);
  return parseSize(text, place);
}

function partOf(text: string, sizeBytes: number, place: string): number {
  const part = /^(\d+\.?\d*|\.\d+)([eE]-?\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(part >= 0 && part <= 1)) throw new InputError(place, "a part of --size, 0 .. 1,", text);
  return Math.round(part * sizeBytes);
}
