import { InputError } from "../../base/errors.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { linkCount, linkNames, type Topology } from "../../model/topology/topology.ts";
import { asList, asObject, placeIn, refuse } from "../text/json-value.ts";

interface RouteFields {
  readonly id?: unknown;
  readonly links?: unknown;
  readonly share?: unknown;
}

/**
 * Returns the routes of a schedule file. Links are names or numbers; `share` is a text for all links of a route or a list
 * of one for each. Throws InputError for links that are not there or do not follow one another, for a route that does not
 * run from NPU to NPU, and for a share outside (0, 1]. O(route links).
 */
export function routesFromJson(value: unknown, fileName: string, topology: Topology): RouteSet {
  const entries = asList(value, placeIn(fileName, "routes"));
  const byName = new Map<string, number>();
  linkNames(topology).forEach((name, link) => {
    byName.set(name, link);
  });
  const source = new Int32Array(entries.length);
  const target = new Int32Array(entries.length);
  const linkOffset = new Int32Array(entries.length + 1);
  const links: number[] = [];
  const shareNum: number[] = [];
  const shareDen: number[] = [];
  for (let route = 0; route < entries.length; route++) {
    const place = placeIn(fileName, `routes[${route}]`);
    const fields = asObject<RouteFields>(entries[route], place);
    if (fields.id !== route) refuse(`${place}.id`, String(route), fields.id);
    const list = asList(fields.links, `${place}.links`, "a list of links");
    if (list.length === 0) throw new InputError(`${place}.links`, "at least one link", list);
    let node = -1;
    for (const [i, entry] of list.entries()) {
      const link = linkOf(entry, `${place}.links[${i}]`, byName, linkCount(topology));
      const from = topology.linkSource[link];
      if (i === 0) source[route] = npuOf(topology, from, `${place}.links[0]`, "leaves", entry);
      else if (from !== node) {
        throw new InputError(`${place}.links[${i}]`, `a link that leaves ${topology.nodeNames[node]}`, entry);
      }
      node = topology.linkTarget[link];
      links.push(link);
    }
    target[route] = npuOf(topology, node, `${place}.links[${list.length - 1}]`, "enters", list.at(-1));
    linkOffset[route + 1] = links.length;
    const shares = Array.isArray(fields.share) ? fields.share : undefined;
    if (shares !== undefined && shares.length !== list.length) {
      throw new InputError(`${place}.share`, `${list.length} shares, one a link,`, shares.length);
    }
    for (let i = 0; i < list.length; i++) {
      const [num, den] = shareOf(shares === undefined ? fields.share : shares[i], `${place}.share`);
      shareNum.push(num);
      shareDen.push(den);
    }
  }
  return {
    source,
    target,
    linkOffset,
    links: Int32Array.from(links),
    shareNum: Float64Array.from(shareNum),
    shareDen: Float64Array.from(shareDen),
  };
}

function linkOf(entry: unknown, place: string, byName: ReadonlyMap<string, number>, count: number): number {
  const link = typeof entry === "string" ? byName.get(entry) : entry;
  if (typeof link !== "number" || !Number.isInteger(link) || link < 0 || link >= count) {
    refuse(place, `the name or number (below ${count}) of a link`, entry);
  }
  return link;
}

function npuOf(topology: Topology, node: number, place: string, verb: string, entry: unknown): number {
  if (node >= topology.npuCount) throw new InputError(place, `a link that ${verb} an NPU`, entry);
  return node;
}

/** Returns numerator and denominator as they are written, not reduced, so that a schedule reads back unchanged. */
function shareOf(value: unknown, place: string): readonly [number, number] {
  const match = typeof value === "string" ? /^(\d{1,16})(?:\/(\d{1,16}))?$/.exec(value) : null;
  const num = Number(match?.[1] ?? Number.NaN);
  const den = Number(match?.[2] ?? 1);
  if (!Number.isSafeInteger(num) || !Number.isSafeInteger(den) || num < 1 || num > den) {
    refuse(place, 'a share such as "1" or "1/4"', value);
  }
  return [num, den];
}
