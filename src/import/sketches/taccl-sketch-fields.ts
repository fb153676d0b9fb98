import { didYouMean } from "../../model/topology/closest.ts";
import { asInteger, asList, asObject, placeIn, refuse } from "../text/json-value.ts";

/**
 * Returns an object of which only these fields are known, at `path` of a file. Throws InputError that names the first other
 * field, and the known one that it resembles.
 */
export function fieldsOf<Field extends string>(
  value: unknown,
  fileName: string,
  path: string,
  known: readonly Field[],
): Readonly<Partial<Record<Field, unknown>>> {
  const fields = asObject<Partial<Record<Field, unknown>>>(value, placeIn(fileName, path));
  for (const key of Object.keys(fields)) {
    if (!(known as readonly string[]).includes(key))
      refuse(placeIn(fileName, path), `fields among ${known.join(", ")}${didYouMean(key, known)}`, key);
  }
  return fields;
}

/** Returns a list of local ranks, ascending. Throws InputError for anything else; ranges are checkSketch's. */
export function ranksOf(value: unknown, place: string): number[] {
  return asList(value, place, "a list of GPUs")
    .map((rank, i) => asInteger(rank, `${place}[${i}]`, 0))
    .sort((a, b) => a - b);
}

/** Returns an object of GPUs, such as {"1": ...}, as pairs in ascending order. Throws InputError for other keys. */
export function byRank(value: unknown, place: string, npusPerBox: number): (readonly [rank: number, value: unknown])[] {
  const object = asObject<Record<string, unknown>>(value, place);
  return Object.entries(object)
    .map(([key, entry]) => {
      if (!/^(0|[1-9]\d{0,8})$/.test(key) || Number(key) >= npusPerBox)
        refuse(place, `GPUs of a node, "0" to "${npusPerBox - 1}", as keys`, key);
      return [Number(key), entry] as const;
    })
    .sort((a, b) => a[0] - b[0]);
}

/** Returns {"1": [0], ...} as a map of GPUs, both ascending. Throws InputError. */
export function connectionsOf(
  value: unknown,
  place: string,
  npusPerBox: number,
): ReadonlyMap<number, readonly number[]> {
  return new Map(byRank(value, place, npusPerBox).map(([rank, list]) => [rank, ranksOf(list, `${place}.${rank}`)]));
}
