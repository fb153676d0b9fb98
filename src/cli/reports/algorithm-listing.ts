import { COLLECTIVE_KINDS } from "../../model/collective/collective.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Options, optionValue } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { refusalOf } from "../../synthesize/applicable.ts";
import { ALGORITHMS, type Algorithm } from "../../synthesize/catalog.ts";
import type { Listing, Row } from "./listing.ts";

const PARTS = {
  field: "makes",
  titles: {
    steps: "Schedules of steps: every transfer with its time",
    trees: "Trees: rates along them, sent in pieces",
    phases: "Phases within the dimensions of a hierarchical network",
  },
};

function rowOf(algorithm: Algorithm): Row {
  const { name, description, makes, collectives, policies } = algorithm;
  return { name, description, makes, collectives, policies };
}

/** Returns which algorithms can be used on a network: the collectives that each makes there, or what it needs. */
function listingOn(topology: Topology, options: Options): Listing {
  const asked = optionValue(options, "collective");
  const kinds = asked === undefined ? COLLECTIVE_KINDS : [asked];
  const problems = kinds.map((collective) => problemOf(topology, { collective }));
  const rows = ALGORITHMS.map((algorithm): Row => {
    const refusals = problems.map((one) => refusalOf(algorithm, one.topology, one.collective));
    const collectives = kinds.filter((_, i) => refusals[i] === null);
    // of the collectives that it makes somewhere, not of those that it makes nowhere
    const first = Math.max(
      0,
      kinds.findIndex((kind) => algorithm.collectives.includes(kind)),
    );
    return { ...rowOf(algorithm), collectives, needs: collectives.length > 0 ? "" : refusals[first] };
  });
  return { columns: ["name", "collectives", "needs"], widths: [14, 44], parts: PARTS, rows: () => rows };
}

/** All algorithms by what they make; for a network, which can be used on it and why not the others. */
export const ALGORITHM_LISTING: Listing = {
  columns: ["name", "description", "policies"],
  widths: [14, 62],
  parts: PARTS,
  rows: () => ALGORITHMS.map(rowOf),
  on: listingOn,
};
