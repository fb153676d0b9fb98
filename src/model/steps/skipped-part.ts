/** A part of a program's file that runtimes pass over, in the place of one that they know. */
export interface SkippedPart {
  readonly kind: "element" | "attribute";
  readonly name: string;
  /** The element that has it. */
  readonly parent: string;
  readonly line: number;
  /** The name that may have been meant; null: none is like it. */
  readonly meant: string | null;
}

/** Returns "line 12: <stp> in <tb> is unknown and was skipped, as runtimes do; did you mean <step>?". */
export function skippedText({ kind, name, parent, line, meant }: SkippedPart): string {
  const isElement = kind === "element";
  const what = isElement ? `<${name}> in <${parent}>` : `attribute ${name} of <${parent}>`;
  const guess = meant === null ? "" : `; did you mean ${isElement ? `<${meant}>` : meant}?`;
  return `line ${line}: ${what} is unknown and was skipped, as runtimes do${guess}`;
}
