import { computed, signal } from "@preact/signals";
import type { Options } from "../../request/option-table.ts";
import type { Progress } from "../../request/progress.ts";
import type { Failure, GivenFile, NetworkView, Opened, ScheduleView, Welcome } from "../protocol.ts";
import { FIRST_WORDS, makeWish, sameWish, type Words } from "./words.ts";

/** The page's state. Views read it; only actions.ts writes it (but for `selection`, `hovered` and what a view keeps for itself). */

export const words = signal<Words>(FIRST_WORDS);
export const welcome = signal<Welcome | null>(null);

/** The network of the words, once it was read; the last good one while there is a mistake in them. */
export const network = signal<NetworkView | null>(null);
/** Whether another network is being read; the last one is still shown. */
export const isReading = signal(false);
/** The last schedule, with the network that it runs on and the words it was made from. */
export const made = signal<Made | null>(null);
/** The schedule before something failed or was changed, for the difference. */
export const before = signal<Made | null>(null);

export interface Made {
  readonly schedule: ScheduleView;
  readonly network: NetworkView;
  readonly words: Words;
}

/** The program that was opened last, until it is closed. */
export const program = signal<OpenedProgram | null>(null);
export type OpenedProgram = Extract<Opened, { readonly kind: "program" }> & { readonly file: GivenFile };

/** The address of the example that was asked for last. */
export const wantedExample = signal("");
/** What is shown next begins by itself, as an example does: a schedule plays, a step is worked out. */
export const beginsAtOnce = signal(false);

/** A first visit's example is on its way: what its answer would push aside is not shown before. */
export const isArriving = signal(false);

/** A point of the window, in its pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * A file that could not be read: some lack figures that options can give. `at`: where it was dropped, and what is said of it stands;
 * null: below the button that opens files.
 */
export const unread = signal<{ readonly file: File; readonly options: Options; readonly at: Point | null } | null>(
  null,
);

/** A node, or a link (both ways of a wire where `wire`). */
export type Selection =
  | { readonly kind: "node"; readonly node: number }
  | { readonly kind: "wire"; readonly wire: number };
export const selection = signal<Selection | null>(null);
export const hovered = signal<Selection | null>(null);

/** What the worker is busy with; null: nothing that the user waits for. */
export const busy = signal<{
  readonly what: "network" | "make" | "compare" | "export" | "open";
  readonly progress: Progress | null;
} | null>(null);

/** What went wrong last, shown beside what caused it: `failure.option` is the option, by its property in the API. */
export const trouble = signal<{
  readonly about: "network" | "make" | "compare" | "export" | "open" | "address";
  readonly failure: Failure;
  /** Words of the address caused it. */
  readonly isOfAddress?: boolean;
} | null>(null);

/** Sentences that pass: "network.json saved". */
export const notes = signal<readonly { readonly id: number; readonly text: string }[]>([]);

/** Whether what is shown was made from other words than those that stand there now. */
export const isStale = computed(() => {
  const last = made.value;
  return last !== null && !sameWish(makeWish(last.words), makeWish(words.value));
});
