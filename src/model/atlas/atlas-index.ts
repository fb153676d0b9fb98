/** The index of an atlas of failures, as it stands in its folder: plain JSON that a controller can use without Banyan. */

export const ATLAS_SCHEMA = "banyan/atlas@1";
/** The names of the files of the index, of the network and of the page in the folder of an atlas. */
export const INDEX_FILE = "index.json";
export const NETWORK_FILE = "network.json";
export const PAGE_FILE = "index.html";

/** Options by their identity in the table of options, as texts; true for those without a value. */
export type OptionTexts = Readonly<Record<string, string | true>>;

/** What a schedule reaches, and what no algorithm beats. */
export interface AtlasFigures {
  /** Simulated; null where it is too large to be. */
  readonly us: number | null;
  readonly algbwGBps: number | null;
  /** Trees: with ever more pieces. */
  readonly throughputGBps: number | null;
  readonly limitUs: number;
  readonly ofLimit: number | null;
  /** What limits it, in words. */
  readonly because: string;
}

/** A verified schedule, in the folder of the atlas. */
export interface AtlasSchedule extends AtlasFigures {
  readonly algorithm: string;
  /** From the folder of the atlas. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What of the schedule before is in the repaired one. */
export interface AtlasKept {
  readonly what: "trees" | "transfers";
  readonly kept: number;
  readonly of: number;
}

/**
 * "done": a schedule is there; "impossible": what is left has no way; "refused": the request means nothing there, or the algorithm
 * does not apply; "open": not known yet, for it was not reached or its budget was too small.
 */
export type AtlasStatus = "done" | "impossible" | "refused" | "open";

/** Failures that a symmetry of the network takes to each other, by the one that stands for them. */
export interface AtlasClass {
  /** What fails together, in the order of `failureKey`. */
  readonly failed: readonly string[];
  /** What of it had failed before, and has a schedule that this one repairs; empty: nothing. */
  readonly on: readonly string[];
  readonly status: AtlasStatus;
  /** Why there is no schedule, a sentence; null where there is one. */
  readonly why: string | null;
  readonly schedule: AtlasSchedule | null;
  /** The time over that of the network without a failure. */
  readonly slower: number | null;
  readonly limitRose: number | null;
  readonly kept: AtlasKept | null;
  /** Why it cannot be told what was kept; null where it can. */
  readonly keptNote: string | null;
}

/** What is known of one collective. */
export interface AtlasCollective {
  /** Without a failure. */
  readonly healthy: AtlasSchedule;
  readonly classes: readonly AtlasClass[];
  /** The class (its place in `classes`) of every failure that was asked for. */
  readonly failures: Readonly<Record<string, number>>;
  /** The same of failures that come when others have happened: by these, then by what fails further. */
  readonly further: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface AtlasIndex {
  readonly schema: typeof ATLAS_SCHEMA;
  /** Of Banyan. */
  readonly version: string;
  readonly network: {
    readonly name: string;
    readonly hash: string;
    readonly npus: number;
    readonly switches: number;
    readonly links: number;
    readonly file: string;
    /** As it was named: a preset, a construction or a file, with options of the network. */
    readonly given: string;
    readonly options: OptionTexts;
  };
  /** Size, algorithm and other options of all schedules. */
  readonly making: OptionTexts;
  /** By the name of the collective. */
  readonly collectives: Readonly<Record<string, AtlasCollective>>;
}

/** Returns the key under which an index has a failure: its names ascending, joined by "+". */
export const failureKey = (names: readonly string[]): string => [...names].sort().join("+");

/** Returns every way to hear a name of a link: as it is, both ways of the cable, and from its other end. */
function waysToHear(name: string): string[] {
  const [, ends = name, ordinal = ""] = /^(.*?)(#\d+)?$/s.exec(name) ?? [];
  const ways = [name];
  for (let cut = 1; cut < ends.length - 1; cut++) {
    if (ends[cut] !== "-" && ends[cut] !== ">") continue;
    const [a, b] = [ends.slice(0, cut), ends.slice(cut + 1)];
    ways.push(`${a}-${b}${ordinal}`, `${b}-${a}${ordinal}`);
  }
  return ways;
}

/** More names than these at once are not heard in every way. */
const MOST_HEARD = 4;

/** Yields what several failed names may mean, as they are first. */
function* meanings(names: readonly string[]): Generator<readonly string[]> {
  yield names;
  if (names.length > MOST_HEARD) return;
  let all: string[][] = [[]];
  for (const name of names) all = all.flatMap((before) => waysToHear(name).map((way) => [...before, way]));
  yield* all;
}

/** A failure that an atlas has: its class and its names as they stand there. */
export interface Found {
  readonly at: number;
  readonly failed: readonly string[];
}

const own = <Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/**
 * Returns the class of a failure that the index has by name, however its links are said; what fails further comes before what
 * fails at once. Null where it is not there by name.
 */
export function foundByName({ failures, further }: AtlasCollective, names: readonly string[]): Found | null {
  for (const failed of meanings(names)) {
    for (let count = failed.length - 1; count > 0; count--) {
      for (const before of failed.length === 2 ? [failed.slice(0, 1), failed.slice(1)] : [failed.slice(0, count)]) {
        const rest = failed.filter((name) => !before.includes(name));
        const at = own(own(further, failureKey(before)) ?? {}, failureKey(rest));
        if (at !== undefined) return { at, failed };
      }
    }
    const at = own(failures, failureKey(failed));
    if (at !== undefined) return { at, failed };
  }
  return null;
}

/** Worse than any time, the worst first. */
const NO_SCHEDULE = { impossible: Number.POSITIVE_INFINITY, refused: Number.MAX_VALUE, open: Number.MAX_VALUE / 2 };

/** Returns how bad a class is, to be compared: no way, then not known, then by time over that of the whole network. */
export function harmOf({ status, slower, limitRose }: AtlasClass): number {
  if (status !== "done") return NO_SCHEDULE[status];
  return slower ?? limitRose ?? 0;
}

/** A class in the ranking: its place in the index, and how many of the failures that were asked for are in it. */
export interface Ranked {
  readonly at: number;
  readonly one: AtlasClass;
  readonly members: number;
}

/** Returns how many failures each class has. */
function membersOf({ classes, failures, further }: AtlasCollective): number[] {
  const members = classes.map(() => 0);
  for (const table of [failures, ...Object.values(further)]) for (const at of Object.values(table)) members[at]++;
  return members;
}

/** Returns the classes of a collective, the most harmful first; equals as they came. */
export function ranked(collective: AtlasCollective): Ranked[] {
  const members = membersOf(collective);
  const rows = collective.classes.map((one, at) => ({ at, one, members: members[at] }));
  const rise = ({ one }: Ranked): number => one.limitRose ?? 0;
  return rows.sort((a, b) => {
    const [harmA, harmB] = [harmOf(a.one), harmOf(b.one)];
    return harmA === harmB ? rise(b) - rise(a) || a.at - b.at : harmB > harmA ? 1 : -1;
  });
}

/** Returns the worst class by each name that fails: alone where the atlas has that, else with others. */
export function worstByName(collective: AtlasCollective): Map<string, number> {
  const { classes, failures } = collective;
  const alone = new Map<string, number>();
  const among = new Map<string, number>();
  const note = (worst: Map<string, number>, name: string, at: number): void => {
    const known = worst.get(name);
    if (known === undefined || harmOf(classes[at]) > harmOf(classes[known])) worst.set(name, at);
  };
  for (const [key, at] of Object.entries(failures)) {
    const { failed } = classes[at];
    if (failed.length === 1) note(alone, key, at);
    else for (const name of key.split("+")) note(among, name, at);
  }
  return new Map([...among, ...alone]);
}

/** Returns a class in one word or two: "+14.3 %", "no slower", "no way", "refused", "open". */
export function harmText(one: Pick<AtlasClass, "status" | "slower" | "limitRose">): string {
  if (one.status !== "done") return one.status === "impossible" ? "no way" : one.status;
  const ratio = one.slower ?? one.limitRose;
  return ratio === null ? "not known" : changeText(ratio);
}

/** Changes that are smaller are none. */
const ROUNDING = 1e-9;

/** Returns "+14.3 %" of a ratio; "no slower" up to 1. */
export function changeText(ratio: number): string {
  if (ratio <= 1 + ROUNDING) return "no slower";
  const percent = 100 * (ratio - 1);
  return `+${percent >= 1000 ? String(Math.round(percent)) : String(Number(percent.toPrecision(3)))} %`;
}
