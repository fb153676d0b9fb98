import { InputError, inWords, shown } from "../../base/errors.ts";
import { optionName, type Place } from "../../base/option-names.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import type { Topology } from "./topology.ts";

/** Returns the NPU that a name, or an NPU id, stands for. Throws InputError for a switch and for what is not there. */
export type NpuResolver = (nameOrId: string | number, place: Place) => number;

/**
 * Returns a function from names and ids to NPUs. A text is a node's name first and an NPU id second, so networks whose
 * NPUs are named otherwise than by their ids keep their names. A text that is the id of an NPU whose name is another number is
 * refused: what it names has failed or was left out. O(nodes) once, O(1) a call.
 */
export function npuResolver(topology: Topology): NpuResolver {
  const byName = new Map<string, number>();
  topology.nodeNames.forEach((name, node) => {
    byName.set(name, node);
  });
  return (nameOrId, place) => {
    const text = typeof nameOrId === "string" ? nameOrId.trim() : nameOrId;
    const isId = typeof text === "number" || /^\d{1,9}$/.test(text);
    const node = (typeof text === "string" ? byName.get(text) : undefined) ?? (isId ? Number(text) : -1);
    if (Number.isInteger(node) && node >= 0 && node < topology.npuCount) {
      const name = topology.nodeNames[node];
      if (typeof text === "number" || name === text || !/^\d+$/.test(name) || Number(name) === node) return node;
      throw new InputError(place, `the name of an NPU that is there (the one of id ${text} is called ${name})`, text);
    }
    const named = typeof text === "string" && byName.has(text);
    const refusal = new InputError(
      place,
      named ? "an NPU, not a switch," : `the name or id (below ${topology.npuCount}) of an NPU`,
      text,
    );
    const meant = named ? null : idsMeant(String(text), topology.npuCount);
    throw meant === null ? refusal : refusal.saying(`${place} is ${shown(text)}; did you mean ${meant}?`);
  };
}

/** Returns the ids that "0-3", "0..3" or "GPU3" may have meant; null for what has no such ids. */
export function idsMeant(text: string, npuCount: number): string | null {
  const [, one] = /^(?:gpu|npu|rank)[ _-]?(\d{1,9})$/i.exec(text) ?? [];
  if (one !== undefined) return Number(one) < npuCount ? String(Number(one)) : null;
  const [, from, to] = /^(\d{1,9})(?:-|\.\.|:)(\d{1,9})$/.exec(text) ?? [];
  if (from === undefined || !(Number(from) < Number(to)) || Number(to) >= npuCount) return null;
  const ids = Array.from({ length: Math.min(8, Number(to) - Number(from) + 1) }, (_, i) => Number(from) + i);
  return ids.at(-1) === Number(to) ? ids.join(",") : `${ids.slice(0, 3).join(",")},...,${to}, each of them written`;
}

/**
 * Returns the process groups written `a,b,...;c,d,...` by NPU name or id, ranks in the order given; one group of all NPUs
 * where the text is undefined. Throws InputError for an unknown NPU, a switch, an NPU named twice and groups of unequal
 * size (all chunks of a collective are equal, so all groups have one N).
 */
export function parseGroups(
  topology: Topology,
  text: string | undefined,
  place: Place = optionName("group"),
): Int32Array[] {
  if (text === undefined) return [indicesBelow(topology.npuCount)];
  return groupsOf(
    topology,
    text.split(";").map((members) => members.split(",").map((member) => member.trim())),
    place,
  );
}

/** Returns the process groups of lists of NPU names or ids, as `parseGroups` does. */
export function groupsOf(
  topology: Topology,
  lists: readonly (readonly (string | number)[])[],
  place: Place,
): Int32Array[] {
  const resolve = npuResolver(topology);
  const groupOf = new Int32Array(topology.npuCount).fill(-1);
  return lists.map((list, g) => {
    if (list.length !== lists[0].length) {
      throw new InputError(
        place,
        `groups of equal size (the first has ${lists[0].length})`,
        inWords(`${list.length} in group ${g}`),
      );
    }
    return Int32Array.from(list, (member) => {
      const npu = resolve(member, place);
      const before = groupOf[npu];
      if (before === g)
        throw new InputError(place, "each NPU once in a group", member).saying(
          `${place} names ${member} twice; an NPU takes part once`,
        );
      if (before >= 0)
        throw new InputError(place, `an NPU that is in no other group (it is in group ${before})`, member);
      groupOf[npu] = g;
      return npu;
    });
  });
}
