import { signal } from "@preact/signals";
import { formatShare, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { Icon } from "../parts/icon.tsx";
import { keep, kept } from "../parts/kept.ts";
import type { AnyReport } from "../protocol.ts";
import { isStale } from "../state/store.ts";
import "./answer-line.css";

const NAME = "answer";
const FOLDED = "line";

/** Whether the answer is folded into one line. */
export const isAnswerFolded = signal(kept(NAME) === FOLDED);

/** Folds the answer, or unfolds it, and keeps that. */
function foldAnswer(isFolded: boolean): void {
  isAnswerFolded.value = isFolded;
  keep(NAME, isFolded ? FOLDED : null);
}

/** Folds the answer into one line and back. */
export const AnswerFold = () => (
  <button
    type="button"
    class="answer-fold"
    aria-label="One line"
    title="The answer in one line: the view has the rest"
    aria-pressed={isAnswerFolded.value}
    onClick={() => foldAnswer(!isAnswerFolded.value)}
  >
    <Icon name={isAnswerFolded.value ? "down" : "up"} /> <span>One line</span>
  </button>
);

/** The time that a schedule takes as a bar from 0, filled as far as the limit that no algorithm can go below. */
export function TimeScale({ report: { time, limit, verified, ofLimit } }: { readonly report: AnyReport }) {
  const text = formatTime(time.us * PS_PER_US);
  const least = formatTime(limit.us * PS_PER_US);
  const share = time.us > 0 ? Math.min(100, (100 * limit.us) / time.us) : 100;
  return (
    <p class="answer-scale" data-stale={isStale.value}>
      <span class="answer-scale-time" role="img" aria-label={`The limit, ${least}, on a scale from 0 to ${text}`}>
        <span class="answer-scale-limit" style={{ width: `${share}%` }} />
      </span>
      <b>{text}</b>
      {ofLimit !== null && <span class="answer-scale-of">{formatShare(ofLimit)} of the limit</span>}
      <b class={verified ? "answer-scale-of" : "answer-violation"}>{verified ? "verified" : "not verified"}</b>
    </p>
  );
}
