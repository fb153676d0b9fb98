import { InputError } from "../../base/errors.ts";
import { didYouMean } from "../topology/closest.ts";
import { DISTANCE_REGULAR } from "./families/distance-regular.ts";
import type { Family } from "./families/family.ts";
import { DE_BRUIJN, DIAMOND, GENERALIZED_KAUTZ, KAUTZ, MODIFIED_DE_BRUIJN } from "./families/kautz.ts";
import { METACYCLIC } from "./families/metacyclic.ts";
import { COMPLETE, CROWN, CUBE, CUBE_CONNECTED_CYCLES, HAMMING, TWISTED_CUBE } from "./families/products.ts";
import { BI_RING, CIRCULANT, DIRECTED_CIRCULANT, MULTI_CIRCULANT, UNI_RING } from "./families/rings.ts";
import { SKEW_TORUS, TORUS, TWISTED_TORUS } from "./families/tori.ts";

export type { Family, GraphSize } from "./families/family.ts";

/** The families of graphs, in the order of lists: tables A.2 and A.3, section A.6 of Zhao 2026, tori and cubes. */
export const FAMILIES: readonly Family[] = [
  COMPLETE,
  HAMMING,
  KAUTZ,
  GENERALIZED_KAUTZ,
  CIRCULANT,
  MULTI_CIRCULANT,
  DIRECTED_CIRCULANT,
  METACYCLIC,
  BI_RING,
  UNI_RING,
  DIAMOND,
  DE_BRUIJN,
  MODIFIED_DE_BRUIJN,
  ...DISTANCE_REGULAR,
  CROWN,
  CUBE,
  TWISTED_CUBE,
  CUBE_CONNECTED_CYCLES,
  TORUS,
  TWISTED_TORUS,
  SKEW_TORUS,
];

const BY_NAME: ReadonlyMap<string, Family> = new Map(
  FAMILIES.flatMap((family) => [family.name, ...(family.aliases ?? [])].map((name) => [name, family] as const)),
);

const BY_LOWER_CASE: ReadonlyMap<string, Family> = new Map(
  [...BY_NAME].reverse().map(([name, family]) => [name.toLowerCase(), family] as const),
);

/** Returns the family of a name or of one of its other names, capitals aside, or null. */
export const familyNamed = (name: string): Family | null =>
  BY_NAME.get(name) ?? BY_LOWER_CASE.get(name.toLowerCase()) ?? null;

/** Returns a family's name near to a word that is none, for error sentences. */
export const nearestFamily = (word: string): string => didYouMean(word, BY_NAME.keys());

/** Returns the family of a name. Throws InputError for an unknown one. */
export function family(name: string): Family {
  const found = familyNamed(name);
  if (found === null) throw new InputError("the family of graphs", `a known name${nearestFamily(name)}`, name);
  return found;
}

/** Returns a family's name with parameters as it is written: `C(16,{3,4})`, `Diamond`. */
export function familyText(
  { name, beforeBraces }: Pick<Family, "name" | "beforeBraces">,
  parameters: readonly number[],
): string {
  if (parameters.length === 0) return name;
  const before = beforeBraces?.(parameters.length) ?? parameters.length;
  const inBraces = parameters.slice(before);
  return `${name}(${[...parameters.slice(0, before), ...(inBraces.length > 0 ? [`{${inBraces.join(",")}}`] : [])].join(",")})`;
}
