import { InputError } from "../../base/errors.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { asInteger, asList, asObject, refuse } from "../text/json-value.ts";
import { directionFromJson, fractionFromJson } from "./tree-flow-fields.ts";

interface ForestFields {
  readonly direction?: unknown;
  readonly copyBytesPerSecond?: unknown;
  readonly trees?: unknown;
}

interface TreeFields {
  readonly root?: unknown;
  readonly copies?: unknown;
  readonly edges?: unknown;
}

/** What a forest's numbers are held against. */
export interface ForestFrame {
  readonly npus: number;
  readonly links: number;
  /** Of a tree. */
  readonly edges: number;
}

/** Returns the columns of a forest. Throws InputError with the place in the file. O(edges + links). */
export function forestFromJson(value: unknown, place: string, frame: ForestFrame): Forest {
  const fields = asObject<ForestFields>(value, place);
  const direction = directionFromJson(fields.direction, `${place}.direction`);
  const copyBytesPerSecond = fractionFromJson(fields.copyBytesPerSecond, `${place}.copyBytesPerSecond`);
  const list = asList(fields.trees, `${place}.trees`, "a list of trees");
  if (list.length === 0) throw new InputError(`${place}.trees`, "at least one tree", list);
  const root = new Int32Array(list.length);
  const copies = new Float64Array(list.length);
  const linkOffset = new Float64Array(list.length * frame.edges + 1);
  let at = 0;
  const edgesOf = list.map((tree, t) => {
    const own = `${place}.trees[${t}]`;
    const { root: npu, copies: count, edges } = asObject<TreeFields>(tree, own);
    root[t] = asInteger(npu, `${own}.root`, 0, frame.npus - 1);
    copies[t] = asInteger(count, `${own}.copies`, 1);
    const entries = asList(edges, `${own}.edges`, "a list of edges");
    if (entries.length !== frame.edges)
      throw new InputError(`${own}.edges`, `${frame.edges} edges, one to each other member,`, entries.length);
    for (let e = 0; e < entries.length; e++, at++) {
      linkOffset[at + 1] = linkOffset[at] + lengthOf(entries[e], own, e);
    }
    return entries;
  });
  const links = new Int32Array(linkOffset[at]);
  let next = 0;
  for (const [t, entries] of edgesOf.entries()) {
    for (let e = 0; e < entries.length; e++) {
      const entry = entries[e];
      if (typeof entry === "number") links[next++] = linkOf(entry, frame.links, () => placeOf(place, t, e));
      else {
        const path = entry as readonly unknown[];
        for (let i = 0; i < path.length; i++) {
          links[next++] = linkOf(path[i], frame.links, () => `${placeOf(place, t, e)}[${i}]`);
        }
      }
    }
  }
  return { direction, root, copies, linkOffset, links, copyBytesPerSecond };
}

const placeOf = (place: string, tree: number, edge: number): string => `${place}.trees[${tree}].edges[${edge}]`;

function lengthOf(edge: unknown, tree: string, e: number): number {
  if (typeof edge === "number") return 1;
  if (!Array.isArray(edge) || edge.length === 0) refuse(`${tree}.edges[${e}]`, "a link or a list of links", edge);
  return edge.length;
}

function linkOf(value: unknown, links: number, place: () => string): number {
  if (typeof value === "number" && value >= 0 && value < links && Math.floor(value) === value) return value;
  return asInteger(value, place(), 0, links - 1);
}
