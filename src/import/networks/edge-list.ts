import { InputError, inWords, shown } from "../../base/errors.ts";
import { parseBandwidth, parseTime } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { topologyBuilder } from "../../model/topology/topology-builder.ts";
import { type CsvRow, csvHeadHas, csvRows } from "../text/csv.ts";
import { baseName } from "./topology-json.ts";

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly bytesPerSecond: number;
  readonly latencyPs: number;
  readonly both: boolean;
  readonly count: number;
}

type Kind = "npu" | "switch";

/** What stands above the header. */
interface Preamble {
  /** From TACOS's first line `NPUs Count,N`. */
  readonly npus: number | undefined;
  /** From lines `kind,NAME,npu|switch`. */
  readonly kinds: ReadonlyMap<string, Kind>;
}

const DEFAULT_LATENCY = "0.5us";
const SWITCH_NAME = /^(sw|switch|spine|leaf|nvsw|ib)/i;
const MAX_LINKS = 2 ** 24;

/**
 * Returns the network of a CSV edge list: a header, then one link a line; commas, semicolons or tabs between the cells,
 * lines that start with # left out.
 *
 * Columns (any order, any case): `from` and `to` (or source/target, src/dst, SrcID/DestID); a bandwidth: `bandwidthGBps`,
 * `Bandwidth (GB/s)`, `bandwidthGbps` ... in the unit of its name, or `bandwidth` with the unit in each cell; and, where
 * wanted, `latencyUs`, `Latency (ns)` ..., or `latency` with units (0.5 us where there is none), `bidirectional` (false
 * where there is none) and `count` (parallel links). A cell with a unit of its own keeps it.
 *
 * A node is a switch when its name starts with sw, switch, spine, leaf, nvsw or ib, unless a line `kind,NAME,npu` (or
 * `kind,NAME,switch`) above the header says otherwise. NPUs named 0 .. N - 1 are numbered by their names, others in the
 * order in which they appear.
 *
 * TACOS v1.1.0 files start with `NPUs Count,N`: nodes 0 .. N - 1 exist, linked or not, all of them NPUs; further lines
 * above the header and cells past it (its results have chunks there) are left out; its "GB/s" are GiB/s, as in its code.
 *
 * Throws InputError that names the line. O(text).
 */
export function readEdgeList(text: string, fileName: string): Topology {
  const rows = csvRows(text, fileName, isHeader);
  const headerAt = rows.findIndex(({ cells }) => isHeader(cells));
  if (headerAt < 0) {
    const expected = "a header such as from,to,bandwidthGBps,latencyUs";
    const first = rows[0];
    if (first === undefined) throw new InputError(fileName, expected);
    throw new InputError(`${fileName} line ${first.line}`, expected, first.cells.join(","));
  }
  const preamble = preambleOf(rows.slice(0, headerAt), fileName);
  const tacos = preamble.npus !== undefined;
  const header = rows[headerAt] as CsvRow;
  const columns = columnsOf(header.cells, `${fileName} line ${header.line}`, tacos);
  const edges: Edge[] = [];
  const sources = [
    ...(tacos
      ? [`TACOS network file ${fileName}; its "GB/s" read as GiB/s, as TACOS computes`]
      : [`edge list ${fileName}`]),
  ];
  let total = 0;
  let withoutLatency = 0;
  for (const row of rows.slice(headerAt + 1)) {
    const place = `${fileName} line ${row.line}`;
    if (row.cells.length > header.cells.length ? !tacos : row.cells.length <= columns.last) {
      throw new InputError(
        place,
        `${header.cells.length} cells, as in the header,`,
        inWords(`${row.cells.length}`),
      ).saying(
        `${place} has ${row.cells.length} cell${row.cells.length === 1 ? "" : "s"}; the header has ${header.cells.length}`,
      );
    }
    const edge = edgeOf(row, columns, place);
    if (latencyCell(row, columns) === "") withoutLatency++;
    total += edge.count * (edge.both ? 2 : 1);
    if (total > MAX_LINKS)
      throw new InputError(place, `at most ${MAX_LINKS} links in all`, edge.count).as("out-of-range");
    edges.push(edge);
  }
  if (withoutLatency > 0)
    sources.push(`latency ${DEFAULT_LATENCY} assumed for ${withoutLatency} of ${edges.length} lines`);

  const builder = topologyBuilder(baseName(fileName));
  const kindOf = (name: string): Kind =>
    preamble.kinds.get(name) ?? (!tacos && SWITCH_NAME.test(name) ? "switch" : "npu");
  const names = nodeNames(edges, preamble, fileName);
  if (!names.some((name) => kindOf(name) === "npu")) {
    throw new InputError(fileName, "at least one NPU", names.length === 0 ? "no links" : "switches only").as(
      "out-of-range",
    );
  }
  const numbered = names.filter((name) => kindOf(name) === "npu");
  if (numbered.every((name) => /^(0|[1-9]\d{0,8})$/.test(name) && Number(name) < numbered.length)) {
    numbered.sort((a, b) => Number(a) - Number(b));
  }
  for (const name of numbered) builder.addNode(name, "npu");
  for (const name of names) if (kindOf(name) === "switch") builder.addNode(name, "switch");
  for (const edge of edges) {
    const from = builder.indexOf(edge.from) as number;
    const to = builder.indexOf(edge.to) as number;
    for (let copy = 0; copy < edge.count; copy++) {
      if (edge.both) builder.addDuplex(from, to, edge.bytesPerSecond, edge.latencyPs);
      else builder.addLink(from, to, edge.bytesPerSecond, edge.latencyPs);
    }
  }
  return builder.build({ sources });
}

/** Returns true where a line of the text's first 50 is the header of an edge list or the first line of a TACOS file. */
export const looksLikeEdgeList = (text: string): boolean =>
  csvHeadHas(text, (cells) => isHeader(cells) || (cells.length > 1 && /^\s*NPUs Count\s*$/i.test(cells[0] as string)));

function preambleOf(rows: readonly CsvRow[], fileName: string): Preamble {
  const kinds = new Map<string, Kind>();
  let npus: number | undefined;
  for (const { cells, line } of rows) {
    const place = `${fileName} line ${line}`;
    const [first = "", second = "", third = ""] = cells;
    if (/^npus count$/i.test(first)) {
      npus = /^[1-9]\d{0,7}$/.test(second) ? Number(second) : Number.NaN;
      if (Number.isNaN(npus)) throw new InputError(place, "a positive number of NPUs", second);
    } else if (/^kind$/i.test(first)) {
      if (second === "") throw new InputError(place, "the name of a node after kind");
      if (third !== "npu" && third !== "switch") throw new InputError(place, "npu or switch", third);
      kinds.set(second, third);
    } else if (npus === undefined) {
      throw new InputError(place, "a header such as from,to,bandwidthGBps,latencyUs", cells.join(","));
    }
  }
  return { npus, kinds };
}

const latencyCell = (row: CsvRow, columns: Columns): string =>
  columns.latency === undefined ? "" : (row.cells[columns.latency.index] ?? "");

function edgeOf(row: CsvRow, columns: Columns, place: string): Edge {
  const { cells } = row;
  const from = cells[columns.from] ?? "";
  const to = cells[columns.to] ?? "";
  if (from === "") throw new InputError(`${place}, column from`, "the name of the node that the link leaves");
  if (to === "") throw new InputError(`${place}, column to`, "the name of the node that the link enters");
  if (from === to) throw new InputError(place, "two different nodes", from);
  const bandwidth = cells[columns.bandwidth.index] ?? "";
  const latency = latencyCell(row, columns);
  const count = columns.count === undefined ? "" : (cells[columns.count] ?? "");
  if (!/^([1-9]\d{0,7})?$/.test(count))
    throw new InputError(`${place}, column count`, "a positive number of links", count);
  return {
    from,
    to,
    bytesPerSecond: parseBandwidth(withUnit(bandwidth, columns.bandwidth.unit), `${place}, bandwidth`),
    latencyPs: parseTime(
      latency === "" ? DEFAULT_LATENCY : withUnit(latency, columns.latency?.unit ?? ""),
      `${place}, latency`,
    ),
    both: flagOf(
      columns.bidirectional === undefined ? "" : (cells[columns.bidirectional] ?? ""),
      `${place}, column bidirectional`,
    ),
    count: count === "" ? 1 : Number(count),
  };
}

/** Returns the cell with the column's unit when it is a bare number; else as it stands. */
const withUnit = (cell: string, unit: string): string =>
  /^[\d.]+(?:[eE][+-]?\d+)?$/.test(cell) ? `${cell}${unit}` : cell;

function flagOf(cell: string, place: string): boolean {
  if (/^(true|yes|1)$/i.test(cell)) return true;
  if (/^(false|no|0)?$/i.test(cell)) return false;
  throw new InputError(place, "true or false", cell);
}

/** Returns every node's name in the order of first appearance; all of 0 .. N - 1 for a TACOS file. */
function nodeNames(edges: readonly Edge[], preamble: Preamble, fileName: string): string[] {
  const { npus, kinds } = preamble;
  const names = new Set<string>(
    npus === undefined ? kinds.keys() : Array.from({ length: npus }, (_, npu) => String(npu)),
  );
  for (const { from, to } of edges) {
    for (const name of [from, to]) {
      if (npus !== undefined && !names.has(name)) {
        throw new InputError(fileName, `NPU ids below the NPUs Count of ${npus}`, name);
      }
      names.add(name);
    }
  }
  return [...names];
}

/** A column of figures and the unit of its bare numbers; the unit is empty where each cell must bring its own. */
interface FigureColumn {
  readonly index: number;
  readonly unit: string;
}

/** Where an edge list keeps what. */
interface Columns {
  readonly from: number;
  readonly to: number;
  readonly bandwidth: FigureColumn;
  readonly latency: FigureColumn | undefined;
  readonly bidirectional: number | undefined;
  readonly count: number | undefined;
  /** The last column that every line must reach. */
  readonly last: number;
}

const FROM = /^(from|source|src)[ _]?(id)?$/i;
const TO = /^(to|target|dst|dest|destination)[ _]?(id)?$/i;
/** The unit keeps its case: GBps are bytes, Gbps are bits. */
const BANDWIDTH = /^[Bb](?:andwidth|ANDWIDTH|W|w)[ _]*\(?([A-Za-z/]*)\)?$/;
const LATENCY = /^[Ll](?:atency|ATENCY)[ _]*\(?([A-Za-zµ]*)\)?$/;

const BANDWIDTH_UNITS = /^(|[KMGT]i?B\/s|[KMGT]bps)$/;
const TIME_UNITS = /^(|ps|ns|us|µs|ms|s)$/;

/** Returns true where the cells are the header of an edge list: one names the start of a link, one its end. */
function isHeader(cells: readonly string[]): boolean {
  return cells.some((cell) => FROM.test(cell.trim())) && cells.some((cell) => TO.test(cell.trim()));
}

/**
 * Returns the columns of a header. With `binary`, GB/s are read as GiB/s (TACOS). Throws InputError for a missing or
 * repeated column and for an unknown unit.
 */
function columnsOf(header: readonly string[], place: string, binary: boolean): Columns {
  const one = (pattern: RegExp, name: string): number | undefined => {
    const found = header.flatMap((cell, index) => (pattern.test(cell) ? [index] : []));
    if (found.length > 1)
      throw new InputError(place, `one column ${name}`, found.map((index) => header[index]).join(","));
    return found[0];
  };
  const figure = (pattern: RegExp, units: RegExp, name: string): FigureColumn | undefined => {
    const index = one(pattern, name);
    if (index === undefined) return undefined;
    const written = (pattern.exec(header[index] as string) as RegExpExecArray)[1] as string;
    const perSecond = /^[KMGT]i?Bps$/.test(written) ? written.replace("ps", "/s") : written;
    const unit = /^(us|ns|ps|ms|s)$/i.test(perSecond) ? perSecond.toLowerCase() : perSecond;
    if (!units.test(unit)) throw new InputError(place, `a unit that is known in column ${name}`, header[index]);
    return { index, unit: binary && unit === "GB/s" ? "GiB/s" : unit };
  };
  const from = one(FROM, "from");
  const to = one(TO, "to");
  const bandwidth = figure(BANDWIDTH, BANDWIDTH_UNITS, "bandwidth");
  if (from === undefined || to === undefined) throw new InputError(place, "columns from and to", header.join(","));
  if (bandwidth === undefined)
    throw new InputError(place, "a column bandwidthGBps", header.join(",")).saying(
      `${place} has no column of bandwidths; its header is ${shown(header.join(","))}, and bandwidthGBps would be one more column`,
    );
  return {
    from,
    to,
    bandwidth,
    latency: figure(LATENCY, TIME_UNITS, "latency"),
    bidirectional: one(/^bidirectional$/i, "bidirectional"),
    count: one(/^count$/i, "count"),
    last: Math.max(from, to, bandwidth.index),
  };
}
