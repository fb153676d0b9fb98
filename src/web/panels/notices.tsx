import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { say } from "../state/actions.ts";
import { workersStarted } from "../state/client.ts";
import { notes, trouble, words } from "../state/store.ts";
import { adviceFor, sentenceOf, troubleSpot } from "./failures.ts";
import "./notices.css";

const HEADINGS = {
  input: "That does not work.",
  infeasible: "No such schedule exists.",
  memory: "The memory was not enough.",
  internal: "Something broke.",
  cancelled: "It was cancelled.",
} as const;

/** What went wrong and no field caused. */
export function Alert() {
  const wrong = trouble.value;
  const isAlone = troubleSpot(words.value.file !== null) === "alert";
  const isOfAddress = wrong?.isOfAddress === true && !isAlone;
  const isHere = wrong !== null && (isAlone || isOfAddress);
  const advice = wrong === null ? null : adviceFor(wrong.failure);
  return (
    <div role="alert">
      {isHere && (
        <div class="alert">
          <p data-lines>
            <b>{isOfAddress ? "The address asks for what cannot be." : HEADINGS[wrong.failure.kind]}</b>{" "}
            {sentenceOf(wrong.failure)}
            {advice !== null && <span class="alert-advice"> {advice}</span>}
          </p>
          <button
            type="button"
            class="icon quiet"
            aria-label="Close the message"
            onClick={() => (trouble.value = null)}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

/** Says when a worker had to be replaced, for its memory of earlier schedules went with it. */
function useReplacements(): void {
  const started = workersStarted.value;
  const known = useRef(started);
  useEffect(() => {
    if (started > 1 && started > known.current)
      say("The worker was replaced by a fresh one; what you set and see is still here.");
    known.current = started;
  }, [started]);
}

/** Sentences that pass. */
export function Notes() {
  useReplacements();
  return (
    <div class="notes" role="log" aria-label="Messages" aria-live="polite">
      {notes.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
