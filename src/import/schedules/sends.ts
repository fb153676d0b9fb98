import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { visible } from "../../base/visible.ts";
import {
  type Collective,
  type CollectiveKind,
  chunkCountOf,
  collectiveName,
  hasRoot,
} from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { presetTopology } from "../../model/presets/preset.ts";
import { operationsOf, type SendList, timedSends } from "../../model/sends/send-list.ts";
import { shortestWalk, waysOf } from "../../model/sends/ways.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { didYouMean } from "../../model/topology/closest.ts";
import { idsMeant, npuResolver } from "../../model/topology/groups.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type CollectiveEntry, collectiveEntry } from "../collectives/collective.ts";
import { topologyFromJson } from "../networks/topology-json.ts";
import { csvHeadHas, csvRows } from "../text/csv.ts";
import { asList, asObject, checkHeader, parseJson, placeIn } from "../text/json.ts";

/** Lists of sends that people write: `step,src,dst,chunk[,op]` as CSV, or the same as JSON. */

const COLUMNS = {
  step: /^(step|round)$/i,
  src: /^(src|source|from|sender)([ _]?id)?$/i,
  dst: /^(dst|dest|destination|target|to|receiver)([ _]?id)?$/i,
  chunk: /^chunk([ _]?(id|index))?$/i,
  op: /^(op|operation)$/i,
} as const;
type Column = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Column[];
const NEEDED: readonly Column[] = ["step", "src", "dst", "chunk"];
const HEADER = "step,src,dst,chunk,op";
/** What makes a header of sends of one that has senders and receivers. */
const OF_SENDS = /^(step|round|time|chunk|piece)/i;
/** What makes it one of links. */
const OF_LINKS = /^b(andwidth|w)/i;

const MOST_SENDS = 1e7;
/** The first so many mistakes are told. */
const MOST_TOLD = 20;

/** A list of sends as it was written, in ascending order of step, equal ones as they stand in the file. */
export interface SendTable {
  readonly name: string;
  readonly isJson: boolean;
  readonly step: Float64Array;
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly chunk: readonly string[];
  /** OP_COPY, OP_REDUCE, or -1 where it is not said. */
  readonly op: Int8Array;
  /** Line of the file; of JSON the index in its list. */
  readonly row: Int32Array;
  /** JSON: the values of `topology` and `collective`; undefined where they are missing. */
  readonly topology: unknown;
  readonly collective: unknown;
  /** Columns that were not read. */
  readonly ignored: readonly string[];
}

/** Sends with the times of their greedy replay. */
export interface Sends {
  readonly table: SendTable;
  readonly schedule: StepSchedule;
  /** [transfers] the send that each is, as the table has them. */
  readonly sendOf: Int32Array;
  /** Number of sends whose operation the file did not say, in a collective that sums. */
  readonly inferred: number;
}

const cellsHave = (cells: readonly string[], column: Column): boolean =>
  cells.some((cell) => COLUMNS[column].test(cell.trim()));

const isHeader = (cells: readonly string[]): boolean =>
  cellsHave(cells, "src") &&
  cellsHave(cells, "dst") &&
  cells.some((cell) => OF_SENDS.test(cell.trim())) &&
  !cells.some((cell) => OF_LINKS.test(cell.trim()));

const isJson = (text: string): boolean => /^\ufeff?\s*[{[]/.test(text);
/** A list of sends in JSON, by itself or in an object; SCCL's sends are lists. */
const BARE = /^\ufeff?\s*\[\s*\{[^{}[\]]*"chunk"\s*:/;
const INSIDE = /"sends"\s*:\s*\[\s*[{\]]/;

/** Returns whether a text seems to be a list of sends. O(text). */
export const isSendsText = (text: string): boolean =>
  isJson(text)
    ? (BARE.test(text) || INSIDE.test(text)) && !/"(sccl_type|transfers)"\s*:/.test(text)
    : csvHeadHas(text, isHeader);

/** Returns what a row of a table is called: "row 7", "sends[6]". */
export const rowName = ({ isJson: json, row }: SendTable, send: number): string =>
  json ? `sends[${row[send]}]` : `row ${row[send]}`;

/** Something that is wrong in a row, in words, and as an error has it. */
interface Fault {
  readonly row: string;
  readonly says: string;
  readonly expected: string;
  readonly received: unknown;
}

/** Mistakes of rows, in the order of the file. */
class Faults {
  private readonly name: string;
  private readonly kept: Fault[] = [];
  private count = 0;

  constructor(name: string) {
    this.name = name;
  }

  add(row: string, says: string, expected: string, received: unknown): void {
    this.count++;
    if (this.kept.length < MOST_TOLD) this.kept.push({ row, says, expected, received });
  }

  /** Throws an InputError of the first mistake; its excerpt has those that follow. */
  refuse(): void {
    const [first, ...others] = this.kept;
    if (first === undefined) return;
    const place = `${this.name} ${first.row}`;
    const error = new InputError(place, first.expected, first.received).saying(`${place}: ${first.says}`);
    const more = this.count - this.kept.length;
    const lines = others.map(({ row, says }) => visible(`${row}: ${says}`));
    if (more > 0) lines.push(`... and ${more} more`);
    throw lines.length === 0 ? error : Object.assign(error, { excerpt: lines.join("\n") });
  }
}

const COPIES = ["copy"];
const SUMS = ["sum", "reduce", "add"];

interface Cells {
  readonly row: number;
  readonly cells: Readonly<Record<Column, string>>;
}

function tableOf(
  name: string,
  json: boolean,
  rows: readonly Cells[],
): Omit<SendTable, "topology" | "collective" | "ignored"> {
  if (rows.length > MOST_SENDS)
    throw new InputError(name, `at most ${MOST_SENDS} sends`, rows.length).as("out-of-range");
  if (rows.length === 0)
    throw new InputError(name, "one send or more", inWords("none")).saying(
      `${name} has no sends${json ? "" : ": there is no row below its header"}`,
    );
  const faults = new Faults(name);
  const step = new Float64Array(rows.length);
  const op = new Int8Array(rows.length);
  rows.forEach(({ row, cells }, i) => {
    const at = json ? `sends[${row}]` : `row ${row}`;
    step[i] = /^\d{1,15}$/.test(cells.step) ? Number(cells.step) : -1;
    if (step[i] < 0)
      faults.add(at, `${shownCell(cells.step)} is no step; steps are whole numbers from 0 on`, "a step", cells.step);
    for (const column of ["src", "dst", "chunk"] as const)
      if (cells[column] === "") faults.add(at, `there is no ${column}`, column, "");
    const word = cells.op.toLowerCase();
    op[i] = word === "" ? -1 : COPIES.includes(word) ? OP_COPY : SUMS.includes(word) ? OP_REDUCE : -1;
    if (word !== "" && op[i] < 0)
      faults.add(
        at,
        `${shownCell(cells.op)} is no op; it is copy or sum${didYouMean(word, [...COPIES, ...SUMS])}`,
        "copy or sum",
        cells.op,
      );
  });
  faults.refuse();
  const order = orderByTime(step);
  const column = (key: Column): string[] => Array.from(order, (i) => (rows[i] as Cells).cells[key]);
  return {
    name,
    isJson: json,
    step: Float64Array.from(order, (i) => step[i]),
    src: column("src"),
    dst: column("dst"),
    chunk: column("chunk"),
    op: Int8Array.from(order, (i) => op[i]),
    row: Int32Array.from(order, (i) => (rows[i] as Cells).row),
  };
}

/** Returns a cell in an error sentence: as it stands where it is short and plain. */
const shownCell = (cell: string): string => (/^[\w.:>-]{1,40}$/.test(cell) ? cell : JSON.stringify(cell.slice(0, 40)));

/**
 * Returns the rows of a list of sends, CSV or JSON, with nothing yet known of network and collective. Throws InputError: its
 * sentence names the first row that is wrong, its `excerpt` those that follow, up to 20. O(text).
 */
export function readSendTable(text: string, name: string): SendTable {
  return isJson(text) ? jsonTable(text, name) : csvTable(text, name);
}

function csvTable(text: string, name: string): SendTable {
  const rows = csvRows(text, name, isHeader);
  const [header, ...body] = rows;
  if (header === undefined) throw new InputError(name, `the header ${HEADER}`);
  const at = `${name} row ${header.line}`;
  const indexOf = (column: Column): number => {
    const found = header.cells.flatMap((cell, i) => (COLUMNS[column].test(cell) ? [i] : []));
    if (found.length > 1)
      throw new InputError(at, `one column ${column}`, found.map((i) => header.cells[i]).join(", "));
    if (found.length === 0 && NEEDED.includes(column))
      throw new InputError(at, `a column ${column} (the header of sends is ${HEADER})`, header.cells.join(",")).saying(
        `${at} has no column ${column}; the header of sends is ${HEADER}`,
      );
    return found[0] ?? -1;
  };
  const index = Object.fromEntries(NAMES.map((column) => [column, indexOf(column)])) as Record<Column, number>;
  const most = header.cells.length;
  const fewest = Math.max(...NEEDED.map((column) => index[column])) + 1;
  const listed = body.map(({ cells, line }): Cells => {
    if (cells.length > most)
      throw new InputError(`${name} row ${line}`, `${most} cells, as in the header,`, cells.length).saying(
        `${name} row ${line} has ${cells.length} cell${cells.length === 1 ? "" : "s"}; the header has ${most}`,
      );
    if (cells.length < fewest)
      throw new InputError(`${name} row ${line}`, `${fewest} cells, as in the header,`, cells.length).saying(
        `${name} row ${line} has ${cells.length} cell${cells.length === 1 ? "" : "s"}; ${header.cells.slice(0, fewest).join(",")} needs ${fewest}`,
      );
    const cell = (column: Column): string => cells[index[column]] ?? "";
    return {
      row: line,
      cells: { step: cell("step"), src: cell("src"), dst: cell("dst"), chunk: cell("chunk"), op: cell("op") },
    };
  });
  const used = new Set(Object.values(index));
  const ignored = header.cells.filter((cell, i) => cell !== "" && !used.has(i));
  return { ...tableOf(name, false, listed), topology: undefined, collective: undefined, ignored };
}

interface Fields {
  readonly topology?: unknown;
  readonly collective?: unknown;
  readonly sends?: unknown;
}
const FIELDS = ["format", "version", "topology", "collective", "sends"];

function jsonTable(text: string, name: string): SendTable {
  const value = parseJson(text, name);
  const bare = Array.isArray(value);
  const fields: Fields = bare ? { sends: value } : asObject<Fields>(value, name);
  if (!bare) {
    if ("format" in fields) checkHeader(value, name, "", "banyan-sends");
    for (const key of Object.keys(fields))
      if (!FIELDS.includes(key))
        throw new InputError(name, `the keys ${FIELDS.join(", ")}${didYouMean(key, FIELDS)}`, key);
  }
  const ignored = new Set<string>();
  const rows = asList(fields.sends, placeIn(name, "sends"), "a list of sends").map((send, row): Cells => {
    const place = placeIn(name, `sends[${row}]`);
    const cells: Record<Column, string> = { step: "", src: "", dst: "", chunk: "", op: "" };
    for (const [key, cell] of Object.entries(asObject<Record<string, unknown>>(send, place))) {
      const column = NAMES.find((candidate) => COLUMNS[candidate].test(key));
      if (column === undefined) ignored.add(key);
      else if (typeof cell === "string") cells[column] = cell.trim();
      else if (typeof cell === "number" && Number.isSafeInteger(cell)) cells[column] = String(cell);
      else if (cell !== null)
        throw new InputError(
          `${place}.${key}`,
          column === "chunk" ? 'a whole number, or a text such as "2.1"' : "a whole number or a text",
          cell,
        );
    }
    return { row, cells };
  });
  const { topology, collective } = fields;
  return { ...tableOf(name, true, rows), topology, collective, ignored: [...ignored] };
}

/** Returns the network that a file of JSON says, a preset or a `banyan-topology`; null where it says none. Throws InputError. */
export function topologyInSends({ name, topology }: SendTable): Topology | null {
  if (topology === undefined) return null;
  return typeof topology === "string" ? presetTopology(topology) : topologyFromJson(topology, name, "topology");
}

/** Returns the collective that a file of JSON asks for, by its name or as in `banyan-collectives`; null where it asks for none. */
export function collectiveInSends({ name, collective }: SendTable, topology: Topology): CollectiveEntry | null {
  if (collective === undefined) return null;
  const entry = typeof collective === "string" ? { kind: collective } : collective;
  return collectiveEntry(entry, name, "collective", topology);
}

/** A chunk as it is written: its number, or of an NPU the index of one of its own ("3.1"), or where it goes ("3:7", "3:7.1"). */
const PLAIN = /^\d{1,10}$/;
const INDEXED = /^(.*)\.(\d{1,10})$/s;
const ADDRESSED = /^(.+):(.+?)(?:\.(\d{1,10}))?$/s;

/**
 * Returns the least number of chunks per NPU for which all chunks that the file names are there: the greatest number over the
 * blocks of the collective, rounded up. Where that leaves most chunks unnamed although a whole set of them is named, a number is
 * taken for wrong, and as many are returned as the file names without a gap. O(sends).
 */
export function chunksInSends({ chunk }: SendTable, kind: CollectiveKind, groupSize: number, groups: number): number {
  if (kind === "custom") return 1;
  const blocks = chunkCountOf(kind, groupSize, groups, 1);
  const ownBlocks = kind === "alltoall" ? groupSize : 1;
  let least = 1;
  const seen = new Set<string>();
  const plain = new Set<number>();
  for (const text of chunk) {
    if (seen.has(text)) continue;
    seen.add(text);
    if (PLAIN.test(text)) plain.add(Number(text));
    const [numbers, over] = PLAIN.test(text)
      ? [text, blocks]
      : kind === "alltoall" && ADDRESSED.test(text)
        ? [ADDRESSED.exec(text)?.[3], 1]
        : [INDEXED.exec(text)?.[2], ownBlocks];
    if (numbers !== undefined) least = Math.max(least, Math.ceil((Number(numbers) + 1) / over));
  }
  if (plain.size < seen.size || 2 * plain.size >= least * blocks) return least;
  let named = 0;
  while (plain.has(named)) named++;
  return named < blocks ? least : Math.floor(named / blocks);
}

/** Returns the NPUs of a network in words: "0 to 8", or the first names. */
function npusText({ npuCount, nodeNames }: Topology): string {
  const names = nodeNames.slice(0, npuCount);
  if (names.every((name, npu) => name === String(npu))) return `0 to ${npuCount - 1}`;
  return names.length <= 4
    ? names.join(", ")
    : `${names.slice(0, 2).join(", ")} ... ${names[npuCount - 1]}, or 0 to ${npuCount - 1}`;
}

/** Returns what finds NPUs by their names or numbers: -1, and the reason in words, for what is none. */
function npuFinder(topology: Topology): (text: string) => { readonly npu: number; readonly says: string } {
  const resolve = npuResolver(topology);
  const known = new Map<string, { readonly npu: number; readonly says: string }>();
  const find = (text: string) => {
    try {
      return { npu: resolve(text, "the NPU"), says: "" };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const id = idsMeant(text, topology.npuCount);
      const names = topology.nodeNames.slice(0, topology.npuCount);
      const near = id !== null ? `; did you mean ${id}?` : /^\d+$/.test(text) ? "" : didYouMean(text, names);
      const isSwitch = topology.nodeNames.includes(text);
      return {
        npu: -1,
        says: `${shownCell(text)} is ${isSwitch ? "a switch, no" : "no"} NPU of ${topology.name || "the network"} (${npusText(topology)})${near}`,
      };
    }
  };
  return (text) => {
    const found = known.get(text) ?? find(text);
    known.set(text, found);
    return found;
  };
}

/** Returns what finds chunks by their numbers, or by NPU and index: -1, and the reason in words, for what is none. */
function chunkFinder(
  collective: Collective,
  npuOf: ReturnType<typeof npuFinder>,
): (text: string) => { readonly chunk: number; readonly says: string } {
  const { kind, chunkCount, chunksPerNpu, groupMembers, groupSize, groupCount, rootRank } = collective;
  const perGroup = chunkCount / groupCount;
  const placeOf = new Map<number, number>();
  groupMembers.forEach((npu, i) => {
    placeOf.set(npu, i);
  });
  const none = (says: string) => ({ chunk: -1, says });
  const isBlockless = kind === "broadcast" || kind === "reduce";
  const own = kind === "alltoall" ? groupSize * chunksPerNpu : chunksPerNpu;
  /** Returns group and rank of an NPU; a sentence for one that has none. */
  const memberOf = (text: string): { readonly group: number; readonly rank: number } | string => {
    const { npu, says } = npuOf(text);
    if (npu < 0) return says;
    const place = placeOf.get(npu);
    if (place === undefined) return `NPU ${shownCell(text)} is outside of the group and has no chunks of its own`;
    return { group: Math.floor(place / groupSize), rank: place % groupSize };
  };
  const count = (chunks: number): string => (chunks === 1 ? "1 chunk" : `${chunks} chunks`);
  return (text) => {
    if (PLAIN.test(text)) {
      const chunk = Number(text);
      if (chunk < chunkCount) return { chunk, says: "" };
      return none(
        `chunk ${text} is not there: this ${collectiveName(kind)} has ${count(chunkCount)} (0 to ${chunkCount - 1}), ${chunksPerNpu} per NPU (${optionName("chunks")} says another number)`,
      );
    }
    if (kind === "custom")
      return none(`${shownCell(text)} is no chunk; those of a custom collective have numbers, 0 to ${chunkCount - 1}`);
    const addressed = ADDRESSED.exec(text);
    const indexed = INDEXED.exec(text);
    if (addressed !== null) {
      if (kind !== "alltoall")
        return none(`${shownCell(text)} is no chunk: only those of an all-to-all have a destination`);
      const [from, into] = [memberOf(addressed[1] as string), memberOf(addressed[2] as string)];
      if (typeof from === "string") return none(from);
      if (typeof into === "string") return none(into);
      const part = Number(addressed[3] ?? 0);
      if (from.group !== into.group) return none(`${shownCell(text)} is no chunk: its NPUs are in different groups`);
      if (part >= chunksPerNpu)
        return none(`${shownCell(text)} is no chunk: each NPU has ${count(chunksPerNpu)} for another one`);
      return { chunk: from.group * perGroup + (from.rank * groupSize + into.rank) * chunksPerNpu + part, says: "" };
    }
    if (indexed === null) return none(`${shownCell(text)} is no chunk; write its number, or NPU.INDEX such as 2.1`);
    const member = memberOf(indexed[1] as string);
    if (typeof member === "string") return none(member);
    const index = Number(indexed[2]);
    if (index >= own) return none(`${shownCell(text)} is no chunk: an NPU has ${count(own)}, 0 to ${own - 1}`);
    if (hasRoot(kind) && isBlockless && member.rank !== rootRank)
      return none(`${shownCell(text)} is no chunk: those of a ${kind} are the root's`);
    return { chunk: member.group * perGroup + (isBlockless ? 0 : member.rank * own) + index, says: "" };
  };
}

/**
 * Returns the sends of a table on a network, as parts of a collective, with the times of their greedy replay (`timedSends`).
 * Whether they do its work is the verifier's question. Throws InputError as readSendTable does: for NPUs and chunks that are
 * not there, and NPUs without a link or switches between them. O(sends), and what `waysOf` takes.
 */
export function sendsOn(table: SendTable, topology: Topology, collective: Collective): Sends {
  const { name, step, src, dst } = table;
  const count = step.length;
  const npuOf = npuFinder(topology);
  const chunkOf = chunkFinder(collective, npuOf);
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  const chunk = new Int32Array(count);
  const faultOf: (readonly [says: string, expected: string, received: string] | undefined)[] = [];
  for (let i = 0; i < count; i++) {
    const [from, into, found] = [npuOf(src[i]), npuOf(dst[i]), chunkOf(table.chunk[i])];
    source[i] = Math.max(0, from.npu);
    target[i] = Math.max(0, into.npu);
    chunk[i] = Math.max(0, found.chunk);
    if (from.npu < 0) faultOf[i] = [from.says, "an NPU", src[i]];
    else if (into.npu < 0) faultOf[i] = [into.says, "an NPU", dst[i]];
    else if (source[i] === target[i]) faultOf[i] = [`NPU ${shownCell(src[i])} sends to itself`, "another NPU", dst[i]];
    else if (found.chunk < 0) faultOf[i] = [found.says, "a chunk", table.chunk[i]];
    else if (table.op[i] === OP_REDUCE && !collective.reduces)
      faultOf[i] = [`nothing is added in ${article(collectiveName(collective.kind))}; op is copy`, "copy", "sum"];
  }
  const ways = waysOf(topology, source, target);
  for (let i = 0; i < count; i++)
    if (faultOf[i] === undefined && ways.offset[ways.pairOf[i]] === ways.offset[ways.pairOf[i] + 1])
      faultOf[i] = [apartText(topology, source[i], target[i]), "NPUs with a link between them", `${src[i]}>${dst[i]}`];
  const faults = new Faults(name);
  const inFile = orderByTime(Float64Array.from(table.row));
  for (const i of inFile) {
    const fault = faultOf[i];
    if (fault !== undefined) faults.add(rowName(table, i), ...fault);
  }
  faults.refuse();
  const sends = { step, source, target, chunk };
  const list: SendList = { ...sends, op: operationsOf(topology, collective, sends, table.op) };
  const placeOf = (send: number): string => `${name} ${rowName(table, send)}`;
  const { schedule, sendOf } = timedSends(topology, collective, ways, list, placeOf);
  const inferred = collective.reduces ? table.op.reduce((sum, said) => sum + (said < 0 ? 1 : 0), 0) : 0;
  return { table, schedule, sendOf, inferred };
}

const article = (word: string): string => `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;

const MOST_NODES = 12;

/** Returns that two NPUs have no link, and the nearest way. */
function apartText(topology: Topology, from: number, to: number): string {
  const { nodeNames } = topology;
  const walk = shortestWalk(topology, from, to)?.map((node) => nodeNames[node]);
  const link = `${topology.name} has no link ${nodeNames[from]}>${nodeNames[to]}`;
  if (walk === undefined) return `${link}, nor any way`;
  const shown = walk.length <= MOST_NODES ? walk : [...walk.slice(0, MOST_NODES - 2), "...", walk.at(-1)];
  return `${link}; the nearest way is ${shown.join(">")}`;
}
