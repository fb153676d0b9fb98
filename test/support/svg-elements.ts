import { SaxesParser } from "saxes";

export interface SvgElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Its own text, and that of what is in it. */
  text: string;
}

/** Returns the elements of a well-formed document in the order in which they open; throws where it is none. */
export function elementsOf(text: string): SvgElement[] {
  const found: SvgElement[] = [];
  const open: SvgElement[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: "" };
    found.push(element);
    open.push(element);
  });
  parser.on("text", (part) => {
    for (const element of open) element.text += part;
  });
  parser.on("closetag", () => open.pop());
  parser.write(text).close();
  return found;
}

/** Returns the elements that have a class. */
export const ofClass = (elements: readonly SvgElement[], name: string): SvgElement[] =>
  elements.filter(({ attributes }) => (attributes["class"] ?? "").split(" ").includes(name));
