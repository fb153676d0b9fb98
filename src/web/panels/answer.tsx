import { useSignal } from "@preact/signals";
import { Icon } from "../parts/icon.tsx";
import { synthesize } from "../state/actions.ts";
import { busy, isStale, type Made, made, network } from "../state/store.ts";
import { AnswerDetails } from "./answer-details.tsx";
import { Difference } from "./difference.tsx";
import { Downloads } from "./downloads.tsx";
import { sentenceOf } from "./failures.ts";
import "./answer.css";

/** What came out: one sentence, its figures, and all that belongs to it. */
export function Answer() {
  const isSaving = useSignal(false);
  const last = made.value;
  const view = network.value;
  const save = (
    <button type="button" disabled={view === null} onClick={() => (isSaving.value = true)}>
      <Icon name="download" /> Downloads
    </button>
  );
  return (
    <section class="answer" aria-label="Result">
      <h2 class="unseen">Result</h2>
      {last === null ? (
        <div class="answer-head">
          <p class="answer-sentence answer-before soft">
            {view === null
              ? "Reading the network..."
              : `${view.name || "The network"}: ${view.sizeText}. Synthesize to get a verified schedule and how close it is to what is possible.`}
          </p>
          {save}
        </div>
      ) : (
        <Result last={last} save={save} />
      )}
      <Difference />
      {isSaving.value && <Downloads onClose={() => (isSaving.value = false)} />}
    </section>
  );
}

function Result({ last, save }: { readonly last: Made; readonly save: preact.ComponentChildren }) {
  const { schedule, words } = last;
  const { verified } = schedule.report;
  return (
    <>
      <div class="answer-head">
        <p class="answer-sentence" role="status">
          {schedule.ref.wish === null && words.file !== null && <b>{words.file.name}: </b>}
          {schedule.answer}
        </p>
        {save}
      </div>
      {schedule.optimism !== null && <p class="answer-optimism">{sentenceOf({ message: schedule.optimism })}</p>}
      {isStale.value && (
        <p class="answer-stale">
          <b>Out of date:</b> this was made before you changed what is asked.
          <button type="button" disabled={busy.value !== null} onClick={() => void synthesize()}>
            Synthesize again
          </button>
        </p>
      )}
      <dl class="answer-figures" data-stale={isStale.value}>
        {schedule.figures
          .filter(({ name }) => name !== "Verified")
          .map(({ name, value, note }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <b>{value}</b> <span title={note}>{note}</span>
              </dd>
            </div>
          ))}
        <div class={verified ? "answer-good" : "answer-bad"}>
          <dt>{verified ? "Verified" : "Not verified"}</dt>
          <dd>
            <b>{verified ? "yes" : "no"}</b> <span title="by the independent judge">by the independent judge</span>
          </dd>
        </div>
      </dl>
      <AnswerDetails last={last} />
    </>
  );
}
