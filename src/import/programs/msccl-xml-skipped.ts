import type { SkippedPart } from "../../model/steps/skipped-part.ts";
import { closest } from "../../model/topology/closest.ts";
import type { XmlElement } from "../text/xml.ts";

/** What runtimes look for in an element; they pass over others without a word. */
const CHILDREN: ReadonlyMap<string, readonly string[]> = new Map([
  ["algo", ["gpu"]],
  ["gpu", ["tb", "copy"]],
  ["tb", ["step"]],
]);
/** Attributes of <algo> that may be left out, so that a misspelt one is not missed. */
const OPTIONAL = ["name", "outofplace", "minBytes", "maxBytes", "root", "nthreads", "redop"];
const REQUIRED = ["proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"];

/**
 * Returns what a file has in the place of what runtimes know, in the order of the file: elements of other names, and attributes of
 * <algo> that are like an optional one which is missing. Attributes of other tools are no matter. O(elements).
 */
export function skippedOf(algo: XmlElement): SkippedPart[] {
  const skipped: SkippedPart[] = [];
  const missing = OPTIONAL.filter((name) => !algo.attributes.has(name));
  for (const name of algo.attributes.keys()) {
    const meant = [...OPTIONAL, ...REQUIRED].includes(name) ? null : closest(name, missing);
    if (meant !== null) skipped.push({ kind: "attribute", name, parent: algo.name, line: algo.line, meant });
  }
  const walk = (parent: XmlElement): void => {
    const known = CHILDREN.get(parent.name) ?? [];
    for (const child of parent.children) {
      const { name, line } = child;
      if (known.includes(name)) walk(child);
      else skipped.push({ kind: "element", name, parent: parent.name, line, meant: closest(name, known) });
    }
  };
  walk(algo);
  return skipped;
}
