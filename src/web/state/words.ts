import { NETWORK_OPTIONS, type Options, PAGE_OPTIONS } from "../../request/option-table.ts";
import type { GivenFile, MakeWish, NetworkWish } from "../protocol.ts";
import type { Choices } from "./choices.ts";

/** What the page shows, in words: the whole of what an address says, and all that is kept. */
export interface Words {
  /** A preset expression, where there is no file. */
  readonly topology: string;
  readonly file: GivenFile | null;
  /** As on the command line; only what differs from the defaults there. */
  readonly options: Options;
  readonly view: ViewName;
  readonly choices: Choices;
}

export const VIEWS = ["network", "time", "trees", "links", "steps", "bound", "compare", "training", "plan"] as const;
export type ViewName = (typeof VIEWS)[number];

/** What an address means that does not say all, and what stands there where nothing can be read. */
export const FIRST_WORDS: Words = {
  topology: "dgx-a100:2",
  file: null,
  options: { collective: "allgather", size: "256MiB", algorithm: "auto" },
  view: "network",
  choices: {},
};

/** The address of what a first visit shows. */
export const FIRST_EXAMPLE = "#topology=mesh:4x4&collective=allgather&size=256MiB&algorithm=tacos&view=time&run=1";

/** In the order of the names, so that equal options are equal as JSON. */
const only = (options: Options, names: readonly string[]): Options =>
  Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));

/** Returns the network that the words name, without what failed or was degraded where `whole`. */
export function networkWish({ topology, file, options }: Words, whole = false): NetworkWish {
  const { without, degrade, ...rest } = only(options, NETWORK_OPTIONS);
  const changes = { ...(without === undefined ? {} : { without }), ...(degrade === undefined ? {} : { degrade }) };
  return { topology: file === null ? topology : "", file, options: whole ? rest : { ...rest, ...changes } };
}

/** Returns what the words ask to make. */
export const makeWish = (words: Words): MakeWish => ({
  network: networkWish(words),
  options: only(words.options, PAGE_OPTIONS),
});

/** Whether two wishes name the same network; files are the same where they are one object: as JSON all of a name are alike. */
export const sameNetwork = (one: NetworkWish, other: NetworkWish): boolean =>
  one.file === other.file && JSON.stringify(one) === JSON.stringify(other);

/** Whether two wishes ask for the same of the same network. */
export const sameWish = (one: MakeWish, other: MakeWish): boolean =>
  sameNetwork(one.network, other.network) && JSON.stringify(one.options) === JSON.stringify(other.options);

/** Options that name nodes of a network or say how its file is read: they mean nothing for another one. */
const OF_ONE_NETWORK: readonly string[] = [...NETWORK_OPTIONS, "root", "group"];

/** Returns the words for another network: a file, or the preset of that name where it is null; `options` says how it is read. */
export function withNetwork(words: Words, topology: string, file: GivenFile | null, options: Options = {}): Words {
  const kept = Object.fromEntries(Object.entries(words.options).filter(([name]) => !OF_ONE_NETWORK.includes(name)));
  return { ...words, topology, file, options: { ...kept, ...options } };
}

/** Returns the words with some options changed; undefined takes an option away. */
export function withOptions(words: Words, changes: Options): Words {
  const options = Object.fromEntries(
    Object.entries({ ...words.options, ...changes }).filter(([, value]) => value !== undefined && value !== ""),
  );
  return { ...words, options };
}
