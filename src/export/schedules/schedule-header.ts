import { jsonText } from "../../base/visible.ts";
import {
  type Collective,
  groupOfChunk,
  membersOf,
  collective as named,
  type Placement,
} from "../../model/collective/collective.ts";
import { format } from "../../model/numbers/rational.ts";
import { linksOfRoute, type RouteSet, routeCount } from "../../model/routes/routes.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { linkNames, type Topology, topologyHash } from "../../model/topology/topology.ts";
import { topologyJsonParts } from "../networks/topology-json.ts";

/** What a file says besides: of its making, for people, and what it claims of itself (report/claims.ts). Readers pass over it. */
export interface Told {
  readonly about?: Readonly<Record<string, unknown>> | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** More chunks than this are written as a count and a size. */
const LISTED_CHUNKS = 10_000;

/**
 * Yields the text that every `banyan-schedule` (version 1) begins with, up to the comma after its routes: JSON files whole,
 * .bys files as their header. What it says is written as JSON under its keys.
 *
 * All routes are written, used or not, so route ids stay what they were. Links stand by name where all names differ, else
 * by number; `share` is one text where it is the same on all links of the route, else a list. A chunk's `origin` is the NPU
 * id (a list of ids, or "group g") that has it at the start. O(chunks + route links).
 */
export function* scheduleHeaderParts(
  { topology, collective, routes }: ScheduleHeader,
  told: Told = {},
): Generator<string> {
  yield* scheduleTopParts(topology, 1, told);
  yield* collectiveParts(collective);
  yield* routeParts(topology, routes);
}

/** Yields what every version begins with, up to the comma after the network; so do files of other formats. */
export function* scheduleTopParts(
  topology: Topology,
  version: number,
  told: Told = {},
  fileFormat = "banyan-schedule",
): Generator<string> {
  yield `{\n  "format": "${fileFormat}",\n  "version": ${version},\n`;
  const { about, claims } = told;
  if (about !== undefined) yield `  "about": ${jsonText(about, 2).replaceAll("\n", "\n  ")},\n`;
  if (claims !== undefined) {
    const each = Object.entries(claims).map(([name, claim]) => `    "${name}": ${jsonText(claim)}`);
    yield `  "claims": {\n${each.join(",\n")}\n  },\n`;
  }
  yield '  "topology": ';
  yield* topologyJsonParts(topology, "  ", { hash: topologyHash(topology) });
  yield ",\n";
}

/** Yields the sections `collective` and `chunks`, with the comma behind them. */
export function* collectiveParts(collective: Collective): Generator<string> {
  yield `  "collective": ${collectiveJson(collective, "  ")},\n`;
  yield* lines("chunks", chunkLines(collective));
}

/** Yields the section `routes`, with the comma behind it. */
export const routeParts = (topology: Topology, routes: RouteSet): Generator<string> =>
  lines("routes", routeLines(topology, routes));

/** Yields `"name": [ ... ],` with one entry a line, or what the entries themselves say where it is no list. */
function* lines(name: string, entries: Iterable<string> | string): Generator<string> {
  if (typeof entries === "string") {
    yield `  "${name}": ${entries},\n`;
    return;
  }
  yield `  "${name}": [`;
  let part: string[] = [];
  let first = true;
  for (const entry of entries) {
    part.push(`${first ? "" : ","}\n    ${entry}`);
    first = false;
    if (part.length === 4096) {
      yield part.join("");
      part = [];
    }
  }
  yield `${part.join("")}${first ? "" : "\n  "}],\n`;
}

function chunkLines(collective: Collective): string | string[] {
  const { chunkCount, chunkBytes } = collective;
  const bytes = chunkBytes.den === 1n && chunkBytes.num < 2n ** 53n ? format(chunkBytes) : `"${format(chunkBytes)}"`;
  if (chunkCount > LISTED_CHUNKS) return `{ "count": ${chunkCount}, "bytes": ${bytes} }`;
  return Array.from({ length: chunkCount }, (_, chunk) => {
    const origin = originOf(collective, chunk);
    return `{ "id": ${chunk}, "bytes": ${bytes}, "origin": ${origin} }`;
  });
}

function originOf(collective: Collective, chunk: number): string {
  if (collective.pre.kind === "group") return `"group ${groupOfChunk(collective, chunk)}"`;
  const members = membersOf(collective, collective.pre, chunk);
  return members.length === 1 ? String(members[0]) : `[${members.join(", ")}]`;
}

function* routeLines(topology: Topology, routes: RouteSet): Generator<string> {
  const names = linkNames(topology).map((name) => jsonText(name));
  const byName = new Set(names).size === names.length;
  for (let route = 0; route < routeCount(routes); route++) {
    const links = Array.from(linksOfRoute(routes, route), (link) => (byName ? names[link] : String(link)));
    const shares = links.map((_, i) => {
      const at = routes.linkOffset[route] + i;
      return routes.shareDen[at] === 1 ? `"${routes.shareNum[at]}"` : `"${routes.shareNum[at]}/${routes.shareDen[at]}"`;
    });
    const share = shares.every((text) => text === shares[0]) ? shares[0] : `[${shares.join(", ")}]`;
    yield `{ "id": ${route}, "links": [${links.join(", ")}], "share": ${share} }`;
  }
}

/**
 * Returns the JSON of a collective, from which it can be rebuilt exactly: a named collective by its kind, groups, root and
 * sizes; any other (custom, or changed in some way) with its chunks' sizes and placements besides.
 */
export function collectiveJson(collective: Collective, indent: string): string {
  const { kind, groupCount, groupSize, groupMembers, rootRank, sizeBytes, chunksPerNpu } = collective;
  const groups = Array.from({ length: groupCount }, (_, g) =>
    groupMembers.subarray(g * groupSize, (g + 1) * groupSize),
  );
  const fields = [
    `"kind": "${kind}"`,
    `"groups": [${groups.map((members) => `[${members.join(",")}]`).join(", ")}]`,
    `"rootRank": ${rootRank}`,
    `"sizeBytes": ${sizeBytes}`,
    `"chunksPerNpu": ${chunksPerNpu}`,
  ];
  const plain = kind !== "custom" && same(collective, named({ kind, groups, sizeBytes, chunksPerNpu, rootRank }));
  if (!plain) {
    fields.push(
      `"chunkCount": ${collective.chunkCount}`,
      `"chunkBytes": "${format(collective.chunkBytes)}"`,
      `"reduces": ${collective.reduces}`,
      `"pre": ${placementJson(collective.pre)}`,
      `"post": ${placementJson(collective.post)}`,
    );
  }
  return `{\n${fields.map((field) => `${indent}  ${field}`).join(",\n")}\n${indent}}`;
}

function placementJson(placement: Placement): string {
  switch (placement.kind) {
    case "group":
      return '{ "kind": "group" }';
    case "one":
      return `{ "kind": "one", "npu": [${placement.npu.join(",")}] }`;
    case "sets":
      return `{ "kind": "sets", "offset": [${placement.offset.join(",")}], "members": [${placement.members.join(",")}] }`;
  }
}

function same(a: Collective, b: Collective): boolean {
  return (
    a.chunkCount === b.chunkCount &&
    a.chunkBytes.num === b.chunkBytes.num &&
    a.chunkBytes.den === b.chunkBytes.den &&
    a.reduces === b.reduces &&
    samePlacement(a.pre, b.pre) &&
    samePlacement(a.post, b.post)
  );
}

function samePlacement(a: Placement, b: Placement): boolean {
  if (a.kind === "group") return b.kind === "group";
  return (
    a.kind === "one" && b.kind === "one" && a.npu.length === b.npu.length && a.npu.every((npu, i) => npu === b.npu[i])
  );
}
