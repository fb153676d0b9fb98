import { computed, signal } from "@preact/signals";
import type { Options } from "../../../request/option-table.ts";
import type { PlanFile, PlanView } from "../../plan-protocol.ts";
import type { Failure, GivenFile, PlanWish } from "../../protocol.ts";
import { isOnlyMentioned, packFile, unpackFile } from "../../state/address-file.ts";
import type { Choices } from "../../state/choices.ts";
import { ask } from "../../state/client.ts";
import { ownWork } from "../../state/own-work.ts";
import { words } from "../../state/store.ts";
import { networkWish, sameNetwork } from "../../state/words.ts";
import { type FieldPlaces, type FoundTimeline, fieldAt, modelOf, modelWord, timelines, USUAL } from "../step/asking.ts";

/** The plan that is worked on or was made last; it goes on while other views are shown. */

/** Fields by the options of the command line that they say. */
const FIELDS = {
  batch: "batch",
  seq: "seq",
  memory: "memory",
  mesh: "mesh",
  passes: "passes",
  dims: "dims",
  precision: "precision",
  optimizer: "optimizer",
  accelerator: "accelerator",
  algorithms: "planBy",
  timeLimit: "planTime",
} as const satisfies Readonly<Record<string, keyof Choices>>;
type Option = keyof typeof FIELDS;
export type FieldName = (typeof FIELDS)[Option] | "model" | "graph";

/** What the fields say. */
const said = computed((): Options => {
  const { choices } = words.value;
  const own = Object.fromEntries(Object.entries(FIELDS).map(([option, field]) => [option, choices[field]]));
  return { ...own, batch: choices.batch ?? USUAL.batch };
});

/** A graph that takes the place of the model, packed; "" where there is none. */
export const graphWord = computed(() => words.value.choices.graph ?? "");
const planned = computed(() => graphWord.value || modelWord.value);

/** Graphs that an address cannot hold, by their words; gone with the page. */
const large = new Map<string, GivenFile>();

/** Returns the word of a graph that was opened. */
export async function openGraph(file: File): Promise<string> {
  const given = { name: file.name.replaceAll("~", "-"), content: file };
  const word = await packFile(given);
  if (isOnlyMentioned(word)) large.set(word, given);
  return word;
}

async function subjectOf(word: string): Promise<string | GivenFile> {
  const kept = large.get(word);
  if (kept !== undefined) return kept;
  if (!isOnlyMentioned(word)) return modelOf(word);
  const mention = await unpackFile(word);
  throw new Error(
    `${"name" in mention ? mention.name : "the file"} is too large to be kept in the address; open it again`,
  );
}

/** A plan with what it was made from. */
export interface MadePlan {
  readonly view: PlanView;
  readonly wish: PlanWish;
  /** The word of its model or graph. */
  readonly of: string;
}

export const plan = signal<MadePlan | null>(null);
const work = ownWork();
export const { running, failure, stop: stopPlan } = work;

/** Whether the plan was made for another network or other words than those that stand there. */
export const isOld = computed(() => {
  const last = plan.value;
  return (
    last !== null &&
    !(
      sameNetwork(last.wish.network, networkWish(words.value)) &&
      last.of === planned.value &&
      JSON.stringify(last.wish.options) === JSON.stringify(said.value)
    )
  );
});

/** Searches the plan that the fields ask for. What was shown before stays where it fails. */
export const search = (): Promise<void> =>
  work.run(async ({ signal, onProgress, isLast }) => {
    const [network, options, of] = [networkWish(words.value), said.value, planned.value];
    const wish = { network, model: await subjectOf(of), options };
    const view = await ask("plan", { wish }, { signal, onProgress });
    if (isLast()) plan.value = { view, wish, of };
  });

const PLACES: FieldPlaces<Option | "model"> = [
  [/^the (model|graph)$/, "model"],
  [/^the batch\b/, "batch"],
  [/^the sequence\b/, "seq"],
  [/^the precision$/, "precision"],
  [/^the accelerator$/, "accelerator"],
  [/^the mesh$/, "mesh"],
];

/** Returns the field that a failure is shown at; null: none of them caused it. `graph`: the name of the graph's file. */
export function fieldOf(wrong: Failure, file: string | null, hasGraph: boolean): FieldName | null {
  const at = fieldAt(wrong, Object.keys(FIELDS) as Option[], PLACES, file);
  return at === null ? null : at === "model" ? (hasGraph ? "graph" : "model") : FIELDS[at];
}

const timelineFor = timelines();

/** Returns the timeline of a plan; a sentence where there is none. Rejects where it is stopped. */
export const timelineOf = ({ view, wish }: MadePlan, signal: AbortSignal): Promise<FoundTimeline> =>
  timelineFor(view, 0, () => ask("planTimeline", { wish }, { signal }));

/** Returns a plan as a file. */
export const fileOf = ({ wish }: MadePlan, to: PlanFile): Promise<GivenFile> => ask("planFile", { wish, to });
