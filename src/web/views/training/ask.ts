import { computed, signal } from "@preact/signals";
import type { Options } from "../../../request/option-table.ts";
import type {
  Failure,
  GivenFile,
  NetworkWish,
  StepTimeline,
  TrainingView,
  TrainWish,
  Workloads,
} from "../../protocol.ts";
import { unpackFile } from "../../state/address-file.ts";
import { TRAINING_OPTIONS, type TrainingOption } from "../../state/choices.ts";
import { ask } from "../../state/client.ts";
import { ownWork } from "../../state/own-work.ts";
import { words } from "../../state/store.ts";
import { networkWish, sameNetwork } from "../../state/words.ts";

/** The training step that is worked on or was made last; it goes on while other views are shown. */

/** What is asked for where nobody says anything else. */
export const USUAL = { model: "llama3-8b", parallel: "auto", batch: "64" } as const;

/** A name of the catalogue, or a packed file. */
export const modelWord = computed(() => words.value.choices.model ?? USUAL.model);

/** Returns the name of the file that a model's word packs; null where it is a name of the catalogue. */
export function modelFileOf(word: string): string | null {
  const cut = word.lastIndexOf("~");
  return cut < 0 ? null : word.slice(0, cut);
}

/** What the fields say. */
const said = computed((): Options => {
  const { choices } = words.value;
  const own = Object.fromEntries(TRAINING_OPTIONS.map((name) => [name, choices[name]]));
  return { ...own, parallel: choices.parallel ?? USUAL.parallel, batch: choices.batch ?? USUAL.batch };
});

/** A step with what it was made from. */
interface MadeStep {
  readonly view: TrainingView;
  readonly wish: TrainWish;
  /** Of the page's words. */
  readonly model: string;
}

export const step = signal<MadeStep | null>(null);
const work = ownWork();
export const { running, failure, stop: stopTraining } = work;

/** Whether the step was made for another network or other words than those that stand there. */
export const isOld = computed(() => {
  const last = step.value;
  return (
    last !== null &&
    !(
      sameNetwork(last.wish.network, networkWish(words.value)) &&
      last.model === modelWord.value &&
      JSON.stringify(last.wish.options) === JSON.stringify(said.value)
    )
  );
});

/** Returns the model of a word. Throws InputError for a file that cannot be unpacked. */
async function modelOf(word: string): Promise<string | GivenFile> {
  if (modelFileOf(word) === null) return word;
  const mention = await unpackFile(word);
  if ("given" in mention) return mention.given;
  throw new Error(`${mention.name} is too large to be kept in the address; open it again`);
}

/** Works out the step that the fields ask for. What was shown before stays where it fails. */
export const train = (): Promise<void> =>
  work.run(async ({ signal, onProgress, isLast }) => {
    const [network, options, model] = [networkWish(words.value), said.value, modelWord.value];
    const wish = { network, model: await modelOf(model), options };
    const view = await ask("train", { wish }, { signal, onProgress });
    if (isLast()) step.value = { view, wish, model };
  });

export type FieldName = TrainingOption | "model";

/** Fields by the places of mistakes that name no option. */
const FIELDS: readonly (readonly [place: RegExp, field: FieldName])[] = [
  [/^the model$/, "model"],
  [/^the batch$/, "batch"],
  [/^the sequence$/, "seq"],
  [/^the precision$/, "precision"],
  [/^the accelerator$/, "accelerator"],
  [/^recompute$/, "recompute"],
  [/^decode$/, "pass"],
  // what does not fit is mended by splitting it more
  [/^(the (step|layers|micro batches)|parallelism|[dtpcv]p|e?tp|ep)\b/, "parallel"],
];

/** Returns the field that a failure is shown at; null: none of them caused it. `model`: the name of the model's file. */
export function fieldOf({ kind, option, place }: Failure, model: string | null): FieldName | null {
  if (kind !== "input") return null;
  const named = TRAINING_OPTIONS.find((name) => name === option);
  if (named !== undefined) return named;
  if (place === null) return null;
  if (model !== null && place.startsWith(model)) return "model";
  return FIELDS.find(([like]) => like.test(place))?.[1] ?? null;
}

/** What there is to choose from, for the network that is shown; kept while the view is away. */
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

const timelines = new WeakMap<TrainingView, Map<number, StepTimeline | string>>();

/** Returns the timeline of a row; a sentence where there is none. Rejects where it is stopped. */
export async function timelineOf(
  { view, wish }: MadeStep,
  row: number,
  signal: AbortSignal,
): Promise<StepTimeline | string> {
  const known = timelines.get(view) ?? new Map<number, StepTimeline | string>();
  timelines.set(view, known);
  const before = known.get(row);
  if (before !== undefined) return before;
  const answer = await ask("trainingTimeline", { wish, row }, { signal });
  const found = "refusal" in answer ? answer.refusal : answer;
  known.set(row, found);
  return found;
}

/** Returns the trace of a row, for Perfetto. */
export const traceOf = ({ wish }: MadeStep, row: number): Promise<GivenFile> => ask("trainingTrace", { wish, row });
