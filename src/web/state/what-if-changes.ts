import type { Options } from "../../request/option-table.ts";

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
    name === whole ||
    link === whole ||
    ["-", ">"].some((joint) => link.startsWith(whole + joint) || link.endsWith(joint + whole)) ||
    waysOf(whole).includes(name)
  );
}

/** Returns both directions of a link that a name means both ways, "a>b#2" and "b>a#2" of "a-b#2", wherever it may be cut. */
function waysOf(name: string): string[] {
  const [, link, number] = /^(.*?)(#\d+)?$/s.exec(name) as unknown as [string, string, string | undefined];
  return Array.from(link, (letter, at) => (letter === "-" ? at : -1))
    .filter((at) => at > 0)
    .flatMap((at) => [`${link.slice(0, at)}>${link.slice(at + 1)}`, `${link.slice(at + 1)}>${link.slice(0, at)}`])
    .map((way) => way + (number ?? ""));
}

/** Returns changes in which a link that was degraded both ways is degraded each way by itself, where one way is named. */
const split = (changes: readonly Change[], names: readonly string[]): Change[] =>
  changes.flatMap((change) => {
    const way = change.factor === 0 ? undefined : waysOf(change.name).findIndex((one) => names.includes(one));
    if (way === undefined || way < 0) return [change];
    const pair = way - (way % 2);
    return waysOf(change.name)
      .slice(pair, pair + 2)
      .map((name) => ({ name, factor: change.factor }));
  });

/** Returns the changes with more failures; what was degraded of them is gone with them. */
export function withFailed(changes: readonly Change[], names: readonly string[]): Change[] {
  const rest = split(changes, names).filter(
    ({ name, factor }) => !names.some((gone) => (factor === 0 ? name === gone : isPartOf(name, gone))),
  );
  return [...rest, ...names.map((name) => ({ name, factor: 0 }))];
}

/** Returns the changes with links or nodes degraded to a factor instead of what they were; 1 restores them. */
export function withDegraded(changes: readonly Change[], names: readonly string[], factor: number): Change[] {
  const both = names.flatMap(waysOf);
  const rest = split(changes, names).filter(
    (change) => change.factor === 0 || ![...names, ...both].includes(change.name),
  );
  return factor === 1 ? rest : [...rest, ...names.map((name) => ({ name, factor }))];
}

export const withoutChange = (changes: readonly Change[], { name, factor }: Change): Change[] =>
  changes.filter((change) => change.name !== name || (change.factor === 0) !== (factor === 0));

/** Returns the factor that names were degraded to; 1 where they were not. */
export const factorOf = (changes: readonly Change[], names: readonly string[]): number =>
  split(changes, names).find(({ name, factor }) => factor !== 0 && names.includes(name))?.factor ?? 1;

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
