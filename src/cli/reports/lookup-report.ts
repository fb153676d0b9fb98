import { type AtlasClass, type AtlasCollective, type AtlasSchedule, harmText } from "../../model/atlas/atlas-index.ts";
import { collectiveName } from "../../model/collective/collective.ts";
import { gbpsText, grouped, timeText } from "../../report/amounts.ts";
import type { Style } from "./style.ts";
import { labelled, labelledTable } from "./text.ts";

const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
const timeOr = (us: number | null): string => (us === null ? "-" : timeText(us));

/** Returns how a class is called: "0-rail0 and 1023 alike", "3-rail2 after 0-rail0". */
export function classText({ failed, on }: Pick<AtlasClass, "failed" | "on">, members = 1): string {
  const later = failed.filter((name) => !on.includes(name)).join("+");
  const name = on.length === 0 ? later : `${later} after ${on.join("+")}`;
  return members > 1 ? `${name} and ${grouped(members - 1)} alike` : name;
}

/** What a lookup found of one collective. */
export interface LookupResult {
  readonly found: boolean;
  /** The failure that stands for the class; null where the atlas has no such failure. */
  readonly class: { readonly failed: readonly string[]; readonly on: readonly string[] } | null;
  readonly status: AtlasClass["status"] | null;
  readonly why: string | null;
  readonly before: Omit<AtlasSchedule, "file" | "sha256" | "bytes"> | null;
  readonly after: Omit<AtlasSchedule, "file" | "sha256" | "bytes"> | null;
  readonly slower: number | null;
  readonly limitRose: number | null;
  readonly kept: AtlasClass["kept"];
  /** The schedule for exactly this failure; null where there is none, or it has not been moved to it yet. */
  readonly file: string | null;
  readonly bytes: number | null;
  /** It is that of the class's failure, moved by a symmetry of the network. */
  readonly isMoved: boolean | null;
}

/** The answer of a lookup. */
export interface LookupAnswer {
  readonly schema: "banyan/atlas-lookup@1";
  readonly folder: string;
  readonly network: string;
  /** As the atlas names it. */
  readonly failed: readonly string[];
  readonly results: Readonly<Record<string, LookupResult>>;
  /** Adds the failure to the atlas; null where it is there. */
  readonly add: string | null;
  /** What each of several failures gives alone, where the atlas has not all of them together. */
  readonly alone: Readonly<Record<string, Readonly<Record<string, LookupResult>>>>;
}

const withoutFile = ({ file: _file, sha256: _sha, bytes: _bytes, ...figures }: AtlasSchedule) => figures;

/** Returns what is said of a class that was found. */
export function resultOf(
  { healthy }: AtlasCollective,
  one: AtlasClass,
  ready: { readonly file: string; readonly bytes: number; readonly isMoved: boolean } | null,
): LookupResult {
  const { failed, on, status, why, schedule, slower, limitRose, kept } = one;
  return {
    found: true,
    class: { failed, on },
    status,
    why,
    before: withoutFile(healthy),
    after: schedule === null ? null : withoutFile(schedule),
    slower,
    limitRose,
    kept,
    file: ready?.file ?? null,
    bytes: ready?.bytes ?? null,
    isMoved: ready?.isMoved ?? null,
  };
}

/** What is said of a failure that is not there. */
export const NOT_FOUND: LookupResult = {
  found: false,
  class: null,
  status: null,
  why: null,
  before: null,
  after: null,
  slower: null,
  limitRose: null,
  kept: null,
  file: null,
  bytes: null,
  isMoved: null,
};

/** Returns a lookup's answer as lines. */
export function lookupLines({ folder, network, failed, results, add, alone }: LookupAnswer, style: Style): string[] {
  const rows = Object.entries(results).map(([kind, one]) => [collectiveName(kind), ...cellsOf(one)]);
  const others = Object.entries(alone).flatMap(([name, byKind]) =>
    Object.entries(byKind).map(([kind, one]) => [`${collectiveName(kind)} without ${name}`, ...cellsOf(one)]),
  );
  const head = ["", "before", "after", "slower by", "limit", "throughput", "class"];
  const lines = (body: string[][]): string[] => {
    const [first, ...rest] = labelledTable(
      [head, ...body],
      ["left", "right", "right", "right", "right", "right", "left"],
    );
    return [style.dim(`  ${first}`), ...rest.map((line) => `  ${line}`)];
  };
  const files = Object.entries(results).flatMap(([kind, one]) => fileLines(kind, one));
  const whys = Object.entries(results).flatMap(([kind, { why }]) =>
    why === null ? [] : [label("why", `${collectiveName(kind)}: ${why}`)],
  );
  return [
    "",
    label("failure", `${failed.join(", ")} of ${network}`),
    ...lines(rows),
    ...whys,
    ...files,
    ...(add === null ? [] : [label("add", `${folder} has no such failure; this adds it: ${add}`)]),
    ...(others.length === 0 ? [] : ["", label("alone", "what the atlas has of each:"), ...lines(others)]),
  ];
}

function cellsOf({ found, class: of, status, before, after, slower, limitRose }: LookupResult): string[] {
  if (!found || of === null) return ["", "", "not there", "", "", ""];
  const word = harmText({ status: status ?? "open", slower, limitRose });
  return [
    timeOr(before?.us ?? null),
    timeOr(after?.us ?? null),
    word,
    after === null ? "-" : timeText(after.limitUs),
    after === null ? "-" : gbpsText(after.throughputGBps),
    classText(of),
  ];
}

function fileLines(kind: string, { found, status, file, isMoved }: LookupResult): string[] {
  if (!found || status !== "done") return [];
  const name = collectiveName(kind);
  if (file === null)
    return [label("file", `${name}: not moved to this failure yet; --collective ${kind} -o FILE writes it`)];
  return [label("file", `${name}: ${file}${isMoved === true ? " (moved by a symmetry, verified)" : ""}`)];
}
