import type { Topology } from "../../model/topology/topology.ts";
import type { Options } from "../../request/option-table.ts";

/** One line of a listing, with all its fields. */
export type Row = Readonly<Record<string, unknown>>;

/** What `banyan list` shows. */
export interface Listing {
  /** Columns of the table; --json has all fields. */
  readonly columns: readonly string[];
  /** Most characters in a line of each column but the last, which fills the rest of the width; text goes on in the next line. */
  readonly widths?: readonly number[];
  /** The field whose values part the rows into tables, and what stands above each. */
  readonly parts?: { readonly field: string; readonly titles: Readonly<Record<string, string>> };
  rows(): Promise<readonly Row[]> | readonly Row[];
  /** The same for a network. */
  on?(topology: Topology, options: Options): Listing;
}
