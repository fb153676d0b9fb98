import { InputError } from "../../base/errors.ts";

/** A column of figures and the unit of its bare numbers; the unit is empty where each cell must bring its own. */
export interface FigureColumn {
  readonly index: number;
  readonly unit: string;
}

/** Where an edge list keeps what. */
export interface Columns {
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
export function isHeader(cells: readonly string[]): boolean {
  return cells.some((cell) => FROM.test(cell.trim())) && cells.some((cell) => TO.test(cell.trim()));
}

/**
 * Returns the columns of a header. With `binary`, GB/s are read as GiB/s (TACOS). Throws InputError for a missing or
 * repeated column and for an unknown unit.
 */
export function columnsOf(header: readonly string[], place: string, binary: boolean): Columns {
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
  if (bandwidth === undefined) throw new InputError(place, "a column bandwidthGBps", header.join(","));
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
