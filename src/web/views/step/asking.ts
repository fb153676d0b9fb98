import { computed, signal } from "@preact/signals";
import type { Failure, GivenFile, NetworkWish, StepTimeline, Workloads } from "../../protocol.ts";
import { unpackFile } from "../../state/address-file.ts";
import { ask, failureOf } from "../../state/client.ts";
import { words } from "../../state/store.ts";
import { networkWish, sameNetwork } from "../../state/words.ts";

/** What forms of steps have in common: the model, what there is to choose from, and where a mistake is shown. */

/** What is asked for where nobody says anything else. */
export const USUAL = { model: "llama3-8b", batch: "64" } as const;

/** A name of the catalogue, or a packed file. */
export const modelWord = computed(() => words.value.choices.model ?? USUAL.model);

/** Returns the name of the file that a model's word packs; null where it is a name of the catalogue. */
export function modelFileOf(word: string): string | null {
  const cut = word.lastIndexOf("~");
  return cut < 0 ? null : word.slice(0, cut);
}

/** Returns the model of a word. Throws InputError for a file that cannot be unpacked. */
export async function modelOf(word: string): Promise<string | GivenFile> {
  if (modelFileOf(word) === null) return word;
  const mention = await unpackFile(word);
  if ("given" in mention) return mention.given;
  throw new Error(`${mention.name} is too large to be kept in the address; open it again`);
}

/** Fields by the places of mistakes that name no option. */
export type FieldPlaces<Name> = readonly (readonly [place: RegExp, field: Name])[];

/** Returns the field that a failure is shown at; null: none of them caused it. `model`: the name of the model's file. */
export function fieldAt<Name extends string>(
  { kind, option, place }: Failure,
  options: readonly Name[],
  places: FieldPlaces<Name | "model">,
  model: string | null,
): Name | "model" | null {
  if (kind !== "input") return null;
  const named = options.find((name) => name === option);
  if (named !== undefined) return named;
  if (place === null) return null;
  if (model !== null && place.startsWith(model)) return "model";
  return places.find(([like]) => like.test(place))?.[1] ?? null;
}

/** What there is to choose from, for the network that is shown; kept while views are away. */
export const workloads = signal<{ readonly of: NetworkWish; readonly there: Workloads } | null>(null);

/** Asks what there is to choose from for the network of the words; what was there stays where that fails. */
export async function findWorkloads(signal: AbortSignal): Promise<void> {
  const network = networkWish(words.value);
  if (workloads.value !== null && sameNetwork(workloads.value.of, network)) return;
  try {
    workloads.value = { of: network, there: await ask("workloads", { network }, { signal }) };
  } catch {
    // the network's own field says what is wrong with it
  }
}

/** A timeline, or a sentence that says why there is none. */
export type FoundTimeline = StepTimeline | string;

/** Returns what finds timelines of steps, each once. A found one rejects where it is stopped. */
export function timelines(): (
  of: object,
  row: number,
  find: () => Promise<StepTimeline | { readonly refusal: string }>,
) => Promise<FoundTimeline> {
  const known = new WeakMap<object, Map<number, FoundTimeline>>();
  return async (of, row, find) => {
    const ofStep = known.get(of) ?? new Map<number, FoundTimeline>();
    known.set(of, ofStep);
    const before = ofStep.get(row);
    if (before !== undefined) return before;
    const answer = await find();
    const found = "refusal" in answer ? answer.refusal : answer;
    ofStep.set(row, found);
    return found;
  };
}

/** Returns why a timeline did not come. */
export const whyNone = (error: unknown): string => failureOf(error).message;
