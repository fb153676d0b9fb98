import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { LimitReport } from "./program-limits-report.ts";

/** A tag as the runtimes' parser sees it. */
interface Tag {
  readonly name: string;
  /** Of the attributes that it keeps: the first so many slots, where every surplus space takes one. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly slots: number;
}

/** What the runtimes look up. */
const LOOKED_UP: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    gpu: ["id", "i_chunks", "o_chunks", "s_chunks"],
    tb: ["id", "send", "recv", "chan"],
    step: ["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"],
  }),
);

const algoAttributes = (runtime: MscclRuntime): readonly string[] => [
  ...["proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"],
  ...(runtime.needsRange ? ["outofplace", "minBytes", "maxBytes"] : ["name"]),
];

/** Returns a function that tells the line of ever later places in a text. O(text) over all calls. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let seen = 0;
  return (at) => {
    for (let next = text.indexOf("\n", seen); next >= 0 && next < at; next = text.indexOf("\n", seen)) {
      line++;
      seen = next + 1;
    }
    return line;
  };
}

/**
 * Reports what of an XML text the hand-written parser of MSCCL's runtimes does not read as XML (NCCL's xml.cc): it knows no
 * declaration, no TAB, no text, no single quotes, no line break within a tag, no entities; it keeps 16 attributes of an element.
 * Returns the attributes that it finds on <algo>, null where there is none. O(text).
 */
export function reportText(
  text: string,
  runtime: MscclRuntime,
  report: LimitReport,
): ReadonlyMap<string, string> | null {
  const lineAt = lineCounter(text);
  const seen = new Set<string>();
  const first = (kind: string, at: number, what: string, warns = false): void => {
    if (seen.has(kind)) return;
    seen.add(kind);
    const line = lineAt(at);
    const sentence = `line ${line} has ${what}, but the parser of ${runtime.title} ${KNOWS[kind]}`;
    report[warns ? "warning" : "error"](kind, sentence, { line });
  };
  let algo: ReadonlyMap<string, string> | null = null;
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === " " || character === "\n" || character === "\r") {
      at++;
    } else if (character !== "<") {
      first(character === "\t" ? "tab" : "text", at, character === "\t" ? "a TAB" : "text between elements");
      at++;
    } else if (text.startsWith("<!--", at)) {
      at = after(text, "-->", at + 4);
    } else if (text.startsWith("<?", at)) {
      first("declaration", at, "an XML declaration");
      at = after(text, ">", at);
    } else if (text.startsWith("</", at)) {
      const end = after(text, ">", at);
      if (/\s/.test(text.slice(at, end))) first("closing-tag", at, "a closing tag with a space");
      at = end;
    } else {
      const line = lineAt(at);
      const { tag, end } = readTag(text, at, runtime, first);
      at = end;
      if (tag.name === "algo") algo ??= tag.attributes;
      reportTag(tag, runtime, report, line);
    }
  }
  return algo;
}

/** What the parser knows instead, by kind. */
const KNOWS: Readonly<Record<string, string>> = {
  tab: "takes only spaces and line ends between elements and one space between attributes",
  text: "takes nothing but elements",
  declaration: "takes <algo> as the first element",
  "closing-tag": "takes only a name in it",
  quotes: 'takes only name="value" with double quotes and no spaces around =',
  "line-break": "takes a tag on one line only",
  spaces: "counts each further space as an attribute",
  entity: "takes & literally",
  "value-length": "has room for 255 bytes",
};

const after = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found + what.length;
};

/** Returns the opening tag at a place and where it ends. */
function readTag(
  text: string,
  from: number,
  runtime: MscclRuntime,
  first: (kind: string, at: number, what: string, warns?: boolean) => void,
): { readonly tag: Tag; readonly end: number } {
  const attributes = new Map<string, string>();
  let slots = 0;
  let at = from + 1;
  while (at < text.length && !/[\s/>]/.test(text.charAt(at))) at++;
  const name = text.slice(from + 1, at);
  for (;;) {
    const begun = at;
    while (/\s/.test(text.charAt(at))) at++;
    const space = text.slice(begun, at);
    if (space.includes("\t")) first("tab", begun, "a TAB");
    if (/[\n\r]/.test(space)) first("line-break", begun, `a line break in <${name}>`);
    if (space.length > 1) first("spaces", begun, `${space.length} spaces in a row in <${name}>`, true);
    slots += Math.max(0, space.length - 1);
    const key = /[^\s=<>/]*/y;
    key.lastIndex = at;
    const found = key.exec(text)?.[0] ?? "";
    if (found === "") return { tag: { name, attributes, slots }, end: after(text, ">", at) };
    at += found.length;
    const assigned = /\s*=\s*/y;
    assigned.lastIndex = at;
    const equals = assigned.exec(text)?.[0] ?? "";
    const quote = text.charAt(at + equals.length);
    if (equals !== "=" || quote !== '"') first("quotes", at, `attribute ${found} otherwise written`);
    at += equals.length + 1;
    const close = text.indexOf(quote === "'" ? "'" : '"', at);
    const end = close < 0 ? text.length : close;
    const value = text.slice(at, end);
    const bytes = value.length > runtime.charactersPerValue / 3 ? utf8Length(value) : 0;
    if (bytes > runtime.charactersPerValue) first("value-length", at, `a value of ${bytes} bytes`);
    if (value.includes("&") && found !== "name") first("entity", at, `an entity in attribute ${found}`);
    if (slots++ < runtime.attributesPerNode) attributes.set(found, value);
    at = end + 1;
  }
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function reportTag(tag: Tag, runtime: MscclRuntime, report: LimitReport, line: number): void {
  const needed = tag.name === "algo" ? algoAttributes(runtime) : (LOOKED_UP.get(tag.name) ?? []);
  const missing = needed.filter((name) => !tag.attributes.has(name));
  if (missing.length > 0) {
    const kept =
      tag.slots > runtime.attributesPerNode ? ` among its first ${runtime.attributesPerNode} attributes` : "";
    const names = missing.join(", ");
    report.error(
      "missing-attribute",
      `<${tag.name}> on line ${line} has no ${names}${kept}, which ${runtime.title} needs`,
      { line },
    );
  } else if (needed.length > 0 && tag.slots > runtime.attributesPerNode) {
    report.warning(
      "attributes",
      `<${tag.name}> on line ${line} has ${tag.slots} attributes, but ${runtime.title} keeps the first ${runtime.attributesPerNode}`,
      { line },
    );
  }
}
