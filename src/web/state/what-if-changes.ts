import type { Options } from "../../words/options.ts";

/** Something of the network that failed (factor 0), or has a share of its bandwidth left. */
export interface Change {
  /** A node or link as the command line names it: "7", "a-b" (both ways), "a>b", "a-b#2" (the second of parallel links). */
  readonly name: string;
  readonly factor: number;
}

const parts = (text: unknown): string[] =>
  typeof text === "string"
    ? text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
    : [];

/** Returns the changes that options say, failures first. */
export function changesOf({ without, degrade }: Options): Change[] {
  const failed = parts(without).map((name) => ({ name, factor: 0 }));
  const degraded = parts(degrade).map((part) => {
    const cut = part.lastIndexOf("=");
    return { name: part.slice(0, cut), factor: Number(part.slice(cut + 1)) };
  });
  return [...failed, ...degraded];
}

/** Returns the options that say the changes; undefined for one that is not needed. */
export function optionsOf(changes: readonly Change[]): Options {
  const failed = changes.filter(({ factor }) => factor === 0).map(({ name }) => name);
  const degraded = changes.filter(({ factor }) => factor !== 0).map(({ name, factor }) => `${name}=${factor}`);
  return {
    without: failed.length === 0 ? undefined : failed.join(","),
    degrade: degraded.length === 0 ? undefined : degraded.join(","),
  } as Options;
}

/** Returns whether a name is that of a link of a node, or one of several links between the same ends. */
function isPartOf(name: string, whole: string): boolean {
  const link = name.replace(/#\d+$/, "");
  return (
    link === whole ||
    ["-", ">"].some((joint) => link.startsWith(whole + joint) || link.endsWith(joint + whole)) ||
    (whole.includes("-") && link.replace(">", "-") === whole)
  );
}

/** Returns the changes with more failures; what was degraded of them is gone with them. */
export function withFailed(changes: readonly Change[], names: readonly string[]): Change[] {
  const rest = changes.filter(
    ({ name, factor }) => !names.some((gone) => (factor === 0 ? name === gone : isPartOf(name, gone))),
  );
  return [...rest, ...names.map((name) => ({ name, factor: 0 }))];
}

/** Returns the changes with links or nodes degraded to a factor instead of what they were; 1 restores them. */
export function withDegraded(changes: readonly Change[], names: readonly string[], factor: number): Change[] {
  const rest = changes.filter((change) => change.factor === 0 || !names.includes(change.name));
  return factor === 1 ? rest : [...rest, ...names.map((name) => ({ name, factor }))];
}

export const withoutChange = (changes: readonly Change[], { name, factor }: Change): Change[] =>
  changes.filter((change) => change.name !== name || (change.factor === 0) !== (factor === 0));

/** Returns the factor that names were degraded to; 1 where they were not. */
export const factorOf = (changes: readonly Change[], names: readonly string[]): number =>
  changes.find(({ name, factor }) => factor !== 0 && names.includes(name))?.factor ?? 1;

/** Returns a change in words: "7 failed", "a-b at 50 %". */
export const changeText = ({ name, factor }: Change): string =>
  factor === 0 ? `${name} failed` : `${name} at ${Math.round(factor * 1000) / 10} % of its bandwidth`;

/** Which links of a wire are meant. */
export type Way = "both" | "forward" | "backward";

/**
 * Returns the names of all parallel links from a to b, from b to a, or both: "a-b", "a-b#2" ... Empty where there are none.
 * @param there links from a to b
 * @param back links from b to a
 */
export function linkNamesOf(a: string, b: string, there: number, back: number, way: Way): string[] {
  const count = way === "both" ? Math.max(there, back) : way === "forward" ? there : back;
  const name = way === "both" ? `${a}-${b}` : way === "forward" ? `${a}>${b}` : `${b}>${a}`;
  return Array.from({ length: count }, (_, i) => (i === 0 ? name : `${name}#${i + 1}`));
}
