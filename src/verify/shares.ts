import { groupedBy } from "../model/graph/graph.ts";
import { add, compare, format, type Rational, rational } from "../model/numbers/rational.ts";
import type { RouteSet } from "../model/routes/routes.ts";
import { linkCount } from "../model/topology/topology.ts";
import type { Names } from "./describe.ts";
import type { Recorder } from "./violation.ts";
import type { Frame } from "./well-formed.ts";

const WHOLE = rational(1);

/**
 * Records each link of which all routes together take more than the whole. Where none do, and each route carries one chunk at a
 * time, no link is ever overloaded, whichever routes are in use at once. O(route links).
 */
export function checkShares({ topology, routes }: Frame, recorder: Recorder, words: Names): void {
  const users = groupedBy(routes.links, linkCount(topology));
  for (let link = 0; link + 1 < users.offset.length; link++) {
    const positions = users.items.subarray(users.offset[link], users.offset[link + 1]);
    if (positions.length < 2) continue; // one share is at most the whole
    const all = sumOfShares(routes, positions);
    if (compare(all, WHOLE) <= 0) continue;
    recorder.record(() => ({
      kind: "link-conflict",
      link,
      message: `routes over link ${words.link(link)} take ${format(all)} times its capacity when they are used together`,
    }));
  }
}

/** Returns the exact sum; shares of one denominator that follow each other are added as doubles. */
function sumOfShares({ shareNum, shareDen }: RouteSet, positions: Int32Array): Rational {
  let all = rational(0);
  let num = 0;
  let den = 1;
  for (const p of positions) {
    if (shareDen[p] !== den || num + shareNum[p] > Number.MAX_SAFE_INTEGER) {
      all = add(all, rational(num, BigInt(den)));
      num = 0;
      den = shareDen[p];
    }
    num += shareNum[p];
  }
  return add(all, rational(num, BigInt(den)));
}
