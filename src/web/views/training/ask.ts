import { computed, signal } from "@preact/signals";
import type { Options } from "../../../request/option-table.ts";
import type { Failure, GivenFile, TrainingView, TrainWish } from "../../protocol.ts";
import { TRAINING_OPTIONS, type TrainingOption } from "../../state/choices.ts";
import { ask } from "../../state/client.ts";
import { ownWork } from "../../state/own-work.ts";
import { words } from "../../state/store.ts";
import { networkWish, sameNetwork } from "../../state/words.ts";
import { type FieldPlaces, type FoundTimeline, fieldAt, modelOf, modelWord, timelines, USUAL } from "../step/asking.ts";

/** The training step that is worked on or was made last; it goes on while other views are shown. */

/** How NPUs split the step where nobody says anything else. */
export const USUAL_PARALLEL = "auto";

/** What the fields say. */
const said = computed((): Options => {
  const { choices } = words.value;
  const own = Object.fromEntries(TRAINING_OPTIONS.map((name) => [name, choices[name]]));
  return { ...own, parallel: choices.parallel ?? USUAL_PARALLEL, batch: choices.batch ?? USUAL.batch };
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

/** Works out the step that the fields ask for. What was shown before stays where it fails. */
export const train = (): Promise<void> =>
  work.run(async ({ signal, onProgress, isLast }) => {
    const [network, options, model] = [networkWish(words.value), said.value, modelWord.value];
    const wish = { network, model: await modelOf(model), options };
    const view = await ask("train", { wish }, { signal, onProgress });
    if (isLast()) step.value = { view, wish, model };
  });

export type FieldName = TrainingOption | "model";

const PLACES: FieldPlaces<FieldName> = [
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
export const fieldOf = (wrong: Failure, model: string | null): FieldName | null =>
  fieldAt(wrong, TRAINING_OPTIONS, PLACES, model);

const timelineFor = timelines();

/** Returns the timeline of a row; a sentence where there is none. Rejects where it is stopped. */
export const timelineOf = ({ view, wish }: MadeStep, row: number, signal: AbortSignal): Promise<FoundTimeline> =>
  timelineFor(view, row, () => ask("trainingTimeline", { wish, row }, { signal }));

/** Returns the trace of a row, for Perfetto. */
export const traceOf = ({ wish }: MadeStep, row: number): Promise<GivenFile> => ask("trainingTrace", { wish, row });
